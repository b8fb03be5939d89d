"""The pairs that grades stand for, ready for sweeps: never listed, only summed over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ..sweeps import Array, Floats, Ints, ranges, use_compiled
from ..sweeps.links import Links
from .cells import Cells, make_cells
from .graph import OrderGraph, Scale

Balance = Literal["pairs", "groups"]

_LARGE_GROUP = 1_000
"""Groups of this many rows are sampled row by row, smaller ones as a whole."""

_ROWS_PER_CELL = 100
"""Rows of a cell that a sample keeps, where cells are few."""


@dataclass(frozen=True)
class GradedPairs:
    """All pairs (i above j) of graded rows, with weights W_ij = W[y_j, y_i] · ω_i · ω_j.

    Attributes
    ----------
    level, group, row_weight, graph, balance
        What it was made from: level numbers (−1: unjudged), group codes or None, ω or None.
    cells
        The rows gathered by (group, level).
    weight
        ω_i, times the level's weight where the costs are separable; None if all are one.
    mass
        n of the objective (★): the summed ω of the rows that are in at least one pair.
    total
        ΣW over all pairs (the number of groups, if balanced by groups).
    n_pairs
        How many pairs there are, exactly.
    group_factor
        What the weights of each group's pairs are multiplied by; None if by one.
    compiled
        Whether sweeps run in their compiled form; a sample of large data keeps it.
    """

    level: Ints
    group: Ints | None
    row_weight: Floats | None
    graph: OrderGraph
    balance: Balance
    cells: Cells
    weight: Floats | None
    mass: float
    total: float
    n_pairs: int
    group_factor: Floats | None
    compiled: bool

    @property
    def n_rows(self) -> int:
        """How many rows there are, in pairs or not."""
        return len(self.level)

    def refuse_lost_weights(self) -> None:
        """Raise an error if weights are so extreme that their products overflow or vanish."""
        factor = 1.0 if self.group_factor is None else self.group_factor.max(initial=0.0)
        if self.n_pairs and not (0 < self.total < np.inf and 0 < factor < np.inf):
            raise ValueError(
                "the weights of the pairs (row weights times the order's weights) are too large or too small to add "
                "up; divide them by a common factor"
            )

    @cached_property
    def in_range(self) -> tuple[GradedPairs, Array]:
        """The same pairs with the row weights of each group times a power of two, and an exponent for each group.

        So the heaviest pair of a group weighs about one, and no product of weights overflows, or vanishes if it
        matters; nothing is rounded by it. Pairs of group g then weigh 2^exponent[g] times what they say, and
        ``group_factor`` restores the groups' sizes relative to the heaviest one: shares stay what they are, and
        ``total`` is to be multiplied by 2^max(exponent). Weights of usual sizes stay, with exponents of zero.
        """
        cells = self.cells
        none = np.zeros(cells.n_groups, np.int32)
        if self.weight is None or self.balance == "groups" or not (exponent := cells.pair_exponents()).any():
            return self, none
        half = exponent // 2
        cells = replace(cells, weight=np.ldexp(cells.weight, -half[cells.group]))
        factor = np.ldexp(1.0 if self.group_factor is None else self.group_factor, exponent - exponent.max())
        scaled = replace(
            self,
            weight=np.ldexp(self.weight, -half[0] if self.block is None else -np.append(half, np.int32(0))[self.block]),
            cells=cells,
            group_factor=factor,
            total=float(np.sum(cells.group_totals()[0] * factor)),
        )
        return scaled, exponent

    @cached_property
    def kept(self) -> dict[tuple[str, str], object]:
        """What others have made of these pairs and may want again, as copies on a device."""
        return {}

    @cached_property
    def log_reach(self) -> float:
        """How far the row weights and the pairs' own weights lie from one at most, in natural logarithms."""
        cells = self.cells
        weights = [] if cells.pairs is None else [cells.pairs.weight]
        if cells.rises is not None:
            weights.append(cells.rises[cells.rises > 0])
        if self.group_factor is not None:
            weights.append(self.group_factor)
        if self.weight is not None:
            weights.append(self.weight[self.active])
        with np.errstate(divide="ignore"):
            reaches = [float(np.abs(np.log([part.min(), part.max()])).max()) for part in weights if len(part)]
        return max(reaches, default=0.0)

    @cached_property
    def active(self) -> Ints:
        """The rows that are in at least one pair."""
        return np.flatnonzero(self.cells.of_row >= 0).astype(np.int32)

    @cached_property
    def arranged(self) -> Ints:
        """The active rows, cell by cell."""
        return self.active[np.argsort(self.cells.of_row[self.active], kind="stable")]

    @cached_property
    def block(self) -> Ints | None:
        """The group of each row (−1: in no pair), or None if all rows are in one."""
        cell = self.cells.of_row
        if self.cells.n_groups == 1 and len(self.active) == self.n_rows:
            return None
        return np.append(self.cells.group, np.int32(-1))[cell]

    @cached_property
    def bounds(self) -> Ints:
        """The ends of the groups' blocks, once the active rows are sorted by group."""
        sizes = np.bincount(self.cells.group, self.cells.count, minlength=self.cells.n_groups)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)

    @cached_property
    def factor(self) -> Floats | None:
        """What a row's sum over its partners is multiplied by: ω_i, and 1/ΣW of its group if balanced."""
        if self.group_factor is None:
            return self.weight
        by_cell = np.append(self.group_factor[self.cells.group], 0.0)  # −1 (in no pair) finds the zero
        by_group = by_cell[self.cells.of_row]
        return by_group if self.weight is None else by_group * self.weight

    @cached_property
    def scale(self) -> Floats | None:
        """The scale value of each row, on a ladder whose weights are differences of a scale."""
        if self.cells.scale is None:
            return None
        return np.append(self.cells.scale, 0.0)[self.cells.of_row]

    @cached_property
    def links(self) -> tuple[Ints, Links]:
        """The active rows arranged by cell, and for each the stretches of rows below it."""
        cells, rows = self.cells, self.arranged
        cell = cells.of_row[rows]
        ends, begins = cells.ends, cells.ends - cells.count
        place = np.arange(len(rows))
        if cells.pairs is None:
            high, start, stop = place, begins[cells.group_starts[cells.group]][cell], begins[cell]
            weight = np.ones(len(rows))
        else:
            below = cells.edges[1]
            degree = np.diff(below.indptr)[cell]
            high = np.repeat(place, degree)
            edge = ranges(below.indptr[cell], degree)
            start, stop = begins[below.indices[edge]], ends[below.indices[edge]]
            weight = below.weights[edge]
        if self.factor is not None:
            weight = weight * self.factor[rows][high]
        none = np.empty(0)
        return rows, Links(
            high,
            start,
            stop,
            weight,
            partner=none if self.weight is None else self.weight[rows],
            scale=none if self.scale is None else self.scale[rows],
        )

    def centred(self, scores: Floats) -> Floats:
        """Shift the scores of each group to mean zero: no risk changes, and sums keep their digits."""
        if self.block is None:
            return np.asarray(scores - scores.mean())
        out = np.zeros(self.n_rows)
        group = self.block[self.active]
        sums = np.bincount(group, scores[self.active], minlength=self.cells.n_groups)
        out[self.active] = scores[self.active] - (sums / np.diff(self.bounds))[group]
        return out

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Ints, GradedPairs]:
        """Draw about ``size`` of the active rows, and the pairs among them: a small picture of the whole.

        Small groups are drawn whole, with probability q; the rows of large ones one by one, with q or more
        where a cell has few rows. A pair then comes in with probability q, or q_i·q_j; weights make up for
        it, so that every pair counts for its part of the whole on average.
        """
        q = min(1.0, size / max(len(self.active), 1))
        cell = self.cells.of_row if len(self.active) == self.n_rows else self.cells.of_row[self.active]
        large = np.diff(self.bounds) >= _LARGE_GROUP
        q_cell = np.full(self.cells.n, q)
        if self.cells.n * _ROWS_PER_CELL <= size:  # few cells: none of them should go missing
            q_cell = np.clip(_ROWS_PER_CELL / self.cells.count, q, 1.0)
        alike = bool((q_cell == q).all())
        drawn = rng.random(len(cell)) < (q if alike else q_cell[cell])
        if not large.all():
            block = self.cells.group[cell]
            drawn = np.where(large[block], drawn, (rng.random(self.cells.n_groups) < q)[block])
        rows, cell = self.active[drawn], cell[drawn]
        weight = None if self.row_weight is None else self.row_weight[rows]
        if not (large.all() and alike) and large.any():
            more = np.where(large[self.cells.group[cell]], np.sqrt(q) / q_cell[cell], 1.0)
            weight = more if weight is None else weight * more
        group = None if self.group is None else self.group[rows]
        return rows, make_pairs(self.level[rows], group, weight, self.graph, self.balance, compiled=self.compiled)


