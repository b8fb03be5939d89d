"""Scores on a torch device: rows, kernel matrix and every vector stay there; only single numbers come back.

Import this module only where somebody asks for a device or brings a tensor: torch is an extra, and slow to load.
"""

from __future__ import annotations

from typing import Any

import torch

from ..memory import available_bytes
from ..sweeps import Floats, Ints, beside, dot
from .function import Function
from .kernel import Kernel, check_matrix

_BLOCK_ROWS = 4_096
"""Rows whose part of Xᵀ g is summed in X's own precision; the parts are added up in float64."""

_BLOCK_ENTRIES = {"cuda": 1 << 27, "cpu": 1 << 22}
"""Entries of a kernel matrix that are computed at a time, in float64."""

LANDMARKS = 2_000
"""Lines of a kernel matrix that a fit keeps beside it at most."""

_SPARE_BYTES = 1e9
"""What a device is left for vectors and for the libraries' own use."""


def find_device(device: Any) -> torch.device:
    """Return the torch device of this name, or say why there is none."""
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        raise ValueError(f"device={device!r} is not known; use 'cuda', 'cuda:0', …, or None for NumPy") from None
    if found.type not in _BLOCK_ENTRIES:
        raise ValueError(f"device={device!r}: sums over pairs need float64, so it has to be a CUDA device (or 'cpu')")
    if found.type == "cuda" and not torch.cuda.is_available():
        built = torch.version.cuda
        why = "no CUDA GPU is to be seen here" if built else "the torch that is installed is built without CUDA"
        raise ValueError(f"device={device!r}, but {why}; leave device=None to compute with NumPy")
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise ValueError(f"device={device!r}, but there are only {torch.cuda.device_count()} CUDA GPUs; use 'cuda:0'")
    return found


def free_bytes(device: torch.device) -> float:
    """Return how much memory of a device is free for use."""
    if device.type == "cpu":
        free = available_bytes()
        return float("inf") if free is None else free
    idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return float(torch.cuda.mem_get_info(device)[0] + idle)


def refuse_too_many_bytes(shape: tuple[int, ...], itemsize: int, device: torch.device) -> None:
    """Raise an error with advice where the rows, and the vectors of a fit, would not fit into a device's memory."""
    n, d = shape
    needed, free = n * d * itemsize + 1_000 * n, free_bytes(device)
    if needed > free:
        raise MemoryError(
            f"a fit on {n:,} x {d:,} values needs about {needed / 1e9:.1f} GB of memory on {device}, and "
            f"{free / 1e9:.1f} GB are free; give float32, fit on fewer rows, or leave device=None"
        )


