"""The pairs that an order stands for, ready for sweeps: of grades only ever summed over, of comparisons listed.

Pairs of cells are listed where they are few. A cell is the rows of one level in one group, and all of them stand
above the same rows. Where a group has many levels in a full or separable order, the cells are a *ladder* instead:
every higher one stands above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..sweeps import (
    Array,
    Bools,
    Edges,
    EdgeTable,
    Floats,
    Ints,
    Links,
    ranges,
    sums_at,
    sums_before,
    use_compiled,
)
from .graph import CostTable, Full, OrderGraph, Scale

# --------------------------------------------------------------------------------------------------
# What rows weigh at the two ends of a pair.


class EndWeights(NamedTuple):
    """What each row counts where it stands above another, and where it stands below, beside its weight ω; None: one."""

    above: Floats | None
    below: Floats | None

    def take(self, rows: Ints) -> EndWeights:
        """Return those of some rows."""
        return EndWeights(*(None if part is None else part[rows] for part in self))


class Ends(NamedTuple):
    """What each row, or cell, weighs as the upper end of its pairs (u), and as the lower (v); None: one.

    Both are the same array where rows have one weight.
    """

    upper: Floats | None
    lower: Floats | None

    @property
    def alike(self) -> bool:
        """Whether each weighs the same at both ends."""
        return self.upper is self.lower

    def each(self, change: Callable[[Floats], Floats]) -> Ends:
        """Apply a function to the weights, once where both are the same; None stays None."""
        upper = None if self.upper is None else change(self.upper)
        if self.alike:
            return Ends(upper, upper)
        return Ends(upper, None if self.lower is None else change(self.lower))


def end_weights(weight: Floats | None, ends: EndWeights | None) -> Ends:
    """Return u = ω · above and v = ω · below."""
    if ends is None:
        return Ends(weight, weight)
    upper, lower = (
        part if weight is None else weight if part is None else weight * part for part in (ends.above, ends.below)
    )
    if upper is not None and lower is not None and np.array_equal(upper, lower):
        lower = upper
    return Ends(upper, lower)


# --------------------------------------------------------------------------------------------------
# Cells.


LADDER_FROM = 32
"""A ladder is used from this many cells above or below an average row on."""

PAIRS_PER_ROW = 4
"""A ladder is also used where pairs of cells would be more than this many times the rows."""


MOST_IN_TABLE = 16
"""Groups of at most so many cells have the weights between them in a table."""


class CellPairs(NamedTuple):
    """Pairs of cells: every row of cell ``high`` stands above every row of cell ``low``."""

    low: Ints
    high: Ints
    weight: Floats


@dataclass(frozen=True)
class Cells:
    """The cells that take part in at least one pair, sorted by (group, level)."""

    of_row: Ints  # −1 for a row that is in no pair
    group: Ints  # of each cell; groups without a pair are gone, the others numbered 0, 1, …
    count: Ints  # rows in each cell
    n_upper: Ints  # those that weigh something as the upper end of a pair
    n_lower: Ints  # and as the lower end; all of them, where rows have one weight
    upper: Floats  # Σ of what the cell's rows weigh as the upper end
    lower: Floats  # and as the lower; the same array, where rows have one weight
    scale: Floats | None  # of each cell, on a ladder whose weights are differences of a scale
    rises: Floats | None  # how far each cell of such a ladder lies above the one before it; zero for a group's lowest
    pairs: CellPairs | None  # None on a ladder

    @property
    def n(self) -> int:
        """How many cells there are."""
        return len(self.group)

    @property
    def n_groups(self) -> int:
        """How many groups have a pair."""
        return int(self.group[-1]) + 1 if self.n else 0

    @cached_property
    def ends(self) -> Ints:
        """Where each cell's rows end, once the rows are arranged by cell; they begin ``count`` before."""
        return np.cumsum(self.count)

    @cached_property
    def group_starts(self) -> Ints:
        """The first cell of each group, and the end."""
        return np.searchsorted(self.group, np.arange(self.n_groups + 1))

    @cached_property
    def edges(self) -> tuple[Edges, Edges]:
        """The cells above each cell, and the cells below each cell."""
        assert self.pairs is not None
        low, high, weight = self.pairs
        above = _edges(low, high, weight, self.n, self._table(low, high))
        return above, _edges(high, low, weight, self.n, self._table(high, low))

    def _table(self, looking: Ints, seen: Ints) -> EdgeTable | None:
        """Return what each cell weighs for the cells of its group that look up at it; None if mostly nothing."""
        assert self.pairs is not None
        width = int(np.diff(self.group_starts).max(initial=0))
        if width > MOST_IN_TABLE or self.n * width > PAIRS_PER_ROW * int(self.count.sum()):
            return None
        first_cell = self.group_starts[:-1].astype(np.int32)
        weights = np.zeros((self.n, width))
        weights[seen, looking - first_cell[self.group[looking]]] = self.pairs.weight
        return EdgeTable(weights, first_cell)

    @cached_property
    def ranks(self) -> tuple[Ints, Ints]:
        """The rank of each cell in its group, counted from the top and from the bottom."""
        starts = self.group_starts
        cell = np.arange(self.n)
        from_top = (starts[self.group + 1] - 1 - cell).astype(np.int32)
        from_bottom = (cell - starts[self.group]).astype(np.int32)
        return from_top, from_bottom

    def pair_exponents(self) -> Ints:
        """Return about the binary exponent of the heaviest pair of cells of each group; as :func:`product_exponents`.

        The scale of a ladder is left out: its differences lie closer together than weights may.
        """
        if self.pairs is None:
            return product_exponents(self.upper, self.group, self.n_groups, self.lower)
        low, high, weight = self.pairs
        exponent = sum(_exponents(part) for part in (weight, self.lower[low], self.upper[high]))
        return _even_exponents(np.asarray(exponent), self.group[low], self.n_groups)

    def group_totals(self) -> tuple[Floats, int]:
        """Return the summed weight of each group's pairs, and the exact number of all pairs."""
        if self.pairs is not None:
            low, high, weight = self.pairs
            total = sums_at(self.group[low], weight * self.lower[low] * self.upper[high], minlength=self.n_groups)
            return total, int(np.sum(self.n_lower[low] * self.n_upper[high]))
        below = sums_before(self.lower, self.group_starts)
        if self.rises is not None:
            # with T_c = Σ_{k<c} (σ_c − σ_k) ω_k: T_c = T_{c−1} + (σ_c − σ_{c−1}) Σ_{k<c} ω_k
            risen = self.rises * below
            below = sums_before(risen, self.group_starts) + risen
        total = sums_at(self.group, self.upper * below, minlength=self.n_groups)
        return total, int(np.sum(self.n_upper * sums_before(self.n_lower, self.group_starts)))


