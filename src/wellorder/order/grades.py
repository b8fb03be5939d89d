"""Grades: one grade a row, compared within groups."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ..sweeps import Bools, Floats, Ints
from .columns import check_weights, encode_grades, encode_groups
from .graph import OrderGraph, as_graph, level_numbers
from .pairs import Balance, EndWeights, GradedPairs, make_pairs

if TYPE_CHECKING:
    from .sums import OrderSum


@dataclass(frozen=True)
class Supervision:
    """What there is to learn from, in numbers."""

    n_rows: int
    n_groups: int
    n_groups_with_pairs: int
    n_levels: int
    n_pairs: int
    n_unjudged: int
    n_zero_weight: int
    n_rows_without_pair: int
    n_censored: int = 0

    def __str__(self) -> str:
        text = (
            f"{self.n_rows:,} row{'s' * (self.n_rows != 1)} in {self.n_groups:,} group{'s' * (self.n_groups != 1)}, "
            f"{self.n_levels:,} level{'s' * (self.n_levels != 1)}, {self.n_pairs:,} pair{'s' * (self.n_pairs != 1)}"
        )
        notes = {
            "unjudged": self.n_unjudged,
            "of zero weight": self.n_zero_weight,
            "in no pair": self.n_rows_without_pair,
            "censored": self.n_censored,
        }
        listed = ", ".join(f"{count:,} {what}" for what, count in notes.items() if count)
        return f"{text} ({listed})" if listed else text


class Grades:
    """Graded rows: within a group, a row with a higher grade should stand above one with a lower.

    Parameters
    ----------
    y : array of shape (n,)
        Grades, higher is better: numbers (whole or not, any gaps), booleans, a pandas ordered
        Categorical, a polars Enum, or text together with ``levels``. NaN or None: unjudged.
    groups : array of shape (n,), optional
        One id a row, of any hashable type, rows in any order: only rows of one group are compared.
    order : str, OrderGraph or array of shape (r, r)
        Which levels are compared and what a swap costs: "full", "chain", "linear", "dcg", a graph
        over the levels or a table ``weights[lower, higher]``.
    weights : array of shape (n,), optional
        Row weights ω; 2 is the same as listing the row twice.
    weights_above, weights_below : arrays of shape (n,), optional
        What a row counts, beside ω, in the pairs that it stands above in and in those that it stands below in: a pair
        (i above j) weighs ω_i above_i · ω_j below_j. Times with censoring and clicks are made of them.
    levels : sequence, optional
        The levels from worst to best; needed for text.

    Examples
    --------
    >>> import wellorder as wo
    >>> grades = wo.Grades(["good", "poor", "fair", None], levels=["poor", "fair", "good"])
    >>> print(grades.describe())
    4 rows in 1 group, 3 levels, 3 pairs (1 unjudged, 1 in no pair)
    """

    def __init__(
        self,
        y: Any,
        groups: Any = None,
        order: Any = "full",
        weights: Any = None,
        levels: Iterable[Hashable] | None = None,
        *,
        weights_above: Any = None,
        weights_below: Any = None,
    ) -> None:
        if levels is None and isinstance(order, OrderGraph):
            levels = order.levels
        self.level, self._labels = encode_grades(y, levels)
        self.group, self.n_groups = encode_groups(groups, len(self.level))
        self.graph = as_graph(order, self._labels)
        if isinstance(order, OrderGraph) and tuple(order.levels) != tuple(self._labels):
            raise ValueError(f"levels= are {list(self._labels)}, but the order graph has {list(order.levels)}")
        self.weight = check_weights(weights, len(self.level))
        above, below = (check_weights(part, len(self.level)) for part in (weights_above, weights_below))
        self.ends = None if above is None and below is None else EndWeights(above, below)

    kind: ClassVar[Literal["grades"]] = "grades"
    keeps_rows: ClassVar[bool] = False
    """Whether a part is over the same rows of X: of grades, it is over its own."""

    def __len__(self) -> int:
        return len(self.level)

    @property
    def lists(self) -> Ints | None:
        """The list of each row, where lists stay whole in folds and are the units of tests; None where rows are."""
        return self.group

    @property
    def list_codes(self) -> Ints:
        """The group of each row as a number from 0 on, which may be multiplied: zeros where all rows are one group."""
        return np.zeros(len(self), np.int64) if self.group is None else self.group.astype(np.int64)

    @property
    def row_weights(self) -> Floats:
        """The weight ω of each row: ones where none were given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def is_judged(self) -> Bools:
        """Whether each row has a grade: others say nothing."""
        return self.level >= 0

    @property
    def levels(self) -> tuple[Hashable, ...]:
        """The levels from worst to best, in the user's own labels."""
        return tuple(np.asarray(self._labels).tolist()) if isinstance(self._labels, np.ndarray) else self._labels

    @cached_property
    def level_values(self) -> Floats:
        """What each level counts where a number is asked for: itself, if levels are numbers that rise, or its place."""
        return level_numbers(self._labels)

    @property
    def values(self) -> Floats:
        """What each row's grade counts as a number, as in ``level_values``; NaN: unjudged."""
        return np.append(self.level_values, np.nan)[self.level]

    @cached_property
    def pairs(self) -> GradedPairs:
        """The pairs that these grades stand for."""
        return self.balanced("pairs")

    def __add__(self, other: Any) -> OrderSum:
        from .sums import add_orders

        return add_orders(self, other)

    def to_pairs(self, n_rows: int, balance: Balance = "pairs") -> GradedPairs:
        """Return the pairs, for a table of ``n_rows`` rows."""
        if len(self) != n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(self)}"
            )
        return self.balanced(balance)

    def balanced(self, balance: Balance) -> GradedPairs:
        """Return the pairs, with every pair counting the same or every group counting the same."""
        return make_pairs(self.level, self.group, self.weight, self.graph, balance, ends=self.ends)

    def with_graph(self, graph: OrderGraph) -> Grades:
        """Return the same grades under another order of the same levels."""
        return self._with(graph=graph)

    def with_order(self, order: Any) -> Grades:
        """Return the same grades under another order: a name, a table, or a graph over the same levels."""
        graph = as_graph(order, self._labels)
        if tuple(graph.levels) != self.levels:
            raise ValueError(f"the order graph has the levels {list(graph.levels)}, but the grades {list(self.levels)}")
        return self._with(graph=graph)

    def without_weights(self) -> Grades:
        """Return the same grades with all rows counting the same."""
        return self._with(weight=None, ends=None)

    def in_one_group(self) -> Grades:
        """Return the same grades as one list."""
        return self._with(group=None, n_groups=1)

    def take(self, rows: Ints) -> Grades:
        """Return some of the rows, in the order asked for; all levels stay, present among these rows or not."""
        weight = None if self.weight is None else self.weight[rows]
        ends = None if self.ends is None else self.ends.take(rows)
        part = self._with(level=self.level[rows], weight=weight, ends=ends)
        if self.group is not None:
            present, group = np.unique(self.group[rows], return_inverse=True)
            part.group, part.n_groups = group.astype(np.int32), len(present)
        return part

    def only(self, rows: Ints) -> Grades:
        """Return the same rows, of which only these have a grade."""
        level = np.full_like(self.level, -1)
        level[rows] = self.level[rows]
        return self._with(level=level)

    def _with(self, **changes: Any) -> Grades:
        other = copy(self)
        other.__dict__.pop("pairs", None)  # they followed from what is changed
        other.__dict__.update(changes)
        return other

    def describe(self) -> Supervision:
        """Count groups, levels, pairs, and rows that are in none."""
        pairs = self.pairs
        judged = self.level >= 0
        return Supervision(
            n_rows=len(self),
            n_groups=self.n_groups if len(self) else 0,
            n_groups_with_pairs=pairs.cells.n_groups,
            n_levels=len(np.unique(self.level[judged])),
            n_pairs=pairs.n_pairs,
            n_unjudged=int(np.count_nonzero(~judged)),
            n_zero_weight=0 if self.weight is None else int(np.count_nonzero(self.weight == 0)),
            n_rows_without_pair=len(self) - len(pairs.active),
        )

    def __repr__(self) -> str:
        return f"Grades({self.describe()})"


def refuse_beside(owner: Any, /, **given: Any) -> None:
    """Raise an error for what was passed beside an order that has it already: nothing is ignored silently."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} was passed beside a {type(owner).__name__}, which has its own or needs none; give it to the "
                "Grades or Comparisons itself"
            )
