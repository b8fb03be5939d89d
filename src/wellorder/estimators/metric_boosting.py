"""What boosting is given to do where a metric of ranked lists says how pairs count."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..losses import PlaceRisk
from ..metrics import Metric, parse
from ..order import Comparisons, Full, Grades, OrderSum
from ..solvers import Validation
from ..sweeps import Floats, HeldLoss
from .base import read_order, refuse_no_pairs
from .boosting import BoostRows, BoostTask, keep_apart

HELD_LOSSES: dict[str, HeldLoss] = {
    "pairs": "exponential",
    "logistic": "logistic",
    "squared_hinge": "squared_hinge",
}
"""What the losses that can be weighed by a metric are called."""


class MetricSettings(Protocol):
    """The parameters that decide how pairs count."""

    loss: Any
    metric: Any
    order: Any
    levels: Any
    consistent: Any
    stopping: Any
    balance: Any


def read_metric(settings: MetricSettings) -> Metric:
    """Read the metric; refuse options that would say otherwise what pairs count."""
    metric = parse(settings.metric)
    if not isinstance(settings.loss, str) or settings.loss not in HELD_LOSSES:
        raise ValueError(
            f"metric={str(metric)!r} takes loss {', '.join(map(repr, HELD_LOSSES))}, not {settings.loss!r}"
        )
    if not isinstance(settings.order, str) or settings.order != "full":
        raise ValueError(
            f"metric={str(metric)!r} says what a swap costs, and so does order={settings.order!r}: leave one out"
        )
    if settings.consistent != "auto" and settings.consistent:
        raise ValueError("consistent=True is for costs that stay what they are; leave it 'auto', or metric out")
    if settings.balance == "pairs":
        raise ValueError(f"balance='pairs': with metric={str(metric)!r} every list counts the same; leave it 'auto'")
    if settings.stopping != "risk":
        raise ValueError(
            f"stopping={settings.stopping!r}: with metric={str(metric)!r} rounds are counted by this metric"
        )
    return metric


def metric_task(
    settings: MetricSettings, rows: BoostRows, beside: BoostRows | None, share: float, rng: np.random.Generator
) -> BoostTask:
    """State the risk of a metric's pairs; ``share`` of the lists is kept apart, if it is not zero."""
    metric = read_metric(settings)
    grades = _grades(metric, settings, rows, settings.levels)
    refuse_no_pairs(grades, grades.pairs.n_pairs)
    X, held_X, held = rows.X, None, None
    if beside is not None:
        held_X, held = beside.X, _grades(metric, settings, beside, settings.levels)
    training = grades
    if beside is None and share > 0:
        kept, apart = keep_apart(grades.level, grades.group, share, rng)
        X, held_X, training, held = X[kept], X[apart], grades.take(kept), grades.take(apart)
    # what a level gains is a matter of the metric and all levels there are, not of those that were kept
    risk = PlaceRisk(HELD_LOSSES[settings.loss], training, metric.swap_terms(training))
    if not risk.n_lists:
        raise ValueError(
            f"there is nothing to learn from: in none of the {training.n_groups:,} lists does a swap of two rows "
            f"change {metric}; are their rows all alike, or fewer than the cut-off?"
        )
    if held is None:
        return BoostTask(X, risk, None, n_groups=grades.n_groups)
    if not np.isfinite(_value(metric, held, np.zeros(len(held)))):
        raise ValueError(f"{metric} is not defined on the validation rows; keep more of them apart, or pass others")
    judged = held
    validation = Validation(held_X, lambda scores, fitted: 1.0 - _value(metric, judged, scores))
    return BoostTask(X, risk, validation, n_groups=grades.n_groups)


def _value(metric: Metric, grades: Grades, scores: Floats) -> float:
    return metric.of_order(grades, scores)


def _grades(metric: Metric, settings: MetricSettings, rows: BoostRows, levels: Any) -> Grades:
    """Read grades without weights, and refuse anything else."""
    if isinstance(rows.y, Comparisons | OrderSum):
        raise ValueError(f"metric={str(metric)!r} takes grades, one a row, not {type(rows.y).__name__}; leave it out")
    order = read_order(
        rows.y, rows.groups, rows.weight, "full", None if isinstance(rows.y, Grades) else levels, "pairs"
    )
    assert isinstance(order, Grades)
    if not isinstance(order.graph.structure, Full):
        raise ValueError(f"metric={str(metric)!r} says what a swap costs, and so does the order of y; leave one out")
    weight = order.weight
    if weight is not None and len(np.unique(weight)) > 1:
        raise ValueError(f"{metric} looks at places in a list and has no use for row weights; leave sample_weight out")
    order.to_pairs(rows.X.shape[0])  # as many grades as rows
    return order.without_weights()
