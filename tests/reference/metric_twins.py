"""Every metric once more, slow and obvious: a function of the same name as the registered one.

It takes what that one takes, in plain arrays, and returns None where the metric is not defined. Of metrics of ranked
lists, ``retrieved`` says that scores are those of :class:`wellorder.metrics.retrieval.Retrieved`.
"""

from __future__ import annotations

import numpy as np

from . import metrics as parts


def edges(y, scores, group, ties):
    return parts.edge_sums(y, scores, group, np.ones(len(y)), ties)


def swapped_pairs(y, scores, group, ties="error"):
    sums = edges(y, scores, group, ties)
    return sum(swapped for swapped, _ in sums.values()) / sum(total for _, total in sums.values()) if sums else None


def wmw(y, scores, group):
    swapped = swapped_pairs(y, scores, group, ties="half")
    return None if swapped is None else 1 - swapped


auc_pairs = wmw


def concordance(y, scores, group):
    return wmw(y, scores, group)


def auc_ovo(y, scores, group):
    sums = edges(y, scores, group, "half")
    return parts.auc_ovo(sums) if sums else None


def auc_consecutive(y, scores, group):
    sums = edges(y, scores, group, "half")
    return parts.auc_consecutive(sums) if sums else None


def misranking_cost(y, scores, group):
    """Of linear costs: the difference of the grades."""
    sums = edges(y, scores, group, "half")
    cost = sum((high - low) * swapped for (low, high), (swapped, _) in sums.items())
    return cost / sum(total for _, total in sums.values()) if sums else None


def kendall_tau(y, scores, group):
    agree = n_y = n_s = 0.0
    for g in set(group):
        rows = (group == g) & ~np.isnan(y)
        a, b, c = parts.kendall(y[rows], scores[rows], np.ones(rows.sum()))
        agree, n_y, n_s = agree + a, n_y + b, n_s + c
    return agree / np.sqrt(n_y * n_s) if n_y and n_s else None


def ndcg(y, scores, group, k=None, retrieved=False):
    return parts.over_queries(
        parts.ndcg(k, "exp2"), lambda judged: max(judged) > 0, y, scores, group, "skip", retrieved=retrieved
    )


def over_relevant(metric, y, scores, group, retrieved):
    return parts.over_queries(metric, lambda judged: max(judged) >= 1, y, scores, group, "skip", retrieved=retrieved)


def average_precision(y, scores, group, k=None, retrieved=False):
    return over_relevant(parts.average_precision(1, k), y, scores, group, retrieved)


def expected_reciprocal_rank(y, scores, group, k=None, retrieved=False):
    highest = np.nanmax(y) if len(y) and not np.isnan(y).all() else 0.0
    metric = parts.expected_reciprocal_rank(highest, k)
    return parts.over_queries(metric, lambda judged: max(judged) > 0, y, scores, group, "skip", retrieved=retrieved)


def precision_at(y, scores, group, k, retrieved=False):
    return over_relevant(parts.precision_at(k, 1), y, scores, group, retrieved)


def reciprocal_rank(y, scores, group, k=None, retrieved=False):
    return over_relevant(parts.reciprocal_rank(1, k), y, scores, group, retrieved)


def p_norm_push(y, scores, group):
    judged = [(group == g) & ~np.isnan(y) for g in set(group)]
    values = [parts.p_norm_push(y[rows], scores[rows], 4, 1, "error", normalize=True) for rows in judged]
    known = [value for value in values if value is not None]
    return np.mean(known) if known else None


def differences(comparisons, scores):
    return [scores[right] - scores[left] for left, right in zip(comparisons.left, comparisons.right, strict=True)]


def swapped_comparisons(comparisons, scores):
    met = zip(comparisons.outcome, differences(comparisons, scores), strict=True)
    wrong = [outcome * difference <= 0 for outcome, difference in met if outcome]
    return np.mean(wrong) if wrong else None


def missed_comparisons(comparisons, scores):
    called = np.sign(differences(comparisons, scores))
    return np.mean(called != comparisons.outcome) if len(comparisons) else None


def tie_auc(comparisons, scores):
    n_ties = sum(outcome == 0 for outcome in comparisons.outcome)
    if n_ties in (0, len(comparisons)):
        return None
    return parts.comparison_auc(comparisons.outcome, differences(comparisons, scores))


def comparison_brier(outcomes, probabilities):
    parts_of_each = [
        sum((p - (outcome == came)) ** 2 for came, p in zip((-1, 0, 1), row, strict=True))
        for outcome, row in zip(outcomes, probabilities, strict=True)
    ]
    return np.mean(parts_of_each) if len(outcomes) else None


def comparison_log_loss(outcomes, probabilities):
    losses = [-np.log(row[outcome + 1]) for outcome, row in zip(outcomes, probabilities, strict=True)]
    return np.mean(losses) if losses else None


def comparison_rps(outcomes, probabilities):
    values = [
        ((row[0] - (outcome == -1)) ** 2 + (row[0] + row[1] - (outcome <= 0)) ** 2) / 2
        for outcome, row in zip(outcomes, probabilities, strict=True)
    ]
    return np.mean(values) if values else None


def ranked_probability_score(y, probabilities, levels):
    values = [
        np.mean([(sum(row[: k + 1]) - (grade <= levels[k])) ** 2 for k in range(len(levels) - 1)])
        for grade, row in zip(y, probabilities, strict=True)
        if grade == grade
    ]
    return np.mean(values) if values else None


def log_loss(y, probabilities, levels):
    judged = [(levels.index(grade), row) for grade, row in zip(y, probabilities, strict=True) if grade == grade]
    return np.mean([-np.log(row[place]) for place, row in judged]) if judged else None
