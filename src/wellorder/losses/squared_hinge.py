"""The squared hinge (1 − d)_+²: smooth, and exact over all pairs in O(n log n)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..order import DeviceWindows, GradedPairs, Windows, make_windows
from ..sweeps import Floats, dot, namespace
from .risk import RiskAt


class Shortfalls:
    r"""How far pairs fall short of a margin μ: Σ W (μ − d)_+ and Σ W (μ − d)_+², with derivatives of the latter.

    With V the pairs that have s_i − s_j < μ, all of it comes from the same two sweeps, with different payloads:

        g_i     = −2 Σ_{j: (i,j) ∈ V} W_ij (μ − s_i + s_j) + 2 Σ_{k: (k,i) ∈ V} W_ki (μ − s_k + s_i)
        (H u)_i =  2 Σ_{j: (i,j) ∈ V} W_ij (u_i − u_j)     + 2 Σ_{k: (k,i) ∈ V} W_ki (u_i − u_k)
        squares =  μ Σ_V W_ij (μ − d_ij) + ½ sᵀ g

    Everything here is in the windows' sorted order.
    """

    def __init__(self, windows: Windows | DeviceWindows) -> None:
        self._windows = windows
        margin, s, factor, xp = windows.margin, windows.scores, windows.factor, namespace(windows.scores)
        (n_above, s_above), (n_below, s_below) = windows.sums(xp.stack([xp.ones_like(s), s]))
        if factor is not None:
            for part in (n_above, s_above, n_below, s_below):
                part *= factor
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
        assert isinstance(self._windows, Windows)
        below = self._windows.sums_below(V.T).T
        below *= -2.0 if self._windows.factor is None else -2.0 * self._windows.factor[:, None]
        below += self.degree[:, None] * V
        half = V.T @ below
        return np.asarray(half + half.T)

    def product(self, v: Any) -> Any:
        """Return H v; of several vectors at once, one a line."""
        above, below = self._windows.sums(v if v.ndim > 1 else v[None])
        above, below = above.reshape(v.shape), below.reshape(v.shape)
        above += below
        if self._windows.factor is not None:
            above *= self._windows.factor
        out = v * self.degree
        out -= above
        out *= 2.0
        return out


class SquaredHinge:
    r"""R(s) = Σ W_ij (1 − s_i + s_j)_+²."""

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return (1 − d)_+², −2 (1 − d)_+ and 2·1[d < 1]."""
        short = np.maximum(1.0 - d, 0.0)
        return short * short, -2.0 * short, 2.0 * (d < 1.0)

    def graded(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        """Sum over the pairs of graded rows in two sweeps."""
        windows = make_windows(pairs, scores, margin=1.0)
        short = Shortfalls(windows)
        return RiskAt(
            value=short.squares,
            gradient=windows.to_rows(short.gradient),
            slope=-2.0 * short.total,
            hessian_diagonal=lambda: windows.to_rows(2.0 * short.degree),
            hessian_product=lambda u: windows.to_rows(short.product(u[..., windows.rows])),
            hessian_form=(lambda U: short.form(U[windows.rows])) if isinstance(windows, Windows) else None,
        )
