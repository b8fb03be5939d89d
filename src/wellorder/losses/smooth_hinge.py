"""The hinge with its corner rounded off: smooth enough for Newton, near enough to bound the hinge from below."""

from __future__ import annotations

import numpy as np

from ..order import GradedPairs, Windows
from ..sweeps import Floats
from .risk import RiskAt
from .squared_hinge import Shortfalls


class SmoothHinge:
    r"""R(s) = Σ W_ij ℓ(a (s_i − s_j)), where ℓ is the hinge with a parabola over the last ``width`` before its corner.

    .. math:: \ell(z) = \max_{0 \le \theta \le 1} \theta (1 - z) - \tfrac{\delta}{2} \theta^2
              = \frac{(1 - z)_+^2 - (1 - \delta - z)_+^2}{2 \delta}

    The second form says how to sum it over all pairs: as two squared hinges. The first, with
    θ = −ℓ'(z), gives for any scores a plane below the hinge: (1 − z)_+ ≥ θ (1 − z).
    """

    def __init__(self, steepness: float, width: float) -> None:
        self.steepness = steepness
        self.width = width

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the loss, its slope and its curvature in d."""
        a, width = self.steepness, self.width
        theta = np.clip((1.0 - a * d) / width, 0.0, 1.0)
        value = theta * (1.0 - a * d) - 0.5 * width * theta**2
        inside = (d < 1.0 / a) & ~(d < (1.0 - width) / a)  # the windows' own words for it
        return value, -a * theta, a**2 / width * inside

    def graded(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        """Sum over the pairs of graded rows in four sweeps after one sort."""
        a, width = self.steepness, self.width
        outer = Windows(pairs, scores, margin=1.0 / a)
        far, near = Shortfalls(outer), Shortfalls(outer.with_margin((1.0 - width) / a))
        scale = a**2 / (2.0 * width)

        def product(u: Floats) -> Floats:
            v = u[outer.rows]
            return outer.to_rows(scale * (far.product(v) - near.product(v)))

        return RiskAt(
            value=scale * (far.squares - near.squares),
            gradient=outer.to_rows(scale * (far.gradient - near.gradient)),
            slope=-2.0 * scale * (far.total - near.total),
            hessian_diagonal=lambda: outer.to_rows(2.0 * scale * (far.degree - near.degree)),
            hessian_product=product,
        )
