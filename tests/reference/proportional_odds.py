"""Proportional odds as it is written down: differences of logistic functions, and a general minimiser."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def probabilities(scores, thresholds):
    """P(y = k) = P(y > k − 1) − P(y > k), a column for each level."""
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    above = expit(np.asarray(scores)[:, None] - ends)
    return above[:, :-1] - above[:, 1:]


def risk(scores, thresholds, level, weight):
    """−Σ ω log P(y)."""
    return -sum(w * np.log(p[k]) for p, k, w in zip(probabilities(scores, thresholds), level, weight, strict=True))


def least_risk(scores, level, weight):
    """Minimise over the thresholds: the first, and the logarithms of the gaps."""

    def thresholds(free):
        return np.cumsum(np.concatenate([free[:1], np.exp(free[1:])]))

    n = int(np.max(level))
    start = np.concatenate([[np.median(scores) - 1.0], np.zeros(n - 1)])
    found = minimize(lambda free: risk(scores, thresholds(free), level, weight), start, method="BFGS", tol=1e-10)
    return found.fun, thresholds(found.x)
