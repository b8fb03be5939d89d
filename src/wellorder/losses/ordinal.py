"""The ordinal hinge: each row on the right side of thresholds between the levels, by a margin of one.

The thresholds are minimised out, so that the risk is a convex function of the scores alone, and every
solver that knows scores can minimise it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sweeps import Array, Floats, Ints, dot, ranges
from .ordinal_rows import OrdinalRows, SortedRows, Windows
from .risk import RiskAt

_MOST_LISTED = 1_000_000
"""Rows inside corners are visited so many at a time: with many levels, one row may be inside many."""


def ordinal_hinge(scores: Floats, rows: OrdinalRows) -> tuple[float, Floats]:
    r"""Return R(s) = min_b Σ_i ω_i Σ_j (1 − t_ij (s_i − b_j))_+ and the thresholds b that attain it.

    t_ij is +1 where row i's level is above threshold j, else −1. Each b_j is a weighted median of the places
    s_i − t_ij where a row's loss begins; the middle of them, where that is a range.
    """
    if not np.isfinite(scores).all():
        return np.inf, np.full(rows.n_levels - 1, np.nan)
    found = SortedRows(rows, scores)
    thresholds, _ = found.best_thresholds(0.0)
    at, side = thresholds[rows.looks.threshold], rows.looks.side
    _, _, low, high = found.windows(at, 0.0)
    mass, moment = found.mass[high] - found.mass[low], found.moment[high] - found.moment[low]
    return float(np.sum((1.0 + side * at) * mass - side * moment)), thresholds


def rounded_ordinal_hinge(scores: Floats, rows: OrdinalRows, width: float) -> RiskAt:
    r"""Return the same risk with each hinge's corner rounded off over the last ``width`` before it.

    .. math:: R_\delta(s) = \min_b \sum_i \omega_i \sum_j \max_{0 \le \theta \le 1}
              \theta (1 - t_{ij} (s_i - b_j)) - \tfrac{\delta}{2} \theta^2

    At the best thresholds Σ_i ω_i θ_ij t_ij = 0, so that the gradient is −Σ_j ω_i θ_ij t_ij, and
    R(s) ≥ Σ ω θ − Σ ω θ t s for all scores: a plane below the hinge's own risk, whatever the thresholds. (Those
    that must be ordered and are pooled add a term that is not negative.) The Hessian is the curvature of the
    rows inside corners, less what the thresholds give way: a diagonal minus one rank for each block of them.
    """
    if not np.isfinite(scores).all():
        nothing = np.zeros_like(scores)
        return RiskAt(np.inf, nothing, lambda: nothing, np.zeros_like)
    found = SortedRows(rows, scores)
    thresholds, block = found.best_thresholds(width)
    looks = rows.looks
    at, side = thresholds[looks.threshold], looks.side
    windows = found.windows(at, width)
    low, high = windows.beyond_low, windows.beyond_high
    mass, moment = found.mass[high] - found.mass[low], found.moment[high] - found.moment[low]
    value = float(np.sum((1.0 + side * at - 0.5 * width) * mass - side * moment))
    pull = _spread(low, high, -side, len(found.order))
    of_look = block[looks.threshold]
    squares, theta = _Corners(found, windows, at, width).add_up(mass, of_look, pull)
    gradient = np.zeros_like(scores)
    gradient[found.order] = found.weight * pull
    bending = _Bending(found, windows, of_look, width)
    return RiskAt(
        value=value + 0.5 * width * squares,
        gradient=gradient,
        slope=-float(mass.sum()) - theta,
        hessian_diagonal=lambda: bending.diagonal(len(scores)),
        hessian_product=bending.product,
    )


class _Corners:
    """The rows inside corners, with their θ; visited some at a time, since one row may be inside many."""

    def __init__(self, found: SortedRows, windows: Windows, at: Floats, width: float) -> None:
        self._found, self._at, self._width = found, at, width
        self._low, self._lengths = windows.low, windows.high - windows.low
        cuts = np.flatnonzero(np.diff(np.cumsum(self._lengths) // _MOST_LISTED, prepend=0))
        self._parts = np.split(np.arange(len(self._lengths)), cuts)

    def visit(self) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield the rows' places, their looks, and their θ."""
        found, side = self._found, self._found.rows.looks.side
        for part in self._parts:
            look = np.repeat(part, self._lengths[part])
            place = ranges(self._low[part], self._lengths[part])
            short = 1.0 - side[look] * (found.scores[place] - self._at[look])
            yield place, look, np.clip(short / self._width, 0.0, 1.0)

    def add_up(self, beyond: Floats, block: Ints, pull: Floats) -> tuple[float, float]:
        """Return Σ ω θ² and Σ ω θ, and add −θ t to what pulls at each row.

        ``beyond`` is each look's weight of rows beyond its corner. Rounding, of a threshold against a narrow corner
        above all, leaves Σ ω θ t a little off zero in each block; moving its θ makes it zero, as the plane needs it.
        """
        weight, side = self._found.weight, self._found.rows.looks.side
        excess, inside = np.bincount(block, side * beyond), np.zeros(int(block.max()) + 1)
        for place, look, theta in self.visit():
            excess += np.bincount(block[look], weight[place] * side[look] * theta, len(excess))
            inside += np.bincount(block[look], weight[place], len(inside))
        move = excess / np.where(inside > 0, inside, np.inf)
        squares = total = 0.0
        for place, look, raw in self.visit():
            theta = np.clip(raw - side[look] * move[block[look]], 0.0, 1.0)
            weighted = weight[place] * theta
            squares += dot(weighted, theta)
            total += float(weighted.sum())
            pull -= np.bincount(place, theta * side[look], len(pull))
        return squares, total


class _Bending:
    """The Hessian in the scores, from the windows of rows inside corners."""

    def __init__(self, found: SortedRows, windows: Windows, block: Ints, width: float) -> None:
        some = windows.high > windows.low
        self._low, self._high, self._block = windows.low[some], windows.high[some], block[some]
        self._order, self._weight = found.order, found.weight / width
        inside = (found.mass[self._high] - found.mass[self._low]) / width
        total = np.bincount(self._block, inside, minlength=1)
        self._share = 1.0 / np.where(total > 0, total, np.inf)
        n = len(found.order)
        self._own = self._weight * _spread(self._low, self._high, np.ones(len(self._low)), n)

    def product(self, u: Floats) -> Floats:
        """Return H u."""
        v = u[self._order]
        running = np.concatenate([[0.0], np.cumsum(self._weight * v)])
        moved = np.bincount(self._block, running[self._high] - running[self._low], len(self._share)) * self._share
        out = np.zeros_like(u)
        out[self._order] = self._own * v - self._weight * _spread(self._low, self._high, moved[self._block], len(v))
        return out

    def diagonal(self, n_rows: int) -> Floats:
        """Return H's diagonal."""
        out = np.zeros(n_rows)
        given = _spread(self._low, self._high, self._share[self._block], len(self._order))
        out[self._order] = self._own - self._weight**2 * given
        return out


def _spread(low: Ints, high: Ints, amount: Floats, n: int) -> Array:
    """Add an amount to all places low:high, for many such ranges at once."""
    return np.cumsum(np.bincount(low, amount, n + 1) - np.bincount(high, amount, n + 1))[:n]
