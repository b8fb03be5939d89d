"""What a model is judged by, and the judgement."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from ..metrics import COMPARISON_METRICS, Metric, comparison_auc, parse
from ..order import Comparisons, Grades
from ..samples import Given, Sample
from ..scoring import advantage_of
from .judging import check_metric, threshold_of, value_of


@dataclass(frozen=True)
class Measure:
    """What a model is judged by, under its name in tables."""

    name: str
    greater_is_better: bool
    metric: Metric | None = None
    """Of scores against grades; None on comparisons and pairs."""


def read_measures(metrics: Any, order: Grades | Comparisons) -> tuple[Measure, ...]:
    """Read metrics by name: those of grades, or those of comparisons."""
    named = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not named:
        raise ValueError("name at least one metric")
    if isinstance(order, Grades):
        return tuple(Measure(str(metric), metric.greater_is_better, metric) for metric in map(parse, named))
    checked = [check_metric(str(name), "comparisons") for name in named]
    return tuple(Measure(name, COMPARISON_METRICS[name].greater_is_better) for name in checked)


def judge(model: Any, part: Sample, measures: tuple[Measure, ...]) -> list[float]:
    """Evaluate a fitted model by each measure; NaN, without a word, where one is not defined."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is not defined: ")  # the caller counts them and says so once
        if part.holds_pairs:
            return [_of_pairs(measure, model, part) for measure in measures]
        scores, order = part.scores(model), part.order
        if isinstance(order, Grades):
            return [value_of(measure.metric, order, scores) for measure in measures if measure.metric is not None]
        rule = threshold_of(model), advantage_of(model)
        return [COMPARISON_METRICS[measure.name].function(order, scores, *rule) for measure in measures]


def _of_pairs(measure: Measure, model: Any, part: Sample) -> float:
    """Judge a model of pairs: its own error, which knows its threshold for ties, or the area under its curve."""
    assert isinstance(part.target, Given)
    if measure.name != "comparison_auc":
        return 1.0 - float(model.score(part.X, part.target.y))
    return comparison_auc(part.target.y, part.scores(model))
