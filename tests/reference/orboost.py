"""ORBoost's loss, slowly and obviously: two exponentials a row."""

from __future__ import annotations

import math

import numpy as np


def risk(scores, levels, weights, thresholds):
    """Σ ω [e^{−(s − θ_{y−1})} + e^{−(θ_y − s)}], one row after the other."""
    below, above = [-math.inf, *thresholds], [*thresholds, math.inf]
    return sum(
        w * (math.exp(below[y] - s) + math.exp(s - above[y]))
        for s, y, w in zip(scores, levels, weights, strict=True)
        if y >= 0
    )


def best_thresholds(scores, levels, weights):
    """The ordered thresholds that minimise the risk, by a general solver."""
    import cvxpy as cp

    theta = cp.Variable(max(levels))
    terms = []
    for s, y, w in zip(scores, levels, weights, strict=True):
        if y > 0:
            terms.append(w * np.exp(-s) * cp.exp(theta[y - 1]))
        if 0 <= y < max(levels):
            terms.append(w * np.exp(s) * cp.exp(-theta[y]))
    ordered = [theta[:-1] <= theta[1:]] if max(levels) > 1 else []
    cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))), ordered).solve(solver=cp.CLARABEL)
    return theta.value
