"""Kendall's rank correlation, in O(n log n)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from ..order import Grades, OrderGraph, check_scores, swapped_weight
from ..order.pairs import GradedPairs, make_pairs
from ..sweeps import Floats, Ints, is_tensor
from ..sweeps.device import untied_weight
from ..sweeps.tensors import beside
from .inputs import check_option, read_grades, undefined
from .lists import make_lists

AverageGroups = Literal["pooled", "groups"]


def kendall_tau(
    y: Any, scores: Any, groups: Any = None, average: AverageGroups = "pooled", sample_weight: Any = None
) -> float:
    r"""Kendall's τ_b between grades and scores: (P − Q) / √(N_y N_s).

    P and Q count the pairs in the same and in opposite order, N_y the pairs with different grades and
    N_s those with different scores; so ties in either are allowed for, as in ``scipy.stats.kendalltau``.
    In groups (pairs of rows of one group) each of the four is pooled over the groups first, so that
    every pair counts the same.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades; rows without one (NaN) are left out. Of a ``Grades``' order only the sequence of levels counts.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        One id a row: only rows of one group are compared.
    average : {"pooled", "groups"}
        "groups": τ_b of each group with different grades in it, averaged; a group whose scores are all
        equal counts as 0.
    sample_weight : array of shape (n,), optional
        Row weights ω; a pair weighs ω_i · ω_j.

    Returns
    -------
    float
        In [−1, 1], the higher the better; NaN, with a warning, if no two grades or no two scores differ.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems.

    Examples
    --------
    >>> from wellorder.metrics import kendall_tau
    >>> round(kendall_tau([0, 1, 2, 2], [0.1, 0.9, 0.5, 0.7]), 6)
    0.182574
    """
    check_option("average", average, get_args(AverageGroups))
    grades = read_grades(y, groups, "full", sample_weight)
    values = check_scores(scores, len(grades))
    pairs = make_pairs(grades.level, grades.group, grades.weight, OrderGraph.full(grades.levels), "pairs")
    if pairs.n_pairs == 0:
        return undefined("kendall_tau", f"there is no pair of different grades ({grades.describe()})")
    pairs.refuse_lost_weights()
    untied = _untied(grades, values)
    if untied.sum() == 0 and average == "pooled":
        return undefined("kendall_tau", "all scores of a group are equal, in every group")
    if average == "pooled":
        # P − Q = N_y − 2 (Q + half of the pairs tied in the scores alone)
        excess = pairs.total - 2.0 * swapped_weight(pairs, values, "half")
        return _clip(excess / np.sqrt(pairs.total) / np.sqrt(untied.sum()))
    in_group, code = pairs.cells.group_totals()[0], _group_codes(pairs, grades)
    spread = np.sqrt(in_group) * np.sqrt(untied[code])
    factor = np.where(spread > 0, 1.0 / np.where(spread > 0, spread, 1.0), 0.0)
    swapped = swapped_weight(replace(pairs, group_factor=factor), values, "half")
    return _clip((np.sum(in_group * factor) - 2.0 * swapped) / len(in_group))


def _untied(grades: Grades, scores: Floats) -> Floats:
    """Sum ω_i ω_j, in each group, over the pairs of rows with different scores."""
    if is_tensor(scores):
        judged = np.flatnonzero(grades.level >= 0)
        weight = np.ones(len(grades)) if grades.weight is None else grades.weight
        group = np.zeros(len(grades), np.int32) if grades.group is None else grades.group
        group, weight = beside(scores, group[judged]), beside(scores, weight[judged])
        return untied_weight(scores[beside(scores, judged)], group, weight, grades.n_groups)
    lists = make_lists(grades, scores)
    weight = np.ones(len(lists.rows)) if grades.weight is None else grades.weight[lists.rows]
    of_run = lists.run_sums(weight)
    return np.bincount(lists.run_group, of_run * lists.before(of_run), minlength=len(lists.sizes))


def _group_codes(pairs: GradedPairs, grades: Grades) -> Ints:
    """Return, for each group that has a pair, its code among all groups."""
    if grades.group is None:
        return np.zeros(1, np.int32)
    code = np.zeros(pairs.cells.n_groups, np.int32)
    code[pairs.cells.group[pairs.cells.of_row[pairs.active]]] = grades.group[pairs.active]
    return code


def _clip(value: float) -> float:
    return float(np.clip(value, -1.0, 1.0))
