"""What the scores of a test part are worth: every metric, the grade × grade table, and a curve."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..metrics import COMPARISON_METRICS, METRICS, Metric, comparison_brier, comparison_log_loss, parse
from ..order import Comparisons, Grades
from ..suggest import suggest
from ..sweeps import Floats
from .curves import comparison_roc_curve, ndcg_curve
from .records import Curve, SwapTable
from .swaps import Bins, bin_grades, swap_table


@dataclass(frozen=True)
class Judgement:
    """What one model's scores on one test part are worth."""

    metrics: dict[str, float]
    swaps: SwapTable | None = None
    curve: Curve | None = None
    orders_nothing: bool = False
    """Whether no two rows that should be told apart have different scores."""


PROBABILITY_METRICS: dict[str, Callable[..., float]] = {
    "comparison_brier": comparison_brier,
    "comparison_log_loss": comparison_log_loss,
}
"""Metrics of probabilities against outcomes: functions of (outcomes, probabilities, weights)."""


def check_metric(name: str, supervision: str) -> str:
    """Return a metric's name as it prints; an unknown one is an error that lists the known."""
    if supervision == "grades":
        return str(parse(name))
    if name in PROBABILITY_METRICS:
        raise ValueError(
            f"{name} judges probabilities, which not every method gives; fit one that does, such as compare-svm, and "
            "evaluate it"
        )
    if name not in COMPARISON_METRICS:
        raise ValueError(f"there is no metric {name!r} of comparisons; {suggest(name, COMPARISON_METRICS)}")
    return name


def greater_is_better(name: str, supervision: str) -> bool:
    """Say whether a higher value of the metric is a better one."""
    return parse(name).greater_is_better if supervision == "grades" else COMPARISON_METRICS[name].greater_is_better


def suits_gain(grades: Grades) -> bool:
    """Say whether NDCG is what such lists are judged by: several of them, of grades that are small whole numbers."""
    return grades.n_groups > 1 and has_gains(grades)


def has_gains(grades: Grades) -> bool:
    """Say whether NDCG is defined, and means something: grades are small whole numbers from 0 on."""
    try:
        values = np.array(grades.levels, dtype=float)
    except (TypeError, ValueError):
        return False
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
    if suits_gain(supervision):
        return ("swapped_pairs", "ndcg@10", "ndcg@1")
    return ("swapped_pairs", "kendall_tau")


def judge_grades(grades: Grades, scores: Floats, metrics: Sequence[str], bins: Bins | None = None) -> Judgement:
    """Judge scores of graded rows; a metric that is not defined there is NaN.

    ``bins`` are the rows' places in the grade × grade table, where the bins are those of a larger table.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NaN says it
        values = {name: value_of(parse(name), grades, scores) for name in metrics}
        curve = ndcg_curve(grades.without_weights(), scores) if has_gains(grades) else None
        binned = bin_grades(grades) if bins is None else bins
        swaps = swap_table(binned, scores, grades.group, sample_weight=grades.weight)
        return Judgement(values, swaps, curve, _are_all_tied(grades, scores))


def threshold_of(model: Any) -> float:
    """Return how far scores must be apart for a model to call two items different: 0 where it knows no ties."""
    inner = getattr(model, "ranker_", model)  # a model of a table holds one of rows
    found = getattr(inner, "threshold_", 0.0)
    return float(found) if isinstance(found, float | int | np.floating) else 0.0


def judge_comparisons(
    comparisons: Comparisons, scores: Floats, metrics: Sequence[str], threshold: float = 0.0, advantage: float = 0.0
) -> Judgement:
    """Judge item scores against comparisons, given what a model makes of them; NaN where a metric is not defined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NaN says it
        values = {
            name: COMPARISON_METRICS[name].function(comparisons, scores, threshold, advantage) for name in metrics
        }
    with_ties = (comparisons.outcome == 0).any() and (comparisons.outcome != 0).any()
    differences = scores[comparisons.right] - scores[comparisons.left]
    curve = comparison_roc_curve(comparisons.outcome, differences - advantage) if with_ties else None
    decided = differences[comparisons.outcome != 0]
    return Judgement(values, None, curve, bool(len(decided)) and not decided.any())


def _are_all_tied(grades: Grades, scores: Floats) -> bool:
    """Say whether all rows of a list that are in a pair have the same score, in every list; O(n)."""
    rows = grades.pairs.active
    group = np.zeros(len(rows), np.int32) if grades.group is None else grades.group[rows]
    lowest = np.full(grades.n_groups, np.inf)
    np.minimum.at(lowest, group, scores[rows])
    return bool(len(rows)) and bool((scores[rows] == lowest[group]).all())


def value_of(metric: Metric, grades: Grades, scores: Floats) -> float:
    """Evaluate a metric; places in a list have no row weights, so metrics of lists go without them."""
    weighs = "sample_weight" in inspect.signature(METRICS[metric.name].function).parameters
    return float(metric(grades if weighs else grades.without_weights(), scores))
