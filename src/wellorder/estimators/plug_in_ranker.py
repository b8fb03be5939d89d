"""PlugInRanker: the best ordering for given class probabilities, with a classifier's put in."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import ClassifierTags, check_array, check_consistent_length, get_tags
from sklearn.utils.validation import check_is_fitted

from ..frames import naming_columns
from ..memory import Held
from ..methods import Method, inner_costs, too_many_levels
from ..order import Comparisons, Full, Grades, OrderGraph, OrderSum, Scale, separable, violation
from ..samples import fit_with, take
from ..spaces import near_zero
from ..state import Part, both, checked, fitted, floats, labels, none_or, template
from ..sweeps import Array, Floats
from .base import NOTHING_TOLD_APART, Ranker, read_order, validate_data, warn_of_one_score
from .ordinal_model import level_labels

_MOST_LEVELS = 1_000
_MOST_FITTED = 20
"""An error message spells out the nearest costs for up to this many levels."""


class PlugInRanker(Ranker):
    r"""The best score under given misranking costs, from the class probabilities of any classifier.

    If a swap of levels a < b costs :math:`w_a w_b (\sigma_b - \sigma_a)`, no score has a lower expected cost than

    .. math:: f(x) = \frac{\sum_k \sigma_k w_k \, p_k(x)}{\sum_k w_k \, p_k(x)}

    with the probabilities :math:`p_k(x)` of the levels. For ``order="linear"`` that is the expected grade, for
    ``"dcg"`` the expected gain, which is the best score for DCG. Three levels allow any costs: all orders over them
    have this form, but where a swap of the lowest and the highest costs nothing, as in the chain; there f is
    r / (1 + \|r\|) with :math:`r = (p_3 - p_1) / p_2`, for unit costs. For more than three levels "full" and "chain"
    have no best score in closed form, and are refused.

    Parameters
    ----------
    estimator : classifier, default=None
        Any with ``predict_proba``; a clone is fitted to the levels' numbers 0, 1, … None: scikit-learn's
        ``LogisticRegression()`` as it is, which wants columns of similar scale.
    order : str, OrderGraph or array of shape (r, r), default="linear"
        The misranking costs. Levels that are not in the training rows do not count.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.

    Attributes
    ----------
    estimator_ : classifier
        Fitted; its class k is the level ``classes_[k]``.
    classes_ : array of shape (K,)
        The levels present, from worst to best, in the user's own labels.
    weight_, gain_ : arrays of shape (K,)
        w_k and σ_k w_k.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Uematsu, Lee (2013), Statistical optimality in multipartite ranking and ordinal regression: Theorem 3, Corollary 1.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2))
    >>> y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(300), [-1, 0, 1])
    >>> ranker = wo.PlugInRanker(order="dcg").fit(X, y)
    >>> ranker.score(X, y) > 0.9
    True
    """

    _held: ClassVar[Held] = Held(13.0)

    classes_: Array
    weight_: Floats
    gain_: Floats
    estimator_: Any

    def __init__(self, estimator: Any = None, *, order: Any = "linear", levels: Any = None) -> None:
        self.estimator = estimator
        self.order = order
        self.levels = levels

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> PlugInRanker:
        """Fit the classifier to the rows that have a grade.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d), or data frame
            Whatever the classifier takes.
        y : array of shape (n,), or Grades
            Grades, higher is better; NaN: unjudged. A ``Grades`` of another order than "full" brings its costs: leave
            ``order`` alone then.
        groups : array of shape (n,), optional
            Accepted so that one ``groups`` can feed a splitter, fit and score. The classifier does not see it: it
            learns one set of probabilities for all groups.
        sample_weight : array of shape (n,), optional
            Handed on to the classifier, or to the last step of a pipeline.
        """
        _check_table(X)
        grades = self._read_grades(y, groups, sample_weight)
        X = validate_data(self, X, skip_check_array=True)
        check_consistent_length(X, grades.level)
        active = grades.level >= 0 if grades.weight is None else (grades.level >= 0) & (grades.weight > 0)
        present, number = np.unique(grades.level[active], return_inverse=True)
        _refuse_levels(grades, len(present))
        best_weight, best_gain = _best_score(grades.graph.take(present))
        classifier = self._classifier()
        weight = None if grades.weight is None else grades.weight[active]
        rows = X if active.all() else take(X, np.flatnonzero(active))
        with naming_columns(self, rows):
            if self.estimator is None:
                self.estimator_ = _fit_near_zero(classifier, rows, number, weight)
            else:
                self.estimator_ = fit_with(classifier, rows, number, sample_weight=weight)
        self.classes_ = level_labels(grades)[present]
        self.weight_, self.gain_ = best_weight, best_gain
        self.n_groups_ = grades.n_groups
        if self.estimator is None and not np.ptp(self.decision_function(rows)) > 0:
            warn_of_one_score(NOTHING_TOLD_APART)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row; a higher score stands above."""
        probability = self.predict_proba(X)
        return _ratio(probability @ self.gain_, probability @ self.weight_, self.gain_, self.weight_)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each grade for each row, in the order of ``classes_``: what the classifier says."""
        check_is_fitted(self)
        _check_table(X)
        X = validate_data(self, X, skip_check_array=True, reset=False)
        probability = np.asarray(self.estimator_.predict_proba(X))
        if probability.ndim != 2 or probability.shape[1] != len(self.weight_):
            raise ValueError(
                f"the classifier gives probabilities of shape {probability.shape} for {len(self.weight_)} levels"
            )
        return probability

    def _read_grades(self, y: Any, groups: Any, sample_weight: Any) -> Grades:
        if isinstance(y, Comparisons | OrderSum):
            raise ValueError(f"PlugInRanker takes grades, one a row, not {type(y).__name__}")
        named_linear = isinstance(self.order, str) and self.order == "linear"
        brings_its_own = isinstance(y, Grades) and not isinstance(y.graph.structure, Full)
        order = "full" if named_linear and brings_its_own else self.order
        grades = read_order(y, groups, sample_weight, order, self.levels, "pairs")
        assert isinstance(grades, Grades)
        return grades

    def _classifier(self) -> Any:
        classifier = LogisticRegression() if self.estimator is None else clone(self.estimator)
        if not hasattr(classifier, "predict_proba"):
            raise TypeError(
                f"{type(classifier).__name__} gives no class probabilities (predict_proba); wrap it in scikit-learn's "
                "CalibratedClassifierCV, or take another classifier"
            )
        return classifier

    def _fitted_state(self) -> dict[str, Part]:
        def check_classes(classifier: Any) -> None:
            if len(classifier.classes_) != len(self.classes_):
                raise ValueError(f"it tells {len(classifier.classes_)} classes, where there are {len(self.classes_)}")

        def check_gains(gain: Any) -> None:
            if not self.weight_.any() and not gain.any():
                raise ValueError("no level has a weight or a gain")

        return super()._fitted_state() | {
            "estimator": none_or(template("predict_proba")),
            "classes_": labels("k"),
            "weight_": floats("k", low=0.0),
            "gain_": both(floats("k"), checked(check_gains)),
            "estimator_": both(fitted("predict_proba"), checked(check_classes)),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(LogisticRegression() if self.estimator is None else self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.classifier_tags = ClassifierTags()  # no classifier, but whoever has predict_proba is asked for them
        tags.target_tags.required = True
        return tags


def _check_table(X: Any) -> None:
    """Refuse what is no table of real values; the rest is the classifier's to check."""
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"Expected 2D array, got an array of shape {X.shape}. Reshape your data: one line a row of X")
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise ValueError("Complex data not supported: give real numbers")


