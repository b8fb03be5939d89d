"""Search: the best parameters of a model by cross-validation, with every kernel matrix computed once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_array

from .. import deadline as deadlines
from ..estimators import KernelModel
from ..methods import Grid
from ..metrics import AnyMetric, Metric
from ..samples import Sample, read_sample
from ..spaces import Kernel, refuse_if_too_large, resolve_gamma, use_single
from ..sweeps import Floats, Ints
from .judging import judge_model, read_metrics, refuse_without_probabilities
from .significance import known_mean
from .splits import Split, feasible_folds, read_splits, time_cuts

# --------------------------------------------------------------------------------------------------
# The order of a grid: points that share a kernel matrix together, and of these, points that differ in C alone.


@dataclass(frozen=True)
class WarmPath:
    """Grid points that differ in C alone: each fit starts from the one before."""

    estimator: Any
    settings: Mapping[str, Any]
    """What the points have in common."""
    numbers: tuple[int, ...]
    """The points, with C rising."""
    Cs: tuple[Any, ...] | None
    """Their values of C: one model goes through them all, each fit starting from the last. None: a single point."""

    def make(self) -> Any:
        """Return the model, unfitted."""
        return clone(self.estimator).set_params(**clone(dict(self.settings), safe=False))

    def single(self, place: int, n_rows: int) -> bool:
        """Say whether a fit on so many rows would keep a Gaussian's matrix in float32."""
        known = {**self.estimator.get_params(deep=False), **self.settings}
        C, tol = known.get("C") if self.Cs is None else self.Cs[place], known.get("tol")
        return isinstance(C, Real) and isinstance(tol, Real) and use_single(n_rows, float(C), float(tol))


@dataclass(frozen=True)
class SharedKernel:
    """The paths that are fitted on one kernel matrix."""

    kernel: Kernel | None
    """None where there is no matrix to share: paths are then fitted on the rows themselves."""
    paths: tuple[WarmPath, ...]

    def precision(self, path: WarmPath, place: int, n_rows: int) -> Any:
        """Return the dtype of the matrix for one fit: the one that the model would choose itself."""
        single = self.kernel is not None and self.kernel.name == "rbf" and path.single(place, n_rows)
        return np.float32 if single else np.float64

    def matrix(self, sample: Sample, n_rows: int) -> Floats:
        """Compute the kernel between all rows, unless it does not fit into memory beside a fit on ``n_rows``."""
        assert self.kernel is not None
        X = _CheckedRows(sample).checked()
        precisions = [self.precision(each, place, n_rows) for each in self.paths for place in range(len(each.numbers))]
        dtype = np.dtype(np.float32 if all(each is np.float32 for each in precisions) else np.float64)
        refuse_if_too_large(n_rows, dtype.itemsize, beside=dtype.itemsize * X.shape[0] ** 2)
        return self.kernel.matrix(X, X, dtype=dtype)


def share_kernels(estimator: Any, points: list[dict[str, Any]], sample: Sample) -> list[SharedKernel]:
    """Gather grid points into paths, and paths under the kernel that they share, in the order of the grid.

    Only this library's kernel models are gathered; of any other model, every grid point is on its own.
    """
    if not isinstance(estimator, KernelModel):
        numbers = _own_first(estimator, points)
        return [SharedKernel(None, tuple(WarmPath(estimator, points[k], (k,), None) for k in numbers))]
    kernels: dict[Hashable, Kernel | None] = {}
    gathered: dict[Hashable, dict[Hashable, list[int]]] = {}
    rows = _CheckedRows(sample)
    for number, params in enumerate(points):
        kernel = _shared_kernel(estimator, params, rows)
        name = None if kernel is None else _key(kernel)
        kernels[name] = kernel
        # the grid repeats its values as the same objects; equal ones that are not would only share less
        alike = tuple((param, id(value)) for param, value in params.items() if param != "C")
        gathered.setdefault(name, {}).setdefault((alike, "C" in params), []).append(number)
    return [
        SharedKernel(
            kernels[name], tuple(_path(estimator, points, members, kernels[name]) for members in alike.values())
        )
        for name, alike in gathered.items()
    ]


