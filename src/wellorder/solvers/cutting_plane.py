"""Cutting planes: a non-smooth risk from below by its tangents, with a true duality gap.

R is convex, so every subgradient gives a plane below it: R(f) ≥ ⟨a_t, f⟩ + b_t. Minimising the largest
of the planes found so far (a small quadratic programme) bounds the minimum from below; the exact
objective at the best function found bounds it from above.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

import numpy as np

from ..losses import Hinge
from ..spaces import Function
from ..sweeps import Floats, dot
from .coarse_to_fine import coarse_to_fine
from .mirrored import mirrored_svm, suits_mirroring
from .planes import Planes
from .problem import Point, Problem, SolveResult
from .rounding import gap_between, round_off

logger = logging.getLogger(__name__)

_CUT_AHEAD = 0.1
"""Planes are cut this far from the best function towards the model's minimiser."""

_PATIENCE = 50
"""Rounds that show at what pace the gap falls."""

_FASTER = 3.0
"""How many times faster it may yet fall."""


def cutting_plane(
    problem: Problem, *, start: Floats | None = None, tol: float = 1e-4, max_iter: int = 1000
) -> SolveResult:
    """Minimise a problem with a hinge until the duality gap is below ``tol`` times the objective.

    Stage by stage the hinge's corner is rounded off less and less, and the smooth problem solved by Newton's
    method from the last stage's solution. Its slopes θ_ij ∈ [0, 1] make a plane below the hinge risk,
    R(f) ≥ Σ W θ (1 − a d): a mixture of the constraints of the multivariate SVM, one of which a plain cutting
    plane would be. The gap it leaves is of second order in the corner's width, since only pairs inside the
    corner add to it. Where that is not enough, plain cutting planes go on. A few listed pairs under a kernel are
    left to libsvm.
    """
    loss = problem.loss
    assert isinstance(loss, Hinge)
    if suits_mirroring(problem):
        exact = mirrored_svm(problem, tol)
        if exact.converged:
            return exact
        start = exact.coef
    found = round_off(
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
    while n_iter < max_iter and np.isfinite(best.objective):
        n_iter += 1
        target, new_bound = planes.minimise(problem.strength)
        bound = max(bound, new_bound)
        best = _search_line(problem, best, target)
        gap = gap_between(best, bound)
        gaps.append(gap)
        logger.debug("round %d: objective %.8g, gap %.2g, %d planes", n_iter, best.objective, gap, len(planes))
        if gap <= tol * abs(best.objective) or gap == np.inf or _is_hopeless(gaps, tol * abs(best.objective), max_iter):
            break
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
    for _ in range(12):
        if low_slope >= 0 or abs(high - low) <= 1e-4 * high:
            break
        rise = high_slope - low_slope
        share = -low_slope / rise if 0 < rise < np.inf else 0.5
        middle = low + min(max(share, 0.1), 0.9) * (high - low)
        trial = problem.at(best.f.plus(middle, step))
        if trial.objective < best_here.objective:
            best_here = trial
        if slope(trial) < 0:
            low, low_slope = middle, slope(trial)
        else:
            high, high_slope = middle, slope(trial)
    return best_here
