"""What the scores of a test part are worth: every metric, the grade × grade table, and a curve."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..metrics import AnyMetric, Definition, Metric, comparison_roc, ndcg, order_error_rates, parse
from ..order import Comparisons, Grades, Kind, Times, end_weights, refuse_beside
from ..samples import Sample, pair_probabilities
from ..scoring import WHO_GIVES_PROBABILITIES, advantage_of, gives_probabilities
from ..sweeps import Array, Floats, Ints
from .records import Curve, SwapTable

# --------------------------------------------------------------------------------------------------
# Curves of a test part, small enough to be kept in a record: NDCG over k, and the ROC of comparisons.


MOST_POINTS = 200
"""Curves have at most this many points: more cannot be seen in a figure."""


def ndcg_curve(y: Any, scores: Any, groups: Any = None, k: int = 10) -> Curve:
    """Return NDCG@1, NDCG@2, …, NDCG@k; shorter where no list has k judged rows.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, not negative; rows without one (NaN) are left out.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        The query of each row.
    k : int, default=10
        The last cut-off.

    Examples
    --------
    >>> from wellorder.evaluation.judging import ndcg_curve
    >>> curve = ndcg_curve([0, 1, 2], [0.1, 0.9, 0.5], k=10)
    >>> curve.x, [round(value, 3) for value in curve.y]
    ((1.0, 2.0, 3.0), [0.333, 0.797, 0.797])
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k={k!r} is no cut-off; give a whole number, at least 1")
    if isinstance(y, Grades):
        refuse_beside(y, groups=groups)
    grades = y if isinstance(y, Grades) else Grades(y, groups)
    judged = grades.level >= 0
    length = np.bincount(grades.group[judged]) if grades.group is not None else np.array([np.count_nonzero(judged)])
    cutoffs = range(1, max(1, min(int(k), int(length.max(initial=0)))) + 1)
    return Curve("ndcg", tuple(map(float, cutoffs)), tuple(ndcg(grades, scores, k=cutoff) for cutoff in cutoffs))


def comparison_roc_curve(y: Any, differences: Any) -> Curve:
    """Return the ROC curve of comparisons, thinned to at most 200 points along its length.

    Parameters
    ----------
    y : array of shape (n,)
        Outcomes in {−1, 0, 1}; 1: the right item is better. At least one 0 and one other.
    differences : array of shape (n,)
        Score of the right item less that of the left one.

    Examples
    --------
    >>> from wellorder.evaluation.judging import comparison_roc_curve
    >>> curve = comparison_roc_curve([1, 0, -1, 0], [2.0, 0.5, 1.0, 0.0])
    >>> curve.x, curve.y
    ((0.0, 0.0, 0.0, 0.5, 1.0), (0.0, 0.5, 0.5, 0.5, 0.5))
    """
    roc = comparison_roc(y, differences)
    x, height = roc.fpr, roc.tpr
    if len(x) > MOST_POINTS:
        along = x + height  # both only rise, so this is the length of the staircase so far
        kept = np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], MOST_POINTS)))
        x, height = x[kept], height[kept]
    return Curve("comparison_roc", tuple(x.tolist()), tuple(height.tolist()))


# --------------------------------------------------------------------------------------------------
# Grade against grade: how many pairs of each two levels stand the wrong way round.


KEPT_LEVELS = 10
"""Up to this many levels are shown as they are; more are binned, as a larger table can hardly be read."""


@dataclass(frozen=True)
class Bins:
    """Grades as a few levels with names.

    Make them once, over all rows, and :meth:`take` the rows of each test part: then every part has the
    same levels, and their tables add up.
    """

    level: Ints
    """The number of each row's level, from worst to best; −1 where the row has no grade."""
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.level)

    def take(self, rows: Array) -> Bins:
        """Return some of the rows (numbers or a mask), with the same levels."""
        return replace(self, level=self.level[rows])


