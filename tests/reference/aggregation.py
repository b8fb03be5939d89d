"""Aggregation item by item, list by list."""

from __future__ import annotations

import numpy as np


def lists(group):
    return [[row for row in range(len(group)) if group[row] == g] for g in sorted(set(group))]


def borda(scores, group, weights):
    out = np.zeros(len(scores))
    for rows in lists(group):
        for x in rows:
            for ranker, weight in enumerate(weights):
                out[x] += weight * sum(scores[other][ranker] < scores[x][ranker] for other in rows)
    return out


def median_rank(scores, group):
    out = np.zeros(len(scores))
    for rows in lists(group):
        for x in rows:
            positions = []
            for ranker in range(len(scores[x])):
                above = sum(scores[other][ranker] > scores[x][ranker] for other in rows)
                tied = sum(scores[other][ranker] == scores[x][ranker] for other in rows)
                positions.append(np.mean([above + place for place in range(1, tied + 1)]))
            out[x] = -np.median(positions)
    return out


def markov_chain(scores, group, weights, teleport):
    out = np.zeros(len(scores))
    for rows in lists(group):
        n = len(rows)
        walk = np.zeros((n, n))
        for a, x in enumerate(rows):
            for b, other in enumerate(rows):
                for_other = sum(w for w, s, t in zip(weights, scores[other], scores[x], strict=True) if s > t)
                for_x = sum(w for w, s, t in zip(weights, scores[other], scores[x], strict=True) if s < t)
                if for_other > for_x + 1e-12:
                    walk[a, b] = 1 / n
            walk[a, a] = 1 - walk[a].sum()
        walk = (1 - teleport) * walk + teleport / n
        pi = np.full(n, 1 / n)
        for _ in range(2000):
            pi = pi @ walk
        out[rows] = pi
    return out
