"""Search: the best parameters of a model by cross-validation, with every kernel matrix computed once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from .. import deadline as deadlines
from ..metrics import Metric
from ..sweeps import Floats
from .families import Family, Household, find_households
from .parts import Data, Measure, Part, fit, fit_parameters, judge, read_data, read_measures
from .significance import known_mean
from .splits import Split, read_splits

_SAME = 12
"""Means that agree to this many decimals are tied."""


@dataclass(frozen=True)
class GridPoint:
    """One combination of parameters, and how it did."""

    params: dict[str, Any]
    mean: float
    """Over the folds that have a value; NaN where none has."""
    values: tuple[float, ...]
    """One a fold; NaN where the metric is not defined, or where time was up."""
    seconds: float
    """For all folds together, without the kernel matrices, which many points share."""
    quickest: float = 0.0
    """Seconds of the fold that took least: the first fit of a process may have waited for a compiler."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found."""

    best_params: dict[str, Any]
    best_estimator: Any
    """Fitted on all rows with the best parameters; None with ``refit=False``."""
    best_score: float
    """The best mean of the metric, in its own direction: low for swapped pairs, high for NDCG."""
    metric: str
    greater_is_better: bool
    table: tuple[GridPoint, ...]
    """Every point of the grid, in the grid's order."""
    n_skipped: int
    """Fits whose fold had no value, and which are in no mean."""
    seconds: float
    refit_seconds: float

    def __str__(self) -> str:
        lines = [f"{self.metric} ({'higher' if self.greater_is_better else 'lower'} is better)"]
        for point in self.table:
            mark = "*" if point.params == self.best_params else " "
            shown = ", ".join(f"{name}={value}" for name, value in point.params.items()) or "as given"
            lines.append(f"{mark} {point.mean:.4f}  {shown}")
        return "\n".join(lines)


class OutOfTime(deadlines.OutOfTime):
    """Time was up before a search was done; ``table`` holds what was done by then."""

    def __init__(self, message: str, table: tuple[GridPoint, ...] = ()) -> None:
        super().__init__(message)
        self.table = table


def search(
    estimator: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    metric: str | Metric = "swapped_pairs",
    cv: Any = 5,
    seed: int = 0,
    deadline: Callable[[], float | None] | None = None,
    refit: bool = True,
) -> SearchResult:
    """Find the best parameters on a grid by cross-validation, and fit the model with them.

    Like scikit-learn's ``GridSearchCV``, with groups that reach the splits, ``fit`` and the metric (metadata
    routing is on inside). For this library's kernel models the kernel matrix is computed once for each
    setting and cut up for the folds, and C rises from warm start to warm start; up to the model's ``tol`` the
    results are those of single fits.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit`` and ``decision_function`` or ``predict``: a ranker, a pipeline, a regressor.
        It is not changed.
    grid : dict of lists, or list of such dicts
        Parameter names and the values to try, as in scikit-learn.
    X : array, sparse matrix or data frame of shape (n, d); or Pairs
        With a precomputed kernel, the matrix of shape (n, n).
    y : array of shape (n,), Grades, or Comparisons
        With ``Comparisons``, X holds the items and the comparisons are split.
    groups : array of shape (n,), optional
        One id a row: whole groups stay together, and only rows of one group are compared.
    sample_weight : array of shape (n,), optional
        Row weights for ``fit``. Judgement is without them; to weigh that too, give ``Grades`` with weights.
    metric : str, default="swapped_pairs"
        Any name that ``wellorder.metrics.parse`` reads; of comparisons, one of
        ``wellorder.metrics.COMPARISON_METRICS``. Of pairs, ``swapped_pairs`` and ``comparison_error`` both stand for
        1 − the model's own score.
    cv : int, splitter or splits, default=5
        Number of folds (see ``wellorder.evaluation.splits``), a scikit-learn splitter, or (train, test) rows.
    seed : int, default=0
        Of the folds.
    deadline : callable, optional
        Returns the seconds left (None: no end); asked before every fit.
    refit : bool, default=True
        Whether to fit the model with the best parameters on all rows.

    Returns
    -------
    SearchResult
        Tied points: the smallest C wins, then the first in the grid. Folds where the metric is not defined
        are skipped, with a warning.

    Raises
    ------
    OutOfTime
        When the deadline passes; it carries what was done.

    Notes
    -----
    ``gamma="scale"`` stands for its value on all rows given, in every fold: the one that the last fit uses.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.evaluation import search
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((90, 2))
    >>> found = search(wo.RankSVM(kernel="rbf"), {"C": [0.1, 1, 10], "gamma": [0.1, 1]}, X, np.round(X[:, 0] ** 2))
    >>> found.best_params
    {'C': 10, 'gamma': 0.1}
    >>> found.best_estimator.predict(X[:5]).shape
    (5,)
    """
    began = perf_counter()
    with sklearn.config_context(enable_metadata_routing=True):
        data = read_data(estimator, X, y, groups, sample_weight)
        (measure,) = read_measures(metric, data.kind)
        points = list(ParameterGrid(grid))
        splits = read_splits(data, cv, seed=seed)
        run = _Run(estimator, data, points, splits, measure, deadline)
        run.all_points()
        best = run.best()
        began_refit = perf_counter()
        best_estimator = run.refit(best) if refit else None
    return SearchResult(
        best_params=points[best],
        best_estimator=best_estimator,
        best_score=run.table()[best].mean,
        metric=measure.name,
        greater_is_better=measure.greater_is_better,
        table=run.table(),
        n_skipped=run.n_skipped,
        seconds=perf_counter() - began,
        refit_seconds=perf_counter() - began_refit if refit else 0.0,
    )


