"""An end of time for work that is made of many fits: whoever is about to begin the next one asks first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_left: ContextVar[Callable[[], float] | None] = ContextVar("left", default=None)


class TimeIsUp(RuntimeError):  # noqa: N818 - it is what happened, not a fault
    """Time was up before the work was done."""


@contextmanager
def deadline(left: Callable[[], float]) -> Iterator[None]:
    """Set an end to everything that is begun inside, in this thread; ``left`` returns the seconds that remain."""
    token = _left.set(left)
    try:
        yield
    finally:
        _left.reset(token)


def refuse_late() -> None:
    """Raise :class:`TimeIsUp` if somebody has set an end, and it has come.

    Examples
    --------
    >>> from wellorder.deadline import TimeIsUp, deadline, refuse_late
    >>> refuse_late()
    >>> with deadline(lambda: -1.0):
    ...     try:
    ...         refuse_late()
    ...     except TimeIsUp as error:
    ...         print(error)
    time was up
    """
    left = _left.get()
    if left is not None and left() <= 0:
        raise TimeIsUp("time was up")
