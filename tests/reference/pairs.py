"""Every pair, one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LOSSES: dict[str, Callable[[float], float]] = {
    "squared_hinge": lambda d: max(1.0 - d, 0.0) ** 2 if d < 1 else 0.0,
    "exponential": lambda d: float(np.exp(-d)),
    "logistic": lambda d: float(np.logaddexp(0.0, -d)),
    "hinge": lambda d: 1.0 - d if d < 1 else 0.0,
    "smooth_hinge": lambda d: 0.75 - d if d < 0.5 else (1.0 - d) ** 2 if d < 1 else 0.0,  # of width ½
    "swapped": lambda d: float(d <= 0),
    "swapped_half": lambda d: 0.5 * (d < 0) + 0.5 * (d <= 0),
}
SLOPES: dict[str, Callable[[float], float]] = {
    "squared_hinge": lambda d: -2.0 * (1.0 - d) if d < 1 else 0.0,
    "exponential": lambda d: -float(np.exp(-d)),
    "logistic": lambda d: -1.0 / (1.0 + float(np.exp(d))),
    "hinge": lambda d: -1.0 if d < 1 else 0.0,
    "smooth_hinge": lambda d: -1.0 if d < 0.5 else -2.0 * (1.0 - d) if d < 1 else 0.0,
}
CURVATURES: dict[str, Callable[[float], float]] = {
    "squared_hinge": lambda d: 2.0 if d < 1 else 0.0,
    "exponential": lambda d: float(np.exp(-d)),
    "logistic": lambda d: 1.0 / ((1.0 + float(np.exp(d))) * (1.0 + float(np.exp(-d)))),
    "hinge": lambda d: 0.0,
    "smooth_hinge": lambda d: 2.0 if 0.5 <= d < 1 else 0.0,
}


def list_pairs(level, group, weight, table, below=None):
    """Return [(i, j, W_ij)]: row i should stand above row j; ``below`` is what rows weigh there, if something else."""
    below = weight if below is None else below
    pairs = []
    for i in range(len(level)):
        for j in range(len(level)):
            if level[i] < 0 or level[j] < 0 or group[i] != group[j]:
                continue
            w = table[level[j], level[i]] * weight[i] * below[j]
            if w > 0:
                pairs.append((i, j, w))
    return pairs


def balance(pairs, group):
    """Divide the weights of each group's pairs by their sum."""
    total: dict[object, float] = {}
    for i, _, w in pairs:
        total[group[i]] = total.get(group[i], 0.0) + w
    return [(i, j, w / total[group[i]]) for i, j, w in pairs]


def risk(name, pairs, scores):
    """Σ W · loss(s_i − s_j)."""
    return sum(w * LOSSES[name](scores[i] - scores[j]) for i, j, w in pairs)


def gradient(name, pairs, scores):
    """The gradient of the risk in the scores."""
    out = np.zeros(len(scores))
    for i, j, w in pairs:
        slope = w * SLOPES[name](scores[i] - scores[j])
        out[i] += slope
        out[j] -= slope
    return out


def hessian(name, pairs, scores):
    """The (generalised) Hessian of the risk in the scores."""
    out = np.zeros((len(scores), len(scores)))
    for i, j, w in pairs:
        curvature = w * CURVATURES[name](scores[i] - scores[j])
        out[i, i] += curvature
        out[j, j] += curvature
        out[i, j] -= curvature
        out[j, i] -= curvature
    return out
