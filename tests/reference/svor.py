"""Support vector ordinal regression, slowly and obviously: one loss for each row and threshold."""

from __future__ import annotations

import numpy as np


def looks_at(level, threshold, thresholds):
    """Whether a row of this level has a loss at this threshold."""
    return thresholds == "all" or threshold in (level - 1, level)


def risk(scores, b, levels, weights, thresholds):
    """Σ ω_i Σ_j (1 − t_ij (s_i − b_j))_+, one by one."""
    total = 0.0
    for s, level, weight in zip(scores, levels, weights, strict=True):
        for j, threshold in enumerate(b):
            if looks_at(level, j, thresholds):
                side = 1 if level > j else -1
                total += weight * max(0.0, 1 - side * (s - threshold))
    return total


def _stated(scores, levels, weights, thresholds):
    """The same risk for a general solver, with its thresholds and their constraints."""
    import cvxpy as cp

    n_levels = max(levels) + 1
    b = cp.Variable(n_levels - 1)
    losses = [
        weight * cp.pos(1 - (1 if level > j else -1) * (scores[i] - b[j]))
        for i, (level, weight) in enumerate(zip(levels, weights, strict=True))
        for j in range(n_levels - 1)
        if looks_at(level, j, thresholds)
    ]
    ordered = [b[:-1] <= b[1:]] if thresholds == "explicit" and n_levels > 2 else []
    return cp.sum(cp.hstack(losses)), b, ordered


def least_risk(scores, levels, weights, thresholds):
    """The minimum of the risk over the thresholds, for given scores."""
    import cvxpy as cp

    total, _, ordered = _stated(np.asarray(scores, float), levels, weights, thresholds)
    return cp.Problem(cp.Minimize(total), ordered).solve(solver=cp.CLARABEL)


def minimum(K, levels, weights, thresholds, C):
    """The minimum of ½ βᵀKβ + C · risk over the function and the thresholds."""
    import cvxpy as cp

    root = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))
    v = cp.Variable(len(K))
    total, _, ordered = _stated(root @ v, levels, weights, thresholds)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(v) + C * total), ordered).solve(solver=cp.CLARABEL)


def shifted_risk(scores, b, levels, weights, thresholds, centre, width):
    """Σ ω_i Σ_j max_θ θ (1 − t_ij (s_i − b_j)) − δ/2 (θ − θ̂_ij)², one by one; θ̂ by row and threshold."""
    total = 0.0
    for i, (s, level, weight) in enumerate(zip(scores, levels, weights, strict=True)):
        for j, threshold in enumerate(b):
            if looks_at(level, j, thresholds):
                short = 1 - (1 if level > j else -1) * (s - threshold)
                theta = min(max(centre[i, j] + short / width, 0.0), 1.0)
                total += weight * (theta * short - 0.5 * width * (theta - centre[i, j]) ** 2)
    return total
