"""Cutting planes: a non-smooth risk from below by its tangents, with a true duality gap.

R is convex, so every subgradient gives a plane below it: R(f) ≥ ⟨a_t, f⟩ + b_t. Minimising the largest
of the planes found so far (a small quadratic programme) bounds the minimum from below; the exact
objective at the best function found bounds it from above.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..deadline import time_is_up
from ..losses import Hinge, PairLoss
from ..order import ListedPairs
from ..spaces import Function, KernelSpace, Space
from ..sweeps import Floats, dot
from .problem import Objective, Point, Problem, SolveResult
from .stages import coarse_to_fine

# --------------------------------------------------------------------------------------------------
# Small dense quadratic programmes, by the QP library.


_NO_BOUND = 1e15
"""Stands for no bound on the planes' shares; the library complains of larger numbers on the standard error stream."""


def simplex_qp(gram: Floats, linear: Floats, most: float = 1.0) -> Floats:
    """Minimise ½ θᵀGθ − bᵀθ over θ ≥ 0, Σθ ≤ ``most``; the result is feasible to the last bit.

    G is positive semidefinite, of a few hundred lines at most. A solution of about one is found to nine digits.
    """
    import piqp

    size = len(linear)
    # the solver's tolerances are absolute: the largest number of the objective is made one, which moves no minimiser
    largest = float(np.abs(gram).max(initial=0.0)), float(np.abs(linear).max(initial=0.0))
    unit = max(*largest, np.finfo(float).tiny)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-9
    solver.setup(
        np.asfortranarray(gram / unit + 1e-13 * np.eye(size)),  # equal planes must not make it singular
        -linear / unit,
        G=np.asfortranarray(np.ones((1, size))),
        h_u=np.array([min(most, _NO_BOUND)]),
        x_l=np.zeros(size),
    )
    solver.solve()
    # any feasible θ gives a true lower bound; one outside by 1e-12 would not, and the gap would be a guess
    theta = np.nan_to_num(np.maximum(solver.result.x, 0.0))
    return np.asarray(theta / max(1.0, float(theta.sum()) / most))


# --------------------------------------------------------------------------------------------------
# Planes below a convex risk, and what the largest of them says about the minimum of an objective.


_IDLE = 30
"""A plane that has not mattered for this many rounds is dropped."""


class Planes:
    """The planes R(f) ≥ ⟨a_t, f⟩ + b_t, their Gram matrix, and since when each has not mattered."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self.normals: list[Function] = []
        self.offsets = np.empty(0)
        self._gram = np.empty((0, 0))
        self._idle = np.empty(0, int)

    def __len__(self) -> int:
        return len(self.normals)

    def add(self, gradient: Floats, offset: float) -> None:
        """Add the plane ⟨gradient, scores of f⟩ + offset."""
        normal = Function(self._space, self._space.adjoint(gradient))
        row = np.array([self._space.inner(other.coef, normal) for other in [*self.normals, normal]])
        self._gram = np.block([[self._gram, row[:-1, None]], [row[None, :]]])
        self.normals.append(normal)
        self.offsets = np.append(self.offsets, offset)
        self._idle = np.append(self._idle, 0)

    def minimise(self, strength: float) -> tuple[Function, float]:
        """Minimise ½‖f‖² + strength · max(planes, 0); return the minimiser and the minimum.

        In the dual, f = −unit · Σ θ_t a_t with θ ≥ 0 and unit · Σ θ_t ≤ strength. Where the strength is far more than
        one plane alone would take, 10¹² as it may be by the rows' weights, that is the unit: what the solver finds
        should be of size one.
        """
        # a plane alone is best at θ · unit = b_t / ‖a_t‖², where it meets zero, unless the strength ends it before
        squares = self._gram.diagonal()
        alone = np.divide(self.offsets, squares, out=np.zeros_like(squares), where=(squares > 0) & (self.offsets > 0))
        unit = min(strength, float(alone.max(initial=0.0)) or strength)
        theta = simplex_qp(unit**2 * self._gram, unit * self.offsets, strength / unit)
        # the dual value: by weak duality no more than the minimum, whatever feasible θ the solver has found
        bound = unit * dot(theta, self.offsets) - 0.5 * unit**2 * float(theta @ self._gram @ theta)
        coef = np.zeros(self._space.n_coef)
        for share, normal in zip(theta, self.normals, strict=True):
            coef -= unit * share * normal.coef
        self._drop_idle(theta)
        return Function(self._space, coef), bound

    def _drop_idle(self, theta: Floats) -> None:
        self._idle = np.where(theta > 1e-9, 0, self._idle + 1)
        kept = np.flatnonzero(self._idle < _IDLE)
        if len(kept) < len(theta):
            self.normals = [self.normals[t] for t in kept]
            self.offsets, self._idle = self.offsets[kept], self._idle[kept]
            self._gram = self._gram[np.ix_(kept, kept)]


# --------------------------------------------------------------------------------------------------
# Hinges with their corners smoothed, less and less, until a true duality gap is small.


logger = logging.getLogger(__name__)

_CORNERS = 0.02, 0.5
"""Least and greatest width of the first stage's rounded corner, in units of the margin."""

