"""Parts of the data: what a model is handed to learn from, and what it is judged by."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from ..metrics import AnyMetric, Metric
from ..order import Comparisons, Grades, OrderSum, refuse_beside
from ..scoring import advantage_of, list_scores
from ..spaces import Pairs
from ..sweeps import Array, Floats
from .judging import read_metrics, threshold_of, value_of

Kind: TypeAlias = Literal["rows", "comparisons", "pairs"]
"""What is split: graded rows, comparisons of items (every part keeps all items), or pairs that are rows of X."""


@dataclass(frozen=True)
class Part:
    """What goes into one fit, or into its judgement."""

    X: Any
    y: Any
    groups: Any = None
    sample_weight: Any = None


@dataclass(frozen=True)
class Data:
    """All of the data; see :func:`read_data`."""

    X: Any
    y: Any
    groups: Any
    sample_weight: Any
    kind: Kind
    levels: Any = None
    """The order of text grades, from the model that will learn from them."""
    pairwise: bool = False
    """Whether X holds a kernel between its rows: parts of it are cut both ways."""

    @property
    def whole(self) -> Part:
        """Everything, for the last fit."""
        return Part(self.X, self.y, self.groups, self.sample_weight)

    def n_fitted(self, rows: Array) -> int:
        """Count the rows of X that a fit on a training part sees: with comparisons, all items."""
        return int(self.X.shape[0]) if self.kind == "comparisons" else len(rows)

    def judged(self) -> Array:
        """Say of each row that is split whether it has a grade or an outcome: others say nothing."""
        if self.kind != "rows":
            return np.ones(len(self.y), dtype=bool)
        grades = self.y if isinstance(self.y, Grades) else Grades(self.y, levels=self.levels)
        return grades.level >= 0

    def training(self, rows: Array) -> Part:
        """Return what a model learns from."""
        return self._part(rows, rows)

    def testing(self, rows: Array, trained_on: Array) -> Part:
        """Return what it is judged by: graded rows as ``Grades``, read once for all fits."""
        part = self._part(rows, trained_on)
        if self.kind != "rows" or isinstance(part.y, Grades):
            return part
        return Part(part.X, Grades(part.y, part.groups, levels=self.levels), part.groups)

    def _part(self, rows: Array, columns: Array) -> Part:
        if self.kind == "comparisons":
            return Part(self.X, take(self.y, rows))
        X = _take_both(self.X, rows, columns) if self.pairwise else take(self.X, rows)
        return Part(X, take(self.y, rows), take(self.groups, rows), take(self.sample_weight, rows))


def read_data(estimator: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> Data:
    """See what there is to split: graded rows, items with comparisons, or pairs with outcomes."""
    if isinstance(y, OrderSum):
        raise ValueError("grades and comparisons cannot be split as one; give one of them, or fit on their sum")
    if isinstance(y, Grades | Comparisons):
        refuse_beside(y, groups=groups, sample_weight=sample_weight)
    pairwise = bool(get_tags(estimator).input_tags.pairwise)
    if isinstance(y, Comparisons):
        return Data(X, y, None, None, "comparisons", pairwise=pairwise)
    if isinstance(X, Pairs) or np.ndim(X) == 3:
        refuse_beside(X, groups=groups)
        return Data(X, y, None, sample_weight, "pairs")
    if y is None:
        raise ValueError("the target y is None: give one grade a row")
    last_step = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    return Data(X, y, groups, sample_weight, "rows", getattr(last_step, "levels", None), pairwise)


def read_measures(metrics: AnyMetric | Sequence[AnyMetric], kind: Kind) -> tuple[Metric, ...]:
    """Read metrics: those of grades, or those of comparisons."""
    return read_metrics(metrics, "grades" if kind == "rows" else "comparisons")


def fit_parameters(estimator: Any, data: Data) -> frozenset[str]:
    """Return which of ``groups`` and ``sample_weight`` go to ``fit``.

    Groups go where they are requested. Row weights were given to be used: where they would be dropped,
    silently, it is an error.
    """
    routing = get_routing_for_object(estimator)
    wanted = set()
    for name, value in (("groups", data.groups), ("sample_weight", data.sample_weight)):
        if value is None:
            continue
        if isinstance(routing, MetadataRouter):
            is_wanted = name in routing.consumes("fit", [name])
        else:
            is_wanted = has_fit_parameter(estimator, name) and routing.fit.requests.get(name) is not False
        if is_wanted:
            wanted.add(name)
        elif name == "sample_weight":
            raise ValueError(
                f"sample_weight would not reach {type(estimator).__name__}.fit: no step of it requests row weights; "
                "call .set_fit_request(sample_weight=True) on the step that should have them"
            )
    return frozenset(wanted)


def fit(model: Any, part: Part, wanted: frozenset[str]) -> None:
    """Fit a model, with the row metadata it wants."""
    model.fit(part.X, part.y, **{name: getattr(part, name) for name in sorted(wanted)})


def judge(model: Any, part: Part, measures: tuple[Metric, ...]) -> list[float]:
    """Evaluate a fitted model by each measure; NaN, without a word, where one is not defined."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is not defined: ")  # the caller counts them and says so once
        if isinstance(part.y, Comparisons):
            scores = np.asarray(model.decision_function(part.X))
            rule = {"threshold": threshold_of(model), "advantage": advantage_of(model)}
            return [measure(part.y, scores, **rule) for measure in measures]
        if measures[0].definition.supervision == "comparisons":
            return [_of_pairs(measure, model, part) for measure in measures]
        scores = _scores(model, part)
        return [value_of(measure, part.y, scores) for measure in measures]