def bin_grades(y: Any, most: int = 6) -> Bins:
    """Gather grades into a few levels of about equally many rows; up to ten levels stay as they are.

    Equal grades always share a bin, so the bins are of equal size only as far as ties allow.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, higher is better; rows without one (NaN) are in no bin.
    most : int, default=6
        The most bins to make, at least 2.

    Examples
    --------
    >>> from wellorder.evaluation.judging import bin_grades
    >>> bin_grades([3, 5, 4, 5]).labels
    ('3', '4', '5')
    >>> bin_grades(range(25, 347), most=3).labels
    ('25 to 131', '132 to 239', '240 to 346')
    """
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 2:
        raise ValueError(f"most={most!r} bins cannot be made; give a whole number, at least 2")
    grades = y if isinstance(y, Grades) else Grades(y)
    levels = grades.levels
    if len(levels) <= max(KEPT_LEVELS, most):
        return Bins(grades.level, _names(levels))
    judged = grades.level[grades.level >= 0]
    count = np.bincount(judged, minlength=len(levels))
    middle = (np.cumsum(count) - count / 2) / max(len(judged), 1)  # the share of rows below the middle of a level
    wanted = np.minimum((most * middle).astype(int), most - 1)
    opens = np.flatnonzero(np.diff(wanted, prepend=-1))
    closes = np.append(opens[1:], len(levels)) - 1
    labels = _range_names([(levels[a], levels[b]) for a, b in zip(opens, closes, strict=True)])
    bin_of = np.cumsum(np.diff(wanted, prepend=wanted[0]) > 0).astype(np.int32)
    return Bins(np.where(grades.level >= 0, bin_of[grades.level], -1).astype(np.int32), labels)


def swap_table(
    y: Any, scores: Any, groups: Any = None, most_levels: int = 6, *, sample_weight: Any = None
) -> SwapTable:
    """Count, for each two levels, the pairs of rows and those that the scores put the wrong way round.

    A pair with equal scores counts as swapped, as in :func:`wellorder.metrics.order_error_rates`, whose
    rates these are where the levels are few.

    Parameters
    ----------
    y : array of shape (n,), Grades, or Bins
        Grades, higher is better; rows without one are left out. More than ten levels are binned. A
        ``Grades`` brings its own groups, and its row weights: counts are then sums of weights.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        One id a row: only rows of one group are compared.
    most_levels : int, default=6
        The most bins to make where there are more than ten levels.
    sample_weight : array of shape (n,), optional
        Row weights ω; a pair counts ω_i · ω_j.

    Examples
    --------
    >>> from wellorder.evaluation.judging import swap_table
    >>> table = swap_table([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9])
    >>> table.levels, table.swapped[0][1], table.total[0][1]
    (('0', '1', '2'), 1.0, 2.0)
    """
    bins = y if isinstance(y, Bins) else bin_grades(y, most_levels)
    if isinstance(y, Grades):
        refuse_beside(y, groups=groups, sample_weight=sample_weight)
        return _binned_swaps(bins, scores, y)
    return _binned_swaps(bins, scores, Grades(bins.level, groups, weights=sample_weight))


def _binned_swaps(bins: Bins, scores: Any, rows: Grades) -> SwapTable:
    """Count pairs of rows in different bins, with the groups and weights that these rows have."""
    place = np.where(bins.level >= 0, bins.level, np.nan)
    above, below = (None, None) if rows.ends is None else rows.ends
    grades = Grades(place, rows.group, weights=rows.weight, weights_above=above, weights_below=below)
    rates = order_error_rates(grades, scores)
    total = _pair_weights(bins, grades)
    swapped = np.zeros_like(total)
    for (low, high), rate in rates.items():
        swapped[int(low), int(high)] = rate * total[int(low), int(high)]  # type: ignore[call-overload]
    if rows.weight is None and rows.ends is None:
        swapped = np.rint(swapped)  # pairs are whole: the rate was their number over the total
    return SwapTable(bins.labels, _rows(swapped), _rows(total))


def pool_swaps(tables: Iterable[SwapTable]) -> SwapTable:
    """Add tables up, level by level; a level that one of them lacks has no pair there.

    Tables whose bins differ, because each was binned on its own, are added up place by place, under the
    names of the first.

    Examples
    --------
    >>> from wellorder.evaluation.judging import pool_swaps, swap_table
    >>> parts = [swap_table([0, 1], [0.2, 0.1]), swap_table([1, 2], [0.1, 0.2])]
    >>> pooled = pool_swaps(parts)
    >>> pooled.levels, pooled.total[0][1], pooled.swapped[0][1], pooled.total[0][2]
    (('0', '1', '2'), 1.0, 1.0, 0.0)
    """
    parts = list(tables)
    if not parts:
        raise ValueError("there is no table of swaps to add up")
    levels = _merged([part.levels for part in parts])
    if levels is None:
        lengths = [len(part.levels) for part in parts]
        common = max(set(lengths), key=lambda length: (lengths.count(length), length))
        parts = [part for part in parts if len(part.levels) == common]
        levels = parts[0].levels
        parts = [replace(part, levels=levels) for part in parts]
    place = {level: number for number, level in enumerate(levels)}
    swapped, total = np.zeros((2, len(levels), len(levels)))
    for part in parts:
        at = np.array([place[level] for level in part.levels], dtype=int)
        swapped[np.ix_(at, at)] += np.asarray(part.swapped, dtype=float).reshape(len(at), len(at))
        total[np.ix_(at, at)] += np.asarray(part.total, dtype=float).reshape(len(at), len(at))
    return SwapTable(levels, _rows(swapped), _rows(total))


