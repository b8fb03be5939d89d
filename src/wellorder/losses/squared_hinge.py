"""The squared hinge (1 − d)_+²: smooth, and exact over all pairs in O(n log n)."""

from __future__ import annotations

import numpy as np

from ..order import GradedPairs, Windows
from ..sweeps import Floats, dot
from .risk import RiskAt


class SquaredHinge:
    r"""R(s) = Σ W_ij (1 − s_i + s_j)_+².

    With V the pairs that have s_i − s_j < 1, value, gradient and Hessian products all come from the
    same two sweeps, with different payloads:

        ∂R/∂s_i = −2 Σ_{j: (i,j) ∈ V} W_ij (1 − s_i + s_j) + 2 Σ_{k: (k,i) ∈ V} W_ki (1 − s_k + s_i)
        (H u)_i =  2 Σ_{j: (i,j) ∈ V} W_ij (u_i − u_j)     + 2 Σ_{k: (k,i) ∈ V} W_ki (u_i − u_k)
        R       =  Σ_V W_ij (1 − d_ij) + ½ sᵀ ∂R/∂s
    """

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return (1 − d)_+², −2 (1 − d)_+ and 2·1[d < 1]."""
        short = np.maximum(1.0 - d, 0.0)
        return short * short, -2.0 * short, 2.0 * (d < 1.0)

    def graded(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        """Sum over the pairs of graded rows in two sweeps."""
        windows = Windows(pairs, scores, margin=1.0)
        s, factor = windows.scores, windows.factor
        (n_above, s_above), (n_below, s_below) = windows.sums(np.vstack([np.ones_like(s), s]))
        if factor is not None:
            for part in (n_above, s_above, n_below, s_below):
                part *= factor
        degree = n_above + n_below
        # Σ_above W (1 − s_k + s_i) − Σ_below W (1 − s_i + s_j), in place: memory is what a pass costs
        gradient = s * degree
        gradient += n_above
        gradient -= n_below
        gradient -= s_above
        gradient -= s_below
        gradient *= 2.0
        shortfall = n_below.sum() - dot(s, n_below) + s_below.sum()  # Σ_V W (1 − d)

        def product(u: Floats) -> Floats:
            v = u[windows.rows]
            (above,), (below,) = windows.sums(v[None, :])
            above += below
            if factor is not None:
                above *= factor
            v *= degree
            v -= above
            v *= 2.0
            return windows.to_rows(v)

        return RiskAt(
            value=float(shortfall + 0.5 * dot(s, gradient)),
            gradient=windows.to_rows(gradient),
            hessian_diagonal=lambda: windows.to_rows(2.0 * degree),
            hessian_product=product,
        )
