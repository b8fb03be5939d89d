"""ProportionalOdds: the ordinal logistic model, with probabilities of the grades."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from ..deadline import time_is_up
from ..losses import ROW_LOSSES, GradedRows, Likelihood, ProfileHessian, level_probabilities, most_likely
from ..memory import Held
from ..methods import Method, costs, too_many_levels
from ..solvers import RowProblem, SolveResult, coarse_to_fine, signed_newton
from ..spaces import Function, PartedSpace, RowSpace, is_dask, linear_space, origin_score, row_scores
from ..state import Part, absent_or, count, figure, figures, floats, rising
from ..sweeps import Array, Bools, Floats, Ints, dot, one_blas_thread, parallel_map
from .base import (
    NOTHING_TOLD_APART,
    by_rows,
    check_positive,
    check_rows,
    check_whole,
    hold_rows,
    warn_if_not_converged,
    warn_of_one_score,
)
from .monotone import check_linear_monotone, read_signs, refuse_monotone
from .ordinal_model import OrdinalModel

# --------------------------------------------------------------------------------------------------
# Proportional odds without a penalty: maximum likelihood, with standard errors, by Newton's method.
#
# The thresholds are minimised out, so that Newton's method works on the coefficients alone. Its matrix is the
# information about them that is left when the thresholds have taken theirs.


_MOST_COEF = 2_000
"""Without a penalty, wider problems seldom have a maximum, and their information matrix takes much memory."""

_BLOCK = 4_096
_PARTS = 4
"""Rows are visited in blocks, which threads share in this many parts whatever their number: the same bits."""

_COLLINEAR = 1e-10
"""Columns scaled to unit information are collinear when a combination of unit size has less than this."""

_CONSTANT = 1e-24
"""A column counts as constant where its variance is below this share of its squared mean: what rounding leaves."""

_STILL = 1e-4
"""No score may move by more than this in the last step; Newton's method squares what is left."""

_RUNAWAY = 0.1
_NOTHING = 1e-8
"""A step that moves some score by the first, and gains less than the second a row, is on its way to infinity."""


@dataclass(frozen=True)
class MaximumLikelihood:
    """The most likely coefficients and thresholds; their standard errors are the inverse information's."""

    result: SolveResult
    thresholds: Floats
    coef_se: Floats
    thresholds_se: Floats


@dataclass(frozen=True)
class _Information:
    """The Hessian in the coefficients, and how the thresholds follow them."""

    hessian: Floats
    follow: Floats
    """∂θ/∂w, a row for each threshold."""
    profile: ProfileHessian
    constant: Bools
    """Whether each column varies by no more than rounding does."""

    def inverse(self) -> Floats | None:
        """Return the inverse, or None where there is none in floating point."""
        if self.constant.any():
            return None
        size = np.sqrt(self.hessian.diagonal())
        values, vectors = np.linalg.eigh(self.hessian / np.outer(size, size))
        if values[0] <= _COLLINEAR:
            return None
        return np.asarray((vectors / values) @ vectors.T / np.outer(size, size))


def maximum_likelihood(
    space: RowSpace, rows: GradedRows, *, start: Floats | None = None, tol: float = 1e-8, max_iter: int = 100
) -> MaximumLikelihood:
    """Maximise the likelihood until a step would gain less than ``tol`` of its logarithm, and no score moves."""
    if space.n_coef > _MOST_COEF:
        raise ValueError(
            f"X has {space.n_coef:,} columns; without a penalty at most {_MOST_COEF:,} can be fitted: give a finite C"
        )
    f = Function(space, np.zeros(space.n_coef) if start is None else start)
    at = most_likely(f.scores, rows)
    information = _information(space, at)
    inverse = information.inverse()
    if inverse is None and start is not None:  # too far out for any information
        return maximum_likelihood(space, rows, tol=tol, max_iter=max_iter)
    if inverse is None:
        raise _collinear(information)
    move, gain, n_iter, converged = np.inf, np.inf, 0, False
    while n_iter < max_iter and not converged and not (n_iter and time_is_up()):
        gradient = space.adjoint(at.gradient)
        step = Function(space, -inverse @ gradient)
        # a common shift of the scores is the thresholds' own, and moves nothing
        last_move, move = move, float(np.ptp(step.scores))
        gain = -0.5 * dot(gradient, step.coef)
        if gain <= _NOTHING * rows.mass.sum() and move > max(_RUNAWAY, 0.5 * last_move):
            raise _separated()
        converged = gain <= tol * at.value and move <= _STILL
        f, at = _line_search(f, step, at, gain)
        n_iter += 1
        information = _information(space, at)
        inverse = information.inverse()
        if inverse is None:
            raise _separated()
    follow = information.follow if space.origin is None else information.follow + space.origin
    along = follow @ inverse @ follow.T
    variance = information.profile.solve(np.eye(len(at.thresholds))) + along
    return MaximumLikelihood(
        SolveResult(f.coef, at.value, gain, n_iter, 0, converged),
        at.thresholds + origin_score(space, f.coef),
        np.sqrt(inverse.diagonal()),
        np.sqrt(variance.diagonal()),
    )


def _line_search(f: Function, step: Function, at: Likelihood, gain: float) -> tuple[Function, Likelihood]:
    """Halve the step until it goes down; where rounding hides that, it is taken whole."""
    length = 1.0
    for _ in range(60):
        new = f.plus(length, step)
        trial = most_likely(new.scores, at.rows)
        if trial.value <= at.value - 1e-3 * length * gain + 1e-13 * at.value:
            return new, trial
        length *= 0.5
    return f, at


