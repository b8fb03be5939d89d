"""Convex hulls on an order graph, slowly and obviously: one constraint for each row and edge of its level."""

from __future__ import annotations

import warnings

import numpy as np


def slacks(scores, thresholds, levels, edges, kind):
    """Every slack with the row and the edge's weight that it belongs to: [(slack, row, weight)]."""
    found = []
    for row, (score, level) in enumerate(zip(scores, levels, strict=True)):
        own = [0.0]
        for t, (low, high, weight) in zip(thresholds, edges, strict=True):
            if level == high:
                own.append(max(0.0, t - score))
            elif level == low:
                own.append(max(0.0, score - t + 1))
            else:
                continue
            if kind == "edge":
                found.append((own[-1], row, weight))
        if kind == "row":
            found.append((max(own), row, 1.0))
    return found


def risk(scores, thresholds, levels, weights, edges, kind="edge", power=2):
    """Σ ω · W · slack^power, one by one."""
    listed = slacks(scores, thresholds, levels, edges, kind)
    return sum(weights[row] * weight * slack**power for slack, row, weight in listed)


def _stated(scores, levels, weights, edges, kind, power):
    """The sum of slacks over scores (an expression) and thresholds, with its constraints."""
    import cvxpy as cp

    t = cp.Variable(len(edges))
    y = cp.Variable(len(levels))  # of the row slacks
    total, constraints = 0.0, [y >= 0] if kind == "row" else []
    for e, (low, high, weight) in enumerate(edges):
        for level, side in ((high, 1.0), (low, -1.0)):
            rows = np.flatnonzero(np.asarray(levels) == level)
            short = side * (t[e] - (1.0 if side < 0 else 0.0) - scores[rows])
            if kind == "row":
                constraints.append(y[rows] >= short)
            else:
                total = total + weight * cp.sum(cp.multiply(weights[rows], cp.power(cp.pos(short), power)))
    if kind == "row":
        rows = np.flatnonzero(np.isin(levels, [end for low, high, _ in edges for end in (low, high)]))
        total = cp.sum(cp.multiply(weights[rows], cp.power(y[rows], power)))
    return total, constraints, t


def least_risk(scores, levels, weights, edges, kind="edge", power=2):
    """The risk at the best thresholds, by a general solver."""
    import cvxpy as cp

    total, constraints, _ = _stated(np.asarray(scores), levels, weights, edges, kind, power)
    return cp.Problem(cp.Minimize(total), constraints).solve(solver=cp.CLARABEL)


def minimum(X, levels, weights, edges, nu, *, kind="edge", power=2, penalty="l2", laplacian=None):
    """The least objective with its coefficients, by a general solver; for a kernel, X is a root of its matrix."""
    import cvxpy as cp

    w = cp.Variable(X.shape[1])
    total, constraints, _ = _stated(X @ w, levels, weights, edges, kind, power)
    regulariser = cp.norm1(w) if penalty == "l1" else 0.5 * cp.sum_squares(w)
    if laplacian is not None:
        regulariser = regulariser + 0.5 * cp.sum_squares(root(laplacian).T @ (X @ w))
    problem = cp.Problem(cp.Minimize(regulariser + nu * total), constraints)
    with warnings.catch_warnings():  # "may be inaccurate", at its own strict tolerances; tests have theirs
        warnings.simplefilter("ignore")
        value = problem.solve(solver=cp.CLARABEL)
    return value, w.value


def root(matrix):
    """Z with ZZᵀ the matrix."""
    value, vector = np.linalg.eigh(matrix)
    return vector * np.sqrt(np.maximum(value, 0.0))
