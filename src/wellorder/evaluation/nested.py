"""A search inside a training part: what is learned from it, parameters included, is learned from nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from ..order import Comparisons
from ..sweeps import Ints
from .parts import take
from .searching import OutOfTime, SearchResult, search
from .size import Grid
from .tasks import TrainingPart, feasible_folds

MOST_SEARCHED = 100_000
"""Rows, or comparisons, up to which a search looks at all of them; of more, it looks at a sample."""
SAMPLE = 20_000
"""Rows of such a sample: a few values a parameter, wide apart, are told apart by as many."""

_TELLING = 3
"""Fits to a sample after which it is known what they take: the first may wait for a compiler."""


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
    a method is better judged with its own defaults than not at all. Of a large part a sample is searched, with a
    warning; if by the times of its fits a fit to all rows would outlast the deadline, that is said now.
    """
    if not grid:
        return {}
    whole, part = part, sample_part(part, seed)
    if part is not whole:
        what = "comparisons" if isinstance(part.y, Comparisons) else "rows"
        warnings.warn(f"its parameters were searched on {len(part.y):,} of {len(whole.y):,} {what}", stacklevel=2)
    try:
        cv = list(feasible_folds(part.y, n_folds, 1, seed))
    except ValueError as error:
        warnings.warn(
            f"its parameters are the method's own, as there is too little to search in: {error}", stacklevel=2
        )
        return {}
    if part is whole or deadline is None:
        found = search(estimator, grid, part.X, part.y, metric=metric, cv=cv, deadline=deadline, refit=False)
    else:
        times_larger = len(whole.y) / float(np.mean([len(split.train) for split in cv]))
        outlook = _Outlook(deadline, times_larger)
        found = search(estimator, grid, part.X, part.y, metric=metric, cv=cv, deadline=outlook, refit=False)
        _refuse_if_too_long(found, times_larger, deadline())
    return dict(found.best_params)


class _Outlook:
    """A deadline that sets time aside for a fit to all rows: a search that can lead to none is not gone on with.

    It is asked before every fit; from one time to the next is about what a fit to the sample takes.
    """

    def __init__(self, deadline: Callable[[], float | None], times_larger: float) -> None:
        self._deadline, self._times_larger = deadline, times_larger
        self._asked: list[float] = []

    def __call__(self) -> float | None:
        left = self._deadline()
        self._asked.append(perf_counter())
        if left is None or len(self._asked) <= _TELLING:
            return left
        return left - self._times_larger * float(np.diff(self._asked).min())


def _refuse_if_too_long(found: SearchResult, times_larger: float, left: float | None) -> None:
    """Raise OutOfTime where a fit with the best parameters to so many times the rows would not be done in time."""
    point = next(each for each in found.table if each.params == found.best_params)
    seconds = times_larger * point.quickest
    if left is not None and seconds > left:
        raise OutOfTime(f"a fit to all rows would take some {seconds:.0f} s, and {left:.0f} s are left", found.table)


def sample_part(part: TrainingPart, seed: int) -> TrainingPart:
    """Return a part as it is, or a sample of a large one: rows, whole lists where there are many, or comparisons."""
    if len(part.y) <= MOST_SEARCHED:
        return part
    rng = np.random.default_rng(seed)
    if isinstance(part.y, Comparisons):
        return replace(part, y=take(part.y, _draw(len(part.y), rng)))
    rows = _draw(len(part.y), rng)
    if part.y.group is not None and part.y.n_groups >= len(part.y) // SAMPLE:
        order = rng.permutation(part.y.n_groups)
        sizes = np.bincount(part.y.group, minlength=part.y.n_groups)
        chosen = order[: 1 + int(np.searchsorted(np.cumsum(sizes[order]), SAMPLE))]
        lists = np.flatnonzero(np.isin(part.y.group, chosen))
        rows = lists if len(lists) <= 2 * SAMPLE else rows  # but for a list that is itself too long
    return replace(part, X=take(part.X, rows), y=take(part.y, rows))


def _draw(n: int, rng: np.random.Generator) -> Ints:
    return np.sort(rng.choice(n, SAMPLE, replace=False))