def make_cells(
    level: Ints, group: Ints | None, ends: Ends, structure: Full | Scale | CostTable, n_levels: int
) -> Cells:
    """Gather rows into cells. Rows of level −1 and rows of zero weight take part in nothing.

    For a :class:`Scale` the levels must be numbered by distinct scale values already.
    """
    active = level >= 0
    if ends.upper is not None and ends.lower is not None:
        active &= ends.upper > 0 if ends.alike else (ends.upper > 0) | (ends.lower > 0)
    everything = bool(active.all())
    of_active = level if everything else level[active]
    if group is not None:
        of_active = (group if everything else group[active]).astype(np.int64) * n_levels + of_active
    n_groups = 1 if group is None else int(group.max(initial=-1)) + 1
    cell, key = _compress(of_active, n_levels * n_groups)
    cell_group, cell_level = (np.zeros_like(key), key) if group is None else np.divmod(key, n_levels)
    count = np.bincount(cell, minlength=len(key))

    partnered, pairs = _partners(key, cell_group, cell_level, count, structure)
    if not ends.alike:  # a row may stand in a cell that has partners and have none itself
        takes_part, pairs = _in_pairs(cell, cell_group, pairs, ends.each(lambda part: part[active]))
        count = np.bincount(cell[takes_part], minlength=len(key))
        partnered = count > 0
        active[np.flatnonzero(active)] = takes_part
        everything, cell = everything and bool(takes_part.all()), cell[takes_part]
    renumbered = np.where(partnered, np.cumsum(partnered) - 1, -1).astype(np.int32)
    if everything and partnered.all():
        of_row = cell.astype(np.int32)
    else:
        of_row = np.full(len(level), -1, np.int32)
        of_row[active] = renumbered[cell]
    if pairs is not None:
        pairs = CellPairs(renumbered[pairs.low], renumbered[pairs.high], pairs.weight)
    kept_group = cell_group[partnered]
    new_group = np.diff(kept_group, prepend=-1) > 0
    numbered_group = (np.cumsum(new_group) - 1).astype(np.int32)
    scale_of_cell = rises = None
    if isinstance(structure, Scale) and pairs is None:
        # only differences count; measured from the group's lowest cell they keep most digits
        scale_of_cell = structure.scale[cell_level[partnered]]
        rises = np.where(new_group, 0.0, np.diff(scale_of_cell, prepend=0.0))
        scale_of_cell = scale_of_cell - scale_of_cell[new_group][numbered_group]
    count = count[partnered].astype(np.int64)
    n_upper, upper = _end_sums(of_row, count, ends.upper)
    n_lower, lower = (n_upper, upper) if ends.alike else _end_sums(of_row, count, ends.lower)
    return Cells(
        of_row=of_row,
        group=numbered_group,
        count=count,
        n_upper=count if ends.alike else n_upper,
        n_lower=count if ends.alike else n_lower,
        upper=upper,
        lower=lower,
        scale=scale_of_cell,
        rises=rises,
        pairs=pairs,
    )


