"""The multivariate SVM for swapped pairs, slowly and obviously: every labelling, and the explicit problem."""

from __future__ import annotations

from itertools import product

import numpy as np


def pairs_of(y):
    """All (i, j) with row i graded above row j."""
    return [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]


def most_violated(y, scores):
    """The labelling that maximises Δ(ȳ') + Ψ(ȳ')·w − Ψ(ȳ)·w over all 2^N, its value, and its c − d of each row.

    Δ counts swapped pairs; Ψ(ȳ') = Σ y'_ij (x_i − x_j), so that Ψ(ȳ')·w = Σ y'_ij (s_i − s_j).
    """
    pairs = pairs_of(y)
    best, moves = -np.inf, None
    for labels in product((1, -1), repeat=len(pairs)):
        swapped = sum(label == -1 for label in labels)
        psi = sum((label - 1) * (scores[i] - scores[j]) for label, (i, j) in zip(labels, pairs, strict=True))
        if swapped + psi > best:
            best = swapped + psi
            moves = np.zeros(len(y))
            for label, (i, j) in zip(labels, pairs, strict=True):
                moves[i] += label - 1
                moves[j] -= label - 1
    return best, moves


def minimum(K, y, strength):
    """The minimum of ½ βᵀKβ + strength · Σ (1 − 2 d)_+ with one slack a pair, by a general solver."""
    import cvxpy as cp

    root = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))
    v = cp.Variable(len(K))
    scores = root @ v
    losses = [cp.pos(1 - 2 * (scores[i] - scores[j])) for i, j in pairs_of(y)]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(v) + strength * sum(losses)))
    return problem.solve(solver=cp.CLARABEL)
