"""The time that a closer look may take once a comparison is done, and what it had no time for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..deadline import Deadline, TimeIsUp, deadline
from ..evaluation import Leaderboard
from ..writing import write_seconds

SHARE = 0.25
"""The closer look may take this share of the time that the comparison was given."""

LEAST = 20.0
"""The closer look may take at least this many seconds, however short the comparison was."""


class Allowance:
    """Seconds for several parts of a look, and a sentence on each that was left out.

    Where what a part would take is known, :meth:`has_room` asks before it is begun; :meth:`part` ends one whose time is
    not known beforehand.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds = seconds
        self._clock, self._began = clock, clock()
        self._left_out: dict[str, str] = {}

    @classmethod
    def after(cls, leaderboard: Leaderboard) -> Allowance:
        """Return what there is after a comparison: a part of its budget, or, without one, of what it took."""
        given = leaderboard.protocol.time_budget
        if given is None:
            given = sum(record.spent_seconds for record in leaderboard.records) / leaderboard.protocol.n_jobs
        return cls(max(LEAST, SHARE * given))

    def left(self) -> float:
        """Return the seconds that remain."""
        return max(self.seconds - (self._clock() - self._began), 0.0)

    def has_room(self, what: str, seconds: float, share: float = 1.0) -> bool:
        """Say whether so many seconds are within a share of what is left; if not, remember what was left out."""
        if seconds <= share * self.left():
            return True
        wanted = self.seconds - self.left() + seconds / share
        self._leave_out(what, f"it would have taken about {write_seconds(seconds)}", wanted, "has room for it")
        return False

    @contextmanager
    def part(self, what: str, share: float = 1.0) -> Iterator[Deadline]:
        """End what is done inside after a share of what is left; remember it if it was not done by then."""
        end = self._clock() + share * self.left()
        given = end - self._clock()
        try:
            with deadline(lambda: end - self._clock()) as until:
                yield until
        except TimeIsUp:
            ended = f"it was not done after {write_seconds(given)}"
            self._leave_out(what, ended, 2.0 * self.seconds, "gives it twice as long")

    @property
    def left_out(self) -> tuple[str, ...]:
        """What had no time, why, and the time budget that helps: a sentence each."""
        return tuple(self._left_out.values())

    def _leave_out(self, what: str, why: str, wanted: float, gain: str) -> None:
        """Remember what was left out, and why it was at first; so many seconds are a part of the budget that helps."""
        budget = wanted / SHARE
        unit = 10.0 ** max(math.floor(math.log10(max(budget, 1.0))) - 1, 0)
        sentence = f"{what}: {why}; --time-budget {unit * math.ceil(budget / unit):.0f} {gain}"
        self._left_out.setdefault(what, sentence)
