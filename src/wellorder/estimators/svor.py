"""SVOR: support vector ordinal regression, one function and a threshold between every two levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..losses import OrdinalRows, Thresholds, ordinal_hinge
from ..solvers import OrdinalProblem, ordinal_svm
from ..spaces import origin_score
from ..state import Part, count, figure
from ..sweeps import Floats
from .kernel_model import KernelModel
from .ordinal_model import OrdinalModel
from .validation import check_option, check_positive, check_whole, warn_if_not_converged, warn_of_one_score

_OVERLAP = (
    "the levels overlap so much that one score for all rows has the least loss; raise C, try another thresholds= or a "
    "kernel, or use RankSVM, which orders pairs"
)


class SVOR(KernelModel, OrdinalModel):
    r"""Support vector ordinal regression: parallel hyperplanes between consecutive levels.

    With the levels 0, …, r − 1 that are present and thresholds :math:`b_0, …, b_{r-2}` between them, minimises

    .. math:: \tfrac12 \|f\|^2 + C \sum_i \omega_i \sum_j \bigl(1 - t_{ij} (f(x_i) - b_j)\bigr)_+
              \qquad t_{ij} = +1 \text{ if } y_i > j, \text{ else } -1

    over f and b. The inner sum is over all thresholds, or over those next to the row's own level. With two levels
    this is the support vector machine for two classes.

    It learns to tell levels apart, not to order the rows within and across them: what it aims at is a step function, so
    its scores crowd around a few values and may tie, and a Ranking SVM is often the better ranker. Where levels overlap
    much, f = 0 may be the very optimum; every score is the same then, and a warning says so. The grade of a
    row is the number of thresholds that its score has passed.

    Thresholds are minimised out in every step. Without a kernel that costs one sort of the scores, and there is no
    row of variables for each threshold; with one, each row and threshold has a multiplier.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the regulariser. Each row counts once, times its weight, as in scikit-learn.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Where f lives. All but "linear" hold a kernel matrix of n² entries.
    gamma : {"scale", "auto"} or float, default="scale"
    degree : float, default=3
    coef0 : float, default=0.0
    n_components : int, default=None
        Replace the kernel by Nyström features over this many random rows.
    thresholds : {"all", "immediate", "explicit"}, default="all"
        "all": every row is on the right side of every threshold (Chu and Keerthi's implicit constraints), and the
        thresholds come out in order by themselves. "immediate": only of those next to its own level (Shashua and
        Levin); they may cross, and a level between crossed thresholds is hardly ever predicted. "explicit": as
        "immediate", with the order of the thresholds as a constraint (Chu and Keerthi).
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    warm_start : bool, default=False
        Start from the last fit's coefficients.
    tol : float, default=1e-3
        The fit ends when the duality gap is at most ``tol`` times the objective.
    max_iter : int, default=1000
        Most Newton steps.
    random_state : int, RandomState or None, default=None
        Seed for ``n_components``; nothing else is random.

    Attributes
    ----------
    thresholds_ : array of shape (r − 1,)
        The best ones for the scores; the middle, where a range of them is as good.
    classes_ : array of shape (r,)
        The levels present, from worst to best, in the user's own labels. A level whose rows all have zero
        weight is not present.
    coef_ : array of shape (d,)
        The weights of a linear model.
    dual_coef_, support_, support_vectors_ : arrays
        With a kernel: f = Σ dual_coef_ · k(support_vectors_, ·).
    objective_ : float
    gap_ : float
        The duality gap: the objective is at most so far from its minimum.
    n_iter_ : int
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Chu, Keerthi (2007), Support vector ordinal regression. Shashua, Levin (2003), Ranking with large margin principle:
    two approaches.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = np.digitize(X[:, 0] + 0.1 * rng.standard_normal(200), [-1, 0, 1])
    >>> model = wo.SVOR(C=10.0).fit(X, y)
    >>> bool((np.diff(model.thresholds_) > 0).all())
    True
    >>> model.predict([[-2.0, 0, 0], [0.5, 0, 0], [2.0, 0, 0]])
    array([0, 2, 3])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        n_components: int | None = None,
        thresholds: Thresholds = "all",
        levels: Any = None,
        warm_start: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.thresholds = thresholds
        self.levels = levels
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> SVOR:
        """Fit function and thresholds.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
            With ``kernel="precomputed"``, the kernel matrix of shape (n, n).
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
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        graded, classes, n_groups = self._read_rows(y, groups, sample_weight, X.shape[0])
        rows = OrdinalRows(graded.level, graded.weight, graded.n_levels, self.thresholds)
        start = self._start(*X.shape) if self.warm_start else None
        self._forget()
        problem = OrdinalProblem(self._make_space(X, self.C, self.tol, rng), rows, self.C)
        result = ordinal_svm(problem, start=start, tol=self.tol, max_iter=self.max_iter)
        warn_if_not_converged(result, self.max_iter, self.tol)
        self._store(result.coef, X)
        if result.converged and not result.coef.any():
            warn_of_one_score(_OVERLAP)
        found = ordinal_hinge(problem.space.scores(result.coef), rows)[1] + origin_score(problem.space, result.coef)
        self.thresholds_ = _in_order(found, self.thresholds)
        self.classes_ = classes
        self.n_groups_ = n_groups
        self.objective_ = result.objective
        self.gap_ = result.gap
        self.n_iter_ = result.n_iter
        return self

    def _check_parameters(self) -> None:
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_whole(self.max_iter, "max_iter")
        check_option(self.thresholds, "thresholds", ("all", "immediate", "explicit"))
        self._check_kernel()

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"objective_": figure(), "gap_": figure(), "n_iter_": count()}


def _in_order(found: Floats, thresholds: Thresholds) -> Floats:
    """Thresholds that cannot cross are put in order to the last bit."""
    return found if thresholds == "immediate" else np.maximum.accumulate(found)