def _of_pairs(measure: Metric, model: Any, part: Part) -> float:
    """Judge a model of pairs: by its own error, which knows its threshold for ties, or by differences of scores.

    They are those of two items a pair, of which the left one has the score 0.
    """
    if measure.name in ("swapped_pairs", "comparison_error"):
        return 1.0 - float(model.score(part.X, part.y))
    differences = np.asarray(model.compare(part.X))
    left = np.arange(len(differences))
    met = Comparisons(left, left + len(left), part.y)
    return measure(met, np.concatenate([np.zeros_like(differences), differences]))


def _scores(model: Any, part: Part) -> Floats:
    """Return a score a row: the decision function, or predictions where there is none."""
    return list_scores(model, part.X, part.y.group if isinstance(part.y, Grades) else part.groups)


def take(values: Any, rows: Array) -> Any:
    """Return some rows of an array, a sparse matrix, a frame, a list, grades or comparisons; None stays None.

    Grades keep all their levels, present among these rows or not; comparisons keep their items' numbers.
    """
    if values is None:
        return None
    if isinstance(values, Grades):
        return _take_grades(values, rows)
    if isinstance(values, Comparisons):
        weight = None if values.weight is None else values.weight[rows]
        return Comparisons(values.left[rows], values.right[rows], values.outcome[rows], weight)
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if sp.issparse(values) and not hasattr(values, "indptr"):
        return values.tocsr()[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[row] for row in rows]


def _take_both(K: Any, rows: Array, columns: Array) -> Any:
    """Return some rows and columns of a kernel matrix."""
    if isinstance(K, np.ndarray):
        return K[np.ix_(rows, columns)]  # row by row in memory; one cut after the other would not leave it so
    return K.iloc[rows, columns] if hasattr(K, "iloc") else take(K, rows)[:, columns]


def _take_grades(grades: Grades, rows: Array) -> Grades:
    part = copy(grades)
    part.__dict__.pop("pairs", None)  # belongs to the whole
    part.level = grades.level[rows]
    part.weight = None if grades.weight is None else grades.weight[rows]
    if grades.group is not None:
        present, group = np.unique(grades.group[rows], return_inverse=True)
        part.group, part.n_groups = group.astype(np.int32), len(present)
    return part