def _own_first(estimator: Any, points: list[dict[str, Any]]) -> list[int]:
    """Order grid points: those nearest to the estimator's own parameters first, the others spread over the grid.

    So a search that is cut short has tried what is most likely to do.
    """
    own = estimator.get_params()
    differ = [sum(repr(own.get(name)) != repr(value) for name, value in point.items()) for point in points]
    return sorted(range(len(points)), key=lambda k: (differ[k], k * _GOLDEN % 1.0))


_GOLDEN = 0.6180339887498949


class _CheckedRows:
    """The rows of X as an array, checked once they are needed."""

    def __init__(self, sample: Sample) -> None:
        self.hold_pairs = sample.holds_pairs
        self._X = sample.X
        self._checked: Any = None

    def checked(self) -> Any:
        if self._checked is None:
            self._checked = check_array(self._X, accept_sparse="csr", dtype=(np.float64, np.float32))
        return self._checked


def _shared_kernel(estimator: KernelModel, params: Mapping[str, Any], rows: _CheckedRows) -> Kernel | None:
    """Return the kernel of a grid point, its width resolved, if a precomputed matrix can stand for it."""
    model = clone(estimator).set_params(**params)
    model._check_kernel()
    kernel = params.get("kernel", estimator.kernel)  # the user's own object, where it is a function
    changes_rows = model.n_components is not None or bool(getattr(model, "scale", False))
    if changes_rows or rows.hold_pairs or (not callable(kernel) and kernel not in ("rbf", "poly")):
        return None
    if callable(kernel):
        return Kernel(kernel)
    gamma = resolve_gamma(model.gamma, rows.checked())
    return Kernel("rbf", gamma) if kernel == "rbf" else Kernel("poly", gamma, model.degree, model.coef0)


def _key(kernel: Kernel) -> Hashable:
    """Tell kernels apart; functions need not be hashable."""
    return (id(kernel.name) if callable(kernel.name) else kernel.name, kernel.gamma, kernel.degree, kernel.coef0)


def _path(estimator: KernelModel, points: list[dict[str, Any]], members: list[int], kernel: Kernel | None) -> WarmPath:
    settings = dict(points[members[0]])
    if kernel is not None:
        settings["kernel"] = "precomputed"
    if "C" not in settings:
        return WarmPath(estimator, settings, tuple(members), None)
    del settings["C"]
    if "warm_start" in estimator.get_params(deep=False):
        settings["warm_start"] = True
    rising = sorted(members, key=lambda number: points[number]["C"])
    return WarmPath(estimator, settings, tuple(rising), tuple(points[number]["C"] for number in rising))


# --------------------------------------------------------------------------------------------------
# The search.


_FAIR = 3.0
"""A fit of a search may take this many times its equal share of the time left, as those before it may have saved
some."""

_FOR_FIRST = 0.3
"""The share of the time left that the first fit may take."""

_WHOLE = 0.7
"""No further fit is begun with less time left than this share of what the longest fit took."""

_SAME = 12
"""Means that agree to this many decimals are tied."""


@dataclass(frozen=True)
class GridPoint:
    """One combination of parameters, and how it did."""

    params: dict[str, Any]
    mean: float
    """The mean over the folds that have a value; NaN if none has."""
    values: tuple[float, ...]
    """One value per fold; NaN where the metric is not defined, or where time was up."""
    seconds: float
    """Seconds for all folds together, without the kernel matrices, which many points share."""
    quickest: float = 0.0
    """Seconds of the quickest fold: the first fit of a process may have waited for a compiler."""


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
    """The number of fits that had no value on their fold, and so are in no mean."""
    seconds: float
    refit_seconds: float

    def __str__(self) -> str:
        lines = [f"{self.metric} ({'higher' if self.greater_is_better else 'lower'} is better)"]
        for point in self.table:
            mark = "*" if point.params == self.best_params else " "
            shown = ", ".join(f"{name}={value}" for name, value in point.params.items()) or "as given"
            lines.append(f"{mark} {point.mean:.4f}  {shown}")
        return "\n".join(lines)


