"""What a row's part of a share of swapped pairs owes to who else is drawn: by drawing, again and again."""

from __future__ import annotations

import numpy as np


def parts_of(y, score):
    """Return each row's Σ (h − U) over its pairs, over the number of all pairs, and U; pair by pair."""
    found, n_pairs, n_swapped = np.zeros(len(y)), 0, 0.0
    swapped = {}
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] > y[j]:
                swapped[i, j] = float(score[i] <= score[j])  # tied scores are swapped
                n_pairs, n_swapped = n_pairs + 1, n_swapped + swapped[i, j]
    for (i, j), h in swapped.items():
        found[i] += (h - n_swapped / n_pairs) / n_pairs
        found[j] += (h - n_swapped / n_pairs) / n_pairs
    return found, n_swapped / n_pairs


def parts_in_a_cut(y, scores, n_folds, rng):
    """Cut rows into folds, level by level, and return each row's part of the mean over the folds, for each method."""
    fold = np.zeros(len(y), int)
    for level in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == level))
        fold[rows] = np.arange(len(rows)) % n_folds
    found = np.zeros(scores.shape)
    for m in range(scores.shape[1]):
        for k in range(n_folds):
            rows = np.flatnonzero(fold == k)
            part, value = parts_of(y[rows], scores[rows, m])
            found[rows, m] = (part + value / len(rows)) / n_folds
    return found - found.mean(axis=0)


def variance_between_cuts(y, scores, n_folds, n_cuts, rng):
    """Return the covariance of methods' parts between cuts, summed over the rows: nothing is learned, all is luck."""
    drawn = np.array([parts_in_a_cut(y, scores, n_folds, rng) for _ in range(n_cuts)])
    about = drawn - drawn.mean(axis=0)
    return np.einsum("cim,cip->mp", about, about) / (n_cuts - 1)
