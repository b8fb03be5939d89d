"""SVOR: support vector ordinal regression, one function and a threshold between every two levels."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from sklearn.utils import check_random_state

from ..deadline import time_is_up
from ..losses import ListedLooks, OrdinalRows, RiskAt, ShiftedAt, Thresholds, ordinal_hinge, smooth_ordinal_hinge
from ..memory import Held
from ..methods import Method, costs, too_many_levels
from ..solvers import (
    IDENTITY,
    InteriorSolution,
    Objective,
    RowLooks,
    SolveResult,
    diagonal,
    gap_between,
    interior_looks,
    newton_cg,
    smooth_ever_less,
)
from ..spaces import Function, KernelSpace, Space, origin_score
from ..state import Part, count, figure
from ..sweeps import Floats, dot, one_blas_thread
from .base import check_option, check_positive, check_whole, warn_if_not_converged, warn_of_one_score
from .kernel_model import KernelModel
from .ordinal_model import OrdinalModel

# --------------------------------------------------------------------------------------------------
# Support vector ordinal regression over a kernel: the method of multipliers, each step of Newton's solved exactly.
#
# Narrow corners make Newton's steps short: most rows that will be inside a corner start on one side of it or the
# other. Here corners stay wide, and are moved instead: around multipliers θ̂ the hinge (v)_+ becomes
#
#     max over 0 ≤ θ ≤ 1 of θ v − δ/2 (θ − θ̂)²
#
# and the θ found are the next stage's θ̂. What that tends to is the minimum of the hinge itself, for any δ.


logger = logging.getLogger(__name__)

_WIDTH = 0.2
"""How wide corners are at first, in units of the margin."""

_SLOW = 0.25
"""A stage that leaves more than this share of the gap is followed by one with corners half as wide."""

_NARROWEST = 1e-6

_LEFT = 0.1
"""A stage ends when what it has left to gain is for certain below this share of the duality gap."""

_MOST_BENT = 4_000
"""Where more rows than this are inside corners, a step's linear system is too large to be solved exactly."""

_FLATTER = 0.3
"""A line search ends where the slope is at most this share of what it was."""

_SUFFICIENT = 1e-4
"""A step is taken when it gives at least this share of the decrease that its slope promises."""


class _At(NamedTuple):
    f: Function
    risk: ShiftedAt
    objective: float


class _Candidate(NamedTuple):
    f: Function
    done: bool
    """Whether the stage has led far enough."""


class _End(NamedTuple):
    """Where a stage has led."""

    at: _At
    candidate: Function
    """The function to hand back: the one reached, or −strength times the gradient of the risk there."""
    n_iter: int
    stuck: bool


def by_multipliers(
    problem: Objective,
    space: KernelSpace,
    rows: OrdinalRows,
    *,
    start: Floats | None,
    tol: float,
    max_iter: int,
    inside: InteriorSolution | None = None,
) -> SolveResult:
    """Minimise until the duality gap is below ``tol`` times the objective.

    From where an interior point method has led, if it has: its multipliers are the first that corners are moved to.
    Gives up, not converged, where too many rows are inside corners, or where the kernel is none. The bound is the
    dual's value: Σ ω θ + ⟨gradient, s⟩ lies below the risk, whatever the θ that balance at each threshold.
    """
    looks = ListedLooks(rows)
    best, bound, gap = problem.first(start if inside is None else inside.coef), -np.inf, np.inf
    centre: Floats
    thresholds: Floats
    f, thresholds = best.f, np.zeros(rows.n_levels - 1)
    centre, width = np.zeros(len(looks)), _WIDTH
    n_iter = 0
    if inside is not None:
        thresholds, n_iter = inside.thresholds, inside.n_iter
        centre = inside.multipliers / (problem.strength * looks.weight)
    while np.isfinite(best.objective) and n_iter < max_iter and width >= _NARROWEST and not (n_iter and time_is_up()):
        stage = _Stage(space, looks, problem.strength, centre, width)
        at, candidate, steps, stuck = stage.solve(f, thresholds, tol, max_iter - n_iter)
        n_iter += steps
        # scores afresh: those that were carried along have gathered rounding
        f, dual = (Function(space, coef) for coef in (at.f.coef, -problem.strength * at.risk.gradient))
        bound = max(bound, problem.strength * at.risk.plane - 0.5 * dual.square)
        point = problem.at(f if candidate is at.f else dual)
        fine = point.objective - bound <= tol * abs(point.objective)
        if point.objective < best.objective or (fine and not best.f.coef.any()):  # zero orders nothing
            best = point
        before, gap = gap, max(gap_between(best, bound), 0.0)
        logger.debug("corner %.2g: objective %.8g, gap %.2g, %d steps", width, best.objective, gap, n_iter)
        if stuck or gap <= tol * abs(best.objective) or gap == np.inf:
            break
        centre, thresholds = at.risk.multipliers, at.risk.thresholds
        width *= 0.5 if gap > _SLOW * before else 1.0
    converged = bool(gap <= tol * abs(best.objective))
    return SolveResult(best.f.coef, best.objective, gap, max(n_iter, 1), 2 * n_iter, converged)


