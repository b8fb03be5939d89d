"""Which form of a sweep runs, and on how many threads. Neither changes a result beyond rounding."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TypeVar

COMPILED_FROM = 5_000
"""From this many rows on, the Numba form runs; below, the NumPy form, which waits for no compiler."""

THREADS_FROM = 50_000
"""From this many rows on, independent sweeps run side by side; below, a thread costs more than it saves."""

S = TypeVar("S")
T = TypeVar("T")


_compiled_from: ContextVar[int | None] = ContextVar("compiled_from", default=None)


def use_compiled(size: int) -> bool:
    """Say whether work on ``size`` rows is worth loading the compiled sweeps."""
    preferred = _compiled_from.get()
    return size >= (COMPILED_FROM if preferred is None else preferred)


@contextmanager
def prefer_compiled(size: int = 50) -> Iterator[None]:
    """Use the compiled sweeps from ``size`` rows on: for long work on small data, where waiting for them once pays."""
    token = _compiled_from.set(size)
    try:
        yield
    finally:
        _compiled_from.reset(token)


_alone: ContextVar[bool] = ContextVar("alone", default=False)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run everything on the calling thread: for tasks that an engine already runs side by side."""
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


def parallel_map(function: Callable[[S], T], items: Sequence[S], size: int) -> list[T]:
    """Apply a function to items of ``size`` rows each, side by side where that pays; results in order.

    The function must not call this one. What it computes must not depend on the number of threads.
    """
    first, *others = items
    if size < THREADS_FROM or not others or _alone.get() or available_cpus() < 2:
        return [function(item) for item in items]
    waiting = [_pool().submit(function, item) for item in others]
    return [function(first), *(future.result() for future in waiting)]


def available_cpus() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    """Keep threads ready beside the calling one; starting them anew costs as much as a sweep."""
    return ThreadPoolExecutor(max(available_cpus() - 1, 1), thread_name_prefix="wellorder")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
