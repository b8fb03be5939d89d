r"""Would more rows help? A metric on held-out rows as the training part grows, and the tail that a power law gives it.

Of n rows learned from, the metric is taken to be :math:`u(n) = u_\infty + b\, n^{-c}`: what more rows of the same kind
cannot mend, and what falls with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed
from sklearn.base import clone

from ..metrics import AnyMetric, Metric
from ..order import Comparisons, Grades
from ..samples import Sample, read_sample
from ..sweeps import Floats, Ints
from .judging import default_metrics, judge_model, read_metrics, rule_of
from .methods import cannot_learn, find_method, make_seeded
from .splits import Split, read_splits
from .tasks import AnyTable, Task, make_task

_EXPONENTS = np.linspace(0.25, 1.5, 26)
"""Exponents c that are tried: from slower than any useful learner to faster than 1/n."""

_N_DRAWS = 200


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """A metric on held-out rows, by how many rows were learned from.

    Attributes
    ----------
    sizes : array of shape (n_sizes,)
        Rows (or comparisons) that were learned from, the mean over the splits; rising.
    values : array of shape (n_sizes, n_splits)
        NaN where the metric is not defined, or there was nothing to learn from.
    metric : str
    greater_is_better : bool
    what : str
        What is counted: "row" or "comparison".
    """

    sizes: Floats
    values: Floats
    metric: str
    greater_is_better: bool
    bounds: tuple[float, float]
    what: str = "row"

    @property
    def means(self) -> Floats:
        """The mean over the splits at each size; NaN where some lack a value, and so other rows would be judged."""
        return _means(self.values)

    def at(self, n: float) -> float:
        """Return what the fitted tail says of so many rows."""
        return float(self._tail(self.means)(n))

    def gain(self, times: float = 2.0, confidence: float = 0.95) -> tuple[float, float, float]:
        """Return by how much the metric would get better with so many times the rows, and an interval.

        Positive is better, whatever the metric's direction. By the tail, drawn anew from splits with replacement.
        """
        n, sign = float(self.sizes[-1]), 1.0 if self.greater_is_better else -1.0

        def better(values: Floats) -> float:
            tail = self._tail(_means(values))
            return sign * float(tail(times * n) - tail(n)) + 0.0  # no gain is no −0

        rng, n_splits = np.random.default_rng(0), self.values.shape[1]
        drawn = np.array([better(self.values[:, rng.integers(0, n_splits, n_splits)]) for _ in range(_N_DRAWS)])
        drawn = drawn[np.isfinite(drawn)]
        ends = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2]) if len(drawn) else (math.nan, math.nan)
        return better(self.values), float(ends[0]), float(ends[1])

    def _tail(self, means: Floats) -> Callable[[float], float]:
        """Fit the tail by least squares, larger sizes first: those of few rows are often no power law yet."""
        known = np.isfinite(means)
        sizes, means = self.sizes[known], means[known]
        if len(sizes) < 3 or np.ptp(means) == 0:
            last = float(means[-1]) if len(means) else math.nan
            return lambda n: last
        weight, falls = np.sqrt(sizes), -1.0 if self.greater_is_better else 1.0
        best: tuple[float, float, float, float] | None = None
        for c in _EXPONENTS:
            design = np.column_stack([np.ones_like(sizes), sizes**-c])
            (limit, b), *_ = np.linalg.lstsq(design * weight[:, None], means * weight, rcond=None)
            limit = float(np.clip(limit, *self.bounds))
            b = float((weight**2 * design[:, 1] * (means - limit)).sum() / (weight**2 * design[:, 1] ** 2).sum())
            b = falls * max(falls * b, 0.0)  # more rows never harm
            error = float((weight**2 * (means - limit - b * design[:, 1]) ** 2).sum())
            if best is None or error < best[0]:
                best = error, limit, b, float(c)
        assert best is not None
        _, limit, b, c = best
        return lambda n: limit + b * n**-c

    def __str__(self) -> str:
        lines = [f"{self.what + 's':>10}  {self.metric}"]
        lines += [f"{size:10,.0f}  {mean:.4f}" for size, mean in zip(self.sizes, self.means, strict=True)]
        gain, low, high = self.gain()
        last, twice = float(self.sizes[-1]), 2 * float(self.sizes[-1])
        lines.append(
            f"{twice:10,.0f}  {self.at(twice):.4f} by the tail, which has {self.at(last):.4f} at {last:,.0f}: "
            f"{gain:+.4f} better ({low:+.4f} to {high:+.4f})"
        )
        return "\n".join(lines)

    __repr__ = __str__


def _means(values: Floats) -> Floats:
    """Return the mean at each size over the splits that have a value at the largest one."""
    return (
        np.asarray(values[:, np.isfinite(values[-1])].mean(axis=1)) if np.isfinite(values[-1]).any() else values[:, 0]
    )


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    metric: AnyMetric = "swapped_pairs",
    sizes: int | Sequence[float] = 6,
    cv: Any = 5,
    n_repeats: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
) -> LearningCurve:
    """Fit a model on growing shares of each training part, judge it on the test part, and fit the tail.

    Parameters
    ----------
    estimator, X, y, groups, sample_weight, cv, n_repeats, seed, n_jobs
        As in :func:`wellorder.cross_validate`.
    metric : str, Metric or Definition, default="swapped_pairs"
    sizes : int or sequence of float, default=6
        Shares of the training part: so many, each larger by the same factor from a tenth on, or the shares themselves.
        Larger shares hold the smaller ones; lists stay whole.

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 10))
    >>> y = np.round(X[:, 0] + rng.standard_normal(400))
    >>> curve = wo.learning_curve(wo.RankSVM(), X, y, sizes=4)
    >>> bool(curve.means[-1] < curve.means[0]), curve.gain(2.0)[0] >= 0
    (True, True)
    """
    with sklearn.config_context(enable_metadata_routing=True):
        sample = read_sample(estimator, X, y, groups, sample_weight)
        (measure,) = read_metrics(metric, sample.order.kind)
        splits = read_splits(sample, cv, n_repeats, seed)
        places = [(split, rows) for split in splits for rows in _growing(sample.order, split, _shares(sizes), seed)]
        values = Parallel(n_jobs=n_jobs)(
            delayed(_judge)(estimator, sample.take(rows), sample.take(split.test, rows), measure)
            for split, rows in places
        )
    return _make(sample.order, measure, splits, places, values)


def table_curve(table: AnyTable, method: str, *, sizes: int = 6, n_folds: int = 5) -> LearningCurve:
    """Return the learning curve of a method, with its own parameters, on a table; columns are encoded by each part."""
    task, found = make_task(table), find_method(method)
    if (reason := cannot_learn(found, task.order)) is not None:
        raise ValueError(f"{method} {reason.removeprefix('it ')}; name another method")
    (measure,) = read_metrics(default_metrics(task.order)[0], task.supervision)
    splits = list(task.splits(task.n_folds(n_folds), 1, seed=0))
    places = [(split, rows) for split in splits for rows in _growing(task.order, split, _shares(sizes), 0)]
    values = [_judge_table(task, make_seeded(found, 0, measure), split, rows, measure) for split, rows in places]
    return _make(task.order, measure, splits, places, values)


def _make(
    order: Grades | Comparisons,
    measure: Metric,
    splits: Sequence[Split],
    places: Sequence[tuple[Split, Ints]],
    values: Sequence[float],
) -> LearningCurve:
    n_judged = np.array([np.count_nonzero(order.is_judged[rows]) for _, rows in places]).reshape(len(splits), -1)
    mean_sizes = n_judged.mean(axis=0)
    others = np.diff(mean_sizes, prepend=0.0) > 0  # of very few rows, the smallest shares are the same ones
    return LearningCurve(
        mean_sizes[others],
        np.asarray(values, dtype=float).reshape(len(splits), -1).T[others],
        str(measure),
        measure.greater_is_better,
        measure.definition.bounds,
        "comparison" if isinstance(order, Comparisons) else "row",
    )


def _shares(sizes: int | Sequence[float]) -> Floats:
    if isinstance(sizes, Integral) and not isinstance(sizes, bool):
        if sizes < 2:
            raise ValueError(f"sizes={sizes!r} shares make no curve; give two at least")
        return np.geomspace(0.1, 1.0, int(sizes))
    shares = np.asarray(sizes, dtype=float)
    if shares.ndim != 1 or len(shares) < 2 or not ((shares > 0) & (shares <= 1)).all():
        raise ValueError(f"sizes={sizes!r}: give at least two shares of the training part, above 0 and at most 1")
    return np.sort(shares)


def _growing(order: Grades | Comparisons, split: Split, shares: Floats, seed: int) -> list[Ints]:
    """Return parts of a training part, each of which holds those before it: rows, whole lists, or comparisons."""
    rng = np.random.default_rng([seed, split.repeat, split.fold])
    train = split.train
    if isinstance(order, Grades) and order.lists is not None and order.n_groups > 1:
        place = rng.permutation(order.n_groups)[order.lists[train]]
        drawn = train[np.argsort(place, kind="stable")]
        ends = np.flatnonzero(np.diff(np.sort(place), append=order.n_groups)) + 1
        counts = [int(ends[np.searchsorted(ends, share * len(train) - 1e-9)]) for share in shares]
    else:
        drawn = rng.permutation(train)
        counts = [max(round(share * len(train)), 2) for share in shares]
    return [np.sort(drawn[:count]) for count in counts]


def _judge(estimator: Any, training: Sample, testing: Sample, measure: Metric) -> float:
    """Fit and judge; NaN where so few rows hold nothing to learn from."""
    with sklearn.config_context(enable_metadata_routing=True):
        try:
            model = training.fit(clone(estimator))
        except ValueError:
            if training.order.describe().n_pairs == 0:
                return math.nan
            raise
        return judge_model(model, testing, (measure,))[0]


def _judge_table(task: Task, model: Any, split: Split, rows: Ints, measure: Metric) -> float:
    part = task.training_part(rows, model)
    if part.order.describe().n_pairs == 0:
        return math.nan
    part.fit(model)
    scores = task.scores(model, part, split.test)
    return task.judge(scores, split.test, (measure,), **rule_of(model, task.order)).metrics[str(measure)]
