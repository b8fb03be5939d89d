"""Which form of a sweep runs, how the compiled one comes to be, and on how many threads.

None of it changes a result beyond rounding.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache, update_wrapper
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar, cast

from threadpoolctl import ThreadpoolController

COMPILED_FROM = 5_000
"""From this many rows on, the Numba form runs; below, the NumPy form, which waits for no compiler."""

COMPILED_OFTEN_FROM = 150
"""The same for sums that a fit takes again and again: in a hundred of them the compiler's time is won back."""

THREADS_FROM = 50_000
"""From this many rows on, independent sweeps run side by side; below, a thread costs more than it saves."""

S = TypeVar("S")
T = TypeVar("T")


_compiled_from: ContextVar[int | None] = ContextVar("compiled_from", default=None)


def use_compiled(size: int, *, often: bool = False) -> bool:
    """Say whether work on ``size`` rows is worth loading the compiled sweeps: once, or as often as a fit does it."""
    usual, preferred = COMPILED_OFTEN_FROM if often else COMPILED_FROM, _compiled_from.get()
    return size >= (usual if preferred is None else min(preferred, usual))


@contextmanager
def prefer_compiled(size: int = 50) -> Iterator[None]:
    """Use the compiled sweeps from ``size`` rows on: for long work on small data, where waiting for them once pays."""
    token = _compiled_from.set(size)
    try:
        yield
    finally:
        _compiled_from.reset(token)


F = TypeVar("F", bound=Callable[..., object])

_compiling = threading.RLock()


def is_loaded(function: Callable[..., object]) -> bool:
    """Say whether a compiled sweep has been called before: then nobody waits for it, however few the rows."""
    return isinstance(function, _Compiled) and function.compiled is not None and _compiled_from.get() is None


class _Compiled:
    """A function that Numba compiles when it is first called: nobody waits for Numba who does not need it."""

    def __init__(self, function: FunctionType, in_any_order: bool) -> None:
        self.function = function
        self.in_any_order = in_any_order
        self.compiled: Callable[..., Any] | None = None
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        if self.compiled is None:
            with _compiling:
                self.compiled = _compile(self.function, self.in_any_order)
        return self.compiled(*args)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        """Travel by name: whoever unpickles it compiles his own, and loads Numba no sooner than he needs it."""
        return _named, (self.function.__module__, self.function.__qualname__)


def _named(module: str, name: str) -> Any:
    found = getattr(import_module(module), name)
    return found if isinstance(found, _Compiled) else jit(found)


def jit(function: F) -> F:
    """Have a function compiled on its first call, together with the functions of its module that it calls."""
    return cast(F, _Compiled(cast(FunctionType, function), in_any_order=False))


def jit_in_any_order(function: F) -> F:
    """Do the same, and let sums add up in whatever order is quickest on the machine, as BLAS does."""
    return cast(F, _Compiled(cast(FunctionType, function), in_any_order=True))


@cache
def _compile(function: FunctionType, in_any_order: bool = False) -> Callable[..., Any]:
    """Compile a function, keeping the machine code on disk where a folder for it can be written."""
    import numba

    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        called = names.get(name)
        if isinstance(called, _Compiled):
            names[name] = _compile(called.function, called.in_any_order)
        elif isinstance(called, FunctionType) and called.__module__ == function.__module__:
            names[name] = _compile(called)
    bound = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    free: bool | set[str] = {"reassoc"} if in_any_order else False
    try:
        return cast(Callable[..., Any], numba.njit(cache=True, nogil=True, fastmath=free)(bound))
    except RuntimeError:  # no writable cache folder anywhere: compile once a process instead
        return cast(Callable[..., Any], numba.njit(nogil=True, fastmath=free)(bound))


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


def one_blas_thread(when: bool = True) -> AbstractContextManager[object]:
    """Keep BLAS to one thread meanwhile, where ``when`` holds.

    Beside our own threads, or other processes, BLAS's threads wait for each other at every small product, which takes
    up to ten times as long; and how many there are decides the last digit of its sums.
    """
    return _blas().limit(limits=1, user_api="blas") if when else nullcontext()


@cache
def _blas() -> ThreadpoolController:
    """Return the switch of NumPy's and SciPy's BLAS: finding it takes 3 ms, as long as a small fit; using it, 0.01."""
    import_module("scipy.linalg")  # its BLAS may be another than NumPy's, and is found only once it is loaded
    return ThreadpoolController()


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
