"""A search inside a training part: what is learned from it, parameters included, is learned from nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .searching import search
from .size import Grid
from .tasks import TrainingPart, feasible_folds


def choose_params(
    estimator: Any,
    grid: Grid,
    part: TrainingPart,
    *,
    n_folds: int,
    seed: int,
    metric: str = "swapped_pairs",
    deadline: Callable[[], float | None] | None = None,
) -> dict[str, Any]:
    """Choose an estimator's parameters from a grid by folds of a training part.

    Nothing is chosen, with a warning, where the part cannot be cut so that there is always a pair to learn from:
    a method is better judged with its own defaults than not at all.
    """
    if not grid:
        return {}
    try:
        cv = list(feasible_folds(part.y, n_folds, 1, seed))
    except ValueError as error:
        warnings.warn(
            f"its parameters are the method's own, as there is too little to search in: {error}", stacklevel=2
        )
        return {}
    found = search(estimator, grid, part.X, part.y, metric=metric, cv=cv, deadline=deadline, refit=False)
    return dict(found.best_params)