_SHRINK = 0.05, 0.5
"""From stage to stage, the corner's width is multiplied by a factor between these two."""

_SMALLEST_CORNER = 1e-4
"""Beyond this, floating point has the better of a risk over all pairs."""


Q = TypeVar("Q", bound=Objective)
Q_in = TypeVar("Q_in", bound=Objective, contravariant=True)


class SmoothSolver(Protocol[Q_in]):
    """Minimises a smooth problem until what is left to gain is for certain below ``tol`` of the objective."""

    def __call__(self, problem: Q_in, /, *, start: Floats | None, tol: float, max_iter: int) -> SolveResult:
        """Solve from a start."""
        ...


@dataclass(frozen=True)
class Smoothed:
    """Where smoothing has led: the best point, planes below the risk, and the bound they give."""

    best: Point
    bound: float
    planes: Planes
    n_iter: int
    n_products: int
    done: bool
    """Whether the gap is small, or shows that it never will be (a kernel that is none)."""
    converged: bool

    def result(self) -> SolveResult:
        """Return what was found, as a solver does."""
        best, gap = self.best, gap_between(self.best, self.bound)
        return SolveResult(
            best.f.coef, best.objective, gap, self.n_iter, self.n_products, self.converged, len(self.planes)
        )


def smooth_ever_less(
    problem: Objective,
    smoothed: Callable[[float], Q],
    solve: SmoothSolver[Q],
    *,
    start: Floats | None,
    tol: float,
    max_iter: int,
    steepness: float = 1.0,
    smallest: float = _SMALLEST_CORNER,
) -> Smoothed:
    """Minimise a risk of hinges (1 − a z)_+ through smooth ones, until the gap is below ``tol`` times the objective.

    ``smoothed(width)`` is the problem with smoothed corners, and ``solve`` minimises it; its slopes make a plane
    below the risk of the problem itself. Ends without being done where the corner would become smaller than
    ``smallest``.
    """
    planes = Planes(problem.space)
    best, bound = problem.first(start), -np.inf
    # the gap that a corner leaves is of second order in its width: the root of the gap that is aimed at
    width = float(np.clip(np.sqrt(10.0 * tol), *_CORNERS))
    n_iter = n_products = 0
    done = converged = False
    # invariant: bound ≤ minimum ≤ best.objective, whatever the smooth problems' solver has done
    while np.isfinite(best.objective) and width >= smallest and n_iter < max_iter and not (n_iter and time_is_up()):
        smooth = smoothed(width)
        found = solve(smooth, start=start, tol=0.3 * tol, max_iter=max_iter - n_iter)
        n_iter += max(found.n_iter, 1)
        n_products += found.n_products
        point = problem.at(Function(problem.space, found.coef))
        risk = smooth.risk(point.f.scores)
        planes.add(risk.gradient, -risk.slope / steepness)
        target, new_bound = planes.minimise(problem.strength)
        bound = max(bound, new_bound)
        if not found.coef.any():  # good enough where it started, at zero, which orders nothing: try the planes' own
            point = problem.at(target)
        ends_at_zero = not best.f.coef.any() and time_is_up()  # which orders nothing
        best = point if point.objective < best.objective or ends_at_zero else best
        start = found.coef
        gap = gap_between(best, bound)
        logger.debug("corner %.2g: objective %.8g, gap %.2g", width, best.objective, gap)
        if gap <= tol * abs(best.objective) or gap == np.inf:
            done, converged = True, bool(gap < np.inf)
            break
        aim = 0.3 * tol * abs(best.objective)
        width *= float(np.clip(np.sqrt(aim / gap), *_SHRINK))
    return Smoothed(best, bound, planes, n_iter, n_products, done, converged)


def gap_between(best: Point, bound: float) -> float:
    """Return how far the objective is above its bound; a bound above it comes of a kernel that is none."""
    gap = best.objective - bound
    return gap if gap >= -1e-8 * abs(best.objective) else np.inf


# --------------------------------------------------------------------------------------------------
# The hinge over few listed pairs and a kernel, by libsvm: every pair and its negative as two classes.


_MOST_PAIRS = 2_000
_STEPS_PER_PAIR = 2_000
_TOLERANCES = (1e-3, 1e-5, 1e-7)
"""Of libsvm, one after the other until the gap is small; it keeps kernels in single precision, so no further."""


