r"""Proportional odds: logit P(Y > j) = s − θ_j, the logarithm of the likelihood with its minus sign.

With a = s − θ_{y−1} and b = θ_y − s, the distances of a row's score from the thresholds below and above its level,

.. math:: -\log P(y \mid s) = \log(1 + e^{-a}) + \log(1 + e^{-b}) - \log(1 - e^{-(a + b)})

and the last term is the same for all rows of a level. So there is nothing to cancel, each row touches two
thresholds, and the sums of one pass over the rows give all derivatives in the thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpttrf, dpttrs
from scipy.special import expit

from ..sweeps import Floats, Ints, dot, parallel_map, sums_at
from .risk import RiskAt
from .rows import GradedRows

_BLOCK = 16_384
"""Rows of one pass are visited so many at a time: they stay in the cache."""

_PARTS = 4
"""Threads share more rows than a block in this many parts, whatever their number: the same bits."""

_BINS = 512
"""Scores are rounded to so many values for a first guess of the thresholds."""

_ROWS_PER_BIN = 16

_ENOUGH = 1e-16
"""Thresholds are found when another Newton step would gain less than this share of the risk."""


class ProportionalOddsLoss:
    """R(s) = min_θ −Σ ω_i log P(y_i | s_i), under logit P(Y > j) = s − θ_j and θ_0 < … < θ_{r−2}."""

    def at(self, scores: Floats, rows: GradedRows, near: Floats | None = None) -> tuple[RiskAt, Floats]:
        """Return the risk with the thresholds minimised out, and the thresholds; ``near`` saves a pass or three."""
        if not np.isfinite(scores).all():
            return _infinite(len(scores)), np.full(rows.n_levels - 1, np.nan)
        found = most_likely(scores, rows, near)
        if not np.isfinite(found.value):  # so far apart that floating point has no room between thresholds
            return _infinite(len(scores)), found.thresholds
        profile = ProfileHessian(found)
        risk = RiskAt(found.value, found.gradient, profile.hessian_diagonal, profile.hessian_product)
        return risk, found.thresholds

    def value(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> float:
        """Return −Σ ω_i log P(y_i | s_i) at given thresholds; infinite where they are not in strict order."""
        if not np.isfinite(scores).all():
            return np.inf
        return likelihood(scores, rows, thresholds).value

    def curvature(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> Floats:
        """Return the curvature of −ω_i log P(y_i | s_i) in each score at given thresholds."""
        found = likelihood(scores, rows, thresholds)
        return found.bend_below + found.bend_above


@dataclass(frozen=True)
class Likelihood:
    """−Σ ω_i log P(y_i | s_i) at scores and thresholds, with its first and second derivatives in both."""

    value: float
    rows: GradedRows
    thresholds: Floats
    gradient: Floats
    """In the scores."""
    bend_below: Floats
    bend_above: Floats
    """The curvature in the scores, from the threshold below each row and from the one above it."""
    pull: Floats
    """The gradient in the thresholds."""
    stiffness: Floats
    """The Hessian in the thresholds: its upper diagonal (after a zero) and its main diagonal."""

    @property
    def cross(self) -> sp.csr_array:
        """The mixed derivatives, a row of the matrix for each row and a column for each threshold."""
        level, last = self.rows.level, self.rows.n_levels - 1
        row = np.concatenate([np.flatnonzero(level > 0), np.flatnonzero((level >= 0) & (level < last))])
        below = np.arange(len(row)) < np.count_nonzero(level > 0)
        bend = np.where(below, self.bend_below[row], self.bend_above[row])
        return sp.csr_array((-bend, (row, level[row] - below)), shape=(len(level), last))

    def moved(self, step: Floats, gain: float) -> Likelihood:
        """Return the same at thresholds so near that one term of the Taylor series more is exact enough."""
        below, above = _ends(step, 0.0)
        place = self.rows.level + 1
        gradient = self.gradient - self.bend_below * below.take(place) - self.bend_above * above.take(place)
        return Likelihood(
            self.value - gain,
            self.rows,
            self.thresholds + step,
            gradient,
            self.bend_below,
            self.bend_above,
            np.zeros_like(step),
            self.stiffness,
        )


class ProfileHessian:
    """Hessian in the scores with the thresholds profiled out: the Schur complement D − B T⁻¹ Bᵀ.

    D is the rows' own curvature, T the thresholds', and B has the mixed derivatives.
    """

    def __init__(self, at: Likelihood) -> None:
        self._at, self._place = at, at.rows.level + 1
        self._factor = _Factor(at.stiffness)

    def solve(self, right: Floats) -> Floats:
        """Return T⁻¹ times this."""
        return self._factor.solve(right)

    def hessian_product(self, u: Floats) -> Floats:
        """Return (D − B T⁻¹ Bᵀ) u."""
        at, size = self._at, self._at.rows.n_levels + 1
        low, high = at.bend_below * u, at.bend_above * u
        seen = sums_at(self._place, low, size)[2:] + sums_at(self._place, high, size)[1:-1]
        below, above = _ends(self.solve(seen), 0.0)
        low += high
        low -= at.bend_below * below.take(self._place)
        low -= at.bend_above * above.take(self._place)
        return low

    def hessian_diagonal(self) -> Floats:
        """Return the diagonal of D − B T⁻¹ Bᵀ."""
        at = self._at
        inverse = self.solve(np.eye(len(at.pull)))
        own_below, own_above = (ends.take(self._place) for ends in _ends(inverse.diagonal(), 0.0))
        both = np.concatenate([[0.0, 0.0], inverse.diagonal(1), [0.0]]).take(self._place)
        low, high = at.bend_below, at.bend_above
        return np.asarray(low + high - low**2 * own_below - high**2 * own_above - 2.0 * low * high * both)


def likelihood(scores: Floats, rows: GradedRows, thresholds: Floats) -> Likelihood:
    """Evaluate at finite scores and given thresholds in O(n), visiting each row once."""
    n, size = len(scores), rows.n_levels + 1
    gradient, bend_below, bend_above = np.empty(n), np.empty(n), np.empty(n)
    below, above = _ends(thresholds, np.inf)
    below[:2] = -np.inf

    def visit(part: slice) -> tuple[float, Floats]:
        """Fill in the rows of one part, and return its value and its sums over the levels."""
        value, sums = 0.0, np.zeros((4, size))
        for a in range(part.start, part.stop, _BLOCK):
            here = slice(a, min(a + _BLOCK, part.stop))
            place, s, weight = rows.level[here] + 1, scores[here], rows.weight[here]
            loss_below, low, bend_below[here] = _side(s - below.take(place), weight)
            loss_above, high, bend_above[here] = _side(above.take(place) - s, weight)
            value += loss_below + loss_above
            gradient[here] = high - low
            sums += [np.bincount(place, part, size) for part in (low, high, bend_below[here], bend_above[here])]
        return value, sums

    cuts = [n * part // _PARTS for part in range(_PARTS + 1)] if n > _BLOCK else [0, n]
    values, parts = zip(*parallel_map(visit, [slice(*ends) for ends in pairwise(cuts)], n), strict=True)
    sums = np.sum(parts, axis=0)
    pull = sums[0, 2:] - sums[1, 1:-1]
    stiffness = np.stack([np.zeros_like(pull), sums[2, 2:] + sums[3, 1:-1]])
    value = sum(values) + _add_gaps(thresholds, rows.mass[1:-1], pull, stiffness)
    return Likelihood(value, rows, thresholds, gradient, bend_below, bend_above, pull, stiffness)


def most_likely(scores: Floats, rows: GradedRows, near: Floats | None = None) -> Likelihood:
    """Evaluate at the most likely thresholds; ``near`` are those of other scores, if they may be like these.

    Where there are many rows, their scores are first rounded to a few values: the guess that this gives is
    so near that Newton's method needs about two passes over the rows.
    """
    if len(scores) >= _ROWS_PER_BIN * _BINS * rows.n_levels:
        start = most_likely(*_binned(scores, rows), near).thresholds
    elif near is not None and np.isfinite(near).all() and (np.diff(near) > 0).all():
        start = near
    else:
        start = _rough_thresholds(scores, rows)
    return _newton(scores, rows, start)


def _newton(scores: Floats, rows: GradedRows, start: Floats) -> Likelihood:
    """Minimise over the thresholds by Newton's method, kept in order and going down."""
    reach = float(np.ptp(scores)) + 50.0  # the best thresholds are among the scores, or not far outside
    at = likelihood(scores, rows, start)
    for _ in range(200):
        if not np.isfinite(at.value):
            return at
        step = -_Factor(at.stiffness).solve(at.pull)
        gain = -0.5 * dot(at.pull, step)
        if gain <= _ENOUGH * at.value:
            return at.moved(step, gain)
        gaps, change = np.diff(at.thresholds), np.diff(step)
        length = min(1.0, reach / float(np.abs(step).max()))
        if (change < 0).any():
            length = min(length, 0.9 * float(np.min(gaps[change < 0] / -change[change < 0])))
        for _ in range(100):
            trial = likelihood(scores, rows, at.thresholds + length * step)
            if trial.value <= at.value - 1e-3 * length * gain + 1e-14 * at.value:
                break
            length *= 0.5
        else:
            return at
        at = trial
    return at


