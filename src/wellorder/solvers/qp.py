"""Small dense quadratic programmes, by the QP library."""

from __future__ import annotations

import numpy as np

from ..sweeps import Floats


def simplex_qp(gram: Floats, linear: Floats) -> Floats:
    """Minimise ½ θᵀGθ − bᵀθ over θ ≥ 0, Σθ ≤ 1; the result is feasible to the last bit.

    G is positive semidefinite, of a few hundred lines at most.
    """
    import piqp

    size = len(linear)
    unit = max(float(np.abs(gram).max(initial=0.0)), float(np.abs(linear).max(initial=0.0)), np.finfo(float).tiny)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-9
    solver.setup(
        np.asfortranarray(gram / unit + 1e-13 * np.eye(size)),
        -linear / unit,
        G=np.asfortranarray(np.ones((1, size))),
        h_u=np.ones(1),
        x_l=np.zeros(size),
    )
    solver.solve()
    theta = np.nan_to_num(np.maximum(solver.result.x, 0.0))
    return np.asarray(theta / max(1.0, float(theta.sum())))
