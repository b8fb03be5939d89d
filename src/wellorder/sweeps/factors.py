"""Sums over pairs that factorise: Σ W_ij · p_i · q_j, with the p and q of each cell added up first.

Rows lie in cells; a row of cell a is paired with all rows of the cells that a is joined to. ``p`` is the
row's part as the higher end of a pair, ``q`` as the lower. For e^{−(s_i − s_j)} they are ω e^{−s} and ω e^{s}.
All terms are positive and nothing is subtracted, so that the sums keep their digits whatever the sizes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .arrays import Array, Floats


class Joined(NamedTuple):
    """Pairs of cells, listed: the rows of cell ``high`` stand above those of cell ``low``."""

    low: Array
    high: Array
    weight: Floats


class Rungs(NamedTuple):
    """All cells of a group (they begin at ``starts``) stand above the earlier ones, by one or by the ``step``s between.

    ``step[c]`` is how far cell c lies above the one before it; empty if every pair of cells weighs one.
    """

    starts: Array
    step: Floats


def centre(scores: Floats, block: Array | None, n_blocks: int, *, compiled: bool) -> tuple[Floats, float]:
    """Shift the scores of each block to mean zero, and return how large they are then.

    ``block`` is None when all rows are in the one; rows of block −1 get zero.
    """
    if block is None:
        out = np.asarray(scores - scores.mean()) if len(scores) else scores
    elif compiled:
        from . import compiled_factors as form

        return form.centre(scores, block, n_blocks)
    else:
        inside = block >= 0
        within = block[inside]
        size = np.bincount(within, minlength=n_blocks)
        mean = np.bincount(within, scores[inside], minlength=n_blocks) / np.maximum(size, 1)
        out = np.zeros(len(scores))
        out[inside] = scores[inside] - mean[within]
    return out, float(max(out.max(initial=0.0), -out.min(initial=0.0)))


class Factors:
    """p = upper / e and q = lower · e of each row, and the cells they lie in.

    Parameters
    ----------
    cell
        Of each row; −1 for a row that takes no part.
    growth
        e of each row, positive.
    upper, lower
        What a row weighs as the higher end of a pair, and as the lower; None if all weigh one.
    joined
        Which cells stand above which.
    factor
        What all sums over a cell's partners are multiplied by; None if by one.
    compiled
        Which form to use.
    """

    def __init__(
        self,
        cell: Array,
        growth: Floats,
        upper: Floats | None,
        lower: Floats | None,
        joined: Joined | Rungs,
        n_cells: int,
        factor: Floats | None,
        *,
        compiled: bool,
    ) -> None:
        self._joined, self._n_cells, self._factor, self._compiled = joined, n_cells, factor, compiled
        if compiled:
            none = np.empty(0)
            self._rows = cell, growth, none if upper is None else upper, none if lower is None else lower
            return
        self._cell = np.where(cell < 0, n_cells, cell)  # a cell beyond the last, which sees nothing
        self._p = 1.0 / growth if upper is None else upper / growth
        self._q = growth if lower is None else lower * growth

    def sums(self) -> tuple[float, Floats, Floats]:
        """Return Σ over all pairs, and by row: the sum as the lower end less that as the higher, and both added."""
        if self._compiled:
            from . import compiled_factors as form

            return form.row_sums(*self._rows, self._seen(form.cell_sums(*self._rows, np.empty(0), self._n_cells)))
        below, above = self._plain_seen(self._p, self._q)
        as_high, as_low = self._p * below, self._q * above
        return float(as_high.sum()), as_low - as_high, as_low + as_high

    def weighted(self, u: Floats) -> Floats:
        """Return, by row, the sum over all its partners with each pair multiplied by the partner's u."""
        if self._compiled:
            from . import compiled_factors as form

            return form.partner_sums(*self._rows, self._seen(form.cell_sums(*self._rows, u, self._n_cells)))
        below, above = self._plain_seen(self._p * u, self._q * u)
        return np.asarray(self._p * below + self._q * above)

    def _seen(self, of_cell: Floats) -> Floats:
        """Turn the sums (p, q) of each cell into what it sees: q below it, p above it."""
        from . import compiled_factors as form

        if isinstance(self._joined, Joined):
            seen = form.joined_sums(*self._joined, of_cell)
        else:
            seen = form.rung_sums(*self._joined, of_cell)
        if self._factor is not None:
            seen *= self._factor[:, None]
        return seen

    def _plain_seen(self, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        p, q = (np.bincount(self._cell, part, minlength=self._n_cells + 1)[:-1] for part in (p, q))
        below, above = np.zeros(self._n_cells), np.zeros(self._n_cells)
        if isinstance(self._joined, Joined):
            low, high, weight = self._joined
            below += np.bincount(high, weight * q[low], minlength=self._n_cells)
            above += np.bincount(low, weight * p[high], minlength=self._n_cells)
        else:
            starts, step = self._joined
            for begin, end in pairwise(starts):
                below[begin:end] = _sums_before(q[begin:end], step[begin:end])
                above[begin:end] = _sums_before(p[begin:end][::-1], np.roll(step[begin:end], -1)[::-1])[::-1]
        if self._factor is not None:
            below, above = below * self._factor, above * self._factor
        return np.append(below, 0.0)[self._cell], np.append(above, 0.0)[self._cell]


def _sums_before(values: Floats, step: Floats) -> Floats:
    """Σ of the values before each entry, each times the steps from there to here (by one, without steps).

    The first step is not looked at.
    """
    before = np.concatenate([[0.0], np.cumsum(values)[:-1]])
    # with T_c the sum wanted: T_c = T_{c−1} + step_c · Σ_{k<c} values_k
    return np.cumsum(step * before) if len(step) else before