def _merged(orders: Sequence[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Find one order of all levels that agrees with every given one; None where there is none to be read."""
    distinct = list(dict.fromkeys(orders))
    if len(distinct) == 1:
        return distinct[0]
    levels = list(dict.fromkeys(level for order in distinct for level in order))
    if len(levels) > KEPT_LEVELS:
        return None
    try:
        return tuple(sorted(levels, key=lambda level: float(level.replace(",", ""))))
    except ValueError:
        below: dict[str, list[str]] = {level: [] for level in levels}
    for order in distinct:
        for low, high in pairwise(order):
            below[high].append(low)
    try:
        return tuple(TopologicalSorter(below).static_order())
    except CycleError:
        return None


def _pair_weights(bins: Bins, grades: Grades) -> Array:
    """Sum the weight of all pairs of each two levels (lower, higher), within groups."""
    n_levels = len(bins.labels)
    judged = bins.level >= 0
    group = grades.list_codes
    cell = group[judged] * n_levels + bins.level[judged]
    upper, lower = (
        np.bincount(cell, None if part is None else part[judged], minlength=grades.n_groups * n_levels)
        .reshape(grades.n_groups, n_levels)
        .astype(float)
        for part in end_weights(grades.weight, grades.ends)
    )
    return np.triu(lower.T @ upper, k=1)


def _rows(table: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())


def _names(levels: Sequence[Any]) -> tuple[str, ...]:
    """Write levels as short as keeps them apart: 5 rather than 5.0, 0.3 rather than 0.30000000000000004."""
    names: tuple[str, ...] = ()
    for digits in range(4, 18):
        names = tuple(_written(level, digits) for level in levels)
        if len(set(names)) == len(levels):
            break
    return names


def _range_names(ranges: Sequence[tuple[Any, Any]]) -> tuple[str, ...]:
    """Write ranges of levels, with as few digits as keep the ranges, and the ends of each, apart."""
    names: tuple[str, ...] = ()
    for digits in range(3, 18):
        ends = [(_written(low, digits), _written(high, digits)) for low, high in ranges]
        names = tuple(low if low == high else f"{low} to {high}" for low, high in ends)
        told_apart = all((a == b) == (low == high) for (a, b), (low, high) in zip(ends, ranges, strict=True))
        if told_apart and len(set(names)) == len(ranges):
            break
    return names


def _written(value: Any, digits: int) -> str:
    if isinstance(value, bool) or not isinstance(value, Real):
        return str(value)
    if isinstance(value, Integral) or (float(value).is_integer() and abs(float(value)) < 2**53):
        return f"{int(float(value)) if not isinstance(value, Integral) else int(value):,}"
    return f"{float(value):.{digits}g}"


# --------------------------------------------------------------------------------------------------
# Judgements.


@dataclass(frozen=True)
class Judgement:
    """What one model's scores on one test part are worth."""

    metrics: dict[str, float]
    swaps: SwapTable | None = None
    curve: Curve | None = None
    orders_nothing: bool = False
    """Whether all pairs that should be told apart have equal scores."""


def read_metrics(
    metrics: AnyMetric | Iterable[AnyMetric], supervision: Kind, *, probabilities: bool = False
) -> tuple[Metric, ...]:
    """Read what models are judged by, each metric once; an unknown name is an error that lists the known.

    Those of ``probabilities`` are refused by callers that judge scores alone.
    """
    given = [metrics] if isinstance(metrics, str | Definition) or callable(metrics) else list(metrics)
    if not given:
        raise ValueError("name at least one metric")
    found: dict[str, Metric] = {}
    for metric in (parse(each, supervision) for each in given):
        if found.setdefault(str(metric), metric) != metric:
            raise ValueError(f"two metrics are called '{metric}'; give one of them another name")
        if metric.definition.judges_probabilities and not probabilities:
            raise ValueError(f"{metric} judges probabilities, and scores are judged here; name a metric of scores")
    return tuple(found.values())


# --------------------------------------------------------------------------------------------------
# Probabilities: of grades, or of the three outcomes of comparisons.


@dataclass(frozen=True)
class Foretold:
    """What a model says of rows, or of comparisons: a probability of each level, or of each outcome."""

    probabilities: Floats
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that the metric needs as well: for grades, the ``levels`` that the columns stand for."""

    def judge(self, metric: Metric, order: Grades | Comparisons) -> float:
        """Evaluate them by a metric of probabilities."""
        if isinstance(order, Comparisons):
            return metric(order.outcome, self.probabilities, sample_weight=order.weight)
        return metric(order, self.probabilities, **self.options)


def wants_probabilities(metrics: Iterable[Metric]) -> Metric | None:
    """Return the first of the metrics that judges probabilities; None if all judge scores."""
    return next((metric for metric in metrics if metric.definition.judges_probabilities), None)


def foretell(model: Any, X: Any, order: Grades | Comparisons) -> Foretold:
    """Return the probabilities that a fitted model gives: of the rows of X, or of comparisons of them."""
    if isinstance(order, Grades):
        return Foretold(np.asarray(model.predict_proba(X)), {"levels": model.classes_})
    return Foretold(pair_probabilities(model, X, order.left, order.right))


def refuse_without_probabilities(model: Any, metrics: Iterable[Metric], of: Kind) -> None:
    """Refuse metrics of probabilities for a model that gives none."""
    metric = wants_probabilities(metrics)
    if metric is not None and not gives_probabilities(model, of):
        raise ValueError(
            f"{metric} judges probabilities, and {type(model).__name__} gives none; {WHO_GIVES_PROBABILITIES[of]}, or "
            "name a metric of scores"
        )


# --------------------------------------------------------------------------------------------------
# What is measured when nobody says.


def suits_gain(grades: Grades) -> bool:
    """Say whether NDCG is what such lists are judged by: several of them, of grades that are small whole numbers."""
    return grades.n_groups > 1 and has_gains(grades)


def has_gains(grades: Grades) -> bool:
    """Say whether NDCG is defined, and means something: grades are small whole numbers from 0 on."""
    if not all(isinstance(level, Real) for level in grades.levels):
        return False
    values = grades.level_values
    return bool(len(values) and values.min() >= 0 and values.max() <= 16 and (values == np.rint(values)).all())


def default_metrics(supervision: Grades | Comparisons) -> tuple[str, ...]:
    """Return what to measure when nobody says: swapped pairs, and what the data allow beside them.

    Where comparisons have ties, missing one is an error as well; methods that predict none are wrong on all of them.
    """
    if isinstance(supervision, Comparisons):
        ties = supervision.outcome == 0
        if ties.any() and not ties.all():
            return ("comparison_error", "swapped_pairs", "comparison_auc")
        return ("swapped_pairs",)
    if isinstance(supervision, Times):
        return ("concordance",)
    if supervision.ends is not None:
        return ("swapped_pairs",)
    if suits_gain(supervision):
        return ("swapped_pairs", "ndcg@10", "ndcg@1")
    return ("swapped_pairs", "kendall_tau")


# --------------------------------------------------------------------------------------------------
# Judgements of test parts.


def judge_grades(
    grades: Grades,
    scores: Floats,
    metrics: Sequence[AnyMetric],
    bins: Bins | None = None,
    foretold: Foretold | None = None,
) -> Judgement:
    """Judge scores of graded rows; a metric that is not defined there is NaN.

    ``bins`` are the rows' places in the grade × grade table, where the bins are those of a larger table; ``foretold``
    are what metrics of probabilities judge.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NaN says it
        values = {
            str(metric): metric.of_order(grades, scores) if chosen is None else chosen.judge(metric, grades)
            for metric in map(parse, metrics)
            for chosen in [_judged_foretold(metric, foretold)]
        }
        curve = ndcg_curve(grades.without_weights(), scores) if has_gains(grades) else None
        binned = bin_grades(grades) if bins is None else bins
        swaps = _binned_swaps(binned, scores, grades)
        return Judgement(values, swaps, curve, _are_all_tied(grades, scores))


def threshold_of(model: Any) -> float:
    """Return how far scores must be apart for a model to call two items different: 0 where it knows no ties."""
    inner = getattr(model, "ranker_", model)  # a model of a table holds one of rows
    found = getattr(inner, "threshold_", 0.0)
    return float(found) if isinstance(found, float | int | np.floating) else 0.0


def rule_of(model: Any, order: Grades | Comparisons) -> dict[str, float]:
    """Return what a model makes of differences of scores: nothing of graded rows.

    Of comparisons, its ``advantage`` is taken off the right score less the left one, and what is nearer to zero than
    its ``threshold`` is predicted to tie.
    """
    if isinstance(order, Grades):
        return {}
    return {"threshold": threshold_of(model), "advantage": advantage_of(model)}


def judge_comparisons(
    comparisons: Comparisons,
    scores: Floats,
    metrics: Sequence[AnyMetric],
    threshold: float = 0.0,
    advantage: float = 0.0,
    foretold: Foretold | None = None,
) -> Judgement:
    """Judge item scores against comparisons, given what a model makes of them; NaN where a metric is not defined.

    ``foretold`` are what metrics of probabilities judge.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NaN says it
        values = {
            str(metric): metric(comparisons, scores, threshold=threshold, advantage=advantage)
            if chosen is None
            else chosen.judge(metric, comparisons)
            for metric in (parse(each, "comparisons") for each in metrics)
            for chosen in [_judged_foretold(metric, foretold)]
        }
    with_ties = (comparisons.outcome == 0).any() and (comparisons.outcome != 0).any()
    differences = scores[comparisons.right] - scores[comparisons.left]
    curve = comparison_roc_curve(comparisons.outcome, differences - advantage) if with_ties else None
    decided = differences[comparisons.outcome != 0]
    return Judgement(values, None, curve, bool(len(decided)) and not decided.any())


def _judged_foretold(metric: Metric, foretold: Foretold | None) -> Foretold | None:
    """Return what a metric judges in place of scores; None where it judges these."""
    if not metric.definition.judges_probabilities:
        return None
    if foretold is None:
        raise ValueError(f"{metric} judges probabilities, and there are none")
    return foretold


def _are_all_tied(grades: Grades, scores: Floats) -> bool:
    """Say whether all rows of a list that are in a pair have the same score, in every list; O(n)."""
    rows = grades.pairs.active
    group = grades.list_codes[rows]
    lowest = np.full(grades.n_groups, np.inf)
    np.minimum.at(lowest, group, scores[rows])
    return bool(len(rows)) and bool((scores[rows] == lowest[group]).all())


def judge_model(model: Any, part: Sample, metrics: Sequence[Metric], scores: Floats | None = None) -> list[float]:
    """Evaluate a fitted model by each metric, given its scores if they are known; NaN where one is not defined."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is not defined: ")  # the caller counts them and says so once
        refuse_without_probabilities(model, metrics, part.order.kind)
        if part.holds_pairs:
            return [_of_pairs(metric, model, part, scores) for metric in metrics]
        scores, order = part.scores(model) if scores is None else scores, part.order
        foretold = foretell(model, part.X, order) if wants_probabilities(metrics) else None
        rule = rule_of(model, order)
        return [
            foretold.judge(metric, order)
            if foretold is not None and metric.definition.judges_probabilities
            else metric.of_order(order, scores, **rule)
            for metric in metrics
        ]


def _of_pairs(metric: Metric, model: Any, part: Sample, scores: Floats | None) -> float:
    """Judge a model of pairs: by its own error, which knows its threshold for ties, or by differences of scores.

    They are those of two items a pair, of which the left one has the score 0.
    """
    outcome = part.order.outcome if isinstance(part.order, Comparisons) else None
    if metric.definition.judges_probabilities:
        return Foretold(np.asarray(model.predict_proba(part.X))).judge(metric, part.order)
    if metric.name in ("swapped_pairs", "comparison_error"):
        return 1.0 - float(model.score(part.X, outcome))
    differences = part.scores(model) if scores is None else scores
    left = np.arange(len(differences))
    met = Comparisons(left, left + len(left), outcome)
    return metric(met, np.concatenate([np.zeros_like(differences), differences]))