def _partners(
    key: Ints, cell_group: Ints, cell_level: Ints, count: Ints, structure: Full | Scale | CostTable
) -> tuple[Bools, CellPairs | None]:
    """Say which cells have others above or below them, and list the pairs of cells; None where they are a ladder."""
    if isinstance(structure, CostTable):
        pairs = _table_pairs(key, cell_group, cell_level, structure.matrix)
        partnered = np.zeros(len(key), bool)
        partnered[pairs.low] = partnered[pairs.high] = True
        return partnered, pairs
    per_group = np.bincount(cell_group)[cell_group] if len(key) else count
    n_rows, n_pairs = np.sum(count), np.sum(per_group - 1) // 2
    if np.sum(count * (per_group - 1)) > LADDER_FROM * n_rows or n_pairs > PAIRS_PER_ROW * n_rows:
        return per_group > 1, None
    pairs = _all_pairs(cell_group)
    if isinstance(structure, Scale):
        scale = structure.scale[cell_level]
        pairs = pairs._replace(weight=scale[pairs.high] - scale[pairs.low])
    return per_group > 1, pairs


def _end_sums(of_row: Ints, count: Ints, weight: Floats | None) -> tuple[Ints, Floats]:
    """Count the rows of each cell that weigh something at one end of their pairs, and add their weights up."""
    if weight is None:
        return count, count.astype(float)
    counts = (of_row >= 0) & (weight > 0)
    place = of_row[counts]
    return np.bincount(place, minlength=len(count)), sums_at(place, weight[counts], minlength=len(count))


