"""Metrics of the top of a ranked list, averaged over queries; ties in exact expectation.

All of them are O(n log n), over all queries at once. Where rows of a query have equal scores, the
value is the mean over every order of the tied rows, in closed form: no order is drawn, and no order
of the input can change it. trec_eval and ir_measures break ties by document id instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ..order import Grades, check_scores
from ..sweeps import (
    Array,
    Bools,
    Floats,
    Ints,
    bucket_rows,
    jit,
    sort_rows,
    sums_at,
    sums_before,
    to_numpy,
    use_compiled,
)
from .inputs import Empty, check_cutoff, check_empty, check_option, read_unweighted, relevant_levels, undefined

# --------------------------------------------------------------------------------------------------
# Ranked lists, all groups at once, with the runs of tied scores inside them.
#
# The metrics of the top of a list take the exact expectation over a random order of tied rows. Inside a
# run of m tied rows every row is equally likely at every place, so all they need is a few numbers a run.


@dataclass(frozen=True)
class Retrieved:
    """In place of scores: those of lists that need not hold every judged row, and may hold others.

    A judged row without a score stands nowhere, but counts among the relevant ones and in the best order. A row with a
    score and without a grade takes its place, and is not relevant.
    """

    scores: Floats
    """NaN for a row that is not in the list."""


@dataclass(frozen=True)
class Lists:
    """The rows that have a place, by group, then by descending score; O(n log n) to make."""

    rows: Ints
    """The row at each place."""
    level: Ints
    """The level number of each place; −1 where a retrieved row was not judged."""
    sizes: Ints
    """The number of places in each group, which may be 0."""
    first: Ints
    """The place where each run of equal scores begins."""

    @cached_property
    def group(self) -> Ints:
        """The group of each place."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def begin(self) -> Ints:
        """The first place of each group."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def position(self) -> Ints:
        """Where each place stands in its own list, counted from 1."""
        return np.asarray(np.arange(1, len(self.rows) + 1) - np.repeat(self.begin, self.sizes))

    @cached_property
    def run_size(self) -> Ints:
        """How many rows are tied in each run."""
        return np.diff(self.first, append=len(self.rows))

    @cached_property
    def run_group(self) -> Ints:
        """The group of each run."""
        return self.group[self.first]

    def run_sums(self, values: Array) -> Array:
        """Sum values, one a place, over each run."""
        return np.add.reduceat(values, self.first) if len(self.first) else np.zeros(0)

    def spread(self, of_run: Array) -> Array:
        """Give each place the value of its run."""
        return np.repeat(of_run, self.run_size)

    def before(self, of_run: Array) -> Array:
        """Sum, for each run, over the earlier runs of its group."""
        return sums_before(of_run, np.searchsorted(self.run_group, np.arange(len(self.sizes) + 1)))

    def group_sums(self, values: Floats) -> Floats:
        """Sum values, one a place, over each group."""
        return sums_at(self.group, values, minlength=len(self.sizes))


class ListValues(NamedTuple):
    """A metric's value on each list; NaN where it is not defined or the list has no row, and so does not count."""

    values: Floats
    n_lists: int
    """How many lists have rows."""

    def mean(self, name: str) -> float:
        """Average over the lists that count; where none does, warn whoever called the metric."""
        chosen = self.values[~np.isnan(self.values)]
        if len(chosen) == 0:
            what = f"none of {self.n_lists:,} queries has a relevant item" if self.n_lists else "there is no row"
            return undefined(name, what, depth=2)
        return float(np.mean(chosen))


def list_values(values: Floats, defined: Bools, sizes: Ints, empty: Empty) -> ListValues:
    """Gather what each list has; one with rows where the metric is not defined counts as ``empty``."""
    there = sizes > 0
    other = np.nan if empty == "skip" else float(empty)
    return ListValues(np.where(there, np.where(defined, values, other), np.nan), int(np.count_nonzero(there)))