@dataclass(frozen=True)
class _Stage:
    """A smooth problem: corners of one width around given multipliers."""

    space: KernelSpace
    looks: ListedLooks
    strength: float
    centre: Floats
    width: float

    def solve(self, f: Function, near: Floats, tol: float, max_iter: int) -> _End:
        """Take Newton's steps until little is left to gain, of the hinge's gap or of its tolerated one."""
        at = self._at(f, near)
        n_iter = 0
        while True:
            gradient = Function(self.space, at.f.coef + self.strength * at.risk.gradient)
            candidate, done = self._candidate(at, gradient, tol)
            if done or n_iter == max_iter or (n_iter and time_is_up()):
                return _End(at, candidate, n_iter, stuck=False)
            step = self._newton_step(at, gradient)
            if step is None:
                return _End(at, candidate, n_iter, stuck=True)
            slope = self.space.inner(gradient.coef, step)
            if -slope <= 1e-15 * abs(at.objective):  # rounding hides any further decrease
                return _End(at, candidate, n_iter, stuck=False)
            new = self._search_line(at, step, slope)
            if new is None:
                return _End(at, candidate, n_iter, stuck=n_iter == 0)
            at = new
            n_iter += 1

    def _at(self, f: Function, near: Floats) -> _At:
        risk = self.looks.at(f.scores, self.centre, self.width, near)
        return _At(f, risk, 0.5 * f.square + self.strength * risk.value)

    def _candidate(self, at: _At, gradient: Function, tol: float) -> _Candidate:
        """Choose what would be handed back, and say whether the stage may end.

        Good enough is the function that the dual stands for, since it rests on few rows. Zero orders nothing.
        """
        dual = at.f.plus(-1.0, gradient)
        bound = self.strength * at.risk.plane - 0.5 * dual.square
        dual_value, value = (
            0.5 * f.square + self.strength * self.looks.hinge(f.scores, at.risk.thresholds) for f in (dual, at.f)
        )
        use_dual = dual_value - bound <= tol * dual_value or dual_value <= value or not at.f.coef.any()
        chosen = dual_value if use_dual else value
        little = _LEFT * (min(dual_value, value) - bound)
        return _Candidate(dual if use_dual else at.f, chosen - bound <= tol * chosen or 0.5 * gradient.square <= little)

    def _newton_step(self, at: _At, gradient: Function) -> Function | None:
        """Solve (I + C H K) p = −g; None where that cannot be.

        Only bent rows are in H, so that p = −g + c with c on them alone. There H = D − Σ d dᵀ/Σd, one d for each
        block of thresholds and D their sum, and with R = D^½ and S = I + R K R the solution is c = R S⁻¹ (R K g + V m),
        V = R⁻¹ d: how far m the thresholds give way follows from as many equations as there are blocks.
        """
        rows, columns = at.risk.bending()
        if len(rows) == 0:
            return Function(self.space, -gradient.coef, -gradient.scores)
        if len(rows) > _MOST_BENT:
            return None
        d = self.strength * columns
        root = np.sqrt(d.sum(axis=1))
        lines = self.space.lines(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            S = lines[:, rows] * root.astype(float)
            S *= root[:, None]
            S.flat[:: len(rows) + 1] += 1.0
            V = d / root[:, None]
            try:
                factor = cholesky(S, lower=True, overwrite_a=True, check_finite=False)
                seen = np.column_stack([V, root * gradient.scores[rows]])
                W = solve_triangular(factor, seen, lower=True, overwrite_b=True, check_finite=False)
                W, q = W[:, :-1], W[:, -1]
                total = d.sum(axis=0)
                m = np.linalg.solve(np.diag(total + (total == 0)) - V.T @ V + W.T @ W, -(W.T @ q))
            except LinAlgError:  # a kernel that is none
                return None
            c = root * solve_triangular(factor, q + W @ m, lower=True, trans=1, check_finite=False)
            scores = c.astype(lines.dtype) @ lines - gradient.scores
        coef = -gradient.coef
        coef[rows] += c
        return Function(self.space, coef, scores) if np.isfinite(scores).all() else None

    def _search_line(self, at: _At, step: Function, slope: float) -> _At | None:
        """Find where the objective's slope along a step is small; None where rounding hides any decrease."""
        low, low_slope, high, high_slope = 0.0, slope, np.inf, np.inf
        length, best = 1.0, None
        for _ in range(40):
            new = self._at(at.f.plus(length, step), at.risk.thresholds)
            new_slope = self.space.inner(new.f.coef, step) + self.strength * dot(new.risk.gradient, step.scores)
            smaller = new.objective <= at.objective + _SUFFICIENT * length * slope
            if smaller and (abs(new_slope) <= -_FLATTER * slope or (new_slope < 0 and length == 1.0)):
                return new
            best = new if smaller and (best is None or new.objective < best.objective) else best
            if new_slope < 0:
                low, low_slope = length, new_slope
            else:
                high, high_slope = length, new_slope
            if high == np.inf:
                return None
            share = low_slope / (low_slope - high_slope)
            length = low + min(max(share, 0.1), 0.9) * (high - low)
        return best


# --------------------------------------------------------------------------------------------------
# Support vector ordinal regression: a risk of scores and thresholds, with the thresholds minimised out.


_SMALLEST_CORNER = 1e-9
"""Beyond this, floating point has the better of rounded corners."""

_MOST_LOOKS = 5_000_000
"""Beyond so many looks of single rows at thresholds, multipliers for each would take too much room."""

_ONE_THREAD = 3_000
"""Up to so many rows BLAS is kept to one thread: where cores are busy, several wait for each other at every product."""

_COARSER = 4
_FEWEST_ROWS = 200
_COARSE_TOL = 0.05
"""A sample of so many times fewer rows, but no fewer than these, gives a kernel problem's start, solved so well."""

_CLOSER = 1e-3
"""An interior point method goes on to this share of the tolerated gap: its last steps gain most, and cost no more."""

_LEAST_GAP = 1e-10
"""Of the objective: beyond this, rounding has the better of it."""

_NEXT_TO_NOTHING = 1e-5
"""Multipliers that are so small beside their mean, that far inside, are on their way to zero."""

_MANY_STEPS = 30
"""A sample that takes more steps than this says that all rows would, too."""


@dataclass(frozen=True)
class OrdinalProblem(Objective):
    """Minimise ½‖f‖² + C · min_b Σ ω_i Σ_j (1 − t_ij (s_i − b_j))_+, its corners rounded off over ``width``."""

    space: Space
    rows: OrdinalRows
    strength: float
    width: float = 0.0

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate the risk at these scores; with its corners, its value only."""
        if self.width > 0.0:
            return smooth_ordinal_hinge(scores, self.rows, self.width)
        unknown = np.full(len(scores), np.nan)
        return RiskAt(ordinal_hinge(scores, self.rows)[0], unknown, lambda: unknown, lambda u: unknown)


def ordinal_svm(
    problem: OrdinalProblem, *, start: Floats | None = None, tol: float = 1e-3, max_iter: int = 1000
) -> SolveResult:
    """Minimise until the duality gap is below ``tol`` times the objective.

    Over a kernel by multipliers; where that gives up, and without one, through corners that are rounded off less
    and less. The gap that a corner of width δ leaves is at most δ times the objective, so that corners alone lead to
    any tolerance.
    """
    n_iter = 0
    if isinstance(problem.space, KernelSpace) and problem.rows.n_looks <= _MOST_LOOKS:
        with one_blas_thread(when=problem.space.n_rows <= _ONE_THREAD):
            found = _over_kernel(problem, problem.space, start, tol, max_iter)
        if found.converged or found.n_iter >= max_iter:
            return found
        n_iter, start = found.n_iter, found.coef
    result = smooth_ever_less(
        problem,
        lambda width: replace(problem, width=width),
        _solve,
        start=start,
        tol=tol,
        max_iter=max_iter - n_iter,
        smallest=min(_SMALLEST_CORNER, 0.01 * tol),
    ).result()
    return replace(result, n_iter=n_iter + result.n_iter)


def _solve(problem: OrdinalProblem, /, *, start: Floats | None, tol: float, max_iter: int) -> SolveResult:
    """Solve a smooth problem."""
    preconditioner = partial(diagonal, problem) if problem.has_columns else IDENTITY
    return newton_cg(problem, start=start, preconditioner=preconditioner, tol=tol, max_iter=max_iter, certain=True)


def _over_kernel(
    problem: OrdinalProblem, space: KernelSpace, start: Floats | None, tol: float, max_iter: int
) -> SolveResult:
    """Solve by multipliers, from a sample's rough solution where nothing better is given.

    The sample keeps the strength, though its rows are fewer: a smoother function is a better start than one that
    has been bent to every one of few rows. Where already the sample takes many steps, as with a large C, an interior
    point method leads close, in a dozen of its own; each of them goes through all rows.
    """
    rows = problem.rows
    inside: InteriorSolution | None = None
    if start is None and space.n_rows >= _COARSER * _FEWEST_ROWS:
        taken = rows.sample(_COARSER, np.random.default_rng(0))  # the sample decides the path, never the answer
        some = KernelSpace(np.ascontiguousarray(space.lines(taken)[:, taken]))
        sample = replace(problem, space=some, rows=rows.take(taken))
        coarse = _over_kernel(sample, some, None, max(tol, _COARSE_TOL), max_iter)
        start = np.zeros(space.n_coef)
        start[taken] = coarse.coef
        if coarse.n_iter > _MANY_STEPS and space.n_rows <= _MOST_BENT:
            inside = _from_inside(problem, space, tol, max_iter)
    return by_multipliers(problem, space, rows, start=start, tol=tol, max_iter=max_iter, inside=inside)


def _from_inside(problem: OrdinalProblem, space: KernelSpace, tol: float, max_iter: int) -> InteriorSolution | None:
    """Solve by an interior point method; None where that does not end well."""
    looks = ListedLooks(problem.rows)
    n_thresholds, every = problem.rows.n_levels - 1, np.arange(len(looks))
    lower = np.arange(n_thresholds - 1 if problem.rows.thresholds == "explicit" else 0)
    found = interior_looks(
        space.lines(np.arange(space.n_rows)),
        RowLooks(
            looks.row,
            looks.threshold,
            looks.side,
            np.ones(len(looks)),
            every,
            problem.strength * looks.weight,
            n_thresholds,
            lower,
            lower + 1,
            np.zeros(len(lower)),
        ),
        tol=max(_CLOSER * tol, _LEAST_GAP),
        max_iter=max_iter,
    )
    if not found.converged:
        return None
    # inside, no multiplier is zero; those on their way to it are let go, so that the function rests on few rows
    kept = np.where(found.multipliers < _NEXT_TO_NOTHING * found.multipliers.mean(), 0.0, found.multipliers)
    return found._replace(coef=looks.add_to_rows(looks.side * kept), multipliers=kept)


# --------------------------------------------------------------------------------------------------
# The model.


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
    n_components : int or "auto", default=None
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

    _held: ClassVar[Held] = Held(25.0)

    objective_: float
    gap_: float
    n_iter_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        n_components: int | str | None = None,
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


METHODS = {
    "svor": Method(
        "linear, a threshold between every two levels", SVOR, costs, takes=("grades",), objection=too_many_levels
    ),
}
