"""Kendall's rank correlation, in O(n log n)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from ..order import GradedPairs, Grades, OrderGraph, check_scores, right_weight
from ..order.cells import product_exponents
from ..sweeps import Floats, Ints, is_tensor
from ..sweeps.device import run_weights
from ..sweeps.scans import sums_before
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
    grades = grades.with_graph(OrderGraph.full(grades.levels))
    if grades.pairs.n_pairs == 0:
        return undefined("kendall_tau", f"there is no pair of different grades ({grades.describe()})")
    pairs, of_pairs = grades.pairs.in_range
    pairs.refuse_lost_weights()
    untied, of_untied = _untied(grades, values)
    if not untied.any() and average == "pooled":
        return undefined("kendall_tau", "all scores of a group are equal, in every group")
    if average == "pooled":
        pooled = np.sum(np.ldexp(untied, of_untied - of_untied.max()))
        spread = float(_root(pooled / pairs.total, of_untied.max() - of_pairs.max()))
        return _clip(_excess(pairs, values) / pairs.total / spread)
    in_group, code = pairs.cells.group_totals()[0], _group_codes(pairs, grades)
    # (P − Q) / √(N_y N_s) = (P − Q) / N_y / √(N_s / N_y)
    spreads = in_group * _root(untied[code] / in_group, of_untied[code] - of_pairs)
    factor = np.where(spreads > 0, 1.0 / np.where(spreads > 0, spreads, 1.0), 0.0)
    return _clip(_excess(replace(pairs, group_factor=factor), values) / len(in_group))


def _excess(pairs: GradedPairs, scores: Floats) -> float:
    """P − Q: the weight of the pairs in the same order less that of the pairs in opposite order."""
    return right_weight(pairs, scores, "error") - right_weight(pairs, -scores, "error")


def _root(values: Any, exponent: Any) -> Any:
    """√(values · 2^exponent), of an even exponent."""
    return np.ldexp(np.sqrt(values), exponent // 2)


def _untied(grades: Grades, scores: Floats) -> tuple[Floats, Ints]:
    """Sum ω_i ω_j, in each group, over the pairs of rows with different scores; as totals · 2^exponents."""
    if is_tensor(scores):
        judged = np.flatnonzero(grades.level >= 0)
        weight = np.ones(len(grades)) if grades.weight is None else grades.weight
        group = np.zeros(len(grades), np.int32) if grades.group is None else grades.group
        group, weight = beside(scores, group[judged]), beside(scores, weight[judged])
        run_group, of_run = run_weights(scores[beside(scores, judged)], group, weight)
    else:
        lists = make_lists(grades, scores)
        weight = np.ones(len(lists.rows)) if grades.weight is None else grades.weight[lists.rows]
        run_group, of_run = lists.run_group, lists.run_sums(weight)
    exponent = product_exponents(of_run, run_group, grades.n_groups)
    of_run = np.ldexp(of_run, -exponent[run_group] // 2)
    starts = np.searchsorted(run_group, np.arange(grades.n_groups + 1))
    return np.bincount(run_group, of_run * sums_before(of_run, starts), minlength=grades.n_groups), exponent


def _group_codes(pairs: GradedPairs, grades: Grades) -> Ints:
    """Return, for each group that has a pair, its code among all groups."""
    if grades.group is None:
        return np.zeros(1, np.int32)
    code = np.zeros(pairs.cells.n_groups, np.int32)
    code[pairs.cells.group[pairs.cells.of_row[pairs.active]]] = grades.group[pairs.active]
    return code


def _clip(value: float) -> float:
    return float(np.clip(value, -1.0, 1.0))