def _side(x: Floats, weight: Floats) -> tuple[float, Floats, Floats]:
    """Return Σ ω log(1 + e^{−x}), and minus its derivative and its second derivative for each row."""
    e = np.exp(-np.abs(x))
    share = weight / (1.0 + e)
    loss = dot(weight, np.log1p(e) + np.maximum(-x, 0.0))
    slope = np.where(x < 0, share, e * share)
    return loss, slope, e * share / (1.0 + e)


def _ends(of_threshold: Floats, outside: float) -> tuple[Floats, Floats]:
    """Return for the rows without level, then for each level, the threshold below and the one above."""
    out = [outside]
    return np.concatenate([out, out, of_threshold]), np.concatenate([out, of_threshold, out])


def _add_gaps(thresholds: Floats, mass: Floats, pull: Floats, stiffness: Floats) -> float:
    """Return −Σ mass · log(1 − e^{−gap}) over the inner levels, and add its derivatives to the others."""
    gap = np.diff(thresholds)
    if not (gap > 0).all():
        return np.inf
    room = -np.expm1(-gap)
    slope, bend = -mass * np.exp(-gap) / room, mass * np.exp(-gap) / room**2
    pull[1:] += slope
    pull[:-1] -= slope
    stiffness[1, 1:] += bend
    stiffness[1, :-1] += bend
    stiffness[0, 1:] -= bend
    return float(-(mass * np.log(room)).sum())


