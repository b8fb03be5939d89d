"""Pairs that are listed one by one: comparisons, and pairs drawn from grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..sweeps import Array, Floats
from .pairs import GradedPairs


@dataclass(frozen=True)
class ListedPairs:
    """Row ``high[k]`` should stand above row ``low[k]``, with weight ``weight[k]``.

    ``mass`` is n of the objective (★), ``total`` is ΣW.
    """

    high: Array
    low: Array
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
        starts = cells.group_starts
        first, last = begins[starts[:-1]][cells.group[cell]], ends[starts[1:] - 1][cells.group[cell]]
        others = last - first - cells.count[cell]
        draw = first[:, None] + (rng.random((len(arranged), per_row)) * others[:, None]).astype(np.int64)
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
        draw = low[:, None] + (rng.random((len(arranged), per_row)) * (high - low)[:, None]).astype(np.int64)
        edge = np.searchsorted(filled, draw, side="right") - 1
        draw = begins[other[edge]] + draw - filled[edge]
    mine = np.repeat(np.arange(len(arranged)), per_row)
    theirs = draw.ravel()
    above, weight = _relation(pairs, cell[mine], cell[theirs])
    weight = weight * _product(pairs, arranged[mine], arranged[theirs])
    return ListedPairs(
        high=arranged[np.where(above, mine, theirs)],
        low=arranged[np.where(above, theirs, mine)],
        weight=weight,
        n_rows=pairs.n_rows,
        mass=pairs.mass,
    )


def _relation(pairs: GradedPairs, cell: Array, other: Array) -> tuple[Array, Floats]:
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


def _product(pairs: GradedPairs, rows: Array, others: Array) -> Floats:
    """ω_i · ω_j, divided by the group's total where groups are balanced."""
    factor = np.ones(len(rows)) if pairs.factor is None else pairs.factor[rows]
    return factor if pairs.weight is None else factor * pairs.weight[others]
