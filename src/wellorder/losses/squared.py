"""Least squares on the grades: the expected grade, as far as scores can follow it."""

from __future__ import annotations

import numpy as np

from ..sweeps import Floats, dot
from .risk import RiskAt
from .row_loss import GradedRows


class Squared:
    r"""R(s) = min_b Σ_i ω_i (v_{y_i} − s_i − b)², with v the levels as numbers (their places, if none are given).

    The constant b takes the thresholds' place: it is the mean of v − s.
    """

    def __init__(self, values: Floats | None = None) -> None:
        self.values = values

    def at(self, scores: Floats, rows: GradedRows, near: Floats | None = None) -> tuple[RiskAt, Floats]:
        """Return the risk with its derivatives, the constant giving way, and the constant: no search for it."""
        short, weight = self._short(scores, rows)
        if not np.isfinite(short).all():
            nothing = np.zeros_like(scores)
            return RiskAt(np.inf, nothing, lambda: nothing, np.zeros_like), np.full(1, np.nan)
        total = float(weight.sum())
        constant = dot(weight, short) / total
        short -= constant
        with np.errstate(over="ignore"):  # then the risk is infinite
            value = dot(weight * short, short)
        risk = RiskAt(
            value=value,
            gradient=-2.0 * weight * short,
            hessian_diagonal=lambda: 2.0 * weight * (1.0 - weight / total),
            hessian_product=lambda u: 2.0 * weight * (u - dot(weight, u) / total),
        )
        return risk, np.array([constant])

    def value(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> float:
        """Return the risk with a given constant."""
        short, weight = self._short(scores, rows)
        with np.errstate(over="ignore"):
            short -= thresholds[0]
            return dot(weight * short, short)

    def curvature(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> Floats:
        """Return 2ω of each row."""
        return np.where(rows.level >= 0, 2.0 * rows.weight, 0.0)

    def _short(self, scores: Floats, rows: GradedRows) -> tuple[Floats, Floats]:
        """Return v − s and ω of each row, zero for rows that take no part."""
        values = np.arange(rows.n_levels, dtype=float) if self.values is None else self.values
        taking = rows.level >= 0
        return np.where(taking, values[rows.level] - scores, 0.0), np.where(taking, rows.weight, 0.0)
