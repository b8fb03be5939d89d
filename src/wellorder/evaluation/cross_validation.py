"""Cross-validation: how a model does on rows it has not seen, by any metrics, with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed
from sklearn.base import clone

from ..metrics import AnyMetric, Metric
from ..order import Comparisons, Grades
from ..samples import Sample, read_sample
from ..sweeps import Floats, Ints
from .evidence import gather, keep_parts
from .judging import (
    foretell,
    judge_model,
    read_metrics,
    refuse_without_probabilities,
    rule_of,
    wants_probabilities,
)
from .records import Parts
from .significance import Interval, mean_interval
from .splits import Split, read_splits


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Mapping[str, Floats]):
    """What a cross-validation found: by the name of each metric, an array with one value a split.

    Values are the metrics' own: low is good for swapped pairs, high for NDCG.
    """

    by_metric: Mapping[str, Floats]
    greater_is_better: Mapping[str, bool]
    splits: tuple[Split, ...]
    n_judged: tuple[tuple[int, int], ...]
    """The number of rows with a grade (or of comparisons) in the training and the test part of each split."""
    fit_seconds: Floats
    """One per split."""
    score_seconds: Floats
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The lowest and the highest value that a metric can have; intervals are cut off there."""
    parts: tuple[Mapping[str, Parts | None], ...] = ()
    """What the test rows, lists or items of each split contribute to each metric."""

    def __getitem__(self, name: str) -> Floats:
        return self.by_metric[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_metric)

    def __len__(self) -> int:
        return len(self.by_metric)

    def mean(self, name: str) -> float:
        """Return a metric's mean over the splits where it is defined; NaN where it is nowhere."""
        return self.interval(name).mean

    def interval(self, name: str, confidence: float = 0.95) -> Interval:
        """Return a metric's mean and its interval, by the rows that were tested and by how much training rows matter.

        Of a metric that is no mean over rows, lists or votes, it is by the splits alone, corrected for training parts
        that overlap.
        """
        known = np.flatnonzero(~np.isnan(self.by_metric[name]))
        values, parts = self.by_metric[name][known], [self.parts[split][name] for split in known if self.parts]
        n_train, n_test = np.mean(self.n_judged, axis=0)
        if parts and (kept := [[part] for part in parts if part is not None]) and len(kept) == len(parts):
            evidence = gather(values[:, None], kept, [self.splits[split].repeat for split in known], n_test / n_train)
            found = Interval(float(values.mean()), *evidence.interval(0, confidence), confidence, len(values))
        else:
            found = mean_interval(values, n_train, n_test, confidence)
        return found.within(self.bounds[name]) if name in self.bounds else found

    def __str__(self) -> str:
        width = max(len("metric"), *map(len, self.by_metric))
        lines = [f"{'metric':{width}}  {'mean':>7}  {'95 % interval':>16}  better"]
        for name in self.by_metric:
            found = self.interval(name)
            reach = f"{found.low:7.4f} {found.high:8.4f}" if np.isfinite(found.low) else f"{'-':>16}"
            better = "higher" if self.greater_is_better[name] else "lower"
            lines.append(f"{name:{width}}  {found.mean:7.4f}  {reach}  {better}")
        lines.append(f"{len(self.splits)} splits, {self.fit_seconds.mean():.3g} s a fit")
        return "\n".join(lines)

    __repr__ = __str__


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    metrics: AnyMetric | Sequence[AnyMetric] = ("swapped_pairs",),
    cv: Any = 5,
    n_repeats: int = 1,
    seed: int = 0,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Fit a model on the training part of each split, and judge it on the test part.

    Like scikit-learn's function of the same name, with groups that reach the splits, ``fit`` and the metrics:
    metadata routing is on inside, and as it was afterwards.

    Parameters
    ----------
    estimator : estimator
        Anything with ``fit`` and ``decision_function`` or ``predict``: a ranker, a pipeline, a regressor, a
        search such as ``GridSearchCV``. It is not changed.
    X : array, sparse matrix or data frame of shape (n, d); or Pairs
        With a precomputed kernel, the matrix of shape (n, n).
    y : array of shape (n,), Grades, or Comparisons
        With ``Comparisons``, X holds the items and the comparisons are split.
    groups : array of shape (n,), optional
        One id a row: whole groups stay together, and only rows of one group are compared.
    sample_weight : array of shape (n,), optional
        Row weights for ``fit``. Judgement is without them; to weigh that too, give ``Grades`` with weights.
    metrics : str, Metric, Definition, or sequence of these, default=("swapped_pairs",)
        Any names that ``wellorder.metrics.parse`` reads; of comparisons, those of
        ``wellorder.metrics.COMPARISON_METRICS``. Of pairs, ``swapped_pairs`` and ``comparison_error`` both stand for
        1 − the model's own score. A function of your own comes through ``wellorder.metrics.make``.
    cv : int, splitter or splits, default=5
        Number of folds (see ``wellorder.evaluation.splits``), a scikit-learn splitter, or (train, test) rows.
    n_repeats : int, default=1
        How often to cut into folds anew.
    seed : int, default=0
        Of the folds.
    n_jobs : int, optional
        How many splits are worked on side by side, through ``joblib.Parallel``. None: one after the other, or as
        ``joblib.parallel_config(backend=...)`` around the call says, which may send them to a Dask cluster.

    Returns
    -------
    CrossValidation
        A mapping from metric names to values, one a split: NaN, with a warning, where a test part has no pair.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.evaluation import cross_validate
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> result = cross_validate(wo.RankSVM(), X, np.round(X[:, 0] - X[:, 1]), metrics=["swapped_pairs", "tau"])
    >>> result["swapped_pairs"].shape
    (5,)
    >>> result.interval("swapped_pairs").high < 0.02
    True
    """
    with sklearn.config_context(enable_metadata_routing=True):
        sample = read_sample(estimator, X, y, groups, sample_weight)
        measures = read_metrics(metrics, sample.order.kind, probabilities=True)
        refuse_without_probabilities(estimator, measures, sample.order.kind)
        splits = read_splits(sample, cv, n_repeats, seed)
        judged = sample.order.is_judged
        trials = (
            delayed(_try)(estimator, sample.take(split.train), sample.take(split.test, split.train), measures, place)
            for split in splits
            for place in [(sample.order, split.test)]
        )
        rows, parts, fit_seconds, score_seconds = zip(*Parallel(n_jobs=n_jobs)(trials), strict=True)
    values = {str(measure): column for measure, column in zip(measures, np.array(rows).T, strict=True)}
    _warn_if_undefined(values)
    return CrossValidation(
        by_metric=values,
        greater_is_better={str(measure): measure.greater_is_better for measure in measures},
        splits=tuple(splits),
        n_judged=tuple((int(judged[split.train].sum()), int(judged[split.test].sum())) for split in splits),
        fit_seconds=np.array(fit_seconds),
        score_seconds=np.array(score_seconds),
        bounds={str(measure): measure.definition.bounds for measure in measures},
        parts=parts,
    )


def _try(
    estimator: Any,
    training: Sample,
    testing: Sample,
    measures: tuple[Metric, ...],
    place: tuple[Grades | Comparisons, Ints],
) -> tuple[list[float], dict[str, Parts | None], float, float]:
    """Fit and judge on one split, perhaps in another process; return the judgement and the seconds of both.

    ``place`` says where the test part is among all rows.
    """
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(estimator)
        began = perf_counter()
        training.fit(model)
        fitted = perf_counter()
        scores = testing.scores(model)
        judged = judge_model(model, testing, measures, scores)
        whole, rows = place
        parts: dict[str, Parts | None] = dict.fromkeys(map(str, measures))
        if not testing.holds_pairs:
            rule = rule_of(model, testing.order)
            foretold = foretell(model, testing.X, testing.order) if wants_probabilities(measures) else None
            parts = {str(each): keep_parts(each, whole, rows, scores, foretold, **rule) for each in measures}
        return judged, parts, fitted - began, perf_counter() - fitted


def _warn_if_undefined(values: Mapping[str, Floats]) -> None:
    for name, column in values.items():
        missing = np.flatnonzero(np.isnan(column)).tolist()
        if missing:
            warnings.warn(
                f"{name} is not defined in the test part of split {', '.join(map(str, missing))} of {len(column)}; "
                "its mean is over the others",
                stacklevel=3,
            )
