"""Losses of graded rows, each taken alone: how far a row's score is from where its level belongs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..sweeps import Floats, Ints, block_log_sums, dot, sums_at
from .risk import RiskAt

# --------------------------------------------------------------------------------------------------
# What they share.


_ROWS_PER_LEVEL = 50
"""A sample has about this many rows of each level, or all of them: no level goes missing."""


@dataclass(frozen=True)
class GradedRows:
    """Rows of the levels 0, …, n_levels − 1, each of which some row has; a row of level −1 takes no part."""

    level: Ints
    weight: Floats
    """Positive wherever the level is not −1."""
    n_levels: int

    @cached_property
    def mass(self) -> Floats:
        """The weight of each level."""
        return sums_at(self.level + 1, self.weight, self.n_levels + 1)[1:]

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Ints, GradedRows] | None:
        """Draw about ``size`` rows with their numbers, every level among them; None where these would be too few.

        Rows of rare levels are drawn with a higher probability and a smaller weight, so that each counts for
        its part of the whole on average.
        """
        if size < _ROWS_PER_LEVEL * self.n_levels:
            return None
        active = np.flatnonzero(self.level >= 0)
        level = self.level[active]
        q = min(1.0, size / len(active))
        q_row = np.clip(_ROWS_PER_LEVEL / np.bincount(level, minlength=self.n_levels), q, 1.0)[level]
        drawn = rng.random(len(active)) < q_row
        rows, more = active[drawn], (q / q_row)[drawn]
        return rows, GradedRows(self.level[rows], self.weight[rows] * more, self.n_levels)


class RowLoss(Protocol):
    """A loss of a row's score and level, which thresholds between the levels may help to fit."""

    def at(self, scores: Floats, rows: GradedRows, near: Floats | None = None) -> tuple[RiskAt, Floats]:
        """Return R(s) = min_θ Σ ω_i loss(s_i, y_i; θ) with its derivatives in s, and the thresholds θ.

        Derivatives are those of the minimum: as the scores move, the thresholds give way. At scores that are
        not finite the risk is infinite and the thresholds are NaN. ``near`` are the thresholds of other scores,
        where a search for θ may start; they change no answer.
        """
        ...

    def value(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> float:
        """Return Σ ω_i loss(s_i, y_i; θ) at given thresholds; of rows that were not fitted, say."""
        ...

    def curvature(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> Floats:
        """Return ω_i times the second derivative of each row's loss in its score, at given thresholds."""
        ...


# --------------------------------------------------------------------------------------------------
# Least squares on the grades: the expected grade, as far as scores can follow it.


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


# --------------------------------------------------------------------------------------------------
# ORBoost's loss: exponential losses of a row against the thresholds on either side of its level.


class ORBoost:
    r"""R(s) = min_θ Σ_i ω_i [e^{−(s_i − θ_{y−1})} + e^{−(θ_y − s_i)}], with θ_0 ≤ … ≤ θ_{K−2} between the K levels.

    The lowest level has no threshold below it, the highest none above. With A_j = Σ_{y=j} ω e^{s} and
    B_j = Σ_{y=j+1} ω e^{−s} the risk is Σ_j A_j e^{−θ_j} + B_j e^{θ_j}, so that θ_j = ½ log(A_j / B_j), and thresholds
    that would cross are pooled: ½ log(ΣA / ΣB) over the block. All in log space, so that no score is too large.
    """

    def at(self, scores: Floats, rows: GradedRows, near: Floats | None = None) -> tuple[RiskAt, Floats]:
        """Return the risk with its derivatives, the thresholds giving way, and the thresholds: no search for them."""
        taking = np.flatnonzero(rows.level >= 0)
        level, s = rows.level[taking], scores[taking]
        if not np.isfinite(s).all():
            nothing = np.zeros_like(scores)
            return RiskAt(np.inf, nothing, lambda: nothing, np.zeros_like), np.full(rows.n_levels - 1, np.nan)
        log_weight = np.log(rows.weight[taking])
        thresholds, block, log_bend = _best_thresholds(log_weight, s, level, rows.n_levels)
        pull_down, pull_up = _pulls(log_weight, s, level, thresholds)
        n_blocks = len(log_bend)
        # the blocks above and below each row; one more, which sees nothing, beyond either end
        over, under = np.append(block, n_blocks)[level], np.insert(block, 0, n_blocks)[level]
        log_bend = np.append(log_bend, 0.0)
        # each row's share in what bends its two blocks, as logarithms: the risk of separable rows may vanish
        share_down, share_up = (
            np.exp(np.minimum(log_weight + away - log_bend[at], 0.0))  # at most one, whatever rounding says
            for away, at in zip(_distances(s, level, thresholds), (over, under), strict=True)
        )

        def spread(values: Floats) -> Floats:
            out = np.zeros_like(scores)
            out[taking] = values
            return out

        def diagonal() -> Floats:
            with np.errstate(over="ignore", invalid="ignore"):
                both = np.where(over == under, 2.0 * pull_down * share_up, 0.0)
                return spread(pull_down * (1.0 - share_down) + pull_up * (1.0 - share_up) - both)

        def product(u: Floats) -> Floats:
            v = u[taking]
            moved = np.bincount(over, share_down * v, n_blocks + 1)  # how far each block of thresholds gives way
            moved = moved + np.bincount(under, share_up * v, n_blocks + 1)
            with np.errstate(over="ignore", invalid="ignore"):
                return spread(pull_down * (v - moved[over]) + pull_up * (v - moved[under]))

        with np.errstate(over="ignore", invalid="ignore"):  # an infinite risk has no gradient
            value = float(np.exp(log_bend[:-1]).sum())
            gradient = spread(pull_down - pull_up)
        return RiskAt(value, gradient, diagonal, product), thresholds

    def value(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> float:
        """Return the risk at given thresholds."""
        taking = np.flatnonzero(rows.level >= 0)
        pulls = _pulls(np.log(rows.weight[taking]), scores[taking], rows.level[taking], thresholds)
        return float(sum(pull.sum() for pull in pulls))

    def curvature(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> Floats:
        """Return each row's curvature at given thresholds: an exponential's is its value."""
        taking = np.flatnonzero(rows.level >= 0)
        down, up = _pulls(np.log(rows.weight[taking]), scores[taking], rows.level[taking], thresholds)
        out = np.zeros_like(scores)
        out[taking] = down + up
        return out


def implicit_costs(thresholds: Floats) -> Floats:
    """Return the misranking costs W[j, i] = e^{θ_{i−1} − θ_j} − e^{θ_{j−1} − θ_i} of levels j < i, with open ends."""
    below, above = np.insert(thresholds, 0, -np.inf), np.append(thresholds, np.inf)  # of each level
    costs = np.exp(below[None, :] - above[:, None]) - np.exp(below[:, None] - above[None, :])
    return np.asarray(np.maximum(np.triu(costs, 1), 0.0))


def _best_thresholds(log_weight: Floats, s: Floats, level: Ints, n_levels: int) -> tuple[Floats, Ints, Floats]:
    """Return the thresholds, the block that each is in, and for each block log 2√(ΣA ΣB): its part of the risk."""
    log_a = block_log_sums(log_weight + s, level, n_levels)[:-1]
    log_b = block_log_sums(log_weight - s, level, n_levels)[1:]
    block = np.arange(n_levels - 1)
    while True:
        n_blocks = int(block[-1]) + 1
        a, b = block_log_sums(log_a, block, n_blocks), block_log_sums(log_b, block, n_blocks)
        best = 0.5 * (a - b)
        crossed = best[:-1] > best[1:]
        if not crossed.any():
            return best[block], block, np.log(2.0) + 0.5 * (a + b)
        block = np.concatenate([[0], np.cumsum(~crossed)])[block]


def _pulls(log_weight: Floats, s: Floats, level: Ints, thresholds: Floats) -> tuple[Floats, Floats]:
    """Return ω e^{s − θ_y} and ω e^{θ_{y−1} − s} of each row: how the thresholds above and below pull at it."""
    over, under = _distances(s, level, thresholds)
    with np.errstate(over="ignore"):
        return np.exp(log_weight + over), np.exp(log_weight + under)


def _distances(s: Floats, level: Ints, thresholds: Floats) -> tuple[Floats, Floats]:
    """Return s − θ_y and θ_{y−1} − s of each row; −∞ where there is no threshold."""
    above, below = np.append(thresholds, np.inf), np.insert(thresholds, 0, -np.inf)
    return s - above[level], below[level] - s
