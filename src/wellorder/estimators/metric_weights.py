"""Weights of an ensemble's members by a metric of places in a list: pairs weigh what their swap changes in it."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from ..losses import PlaceRisk
from ..sweeps import Floats

_MOST_STEPS = 100
_SETTLED = 1e-4
"""Weights that move by less than this share of themselves stay."""


def weights_at_places(points: Floats, risk: PlaceRisk, C: float) -> Floats:
    r"""Return a ≥ 0 at which ½‖a‖² + C · R(S a) does not fall, if pairs keep the weights that they have there.

    Each step minimises a quadratic that lies above the risk with its weights held where it touches it (a pair risk's
    Hessian is at most twice its diagonal D): a least squares problem with H = I + 2 C SᵀDS over a ≥ 0. The weights of
    pairs then move with the scores: steps are halved as they go, so that they settle.
    """
    n_members = points.shape[1]
    a = np.full(n_members, 1.0 / n_members)
    mean = np.zeros(n_members)
    for n_steps in range(1, _MOST_STEPS + 1):
        at = risk(points @ a)
        H = 2.0 * C * (points.T * at.hessian_diagonal()) @ points
        H.flat[:: n_members + 1] += 1.0
        lower = cholesky(H, lower=True)
        best = nnls(lower.T, solve_triangular(lower, H @ a - (a + C * (points.T @ at.gradient)), lower=True))[0]
        moved = a + (best - a) / np.sqrt(n_steps)
        mean = mean + (moved - mean) * (2.0 / (n_steps + 1.0))
        if np.abs(moved - a).max() <= _SETTLED * max(float(moved.max()), 1e-12):
            return np.asarray(moved)
        a = moved
    return mean
