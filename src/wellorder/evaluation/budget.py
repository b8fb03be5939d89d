"""A time budget, spent fairly: pure functions of what has been recorded, so that a resumed run decides the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Seconds for a whole comparison; None: as long as it takes."""

    seconds: float | None

    def left(self, spent: float) -> float:
        """Return the seconds that remain."""
        return float("inf") if self.seconds is None else max(self.seconds - spent, 0.0)

    def share(self, spent: float, n_waiting: int) -> float:
        """Return what the next of several waiting methods may take: an equal part of what remains."""
        return self.left(spent) / max(n_waiting, 1)

    def unaffordable(self, seconds_per_split: Mapping[str, float], n_splits: int, spent: float) -> list[str]:
        """Return the methods to leave out so that the others finish their splits, the most expensive first.

        A method is only left out while it needs more than an equal share of the time: cheap methods are
        never given up for an expensive one, and the last one stays.
        """
        needs = {name: seconds * n_splits for name, seconds in seconds_per_split.items()}
        dropped: list[str] = []
        # invariant: the methods in `needs` are those kept so far
        while len(needs) > 1 and sum(needs.values()) > self.left(spent):
            name = max(needs, key=lambda each: needs[each])
            del needs[name]
            dropped.append(name)
        return dropped

    def allows(self, seconds_per_split: Mapping[str, float], n_splits: int, spent: float) -> bool:
        """Say whether all methods can be run on so many more splits."""
        return sum(seconds_per_split.values()) * n_splits <= self.left(spent)
