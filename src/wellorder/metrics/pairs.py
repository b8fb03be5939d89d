"""How often pairs stand in the right order: the AUC and its kin for more than two levels, and for costs.

Every value here is a share of swapped pairs under some order over the levels (Uematsu and Lee, 2013,
page 6), so that each costs one sort and one sweep. In groups, pairs are rows of one group; what is averaged (an
edge, a threshold) pools its pairs over all groups first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from ..order import (
    CellPairs,
    Cells,
    CostTable,
    Ends,
    Full,
    GradedPairs,
    Grades,
    OrderGraph,
    Scale,
    Ties,
    as_graph,
    check_scores,
    end_weights,
    make_pairs,
    product_exponents,
    refuse_beside,
    right_weight,
    swapped_around_row,
    swapped_by_row,
    swapped_weight,
)
from ..sweeps import (
    Floats,
    Ints,
    beside,
    cover_sums,
    is_tensor,
    near_one,
    run_weights,
    stretch_sums,
    sums_at,
    sums_before,
    to_numpy,
)
from .inputs import check_option, check_ties, read_grades, refuse_two_weights, undefined
from .retrieval import Lists, ListValues, make_lists

# --------------------------------------------------------------------------------------------------
# A weight of pairs beside another: what every metric here is.


@dataclass(frozen=True)
class PairShare:
    """Σ W over the pairs that stand wrong (or right), divided by ΣW over all of them, or over other pairs.

    A metric, and what each row adds to it.
    """

    pairs: GradedPairs
    scores: Any
    ties: Ties
    right: bool = False
    beside: GradedPairs | None = None
    """The pairs whose ΣW is the divisor, if that is not the sum over ``pairs``; pairs of the same rows."""
    expected: Callable[[PairShare, Floats], Floats] | None = None
    """For a mean of shares that each have a ΣW of their own: maps each row's wrong weight to what it would be if its
    pairs stood wrong as often as their own shares say."""

    @property
    def rows(self) -> Ints:
        """The rows that are in pairs."""
        return (self.pairs if self.beside is None else self.beside).active

    @property
    def value(self) -> float:
        """The share; at least one pair must be there."""
        if self.beside is None:
            return (right_share if self.right else swapped_share)(self.pairs, self.scores, self.ties)
        (everything, of_pairs), (pairs, of_costs) = self.beside.in_range, self.pairs.in_range
        everything.refuse_lost_weights()
        pairs.refuse_lost_weights()
        cost = swapped_weight(pairs, self.scores, self.ties) / everything.total
        return float(np.ldexp(cost, of_costs.max(initial=0) - of_pairs.max(initial=0)))

    @property
    def weight_by_row(self) -> Floats:
        """W of each row's pairs over ΣW: two rows have each pair, so that the sum is two."""
        return all_row_shares((self.pairs if self.beside is None else self.beside).in_range[0])

    def pair_square(self, value: float) -> float:
        """Return Σψ² over the pairs, ψ = W (h − U)/ΣW, given U; as if all weighed the same."""
        return abs(value * (1.0 - value)) / self.pairs.n_pairs

    def by_row(self) -> tuple[float, Floats]:
        r"""Return the share U, and (N_i − U·D_i)/ΣW: N_i is W of the row's wrong (or right) pairs, D_i of all of them.

        To first order, U differs from its expectation by the sum of these over the rows. Each pair is in two rows'
        sums, so that a group's part is *half* the sum over its rows. O(n log n).
        """
        pairs, of_pairs = self.pairs.in_range
        pairs.refuse_lost_weights()
        wrong = row_shares(pairs, self.scores, self.ties)
        if self.beside is not None:
            everything, of_all = self.beside.in_range
            everything.refuse_lost_weights()
            wrong *= np.ldexp(pairs.total / everything.total, of_pairs.max(initial=0) - of_all.max(initial=0))
            pairs = everything
        value = 0.5 * float(wrong.sum())
        found = wrong - (value * all_row_shares(pairs) if self.expected is None else self.expected(self, wrong))
        return (1.0 - value, -found) if self.right else (value, found)


def row_shares(pairs: GradedPairs, scores: Any, ties: Ties) -> Floats:
    """Return Σ W / ΣW over each row's pairs that stand the wrong way round, as its upper and as its lower end."""
    return swapped_around_row(pairs, scores, ties) / pairs.total


