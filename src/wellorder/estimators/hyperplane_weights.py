"""The weights of several rankers: given by pair of grades, or learned on the training lists."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np

from ..aggregation import borda
from ..aggregation.learning import learn_weights
from ..aggregation.table import read_ranker_weights
from ..metrics import parse
from ..order import Grades
from ..sweeps import Floats, Ints
from .base_rankers import score_table

Pair: TypeAlias = tuple[Hashable, Hashable]


def read_weights(weights: Any, pairs: list[Pair]) -> Floats:
    """Read weights that were given: by pair of grades, or one a ranker."""
    if not isinstance(weights, Mapping):
        if np.shape(weights) != (len(pairs),):
            raise ValueError(f"weights have shape {np.shape(weights)}; give one for each of {pairs}, in this order")
        return read_ranker_weights(weights, len(pairs))
    unknown = [pair for pair in weights if pair not in pairs]
    if unknown:
        raise ValueError(f"weights name {unknown[0]!r}, but the rankers are for {pairs}: (lower, higher)")
    missing = [pair for pair in pairs if pair not in weights]
    if missing:
        raise ValueError(f"weights have nothing for {missing[0]!r}; give one for each of {pairs}")
    return read_ranker_weights([weights[pair] for pair in pairs], len(pairs))


def best_weights(rankers: list[Any], X: Any, grades: Grades, name: str) -> Floats:
    """Learn the weights of Borda counts that are best for a metric on the lists that were trained on.

    Rows of zero weight stand in no list.
    """
    kept = np.arange(len(grades)) if grades.weight is None else np.flatnonzero(grades.weight > 0)
    judged = grades.without_weights() if len(kept) == len(grades) else _some(grades, kept)
    table = score_table(rankers, X if len(kept) == len(grades) else X[kept], judged.group)
    points = np.column_stack([borda(column[:, None], judged.group) for column in table.T])
    metric = parse(name)
    sign = 1.0 if metric.greater_is_better else -1.0
    if np.isnan(metric(judged, points.sum(axis=1))):
        raise ValueError(f"{metric} is not defined on the training lists; name another metric, or give the weights")
    return learn_weights(points, lambda scores: sign * metric(judged, scores))


def _some(grades: Grades, rows: Ints) -> Grades:
    """Return some of the rows, without weights."""
    labels = np.empty(len(grades.levels) + 1, dtype=object)  # the last is None: unjudged
    labels[:-1] = grades.levels
    return Grades(
        labels[grades.level[rows]], None if grades.group is None else grades.group[rows], levels=grades.levels
    )