class _Cuts:
    """The two parts of one split, cut out when they are first needed, in each precision of a kernel that is."""

    def __init__(self, data: Data, split: Split) -> None:
        self._data, self._split = data, split
        self._parts: dict[Any, tuple[Part, Part]] = {}
        self.n_rows = data.n_fitted(split.train)

    def parts(self, dtype: Any) -> tuple[Part, Part]:
        """Return the training and the test part; None: as they are."""
        if dtype not in self._parts:
            training = self._data.training(self._split.train)
            testing = self._data.testing(self._split.test, self._split.train)
            if dtype is not None:
                training, testing = (replace(part, X=part.X.astype(dtype, copy=False)) for part in (training, testing))
            self._parts[dtype] = training, testing
        return self._parts[dtype]


class _Run:
    """A search under way: what is done of it so far."""

    def __init__(
        self,
        estimator: Any,
        data: Data,
        points: list[dict[str, Any]],
        splits: list[Split],
        measure: Measure,
        deadline: Callable[[], float | None] | None,
    ) -> None:
        self._estimator, self._data, self._points, self._splits = estimator, data, points, splits
        self._measure, self._deadline = measure, deadline
        self._values: Floats = np.full((len(points), len(splits)), np.nan)
        self._done = np.zeros(self._values.shape, dtype=bool)
        self._seconds: Floats = np.zeros(self._values.shape)

    @property
    def n_skipped(self) -> int:
        """Count the fits that had no value."""
        return int(np.count_nonzero(self._done & np.isnan(self._values)))

    def all_points(self) -> None:
        """Evaluate the whole grid, kernel by kernel, fold by fold."""
        for household in find_households(self._estimator, self._points, self._data):
            data = self._data
            if household.kernel is not None:
                self._refuse_late()
                n_rows = min(data.n_fitted(split.train) for split in self._splits)
                data = replace(data, X=household.matrix(data, n_rows), pairwise=True)
            for fold, split in enumerate(self._splits):
                cuts = _Cuts(data, split)
                for family in household.families:
                    self._one_family(household, family, fold, cuts)

    def _one_family(self, household: Household, family: Family, fold: int, cuts: _Cuts) -> None:
        """Evaluate the points of one family on one fold."""
        model = family.make()
        wanted = fit_parameters(model, self._data)
        for place, number in enumerate(family.numbers):
            self._refuse_late()
            began = perf_counter()
            if family.Cs is not None:
                model.set_params(C=family.Cs[place])
            dtype = None if household.kernel is None else household.precision(family, place, cuts.n_rows)
            training, testing = cuts.parts(dtype)
            fit(model, training, wanted)
            self._values[number, fold] = judge(model, testing, (self._measure,))[0]
            self._done[number, fold] = True
            self._seconds[number, fold] = perf_counter() - began

    def _refuse_late(self) -> None:
        left = None if self._deadline is None else self._deadline()
        if left is not None and left <= 0:
            done = int(np.count_nonzero(self._done))
            raise OutOfTime(f"time was up after {done} of {self._done.size} fits of the search", self.table())

    def table(self) -> tuple[GridPoint, ...]:
        """Return what is known of every point."""
        return tuple(
            GridPoint(
                dict(params), known_mean(values), tuple(values.tolist()), float(seconds.sum()), float(seconds.min())
            )
            for params, values, seconds in zip(self._points, self._values, self._seconds, strict=True)
        )

    def best(self) -> int:
        """Choose a point: the best mean, then the smallest C, then the first."""
        table, name = self.table(), self._measure.name
        if self.n_skipped:
            folds = np.flatnonzero((self._done & np.isnan(self._values)).any(axis=0)).tolist()
            warnings.warn(
                f"{name} is not defined in the test part of fold {', '.join(map(str, folds))}; "
                f"{self.n_skipped} of {self._done.size} fits are left out of the means",
                stacklevel=3,
            )
        sign = -1.0 if self._measure.greater_is_better else 1.0
        defined = [number for number, point in enumerate(table) if not np.isnan(point.mean)]
        if not defined:
            raise ValueError(f"{name} is not defined in any fold: no test part has a pair; ask for fewer folds")
        return min(defined, key=lambda k: (round(sign * table[k].mean, _SAME), _complexity(table[k].params), k))

    def refit(self, best: int) -> Any:
        """Fit the user's own estimator, with the best parameters, on all rows."""
        self._refuse_late()
        model = clone(self._estimator).set_params(**clone(self._points[best], safe=False))
        fit(model, self._data.whole, fit_parameters(model, self._data))
        return model


def _complexity(params: Mapping[str, Any]) -> float:
    """Return C, the weight of the loss against simplicity, of the model or of a pipeline's step."""
    return next((float(value) for name, value in params.items() if name == "C" or name.endswith("__C")), 0.0)