class OutOfTime(deadlines.TimeIsUp):
    """Time was up before a search was done; ``table`` holds what was done by then, ``best_params`` the best of it."""

    def __init__(
        self, message: str, table: tuple[GridPoint, ...] = (), best_params: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.table = table
        self.best_params = best_params


def search(
    estimator: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    metric: AnyMetric = "swapped_pairs",
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
    metric : str, Metric or Definition, default="swapped_pairs"
        Any name that ``wellorder.metrics.parse`` reads; of comparisons, one of
        ``wellorder.metrics.COMPARISON_METRICS``; one of probabilities (``rps``, ``log_loss``), if the model gives any.
        Of pairs, ``swapped_pairs`` and ``comparison_error`` both stand for 1 − the model's own score. A function of
        your own comes through ``wellorder.metrics.make``.
    cv : int, splitter or splits, default=5
        Number of folds (see ``wellorder.evaluation.splits``), a scikit-learn splitter, or (train, test) rows.
    seed : int, default=0
        Of the folds.
    deadline : callable, optional
        Returns the seconds left (None: no end); asked before every fit, which ends with the best point it has where it
        would take more than its part of them.
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
        sample = read_sample(estimator, X, y, groups, sample_weight)
        (measure,) = read_metrics(metric, sample.order.kind, probabilities=True)
        refuse_without_probabilities(estimator, (measure,), sample.order.kind)
        points = list(ParameterGrid(grid))
        splits = read_splits(sample, cv, seed=seed)
        run = _SearchUnderWay(estimator, sample, points, splits, measure, deadline)
        run.all_points()
        best = run.best()
        began_refit = perf_counter()
        best_estimator = run.refit(best) if refit else None
    return SearchResult(
        best_params=points[best],
        best_estimator=best_estimator,
        best_score=run.table()[best].mean,
        metric=str(measure),
        greater_is_better=measure.greater_is_better,
        table=run.table(),
        n_skipped=run.n_skipped,
        seconds=perf_counter() - began,
        refit_seconds=perf_counter() - began_refit if refit else 0.0,
    )


class _SplitParts:
    """The two parts of one split, cut out when they are first needed, in each precision of a kernel that is."""

    def __init__(self, sample: Sample, split: Split) -> None:
        self._sample, self._split = sample, split
        self._parts: dict[Any, tuple[Sample, Sample]] = {}
        self.n_rows = sample.n_fitted(split.train)

    def parts(self, dtype: Any) -> tuple[Sample, Sample]:
        """Return the training and the test part; None: as they are."""
        if dtype not in self._parts:
            training = self._sample.take(self._split.train)
            testing = self._sample.take(self._split.test, self._split.train)
            if dtype is not None:
                training, testing = (replace(part, X=part.X.astype(dtype, copy=False)) for part in (training, testing))
            self._parts[dtype] = training, testing
        return self._parts[dtype]


class _SearchUnderWay:
    """A search under way: what is done of it so far."""

    def __init__(
        self,
        estimator: Any,
        sample: Sample,
        points: list[dict[str, Any]],
        splits: list[Split],
        measure: Metric,
        deadline: Callable[[], float | None] | None,
    ) -> None:
        self._estimator, self._sample, self._points, self._splits = estimator, sample, points, splits
        self._measure, self._deadline = measure, deadline
        self._values: Floats = np.full((len(points), len(splits)), np.nan)
        self._done = np.zeros(self._values.shape, dtype=bool)
        self._seconds: Floats = np.zeros(self._values.shape)
        self._cut_short = False

    @property
    def n_skipped(self) -> int:
        """Count the fits that had no value."""
        return int(np.count_nonzero(self._done & np.isnan(self._values)))

    def all_points(self) -> None:
        """Evaluate the whole grid, kernel by kernel, fold by fold."""
        for shared in share_kernels(self._estimator, self._points, self._sample):
            sample = self._sample
            if shared.kernel is not None:
                self._refuse_late()
                n_rows = min(sample.n_fitted(split.train) for split in self._splits)
                sample = replace(sample, X=shared.matrix(sample, n_rows), pairwise=True)
            for fold, split in enumerate(self._splits):
                cuts = _SplitParts(sample, split)
                for path in shared.paths:
                    self._one_path(shared, path, fold, cuts)

    def _one_path(self, shared: SharedKernel, path: WarmPath, fold: int, cuts: _SplitParts) -> None:
        """Evaluate the points of one path on one fold."""
        model = path.make()
        for place, number in enumerate(path.numbers):
            end = self._share()
            began = perf_counter()
            if path.Cs is not None:
                model.set_params(C=path.Cs[place])
            dtype = None if shared.kernel is None else shared.precision(path, place, cuts.n_rows)
            training, testing = cuts.parts(dtype)
            with deadlines.deadline(end) as inner:
                training.fit(model)
            self._cut_short |= inner.stopped
            self._values[number, fold] = judge_model(model, testing, (self._measure,))[0]
            self._done[number, fold] = True
            self._seconds[number, fold] = perf_counter() - began

    def _share(self) -> Callable[[], float]:
        """Return the seconds by the clock that the next fit may take.

        It is better to try a few points with whole fits than all points with fits cut short. So each fit may take as
        long as the longest before it, and once one was cut short, the time that is left is for the final fit.
        """
        longest = float(self._seconds.max())
        left = self._refuse_late(np.inf if self._cut_short else _WHOLE * longest)
        n_waiting = int(np.count_nonzero(~self._done))
        whole = 1.5 * longest if longest > 0 else _FOR_FIRST * left
        end = perf_counter() + min(left, max(_FAIR * left / n_waiting, whole))
        return lambda: end - perf_counter()

    def _refuse_late(self, needed: float = 0.0) -> float:
        """Return the seconds left, if they are more than needed."""
        left = None if self._deadline is None else self._deadline()
        if left is not None and left <= needed:
            done = int(np.count_nonzero(self._done))
            raise OutOfTime(
                f"time was up after {done} of {self._done.size} fits of the search", self.table(), self._best_begun()
            )
        return np.inf if left is None else left

    def _best_begun(self) -> dict[str, Any] | None:
        """Return the best of the points that have been begun, by the folds that all of them have done; None if none.

        A single point has not been compared with anything: then it is no better than the estimator's own parameters.
        """
        begun = np.flatnonzero(self._done.any(axis=1))
        if len(begun) < min(2, len(self._points)):
            return None
        common = self._done[begun].all(axis=0)
        means = {int(k): known_mean(self._values[k, common]) for k in begun} if common.any() else {}
        best = self._first_of({k: mean for k, mean in means.items() if not np.isnan(mean)})
        return None if best is None else dict(self._points[best])

    def _first_of(self, means: Mapping[int, float]) -> int | None:
        """Choose among points: the best mean, then the smallest C, then the first."""
        sign = -1.0 if self._measure.greater_is_better else 1.0
        return min(means, key=lambda k: (round(sign * means[k], _SAME), _complexity(self._points[k]), k), default=None)

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
        table, name = self.table(), str(self._measure)
        if self.n_skipped:
            folds = np.flatnonzero((self._done & np.isnan(self._values)).any(axis=0)).tolist()
            warnings.warn(
                f"{name} is not defined in the test part of fold {', '.join(map(str, folds))}; "
                f"{self.n_skipped} of {self._done.size} fits are left out of the means",
                stacklevel=3,
            )
        best = self._first_of({number: point.mean for number, point in enumerate(table) if not np.isnan(point.mean)})
        if best is None:
            raise ValueError(f"{name} is not defined in any fold: no test part has a pair; ask for fewer folds")
        return best

    def refit(self, best: int) -> Any:
        """Fit the user's own estimator, with the best parameters, on all rows."""
        end = perf_counter() + self._refuse_late()
        model = clone(self._estimator).set_params(**clone(self._points[best], safe=False))
        with deadlines.deadline(lambda: end - perf_counter()):
            return self._sample.fit(model)


def _complexity(params: Mapping[str, Any]) -> float:
    """Return C, the weight of the loss against simplicity, of the model or of a pipeline's step."""
    return next((float(value) for name, value in params.items() if name == "C" or name.endswith("__C")), 0.0)


# --------------------------------------------------------------------------------------------------
# A search inside a training part: what is learned from it, parameters included, is learned from nothing else.


MOST_SEARCHED = 100_000
"""With more rows or comparisons than this, a search looks at a sample."""
SAMPLE = 20_000
"""Rows of such a sample: enough to choose among a few values of a parameter that are far apart."""

_FOR_LAST = 0.2
"""The least share of the time that is kept for the final fit to all rows, if that fit can be stopped early."""

_FOR_LARGER = 0.6
"""The same share, if the fits of the search are to a sample."""

_KNOWN_FIT = 1.3
"""How many times what a fit to all rows has taken is kept for one."""

_FITS_TIMED = 3
"""After this many fits to a sample it is known how long they take: the first may have waited for a compiler."""


def choose_params(
    estimator: Any,
    grid: Grid,
    part: Sample,
    *,
    n_folds: int,
    seed: int,
    metric: AnyMetric = "swapped_pairs",
    deadline: Callable[[], float | None] | None = None,
    most: int | None = None,
    one_fit: float = 0.0,
    times: Floats | None = None,
) -> dict[str, Any]:
    """Choose an estimator's parameters from a grid by folds of a training part, or by cuts in time if it has times.

    If the part cannot be cut so that there is always a pair to learn from, nothing is chosen, with a warning: a method
    is better judged with its own defaults than not at all. Nor is anything chosen if one fit to the part takes so long
    (``one_fit`` seconds) that a fit of a search would be cut short: the final fit then has all the time.

    In a large part, the search looks at a sample, with a warning. If the times of the fits to the sample show that a
    fit to all rows would outlast the deadline, :class:`OutOfTime` is raised at once. A part larger than ``most`` is
    sampled too; but such methods take more than in proportion to the rows, so that these times say nothing of the final
    fit.
    """
    if not grid:
        return {}
    if deadline is not None and one_fit > 0 and one_fit > _FOR_FIRST * (deadline() or 0.0):
        deadlines.mark_stopped()
        deadlines.warn_of_time("before its search: its parameters are the method's own", stacklevel=3)
        return {}
    places = sample_places(part, seed, most)
    whole, part = part, part if places is None else part.take(places)
    if part is not whole:
        what = "comparisons" if part.order.keeps_rows else "rows"
        warnings.warn(f"its parameters were searched on {len(part):,} of {len(whole):,} {what}", stacklevel=2)
    try:
        cv = list(_inner_splits(part, n_folds, seed, times if places is None or times is None else times[places]))
    except ValueError as error:
        warnings.warn(
            f"its parameters are the method's own, as there is too little to search in: {error}", stacklevel=2
        )
        return {}
    times_larger = len(whole) / float(np.mean([len(split.train) for split in cv]))
    is_large = len(whole) > MOST_SEARCHED
    kept = 0.0 if is_large else _FOR_LAST if part is whole else _FOR_LARGER
    outlook = None if deadline is None else _Outlook(deadline, times_larger, kept, _KNOWN_FIT * one_fit)
    try:
        with warnings.catch_warnings():
            # of points that may never be chosen, once for each fold; the fit that follows says what is true of it
            warnings.filterwarnings("ignore", message="the model is degenerate")
            found = search(estimator, grid, part.X, part.order, metric=metric, cv=cv, deadline=outlook, refit=False)
    except OutOfTime as late:
        if is_large or not late.table or not any(point.seconds for point in late.table):
            raise
        deadlines.mark_stopped()
        if late.best_params is None:
            deadlines.warn_of_time(f"in its search ({late}): its parameters are the method's own", stacklevel=3)
            return {}
        deadlines.warn_of_time(f"in its search ({late}): its parameters are the best by then", stacklevel=3)
        return late.best_params
    if is_large and deadline is not None:
        _refuse_if_too_long(found, times_larger, deadline())
    return dict(found.best_params)


def _inner_splits(part: Sample, n_folds: int, seed: int, times: Floats | None) -> Iterator[Split]:
    """Cut a training part as it was cut from the rest: parameters for the future are chosen by what came later."""
    if times is None:
        return feasible_folds(part.order, n_folds, 1, seed)
    return time_cuts(part.order, times, n_cuts=n_folds)


class _Outlook:
    """A deadline that sets time aside for the final fit to all rows, and stops a search that would leave too little.

    It is asked before every fit, so that the time between two calls is about what a fit to the sample takes.
    """

    def __init__(
        self, deadline: Callable[[], float | None], times_larger: float, share: float = 0.0, seconds: float = 0.0
    ) -> None:
        self._deadline, self._times_larger = deadline, times_larger
        self._asked: list[float] = []
        left = deadline()
        self._kept = 0.0 if left is None or left == np.inf else max(share * left, seconds)

    def __call__(self) -> float | None:
        left = self._deadline()
        self._asked.append(perf_counter())
        if left is None:
            return None
        known = len(self._asked) > _FITS_TIMED
        return left - max(self._times_larger * float(np.diff(self._asked).min()) if known else 0.0, self._kept)


def _refuse_if_too_long(found: SearchResult, times_larger: float, left: float | None) -> None:
    """Raise OutOfTime if a fit with the best parameters to this many times the rows would not be done in time."""
    point = next(each for each in found.table if each.params == found.best_params)
    seconds = times_larger * point.quickest
    if left is not None and seconds > left:
        raise OutOfTime(f"a fit to all rows would take some {seconds:.0f} s, and {left:.0f} s are left", found.table)


def sample_size(part: Sample, most: int | None = None) -> int:
    """Return how many rows or comparisons a search looks at, for a method that is searched on at most ``most`` rows.

    Comparisons are not cut to ``most``: a sample of them has about as many items, and it is items that take time.
    """
    if most is not None and len(part) > most and not part.order.keeps_rows:
        return most
    return len(part) if len(part) <= MOST_SEARCHED else SAMPLE


def sample_part(part: Sample, seed: int, most: int | None = None) -> Sample:
    """Return a part as it is, or a sample of a large one."""
    places = sample_places(part, seed, most)
    return part if places is None else part.take(places)


def sample_places(part: Sample, seed: int, most: int | None = None) -> Ints | None:
    """Return a sample of a large part: rows, whole lists where there are many, or comparisons; None of a small one."""
    size = sample_size(part, most)
    if size == len(part):
        return None
    rng = np.random.default_rng(seed)
    drawn = np.sort(rng.choice(len(part), size, replace=False))
    group, n_groups = part.order.lists, part.order.n_groups
    if group is not None and n_groups >= len(part) // size:
        order = rng.permutation(n_groups)
        sizes = np.bincount(group, minlength=n_groups)
        chosen = order[: 1 + int(np.searchsorted(np.cumsum(sizes[order]), size))]
        lists = np.flatnonzero(np.isin(group, chosen))
        drawn = lists if len(lists) <= 2 * size else drawn  # but for a list that is itself too long
    return drawn