def suits_libsvm(problem: Problem) -> bool:
    """Say whether the kernel between pairs is small, and smaller than that between rows."""
    pairs = problem.pairs
    return (
        isinstance(problem.loss, Hinge)
        and isinstance(problem.space, KernelSpace)
        and isinstance(pairs, ListedPairs)
        and 0 < pairs.n_pairs <= min(_MOST_PAIRS, pairs.n_rows)
    )


def pairs_by_libsvm(problem: Problem, tol: float) -> SolveResult:
    r"""Minimise ½‖f‖² + Σ c_k (1 − a(f(high_k) − f(low_k)))_+ until the duality gap is below ``tol``.

    A support vector machine has an intercept, and a ranker none. With every difference as a row of the one class and
    its negative as a row of the other, at half the cost each, the objective is even in the intercept, and so least
    at zero. The gap is that of the problem itself: Σα − ½ αᵀPα ≤ minimum for 0 ≤ α ≤ c, P the kernel between pairs.
    """
    pairs, loss, space = problem.pairs, problem.loss, problem.space
    assert isinstance(pairs, ListedPairs)
    assert isinstance(loss, Hinge)
    assert isinstance(space, KernelSpace)
    n, a = pairs.n_pairs, loss.steepness
    difference = space.lines(pairs.high) - space.lines(pairs.low)
    P = a**2 * (difference[:, pairs.high] - difference[:, pairs.low]).astype(float)
    kernel = np.empty((2 * n, 2 * n))  # between the pairs, and then their negatives
    kernel[:n, :n] = kernel[n:, n:] = 0.5 * (P + P.T)
    kernel[:n, n:] = kernel[n:, :n] = -kernel[:n, :n]
    cost = problem.strength * pairs.weight
    steps = 0
    for accuracy in _TOLERANCES:
        alpha, n_iter, ended = _solve(kernel, cost, accuracy)
        steps += n_iter
        coef = np.zeros(pairs.n_rows)
        np.add.at(coef, pairs.high, a * alpha)
        np.subtract.at(coef, pairs.low, a * alpha)
        point = problem.at(Function(space, coef))
        dual = float(alpha.sum() - 0.5 * alpha @ kernel[:n, :n] @ alpha)
        gap = point.objective - dual
        if gap <= tol * abs(point.objective) or not ended:
            break
    converged = bool(gap <= tol * abs(point.objective))
    return SolveResult(coef, point.objective, max(gap, 0.0), steps, 2, converged, int(np.count_nonzero(alpha)))


