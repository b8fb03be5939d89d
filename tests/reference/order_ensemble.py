"""The weights of an ensemble, by listing every pair and handing the quadratic programme to a solver of cones."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def best_weights(points, pairs, mass, C):
    """Minimise ½‖a‖² + C·n/ΣW Σ W (1 − a·(S_i − S_j))_+² over a ≥ 0; pairs are (high, low, weight)."""
    high, low, weight = (np.array(column) for column in zip(*pairs, strict=True))
    a = cp.Variable(points.shape[1])
    short = cp.pos(1 - (points[high] - points[low]) @ a)
    risk = cp.sum(cp.multiply(weight, cp.square(short)))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(a) + C * mass / weight.sum() * risk), [a >= 0])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return np.maximum(a.value, 0.0), problem.value


def held_out_scores(members, X, y, fold):
    """Return the scores of each row by models fitted to the other folds, in units of their spread over all rows."""
    table = np.zeros((len(y), len(members)))
    for column, member in enumerate(members):
        for number in np.unique(fold):
            test = fold == number
            model = member.fit(X[~test], y[~test])
            scores = model.decision_function(X)
            table[test, column] = scores[test] / np.std(scores)
    return table