class _Factor:
    """The factor L D Lᵀ of a tridiagonal matrix; a curvature too small for floating point is made large enough."""

    def __init__(self, stiffness: Floats) -> None:
        upper, main = stiffness
        beside = upper[1:] if len(upper) > 1 else upper  # LAPACK's interface wants one, even where there is none
        self._main, self._upper, failed = dpttrf(main * (1.0 + 1e-14) + 1e-300, beside)
        if failed:
            raise np.linalg.LinAlgError("the thresholds' Hessian is not positive")

    def solve(self, right: Floats) -> Floats:
        """Return the inverse times this."""
        return np.asarray(dpttrs(self._main, self._upper, right)[0])


def _rough_thresholds(scores: Floats, rows: GradedRows) -> Floats:
    """Cut the scores where as much weight stands below as has the lower levels, and spread by the logistic's width."""
    order = np.argsort(scores, kind="stable")
    order = order[rows.level[order] >= 0]
    running = np.cumsum(rows.weight[order])
    below = np.cumsum(rows.mass)[:-1]
    above = np.cumsum(rows.mass[::-1])[::-1][1:]
    cut = scores[order[np.minimum(np.searchsorted(running, below), len(order) - 1)]]
    return np.asarray(cut + np.log(below) - np.log(above))


def _binned(scores: Floats, rows: GradedRows) -> tuple[Floats, GradedRows]:
    """Merge rows of one level with nearly the same score into their mean."""
    low, high = float(scores.min()), float(scores.max())
    width = max((high / _BINS - low / _BINS), np.finfo(float).tiny)
    cell: Ints = np.minimum((scores - low) / width, _BINS - 1).astype(np.int32) + (rows.level + 1) * _BINS
    mass = sums_at(cell, rows.weight, (rows.n_levels + 1) * _BINS)
    moment = sums_at(cell, rows.weight * scores, (rows.n_levels + 1) * _BINS)
    some = np.flatnonzero(mass[_BINS:] > 0) + _BINS
    return moment[some] / mass[some], GradedRows((some // _BINS - 1).astype(np.int32), mass[some], rows.n_levels)


def _infinite(n: int) -> RiskAt:
    nothing = np.zeros(n)
    return RiskAt(np.inf, nothing, lambda: nothing, np.zeros_like)


def level_probabilities(scores: Floats, thresholds: Floats) -> Floats:
    """Return P(k | s) = σ(a) σ(b) (1 − e^{−(a + b)}) for each score and level: a product, so that none is negative."""
    s = np.asarray(scores, dtype=float)[:, None]
    last = np.full((len(s), 1), np.inf)
    above_lower = np.hstack([last, s - thresholds])
    below_upper = np.hstack([thresholds - s, last])
    room = np.concatenate([[1.0], -np.expm1(-np.diff(thresholds)), [1.0]])
    return np.asarray(expit(above_lower) * expit(below_upper) * room)
