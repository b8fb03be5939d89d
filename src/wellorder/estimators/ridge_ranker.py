"""RidgeRanker: what many do instead of ranking, least squares on the grades."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

from ..order import Comparisons, Grades, OrderSum
from ..sweeps import Floats
from .linear_ranker import LinearRanker
from .rows import validate_data
from .validation import as_order, check_option, check_positive, refuse_no_pairs


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
            target = (grade_numbers(order) if self.on == "grades" else grade_ranks(order))[judged]
            weight = None if order.weight is None else order.weight[judged]
        solver = Ridge(alpha=self.alpha, fit_intercept=not isinstance(order, Comparisons))
        self.coef_ = solver.fit(rows, target, sample_weight=weight).coef_
        self.n_groups_ = order.n_groups
        return self

    def _check_parameters(self) -> None:
        check_positive(self.alpha, "alpha")
        check_option(self.on, "on", ("grades", "ranks"))


def grade_numbers(grades: Grades) -> Floats:
    """Return each row's grade as a number, or the place of its level where grades are text."""
    try:
        of_level = np.array(grades.levels, dtype=float)
    except (TypeError, ValueError):
        of_level = np.arange(len(grades.levels), dtype=float)
    return of_level[grades.level]


def grade_ranks(grades: Grades) -> Floats:
    """Return each judged row's mean rank within its group, by weight, from −½ to ½."""
    group = np.zeros(len(grades), dtype=np.int64) if grades.group is None else grades.group.astype(np.int64)
    weight = np.ones(len(grades)) if grades.weight is None else grades.weight
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
