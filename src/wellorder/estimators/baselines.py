"""The baselines: the best single column, and least squares on the grades."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..deadline import time_is_up, warn_of_time
from ..losses import LOSSES, risk_at
from ..memory import Held
from ..methods import Grid, Method, Size, for_columns, too_many_columns
from ..metrics import AnyMetric, Metric, parse
from ..order import Comparisons, GradedPairs, Grades, ListedPairs, OrderSum, swapped_weight
from ..spaces import row_scores
from ..state import Part, figure, floats, place
from ..sweeps import Floats
from .base import Ranker, as_order, check_option, check_positive, refuse_no_pairs, validate_data

# --------------------------------------------------------------------------------------------------
# What they share: scores that are linear in the columns, dense or sparse.


class LinearRanker(Ranker):
    """A ranker whose scores are X @ coef_; every pair of different grades counts the same."""

    order = "full"

    coef_: Floats

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row; a higher score stands above."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return row_scores(X, self.coef_)

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"coef_": floats("d")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


# --------------------------------------------------------------------------------------------------
# BestFeature: the baseline that every model has to beat, the best single column.


class BestFeature(LinearRanker):
    r"""The one column, upright or upside down, that swaps the fewest training pairs, or that a metric likes best.

    .. math:: f(x) = \pm x_j, \quad (j, \pm) = \arg\min \sum_{(i, k)} W_{ik} \, [f(x_i) \le f(x_k)]

    A tie is a swap. Of several columns that are equally good, the first is taken.

    Parameters
    ----------
    metric : str, default=None
        What the column is chosen by on the training rows: any name that ``wellorder.metrics.parse`` reads, such as
        "ndcg@10" or "swapped_pairs(ties=half)", or a metric of your own. None: swapped pairs, a tie being one. In
        ``wellorder.compare`` it is the metric that is compared by.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.

    Attributes
    ----------
    coef_ : array of shape (d,)
        1 or −1 for the column taken, 0 elsewhere.
    feature_ : int
        The number of that column.
    swapped_pairs_ : float
        Its share of swapped training pairs, whatever it was chosen by.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import wellorder as wo
    >>> ranker = wo.BestFeature().fit([[3, 1], [2, 9], [1, 2]], [0, 1, 2])
    >>> ranker.feature_, ranker.coef_.tolist()
    (0, [-1.0, 0.0])
    """

    _held: ClassVar[Held] = Held(7.0)
    takes_two_weights: ClassVar[bool] = True

    feature_: int
    swapped_pairs_: float

    def __init__(self, *, metric: AnyMetric | None = None, levels: Any = None) -> None:
        self.metric = metric
        self.levels = levels

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> BestFeature:
        """Choose the column; y is grades, Grades or Comparisons.

        Metrics of lists, such as NDCG, go without row weights.
        """
        X = validate_data(self, X, accept_sparse="csc", dtype=np.float64)
        order = as_order(y, groups, sample_weight, "full", self.levels, two_weights=self.takes_two_weights)
        if isinstance(order, OrderSum):
            raise ValueError("BestFeature takes grades or comparisons, not their sum")
        pairs = order.to_pairs(X.shape[0])
        refuse_no_pairs(order, pairs.n_pairs)
        metric = parse("swapped_pairs" if self.metric is None else self.metric, order.kind)
        if str(metric) == "swapped_pairs":
            self.feature_, turned = _best_column(X, lambda scores: _swapped(pairs, scores), _least_swapped(pairs, X))
        else:
            self.feature_, turned = _best_column(X, _cost_of(metric, order))
        self.n_groups_ = order.n_groups
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[self.feature_] = -1.0 if turned else 1.0
        self.swapped_pairs_ = float(_swapped(pairs, np.asarray(X @ self.coef_)) / pairs.total)
        return self

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"feature_": place(below="d"), "swapped_pairs_": figure()}


def _best_column(X: Any, cost: Callable[[Floats], float], least: Floats | None = None) -> tuple[int, bool]:
    """Return the first column of least cost, and whether it stands upside down; ``least`` bounds costs from below."""
    # invariant: `best` is the first of the columns, upright and turned, seen so far with the least cost
    best = (np.inf, 0, False)
    columns = range(X.shape[1]) if least is None else np.argsort(least, kind="stable").tolist()
    for n_seen, feature in enumerate(columns):
        if least is not None and least[feature] > best[0]:
            break
        if n_seen and time_is_up():
            warn_of_time(f"after {n_seen} of {len(columns)} columns")
            break
        column = X[:, [feature]].toarray().ravel() if sp.issparse(X) else X[:, feature]
        for turned in (False, True):
            best = min(best, (cost(-column if turned else column), feature, turned))
    return best[1], best[2]


def _cost_of(metric: Metric, order: Grades | Comparisons) -> Callable[[Floats], float]:
    """Return what a metric takes off scores of the rows, the less the better."""
    if metric.definition.judges_probabilities:
        raise ValueError(f"{metric} judges probabilities, and a column gives none; name a metric of scores")
    sign = -1.0 if metric.greater_is_better else 1.0

    def cost(scores: Floats) -> float:
        value = metric.of_order(order, scores)
        if np.isnan(value):
            raise ValueError(f"{metric} is not defined on the training rows; name another metric")
        return sign * value

    return cost


def _least_swapped(pairs: GradedPairs | ListedPairs, X: Any) -> Floats | None:
    """Bound from below what each sparse column swaps, in O(entries): pairs of rows that have no entry in it are ties.

    None for dense rows. Of a million columns a few have to be looked at then: those whose entries are in many pairs.
    """
    if not sp.issparse(X):
        return None
    pairs_of_row = 0.5 * risk_at(LOSSES["squared_hinge"], np.zeros(X.shape[0]), pairs).hessian_diagonal()
    stored = sp.csc_array((np.where(X.data != 0, pairs_of_row[X.indices], 0.0), X.indices, X.indptr), X.shape)
    covered = np.asarray(stored.sum(axis=0)).ravel()
    least = pairs.total - covered - 1e-9 * pairs.total  # less what rounding may add
    constant = np.flatnonzero(covered == 0)  # every pair is a tie, and one such column is as good as another
    least[constant[:1]], least[constant[1:]] = pairs.total, np.inf
    return np.asarray(least)


def _swapped(pairs: GradedPairs | ListedPairs, scores: Floats) -> float:
    if isinstance(pairs, GradedPairs):
        return float(swapped_weight(pairs, scores, "error"))
    return float(pairs.weight[scores[pairs.high] <= scores[pairs.low]].sum())


# --------------------------------------------------------------------------------------------------
# RidgeRanker: what many do instead of ranking, least squares on the grades.


class RidgeRanker(LinearRanker):
    r"""Ridge regression on the grades, or on their ranks, used as a ranker.

    .. math:: \min_{w, b} \; \sum_i (t_i - w^\top x_i - b)^2 + \alpha \|w\|^2

    where t is the grade itself (its place among the levels, where grades are text), or its mean rank within
    the group, from −½ to ½. From comparisons, :math:`t` is the outcome, x the difference of the two items,
    and b is zero. A baseline: it looks at no pair of rows.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty.
    on : {"grades", "ranks"}, default="grades"
        What is regressed on the features.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.

    Attributes
    ----------
    coef_ : array of shape (d,)
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import wellorder as wo
    >>> wo.RidgeRanker(on="ranks").fit([[0.0], [1.0], [2.0]], [1, 10, 100]).score([[0.0], [1.0]], [1, 10])
    1.0
    """

    _held: ClassVar[Held] = Held(5.0, 1.0)

    def __init__(self, alpha: float = 1.0, *, on: str = "grades", levels: Any = None) -> None:
        self.alpha = alpha
        self.on = on
        self.levels = levels

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> RidgeRanker:
        """Fit the regression; y is grades, Grades or Comparisons."""
        self._check_parameters()
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        order = as_order(y, groups, sample_weight, "full", self.levels)
        if isinstance(order, OrderSum):
            raise ValueError("RidgeRanker takes grades or comparisons, not their sum")
        refuse_no_pairs(order, order.to_pairs(X.shape[0]).n_pairs)
        if isinstance(order, Comparisons):
            rows, target, weight = X[order.right] - X[order.left], order.outcome.astype(float), order.weight
        else:
            judged = np.flatnonzero(order.level >= 0)
            rows = X if len(judged) == X.shape[0] else X[judged]
            target = (order.values if self.on == "grades" else grade_ranks(order))[judged]
            weight = None if order.weight is None else order.weight[judged]
        from sklearn.linear_model import Ridge

        solver = Ridge(alpha=self.alpha, fit_intercept=not isinstance(order, Comparisons))
        self.coef_ = solver.fit(rows, target, sample_weight=weight).coef_
        self.n_groups_ = order.n_groups
        return self

    def _check_parameters(self) -> None:
        check_positive(self.alpha, "alpha")
        check_option(self.on, "on", ("grades", "ranks"))


def grade_ranks(grades: Grades) -> Floats:
    """Return each judged row's mean rank within its group, by weight, from −½ to ½."""
    group = grades.list_codes
    weight = grades.row_weights
    weight = np.where(grades.level >= 0, weight, 0.0)
    width = len(grades.levels) + 1
    cells, cell = np.unique(group * width + grades.level + 1, return_inverse=True)  # by group, then level
    of_cell = np.bincount(cell, weight)
    below = np.cumsum(of_cell) - of_cell
    cell_group = cells // width
    first = np.searchsorted(cell_group, cell_group)
    total = np.bincount(cell_group, of_cell)[cell_group]
    place = (below - below[first] + 0.5 * of_cell) / np.where(total > 0, total, 1.0) - 0.5
    return np.asarray(place[cell])


def penalties(size: Size) -> Grid:
    """Return ridge penalties."""
    return {"alpha": [0.1, 1.0, 10.0, 100.0, 1000.0]}


METHODS = {
    "ridge": Method("least squares on the grades", RidgeRanker, penalties, is_baseline=True),
    "ridge-on-ranks": Method(
        "least squares on the ranks of the grades",
        lambda: RidgeRanker(on="ranks"),
        penalties,
        takes=("grades",),
        is_baseline=True,
    ),
    "best-feature": Method(
        "the best single column, up or down",
        BestFeature,
        takes_two_weights=True,
        is_baseline=True,
        objection=too_many_columns,
        memory=for_columns,
        follows="metric",
    ),
}
