"""What a swap of two rows changes in a metric of ranked lists: every order of tied rows, every pair of rows."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np

from . import pairs as pair_losses


def ndcg(k, highest=None, gain=lambda y: 2.0**y - 1.0):
    """DCG at the first k places; the best order's is a constant of the list, and so is the highest grade."""
    return lambda ordered: sum(gain(y) / np.log2(1.0 + p) for p, y in enumerate(ordered, 1) if k is None or p <= k)


def precision(k, positive=1):
    return lambda ordered: sum(y >= positive for y in ordered[:k]) / k


def average_precision(k, positive=1):
    def value(ordered):
        found, total = 0, 0.0
        for p, y in enumerate(ordered, 1):
            if y >= positive and (k is None or p <= k):
                found += 1
                total += found / p
        return total

    return value


def reciprocal_rank(k, positive=1):
    return lambda ordered: next(
        (1.0 / p for p, y in enumerate(ordered, 1) if y >= positive and (k is None or p <= k)), 0.0
    )


def err(k, highest):
    def value(ordered):
        going_on, total = 1.0, 0.0
        for p, y in enumerate(ordered, 1):
            stops = (2.0**y - 1.0) / 2.0**highest
            if k is None or p <= k:
                total += going_on * stops / p
            going_on *= 1.0 - stops
        return total

    return value


def orders(scores):
    """Return every order of the rows by falling score."""
    runs = [np.flatnonzero(scores == s).tolist() for s in sorted(set(scores.tolist()), reverse=True)]
    return [[row for run in each for row in run] for each in product(*(permutations(run) for run in runs))]


def changes(y, scores, metric):
    """Return {(i, j): E|Δ|} of one list, for the pairs of which row i has the higher grade."""
    listed = orders(scores)
    found = {}
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] <= y[j]:
                continue
            exchanged = y.copy()
            exchanged[[i, j]] = y[[j, i]]
            found[i, j] = np.mean([abs(metric(y[order]) - metric(exchanged[order])) for order in listed])
    return found


def weighted_pairs(y, scores, group, metric):
    """Return [(i, j, W_ij)] with W summing to one in each list in which a swap changes something."""
    pairs = []
    for g in sorted(set(group.tolist())):
        rows = np.flatnonzero(group == g)
        found = changes(y[rows], scores[rows], metric)
        total = sum(found.values())
        if total > 0:
            pairs += [(rows[i], rows[j], weight / total) for (i, j), weight in found.items() if weight > 0]
    return pairs


risk, gradient, hessian = pair_losses.risk, pair_losses.gradient, pair_losses.hessian
