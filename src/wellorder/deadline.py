"""An end of time: whoever is about to begin another fit asks first, and a solver asks before each further step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

from sklearn.exceptions import ConvergenceWarning


class TimeIsUp(RuntimeError):  # noqa: N818 - it is what happened, not a fault
    """Time was up before the work was done."""


class Deadline:
    """An end that somebody has set, perhaps inside another one, which then holds as well."""

    def __init__(self, left: Callable[[], float], outer: Deadline | None = None, *, tells: bool = True) -> None:
        self._left, self._outer, self._tells = left, outer, tells
        self.stopped = False
        """Whether anything inside was told that time is up, and so ended before it was done."""
        self.shortened = False
        """Whether anything inside took a shorter way to its end, as there was no time for the whole one."""

    def left(self) -> float:
        """Return the seconds that remain."""
        return min(self._left(), inf if self._outer is None else self._outer.left())

    def stop(self) -> None:
        """Remember that something ended early: to whoever has set an end around this one, it did so too."""
        self.stopped = True
        if self._outer is not None and self._tells:
            self._outer.stop()

    def shorten(self) -> None:
        """Remember that something was done whole, but in a shorter way; so does whoever has set an end around."""
        self.shortened = True
        if self._outer is not None:
            self._outer.shorten()


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline(left: Callable[[], float], *, tells: bool = True) -> Iterator[Deadline]:
    """Set an end to everything that is done inside, in this thread; ``left`` returns the seconds that remain.

    Whoever has set an end around this one hears of what ended early here, unless it is of no account (``tells``).
    Other threads know of it where they run in a copy of this one's context (``contextvars.copy_context``).
    """
    end = Deadline(left, _deadline.get(), tells=tells)
    token = _deadline.set(end)
    try:
        yield end
    finally:
        _deadline.reset(token)


def seconds_left() -> float:
    """Return the seconds until the end that somebody has set; infinite where nobody has."""
    end = _deadline.get()
    return inf if end is None else end.left()


def time_is_up() -> bool:
    """Say whether the end that somebody has set has come: a solver then ends with the best point it has.

    It is asked before a further step, once there is a point to end with. Nothing depends on the time where nobody has
    set an end.

    Examples
    --------
    >>> from wellorder.deadline import deadline, time_is_up
    >>> time_is_up()
    False
    >>> with deadline(lambda: -1.0) as end:
    ...     time_is_up(), end.stopped
    (True, True)
    """
    end = _deadline.get()
    if end is None or end.left() > 0:
        return False
    mark_stopped()
    return True


def mark_stopped() -> None:
    """Let whoever has set an end know that something ended before it was done."""
    end = _deadline.get()
    if end is not None:
        end.stop()


def mark_shortened() -> None:
    """Let whoever has set an end know that something took a shorter way, and was done."""
    end = _deadline.get()
    if end is not None:
        end.shorten()


def warn_of_time(done: str, *, stacklevel: int = 4) -> None:
    """Warn that a fit ended before it was done; ``done`` says how far it came."""
    warnings.warn(
        f"stopped by its time limit {done}; give it more time, or fewer rows", ConvergenceWarning, stacklevel=stacklevel
    )