def all_row_shares(pairs: GradedPairs) -> Floats:
    """Return Σ W / ΣW over each row's pairs; kept with the pairs, as every method is held against the same."""
    kept = pairs.kept.get(_ALL_ROWS)
    if kept is None:
        kept = pairs.kept[_ALL_ROWS] = row_shares(pairs, np.zeros(pairs.n_rows), "error")
    assert isinstance(kept, np.ndarray)
    return kept


_ALL_ROWS = ("metrics", "all_row_shares")


# --------------------------------------------------------------------------------------------------
# Swapped pairs: the share of pairs that stand in the wrong order.


def swapped_pairs(
    y: Any,
    scores: Any,
    groups: Any = None,
    order: Any = "full",
    ties: Ties = "error",
    sample_weight: Any = None,
) -> float:
    r"""Share of the pairs that the scores put in the wrong order: Σ_swapped W_ij / Σ W_ij.

    A pair is two rows of one group with different grades. The lower the better.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, higher is better; rows without a grade (NaN) are left out. A ``Grades`` brings its own
        groups and weights, and its own order unless ``order`` says otherwise.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        One id a row: only rows of one group are compared.
    order : str, OrderGraph or array
        Which levels are compared and what a swap weighs.
    ties : {"error", "half"}
        What a pair of equal scores counts as: a swap, or half of one. With two levels and "half" this
        is 1 − AUC.
    sample_weight : array of shape (n,), optional
        Row weights ω; a pair weighs ω_i · ω_j.

    Returns
    -------
    float
        In [0, 1]; NaN, with a warning, if there is no pair. O(n log n).

    Examples
    --------
    >>> from wellorder.metrics import swapped_pairs
    >>> swapped_pairs([0, 1, 2], [0.1, 0.9, 0.5])
    0.3333333333333333
    """
    found = swaps_of(y, scores, groups, order, ties, sample_weight)
    return undefined("swapped_pairs", found) if isinstance(found, str) else found.value


def swaps_of(
    y: Any, scores: Any, groups: Any = None, order: Any = "full", ties: Ties = "error", sample_weight: Any = None
) -> PairShare | str:
    """Return the pairs that :func:`swapped_pairs` is the share of, or why there is none."""
    check_ties(ties)
    grades = read_grades(y, groups, order, sample_weight)
    values = check_scores(scores, len(grades))
    return _no_pair(grades) or PairShare(grades.pairs, values, ties)


def _no_pair(grades: Grades) -> str:
    """Say that there is no pair; nothing where there is one."""
    return f"there is no pair ({grades.describe()})" if grades.pairs.n_pairs == 0 else ""


def swapped_share(pairs: GradedPairs, scores: Any, ties: Ties) -> float:
    """Σ_swapped W_ij / Σ W_ij, for checked scores and at least one pair."""
    return _share(swapped_weight, pairs, scores, ties)


def right_share(pairs: GradedPairs, scores: Any, ties: Ties) -> float:
    """1 − :func:`swapped_share`, without the subtraction."""
    return _share(right_weight, pairs, scores, ties)


def _share(weight: Callable[..., float], pairs: GradedPairs, scores: Any, ties: Ties) -> float:
    pairs, _ = pairs.in_range
    pairs.refuse_lost_weights()
    return min(weight(pairs, scores, ties) / pairs.total, 1.0)  # rounding may go beyond


# --------------------------------------------------------------------------------------------------
# Orders that make every edge, or every cut of the grade scale, count the same whatever its number of pairs.


MOST_WEIGHED_LEVELS = 2_000
"""Up to this many levels, a table over all pairs of levels is made."""


