"""One workload in one process: floor and fit in turns, medians, memory, and the distance from the optimum."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.workloads import WORKLOADS
from wellorder import RankSVM

_STATUS = Path("/proc/self/status")


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def floor(X: Any, w: Any, s: Any) -> None:
    """Do what no fit can do without: one product each way, and one sort."""
    _ = X @ w
    _ = X.T @ s
    np.sort(s)


def peak_megabytes(work: Callable[[], object]) -> float | None:
    """Return how far memory rises above where it stands now; None where the system does not say."""
    if not _STATUS.exists():
        return None
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    work()
    return (_status("VmHWM") - before) / 1024


def _status(field: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1])


def measure(name: str, repeats: int) -> dict[str, Any]:
    """Measure one workload; the fit has the default parameters."""
    X, y, groups = WORKLOADS[name].make()
    w = np.random.default_rng(0).standard_normal(X.shape[1])
    s = X @ w

    def fit(tol: float = 1e-4) -> RankSVM:
        return RankSVM(tol=tol).fit(X, y, groups=groups)

    memory = peak_megabytes(fit)  # and the compiler, once
    floors, fits = [], []
    for _ in range(repeats):
        floors.append(seconds(lambda: floor(X, w, s)))
        fits.append(seconds(fit))
    optimum = fit(1e-9).objective_
    model = fit()
    return {
        "name": name,
        "rows": X.shape[0],
        "columns": X.shape[1],
        "pairs": model.n_pairs_,
        "floor_s": float(np.median(floors)),
        "fit_s": float(np.median(fits)),
        "floors": float(np.median(fits) / np.median(floors)),
        "extra_mb": memory,
        "gap": model.objective_ / optimum - 1,
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
