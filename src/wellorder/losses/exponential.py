"""The exponential loss e^{−d}: it factorises, so that all pairs cost O(n) and a little for the cells."""

from __future__ import annotations

import numpy as np

from ..order import Cells, ConsistentPairs, GradedPairs
from ..sweeps import Factors, Floats, Ints, Joined, Rungs, block_log_sums, centre, means_before, sums_at
from .risk import PairLoss, RiskAt

_REACH = 250.0
"""Scores this far from their group's mean have e^{±s} as plain numbers, and so have all products of two."""

_WEIGHT_REACH = 40.0
"""How far the logarithms of weights may reach for that: up to four of them are added to the two scores."""


class Exponential(PairLoss):
    r"""R(s) = Σ W_ij e^{−(s_i − s_j)}.

    e^{−(s_i − s_j)} = e^{−s_i} · e^{s_j}: each cell (the rows of one level in one group) needs only its
    sums of e^{−s} and e^{s}. They are kept as logarithms where they would not do as plain numbers, so that no
    score is too large.
    """

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return e^{−d}, −e^{−d} and e^{−d}."""
        with np.errstate(over="ignore"):
            value = np.exp(-d)
        return value, -value, value

    def graded(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        """Sum over the pairs of graded rows, cell by cell."""
        if pairs.log_reach <= _WEIGHT_REACH:
            centred, largest = centre(scores, pairs.block, pairs.cells.n_groups, compiled=pairs.compiled)
            if largest <= _REACH:
                return _plain_numbers(centred, pairs)
        return self._logarithms(scores, pairs)

    def consistent(self, scores: Floats, pairs: ConsistentPairs) -> RiskAt | None:
        """Sum over all ordered pairs, group by group, in O(n); None where e^s will not do as a plain number."""
        compiled, factor = pairs.doubled.compiled, pairs.doubled.group_factor
        if pairs.doubled.log_reach > _WEIGHT_REACH:
            return None
        n_groups = pairs.doubled.cells.n_groups
        centred, largest = centre(scores, pairs.block, n_groups, compiled=compiled)
        if largest > _REACH:
            return None
        cell = np.zeros(pairs.n_rows, np.int32) if pairs.block is None else pairs.block
        group = np.arange(n_groups)  # each stands above itself
        joined = Joined(group, group, np.ones(n_groups))
        factors = Factors(cell, np.exp(centred), *pairs.ends, joined, n_groups, factor, compiled=compiled)
        value, gradient, diagonal = factors.sums()
        return RiskAt(
            value=value,
            gradient=gradient,
            # a row's pair with itself has no curvature
            hessian_diagonal=lambda: np.maximum(diagonal - 2.0 * pairs.self_weights, 0.0),
            hessian_product=lambda u: diagonal * u - factors.weighted(u),
        )

    def _logarithms(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        cells, rows = pairs.cells, pairs.active
        cell, s = cells.of_row[rows], pairs.centred(scores)[rows]
        with np.errstate(divide="ignore"):  # what weighs nothing at one end has no part in it
            upper, lower = (np.zeros(len(rows)) if part is None else np.log(part[rows]) for part in pairs.ends)
        sinks = _Role(lower + s, cell, cells, above=False)  # rows as the lower end of a pair
        lifts = _Role(upper - s, cell, cells, above=True)  # rows as the higher end
        balance = 0.0 if pairs.group_factor is None else np.log(pairs.group_factor)[cells.group[cell]]
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite risk has no gradient
            # Σ over a row's partners below it, and above it
            as_high = np.exp(balance + lifts.log_row + sinks.log_partners[cell])
            as_low = np.exp(balance + sinks.log_row + lifts.log_partners[cell])
            gradient = _spread(as_low - as_high, rows, len(scores))

        def product(u: Floats) -> Floats:
            below, above = sinks.partner_mean(u[rows]), lifts.partner_mean(u[rows])
            return _spread(as_high * (u[rows] - below[cell]) + as_low * (u[rows] - above[cell]), rows, len(u))

        return RiskAt(
            value=float(as_high.sum()),
            gradient=gradient,
            hessian_diagonal=lambda: _spread(as_low + as_high, rows, len(scores)),
            hessian_product=product,
        )


def _plain_numbers(centred: Floats, pairs: GradedPairs) -> RiskAt:
    """Work with e^s itself: one exponential a row."""
    cells = pairs.cells
    rungs = Rungs(cells.group_starts, np.empty(0) if cells.rises is None else cells.rises)
    factors = Factors(
        cells.of_row,
        np.exp(centred),
        *pairs.ends,
        rungs if cells.pairs is None else Joined(*cells.pairs),
        cells.n,
        None if pairs.group_factor is None else pairs.group_factor[cells.group],
        compiled=pairs.compiled,
    )
    value, gradient, diagonal = factors.sums()
    return RiskAt(
        value=value,
        gradient=gradient,
        hessian_diagonal=lambda: diagonal,
        hessian_product=lambda u: diagonal * u - factors.weighted(u),
    )


class _Role:
    """Rows seen by their partners: with weights e^{log_row}, from the cells above them (or below).

    ``log_partners[c]`` is the log of the summed weight that cell c sees.
    """

    def __init__(self, log_row: Floats, cell: Ints, cells: Cells, *, above: bool) -> None:
        self.log_row, self._cell, self._cells, self._above = log_row, cell, cells, above
        self._log_cell = block_log_sums(log_row, cell, cells.n)
        self._share = _share(log_row, self._log_cell[cell])
        if cells.pairs is not None:
            low, high, weight = cells.pairs
            self._seen, self._seer = (high, low) if above else (low, high)
            log_edge = np.log(weight) + self._log_cell[self._seen]
            self.log_partners = block_log_sums(log_edge, self._seer, cells.n)
            self._edge_share = _share(log_edge, self.log_partners[self._seer])
        elif cells.scale is None:
            self.log_partners, _ = self._scan(np.zeros((cells.n, 0)))
        else:
            log_total, means = self._scan(cells.scale[:, None])
            self._gap = np.abs(cells.scale - means[:, 0])  # the mean weight σ_high − σ_low of the partners
            with np.errstate(divide="ignore"):
                self.log_partners = log_total + np.log(self._gap)

    def partner_mean(self, u: Floats) -> Floats:
        """Average u over the partners of each cell, by their weights."""
        cells = self._cells
        of_cell = sums_at(self._cell, self._share * u, minlength=cells.n)
        if cells.pairs is not None:
            return sums_at(self._seer, self._edge_share * of_cell[self._seen], minlength=cells.n)
        if cells.scale is None:
            return self._scan(of_cell[:, None])[1][:, 0]
        plain, scaled = self._scan(np.column_stack([of_cell, cells.scale * of_cell]))[1].T
        weighted = (scaled - cells.scale * plain) if self._above else (cells.scale * plain - scaled)
        return np.asarray(weighted / np.where(self._gap > 0, self._gap, 1.0))

    def _scan(self, columns: Floats) -> tuple[Floats, Floats]:
        starts = self._cells.group_starts
        if not self._above:
            return means_before(self._log_cell, columns, starts)
        total, means = means_before(self._log_cell[::-1], columns[::-1], starts[-1] - starts[::-1])
        return total[::-1], means[::-1]


def _share(log_part: Floats, log_total: Floats) -> Floats:
    """Return what part e^{log_part} is of e^{log_total}; nothing of nothing."""
    return np.where(log_total > -np.inf, np.exp(log_part - np.where(log_total > -np.inf, log_total, 0.0)), 0.0)


def _spread(values: Floats, rows: Ints, n: int) -> Floats:
    out = np.zeros(n)
    out[rows] = values
    return out