def _in_pairs(cell: Ints, cell_group: Ints, pairs: CellPairs | None, ends: Ends) -> tuple[Bools, CellPairs | None]:
    """Say which rows are in a pair of positive weight, where rows weigh one thing above and another below.

    And return the pairs of cells that have such a pair. ``ends`` are those of the rows, all of which lie in a cell.
    """
    n_cells = len(cell_group)
    is_upper, is_lower = (np.ones(len(cell), bool) if part is None else part > 0 for part in ends)
    has_upper, has_lower = (np.bincount(cell[part], minlength=n_cells) > 0 for part in (is_upper, is_lower))
    sees_upper, sees_lower = np.zeros(n_cells, bool), np.zeros(n_cells, bool)
    if pairs is not None:
        kept = has_lower[pairs.low] & has_upper[pairs.high]
        pairs = CellPairs(pairs.low[kept], pairs.high[kept], pairs.weight[kept])
        sees_upper[pairs.low] = sees_lower[pairs.high] = True
    else:
        starts = np.searchsorted(cell_group, np.arange(int(cell_group.max(initial=-1)) + 2))
        sees_lower = sums_before(has_lower.astype(np.int64), starts) > 0
        sees_upper = (sums_before(has_upper[::-1].astype(np.int64), n_cells - starts[::-1]) > 0)[::-1]
    return (is_upper & sees_lower[cell]) | (is_lower & sees_upper[cell]), pairs


_WIDE = 1 << 16
"""More than the distance between any two binary exponents, that of zero included: groups this far apart do not mix."""

_NOTHING = -(1 << 14)
"""Stands for zero's binary exponent: a sum of exponents is below half of it if, and only if, a zero takes part."""

_COMFORTABLE = 500
"""Exponents of products up to which sums neither overflow nor underflow; beyond it, they are scaled first."""


def _exponents(weight: Floats) -> Ints:
    return np.where(weight > 0, np.frexp(weight)[1].astype(np.int64), _NOTHING)


def product_exponents(weight: Floats, group: Ints, n_groups: int, earlier: Floats | None = None) -> Ints:
    """Return about the binary exponent of the largest product of an entry and an earlier one of its group (ascending).

    ``earlier`` is what entries weigh as the earlier one, where that is something else. Even ones, so that each entry
    can be given half of it; zeros where all products are of a usual size.
    """
    size = _exponents(weight)
    before = size if earlier is None or earlier is weight else _exponents(earlier)
    running = np.maximum.accumulate(before + _WIDE * group) if len(group) else before
    later = np.flatnonzero(group[1:] == group[:-1]) + 1
    return _even_exponents(size[later] + running[later - 1] - _WIDE * group[later], group[later], n_groups)


