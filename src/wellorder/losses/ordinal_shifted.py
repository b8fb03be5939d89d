"""The ordinal hinge with rounded corners around given multipliers: corners may stay wide, and the answer exact.

Every row has a corner of its own here, so that nothing can be summed up by sorting: each look of a row at a
threshold is an entry of a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..sweeps import Array, Floats, Ints, dot, ranges
from .ordinal_rows import OrdinalRows, pooled, rising_zeros


@dataclass(frozen=True)
class ShiftedAt:
    """The risk at one vector of scores."""

    looks: ListedLooks
    thresholds: Floats
    multipliers: Floats
    """θ of each look, between 0 and 1."""
    width: float
    block: Ints
    """The block of pooled thresholds that each threshold is in."""
    value: float
    bent: Array
    """Whether each look is inside its corner."""

    @cached_property
    def gradient(self) -> Floats:
        """−Σ_j ω_i θ_ij t_ij."""
        return -self.looks.add_to_rows(self.looks.signed_weight * self.multipliers)

    @cached_property
    def plane(self) -> float:
        """Σ ω θ: R(s) ≥ Σ ω θ + ⟨gradient, s⟩ for all scores, with R the hinge's own risk."""
        return dot(self.looks.weight, self.multipliers)

    def bending(self) -> tuple[Ints, Floats]:
        """Return the numbers of the rows inside corners, and ω/δ for each of them and each block of thresholds.

        The Hessian is the diagonal of their sums over blocks, less d dᵀ / Σd for each block's column d.
        """
        at = np.flatnonzero(self.bent)
        rows, place = np.unique(self.looks.row[at], return_inverse=True)
        n_blocks = int(self.block[-1]) + 1
        column = self.block[self.looks.threshold[at]]
        weight = self.looks.weight[at] / self.width
        columns = np.bincount(place * n_blocks + column, weight, len(rows) * n_blocks)
        return rows, columns.reshape(len(rows), n_blocks)


class ListedLooks:
    """Every look of a row at a threshold, by thresholds."""

    def __init__(self, rows: OrdinalRows) -> None:
        self.rows = rows
        looks, bounds = rows.looks, rows.bounds.astype(np.int64)
        by_threshold = np.argsort(looks.threshold, kind="stable")
        level = looks.level[by_threshold]
        lengths = bounds[level + 1] - bounds[level]
        order = np.argsort(rows.level, kind="stable")[np.count_nonzero(rows.level < 0) :]
        self.row = order[ranges(bounds[level], lengths)]
        self.threshold = np.repeat(looks.threshold[by_threshold], lengths)
        self.side = np.repeat(looks.side[by_threshold], lengths)
        self.weight = rows.weight[self.row]
        self.signed_weight = self.side * self.weight
        self._mass = float(self.weight.sum())

    def __len__(self) -> int:
        return len(self.row)

    def add_to_rows(self, values: Floats) -> Floats:
        """Add up what a row's looks have."""
        return np.bincount(self.row, values, len(self.rows.level))

    def hinge(self, scores: Floats, thresholds: Floats) -> float:
        """Return Σ ω (1 − t (s − b))_+ at given thresholds: at least the least risk."""
        short = 1.0 - self.side * (scores[self.row] - thresholds[self.threshold])
        return dot(self.weight, np.maximum(short, 0.0))

    def at(self, scores: Floats, centre: Floats, width: float, near: Floats) -> ShiftedAt:
        r"""Evaluate the risk, its thresholds minimised out; ``near`` are thresholds to begin the search with.

        .. math:: R(s; \hat\theta) = \min_b \sum_{ij} \omega_i \max_{0 \le \theta \le 1}
                  \theta (1 - t_{ij} (s_i - b_j)) - \tfrac{\delta}{2} (\theta - \hat\theta_{ij})^2
        """
        without = centre + (1.0 - self.side * scores[self.row]) / width
        slant = self.side / width
        far = 1.0 + width + np.abs(scores).max()

        def zeros(block: Ints) -> Floats:
            n_blocks = int(block[-1]) + 1
            of_look = block[self.threshold]
            starts = np.searchsorted(of_look, np.arange(n_blocks))

            def slopes(b: Floats) -> tuple[Floats, Floats]:
                raw = without + slant * b[of_look]
                theta = np.clip(raw, 0.0, 1.0)
                bent = self.weight * (raw == theta)
                return np.add.reduceat(self.signed_weight * theta, starts), np.add.reduceat(bent, starts) / width

            begin = np.add.reduceat(near, np.searchsorted(block, np.arange(n_blocks))) / np.bincount(block)
            low, high = np.full(n_blocks, -far), np.full(n_blocks, far)
            return rising_zeros(slopes, low, high, 1e-12 * self._mass, np.clip(begin, low, high))

        thresholds, block = pooled(self.rows, zeros)
        raw = without + slant * thresholds[self.threshold]
        bent = (raw > 0.0) & (raw < 1.0)
        theta = self._balanced(np.clip(raw, 0.0, 1.0), bent, block)
        value = width * dot(self.weight, theta * (raw - centre) - 0.5 * (theta - centre) ** 2)
        return ShiftedAt(self, thresholds, theta, width, block, value, bent)

    def _balanced(self, theta: Floats, bent: Array, block: Ints) -> Floats:
        """Move the θ inside corners so that Σ ω θ t is zero in each block, as the plane needs it, to the last bits."""
        of_look, n_blocks = block[self.threshold], int(block[-1]) + 1
        excess = np.bincount(of_look, self.signed_weight * theta, n_blocks)
        inside = np.bincount(of_look, self.weight * bent, n_blocks)
        move = excess / np.where(inside > 0, inside, np.inf)
        return np.where(bent, np.clip(theta - self.side * move[of_look], 0.0, 1.0), theta)
