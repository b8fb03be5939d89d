"""Losses of graded rows, each taken alone: how far a row's score is from where its level belongs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..sweeps import Floats, Ints
from .risk import RiskAt

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
        return np.bincount(self.level + 1, self.weight, self.n_levels + 1)[1:]

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
