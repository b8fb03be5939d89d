"""Cells: the rows of one level in one group. All rows of a cell stand above the same rows.

Pairs of rows are never listed; pairs of cells are, where they are few. Where a group has many levels
in a full or separable order, the cells are a *ladder* instead: every higher one stands above.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Edges, EdgeTable, Floats, Ints, ranges
from ..sweeps.scans import sums_before
from .graph import Full, Scale, Table

LADDER_FROM = 32
"""A ladder is used from this many cells above or below an average row on."""

PAIRS_PER_ROW = 4
"""A ladder is also used where pairs of cells would be more than this many times the rows."""


MOST_IN_TABLE = 16
"""Groups of at most so many cells have the weights between them in a table."""


class CellPairs(NamedTuple):
    """Pairs of cells: every row of cell ``high`` stands above every row of cell ``low``."""

    low: Array
    high: Array
    weight: Floats


@dataclass(frozen=True)
class Cells:
    """The cells that take part in at least one pair, sorted by (group, level)."""

    of_row: Ints  # −1 for a row that is in no pair
    group: Ints  # of each cell; groups without a pair are gone, the others numbered 0, 1, …
    count: Array  # rows in each cell
    weight: Floats  # Σ of the row weights in each cell
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
    def ends(self) -> Array:
        """Where each cell's rows end, once the rows are arranged by cell; they begin ``count`` before."""
        return np.cumsum(self.count)

    @cached_property
    def group_starts(self) -> Array:
        """The first cell of each group, and the end."""
        return np.searchsorted(self.group, np.arange(self.n_groups + 1))

    @cached_property
    def edges(self) -> tuple[Edges, Edges]:
        """The cells above each cell, and the cells below each cell."""
        assert self.pairs is not None
        low, high, weight = self.pairs
        above = sp.coo_array((weight, (low, high)), shape=(self.n, self.n)).tocsr()
        below = sp.coo_array((weight, (high, low)), shape=(self.n, self.n)).tocsr()
        return _edges(above, self._table(low, high)), _edges(below, self._table(high, low))

    def _table(self, looking: Array, seen: Array) -> EdgeTable | None:
        """Return what each cell weighs for the cells of its group that look up at it; None if mostly nothing."""
        assert self.pairs is not None
        width = int(np.diff(self.group_starts).max(initial=0))
        if width > MOST_IN_TABLE or self.n * width > PAIRS_PER_ROW * int(self.count.sum()):
            return None
        first_cell = self.group_starts[:-1].astype(np.int32)
        weights = np.zeros((self.n, width))
        weights[seen, looking - first_cell[self.group[looking]]] = self.pairs.weight
        return EdgeTable(weights, first_cell)

    def ranks(self) -> tuple[Ints, Ints]:
        """Return the rank of each cell in its group, counted from the top and from the bottom."""
        starts = self.group_starts
        cell = np.arange(self.n)
        from_top = (starts[self.group + 1] - 1 - cell).astype(np.int32)
        from_bottom = (cell - starts[self.group]).astype(np.int32)
        return from_top, from_bottom

    def pair_exponents(self) -> Array:
        """Return about the binary exponent of the heaviest pair of cells of each group; as :func:`product_exponents`.

        The scale of a ladder is left out: its differences lie closer together than weights may.
        """
        if self.pairs is None:
            return product_exponents(self.weight, self.group, self.n_groups)
        low, high, weight = self.pairs
        exponent = sum(np.frexp(part)[1].astype(np.int64) for part in (weight, self.weight[low], self.weight[high]))
        return _even_exponents(np.asarray(exponent), self.group[low], self.n_groups)

    def group_totals(self) -> tuple[Floats, int]:
        """Return the summed weight of each group's pairs, and the exact number of all pairs."""
        if self.pairs is not None:
            low, high, weight = self.pairs
            total = np.bincount(self.group[low], weight * self.weight[low] * self.weight[high], minlength=self.n_groups)
            return total, int(np.sum(self.count[low] * self.count[high]))
        below = sums_before(self.weight, self.group_starts)
        if self.rises is not None:
            # with T_c = Σ_{k<c} (σ_c − σ_k) ω_k: T_c = T_{c−1} + (σ_c − σ_{c−1}) Σ_{k<c} ω_k
            risen = self.rises * below
            below = sums_before(risen, self.group_starts) + risen
        total = np.bincount(self.group, self.weight * below, minlength=self.n_groups)
        return total, int(np.sum(self.count * sums_before(self.count, self.group_starts)))