def make_lists(grades: Grades, scores: Any) -> Lists:
    """Sort the judged rows, or those that were retrieved, by group and descending score, and find the ties."""
    if isinstance(scores, Retrieved):
        placed = ~np.isnan(scores.scores)
        values = np.where(placed, scores.scores, 0.0)
    else:
        placed = grades.level >= 0
        values = to_numpy(check_scores(scores, len(grades)))
    block = grades.group
    if block is None and not placed.all():
        block = np.zeros(len(grades), np.int32)
    if block is not None and not placed.all():
        block = np.where(placed, block, -1).astype(np.int32)
    sizes = np.array([len(grades)]) if block is None else np.bincount(block[placed], minlength=grades.n_groups)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    rows = sort_rows(-values, block, bounds, compiled=use_compiled(len(values)))
    ordered = values[rows]
    opens = np.ones(len(rows), bool)
    opens[1:] = ordered[1:] != ordered[:-1]
    opens[bounds[:-1][sizes > 0]] = True
    return Lists(rows=rows, level=grades.level[rows], sizes=sizes, first=np.flatnonzero(opens))


def judged_lists(name: str, y: Any, scores: Any, groups: Any, positive: Any) -> tuple[Lists, Array, Array]:
    """Return the ranked lists, the relevant rows in each run of ties, and those of each group, with a place or not."""
    grades = read_unweighted(name, y, groups)
    lists, judged = make_lists(grades, scores), grades.level >= 0
    relevant = np.append(relevant_levels(grades, positive) if judged.any() else [], False).astype(bool)  # level −1: not
    hits = lists.run_sums(relevant[lists.level].astype(np.int64))
    group = grades.list_codes
    return lists, hits, np.bincount(group[relevant[grades.level]], minlength=len(lists.sizes))


# --------------------------------------------------------------------------------------------------
# The metrics.


Gain = Literal["exp2", "linear"]

_FEW_PLACES = 100
"""With a cut-off up to this, the first places are picked out of large lists without sorting them."""


def ndcg(
    y: Any, scores: Any, groups: Any = None, k: int | None = None, gain: Gain = "exp2", empty: Empty = "skip"
) -> float:
    r"""Normalised discounted cumulative gain: DCG@k / (DCG@k of the best order), averaged over queries.

    DCG@k = Σ_{i ≤ k} gain(grade of the i-th row) / log2(1 + i). The base of the logarithm cancels. A
    list shorter than k uses what is there. Some older benchmark scripts discount as 1, 1, 1/log2(3), …
    instead: not comparable.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, not negative (places 0, 1, … of the levels if they are text); rows without one are left out.
    scores : array of shape (n,)
        Scores; a higher one stands above. Ties: exact expectation, as scikit-learn's ``ndcg_score``.
    groups : array of shape (n,), optional
        The query of each row.
    k : int, optional
        Look at the first k places only.
    gain : {"exp2", "linear"}
        2^grade − 1 (Burges and others, 2005), or the grade itself (scikit-learn, trec_eval).
    empty : "skip" or a number
        What a query in which every gain is zero counts as. scikit-learn and trec_eval use 0.

    Returns
    -------
    float
        In [0, 1], the higher the better; NaN, with a warning, if there is no query to average over.

    References
    ----------
    Järvelin and Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques. Ties: McSherry and
    Najork (2008), Computing information retrieval performance measures efficiently in the presence of
    tied scores.

    Examples
    --------
    >>> from wellorder.metrics import ndcg
    >>> round(ndcg([0, 1, 2], [0.1, 0.9, 0.5]), 4)
    0.7967
    """
    return ndcg_of(y, scores, groups, k, gain, empty).mean("ndcg")


