"""Quadratic programmes of many slacks, by the QP library."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..sweeps import Floats

_MOST_DENSE = 6_000
"""Up to so many variables, a table of constraints that is mostly full is solved as a dense one."""

_FULL = 0.1


class ProgrammeSolution(NamedTuple):
    """The variables, the duality gap, the steps taken, and whether the solver ended well."""

    x: Floats
    gap: float
    n_iter: int
    converged: bool


def sparse_qp(
    P: sp.csc_matrix, c: Floats, G: sp.csc_matrix, h: Floats, lowest: Floats, *, tol: float, max_iter: int
) -> ProgrammeSolution:
    """Minimise ½ xᵀPx + cᵀx over Gx ≤ h and x ≥ lowest (−∞: no bound); all of ``P`` is given, both triangles."""
    import piqp

    dense = len(c) <= _MOST_DENSE and G.nnz > _FULL * G.shape[0] * G.shape[1]
    solver = piqp.DenseSolver() if dense else piqp.SparseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = 1e-8
    settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = min(1e-8, 1e-3 * tol)
    settings.max_iter = max_iter
    if dense:
        solver.setup(P.toarray(order="F"), c, G=G.toarray(order="F"), h_u=h, x_l=lowest)
    else:
        solver.setup(P, c, G=G, h_u=h, x_l=lowest)
    status, info = solver.solve(), solver.result.info
    x = np.nan_to_num(np.asarray(solver.result.x, dtype=float))
    return ProgrammeSolution(x, abs(float(info.duality_gap)), int(info.iter), bool(status == piqp.PIQP_SOLVED))
