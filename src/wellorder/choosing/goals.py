"""What votes are wanted for: to rank everything, to find the top, or to split into levels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from ..sweeps import Floats, Ints

_KINDS = ("rank", "top", "levels")


@dataclass(frozen=True)
class Goal:
    """A goal, which prints as it is parsed: ``rank``, ``top 10``, ``levels 4``.

    Examples
    --------
    >>> from wellorder.choosing import Goal
    >>> str(Goal.parse("top:10")), Goal.parse("rank").size
    ('top 10', 0)
    """

    kind: Literal["rank", "top", "levels"] = "rank"
    size: int = 0

    @classmethod
    def parse(cls, text: str | Goal) -> Goal:
        """Read a goal; one that makes no sense is refused, with what to write."""
        if isinstance(text, Goal):
            return text
        found = re.fullmatch(r"\s*(rank|top|levels)(?:[\s:=]+(\d{1,9}))?\s*", str(text))
        how = "write 'rank', 'top 10' (find the ten best) or 'levels 4' (split into four levels of equal size)"
        if found is None or (found[1] == "rank") == (found[2] is not None):
            raise ValueError(f"goal={str(text)!r} is no goal; {how}")
        size = int(found[2] or 0)
        if size < (0, 1, 2)[_KINDS.index(found[1])]:
            raise ValueError(f"goal={str(text)!r} asks for too few; {how}")
        return cls(cast(Literal["rank", "top", "levels"], found[1]), size)

    @classmethod
    def of(cls, goal: str | Goal, top: int | None, levels: int | None) -> Goal:
        """Return the goal of three options, of which at most one says something."""
        given = [f"{name} {size}" for name, size in (("top", top), ("levels", levels)) if size is not None]
        bare = goal in ("rank", "top", "levels")
        if len(given) > 1 or (given and not (goal == "rank" or (bare and given[0].startswith(str(goal))))):
            raise ValueError(f"goal={str(goal)!r}, top={top!r} and levels={levels!r} are several goals; give one")
        return cls.parse(given[0] if given else goal)

    def __str__(self) -> str:
        return self.kind if self.kind == "rank" else f"{self.kind} {self.size}"

    def cuts(self, n_items: int) -> Ints:
        """Return how many items stand above each boundary."""
        if self.kind == "rank":
            return np.zeros(0, np.int64)
        most = n_items - 1 if self.kind == "top" else n_items
        if self.size > most:
            raise ValueError(f"the goal is {str(self)!r}, and there are {n_items:,} items; ask for fewer")
        if self.kind == "top":
            return np.array([self.size])
        return np.rint(np.arange(1, self.size) * n_items / self.size).astype(np.int64)

    def boundaries(self, ratings: Floats) -> Floats:
        """Return between which ratings each boundary lies: halfway."""
        falling = -np.sort(-ratings)
        cuts = self.cuts(len(ratings))
        return np.asarray(0.5 * (falling[cuts - 1] + falling[cuts]))

    def level_of(self, ratings: Floats) -> Ints:
        """Return the level of each item, 0 the best: how many boundaries are above it."""
        rank = np.empty(len(ratings), np.int64)
        rank[np.argsort(-ratings, kind="stable")] = np.arange(len(ratings))
        return np.searchsorted(self.cuts(len(ratings)), rank, side="right")