def make_cells(
    level: Ints, group: Ints | None, weight: Floats | None, structure: Full | Scale | Table, n_levels: int
) -> Cells:
    """Gather rows into cells. Rows of level −1 and rows of zero weight take part in nothing.

    For a :class:`Scale` the levels must be numbered by distinct scale values already.
    """
    active = level >= 0
    if weight is not None:
        active &= weight > 0
    everything = bool(active.all())
    of_active = level if everything else level[active]
    if group is not None:
        of_active = (group if everything else group[active]).astype(np.int64) * n_levels + of_active
    cell, key = _compress(of_active, n_levels * (1 if group is None else int(group.max(initial=-1)) + 1))
    cell_group, cell_level = (np.zeros_like(key), key) if group is None else np.divmod(key, n_levels)
    count = np.bincount(cell, minlength=len(key))

    pairs = None
    if isinstance(structure, Table):
        pairs = _table_pairs(key, cell_group, cell_level, structure.matrix)
        partnered = np.zeros(len(key), bool)
        partnered[pairs.low] = partnered[pairs.high] = True
    else:
        per_group = np.bincount(cell_group)[cell_group] if len(key) else count
        partnered = per_group > 1
        n_rows, n_pairs = np.sum(count), np.sum(per_group - 1) // 2
        if np.sum(count * (per_group - 1)) <= LADDER_FROM * n_rows and n_pairs <= PAIRS_PER_ROW * n_rows:
            pairs = _all_pairs(cell_group)
            if isinstance(structure, Scale):
                scale = structure.scale[cell_level]
                pairs = pairs._replace(weight=scale[pairs.high] - scale[pairs.low])
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
    in_pairs = of_row >= 0
    return Cells(
        of_row=of_row,
        group=numbered_group,
        count=count[partnered].astype(np.int64),
        weight=(
            count[partnered].astype(float)
            if weight is None
            else np.bincount(of_row[in_pairs], weight[in_pairs], minlength=int(partnered.sum()))
        ),
        scale=scale_of_cell,
        rises=rises,
        pairs=pairs,
    )


_WIDE = 1 << 13
"""More than any two binary exponents of floating-point numbers lie apart."""

_COMFORTABLE = 500
"""Sums of numbers that are less than two to this power, or more than one over it, need no care."""


def product_exponents(weight: Floats, group: Array, n_groups: int) -> Array:
    """Return about the binary exponent of the largest product of two entries of each group (ascending).

    Even ones, so that each entry can be given half of it; zeros where all products are of a usual size.
    """
    size = np.frexp(weight)[1].astype(np.int64)
    running = np.maximum.accumulate(size + _WIDE * group) if len(group) else size
    later = np.flatnonzero(group[1:] == group[:-1]) + 1
    return _even_exponents(size[later] + running[later - 1] - _WIDE * group[later], group[later], n_groups)


def _even_exponents(exponent: Array, group: Array, n_groups: int) -> Array:
    """Return the largest exponent of each group, less one if it is odd; zeros if all of them are small.

    A group without any has what the largest of all has, and so never is the largest.
    """
    nothing = -_WIDE
    largest = np.full(n_groups, nothing, np.int64)
    np.maximum.at(largest, group, exponent)
    largest[largest == nothing] = largest.max(initial=nothing) if len(exponent) else 0
    even = largest // 2 * 2 if (np.abs(largest) >= _COMFORTABLE).any() else np.zeros_like(largest)
    return even.astype(np.int32)  # which ldexp takes everywhere


def _compress(key: Array, size: int) -> tuple[Array, Array]:
    """Give numbers to the distinct keys (all below ``size``) in ascending order."""
    if size <= 4 * len(key) + 1024:
        present = np.bincount(key, minlength=size) > 0
        if present.all():
            return key, np.arange(size)
        return (np.cumsum(present) - 1).astype(np.int32)[key], np.flatnonzero(present)
    distinct, number = np.unique(key, return_inverse=True)
    return number, distinct


def _all_pairs(cell_group: Array) -> CellPairs:
    """Pair each cell with every later one of its group."""
    ends = np.searchsorted(cell_group, cell_group, side="right")
    cell = np.arange(len(cell_group))
    low = np.repeat(cell, ends - cell - 1)
    return CellPairs(low, ranges(cell + 1, ends - cell - 1), np.ones(len(low)))


def _table_pairs(key: Array, cell_group: Array, cell_level: Array, table: sp.csr_array) -> CellPairs:
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


def _look_up(table: sp.csr_array, lines: Array, columns: Array) -> tuple[Array, Array]:
    """Find entries of a table: where they are stored, and whether they are there at all."""
    n = table.shape[0]
    stored = np.repeat(np.arange(n), np.diff(table.indptr)) * n + table.indices
    wanted = lines.astype(np.int64) * n + columns
    at = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    return at, stored[at] == wanted if len(stored) else np.zeros(len(wanted), bool)


def _edges(matrix: sp.csr_array, table: EdgeTable | None) -> Edges:
    indptr, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return Edges(indptr, indices, np.asarray(matrix.data, dtype=float), table)
