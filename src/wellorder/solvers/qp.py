"""Small dense quadratic programmes, by the QP library."""

from __future__ import annotations

import numpy as np

from ..sweeps import Floats

_NO_BOUND = 1e15
"""A sum of shares that is never reached; the library complains, on the standard error stream, of larger numbers."""


def simplex_qp(gram: Floats, linear: Floats, most: float = 1.0) -> Floats:
    """Minimise ½ θᵀGθ − bᵀθ over θ ≥ 0, Σθ ≤ ``most``; the result is feasible to the last bit.

    G is positive semidefinite, of a few hundred lines at most. A solution of about one is found to nine digits.
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
        h_u=np.array([min(most, _NO_BOUND)]),
        x_l=np.zeros(size),
    )
    solver.solve()
    theta = np.nan_to_num(np.maximum(solver.result.x, 0.0))
    return np.asarray(theta / max(1.0, float(theta.sum()) / most))