def _information(space: RowSpace, at: Likelihood) -> _Information:
    """Return Xᵀ (D − B T⁻¹ Bᵀ) X; a common shift of a column is the thresholds' own, so it is taken out first."""
    own, cross, profile = at.bend_below + at.bend_above, at.cross, ProfileHessian(at)
    centre = space.adjoint(own / max(float(own.sum()), np.finfo(float).tiny))
    if isinstance(space, PartedSpace):
        sums = space.each(partial(_add_up, centre), space.cut(own), space.cut(cross))
        hessian, mixed = (np.sum(part, axis=0) for part in zip(*sums, strict=True))
    else:
        hessian, mixed = _add_up(centre, space, own, cross)
    moved = profile.solve(mixed)
    hessian -= mixed.T @ moved
    constant = hessian.diagonal() <= _CONSTANT * own.sum() * centre**2
    return _Information(hessian, centre - moved, profile, constant)


def _add_up(centre: Floats, space: RowSpace, own: Floats, cross: sp.csr_array) -> tuple[Floats, Floats]:
    """Return Xᵀ D X and Bᵀ X, with X counted from its centre."""

    def visit(part: range) -> tuple[Floats, Floats]:
        hessian, mixed = np.zeros((space.n_coef, space.n_coef)), np.zeros((cross.shape[1], space.n_coef))
        for a in part:
            here = slice(a, a + _BLOCK)
            X = space.take(np.arange(a, min(a + _BLOCK, space.n_rows))).columns() - centre
            hessian += X.T @ (own[here, None] * X)
            mixed += cross[here].T @ X
        return hessian, mixed

    parts = [range(part * _BLOCK, space.n_rows, _PARTS * _BLOCK) for part in range(_PARTS)]
    with one_blas_thread():  # our threads, not BLAS's
        sums = parallel_map(visit, parts, space.n_rows)
    hessian, mixed = (np.sum(part, axis=0) for part in zip(*sums, strict=True))
    return hessian, mixed


def _collinear(information: _Information) -> ValueError:
    """Return an error that names columns about which the rows say nothing."""
    if information.constant.any():
        return ValueError(
            f"{_name(np.flatnonzero(information.constant))} of X does not vary, which the thresholds cannot tell from "
            "themselves; leave it out, or give a finite C"
        )
    size = information.hessian.diagonal()
    vector = np.linalg.eigh(information.hessian / np.sqrt(np.outer(size, size)))[1][:, 0]
    involved = np.flatnonzero(np.abs(vector) > 0.1 * np.abs(vector).max())
    return ValueError(
        f"{_name(involved)} of X add up to nothing, or to a constant, so that their coefficients cannot be told apart; "
        "leave one out, or give a finite C"
    )


def _name(columns: Ints) -> str:
    named = ", ".join(map(str, columns[:5])) + (", …" if len(columns) > 5 else "")
    return f"column {named}" if len(columns) == 1 else f"columns {named}"


def _separated() -> ValueError:
    return ValueError(
        "the likelihood has no maximum: some combination of the columns of X separates levels without an error, and "
        "the larger its coefficients the better; give a finite C"
    )


# --------------------------------------------------------------------------------------------------
# The model.


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
    monotone : dict from columns to +1 or −1, or one for each column, default=None
        Where more is never worse (+1), or never better (−1), by name or place, all other columns held; not with
        ``C=numpy.inf``, where a weight at its bound has no standard error.
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

    _held: ClassVar[Held] = Held(19.0)

    takes_dask: ClassVar[bool] = True
    coef_: Floats
    coef_se_: Floats
    thresholds_se_: Floats
    objective_: float
    n_iter_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        levels: Any = None,
        monotone: Any = None,
        warm_start: bool = False,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.levels = levels
        self.monotone = monotone
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
        signs = read_signs(self.monotone, X.shape[1], getattr(self, "feature_names_in_", None))
        if signs is not None and (np.isinf(self.C) or is_dask(X)):
            raise refuse_monotone("C=numpy.inf" if np.isinf(self.C) else "rows that lie in Dask's partitions")
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
            if signs is None:
                result = coarse_to_fine(problem, start=start, tol=self.tol, max_iter=self.max_iter)
            else:
                result = signed_newton(problem, signs, start=start, tol=self.tol, max_iter=self.max_iter)
            thresholds = _LOSS.at(space.scores(result.coef), rows)[1] + origin_score(space, result.coef)
        warn_if_not_converged(result, self.max_iter, self.tol)
        if result.converged and not result.coef.any():
            warn_of_one_score(NOTHING_TOLD_APART)
        self.coef_ = result.coef.astype(X.dtype)
        check_linear_monotone(self.coef_, X, signs)
        self.thresholds_ = thresholds
        self.classes_ = classes
        self.n_groups_ = n_groups
        self.objective_ = result.objective
        self.n_iter_ = result.n_iter
        return self

    def _can_be_monotone(self) -> bool:
        return not np.isinf(self.C)

    def decision_function(self, X: Any) -> Floats:
        """Return f(x) = wᵀx for each row; a higher score stands above."""
        check_is_fitted(self)
        scores: Floats = by_rows(lambda rows: row_scores(rows, self.coef_), self._check_rows(X, reset=False))
        return scores

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each grade for each row, in the order of ``classes_``."""
        chances: Floats = by_rows(lambda s: level_probabilities(s, self.thresholds_), self.decision_function(X))
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


METHODS = {
    "proportional-odds": Method(
        "linear, the likelihood of ordered levels",
        ProportionalOdds,
        costs,
        takes=("grades",),
        objection=too_many_levels,
    ),
}
