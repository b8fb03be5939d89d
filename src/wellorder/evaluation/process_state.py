"""What a trial needs of the whole process: its warnings heard, one BLAS thread.

Trials may run in threads side by side: the first of them sets the process up, and the last one leaves it as it was.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from threadpoolctl import threadpool_limits

from ..sweeps.dispatch import THREADS_FROM

_notes: ContextVar[list[str] | None] = ContextVar("notes", default=None)
_NOT_FOR_USERS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Meant for authors of libraries: Python hides them too, and which trial meets them hangs on who loads what first."""


class _Shared:
    """A state of the process: entered by the first thread that needs it, left by the last."""

    def __init__(self, enter: Callable[[], AbstractContextManager[Any]]) -> None:
        self._enter = enter
        self._lock = threading.Lock()
        self._inside = 0
        self._stack = ExitStack()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._stack.enter_context(self._enter())
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._stack.close()


@contextmanager
def _listening() -> Iterator[None]:
    def note(message: Warning | str, *_: Any, **__: Any) -> None:
        notes = _notes.get()
        if notes is not None:
            notes.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for kind in _NOT_FOR_USERS:
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = note
        yield


_everybody_listens = _Shared(_listening)


@contextmanager
def steady_sums(n_rows: int) -> Iterator[None]:
    """Give BLAS one thread where rows are few: its sums may depend in the last digit on how many it has."""
    with threadpool_limits(limits=1, user_api="blas") if n_rows < THREADS_FROM else nullcontext():
        yield


@contextmanager
def hear_warnings() -> Iterator[list[str]]:
    """Collect what this thread is warned of, and show none of it; what libraries warn their authors of is left out.

    Other threads that silence warnings silence the whole process meanwhile: beside them, some may be missed.
    """
    mine: list[str] = []
    token = _notes.set(mine)
    try:
        with _everybody_listens():
            yield mine
    finally:
        _notes.reset(token)
