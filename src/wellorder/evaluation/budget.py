"""A time budget, spent fairly: pure functions of what has been recorded, so that a resumed run decides the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Seconds by the clock for a whole comparison; None: as long as it takes.

    Times of trials add up to more where J trials run side by side: S seconds of them pass in S / J.
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
