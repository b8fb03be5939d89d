"""Weighted metrics of pairs in fractions: every pair, no rounding, weights of any size."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

HALF = Fraction(1, 2)


def wrong(high, low, ties):
    """What a pair counts as, given the scores of the row that should stand above and of the other."""
    return Fraction(high < low) + (high == low) * (1 if ties == "error" else HALF)


def edges(y, scores, group, weight, ties):
    """Return {(lower, higher): [wrong, all]} over all pairs of different grades in a group."""
    sums = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for i in range(len(y)):
        for j in range(len(y)):
            pair = Fraction(weight[i]) * Fraction(weight[j])
            if group[i] == group[j] and y[i] > y[j] and pair:
                sums[y[j], y[i]][0] += pair * wrong(scores[i], scores[j], ties)
                sums[y[j], y[i]][1] += pair
    return dict(sums)


def share(sums, cost=lambda low, high: 1):
    """Return the share of the wrong pairs, each weighing its cost."""
    parts = [(Fraction(cost(low, high)), *part) for (low, high), part in sums.items()]
    return sum(c * swapped for c, swapped, _ in parts) / sum(c * every for c, _, every in parts)


def rates(sums):
    return {edge: swapped / every for edge, (swapped, every) in sums.items()}


def over_edges(sums):
    return sum(rates(sums).values()) / len(sums)


def over_cuts(sums):
    levels = sorted({level for edge in sums for level in edge})
    across = [[part for (low, high), part in sums.items() if low <= cut < high] for cut, _ in pairwise(levels)]
    values = [sum(part[0] for part in cut) / sum(part[1] for part in cut) for cut in across if cut]
    return sum(values) / len(values)


def kendall(y, scores, group, weight):
    """Return [(P − Q, N_y, N_s)] of each group."""
    found = []
    for g in sorted(set(group)):
        rows = [row for row in range(len(y)) if group[row] == g]
        agree = n_y = n_s = Fraction(0)
        for i in rows:
            for j in rows[: rows.index(i)]:
                pair = Fraction(weight[i]) * Fraction(weight[j])
                a, b = (y[i] > y[j]) - (y[i] < y[j]), (scores[i] > scores[j]) - (scores[i] < scores[j])
                agree, n_y, n_s = agree + pair * a * b, n_y + pair * abs(a), n_s + pair * abs(b)
        found.append((agree, n_y, n_s))
    return found


def correlation(agree, n_y, n_s):
    """(P − Q) / √(N_y N_s), of numbers beyond the range of floats."""
    squared = agree * agree / (n_y * n_s)
    return (1 if agree > 0 else -1) * float(squared) ** 0.5
