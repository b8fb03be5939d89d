"""Losses ℓ(d) of a pair whose better end scores d above the other: squared hinge, smooth hinge, hinge, logistic."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from ..order import AnyWindows, DeviceWindows, GradedPairs, make_windows
from ..sweeps import Floats, dot, logistic_product, logistic_risk, namespace
from .risk import PairLoss, RiskAt

# --------------------------------------------------------------------------------------------------
# The squared hinge (1 − d)_+²: smooth, and exact over all pairs in O(n log n).


class Shortfalls:
    r"""How far pairs fall short of a margin μ: Σ W (μ − d)_+ and Σ W (μ − d)_+², with derivatives of the latter.

    With V the pairs that have s_i − s_j < μ, all of it comes from the same two sweeps, with different payloads:

        g_i     = −2 Σ_{j: (i,j) ∈ V} W_ij (μ − s_i + s_j) + 2 Σ_{k: (k,i) ∈ V} W_ki (μ − s_k + s_i)
        (H u)_i =  2 Σ_{j: (i,j) ∈ V} W_ij (u_i − u_j)     + 2 Σ_{k: (k,i) ∈ V} W_ki (u_i − u_k)
        squares =  μ Σ_V W_ij (μ − d_ij) + ½ sᵀ g

    Everything here is in the windows' sorted order.
    """

    def __init__(self, windows: AnyWindows) -> None:
        self._windows = windows
        margin, s = windows.margin, windows.scores
        payload = namespace(s).empty((2, len(s)), dtype=s.dtype, device=s.device)
        payload[0], payload[1] = 1.0, s
        (n_above, s_above), (n_below, s_below) = windows.sums(payload)
        self.degree = n_above + n_below
        self.total = float(margin * n_below.sum() - dot(s, n_below) + s_below.sum())
        # Σ_above W (μ − s_k + s_i) − Σ_below W (μ − s_i + s_j), in place: memory is what a pass costs
        gradient = s * self.degree
        n_above -= n_below
        n_above *= margin
        gradient += n_above
        gradient -= s_above
        gradient -= s_below
        gradient *= 2.0
        self.gradient = gradient
        self.squares = float(margin * self.total + 0.5 * dot(s, gradient))

    def form(self, V: Floats) -> Floats:
        """Return Vᵀ H V = S + Sᵀ: what the rows see above themselves is what they see below, transposed."""
        assert not isinstance(self._windows, DeviceWindows)
        below = self._windows.sums_below(V.T).T
        below *= -2.0
        below += self.degree[:, None] * V
        half = V.T @ below
        return np.asarray(half + half.T)

    def product(self, v: Any) -> Any:
        """Return H v; of several vectors at once, one a line."""
        around = self._windows.sums_around(v if v.ndim > 1 else v[None]).reshape(v.shape)
        out = v * self.degree
        out -= around
        out *= 2.0
        return out


class SquaredHinge(PairLoss):
    r"""R(s) = Σ W_ij (1 − s_i + s_j)_+²."""

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return (1 − d)_+², −2 (1 − d)_+ and 2·1[d < 1]."""
        short = np.maximum(1.0 - d, 0.0)
        return short * short, -2.0 * short, 2.0 * (d < 1.0)

    def graded(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        """Sum over the pairs of graded rows in two sweeps."""
        windows = make_windows(pairs, scores, margin=1.0)
        short = Shortfalls(windows)
        gradient = windows.to_rows(short.gradient)
        del short.gradient  # it would stay as long as products with the Hessian may be asked for
        return RiskAt(
            value=short.squares,
            gradient=gradient,
            slope=-2.0 * short.total,
            hessian_diagonal=lambda: windows.to_rows(2.0 * short.degree),
            hessian_product=lambda u: windows.to_rows(short.product(windows.from_rows(u))),
            hessian_form=(lambda U: short.form(U[windows.rows])) if not isinstance(windows, DeviceWindows) else None,
        )


# --------------------------------------------------------------------------------------------------
# The hinge with its corner rounded off: smooth enough for Newton, near enough to bound the hinge from below.


class SmoothHinge(PairLoss):
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
        outer = make_windows(pairs, scores, margin=1.0 / a)
        far, near = Shortfalls(outer), Shortfalls(outer.with_margin((1.0 - width) / a))
        scale = a**2 / (2.0 * width)

        def product(u: Floats) -> Floats:
            v = outer.from_rows(u)
            return outer.to_rows(scale * (far.product(v) - near.product(v)))

        return RiskAt(
            value=scale * (far.squares - near.squares),
            gradient=outer.to_rows(scale * (far.gradient - near.gradient)),
            slope=-2.0 * scale * (far.total - near.total),
            hessian_diagonal=lambda: outer.to_rows(2.0 * scale * (far.degree - near.degree)),
            hessian_product=product,
        )


# --------------------------------------------------------------------------------------------------
# The hinge (1 − a·d)_+: not smooth, so it comes with subgradients, for a cutting-plane solver.


class Hinge(PairLoss):
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
        windows = make_windows(pairs, scores, margin=1.0 / a)
        s = windows.scores
        (n_above, _), (n_below, s_below) = windows.sums(np.vstack([np.ones_like(s), s]))
        return RiskAt(
            slope=-a * float(n_below.sum()),
            value=float(n_below.sum() - a * (dot(s, n_below) - s_below.sum())),
            gradient=windows.to_rows(a * (n_above - n_below)),
            hessian_diagonal=lambda: np.zeros(pairs.n_rows),
            hessian_product=np.zeros_like,
        )


# --------------------------------------------------------------------------------------------------
# The logistic loss log(1 + e^{−d}): no shortcut is known, so every pair is visited.


class Logistic(PairLoss):
    r"""R(s) = Σ W_ij log(1 + e^{−(s_i − s_j)}), in O(Σ group²) time and O(n) memory."""

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return log(1 + e^{−d}), −1/(1 + e^d) and the product of both probabilities."""
        down = expit(-d)
        return np.logaddexp(0.0, -d), -down, down * expit(d)

    def graded(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        """Visit the pairs of graded rows; refuse groups where that would take minutes."""
        self.refuse_large_groups(pairs)
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