def _solve(kernel: Floats, cost: Floats, accuracy: float) -> tuple[Floats, int, bool]:
    """Return α of each pair, libsvm's steps, and whether they were enough."""
    n = len(cost)
    from sklearn.svm import SVC

    machine = SVC(kernel="precomputed", C=1.0, tol=accuracy, max_iter=_STEPS_PER_PAIR * n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # where it does not end, another solver goes on
        machine.fit(kernel, np.repeat([1, -1], n), np.tile(0.5 * cost, 2))
    both = np.zeros(2 * n)
    both[machine.support_] = np.abs(machine.dual_coef_[0])
    # a pair's α is what its two rows have together; cut at the cost, it is feasible and its dual value a bound
    return np.minimum(both[:n] + both[n:], cost), int(np.max(machine.n_iter_)), machine.fit_status_ == 0


# --------------------------------------------------------------------------------------------------
# Cutting planes.


_CUT_AHEAD = 0.1
"""Planes are cut this far from the best function towards the model's minimiser."""

_PATIENCE = 50
"""The pace at which the gap falls is measured over this many rounds."""

_FASTER = 3.0
"""The gap is given up on if it stayed too large even when falling this many times as fast as of late."""


def cutting_plane(
    problem: Problem, *, start: Floats | None = None, tol: float = 1e-4, max_iter: int = 1000
) -> SolveResult:
    """Minimise a problem with a hinge until the duality gap is below ``tol`` times the objective.

    Stage by stage the hinge's corner is smoothed less and less, and the smooth problem solved by Newton's
    method from the last stage's solution. Its slopes θ_ij ∈ [0, 1] make a plane below the hinge risk,
    R(f) ≥ Σ W θ (1 − a d): a mixture of the constraints of the multivariate SVM, one of which a plain cutting
    plane would be. The gap it leaves is of second order in the corner's width, since only pairs inside the
    corner add to it. Where that is not enough, plain cutting planes go on. A few listed pairs under a kernel are
    left to libsvm.
    """
    loss = problem.loss
    assert isinstance(loss, Hinge)
    if suits_libsvm(problem):
        exact = pairs_by_libsvm(problem, tol)
        if exact.converged:
            return exact
        start = exact.coef
    found = smooth_ever_less(
        problem,
        lambda width: replace(problem, loss=loss.smoothed(width)),
        partial(coarse_to_fine, certain=True),
        start=start,
        tol=tol,
        max_iter=max_iter,
        steepness=loss.steepness,
    )
    if found.done:
        return found.result()
    return plain_cutting_planes(
        problem, found.planes, found.best, found.bound, tol=tol, max_iter=max_iter, n_iter=found.n_iter
    )


def plain_cutting_planes(
    problem: Problem, planes: Planes, best: Point, bound: float, *, tol: float, max_iter: int, n_iter: int = 0
) -> SolveResult:
    """Go on from planes and a point: each round cuts a tangent plane and searches a line (Franc and Sonnenburg).

    Each round solves the model over all planes, searches the exact objective along the line to its
    minimiser, and cuts a new plane a little beyond the best point found.
    """
    planes.add(best.risk.gradient, best.risk.value - dot(best.risk.gradient, best.f.scores))
    gap = gap_between(best, bound)
    gaps: list[float] = []
    # invariant: every plane lies below the risk, so that bound ≤ minimum ≤ best.objective
    while n_iter < max_iter and np.isfinite(best.objective) and not time_is_up():
        n_iter += 1
        target, new_bound = planes.minimise(problem.strength)
        bound = max(bound, new_bound)
        best = _search_line(problem, best, target)
        gap = gap_between(best, bound)
        gaps.append(gap)
        logger.debug("round %d: objective %.8g, gap %.2g, %d planes", n_iter, best.objective, gap, len(planes))
        enough = tol * abs(best.objective)
        if gap <= enough or gap == np.inf or _is_hopeless(gaps, enough, max_iter):
            break
        # a tangent at the best point itself would be the last one again where the line search did not move
        ahead = best.f.plus(_CUT_AHEAD, target.plus(-1.0, best.f))
        risk = problem.risk(ahead.scores)
        planes.add(risk.gradient, risk.value - dot(risk.gradient, ahead.scores))
    converged = gap <= tol * abs(best.objective)
    return SolveResult(best.f.coef, best.objective, gap, n_iter, 2 * n_iter, converged, n_constraints=len(planes))


def _is_hopeless(gaps: list[float], enough: float, max_iter: int) -> bool:
    """Say whether the gap, even if it fell much faster than it did of late, would not be small after all rounds."""
    if len(gaps) <= _PATIENCE:
        return False
    pace = _FASTER * np.log(gaps[-1] / gaps[-1 - _PATIENCE]) / _PATIENCE
    return bool(np.log(gaps[-1]) + pace * (max_iter - len(gaps)) > np.log(enough)) if enough > 0 else False


def _search_line(problem: Problem, best: Point, target: Function) -> Point:
    """Minimise the exact objective on the line from the best function through the target.

    The objective is convex along it, so its slope says on which side the minimum lies; regula falsi on
    the slope narrows it down. Every trial costs a sort and two sweeps, and no product with X.
    """
    step = target.plus(-1.0, best.f)

    def slope(point: Point) -> float:
        return problem.space.inner(point.f.coef, step) + problem.strength * dot(point.risk.gradient, step.scores)

    low, low_slope = 0.0, slope(best)
    high, high_slope = 1.0, 0.0
    for _ in range(20):  # a slope below zero at the target: the minimum lies beyond it
        trial = problem.at(best.f.plus(high, step))
        high_slope, found = slope(trial), trial
        if high_slope >= 0 or not np.isfinite(trial.objective):
            break
        low, low_slope, high = high, high_slope, 2.0 * high
    best_here = found if found.objective < best.objective else best
    # invariant: the slope is below zero at low and not at high, so that the minimum lies between
    for _ in range(12):
        if low_slope >= 0 or abs(high - low) <= 1e-4 * high:
            break
        rise = high_slope - low_slope
        share = -low_slope / rise if 0 < rise < np.inf else 0.5
        middle = low + min(max(share, 0.1), 0.9) * (high - low)  # at least a tenth from both ends: it always narrows
        trial = problem.at(best.f.plus(middle, step))
        if trial.objective < best_here.objective:
            best_here = trial
        if slope(trial) < 0:
            low, low_slope = middle, slope(trial)
        else:
            high, high_slope = middle, slope(trial)
    return best_here


def solver_for(loss: PairLoss) -> Callable[..., SolveResult]:
    """Return what minimises a loss over pairs: Newton's method, but for the hinge, which has a corner."""
    return cutting_plane if isinstance(loss, Hinge) else coarse_to_fine