def ndcg_of(
    y: Any, scores: Any, groups: Any = None, k: int | None = None, gain: Gain = "exp2", empty: Empty = "skip"
) -> ListValues:
    """Return what :func:`ndcg` is the mean of."""
    check_option("gain", gain, get_args(Gain))
    check_empty(empty)
    if k is not None:
        check_cutoff(k)
    grades = read_unweighted("ndcg", y, groups)
    gains = gains_of(grades, gain)
    if k is not None and k <= _FEW_PLACES and _can_pick(grades, scores, gains):
        found, ideal, sizes = _top_gains(grades, scores, gains, int(k))
        defined = ideal > 0
        return list_values(np.minimum(found / np.where(defined, ideal, 1.0), 1.0), defined, sizes, empty)
    lists, best = make_lists(grades, scores), make_lists(grades, grades.level)
    highest = np.full(len(best.sizes), -1)
    highest[best.sizes > 0] = best.level[best.begin[best.sizes > 0]]
    mean_gain = lists.spread(lists.run_sums(_gain_shares(grades, gains, lists, highest)) / lists.run_size)
    found = lists.group_sums(mean_gain * discount(lists.position, k))
    ideal = best.group_sums(_gain_shares(grades, gains, best, highest) * discount(best.position, k))
    defined = gains[highest] > 0
    return list_values(np.minimum(found / np.where(defined, ideal, 1.0), 1.0), defined, lists.sizes, empty)


def average_precision(
    y: Any,
    scores: Any,
    groups: Any = None,
    positive: Any = 1,
    empty: Empty = "skip",
    k: int | None = None,
) -> float:
    r"""Average precision, averaged over queries (MAP): the mean precision at the places of relevant rows.

    AP = (1/R) Σ_{i relevant} (relevant rows among the first i) / i with R the number of relevant rows of
    the query; the usual definition (in Uematsu and Lee, 2013, Table 1, it is not divided by R). In a run of
    m tied rows, r of them relevant, with a rows and b relevant rows above, the expected contribution is
    (r/m) Σ_{j=1..m} (b + 1 + (j − 1)(r − 1)/(m − 1)) / (a + j). scikit-learn's ``average_precision_score``
    treats a run as one threshold instead: equal without ties only.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades; rows without one (NaN) are left out.
    scores : array of shape (n,)
        Scores; a higher one stands above. Ties: exact expectation.
    groups : array of shape (n,), optional
        The query of each row.
    positive : grade
        The lowest grade that counts as relevant.
    empty : "skip" or a number
        What a query without a relevant row counts as. trec_eval uses 0.
    k : int, optional
        A relevant row below place k counts as not found: it adds nothing, and R stays what it is (as trec_eval's
        map_cut).

    Returns
    -------
    float
        In [0, 1], the higher the better; NaN, with a warning, if there is no query to average over.

    Examples
    --------
    >>> from wellorder.metrics import average_precision
    >>> average_precision([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5833333333333333
    """
    return average_precision_of(y, scores, groups, positive, empty, k).mean("average_precision")


def average_precision_of(
    y: Any, scores: Any, groups: Any = None, positive: Any = 1, empty: Empty = "skip", k: int | None = None
) -> ListValues:
    """Return what :func:`average_precision` is the mean of."""
    check_empty(empty)
    if k is not None:
        check_cutoff(k)
    lists, hits, relevant = judged_lists("average_precision", y, scores, groups, positive)
    r, m = lists.spread(hits), lists.spread(lists.run_size)
    b = lists.spread(lists.before(hits))
    j = np.arange(len(lists.rows)) - lists.spread(lists.first)  # rows of the run above this place
    precision = (b + 1 + j * (r - 1) / np.maximum(m - 1, 1)) / lists.position
    if k is not None:
        precision = np.where(lists.position <= k, precision, 0.0)
    found = lists.group_sums(r / m * precision)
    return list_values(found / np.maximum(relevant, 1), relevant > 0, lists.sizes, empty)


