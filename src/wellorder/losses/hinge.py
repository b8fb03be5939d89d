"""The hinge (1 − a·d)_+: not smooth, so it comes with subgradients, for a cutting-plane solver."""

from __future__ import annotations

import numpy as np

from ..order import GradedPairs, Windows
from ..sweeps import Floats, dot
from .risk import RiskAt
from .smooth_hinge import SmoothHinge


class Hinge:
    r"""R(s) = Σ W_ij (1 − a (s_i − s_j))_+, with steepness a.

    a = 1 is the Ranking SVM's; a = 2 is the slack of the multivariate SVM for swapped pairs, whose feature
    map moves by 2 (x_i − x_j) when a pair is flipped. Its curvature is zero wherever it has one.
    """

    def __init__(self, steepness: float = 1.0) -> None:
        self.steepness = steepness

    def smoothed(self, width: float) -> SmoothHinge:
        """Return the same loss with its corner rounded off."""
        return SmoothHinge(self.steepness, width)

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return (1 − a d)_+, −a·1[a d < 1] and 0."""
        a = self.steepness
        return np.maximum(1.0 - a * d, 0.0), np.where(d < 1.0 / a, -a, 0.0), np.zeros_like(d)

    def graded(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        """Sum over the pairs of graded rows in two sweeps."""
        a = self.steepness
        windows = Windows(pairs, scores, margin=1.0 / a)
        s = windows.scores
        (n_above, _), (n_below, s_below) = windows.sums(np.vstack([np.ones_like(s), s]))
        if windows.factor is not None:
            for part in (n_above, n_below, s_below):
                part *= windows.factor
        return RiskAt(
            slope=-a * float(n_below.sum()),
            value=float(n_below.sum() - a * (dot(s, n_below) - s_below.sum())),
            gradient=windows.to_rows(a * (n_above - n_below)),
            hessian_diagonal=lambda: np.zeros(pairs.n_rows),
            hessian_product=np.zeros_like,
        )
