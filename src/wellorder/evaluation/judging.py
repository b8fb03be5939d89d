"""What the scores of a test part are worth: every metric, the grade × grade table, and a curve."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..metrics import METRICS, comparison_auc, parse
from ..order import Comparisons, Grades, direction_share
from ..suggest import suggest
from ..sweeps import Floats
from .curves import comparison_roc_curve, ndcg_curve
from .records import Curve, SwapTable
from .swaps import Bins, swap_table


@dataclass(frozen=True)
class Judgement:
    """What one model's scores on one test part are worth."""

    metrics: dict[str, float]
    swaps: SwapTable | None = None
    curve: Curve | None = None


def _swapped_comparisons(comparisons: Comparisons, scores: Floats) -> float:
    """Share of the decided comparisons that the scores put the wrong way round; a tie is an error."""
    pairs = comparisons.to_pairs(len(scores))
    return math.nan if pairs.n_pairs == 0 else 1.0 - direction_share(pairs, scores)


def _tie_auc(comparisons: Comparisons, scores: Floats) -> float:
    if not (comparisons.outcome == 0).any() or (comparisons.outcome == 0).all():
        return math.nan
    return comparison_auc(comparisons.outcome, scores[comparisons.right] - scores[comparisons.left])


COMPARISON_METRICS: dict[str, tuple[Callable[[Comparisons, Floats], float], bool]] = {
    "swapped_pairs": (_swapped_comparisons, False),
    "comparison_auc": (_tie_auc, True),
}
"""Metrics of item scores against comparisons, and whether a higher value is better. A new one is one line."""


def check_metric(name: str, supervision: str) -> str:
    """Return a metric's name as it prints; an unknown one is an error that lists the known."""
    if supervision == "grades":
        return str(parse(name))
    if name not in COMPARISON_METRICS:
        raise ValueError(f"there is no metric {name!r} of comparisons; {suggest(name, COMPARISON_METRICS)}")
    return name


def greater_is_better(name: str, supervision: str) -> bool:
    """Say whether a higher value of the metric is a better one."""
    return parse(name).greater_is_better if supervision == "grades" else COMPARISON_METRICS[name][1]


def suits_gain(grades: Grades) -> bool:
    """Say whether NDCG means something: several lists, and grades that are small whole numbers from 0 on."""
    if grades.n_groups < 2:
        return False
    try:
        values = np.array(grades.levels, dtype=float)
    except (TypeError, ValueError):
        return False
    return bool(len(values) and values.min() >= 0 and values.max() <= 16 and (values == np.rint(values)).all())


def default_metrics(supervision: Grades | Comparisons) -> tuple[str, ...]:
    """Return what to measure when nobody says: swapped pairs, and what the data allow beside them."""
    if isinstance(supervision, Comparisons):
        ties = supervision.outcome == 0
        return ("swapped_pairs", "comparison_auc") if ties.any() and not ties.all() else ("swapped_pairs",)
    if suits_gain(supervision):
        return ("swapped_pairs", "ndcg@10", "ndcg@1")
    return ("swapped_pairs", "kendall_tau")


def judge_grades(grades: Grades, scores: Floats, metrics: Sequence[str], bins: Bins | None = None) -> Judgement:
    """Judge scores of graded rows; a metric that is not defined there is NaN.

    ``bins`` are the rows' places in the grade × grade table, where the bins are those of a larger table.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NaN says it
        values = {name: _value(name, grades, scores) for name in metrics}
        curve = ndcg_curve(grades.without_weights(), scores) if suits_gain(grades) else None
        swaps = swap_table(grades, scores) if bins is None else swap_table(bins, scores, grades.group)
        return Judgement(values, swaps, curve)


def judge_comparisons(comparisons: Comparisons, scores: Floats, metrics: Sequence[str]) -> Judgement:
    """Judge item scores against comparisons; a metric that is not defined there is NaN."""
    values = {name: COMPARISON_METRICS[name][0](comparisons, scores) for name in metrics}
    with_ties = (comparisons.outcome == 0).any() and (comparisons.outcome != 0).any()
    differences = scores[comparisons.right] - scores[comparisons.left]
    return Judgement(values, None, comparison_roc_curve(comparisons.outcome, differences) if with_ties else None)


def _value(name: str, grades: Grades, scores: Floats) -> float:
    metric = parse(name)
    weighs = "sample_weight" in inspect.signature(METRICS[metric.name].function).parameters
    return float(metric(grades if weighs else grades.without_weights(), scores))  # places in a list have no weight
