"""The pairs within a margin, at one vector of scores: sorted once, summed over any number of times."""

from __future__ import annotations

from copy import copy
from functools import partial

import numpy as np

from ..sweeps import Edges, Floats, Ints, Ladder, Side, parallel_map, sort_rows
from .pairs import GradedPairs


class Windows:
    """The pairs (i above j) with s_i − s_j < margin, for one vector of scores.

    Everything here is in sorted order: by group, then by ascending score, rows in no pair left out;
    ``rows`` says which row stands where.
    """

    def __init__(self, pairs: GradedPairs, scores: Floats, margin: float) -> None:
        self._n_rows = pairs.n_rows
        self.rows = sort_rows(scores, pairs.block, pairs.bounds, compiled=pairs.compiled)
        ascending = scores[self.rows]
        self.scores = _centred(ascending, pairs.bounds)
        self.weight = None if pairs.weight is None else pairs.weight[self.rows]
        self.factor = None if pairs.factor is None else pairs.factor[self.rows]
        cells, cell = pairs.cells, pairs.cells.of_row[self.rows]
        self._scale = None if cells.scale is None else cells.scale[cell]
        self._make_side = partial(Side, ascending, pairs.bounds, cell, compiled=pairs.compiled)
        above: Edges | Ladder
        below: Edges | Ladder
        if cells.pairs is not None:
            above, below = cells.edges
        else:
            above, below = (Ladder(rank[cell]) for rank in cells.ranks())
        self._partners = above, below
        self._set_margin(margin)

    def with_margin(self, margin: float) -> Windows:
        """Return the windows of another margin at the same scores, without another sort."""
        other = copy(self)
        other._set_margin(margin)
        return other

    def _set_margin(self, margin: float) -> None:
        above, below = self._partners
        self.margin = margin
        self._sides = parallel_map(
            lambda mirror: self._make_side(below if mirror else above, margin=margin, mirror=mirror),
            (False, True),
            len(self.rows),
        )

    def sums(self, payload: Floats) -> tuple[Floats, Floats]:
        """Sum W·ω·payload over the rows above each row, and over the rows below it.

        ``payload`` has one column a row and any number of lines; so have both results. Neither has the
        row's own factor in it.
        """
        if self.weight is not None:
            payload = payload * self.weight
        if self._scale is None:
            above, below = self._both(payload)
            return above, below
        # Σ (σ_k − σ_i) p_k = Σ σ_k p_k − σ_i Σ p_k
        m = len(payload)
        above, below = self._both(np.vstack([payload, self._scale * payload]))
        return above[m:] - self._scale * above[:m], self._scale * below[:m] - below[m:]

    def sums_below(self, payload: Floats) -> Floats:
        """Sum over the rows below each row only: for many lines, best the transpose of rows in memory."""
        if self.weight is not None:
            payload = payload * self.weight
        below = self._sides[1].sums(payload)
        if self._scale is None:
            return below
        return np.asarray(self._scale * below - self._sides[1].sums(self._scale * payload))

    def to_rows(self, values: Floats) -> Floats:
        """Put values in sorted order back to their rows; rows in no pair get zero."""
        out = np.zeros(self._n_rows) if len(self.rows) < self._n_rows else np.empty(self._n_rows)
        out[self.rows] = values
        return out

    def _both(self, payload: Floats) -> list[Floats]:
        return parallel_map(lambda side: side.sums(payload), self._sides, payload.shape[1])


def _centred(ascending: Floats, bounds: Ints) -> Floats:
    """Shift the scores of each group to mean zero: no risk changes, and sums keep their digits."""
    if len(bounds) == 2:
        return np.asarray(ascending - ascending.mean())
    if len(ascending) == 0:
        return ascending
    sizes = np.diff(bounds)
    return ascending - np.repeat(np.add.reduceat(ascending, bounds[:-1]) / sizes, sizes)