def make_pairs(
    level: Ints,
    group: Ints | None,
    row_weight: Floats | None,
    graph: OrderGraph,
    balance: Balance,
    *,
    compiled: bool | None = None,
) -> GradedPairs:
    """Gather rows into cells and count what there is to learn from; O(n log n) at most."""
    structure, weight, number = graph.structure, row_weight, level
    n_levels = graph.n_levels
    if isinstance(structure, Scale):
        # levels with the same scale value are one level; their weights go to the rows
        rank = np.concatenate([[0], np.cumsum(np.diff(structure.scale) > 0)]).astype(np.int32)
        if not (structure.weight == 1).all():
            by_level = np.where(level >= 0, structure.weight[level], 0.0)
            weight = by_level if weight is None else weight * by_level
        structure = Scale(np.ones(n_levels), np.unique(structure.scale))
        number = np.where(level >= 0, rank[level], -1).astype(np.int32)
        n_levels = len(structure.scale)
    cells = make_cells(number, group, weight, structure, n_levels)
    in_pairs = cells.of_row >= 0
    with np.errstate(over="ignore", divide="ignore"):  # refuse_lost_weights speaks up when it matters
        totals, n_pairs = cells.group_totals()
        factor = 1.0 / totals if balance == "groups" else None
        total = totals.sum() if factor is None else len(totals)
        mass = np.count_nonzero(in_pairs) if row_weight is None else row_weight[in_pairs].sum()
    return GradedPairs(
        level=level,
        group=group,
        row_weight=row_weight,
        graph=graph,
        balance=balance,
        cells=cells,
        weight=weight,
        mass=float(mass),
        total=float(total),
        n_pairs=n_pairs,
        group_factor=factor,
        compiled=use_compiled(len(level)) if compiled is None else compiled,
    )
