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
    """The time that the parts of a closer look may take, and a sentence on each part that was left out.

    If it is known how long a part takes, ask :meth:`has_room` before it is begun; otherwise let :meth:`part` end it.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds = seconds
        self._clock, self._began = clock, clock()
        self._left_out: dict[str, str] = {}

    @classmethod
    def after(cls, leaderboard: Leaderboard) -> Allowance:
        """Return the allowance after a comparison: a share of its time budget, or of what it took if it had none."""
        given = leaderboard.protocol.time_budget
        if given is None:
            given = sum(record.spent_seconds for record in leaderboard.records) / leaderboard.protocol.n_jobs
        return cls(max(LEAST, SHARE * given))

    def left(self) -> float:
        """Return the seconds that remain."""
        return max(self.seconds - (self._clock() - self._began), 0.0)

    def has_room(self, what: str, seconds: float, share: float = 1.0) -> bool:
        """Say whether these seconds fit into a share of the time left; if not, remember what is left out."""
        if seconds <= share * self.left():
            return True
        wanted = self.seconds - self.left() + seconds / share
        self._leave_out(what, f"it would have taken about {write_seconds(seconds)}", wanted, "has room for it")
        return False

    @contextmanager
    def part(self, what: str, share: float = 1.0) -> Iterator[Deadline]:
        """End the work inside after a share of the time left; remember it if it is not done by then."""
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
        """What was left out, why, and the time budget that would have room for it: one sentence each."""
        return tuple(self._left_out.values())

    def _leave_out(self, what: str, why: str, wanted: float, gain: str) -> None:
        """Remember what was left out and its first reason; an allowance of ``wanted`` seconds would be enough."""
        budget = wanted / SHARE
        unit = 10.0 ** max(math.floor(math.log10(max(budget, 1.0))) - 1, 0)
        sentence = f"{what}: {why}; --time-budget {unit * math.ceil(budget / unit):.0f} {gain}"
        self._left_out.setdefault(what, sentence)
