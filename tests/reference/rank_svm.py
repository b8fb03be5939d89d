"""The objective of docs/notation.md over listed pairs, minimised by L-BFGS: slow, and sure."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def objective(w, X, pairs, mass, C, loss):
    """Return ½‖w‖² + C·n/ΣW Σ W loss(w·(x_i − x_j)), and its gradient."""
    high, low, weight = (np.array(column) for column in zip(*pairs, strict=True))
    difference = X[high] - X[low]
    d = difference @ w
    if loss == "squared_hinge":
        short = np.maximum(1 - d, 0)
        value, slope = short**2, -2 * short
    else:
        value, slope = np.logaddexp(0, -d), -expit(-d)
    strength = C * mass / weight.sum()
    return 0.5 * w @ w + strength * weight @ value, w + strength * difference.T @ (weight * slope)


def minimise(X, pairs, weight, C, loss):
    """Return the minimum and the minimiser."""
    in_pairs = sorted({row for i, j, _ in pairs for row in (i, j)})
    mass = sum(weight[row] for row in in_pairs)
    result = minimize(
        objective,
        np.zeros(X.shape[1]),
        args=(X, pairs, mass, C, loss),
        jac=True,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000, "maxfun": 100_000},
    )
    return result.fun, result.x
