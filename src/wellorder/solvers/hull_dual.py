"""The dual of a quadratic programme of hulls: one variable a constraint, which is less where coefficients are many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, solve_triangular

from ..sweeps import Array, Floats
from .sparse_qp import ProgrammeSolution

_MOST = 6_000
"""Constraints: a dense table of this many squared, and its factor."""

_MANY = 1 / 6
"""Coefficients for each constraint, from where on the dual was the faster one (Gaussian kernels, 200 to 1,000 rows)."""


class HullBlocks(NamedTuple):
    """Minimise ½ uᵀBu + Σ cost · y² (or y ≥ 0) over coefficients u, thresholds t and slacks y: Au + Tt − My ≤ h."""

    A: Array
    B: Floats | Array
    """A table, or its diagonal."""
    T: sp.csc_matrix
    M: sp.csr_matrix
    """One entry of one in each line of a slack; none in a line between thresholds."""
    cost: Floats
    h: Floats
    is_absolute: bool


def dual_pays(n_constraints: int, n_coef: int) -> bool:
    """Say whether the dual is small enough to hold, and less work."""
    return n_constraints <= _MOST and n_coef > _MANY * n_constraints


def dual_qp(blocks: HullBlocks, nu: float, *, tol: float, max_iter: int) -> ProgrammeSolution:
    r"""Solve by multipliers λ ≥ 0 of the constraints; u = −B⁻¹Aᵀλ, and the thresholds are multipliers of Tᵀλ = 0.

    .. math:: \min_λ \tfrac12 λ^\top A B^{-1} A^\top λ + \tfrac14 \sum (M^\top λ)^2 / cost + h^\top λ

    or, for absolute slacks, with Mᵀλ ≤ cost in the place of the second term. The slacks returned are zero: the
    caller knows how large they must be.
    """
    import piqp

    A, B, T, M, cost, h, is_absolute = blocks
    if B.ndim == 1:
        half = (A / np.sqrt(B)).T
    else:
        lower = cholesky(B, lower=True)
        half = solve_triangular(lower, A.T, lower=True)
    P = half.T @ half
    unit = min(
        nu, 1.0 / max(float(P.diagonal().mean()), 1e-300)
    )  # of λ: the solver's tolerances are for numbers near 1
    P *= unit
    upper = np.full(len(h), np.inf)
    joint = np.zeros(len(cost), dtype=bool)
    if is_absolute:
        joint = np.bincount(M.indices, minlength=len(cost)) > 1
        lines = np.flatnonzero(np.diff(M.indptr))
        upper[lines] = cost[M.indices] / unit
    else:
        P += unit * (M @ sp.diags_array(0.5 / cost) @ M.T).toarray()
    used = np.flatnonzero(np.diff(T.indptr))
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = 1e-8
    settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = min(1e-8, 1e-3 * tol)
    settings.max_iter = max_iter
    among = {} if not joint.any() else {"G": M[:, joint].T.toarray(order="F"), "h_u": cost[joint] / unit}
    solver.setup(
        np.asfortranarray(P),
        h,
        A=T[:, used].T.toarray(order="F"),
        b=np.zeros(len(used)),
        x_l=np.zeros(len(h)),
        x_u=upper,
        **among,
    )
    status, found = solver.solve(), solver.result
    pulled = -unit * (half @ np.nan_to_num(np.asarray(found.x)))
    coef = pulled / np.sqrt(B) if B.ndim == 1 else solve_triangular(lower.T, pulled)
    thresholds = np.zeros(T.shape[1])
    thresholds[used] = -np.nan_to_num(np.asarray(found.y))
    x = np.concatenate([coef, thresholds, np.zeros(len(cost))])
    gap = unit * abs(float(found.info.duality_gap))
    return ProgrammeSolution(x, gap, int(found.info.iter), bool(status == piqp.PIQP_SOLVED))
