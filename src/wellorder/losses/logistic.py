"""The logistic loss log(1 + e^{−d}): no shortcut is known, so every pair is visited."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from ..order import GradedPairs
from ..sweeps import Floats
from ..sweeps.links import logistic_product, logistic_risk
from .risk import RiskAt

LARGEST_GROUP = 20_000
"""Rows in one group up to which all pairs are visited: 2·10^8 of them."""


class Logistic:
    r"""R(s) = Σ W_ij log(1 + e^{−(s_i − s_j)}), in O(Σ group²) time and O(n) memory."""

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return log(1 + e^{−d}), −1/(1 + e^d) and the product of both probabilities."""
        down = expit(-d)
        return np.logaddexp(0.0, -d), -down, down * expit(d)

    def graded(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        """Visit the pairs of graded rows; refuse groups where that would take minutes."""
        largest = int(np.diff(pairs.bounds).max(initial=0))
        if largest > LARGEST_GROUP:
            raise ValueError(
                f"loss='logistic' visits every pair, and the largest group has {largest:,} rows (at most "
                f"{LARGEST_GROUP:,} are taken); use loss='squared_hinge', which is exact over all pairs in "
                "near-linear time, or draw pairs with pairs_per_item="
            )
        rows, links = pairs.links
        s = pairs.centred(scores)[rows]
        value, gradient, diagonal = logistic_risk(links, s)

        def spread(values: Floats) -> Floats:
            out = np.zeros(pairs.n_rows)
            out[rows] = values
            return out

        def product(u: Floats) -> Floats:
            return spread(diagonal * u[rows] - logistic_product(links, s, u[rows]))

        return RiskAt(value, spread(gradient), lambda: spread(diagonal), product)
