"""Metrics by listing: every pair, every order of tied rows, one query at a time."""

from __future__ import annotations

from itertools import groupby, permutations, product

import numpy as np


def tied_orders(scores):
    """Yield every order of the rows that the scores allow, best first."""
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    runs = [list(run) for _, run in groupby(order, key=lambda row: scores[row])]
    for choice in product(*(permutations(run) for run in runs)):
        yield [row for run in choice for row in run]


def expectation(metric, y, scores, judged):
    """Average a metric of a ranked list of grades, beside all judged grades, over every order of tied rows."""
    values = [metric([y[row] for row in order], judged) for order in tied_orders(scores)]
    return float(np.mean(values))


def over_queries(metric, has_value, y, scores, group, empty, *, retrieved=False):
    """Average over queries; ``None`` if there is nothing to average.

    A list holds the judged rows; where it was ``retrieved``, those that have a score, judged or not.
    """
    values = []
    for g in sorted(set(group)):
        mine = [row for row in range(len(y)) if group[row] == g]
        judged = [y[row] for row in mine if not np.isnan(y[row])]
        placed = [row for row in mine if not np.isnan(scores[row] if retrieved else y[row])]
        if not placed:
            continue
        if judged and has_value(judged):
            values.append(expectation(metric, [y[row] for row in placed], [scores[row] for row in placed], judged))
        elif empty != "skip":
            values.append(empty)
    return float(np.mean(values)) if values else None


def dcg(grades, k, gain):
    total = 0.0
    for place, grade in enumerate(grades, start=1):
        if (k is None or place <= k) and not np.isnan(grade):
            total += (2**grade - 1 if gain == "exp2" else grade) / np.log2(1 + place)
    return total


def ndcg(k, gain):
    return lambda ranked, judged: dcg(ranked, k, gain) / dcg(sorted(judged, reverse=True), k, gain)


def precision_at(k, positive):
    return lambda ranked, judged: sum(grade >= positive for grade in ranked[:k]) / k


def average_precision(positive, k=None):
    def metric(ranked, judged):
        hits = [place for place, grade in enumerate(ranked[:k], start=1) if grade >= positive]
        relevant = sum(grade >= positive for grade in judged)
        return sum((found + 1) / place for found, place in enumerate(hits)) / relevant

    return metric


def reciprocal_rank(positive, k):
    def metric(ranked, judged):
        first = next((place for place, grade in enumerate(ranked, start=1) if grade >= positive), np.inf)
        return 1 / first if k is None or first <= k else 0.0

    return metric


def expected_reciprocal_rank(highest, k):
    def metric(ranked, judged):
        going_on, value = 1.0, 0.0
        for place, grade in enumerate(ranked[:k], start=1):
            stops = 0.0 if np.isnan(grade) else (2.0**grade - 1.0) / 2.0**highest
            value += going_on * stops / place
            going_on *= 1.0 - stops
        return value

    return metric


def wrong(high, low, ties):
    """What a pair counts as, given the scores of the row that should stand above and of the other."""
    if ties == "error":
        return float(high <= low)
    return 1.0 if high < low else 0.5 if high == low else 0.0


def edge_sums(y, scores, group, weight, ties):
    """Return {(lower, higher): [swapped, total]} over all pairs of different grades in a group."""
    sums: dict[tuple[float, float], list[float]] = {}
    for i in range(len(y)):
        for j in range(len(y)):
            if group[i] == group[j] and y[i] > y[j] and weight[i] * weight[j] > 0:
                entry = sums.setdefault((y[j], y[i]), [0.0, 0.0])
                entry[0] += weight[i] * weight[j] * wrong(scores[i], scores[j], ties)
                entry[1] += weight[i] * weight[j]
    return sums


def auc_ovo(sums):
    return 1 - np.mean([swapped / total for swapped, total in sums.values()])


def auc_consecutive(sums):
    levels = sorted({level for edge in sums for level in edge})
    values = []
    for cut in levels[:-1]:
        across = [part for (low, high), part in sums.items() if low <= cut < high]
        if across:
            values.append(1 - sum(part[0] for part in across) / sum(part[1] for part in across))
    return np.mean(values)


def kendall(y, scores, weight):
    """Return P − Q, N_y and N_s of one group."""
    agree = n_y = n_s = 0.0
    for i in range(len(y)):
        for j in range(i):
            w = weight[i] * weight[j]
            a, b = np.sign(y[i] - y[j]), np.sign(scores[i] - scores[j])
            agree, n_y, n_s = agree + w * a * b, n_y + w * abs(a), n_s + w * abs(b)
    return agree, n_y, n_s


def p_norm_push(y, scores, p, positive, ties, normalize):
    positives = [s for grade, s in zip(y, scores, strict=True) if grade >= positive]
    negatives = [s for grade, s in zip(y, scores, strict=True) if grade < positive]
    if not positives or not negatives:
        return None
    heights = [sum(wrong(s, t, ties) for s in positives) for t in negatives]
    if not normalize:
        return sum(h**p for h in heights)
    return float(np.mean([(h / len(positives)) ** p for h in heights]) ** (1 / p))


def comparison_auc(y, d):
    """Every (difference, tie) couple: right direction and larger size."""
    couples = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] != 0 and y[j] == 0]
    total = 0.0
    for i, j in couples:
        if np.sign(d[i]) == y[i]:
            total += 1.0 if abs(d[i]) > abs(d[j]) else 0.5 if abs(d[i]) == abs(d[j]) else 0.0
    return total / len(couples)


def comparison_point(y, d, threshold):
    """False and true positive rate at one threshold."""
    y, d = np.asarray(y), np.asarray(d)
    called = np.abs(d) > threshold
    return np.mean(called[y == 0]), np.mean((called & (np.sign(d) == y))[y != 0])
