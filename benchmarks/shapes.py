"""What methods are given and what they give back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Rows:
    """Graded rows; groups are None where all are one list."""

    X: Any
    y: Any
    groups: Any = None

    def head(self, n: int) -> Rows:
        """Take the first rows."""
        return Rows(self.X[:n], self.y[:n], None if self.groups is None else self.groups[:n])


@dataclass(frozen=True)
class Duels:
    """Comparisons of items by their features; outcome 1: the right one is better, 0: a tie."""

    left: Any
    right: Any
    outcome: Any

    def head(self, n: int) -> Duels:
        """Take the first comparisons."""
        return Duels(self.left[:n], self.right[:n], self.outcome[:n])


@dataclass(frozen=True)
class Games:
    """Winners and losers, by their numbers."""

    winner: Any
    loser: Any
    n_items: int

    def head(self, n: int) -> Games:
        """Take the first games."""
        return replace(self, winner=self.winner[:n], loser=self.loser[:n])


@dataclass(frozen=True)
class Lists:
    """Grades and scores; groups are None where all are one list."""

    y: Any
    scores: Any
    groups: Any = None

    def head(self, n: int) -> Lists:
        """Take the first rows."""
        return Lists(self.y[:n], self.scores[:n], None if self.groups is None else self.groups[:n])


@dataclass(frozen=True)
class LetorFile:
    """A file to be read, and how many rows it holds."""

    path: Path
    n_rows: int

    def head(self, n: int) -> LetorFile:
        """Write the first lines to a file of their own."""
        path = self.path.with_name(f"head-{n}.txt")
        with self.path.open() as file, path.open("w") as out:
            for _, line in zip(range(n), file, strict=False):
                out.write(line)
        return LetorFile(path, n)


@dataclass(frozen=True)
class Result:
    """What a method found: each task asks for its own part."""

    scores: Callable[[Any], Any] | None = None
    """Scores of rows (order)."""
    compare: Callable[[Any, Any], Any] | None = None
    """Outcomes of left and right items (compare)."""
    strengths: Any = None
    """One number an item (rate)."""
    value: float | None = None
    """The metric (measure), or the sum of all that was read (read)."""
    coef: Any = None
    """Weights of the columns, or, with a kernel, of the training rows."""
    bias: float | None = None
    """The bias of a comparison."""
