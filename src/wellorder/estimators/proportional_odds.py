"""ProportionalOdds: the ordinal logistic model, with probabilities of the grades."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from ..losses import ROW_LOSSES
from ..losses.proportional_odds import level_probabilities
from ..solvers import RowProblem, coarse_to_fine, maximum_likelihood
from ..spaces import linear_space, origin_score
from ..state import Part, absent_or, count, figure, figures, floats, rising
from ..sweeps import Array, Floats
from .ordinal_model import OrdinalModel
from .rows import by_rows, check_rows, hold_rows
from .validation import NOTHING_TOLD_APART, check_positive, check_whole, warn_if_not_converged, warn_of_one_score

_LOSS = ROW_LOSSES["proportional_odds"]


class ProportionalOdds(OrdinalModel):
    r"""The proportional odds model: one linear function, and a threshold between every two levels.

    With the levels 0, …, r − 1 that are present, f(x) = wᵀx and thresholds :math:`θ_0 < … < θ_{r-2}`,

    .. math:: \log \frac{P(y > j \mid x)}{P(y \le j \mid x)} = f(x) - θ_j

    and w and θ minimise

    .. math:: \tfrac12 \|w\|^2 - C \sum_i \omega_i \log P(y_i \mid x_i)

    With two levels this is logistic regression, of the same C as in scikit-learn. The thresholds are not
    penalised. In every step they are minimised out exactly, so that a step costs a few passes over the rows.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the log-likelihood against the penalty; ``numpy.inf``: no penalty, maximum likelihood, with
        standard errors (for at most 2,000 columns).
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    warm_start : bool, default=False
        Start from the last fit's ``coef_``.
    tol : float, default=1e-8
        Relative accuracy of the objective: the fit ends when about ``tol`` of its value is left to gain. That of a
        million rows is about a million, and a gain of one half moves a coefficient by its standard error.
    max_iter : int, default=100
        Most Newton steps.

    Attributes
    ----------
    coef_ : array of shape (d,)
        The weights; float32 where X is.
    thresholds_ : array of shape (r − 1,)
    classes_ : array of shape (r,)
        The levels present, from worst to best, in the user's own labels. A level whose rows all have zero weight
        is not present.
    coef_se_, thresholds_se_ : arrays
        Standard errors, only with ``C=numpy.inf``: roots of the diagonal of the inverse information. They count a row
        of weight 2 as two observations.
    objective_ : float
        The objective at the minimum; minus the log-likelihood, with ``C=numpy.inf``.
    n_iter_ : int
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    R's ``polr`` and statsmodels' ``OrderedModel`` fit the same model with the same signs: their intercepts, or
    cut-points, are the thresholds. Coefficients without a penalty do not depend on the columns' scale; with one
    they do, so scale the columns first.

    References
    ----------
    McCullagh (1980), Regression models for ordinal data.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 2))
    >>> y = np.digitize(2 * X[:, 0] - X[:, 1] + rng.logistic(size=500), [-1, 1])
    >>> model = wo.ProportionalOdds(C=np.inf).fit(X, y)
    >>> bool((abs(model.coef_ - [2, -1]) < 3 * model.coef_se_).all())
    True
    >>> model.predict_proba([[1.0, 0.0]]).round(2)
    array([[0.06, 0.17, 0.77]])
    """

    takes_dask: ClassVar[bool] = True

    def __init__(
        self, C: float = 1.0, *, levels: Any = None, warm_start: bool = False, tol: float = 1e-8, max_iter: int = 100
    ) -> None:
        self.C = C
        self.levels = levels
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> ProportionalOdds:
        """Fit weights and thresholds.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), data frame, or Dask array or data frame
        y : array of shape (n,), or Grades
            Grades, higher is better; NaN: unjudged.
        groups : array of shape (n,), optional
            Accepted so that one ``groups`` can feed a splitter, fit and score; it changes nothing here. All groups
            share the thresholds: a grade must mean the same in each of them.
        sample_weight : array of shape (n,), optional
            Row weights; 2 is the same as listing the row twice.
        """
        self._check_parameters()
        X = self._check_rows(X, reset=True)
        rows, classes, n_groups = self._read_rows(y, groups, sample_weight, X.shape[0])
        start = self._start(X.shape[1]) if self.warm_start else None
        held = hold_rows(X)
        for name in ("coef_se_", "thresholds_se_"):  # of an earlier fit without a penalty
            if hasattr(self, name):
                delattr(self, name)
        if np.isinf(self.C):
            space = linear_space(held.astype(float, copy=False))
            found = maximum_likelihood(space, rows, start=start, tol=self.tol, max_iter=self.max_iter)
            result, thresholds = found.result, found.thresholds
            self.coef_se_, self.thresholds_se_ = found.coef_se.astype(X.dtype), found.thresholds_se
        else:
            space = linear_space(held)
            problem = RowProblem(space, rows, _LOSS, float(self.C))
            result = coarse_to_fine(problem, start=start, tol=self.tol, max_iter=self.max_iter)
            thresholds = _LOSS.at(space.scores(result.coef), rows)[1] + origin_score(space, result.coef)
        warn_if_not_converged(result, self.max_iter, self.tol)
        if result.converged and not result.coef.any():
            warn_of_one_score(NOTHING_TOLD_APART)
        self.coef_ = result.coef.astype(X.dtype)
        self.thresholds_ = thresholds
        self.classes_ = classes
        self.n_groups_ = n_groups
        self.objective_ = result.objective
        self.n_iter_ = result.n_iter
        return self

    def decision_function(self, X: Any) -> Array:
        """Return f(x) = wᵀx for each row; a higher score stands above."""
        check_is_fitted(self)
        scores: Array = by_rows(lambda rows: np.asarray(rows @ self.coef_), self._check_rows(X, reset=False))
        return scores

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each grade for each row, in the order of ``classes_``."""
        chances: Array = by_rows(lambda s: level_probabilities(s, self.thresholds_), self.decision_function(X))
        return chances

    def predict(self, X: Any) -> Array:
        """Return the most probable grade of each row; the lower one, where two are as probable.

        A grade between two close thresholds may nowhere be the most probable one. What the grade is on average,
        ``predict_proba`` tells.
        """
        grades: Array = by_rows(lambda P: np.asarray(self.classes_[P.argmax(axis=1)]), self.predict_proba(X))
        return grades

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_rows(self, X, reset=reset)

    def _start(self, n_columns: int) -> Floats | None:
        """Return the last fit's weights, where they fit the new data."""
        coef = getattr(self, "coef_", None)
        return None if coef is None or coef.shape != (n_columns,) else np.asarray(coef, dtype=float)

    def _check_parameters(self) -> None:
        if not (isinstance(self.C, Real) and np.isposinf(float(self.C))):
            check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_whole(self.max_iter, "max_iter")

    def _fitted_state(self) -> dict[str, Part]:
        spread = {"coef_se_": absent_or(figures("d")), "thresholds_se_": absent_or(figures("r-1"))}
        told = {"objective_": figure(), "n_iter_": count()}
        return super()._fitted_state() | {"coef_": floats("d"), "thresholds_": rising("r-1")} | spread | told

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags = ClassifierTags()  # no classifier, but whoever has predict_proba is asked for them
        tags.target_tags.required = True
        return tags
