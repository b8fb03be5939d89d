"""How often pairs stand in the right order: the AUC and its kin for more than two levels, and for costs.

Every value here is a share of swapped pairs under some order over the levels (paper 004, page 6), so
that each costs one sort and one sweep. In groups, pairs are rows of one group; what is averaged (an
edge, a threshold) pools its pairs over all groups first.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from ..order import Grades, OrderGraph, Ties, check_scores, refuse_beside, swapped_weight
from ..order.graph import as_graph
from .inputs import check_option, check_ties, read_grades, undefined
from .swapped import right_share
from .weighing import each_edge_the_same, each_threshold_the_same

Average = Literal["pooled", "edges"]


def wmw(
    y: Any,
    scores: Any,
    groups: Any = None,
    order: Any = "full",
    average: Average = "pooled",
    ties: Ties = "half",
    sample_weight: Any = None,
) -> float:
    r"""Generalised Wilcoxon–Mann–Whitney statistic: the share of pairs in the right order, over an order graph.

    "pooled" is Σ_right W_ij / Σ W_ij, 1 − ``swapped_pairs`` under the same order. "edges" is the mean, over
    the graph's edges (lower, higher) that have a pair, of the edge's own AUC, whatever the edge weighs.
    The figure of paper 002 is the pooled one over all pairs of different grades.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, higher is better; rows without one (NaN) are left out. A ``Grades`` brings its own groups,
        order and weights.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        One id a row: only rows of one group are compared.
    order : str, OrderGraph or array
        Which levels are compared.
    average : {"pooled", "edges"}
        Every pair the same, or every edge the same.
    ties : {"error", "half"}
        What a pair of equal scores counts as: an error, or half of one.
    sample_weight : array of shape (n,), optional
        Row weights ω; a pair weighs ω_i · ω_j.

    Returns
    -------
    float
        In [0, 1], the higher the better; NaN, with a warning, if there is no pair.

    References
    ----------
    Fung, Rosales and Krishnapuram (2006), Learning rankings via convex hull separation.

    Examples
    --------
    >>> from wellorder.metrics import wmw
    >>> wmw([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9])
    0.8
    >>> wmw([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9], order="chain", average="edges")
    0.75
    """
    check_ties(ties)
    check_option("average", average, get_args(Average))
    grades = read_grades(y, groups, order, sample_weight)
    values = check_scores(scores, len(grades))
    if grades.pairs.n_pairs == 0:
        return undefined("wmw", f"there is no pair ({grades.describe()})")
    pairs = grades.pairs if average == "pooled" else each_edge_the_same(grades)
    return right_share(pairs, values, ties)


def auc_pairs(y: Any, scores: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None) -> float:
    r"""Share of all pairs of different grades in the right order: 1 − R_pairs of paper 004 (its equation 2).

    With two levels this is the AUC. Parameters and result as for :func:`wmw`; always the full order.

    Examples
    --------
    >>> from wellorder.metrics import auc_pairs
    >>> auc_pairs([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9])
    0.8
    """
    check_ties(ties)
    grades = _in_full_order(read_grades(y, groups, "full", sample_weight))
    values = check_scores(scores, len(grades))
    if grades.pairs.n_pairs == 0:
        return undefined("auc_pairs", f"there is no pair ({grades.describe()})")
    return right_share(grades.pairs, values, ties)


def auc_ovo(y: Any, scores: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None) -> float:
    r"""Mean AUC over all pairs of levels, one against one: 1 − R_ovo of paper 004 (its equation 3).

    (2 / K(K−1)) Σ_{a<b} AUC(a, b) over the K levels present (Hand and Till, 2001); in groups, over the
    pairs of levels that meet in some group. Parameters and result as for :func:`wmw`. O(n log n) for any
    number of levels in one list; in groups at most 2,000 levels.

    Examples
    --------
    >>> from wellorder.metrics import auc_ovo
    >>> round(auc_ovo([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9]), 12)
    0.833333333333
    """
    check_ties(ties)
    grades = _in_full_order(read_grades(y, groups, "full", sample_weight))
    values = check_scores(scores, len(grades))
    if grades.pairs.n_pairs == 0:
        return undefined("auc_ovo", f"there is no pair ({grades.describe()})")
    return right_share(each_edge_the_same(grades), values, ties)


def auc_consecutive(y: Any, scores: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None) -> float:
    r"""Mean AUC over the cuts of the grade scale: 1 − R_cons of paper 004 (its equation 4).

    (1 / (K−1)) Σ_l AUC(levels up to l, levels above l) over the K levels present; a cut that separates
    no pair is left out. Parameters and result as for :func:`wmw`. O(n log n) for any number of levels.

    Examples
    --------
    >>> from wellorder.metrics import auc_consecutive
    >>> round(auc_consecutive([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9]), 12)
    0.875
    """
    check_ties(ties)
    grades = _in_full_order(read_grades(y, groups, "full", sample_weight))
    values = check_scores(scores, len(grades))
    if grades.pairs.n_pairs == 0:
        return undefined("auc_consecutive", f"there is no pair ({grades.describe()})")
    return right_share(each_threshold_the_same(grades), values, ties)


def misranking_cost(
    y: Any, scores: Any, order: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None
) -> float:
    r"""Mean cost of a pair: Σ_swapped W_ij over the number of pairs with different grades.

    This is R̂_0(f; c) of paper 004, page 6. It divides by the number of ordered pairs (their Σ ω_i ω_j
    with row weights), with an edge in the order or not, and not by ΣW as ``swapped_pairs`` does: doubling
    the costs doubles it.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, higher is better; rows without one (NaN) are left out.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    order : str, OrderGraph or array
        The costs W[lower, higher]; None for those of a ``Grades``.
    groups, ties, sample_weight
        As for :func:`wmw`.

    Returns
    -------
    float
        Not negative, the lower the better; NaN, with a warning, if there is no pair. O(n log n).

    Examples
    --------
    >>> from wellorder.metrics import misranking_cost
    >>> round(misranking_cost([0, 0, 1, 2], [0.9, 0.5, 0.3, 0.7], order="linear"), 12)
    0.8
    """
    check_ties(ties)
    if isinstance(y, Grades):
        refuse_beside(y, groups=groups, sample_weight=sample_weight)
        grades = y if order is None else y.with_graph(as_graph(order, y.levels))
        if tuple(grades.graph.levels) != tuple(y.levels):
            raise ValueError(f"order is over {list(grades.graph.levels)}, but the levels are {list(y.levels)}")
    elif order is None:
        raise ValueError("misranking_cost needs costs: order='linear', 'dcg', an OrderGraph or an r x r array")
    else:
        grades = Grades(y, groups, order, sample_weight)
    values = check_scores(scores, len(grades))
    everything = _in_full_order(grades).pairs
    if everything.n_pairs == 0:
        return undefined("misranking_cost", f"there is no pair ({grades.describe()})")
    (everything, of_pairs), (pairs, of_costs) = everything.in_range, grades.pairs.in_range
    everything.refuse_lost_weights()
    pairs.refuse_lost_weights()
    cost = swapped_weight(pairs, values, ties) / everything.total
    return float(np.ldexp(cost, of_costs.max(initial=0) - of_pairs.max(initial=0)))


def _in_full_order(grades: Grades) -> Grades:
    return grades.with_graph(OrderGraph.full(grades.levels))