def precision_at(y: Any, scores: Any, k: int, groups: Any = None, positive: Any = 1, empty: Empty = "skip") -> float:
    r"""Share of relevant rows among the first k places, averaged over queries.

    Divides by k, also where the list is shorter (as trec_eval): a list of 3 rows cannot reach 1 at k = 5.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades; rows without one (NaN) are left out.
    scores : array of shape (n,)
        Scores; a higher one stands above. Ties: exact expectation.
    k : int
        How many places to look at.
    groups : array of shape (n,), optional
        The query of each row.
    positive : grade
        The lowest grade that counts as relevant.
    empty : "skip" or a number
        What a query without a relevant row counts as. trec_eval uses 0.

    Returns
    -------
    float
        In [0, 1], the higher the better; NaN, with a warning, if there is no query to average over.

    Examples
    --------
    >>> from wellorder.metrics import precision_at
    >>> precision_at([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1], k=3)
    0.6666666666666666
    """
    return precision_at_of(y, scores, k, groups, positive, empty).mean("precision_at")


def precision_at_of(
    y: Any, scores: Any, k: int, groups: Any = None, positive: Any = 1, empty: Empty = "skip"
) -> ListValues:
    """Return what :func:`precision_at` is the mean of."""
    check_cutoff(k)
    check_empty(empty)
    lists, hits, relevant = judged_lists("precision_at", y, scores, groups, positive)
    inside = lists.run_sums((lists.position <= k).astype(float))
    found = np.bincount(lists.run_group, hits * inside / lists.run_size, minlength=len(lists.sizes))
    return list_values(found / k, relevant > 0, lists.sizes, empty)


def reciprocal_rank(
    y: Any,
    scores: Any,
    groups: Any = None,
    positive: Any = 1,
    empty: Empty = "skip",
    k: int | None = None,
) -> float:
    r"""One over the place of the first relevant row, averaged over queries (MRR).

    The usual definition; the 'MRR' of Uematsu and Lee (2013, Table 1) sums over all relevant rows. Where
    the first relevant rows are r of m tied ones below a others, the value is E[1/(a + J)] with P(J = j) =
    C(m − j, r − 1) / C(m, r), the place of the first of r drawn from m.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades; rows without one (NaN) are left out.
    scores : array of shape (n,)
        Scores; a higher one stands above. Ties: exact expectation.
    groups : array of shape (n,), optional
        The query of each row.
    positive : grade
        The lowest grade that counts as relevant.
    empty : "skip" or a number
        What a query without a relevant row counts as. trec_eval uses 0.
    k : int, optional
        A first relevant row below place k counts as 0.

    Returns
    -------
    float
        In [0, 1], the higher the better; NaN, with a warning, if there is no query to average over.

    Examples
    --------
    >>> from wellorder.metrics import reciprocal_rank
    >>> reciprocal_rank([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """
    return reciprocal_rank_of(y, scores, groups, positive, empty, k).mean("reciprocal_rank")


def reciprocal_rank_of(
    y: Any, scores: Any, groups: Any = None, positive: Any = 1, empty: Empty = "skip", k: int | None = None
) -> ListValues:
    """Return what :func:`reciprocal_rank` is the mean of."""
    check_empty(empty)
    if k is not None:
        check_cutoff(k)
    lists, hits, relevant = judged_lists("reciprocal_rank", y, scores, groups, positive)
    found = np.flatnonzero(hits > 0)
    run = found[np.diff(lists.run_group[found], prepend=-1) > 0]  # the first run with a hit of each group
    group = lists.run_group[run]
    value = np.zeros(len(lists.sizes))
    value[group] = _expected_reciprocal(
        lists.first[run] - lists.begin[group], lists.run_size[run], hits[run], np.inf if k is None else k
    )
    return list_values(value, relevant > 0, lists.sizes, empty)


