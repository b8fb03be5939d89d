"""The consistent risk of Uematsu and Lee (2013), Theorem 4, pair by pair."""

from __future__ import annotations

import numpy as np


def in_pairs(level, group, weight, table):
    """Say of each row whether it is in a pair of the order itself."""
    n = len(level)
    inside = np.zeros(n, bool)
    for i in range(n):
        for j in range(n):
            if level[i] >= 0 and level[j] >= 0 and group[i] == group[j] and weight[i] * weight[j] > 0:
                inside[i] |= table[level[j], level[i]] > 0 or table[level[i], level[j]] > 0
    return inside


def list_ordered_pairs(level, group, weight, table):
    """Return [(i, j, a_i b_j ω_i ω_j / W[1,K])] over all ordered pairs of a group, i = j included."""
    inside = np.flatnonzero(in_pairs(level, group, weight, table))
    if len(inside) == 0:
        return []
    lowest, highest = level[inside].min(), level[inside].max()
    return [
        (i, j, table[lowest, level[i]] * table[level[j], highest] * weight[i] * weight[j] / table[lowest, highest])
        for i in inside
        for j in inside
        if group[i] == group[j]
    ]


def theorem_4(level, table):
    """Return [(i, j, weight)] as (ii) prints it: the forward pairs, and three kinds of extra ones."""
    last = table.shape[0] - 1
    pairs = []
    for i, high in enumerate(level):
        for j, low in enumerate(level):
            if high > low:
                pairs.append((i, j, table[low, high]))
                pairs.append((i, j, table[0, low] * table[high, last] / table[0, last]))
            elif high == low and 0 < high < last:
                pairs.append((i, j, table[0, high] * table[high, last] / table[0, last]))
            elif high < low:
                pairs.append((i, j, table[0, high] * table[low, last] / table[0, last]))
    return pairs