def each_edge_the_same(grades: Grades) -> GradedPairs:
    """Weigh pairs so that each edge (pair of levels) with a pair weighs one: W[a, b] = 1 / Σ ω_i ω_j.

    In one list and the full order W[a, b] = 1/(Ω_a Ω_b) splits into row weights, for any number of levels.
    """
    refuse_two_weights("a mean over pairs of levels", grades)
    if grades.group is None and _edges(grades.graph) is None:
        weight = grades.row_weights
        judged = grades.level >= 0
        of_level = np.bincount(grades.level[judged], weight[judged], minlength=1)
        share: Floats = np.zeros(len(grades))
        share[judged] = weight[judged] / np.where(of_level > 0, of_level, 1.0)[grades.level[judged]]
        return make_pairs(grades.level, None, share, OrderGraph.full(grades.levels), "pairs")
    pairs = grades.with_graph(OrderGraph(grades.levels, _edge_table(grades))).pairs
    cells = pairs.cells
    assert cells.pairs is not None
    low, high, _ = cells.pairs
    level = level_of_cell(cells, grades)
    edges, number = np.unique(level[low] * len(grades.levels) + level[high], return_inverse=True)
    share = product_shares(cells.lower[low], cells.upper[high], number, len(edges))
    if pairs.ends.upper is None:
        share = share / (cells.lower[low] * cells.upper[high])
        return replace(pairs, cells=replace(cells, pairs=CellPairs(low, high, share)), total=float(len(edges)))
    # with the weights of each cell adding up to one, no product of them can overflow, or vanish beside others
    weight = np.zeros(len(grades))
    weight[pairs.active] = pairs.ends.upper[pairs.active] / cells.upper[cells.of_row[pairs.active]]
    ones = np.ones(cells.n)
    cells = replace(cells, upper=ones, lower=ones, pairs=CellPairs(low, high, share))
    return replace(pairs, cells=cells, ends=Ends(weight, weight), total=float(len(edges)))