class TorchLinearSpace:
    """Scores s = X w with ‖f‖² = ‖w‖², where X is a dense tensor; coefficients and scores are float64 tensors."""

    is_kernel = False

    def __init__(self, X: torch.Tensor) -> None:
        self._X = X.contiguous()
        self.n_rows, self.n_coef = X.shape

    def vector(self, values: Floats) -> torch.Tensor:
        """Put coefficients where the rows are."""
        return torch.as_tensor(values, dtype=torch.float64, device=self._X.device)

    def scores(self, coef: Any) -> Any:
        """Return s = X w."""
        return (self._X @ coef.to(self._X.dtype)).double()

    def adjoint(self, scores_gradient: Any) -> Any:
        """Return Xᵀ g, block by block: a float32 sum over all rows would lose digits."""
        g, d = scores_gradient.to(self._X.dtype), self.n_coef
        cut = self.n_rows - self.n_rows % _BLOCK_ROWS
        out = (g[cut:] @ self._X[cut:]).double()
        if cut:
            parts = g[:cut].view(-1, 1, _BLOCK_ROWS) @ self._X[:cut].view(-1, _BLOCK_ROWS, d)
            out += parts[:, 0].sum(0, dtype=torch.float64)
        return out

    def inner(self, a: Any, b: Function) -> float:
        """Return the inner product of the function with coefficients ``a`` and ``b``."""
        return dot(a, b.coef)

    def weighted_squares(self, weight: Any) -> Any:
        """Return Σ_i weight_i x_ik² for each column k."""
        out = torch.zeros(self.n_coef, dtype=torch.float64, device=self._X.device)
        step = max(1, _BLOCK_ENTRIES[self._X.device.type] // max(self.n_coef, 1))
        for a in range(0, self.n_rows, step):  # no second X in memory
            block = self._X[a : a + step].double()
            out += weight[a : a + step] @ (block * block)
        return out

    def take(self, rows: Ints) -> TorchLinearSpace:
        """Return the space over some of the rows."""
        return TorchLinearSpace(self._X[beside(self._X, rows)])

    def columns(self) -> Any:
        """Return X in float64, for small pieces of it."""
        return self._X.double()


class TorchKernelSpace:
    """Scores s = Kβ with ‖f‖² = βᵀKβ over a kernel matrix that is kept whole, or computed anew for every product."""

    is_kernel = True

    def __init__(self, kernel: Kernel, X: torch.Tensor, dtype: torch.dtype) -> None:
        self.n_rows = self.n_coef = len(X)
        self._kernel, self._X, self._dtype = kernel, X, dtype
        if kernel.name == "precomputed":
            self._K: torch.Tensor | None = X.to(dtype)
        else:
            self._K = self._fill() if keep_whole(self.n_rows, dtype, X.device) else None
        if self._K is not None and kernel.name != "rbf":  # a Gaussian is a kernel by its making
            check_matrix(self._K)

    def _fill(self) -> torch.Tensor:
        K = torch.empty((self.n_rows, self.n_rows), dtype=self._dtype, device=self._X.device)
        for a, block in kernel_blocks(self._kernel, self._X, self._X, self._dtype):
            K[a : a + len(block)] = block
        return K

    def vector(self, values: Floats) -> torch.Tensor:
        """Put coefficients where the rows are."""
        return torch.as_tensor(values, dtype=torch.float64, device=self._X.device)

    def scores(self, coef: Any) -> Any:
        """Return s = Kβ."""
        if self._K is not None:
            return (self._K @ coef.to(self._dtype)).double()
        return kernel_scores(self._kernel, self._X, self._X, coef, self._dtype)

    def adjoint(self, scores_gradient: Any) -> Any:
        """Return the coefficients of the gradient: g itself."""
        return scores_gradient

    def inner(self, a: Any, b: Function) -> float:
        """Return aᵀKb, from b's scores."""
        return dot(a, b.scores)

    def lines(self, rows: Ints) -> Any:
        """Return the kernel between some of the rows and all."""
        place = beside(self._X, rows)
        if self._K is not None:
            return self._K[place]
        blocks = kernel_blocks(self._kernel, self._X[place], self._X, self._dtype)
        return torch.cat([block for _, block in blocks])

    def take(self, rows: Ints) -> TorchKernelSpace:
        """Return the space over some of the rows."""
        place = beside(self._X, rows)
        if self._K is not None:
            return TorchKernelSpace(Kernel("precomputed"), self._K[place][:, place], self._dtype)
        return TorchKernelSpace(self._kernel, self._X[place], self._dtype)


def keep_whole(n_rows: int, dtype: torch.dtype, device: torch.device) -> bool:
    """Estimate the memory of a kernel fit: True where the whole matrix fits, an error where not even its lines do."""
    free, entry = free_bytes(device), dtype.itemsize
    lines = min(LANDMARKS, n_rows // 2) * n_rows * entry
    least = lines + 16 * min(_BLOCK_ENTRIES[device.type], n_rows**2) + 200 * n_rows
    if device.type == "cuda":  # where there is no other memory to fall back on
        least += _SPARE_BYTES
    if least > free:
        raise MemoryError(
            f"a kernel fit on {n_rows:,} rows needs at least {least / 1e9:.1f} GB of memory on {device}, and "
            f"{free / 1e9:.1f} GB are free; set n_components=1000 with device=None (Nyström features, near-linear in "
            "the rows), use kernel='linear', or fit on fewer rows"
        )
    spare = 0 if device.type == "cuda" else _SPARE_BYTES
    return bool(least + n_rows**2 * entry + spare <= free)


def kernel_blocks(kernel: Kernel, X: torch.Tensor, Z: torch.Tensor, dtype: torch.dtype) -> Any:
    """Compute k(x, z) some rows at a time, in float64 until it is done: yields the first row and the block."""
    X, Z = X.double(), Z.double()
    if kernel.name == "rbf":
        middle = Z.mean(0)  # distances do not depend on it, and near zero they keep their digits
        X, Z = X - middle, Z - middle
        # one product gives 2γ xᵀz − γ‖x‖² − γ‖z‖²
        ones = torch.ones_like(X[:, :1]), torch.ones_like(Z[:, :1])
        norms = (-kernel.gamma * (rows * rows).sum(1, keepdim=True) for rows in (X, Z))
        X = torch.cat([2.0 * kernel.gamma * X, next(norms), ones[0]], 1)
        Z = torch.cat([Z, ones[1], next(norms)], 1)
    step = max(1, _BLOCK_ENTRIES[X.device.type] // max(len(Z), 1))
    for a in range(0, len(X), step):
        block = X[a : a + step] @ Z.T
        if kernel.name == "rbf":
            yield a, block.to(dtype).clamp_(max=0.0).exp_()
        elif kernel.name == "poly":
            yield a, (kernel.gamma * block + kernel.coef0).pow_(kernel.degree).to(dtype)
        else:
            yield a, block.to(dtype)


def kernel_scores(kernel: Kernel, X: torch.Tensor, support: torch.Tensor, coef: torch.Tensor, dtype: Any) -> Any:
    """Return Σ_j coef_j k(x, support_j) for each row x, without holding the whole matrix; float64."""
    out = torch.zeros(len(X), dtype=torch.float64, device=X.device)
    coef = coef.to(dtype)
    for a, block in kernel_blocks(kernel, X, support, dtype):
        out[a : a + len(block)] = (block @ coef).double()
    return out