def _expected_reciprocal(a: Ints, m: Ints, r: Ints, k: float) -> Floats:
    """E[1/(a + J)], J the first of r hits among m places in random order; 0 where a + J > k.

    P(J > j) = Π_{i<j} (m − r − i)/(m − i), at most (1 − r/m)^j: beyond 46·m/r it is below 1e-20.
    """
    length = np.minimum(m - r + 1, np.ceil(46.0 * m / r) + 1).astype(np.int64)
    case = np.repeat(np.arange(len(m)), length)
    j = np.arange(len(case)) - np.repeat(np.cumsum(length) - length, length)  # places of the run above this one
    a, m, r = a[case], m[case], r[case]
    missed = np.where(j > 0, (m - r - j + 1) / (m - j + 1), 1.0)
    step = 1
    # invariant: missed is the product of (at most) ``step`` factors, those of this place and just above it
    while (later := np.flatnonzero(j >= step)).size:
        missed[later] = missed[later] * missed[later - step]
        step *= 2
    place = a + j + 1
    chance = np.where(place <= k, missed * r / (m - j), 0.0)
    return sums_at(case, chance / place, minlength=len(length))


def gains_of(grades: Grades, gain: Gain) -> Floats:
    """Return the gain of each level, infinite where it overflows, and none for level −1."""
    values = grades.level_values
    if (values < 0).any():
        raise ValueError(f"ndcg needs grades that are not negative, and there is {values.min():g}; shift them")
    with np.errstate(over="ignore"):
        return np.append(values if gain == "linear" else np.exp2(values) - 1.0, 0.0)


def _gain_shares(grades: Grades, gains: Floats, lists: Lists, highest: Ints) -> Floats:
    """Return the gain at each place, as a share of the gain of the highest level of its list: no sum overflows."""
    top = highest[lists.group]
    with np.errstate(invalid="ignore"):
        share = gains[lists.level] / np.where(gains[top] > 0, gains[top], 1.0)
    far = np.isinf(gains[top])
    if far.any():  # beside 2^1024, the 1 that is taken off is nothing
        values = np.append(grades.level_values, -np.inf)
        share[far] = np.exp2(values[lists.level[far]] - values[top[far]])
    return np.asarray(share)


def discount(place: Floats | Ints, k: int | None) -> Floats:
    """Return what a gain is worth at a place, counted from 1."""
    discount = 1.0 / np.log2(1.0 + place)
    return discount if k is None else np.where(place <= k, discount, 0.0)


def _can_pick(grades: Grades, scores: Any, gains: Floats) -> bool:
    """Say whether the top is picked out without sorting: of many rows, all with a place, and of gains in range."""
    return use_compiled(len(grades)) and not isinstance(scores, Retrieved) and bool(np.isfinite(gains).all())


def _top_gains(grades: Grades, scores: Any, gains: Floats, k: int) -> tuple[Floats, Floats, Ints]:
    """Return each list's expected DCG@k, the best one, both in units of its highest gain, and how long it is."""
    values = np.ascontiguousarray(to_numpy(check_scores(scores, len(grades))))
    n, group = len(grades), grades.group
    rows: Ints
    bounds, rows = np.array([0, n], np.int32), np.empty(0, np.int32)
    if group is not None:
        bounds = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=grades.n_groups))]).astype(np.int32)
        if (group[1:] < group[:-1]).any():
            rows = bucket_rows(np.arange(n, dtype=np.int32), group, bounds)
    return top_gains(grades.level, values, rows, bounds, gains, discount(np.arange(1.0, k + 1.0), k))


# --------------------------------------------------------------------------------------------------
# Compiled, for large data: only the first k places are kept, and nothing is sorted. Arrays are made outside, as whoever
# asks first waits for the compiler.


