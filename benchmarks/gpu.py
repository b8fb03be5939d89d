"""RankSVM and the metrics on a GPU, against what the device itself takes for one product or one sort.

``python -m benchmarks.gpu`` on a machine with CUDA and the [gpu] extra; ``--device cpu`` runs small sizes anywhere.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch

import wellorder as wo
from wellorder import metrics
from wellorder.estimators import on_device, rank_svm
from wellorder.order import pairs, windows
from wellorder.spaces import torch as spaces

_TIMED = (
    (rank_svm, "read_order", "grades read"),
    (rank_svm.RankSVM, "_choose_pairs", "pairs made"),
    (rank_svm.RankSVM, "_to_device", "rows moved"),
    (spaces.TorchKernelSpace, "_fill", "kernel matrix"),
    (spaces.TorchKernelSpace, "scores", "products K v"),
    (spaces.TorchLinearSpace, "scores", "products X w"),
    (spaces.TorchLinearSpace, "adjoint", "products X' g"),
    (windows.DevicePairs, "__init__", "pairs moved"),
    (windows.DeviceWindows, "__init__", "sorts and windows"),
    (windows.DeviceWindows, "sums", "sums over pairs"),
    (pairs.GradedPairs, "sample", "sample drawn"),
    (on_device, "_kernel_help", "[sample, all of it]"),
    (on_device, "_linear_help", "[sample, all of it]"),
    (on_device, "some_rows", "kernel Hessians inverted"),
)
"""What is timed inside a fit; those in brackets have others inside them."""


def say(*what: Any) -> None:
    """Print at once."""
    print(*what, flush=True)


class Machine:
    """A device, and clocks that wait for it."""

    def __init__(self, device: str) -> None:
        self.name = device
        self.device = torch.device(device)
        self.is_gpu = self.device.type == "cuda"

    def wait(self) -> None:
        """Wait until the device has done what it was told."""
        if self.is_gpu:
            torch.cuda.synchronize()

    def time(self, function: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
        """Return what a function gives, and the median of its seconds."""
        seconds = []
        for _ in range(repeats):
            self.wait()
            begin = time.perf_counter()
            out = function()
            self.wait()
            seconds.append(time.perf_counter() - begin)
        return out, float(np.median(seconds))

    def fresh(self) -> None:
        """Give memory back, and forget the peak."""
        if self.is_gpu:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()

    def peak(self) -> str:
        """Say how much memory was taken at most."""
        return f"{torch.cuda.max_memory_allocated() / 1e9:.1f} GB" if self.is_gpu else "-"

    @contextmanager
    def inside(self) -> Iterator[dict[str, list[float]]]:
        """Time the parts of what is done meanwhile."""
        spent: dict[str, list[float]] = {}
        saved = [(owner, name, getattr(owner, name)) for owner, name, _ in _TIMED]

        def timed(old: Callable[..., Any], label: str, *args: Any, **options: Any) -> Any:
            out, seconds = self.time(lambda: old(*args, **options))
            spent.setdefault(label, []).append(seconds)
            return out

        try:
            for owner, name, label in _TIMED:
                old = getattr(owner, name)
                setattr(owner, name, lambda *a, _old=old, _label=label, **k: timed(_old, _label, *a, **k))
            yield spent
        finally:
            for owner, name, old in saved:
                setattr(owner, name, old)


def levels(z: torch.Tensor, k: int = 5) -> torch.Tensor:
    """Cut values into k levels of about as many rows each."""
    cuts = torch.linspace(0, 1, k + 1, device=z.device, dtype=z.dtype)[1:-1]
    return torch.searchsorted(torch.quantile(z[:100_000], cuts), z)


def show_fit(machine: Machine, what: str, fit: Callable[[], Any]) -> None:
    """Time a fit twice, and once more part by part."""
    for run in ("first", "again"):
        machine.fresh()
        model, seconds = machine.time(fit)
        share = model.gap_ / model.objective_
        say(
            f"  {what}: {seconds:.2f} s ({run}); {model.n_pairs_:.2g} pairs, {model.n_iter_} Newton steps, objective "
            f"{model.objective_:.8g}, gap {share:.1g} of it, peak {machine.peak()}"
        )
    with machine.inside() as spent:
        _, seconds = machine.time(fit)
    for label, parts in spent.items():
        say(f"      {label:26s} {sum(parts):7.3f} s, {len(parts)} times, the longest {max(parts) * 1e3:.2f} ms")
    say(f"      {'all, timed so':26s} {seconds:7.3f} s")


def same_answers(machine: Machine) -> None:
    """Compare with NumPy on 5,000 rows."""
    rng = np.random.default_rng(0)
    n = 5_000
    X = rng.normal(size=(n, 8)).astype(np.float32)
    z = X @ np.arange(1.0, 9.0) / 8 + np.sin(2 * X[:, 0]) + rng.normal(size=n)
    five, group = np.searchsorted(np.quantile(z, [0.2, 0.4, 0.6, 0.8]), z), rng.integers(0, 40, n)
    for kernel in ("linear", "rbf"):
        for label, y, groups in (("5 levels", five, None), ("continuous", z, None), ("40 groups", z, group)):
            for tol in (1e-4, 1e-9):
                there = wo.RankSVM(kernel=kernel, device=machine.name, tol=tol).fit(X, y, groups=groups)
                here = wo.RankSVM(kernel=kernel, tol=tol).fit(X, y, groups=groups)
                expected, found = here.decision_function(X), there.decision_function(X)
                away = np.abs(found - expected).max() / np.abs(expected).max()
                objective = abs(there.objective_ / here.objective_ - 1)
                say(f"  {kernel}, {label}, tol {tol:g}: objective to {objective:.1e}, scores to {away:.1e}")


def kernel_fit(machine: Machine, n: int) -> None:
    """Fit the exact Gaussian kernel."""
    torch.manual_seed(0)
    X = torch.randn(n, 8, device=machine.device)
    z = torch.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * torch.randn(n, device=machine.device)
    for label, y in (("5 levels", levels(z)), ("continuous", z)):
        fit = partial(wo.RankSVM(kernel="rbf", C=1.0, device=machine.name).fit, X, y)
        show_fit(machine, f"rbf, {n:,} x 8, {label}", fit)
    machine.fresh()
    K, v = torch.rand(n, n, device=machine.device), torch.randn(n, device=machine.device)
    K @ v
    say(f"  floor: one K v {machine.time(lambda: K @ v, 5)[1] * 1e3:.2f} ms")


def large_kernel_fit(machine: Machine, n: int) -> None:
    """Fit a kernel whose matrix does not fit into the memory of one GPU: blocks of it, computed for every product."""
    torch.manual_seed(0)
    X = torch.randn(n, 8, device=machine.device)
    y = levels(torch.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * torch.randn(n, device=machine.device))
    model, seconds = machine.time(lambda: wo.RankSVM(kernel="rbf", device=machine.name).fit(X, y))
    say(f"  rbf, {n:,} x 8, 5 levels: {seconds:.1f} s, {model.n_iter_} Newton steps, peak {machine.peak()}")


def linear_fit(machine: Machine, n: int, d: int) -> None:
    """Fit a linear function."""
    torch.manual_seed(0)
    X = torch.randn(n, d, device=machine.device)
    z = (X @ torch.randn(d, device=machine.device) / d**0.5 + torch.randn(n, device=machine.device)).double()
    w, g = torch.randn(d, device=machine.device), torch.randn(n, device=machine.device)
    for label, function in (("X w", lambda: X @ w), ("X' g", lambda: X.T @ g), ("sort", lambda: torch.sort(z))):
        function()
        say(f"  floor: {label} {machine.time(function, 5)[1] * 1e3:.2f} ms")
    groups = torch.arange(n, device=machine.device) // 100
    for label, y, given in (
        ("5 levels", levels(z), None),
        ("continuous", z, None),
        ("lists of 100", levels(z), groups),
    ):
        show_fit(
            machine, f"linear, {n:,} x {d}, {label}", partial(wo.RankSVM(device=machine.name).fit, X, y, groups=given)
        )
    rows, grade = X.cpu().numpy(), levels(z).cpu().numpy()
    _, seconds = machine.time(lambda: wo.RankSVM(device=machine.name).fit(rows, grade))
    say(f"  the same from NumPy arrays, 5 levels: {seconds:.2f} s")


def metric_values(machine: Machine, n: int) -> None:
    """Time metrics of scores on the device."""
    torch.manual_seed(1)
    z = torch.randn(n, device=machine.device, dtype=torch.float64)
    scores = z + torch.randn(n, device=machine.device, dtype=torch.float64)
    groups = torch.arange(n, device=machine.device) // 100
    for label, y, given in (
        ("5 levels", levels(z), None),
        ("continuous", z, None),
        ("lists of 100", levels(z), groups),
    ):
        grades = wo.Grades(y, given)
        _, making = machine.time(lambda: grades.pairs)  # noqa: B023
        for name in ("swapped_pairs", "kendall_tau"):
            function = partial(getattr(metrics, name), grades, scores)
            function()
            value, seconds = machine.time(function)
            say(f"  {name}, {n:,} rows, {label}: {value:.8f} in {seconds:.3f} s (pairs made before in {making:.2f} s)")


def main() -> None:
    """Run the parts that are asked for; one that fails stops no other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--parts", default="answers,kernel,large-kernel,linear,metrics")
    args = parser.parse_args()
    machine = Machine(args.device)
    n_kernel, n_linear, d = (100_000, 10_000_000, 100) if machine.is_gpu else (3_000, 50_000, 20)
    parts = {
        "answers": lambda: same_answers(machine),
        "kernel": lambda: kernel_fit(machine, n_kernel),
        "large-kernel": lambda: large_kernel_fit(machine, 2 * n_kernel),
        "linear": lambda: linear_fit(machine, n_linear, d),
        "metrics": lambda: metric_values(machine, n_linear),
    }
    say(f"Python {sys.version.split()[0]}, torch {torch.__version__}, NumPy {np.__version__}")
    say(torch.cuda.get_device_name() if machine.is_gpu else machine.name)
    for name in args.parts.split(","):
        say(f"{name}:")
        try:
            parts[name]()
        except Exception:
            traceback.print_exc(file=sys.stdout)
        machine.fresh()


if __name__ == "__main__":
    main()
