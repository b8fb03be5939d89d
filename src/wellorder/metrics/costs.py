"""The costs under which the mean cost of a pair is one of the AUC's kin: all of them are one measure."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from ..order import OrderGraph
from .inputs import check_option, read_grades
from .weighing import cut_steps, edge_costs

Scheme = Literal["pairs", "ovo", "consecutive"]


def pair_costs(y: Any, scheme: Scheme = "pairs", groups: Any = None, sample_weight: Any = None) -> OrderGraph:
    r"""Return the costs W under which ``misranking_cost`` is 1 less an AUC over all pairs, pairs of levels or cuts.

    That is 1 − ``auc_pairs``, 1 − ``auc_ovo`` or 1 − ``auc_consecutive``, with either rule for ties.

    With N pairs of different grades, N_ab of them between the levels a < b, M_l across the cut above level l,
    E pairs of levels that have a pair, and L cuts that have one (K(K−1)/2 and K − 1 in one list of K levels):

    .. math:: W_{ab} = 1, \qquad W_{ab} = \frac{N}{E \, N_{ab}}, \qquad W_{ab} = \sum_{a \le l < b} \frac{N}{L \, M_l}

    They depend on how many rows each level has in these very data. The last are separable, so that a model can be
    trained on them consistently; the others are not for more than three levels (``OrderGraph.is_consistent``).

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, higher is better; rows without one (NaN) are left out. A ``Grades`` brings its own groups and weights.
    scheme : {"pairs", "ovo", "consecutive"}
        Every pair the same, every pair of levels the same, or every cut of the grade scale the same.
    groups : array of shape (n,), optional
        One id a row: only rows of one group are compared.
    sample_weight : array of shape (n,), optional
        Row weights ω; a pair counts ω_i · ω_j times.

    Returns
    -------
    OrderGraph
        Over all levels of y; levels without a row cost what they like, as no pair has them. "ovo" needs a table,
        and takes at most 2,000 levels.

    References
    ----------
    Uematsu and Lee (2013), Statistical optimality in multipartite ranking and ordinal regression, page 6.

    Examples
    --------
    >>> from wellorder import metrics
    >>> y, scores = [0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9]
    >>> costs = metrics.pair_costs(y, "ovo")
    >>> round(metrics.misranking_cost(y, scores, costs) + metrics.auc_ovo(y, scores), 12)
    1.0
    """
    check_option("scheme", scheme, get_args(Scheme))
    grades = read_grades(y, groups, "full", sample_weight)
    grades = grades.with_graph(OrderGraph.full(grades.levels))
    if grades.pairs.n_pairs == 0:
        raise ValueError(f"there is no pair whose cost could be shared out ({grades.describe()})")
    grades.pairs.refuse_lost_weights()
    n = grades.pairs.total
    if scheme == "pairs":
        return grades.graph
    if scheme == "ovo":
        table = edge_costs(grades).weights
        return OrderGraph(grades.levels, table * (n / np.count_nonzero(table)))
    step = cut_steps(grades, grades.pairs)
    scale = np.cumsum(step) * (n / np.count_nonzero(step))
    return OrderGraph.from_scale(np.ones(len(step)), scale, grades.levels)
