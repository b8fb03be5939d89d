"""Which form of a sweep runs, and on how many threads. Neither changes a result beyond rounding."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

COMPILED_FROM = 10_000
"""From this many rows on, the Numba form runs; below, the NumPy form, which waits for no compiler."""

THREADS_FROM = 50_000
"""From this many rows on, independent sweeps run side by side; below, a thread costs more than it saves."""

S = TypeVar("S")
T = TypeVar("T")


def use_compiled(size: int) -> bool:
    """Say whether work on ``size`` rows is worth loading the compiled sweeps."""
    return size >= COMPILED_FROM


def parallel_map(function: Callable[[S], T], items: Sequence[S], size: int) -> list[T]:
    """Apply a function to items of ``size`` rows each, side by side where that pays; results in order.

    The pool lives for one call only: a pool kept in a module would be dead in a forked child.
    """
    if size < THREADS_FROM or len(items) < 2 or available_cpus() < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(min(len(items), available_cpus())) as pool:
        return list(pool.map(function, items))


def available_cpus() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
