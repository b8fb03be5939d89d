"""Consistent pairs: the sum over pairs whose minimiser orders as the best score does.

Uematsu and Lee (2013), Statistical optimality in multipartite ranking and ordinal regression, Theorem 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..sweeps import Floats, Ints
from .grades import Grades
from .graph import Full, OrderGraph, Scale, shown, violation
from .pairs import GradedPairs, make_pairs


@dataclass(frozen=True)
class ConsistentPairs:
    r"""All ordered pairs of rows of one group, i = j included, with weights a_i · b_j · ω_i · ω_j / W[1,K].

    a_i = W[1, y_i] and b_j = W[y_j, K], with 1 and K the lowest and the highest level that are in a pair. Beside
    the forward pairs it holds pairs within a level and reversed ones, so it is no order graph over the levels. But
    it is one over twice the rows: each row once as the upper end of its pairs, with weight ω·a/√W[1,K], and once as
    the lower end, with weight ω·b/√W[1,K]. Every loss then costs what it costs for two levels.

    Attributes
    ----------
    doubled
        The pairs over the copies: those of ``high`` first, then those of ``low``.
    high, low
        Which row each copy stands for, as the upper end and as the lower one.
    n_rows
        How many rows there are, in pairs or not.
    mass
        n of the objective (docs/notation.md): the summed ω of the rows that are in a pair of the order itself.
    total
        The summed weight (the number of groups with a pair, if balanced by groups).
    n_pairs
        How many pairs of the order itself stand behind it.
    """

    doubled: GradedPairs
    high: Ints
    low: Ints
    n_rows: int
    mass: float
    total: float
    n_pairs: int

    def spread(self, values: Floats) -> Floats:
        """Give each copy its row's value."""
        return np.concatenate([values[self.high], values[self.low]])

    def gather(self, values: Floats) -> Floats:
        """Add up the values of each row's copies."""
        out = np.zeros(self.n_rows)
        out[self.high] = values[: len(self.high)]
        with np.errstate(invalid="ignore"):  # an infinite risk has no gradient
            out[self.low] += values[len(self.high) :]
        return out

    @cached_property
    def block(self) -> Ints | None:
        """The group of each row (−1: in no pair), or None if all rows are in one."""
        cells = self.doubled.cells
        of_copy = cells.group[cells.of_row]
        out = np.full(self.n_rows, -1, np.int32)
        out[self.high] = of_copy[: len(self.high)]
        out[self.low] = of_copy[len(self.high) :]
        return None if cells.n_groups == 1 and (out >= 0).all() else out

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """What each row weighs as the upper end of a pair, and as the lower: ω·a/√W[1,K] and ω·b/√W[1,K]."""
        copies = self.doubled.row_weight
        assert copies is not None
        upper, lower = np.zeros(self.n_rows), np.zeros(self.n_rows)
        upper[self.high] = copies[: len(self.high)]
        lower[self.low] = copies[len(self.high) :]
        return upper, lower

    @cached_property
    def self_weights(self) -> Floats:
        """The weight of each row's pair with itself."""
        own = self.ends[0] * self.ends[1]
        factor = self.doubled.group_factor
        if factor is None:
            return own
        return np.asarray(own * (factor[0] if self.block is None else np.append(factor, 0.0)[self.block]))


def make_consistent(order: Grades | GradedPairs) -> ConsistentPairs:
    """Return the consistent pairs of grades, under costs that satisfy the condition of Theorem 4; O(n).

    Rows that are in no pair of the order itself take no part, nor do groups without one.

    Raises
    ------
    ValueError
        Where the costs, over the levels that are in a pair, violate the condition: then no such sum exists.
    """
    pairs = order.pairs if isinstance(order, Grades) else order
    if pairs.end_weights is not None:
        raise ValueError(
            "consistent pairs take one weight a row, and these rows have another where they stand above than where "
            "they stand below; leave consistent off"
        )
    rows = pairs.active
    present, place = _numbered(pairs.level[rows], pairs.graph.n_levels)
    graph = pairs.graph.take(present)
    if len(rows) and (reason := violation(graph.structure, graph.labels)):
        raise ValueError(
            f"no consistent risk over pairs exists for these costs over the levels {shown(graph.labels)}: {reason}. It "
            "takes separable costs, such as order='linear' or order='dcg'; 'full' will do up to three levels"
        )
    from_lowest, to_highest = _end_costs(graph) if len(rows) else (np.empty(0), np.empty(0))
    weight = np.ones(len(rows)) if pairs.row_weight is None else pairs.row_weight[rows]
    upper, lower = (weight * part[place] for part in (from_lowest, to_highest))
    is_high, is_low = upper > 0, lower > 0
    high, low = rows[is_high], rows[is_low]
    doubled = make_pairs(
        np.repeat(np.array([1, 0], dtype=np.int32), [len(high), len(low)]),
        None if pairs.group is None else pairs.group[np.concatenate([high, low])],
        np.concatenate([upper[is_high], lower[is_low]]),
        OrderGraph.full((0, 1)),
        pairs.balance,
        compiled=pairs.compiled,
    )
    return ConsistentPairs(doubled, high, low, pairs.n_rows, pairs.mass, doubled.total, pairs.n_pairs)


def _numbered(level: Ints, n_levels: int) -> tuple[Ints, Ints]:
    """Return the levels that are present, and the place of each row's among them."""
    there = np.bincount(level, minlength=n_levels) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[level]


def _end_costs(graph: OrderGraph) -> tuple[Floats, Floats]:
    """Return W[1, ·] and W[·, K] of the levels, each divided by √W[1, K]: sums over both keep most digits so."""
    structure, n = graph.structure, graph.n_levels
    if isinstance(structure, Full):
        ends = np.ones(n)
        first, last = ends - (np.arange(n) == 0), ends - (np.arange(n) == n - 1)
    elif isinstance(structure, Scale):
        weight, scale = structure.weight, structure.scale
        first, last = weight[0] * weight * (scale - scale[0]), weight[-1] * weight * (scale[-1] - scale)
    else:
        first, last = (structure.matrix[[0], :].toarray()[0], structure.matrix[:, [n - 1]].toarray()[:, 0])
    middle = np.sqrt(first[-1])
    return first / middle, last / middle
