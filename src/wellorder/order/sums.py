"""Orders that add up: grades and comparisons over the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from ..sweeps import Bools, Ints
from .comparisons import Comparisons
from .consistent import ConsistentPairs
from .grades import Grades
from .pairs import Balance, GradedPairs, ListedPairs

Kind: TypeAlias = Literal["grades", "comparisons"]
"""What there is to learn from."""


@dataclass(frozen=True)
class SumOfPairs:
    """Several sets of pairs over the same rows; the risk is the sum of their mean risks times their mass."""

    parts: tuple[GradedPairs | ConsistentPairs | ListedPairs, ...]
    n_rows: int
    mass: float = 1.0
    total: float = 1.0

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return sum(part.n_pairs for part in self.parts)


class OrderSum:
    """Grades and comparisons over the same rows, made by ``grades + comparisons``."""

    def __init__(self, parts: tuple[Grades | Comparisons, ...]) -> None:
        self.parts = parts

    def __add__(self, other: Any) -> OrderSum:
        return add_orders(self, other)

    keeps_rows: ClassVar[bool] = True
    """Whether a part is over the same rows of X: grades that are not taken are as if never given."""

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def is_judged(self) -> Bools:
        """Whether each has something to say: the rows of the grades and the comparisons, part by part."""
        return np.concatenate([part.is_judged for part in self.parts])

    def take(self, places: Ints) -> OrderSum:
        """Return some of it: places count the rows of the grades and the comparisons, part by part."""
        places = np.arange(len(self))[places]  # numbers, whatever they were given as
        taken: list[Grades | Comparisons] = []
        start = 0
        for part in self.parts:
            own = places[(places >= start) & (places < start + len(part))] - start
            taken.append(part.only(own) if isinstance(part, Grades) else part.take(own))
            start += len(part)
        return OrderSum(tuple(taken))

    @property
    def n_groups(self) -> int:
        """How many lists the rows are in; as many as the part with the most says."""
        return max(part.n_groups for part in self.parts)

    def to_pairs(self, n_rows: int, balance: Balance = "pairs") -> SumOfPairs:
        """Return the pairs of all parts; parts without a pair drop out."""
        parts = [part.to_pairs(n_rows, balance) for part in self.parts]
        return SumOfPairs(tuple(part for part in parts if part.n_pairs), n_rows)

    def describe(self) -> str:
        """Say what each part holds."""
        return "; and ".join(str(part.describe()) for part in self.parts)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


def add_orders(one: Any, other: Any) -> OrderSum:
    """Add orders over the same rows."""
    parts: list[Grades | Comparisons] = []
    for order in (one, other):
        if isinstance(order, OrderSum):
            parts.extend(order.parts)
        elif isinstance(order, Grades | Comparisons):
            parts.append(order)
        else:
            raise TypeError(f"only Grades and Comparisons add up, not {type(order).__name__}")
    lengths = {len(part) for part in parts if isinstance(part, Grades)}
    if len(lengths) > 1:
        raise ValueError(f"Grades over different numbers of rows cannot be added: {sorted(lengths)}")
    return OrderSum(tuple(parts))