def _even_exponents(exponent: Ints, group: Ints, n_groups: int) -> Ints:
    """Return the largest exponent of each group, less one if it is odd; zeros if all of them are small.

    A group without any, but for products of zero, has what the largest of all has, and so never is the largest.
    """
    largest = np.full(n_groups, _NOTHING, np.int64)
    np.maximum.at(largest, group, exponent)
    if (lost := largest < _NOTHING // 2).any():
        largest[lost] = 0 if lost.all() else largest.max()
    even = largest // 2 * 2 if (np.abs(largest) >= _COMFORTABLE).any() else np.zeros_like(largest)
    return even.astype(np.int32)  # which ldexp takes everywhere


def _compress(key: Ints, size: int) -> tuple[Ints, Ints]:
    """Give numbers to the distinct keys (all below ``size``) in ascending order."""
    if size <= 4 * len(key) + 1024:
        present = np.bincount(key, minlength=size) > 0
        if present.all():
            return key, np.arange(size)
        return (np.cumsum(present) - 1).astype(np.int32)[key], np.flatnonzero(present)
    distinct, number = np.unique(key, return_inverse=True)
    return number, distinct


def _all_pairs(cell_group: Ints) -> CellPairs:
    """Pair each cell with every later one of its group."""
    ends = np.searchsorted(cell_group, cell_group, side="right")
    cell = np.arange(len(cell_group))
    low = np.repeat(cell, ends - cell - 1)
    return CellPairs(low, ranges(cell + 1, ends - cell - 1), np.ones(len(low)))


def _table_pairs(key: Ints, cell_group: Ints, cell_level: Ints, table: sp.csr_array) -> CellPairs:
    """Pair the cells of one group whose levels have an edge; by edges or by cells, whichever are fewer."""
    n_levels = table.shape[0]
    degree = np.diff(table.indptr)[cell_level]
    per_group = np.bincount(cell_group)[cell_group] if len(key) else degree
    if np.sum(degree) <= np.sum(per_group - 1):
        low = np.repeat(np.arange(len(key)), degree)
        edge = ranges(table.indptr[cell_level], degree)
        wanted = cell_group[low] * n_levels + table.indices[edge]
        high = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        there = key[high] == wanted if len(key) else np.zeros(0, bool)
        return CellPairs(low[there], high[there], table.data[edge[there]])
    one, other, _ = _all_pairs(cell_group)
    low, high = np.concatenate([one, other]), np.concatenate([other, one])  # a graph may lead either way
    at, there = _look_up(table, cell_level[low], cell_level[high])
    return CellPairs(low[there], high[there], table.data[at[there]])


def _look_up(table: sp.csr_array, lines: Ints, columns: Ints) -> tuple[Array, Array]:
    """Find entries of a table: where they are stored, and whether they are there at all."""
    n = table.shape[0]
    stored = np.repeat(np.arange(n), np.diff(table.indptr)) * n + table.indices
    wanted = lines.astype(np.int64) * n + columns
    at = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    return at, stored[at] == wanted if len(stored) else np.zeros(len(wanted), bool)


def _edges(looking: Ints, seen: Ints, weight: Floats, n_cells: int, table: EdgeTable | None) -> Edges:
    """Arrange pairs of cells by the one that looks."""
    arranged = np.argsort(looking, kind="stable")
    indptr = np.zeros(n_cells + 1, np.int32)
    np.cumsum(np.bincount(looking, minlength=n_cells), out=indptr[1:])
    return Edges(indptr, seen[arranged].astype(np.int32), weight[arranged].astype(float), table)


# --------------------------------------------------------------------------------------------------
# Listed pairs: comparisons, and pairs drawn from grades.


@dataclass(frozen=True)
class ListedPairs:
    """Row ``high[k]`` should stand above row ``low[k]``, with weight ``weight[k]``.

    ``mass`` is n of the objective (docs/notation.md), ``total`` is ΣW.
    """

    high: Ints
    low: Ints
    weight: Floats
    n_rows: int
    mass: float

    @property
    def total(self) -> float:
        """ΣW over the pairs."""
        return float(self.weight.sum())

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return len(self.high)


def draw_pairs(pairs: GradedPairs, per_row: int, rng: np.random.Generator) -> ListedPairs:
    """Pair each row with ``per_row`` random rows that it is comparable with, drawn with replacement.

    A pair keeps its weight W_ij; the mass n is that of all pairs, so that C keeps its meaning.
    """
    cells, arranged = pairs.cells, pairs.arranged
    cell = cells.of_row[arranged]
    ends, begins = cells.ends, cells.ends - cells.count
    if cells.pairs is None:
        # any row of the group but those of the own cell
        starts, group = cells.group_starts, cells.group[cell]
        first = begins[starts[:-1]][group]
        last = ends[starts[1:] - 1][group]
        others = last - first - cells.count[cell]
        share = rng.random((len(arranged), per_row))
        draw = first[:, None] + (share * others[:, None]).astype(np.int64)
        # as if the own cell were not there; what lies at or behind it moves on by its length
        draw += np.where(draw >= begins[cell][:, None], cells.count[cell][:, None], 0)
    else:
        # partners of a cell, below and above, laid end to end
        one = np.concatenate([cells.pairs.low, cells.pairs.high])
        other = np.concatenate([cells.pairs.high, cells.pairs.low])
        by_cell = np.argsort(one, kind="stable")
        one, other = one[by_cell], other[by_cell]
        filled = np.concatenate([[0], np.cumsum(cells.count[other])])
        slot = np.searchsorted(one, np.arange(cells.n + 1))
        low, high = filled[slot[:-1]][cell], filled[slot[1:]][cell]
        share = rng.random((len(arranged), per_row))
        draw = low[:, None] + (share * (high - low)[:, None]).astype(np.int64)
        # a place among the partners laid end to end: first which cell of them, then where in that cell
        edge = np.searchsorted(filled, draw, side="right") - 1
        draw = begins[other[edge]] + draw - filled[edge]
    mine = np.repeat(np.arange(len(arranged)), per_row)
    theirs = draw.ravel()
    above, weight = _relation(pairs, cell[mine], cell[theirs])
    high, low = arranged[np.where(above, mine, theirs)], arranged[np.where(above, theirs, mine)]
    factor, partner = pairs.factors.upper, pairs.ends.lower
    weight = weight if factor is None else weight * factor[high]
    weight = weight if partner is None else weight * partner[low]
    counts = slice(None) if pairs.ends.alike else weight > 0  # what stands above may weigh nothing there
    return ListedPairs(
        high=high[counts],
        low=low[counts],
        weight=weight[counts],
        n_rows=pairs.n_rows,
        mass=pairs.mass,
    )


def _relation(pairs: GradedPairs, cell: Ints, other: Ints) -> tuple[Bools, Floats]:
    """Say for pairs of cells which stands above, and with which weight."""
    cells = pairs.cells
    if cells.pairs is None:
        weight = np.ones(len(cell)) if cells.scale is None else np.abs(cells.scale[cell] - cells.scale[other])
        return cell > other, weight
    key = cells.pairs.low.astype(np.int64) * cells.n + cells.pairs.high
    order = np.argsort(key)
    upward = cell.astype(np.int64) * cells.n + other
    downward = other.astype(np.int64) * cells.n + cell
    at = np.minimum(np.searchsorted(key, upward, sorter=order), len(key) - 1)
    below = key[order[at]] == upward
    at = np.where(below, at, np.searchsorted(key, downward, sorter=order))
    return ~below, cells.pairs.weight[order[at]]


# --------------------------------------------------------------------------------------------------
# The pairs of grades.


Balance = Literal["pairs", "groups"]

_LARGE_GROUP = 1_000
"""Groups of this many rows are sampled row by row, smaller ones as a whole."""

_ROWS_PER_CELL = 100
"""Rows of a cell that a sample keeps, where cells are few."""


@dataclass(frozen=True)
class GradedPairs:
    """All pairs (i above j) of graded rows, with weights W_ij = W[y_j, y_i] · u_i · v_j.

    u_i is what row i weighs where it stands above, v_j what row j weighs where it stands below; with one weight a row
    both are ω.

    Attributes
    ----------
    level, group, row_weight, end_weights, graph, balance
        What it was made from: level numbers (−1: unjudged), group codes or None, ω or None, and what comes on top of ω
        at the ends of pairs, or None.
    cells
        The rows gathered by (group, level).
    ends
        u and v of each row, times the level's weight where the costs are separable; None if all are one.
    mass
        n of the objective (docs/notation.md): the summed ω of the rows that are in at least one pair.
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
    end_weights: EndWeights | None
    graph: OrderGraph
    balance: Balance
    cells: Cells
    ends: Ends
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
    def in_range(self) -> tuple[GradedPairs, Ints]:
        """The same pairs with the row weights of each group times a power of two, and an exponent for each group.

        So the heaviest pair of a group weighs about one, and no product of weights overflows, or vanishes if it
        matters; nothing is rounded by it. Pairs of group g then weigh 2^exponent[g] times what they say, and
        ``group_factor`` restores the groups' sizes relative to the heaviest one: shares stay what they are, and
        ``total`` is to be multiplied by 2^max(exponent). Weights of usual sizes stay, with exponents of zero.
        """
        cells = self.cells
        none = np.zeros(cells.n_groups, np.int32)
        unweighted = self.ends.upper is None and self.ends.lower is None
        if unweighted or self.balance == "groups" or not (exponent := cells.pair_exponents()).any():
            return self, none
        half = exponent // 2
        upper = np.ldexp(cells.upper, -half[cells.group])
        lower = upper if cells.lower is cells.upper else np.ldexp(cells.lower, -half[cells.group])
        cells = replace(cells, upper=upper, lower=lower)
        of_row = -half[0] if self.block is None else -np.append(half, np.int32(0))[self.block]
        ones = np.ones(self.n_rows)
        given = self.ends if self.ends.alike else Ends(*(ones if part is None else part for part in self.ends))
        factor = np.ldexp(1.0 if self.group_factor is None else self.group_factor, exponent - exponent.max())
        scaled = replace(
            self,
            ends=given.each(lambda part: np.ldexp(part, of_row)),
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
        parts = self.ends[:1] if self.ends.alike else self.ends
        weights.extend(part[self.active] for part in parts if part is not None)
        weights = [part[part > 0] for part in weights]
        with np.errstate(divide="ignore"):
            ends = [np.log([part.min(), part.max()]) for part in weights if len(part)]
        reaches = [float(np.abs(pair).max()) for pair in ends]
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
    def factors(self) -> Ends:
        """What a row's sum over its partners is multiplied by: by u_i over those below it, by v_i over those above.

        And by 1/ΣW of its group if balanced.
        """
        if self.group_factor is None:
            return self.ends
        by_cell = np.append(self.group_factor[self.cells.group], 0.0)  # −1 (in no pair) finds the zero
        by_group = by_cell[self.cells.of_row]
        both = self.ends.each(lambda part: by_group * part)
        return Ends(*(by_group if part is None else part for part in both))

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
        weight: Floats
        high: Ints
        stop: Ints
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
        if self.factors.upper is not None:
            weight = weight * self.factors.upper[rows][high]
        none = np.empty(0)
        return rows, Links(
            high,
            start,
            stop,
            weight,
            partner=none if self.ends.lower is None else self.ends.lower[rows],
            scale=none if self.scale is None else self.scale[rows],
        )

    @cached_property
    def table(self) -> Floats:
        """W of every pair of active rows, those below by those above them, and zero elsewhere: for few rows."""
        cells = self.cells
        of_cells = np.zeros((cells.n, cells.n))
        if cells.pairs is not None:
            low, high, weight = cells.pairs
            of_cells[low, high] = weight
        else:
            below = np.arange(cells.n)[:, None] < np.arange(cells.n)
            of_cells[below & (cells.group[:, None] == cells.group)] = 1.0
            if cells.scale is not None:
                of_cells *= cells.scale - cells.scale[:, None]
        cell = cells.of_row[self.active]
        out = np.asarray(of_cells[cell[:, None], cell])
        if self.ends.upper is not None:
            out *= self.ends.upper[self.active]
        return out if self.factors.lower is None else out * self.factors.lower[self.active][:, None]

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
        return rows, self.remade(rows, weight, compiled=self.compiled)

    def remade(self, rows: Ints, weight: Floats | None, *, compiled: bool | None = None) -> GradedPairs:
        """Return the pairs among some of the rows, with other weights ω."""
        ends = None if self.end_weights is None else self.end_weights.take(rows)
        group = None if self.group is None else self.group[rows]
        return make_pairs(self.level[rows], group, weight, self.graph, self.balance, ends=ends, compiled=compiled)


def make_pairs(
    level: Ints,
    group: Ints | None,
    row_weight: Floats | None,
    graph: OrderGraph,
    balance: Balance,
    *,
    ends: EndWeights | None = None,
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
    both = end_weights(weight, ends)
    cells = make_cells(number, group, both, structure, n_levels)
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
        end_weights=ends,
        graph=graph,
        balance=balance,
        cells=cells,
        ends=both,
        mass=float(mass),
        total=float(total),
        n_pairs=n_pairs,
        group_factor=factor,
        compiled=use_compiled(len(level)) if compiled is None else compiled,
    )