def top_gains(
    level: Ints, scores: Floats, rows: Ints, bounds: Ints, gains: Floats, discount: Floats
) -> tuple[Floats, Floats, Ints]:
    """Return Σ discount · gain over the first k = len(discount) places of each list: expected, and in the best order.

    Both are in units of the list's highest gain, so that none overflows; the best is 0 where there is no gain. Also
    returned: how many rows of each list have a level (others are −1). List g has rows[bounds[g]:bounds[g + 1]], or,
    where ``rows`` is empty, these rows themselves. Equal scores stand in any order alike. O(n + n_lists · k²) for rows
    in random order, O(n k) at most.
    """
    n_lists, k = len(bounds) - 1, len(discount)
    found, best, sizes = np.zeros(n_lists), np.zeros(n_lists), np.zeros(n_lists, np.int64)
    room = np.empty(k, np.int64), np.empty(k), np.empty(k)
    _fill_gains(level, scores, rows, bounds, gains, discount, found, best, sizes, *room)
    return found, best, sizes


@jit
def _fill_gains(
    level: Ints,
    scores: Floats,
    rows: Ints,
    bounds: Ints,
    gains: Floats,
    discount: Floats,
    found: Floats,
    best: Floats,
    sizes: Ints,
    top_level: Ints,
    top_score: Floats,
    top_gain: Floats,
) -> None:
    k = len(discount)
    in_place = len(rows) == 0
    for g in range(len(sizes)):
        start, stop = bounds[g], bounds[g + 1]
        size = 0
        # invariant: the first min(size, k) entries of top_level are the highest so far, falling
        for at in range(start, stop):
            here = level[at if in_place else rows[at]]
            if here < 0:
                continue
            j = size if size < k else k
            size += 1
            if j == k:
                if here <= top_level[k - 1]:
                    continue
                j = k - 1
            while j > 0 and top_level[j - 1] < here:
                top_level[j] = top_level[j - 1]
                j -= 1
            top_level[j] = here
        sizes[g] = size
        kept = size if size < k else k
        if kept == 0 or not gains[top_level[0]] > 0.0:
            continue
        unit = gains[top_level[0]]
        for j in range(kept):
            best[g] += gains[top_level[j]] / unit * discount[j]
        found[g] = _expected(level, scores, rows, start, stop, gains, unit, discount, top_score, top_gain)


@jit
def _expected(
    level: Ints,
    scores: Floats,
    rows: Ints,
    start: int,
    stop: int,
    gains: Floats,
    unit: float,
    discount: Floats,
    top_score: Floats,
    top_gain: Floats,
) -> float:
    """Return one list's sum, expected over all orders of equal scores; the last two arrays are room to work in."""
    k, size = len(discount), 0
    in_place = len(rows) == 0
    beyond, beyond_gain = 0, 0.0
    # invariant: the first min(size, k) entries are the highest scores so far, falling, with their gains; ``beyond``
    # rows more are as high as the last of k entries
    for at in range(start, stop):
        row = at if in_place else rows[at]
        if level[row] < 0:
            continue
        score, gain = scores[row], gains[level[row]] / unit
        j = size if size < k else k
        size += 1
        if j == k:
            last, last_gain = top_score[k - 1], top_gain[k - 1]
            if score < last:
                continue
            if score == last:
                beyond, beyond_gain = beyond + 1, beyond_gain + gain
                continue
            if k > 1 and top_score[k - 2] == last:
                beyond, beyond_gain = beyond + 1, beyond_gain + last_gain
            else:
                beyond, beyond_gain = 0, 0.0
            j = k - 1
        while j > 0 and top_score[j - 1] < score:
            top_score[j], top_gain[j] = top_score[j - 1], top_gain[j - 1]
            j -= 1
        top_score[j], top_gain[j] = score, gain
    kept = size if size < k else k
    total = 0.0
    first = 0
    while first < kept:
        # places first, first + 1, … up to ``after`` are tied: each expects the mean gain of the run
        after, of_run, of_places = first, 0.0, 0.0
        while after < kept and top_score[after] == top_score[first]:
            of_run += top_gain[after]
            of_places += discount[after]
            after += 1
        count = after - first
        if after == k:
            count, of_run = count + beyond, of_run + beyond_gain
        total += of_run / count * of_places
        first = after
    return total