def _fit_near_zero(classifier: LogisticRegression, X: Any, y: Array, weight: Floats | None) -> LogisticRegression:
    """Fit a logistic regression to columns that have been moved to zero, and move it back.

    Its intercept is not penalised, so that this is the same model. But its solver takes a column's distance from zero
    for a steep direction: at ten deviations it needs hundreds of steps, at 10⁸ the model stands upside down.
    """
    moved, origin = near_zero(check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32)), beyond=1.0)
    if origin is None:
        return classifier.fit(X, y, weight)
    classifier.fit(moved, y, weight)
    classifier.intercept_ = classifier.intercept_ - classifier.coef_ @ origin
    validate_data(classifier, X, skip_check_array=True)  # the names of the columns, which arrays do not have
    return classifier


def _refuse_levels(grades: Grades, n_present: int) -> None:
    if n_present < 2:
        why = "all rows that count have the same grade, 1 class"
        if n_present == 0:
            why = "no row has a grade" if (grades.level < 0).all() else "every row with a grade has zero weight"
        raise ValueError(f"there is nothing to tell apart: {why} (n_samples={len(grades)})")
    if n_present > _MOST_LEVELS:
        raise ValueError(
            f"y has {n_present:,} levels, and a classifier gives each its own probability; bin the grades (at most "
            f"{_MOST_LEVELS:,} levels, better ten), or use RankSVM, which takes any number"
        )


