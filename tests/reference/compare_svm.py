"""Comparisons with ties, slowly and obviously: pairs of two classes, written out one by one.

Equations are those of Venuto, Hocking, Spanurattana and Sugiyama (2014), Support vector comparison machines.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.svm import SVC


def flip(left, right, y):
    """Return (from, to, label) of each pair by equation (8): −1 pairs swapped, ties in both directions."""
    pairs = []
    for a, b, outcome in zip(left, right, y, strict=True):
        if outcome == 0:
            pairs += [(a, b, -1), (b, a, -1)]
        else:
            pairs.append((a, b, 1) if outcome == 1 else (b, a, 1))
    return pairs


def loss(name, z):
    if name == "logistic":
        return np.logaddexp(0.0, -z)
    return max(0.0, 1.0 - z) ** (2 if name == "squared_hinge" else 1)


def risk_at(name, scores, left, right, y, weight, bias):
    """Σ ω loss(label · (β + r(to) − r(from)))."""
    total = 0.0
    for a, b, outcome, w in zip(left, right, y, weight, strict=True):
        for start, end, label in flip([a], [b], [outcome]):
            total += w * loss(name, label * (bias + scores[end] - scores[start]))
    return total


def risk(name, scores, left, right, y, weight):
    """The least of it over β."""
    reach = 3.0 + np.abs(np.subtract.outer(scores, scores)).max()
    if name == "logistic":
        reach += 3.0 + np.log(len(y))
    return minimize_scalar(
        lambda bias: risk_at(name, scores, left, right, y, weight, bias),
        bounds=(-reach, reach),
        method="bounded",
        options={"xatol": 1e-12},
    ).fun


def svm_compare(k, items, left, right, y, C):
    """Equations (14) to (19): scores of the items by libsvm on the kernel between two-class pairs, and β."""
    pairs = flip(left, right, y)
    start, end, label = (np.array(part) for part in zip(*pairs, strict=True))
    K = k(items, items)
    pair_kernel = np.empty((len(pairs), len(pairs)))
    for i in range(len(pairs)):
        for j in range(len(pairs)):
            pair_kernel[i, j] = K[end[i], end[j]] - K[end[i], start[j]] - K[start[i], end[j]] + K[start[i], start[j]]
    machine = SVC(kernel="precomputed", C=C, tol=1e-8).fit(pair_kernel, label)
    signed = np.zeros(len(pairs))
    signed[machine.support_] = machine.dual_coef_[0]
    beta = machine.intercept_[0]
    return (K[:, start] - K[:, end]) @ signed / beta, beta


def margin(d, y):
    """The smallest slack of a constraint of the linear programme (7), at these differences."""
    return min(1 - abs(gap) if outcome == 0 else outcome * gap - 1 for gap, outcome in zip(d, y, strict=True))


def threshold_errors(d, y, weight, threshold):
    """The weight of wrong outcomes with this threshold."""
    wrong = 0.0
    for gap, outcome, w in zip(d, y, weight, strict=True):
        told = 0 if abs(gap) <= threshold else np.sign(gap)
        wrong += w * (told != outcome)
    return wrong
