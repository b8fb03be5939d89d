"""A time budget, spent fairly: pure functions of what has been recorded, so that a resumed run decides the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Needs: TypeAlias = tuple[float, ...]
"""Cumulative seconds that a method wants on one split, the most urgent first: a cheap share of the time, one fit, a
search if it may still lead, a search in any case. Infinite: unknown."""


_SLACK = 1.5
"""A method may use this multiple of its estimated time."""


@dataclass(frozen=True)
class Budget:
    """Seconds of wall-clock time for a whole comparison; None: no limit.

    Where J trials run side by side, S seconds of trials pass in S / J seconds by the clock.
    """

    seconds: float | None
    n_jobs: int = 1
    """How many trials run side by side."""

    def left(self, spent: float) -> float:
        """Return the seconds by the clock that remain once trials have taken ``spent`` seconds together."""
        return float("inf") if self.seconds is None else max(self.seconds - spent / self.n_jobs, 0.0)

    def share(self, spent: float, n_waiting: int) -> float:
        """Return what the next of several waiting methods may take: an equal part of what remains."""
        left = self.left(spent)
        return min(left * self.n_jobs / max(n_waiting, 1), left)

    def limit(
        self, seconds_per_split: Mapping[str, float], waiting: Sequence[float], n_splits: int, spent: float
    ) -> float:
        """Return the most that a method that waits may take on each of so many splits, so that all have time for them.

        The others have one split less, and take what they took; those that wait take what they are reckoned to
        (``waiting``, perhaps infinite), or this limit if that is less. What all need, by the same bound as
        :meth:`needed`, is then there.
        """
        left = self.left(spent)
        rest = max(left * self.n_jobs - sum(seconds_per_split.values()) * (n_splits - 1), 0.0)
        level = 0.0
        # invariant: the methods before `place` take all that they need, and `rest` is there for the others
        for place, needed in enumerate(sorted(waiting)):
            level = rest / ((len(waiting) - place) * n_splits + self.n_jobs - 1)
            if needed >= level:
                return min(level, left)
            rest -= needed * n_splits
        return min(rest / (n_splits + self.n_jobs - 1) + max(waiting, default=0.0), left)

    def tiered_limit(
        self,
        own: Needs,
        seconds_per_split: Mapping[str, float],
        waiting: Sequence[Needs],
        n_splits: int,
        spent: float,
    ) -> float:
        """Return the most that one of those that wait may take on each of so many splits, first things first.

        A tier of needs has what those before it leave, shared as by :meth:`limit`: no search is given time that another
        method's fit lacks.
        """
        if self.seconds is None:
            return float("inf")
        total, left = 0.0, self.left(spent)
        # invariant: `spent` counts what the tiers before take, of which `total` is this method's own
        for tier in range(len(own)):
            more = [each[tier] - each[tier - 1] if tier and each[tier - 1] < np.inf else each[tier] for each in waiting]
            mine = more[waiting.index(own)]
            level = self.limit(seconds_per_split, more, n_splits, spent)
            if level < max(more):  # nothing is left for later tiers
                return min(total + min(max(mine, (_SLACK - 1.0) * total), level), left)
            total += mine
            spent += sum(more) * n_splits + (self.n_jobs - 1) * max(more)
        rest = max(self.left(spent) * self.n_jobs - sum(seconds_per_split.values()) * (n_splits - 1), 0.0)
        return total + rest / (n_splits + self.n_jobs - 1)

    def needed(self, seconds_per_split: Mapping[str, float], n_splits: int) -> float:
        """Return how long so many splits of all methods take at most, the longest trials begun first.

        J processors that never wait while there is work need at most Σ/J + (1 − 1/J) · max, the bound of Graham.
        """
        if not seconds_per_split:
            return 0.0
        total, longest = sum(seconds_per_split.values()) * n_splits, max(seconds_per_split.values())
        return total / self.n_jobs + (1.0 - 1.0 / self.n_jobs) * longest

    def unaffordable(self, seconds_per_split: Mapping[str, float], n_splits: int, spent: float) -> list[str]:
        """Return the methods to leave out so that the others finish their splits, the most expensive first.

        A method is only left out while it needs more than an equal share of the time: cheap methods are
        never given up for an expensive one, and the last one stays.
        """
        kept = dict(seconds_per_split)
        dropped: list[str] = []
        # invariant: the methods in `kept` are those kept so far
        while len(kept) > 1 and self.needed(kept, n_splits) > self.left(spent):
            name = max(kept, key=lambda each: kept[each])
            del kept[name]
            dropped.append(name)
        return dropped

    def allows(self, seconds_per_split: Mapping[str, float], n_splits: int, spent: float) -> bool:
        """Say whether all methods can be run on so many more splits."""
        return self.needed(seconds_per_split, n_splits) <= self.left(spent)