def _best_score(graph: OrderGraph) -> tuple[Floats, Floats]:
    """Return w_k and σ_k w_k of the levels: the best score is Σ σ w p / Σ w p."""
    scale = separable(graph.structure, graph.labels)
    if scale is not None:
        counted = scale.weight > 0
        if not (np.diff(scale.scale[counted]) > 0).any():
            raise ValueError("the order puts none of the levels present above another")
        return scale.weight, scale.weight * scale.scale
    table = graph.weights
    if graph.n_levels == 3 and table.any() and not np.tril(table).any():
        # the ends lie infinitely far out on the scale, where their weights are zero
        return np.array([0.0, 1.0, 0.0]), np.array([-table[0, 1], 0.0, table[1, 2]])
    raise ValueError(
        f"no best score in closed form exists for these costs over {graph.n_levels} levels: "
        f"{violation(graph.structure, graph.labels)}. Use {_advice(graph)}"
    )


def _advice(graph: OrderGraph) -> str:
    """Spell costs that will do, ready to be pasted."""
    table = graph.weights
    if np.tril(table).any() or not table.any() or graph.n_levels > _MOST_FITTED:
        return "order='linear' or order='dcg'"
    nearest = graph.nearest_consistent().structure
    assert isinstance(nearest, Scale)
    weight, scale = (", ".join(f"{value:.3g}" for value in part) for part in (nearest.weight, nearest.scale))
    return (
        "order='linear' or order='dcg', or the nearest costs that have one: "
        f"order=wo.OrderGraph.from_scale([{weight}], [{scale}], {list(graph.levels)})"
    )


def _ratio(gain: Floats, weight: Floats, gain_of: Floats, weight_of: Floats) -> Floats:
    """Divide; where a level has a gain but no weight, by a bounded function that rises with the ratio."""
    if ((weight_of == 0) & (gain_of != 0)).any():
        size = weight + np.abs(gain)
        return np.asarray(np.divide(gain, size, out=np.zeros_like(gain), where=size > 0))
    scale = gain_of[weight_of > 0] / weight_of[weight_of > 0]
    # a row that only belongs to levels without weight is in no pair that costs: put it in the middle
    middle = np.full_like(gain, 0.5 * (scale.min() + scale.max()))
    return np.asarray(np.divide(gain, weight, out=middle, where=weight > 0))


METHODS = {
    "plug-in-ranker": Method(
        "the expected grade, by the class probabilities of logistic regression",
        lambda: PlugInRanker(LogisticRegression(max_iter=1000)),
        inner_costs,
        takes=("grades",),
        objection=too_many_levels,
    ),
}