def product_shares(one: Floats, other: Floats, key: Ints, n_keys: int) -> Floats:
    """Return one · other, divided by its sum over the entries of its key; the products may lie beyond all range."""
    (mantissa, exponent), (more, higher) = np.frexp(one), np.frexp(other)
    mantissa, exponent = mantissa * more, exponent + higher
    highest = np.full(n_keys, np.iinfo(np.int32).min // 2, np.int32)
    np.maximum.at(highest, key[mantissa > 0], exponent[mantissa > 0])
    part = np.ldexp(mantissa, exponent - highest[key])
    total = np.bincount(key, part, minlength=n_keys)
    return np.asarray(part / np.where(total > 0, total, 1.0)[key])


def each_threshold_the_same(grades: Grades, times: Floats | None = None) -> GradedPairs:
    """Weigh pairs by Σ_l 1/M_l over the cuts l between their levels, M_l the weight of the pairs across cut l.

    These costs are differences of a scale, so that any number of levels costs one sweep. Needs the full order. A cut
    may count some times (``times``, one a level above it); ``total`` is as if each counted once.
    """
    pairs, _ = grades.pairs.in_range
    step, cells = cut_steps(grades, pairs), pairs.cells
    level, total = level_of_cell(cells, grades), float(np.count_nonzero(step))
    step = step if times is None else step * times
    # as sums of the steps in between: differences of their running sum would lose small ones
    if cells.pairs is not None:
        low, high, _ = cells.pairs
        between = stretch_sums(step, level[low] + 1, level[high] + 1)
        return replace(pairs, cells=replace(cells, pairs=CellPairs(low, high, between)), total=total)
    first = np.diff(cells.group, prepend=-1) > 0
    rises = np.where(first, 0.0, stretch_sums(step, np.concatenate([[0], level[:-1]]) + 1, level + 1))
    scale = sums_before(rises, cells.group_starts) + rises
    return replace(pairs, cells=replace(cells, scale=scale, rises=rises), total=total)


def wrong_at_edges(grades: Grades, share: PairShare, wrong: Floats) -> Floats:
    """Return what each row's pairs would have if each stood wrong as often as its edge's do; as ``expected`` takes it.

    In one list under the full order each row of a level meets the same others: that is the level's mean.
    """
    if grades.group is None and _edges(grades.graph) is None:
        every = all_row_shares(share.pairs)
        level = np.where(grades.level >= 0, grades.level, 0)
        of_level, own = (np.bincount(level, each, minlength=len(grades.levels)) for each in (wrong, every))
        return np.asarray(every * (of_level / np.where(own > 0, own, 1.0))[level])
    lists = make_lists(grades, share.scores)
    swapped, total = _swap_tables(lists, _end_weights(grades, lists), len(grades.levels), share.ties)
    rate = swapped / np.where(total > 0, total, 1.0)
    cells = share.pairs.cells
    assert cells.pairs is not None
    low, high, weights = cells.pairs
    level = level_of_cell(cells, grades)
    rated = CellPairs(low, high, weights * rate[level[low], level[high]])
    return row_shares(replace(share.pairs, cells=replace(cells, pairs=rated)), np.zeros(len(grades)), "error")


def wrong_at_cuts(grades: Grades, share: PairShare, wrong: Floats) -> Floats:
    """Return what each row's pairs would have if each stood wrong as often as those across the same cut of the grades.

    The pairs across a cut are those whose lower end is below it, less those whose upper end is, too.
    """
    pairs, _ = grades.pairs.in_range

    def across(scores: Floats, ties: Ties) -> Floats:
        lower, upper = swapped_by_row(pairs, scores, ties)
        level = np.where(grades.level >= 0, grades.level, 0)
        opened = np.bincount(level, lower - upper, minlength=len(grades.levels))
        return np.concatenate([[0.0], np.cumsum(opened)[:-1]])

    total = across(np.zeros(len(grades)), "error")
    rate = np.clip(across(share.scores, share.ties) / np.where(total > 0, total, 1.0), 0.0, 1.0)
    return row_shares(each_threshold_the_same(grades, rate), np.zeros(len(grades)), "error")


def edge_costs(grades: Grades) -> OrderGraph:
    """Return the costs W[a, b] = 1 / Σ ω_i ω_j over the pairs of each edge; a table over the levels."""
    matrix = _edge_table(refuse_two_weights("a mean over pairs of levels", grades))
    unit = grades.with_graph(OrderGraph(grades.levels, matrix)).pairs.cells
    assert unit.pairs is not None
    low, high, _ = unit.pairs
    level = level_of_cell(unit, grades)
    pairs = sp.coo_array((unit.lower[low] * unit.upper[high], (level[low], level[high])), shape=matrix.shape).tocsr()
    pairs.sum_duplicates()
    with np.errstate(over="ignore", divide="ignore"):  # OrderGraph refuses what is not finite
        pairs.data = 1.0 / pairs.data
    return OrderGraph(grades.levels, pairs)


def cut_steps(grades: Grades, pairs: GradedPairs) -> Floats:
    """Return 1/M_l for each level, M_l the weight of the pairs across the cut just below it; 0 where there is none.

    In group g that is c (n_g − c) with c the weight up to the cut: the same from one of the group's cells to the next.
    """
    refuse_two_weights("a mean over cuts of the grades", grades)
    cells = pairs.cells
    present, place = np.unique(level_of_cell(cells, grades), return_inverse=True)
    before = sums_before(cells.lower, cells.group_starts)
    after = sums_before(cells.upper[::-1], cells.n - cells.group_starts[::-1])[::-1]
    across = (before + cells.lower) * after
    if pairs.group_factor is not None:
        across = across * pairs.group_factor[cells.group]
    lower = np.flatnonzero(np.diff(cells.group) == 0)  # cells with another above them
    start, stop = place[lower], place[lower + 1]
    at_cut = cover_sums(start, stop, across[lower], len(present) - 1)
    exists = np.cumsum(np.bincount(start, minlength=len(present)) - np.bincount(stop, minlength=len(present)))[:-1] > 0
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.where(exists, 1.0 / np.where(exists, at_cut, 1.0), 0.0)
    if not np.isfinite(inverse).all():
        raise ValueError(
            "the weights of the pairs across one cut of the grades and across another lie too far apart for a mean "
            "over the cuts; give weights that lie closer together"
        )
    step = np.zeros(len(grades.levels))
    step[present[1:]] = inverse
    return step


def level_of_cell(cells: Cells, grades: Grades) -> Ints:
    """Return the level number of each cell."""
    level = np.zeros(cells.n, np.int64)
    active = cells.of_row >= 0
    level[cells.of_row[active]] = grades.level[active]
    return level


def _edge_table(grades: Grades) -> sp.csr_array:
    """Return the edges with weight one; all of them as a table, where that is not too large."""
    matrix = _edges(grades.graph)
    if matrix is not None:
        return matrix
    n = len(grades.levels)
    if n > MOST_WEIGHED_LEVELS:
        raise ValueError(
            f"costs of all pairs of {n:,} levels need a table over them, made for at most {MOST_WEIGHED_LEVELS:,} "
            "levels; bin the grades, or average over pairs (auc_pairs)"
        )
    return sp.csr_array(np.triu(np.ones((n, n)), 1))


def _edges(graph: OrderGraph) -> sp.csr_array | None:
    """Return the edges with weight one; None for all of them."""
    match graph.structure:
        case CostTable(matrix):
            return (matrix > 0).astype(float)
        case Scale(weight, scale) if not ((weight > 0).all() and (np.diff(scale) > 0).all()):
            return sp.csr_array((graph.weights > 0).astype(float))
        case Full() | Scale():
            return None


# --------------------------------------------------------------------------------------------------
# The AUC and its kin.


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
    Fung, Rosales and Krishnapuram (2006) report the pooled one, over all pairs of different grades.

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
    found = wmw_of(y, scores, groups, order, average, ties, sample_weight)
    return undefined("wmw", found) if isinstance(found, str) else found.value


def wmw_of(
    y: Any,
    scores: Any,
    groups: Any = None,
    order: Any = "full",
    average: Average = "pooled",
    ties: Ties = "half",
    sample_weight: Any = None,
) -> PairShare | str:
    """Return the pairs that :func:`wmw` is the share of, or why there is none."""
    check_ties(ties)
    check_option("average", average, get_args(Average))
    grades = read_grades(y, groups, order, sample_weight)
    values = check_scores(scores, len(grades))
    if reason := _no_pair(grades):
        return reason
    if average == "pooled":
        return PairShare(grades.pairs, values, ties, right=True)
    return PairShare(each_edge_the_same(grades), values, ties, right=True, expected=partial(wrong_at_edges, grades))


def auc_pairs(y: Any, scores: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None) -> float:
    r"""Share of all pairs of different grades in the right order: U_pairs of Uematsu and Lee.

    Uematsu and Lee (2013), equation (2). With two levels this is the AUC. Parameters and result as for
    :func:`wmw`; always the full order.

    Examples
    --------
    >>> from wellorder.metrics import auc_pairs
    >>> auc_pairs([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9])
    0.8
    """
    found = auc_pairs_of(y, scores, groups, ties, sample_weight)
    return undefined("auc_pairs", found) if isinstance(found, str) else found.value


def auc_ovo(y: Any, scores: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None) -> float:
    r"""Mean AUC over all pairs of levels, one against one: U_ovo of Uematsu and Lee.

    (2 / K(K−1)) Σ_{a<b} AUC(a, b) over the K levels present (Hand and Till, 2001; Uematsu and Lee, 2013,
    equation (3)); in groups, over the pairs of levels that meet in some group. Parameters and result as for
    :func:`wmw`. O(n log n) for any number of levels in one list; in groups at most 2,000 levels.

    Examples
    --------
    >>> from wellorder.metrics import auc_ovo
    >>> round(auc_ovo([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9]), 12)
    0.833333333333
    """
    found = auc_ovo_of(y, scores, groups, ties, sample_weight)
    return undefined("auc_ovo", found) if isinstance(found, str) else found.value


def auc_consecutive(y: Any, scores: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None) -> float:
    r"""Mean AUC over the cuts of the grade scale: U_cons of Uematsu and Lee.

    (1 / (K−1)) Σ_l AUC(levels up to l, levels above l) over the K levels present (Uematsu and Lee, 2013,
    equation (4)); a cut that separates no pair is left out. Parameters and result as for :func:`wmw`.
    O(n log n) for any number of levels.

    Examples
    --------
    >>> from wellorder.metrics import auc_consecutive
    >>> round(auc_consecutive([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9]), 12)
    0.875
    """
    found = auc_consecutive_of(y, scores, groups, ties, sample_weight)
    return undefined("auc_consecutive", found) if isinstance(found, str) else found.value


def auc_pairs_of(
    y: Any, scores: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None
) -> PairShare | str:
    """Return the pairs that :func:`auc_pairs` is the share of, or why there is none."""
    return _full_order_share(_as_they_are, None, y, scores, groups, ties, sample_weight)


def auc_ovo_of(
    y: Any, scores: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None
) -> PairShare | str:
    """Return the pairs that :func:`auc_ovo` is the share of, or why there is none."""
    return _full_order_share(each_edge_the_same, wrong_at_edges, y, scores, groups, ties, sample_weight)


def auc_consecutive_of(
    y: Any, scores: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None
) -> PairShare | str:
    """Return the pairs that :func:`auc_consecutive` is the share of, or why there is none."""
    return _full_order_share(each_threshold_the_same, wrong_at_cuts, y, scores, groups, ties, sample_weight)


def _full_order_share(
    weigh: Callable[[Grades], GradedPairs],
    expected: Callable[[Grades, PairShare, Floats], Floats] | None,
    y: Any,
    scores: Any,
    groups: Any,
    ties: Ties,
    sample_weight: Any,
) -> PairShare | str:
    check_ties(ties)
    grades = _in_full_order(read_grades(y, groups, "full", sample_weight))
    values = check_scores(scores, len(grades))
    if reason := _no_pair(grades):
        return reason
    own = None if expected is None else partial(expected, grades)
    return PairShare(weigh(grades), values, ties, right=True, expected=own)


def _as_they_are(grades: Grades) -> GradedPairs:
    return grades.pairs


def misranking_cost(
    y: Any, scores: Any, order: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None
) -> float:
    r"""Mean cost of a pair: Σ_swapped W_ij over the number of pairs with different grades.

    This is R̂_0(f; c) of Uematsu and Lee (2013, page 6). It divides by the number of ordered pairs (their Σ ω_i ω_j
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
    found = misranking_cost_of(y, scores, order, groups, ties, sample_weight)
    return undefined("misranking_cost", found) if isinstance(found, str) else found.value


def misranking_cost_of(
    y: Any, scores: Any, order: Any, groups: Any = None, ties: Ties = "half", sample_weight: Any = None
) -> PairShare | str:
    """Return the pairs that :func:`misranking_cost` is the mean cost of, or why there is none."""
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
    everything = _in_full_order(grades)
    return _no_pair(everything) or PairShare(grades.pairs, values, ties, beside=everything.pairs)


def _in_full_order(grades: Grades) -> Grades:
    """Return the grades in full order; themselves if they are, as much is kept with their pairs for every method."""
    if isinstance(grades.graph.structure, Full):
        return grades
    return grades.with_graph(OrderGraph.full(grades.levels))


# --------------------------------------------------------------------------------------------------
# The costs under which the mean cost of a pair is one of the AUC's kin: all of them are one measure.


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


# --------------------------------------------------------------------------------------------------
# Order error rates: the share of swapped pairs, for each pair of grades on its own.


MOST_RATED_LEVELS = 1_000
"""There is one rate for each pair of levels: beyond this many levels nobody can read them."""


def order_error_rates(
    y: Any, scores: Any, groups: Any = None, ties: Ties = "error", sample_weight: Any = None
) -> dict[tuple[Hashable, Hashable], float]:
    r"""Share of swapped pairs for each two grades (lower, higher): Σ_swapped ω_i ω_j / Σ ω_i ω_j.

    Pairs are rows of one group, pooled over the groups; two grades that never meet in a group have no
    entry. Qin et al. (2007, section 4) call it the order error rate of a pair of ranks.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, higher is better; rows without one (NaN) are left out. At most 1,000 levels.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        One id a row: only rows of one group are compared.
    ties : {"error", "half"}
        What a pair of equal scores counts as: a swap, or half of one.
    sample_weight : array of shape (n,), optional
        Row weights ω; a pair weighs ω_i · ω_j.

    Returns
    -------
    dict
        From (lower grade, higher grade) to a rate in [0, 1]. O(n log n + n · levels).

    Examples
    --------
    >>> from wellorder.metrics import order_error_rates
    >>> order_error_rates([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9])
    {(0, 1): 0.5, (0, 2): 0.0, (1, 2): 0.0}
    """
    check_ties(ties)
    grades = read_grades(y, groups, "full", sample_weight)
    levels = grades.levels
    if len(levels) > MOST_RATED_LEVELS:
        raise ValueError(
            f"there are {len(levels):,} levels and one rate for each two of them; bin the grades (at most "
            f"{MOST_RATED_LEVELS:,} levels), or use swapped_pairs"
        )
    lists = make_lists(grades, scores)
    swapped, total = _swap_tables(lists, _end_weights(grades, lists), len(levels), ties)
    return {
        (levels[low], levels[high]): float(min(swapped[low, high] / total[low, high], 1.0))
        for low in range(len(levels))
        for high in range(low + 1, len(levels))
        if total[low, high] > 0
    }


def _end_weights(grades: Grades, lists: Lists) -> tuple[Floats, Floats] | None:
    """Return what the rows of lists weigh as the upper and as the lower end of pairs; None if all weigh one."""
    ends = end_weights(grades.weight, grades.ends)
    if ends.upper is None and ends.lower is None:
        return None
    upper, lower = (np.ones(len(lists.rows)) if part is None else part[lists.rows] for part in ends)
    return upper, lower


def _swap_tables(lists: Lists, ends: tuple[Floats, Floats] | None, n_levels: int, ties: Ties) -> tuple[Floats, Floats]:
    """Sum, for each two levels, the weight of their swapped pairs and of all their pairs, in units of their own.

    The row weights of each cell (a level of a group) are made to add up to one, and a pair of cells counts for its
    share of all pairs of its two levels: so two light levels have their rate, however heavy others are.
    """
    swapped, total = np.zeros((n_levels, n_levels)), np.zeros((n_levels, n_levels))
    of_cell, cell = np.unique(lists.group * n_levels + lists.level, return_inverse=True)
    group, level = np.divmod(of_cell, n_levels)
    upper, lower = (np.ones(len(cell)),) * 2 if ends is None else ends
    mass, mass_below = (np.bincount(cell, part, minlength=len(of_cell)).astype(float) for part in (upper, lower))
    if ends is not None:
        upper, lower = (
            part / np.where(whole > 0, whole, 1.0)[cell] for part, whole in ((upper, mass), (lower, mass_below))
        )
    for low in range(n_levels):
        of_run = lists.run_sums(np.where(lists.level == low, lower, 0.0))
        above = lists.before(of_run)  # of level ``low``, scored strictly higher than the run
        seen = above + of_run if ties == "error" else above + 0.5 * of_run
        own = np.zeros(len(lists.sizes))
        own[group[level == low]] = mass_below[level == low]
        share = own[group] if ends is None else product_shares(mass, own[group], level, n_levels)
        seen = upper * lists.spread(seen) * (1.0 if ends is None else share[cell])
        swapped[low] = np.bincount(lists.level, seen, minlength=n_levels)
        total[low] = np.bincount(level, mass * share if ends is None else share, minlength=n_levels)
    return swapped, total


# --------------------------------------------------------------------------------------------------
# Kendall's rank correlation, in O(n log n).


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
    grades = refuse_two_weights("kendall_tau", read_grades(y, groups, "full", sample_weight))
    values = check_scores(scores, len(grades))
    grades = grades.with_graph(OrderGraph.full(grades.levels))
    if grades.pairs.n_pairs == 0:
        return undefined("kendall_tau", f"there is no pair of different grades ({grades.describe()})")
    pairs, of_pairs = grades.pairs.in_range
    pairs.refuse_lost_weights()
    untied, of_untied = _untied(grades, values)
    if not untied.any() and average == "pooled":
        return undefined("kendall_tau", _ALL_EQUAL)
    if average == "pooled":
        pooled = np.sum(np.ldexp(untied, of_untied - of_untied.max()))
        spread = float(_root(pooled / pairs.total, of_untied.max() - of_pairs.max()))
        return _clip(_excess(pairs, values) / pairs.total / spread)
    in_group, code = pairs.cells.group_totals()[0], _group_codes(pairs, grades)
    # (P − Q) / √(N_y N_s) = (P − Q) / N_y / √(N_s / N_y)
    spreads = in_group * _root(untied[code] / in_group, of_untied[code] - of_pairs)
    factor = np.where(spreads > 0, 1.0 / np.where(spreads > 0, spreads, 1.0), 0.0)
    return _clip(_excess(replace(pairs, group_factor=factor), values) / len(in_group))


@dataclass(frozen=True)
class TauParts:
    """Kendall's τ_b over all pairs of rows of one group, and what each row adds to it."""

    grades: Grades
    scores: Floats

    @property
    def rows(self) -> Ints:
        """The rows that have a grade."""
        return np.flatnonzero(self.grades.level >= 0)

    @property
    def weight_by_row(self) -> Floats:
        """The share of each row in the pairs of different grades, twice."""
        return all_row_shares(self.grades.pairs.in_range[0])

    def pair_square(self, value: float) -> float:
        """Return Σψ² over the pairs, given τ; as if all weighed the same."""
        return max(1.0 - value**2, 0.0) / self.grades.pairs.n_pairs

    def by_row(self) -> tuple[float, Floats]:
        """Return τ, and for each row its part: (P − Q)_i/√(N_y N_s) − ½ τ (N_y,i/N_y + N_s,i/N_s)."""
        pairs, _ = self.grades.pairs.in_range
        pairs.refuse_lost_weights()
        in_order = all_row_shares(pairs) - 2.0 * row_shares(pairs, self.scores, "half")
        untied = _untied_by_row(self.grades, self.scores)
        spread = float(np.sqrt(0.5 * untied.sum()))
        share = untied / (2.0 * spread**2)
        # both are shares of N_y and of N_s; what is left of √(N_y N_s) is the ratio of the two
        ratio = float(np.sqrt(_pair_weight(self.grades))) / spread
        tau = 0.5 * float(in_order.sum()) * ratio
        return tau, in_order * ratio - 0.5 * tau * (all_row_shares(pairs) + 2.0 * share)


def kendall_tau_of(
    y: Any, scores: Any, groups: Any = None, average: AverageGroups = "pooled", sample_weight: Any = None
) -> TauParts | ListValues | str:
    """Return what :func:`kendall_tau` is made of, or why there is none."""
    check_option("average", average, get_args(AverageGroups))
    grades = refuse_two_weights("kendall_tau", read_grades(y, groups, "full", sample_weight))
    values = to_numpy(check_scores(scores, len(grades)))
    grades = _in_full_order(grades)
    if grades.pairs.n_pairs == 0:
        return f"there is no pair of different grades ({grades.describe()})"
    if average == "pooled":
        return TauParts(grades, values) if _some_differ(grades, values) else _ALL_EQUAL
    untied = _untied_by_row(grades, values)
    pairs, _ = grades.pairs.in_range
    group = grades.list_codes

    def by_group(of_row: Floats) -> Floats:
        return np.bincount(group, 0.5 * of_row, minlength=grades.n_groups).astype(float)

    there, different = by_group(all_row_shares(pairs)), by_group(untied)
    in_order = there - 2.0 * by_group(row_shares(pairs, values, "half"))
    own = by_group(_untied_by_row(grades, grades.level.astype(float)))
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = np.where(different > 0, in_order / there * np.sqrt(own / different), 0.0)
    return ListValues(np.where(own > 0, tau, np.nan), int(np.count_nonzero(own)))


_ALL_EQUAL = "all scores of a group are equal, in every group"


def _some_differ(grades: Grades, scores: Floats) -> bool:
    """Say whether two rows of one group that count have different scores, without a sort."""
    counted = (grades.level >= 0) & (True if grades.weight is None else np.asarray(grades.weight) > 0)
    if grades.group is None:
        values = scores if counted.all() else scores[counted]
        return bool((values[1:] != values[:-1]).any())
    group = grades.group
    one = np.zeros(grades.n_groups)
    one[group[counted]] = scores[counted]
    return bool((scores[counted] != one[group[counted]]).any())


def _untied_by_row(grades: Grades, scores: Floats) -> Floats:
    """Sum ω_i ω_j over the rows j of row i's group that have another score, weights beside the heaviest."""
    lists = make_lists(grades, scores)
    weight = np.ones(len(lists.rows)) if grades.weight is None else near_one(grades.weight)[0][lists.rows]
    all_differ = len(lists.first) == len(lists.rows)
    tied, n_tied = (weight, 1) if all_differ else map(lists.spread, (lists.run_sums(weight), lists.run_size))
    others = lists.group_sums(weight)[lists.group] - tied
    out = np.zeros(len(grades))
    out[lists.rows] = weight * np.where(n_tied == lists.sizes[lists.group], 0.0, others)
    return out


def _pair_weight(grades: Grades) -> float:
    """Sum ω_i ω_j over the pairs of different grades, weights beside the heaviest; kept, as it is every method's."""
    kept = grades.pairs.kept.get(_OF_GRADES)
    if kept is None:
        kept = grades.pairs.kept[_OF_GRADES] = 0.5 * float(_untied_by_row(grades, grades.level.astype(float)).sum())
    assert isinstance(kept, float)
    return kept


_OF_GRADES = ("metrics", "pair_weight")


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
        weight = grades.row_weights
        group = grades.list_codes
        group, weight = beside(scores, group[judged]), beside(scores, weight[judged])
        run_group, of_run = run_weights(scores[beside(scores, judged)], group, weight)
    else:
        lists = make_lists(grades, scores)
        weight = grades.row_weights[lists.rows]
        run_group, of_run = lists.run_group, lists.run_sums(weight)
    exponent = product_exponents(of_run, run_group, grades.n_groups)
    of_run = np.ldexp(of_run, -exponent[run_group] // 2)
    starts = np.searchsorted(run_group, np.arange(grades.n_groups + 1))
    return sums_at(run_group, of_run * sums_before(of_run, starts), minlength=grades.n_groups), exponent


def _group_codes(pairs: GradedPairs, grades: Grades) -> Ints:
    """Return, for each group that has a pair, its code among all groups."""
    if grades.group is None:
        return np.zeros(1, np.int32)
    code = np.zeros(pairs.cells.n_groups, np.int32)
    code[pairs.cells.group[pairs.cells.of_row[pairs.active]]] = grades.group[pairs.active]
    return code


def _clip(value: float) -> float:
    return float(np.clip(value, -1.0, 1.0))
