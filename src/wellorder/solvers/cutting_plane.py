"""Cutting planes: a non-smooth risk from below by its tangents, with a true duality gap.

R is convex, so every subgradient gives a plane below it: R(f) ≥ ⟨a_t, f⟩ + b_t. Minimising the largest
of the planes found so far (a small quadratic programme) bounds the minimum from below; the exact
objective at the best function found bounds it from above.
"""

from __future__ import annotations

import logging

import numpy as np

from ..losses import RiskAt
from ..spaces import Function, Space
from ..sweeps import Floats, dot
from .problem import Point, Problem, SolveResult
from .qp import simplex_qp

logger = logging.getLogger(__name__)

_CUT_AHEAD = 0.1
"""Planes are cut this far from the best function towards the model's minimiser."""

_IDLE = 30
"""A plane that has not mattered for this many rounds is dropped."""


class _Planes:
    """The planes R(f) ≥ ⟨a_t, f⟩ + b_t, their Gram matrix, and since when each has not mattered."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self.normals: list[Function] = []
        self.offsets = np.empty(0)
        self._gram = np.empty((0, 0))
        self._idle = np.empty(0, int)

    def add(self, f: Function, risk: RiskAt) -> None:
        """Add the tangent plane of the risk at f."""
        normal = Function(self._space, self._space.adjoint(risk.gradient))
        row = np.array([self._space.inner(other.coef, normal) for other in [*self.normals, normal]])
        self._gram = np.block([[self._gram, row[:-1, None]], [row[None, :]]])
        self.normals.append(normal)
        self.offsets = np.append(self.offsets, risk.value - dot(risk.gradient, f.scores))
        self._idle = np.append(self._idle, 0)

    def minimise(self, strength: float) -> tuple[Function, float]:
        """Minimise ½‖f‖² + strength · max(planes, 0); return the minimiser and the minimum.

        In the dual, f = −strength · Σ θ_t a_t with θ on the simplex.
        """
        theta = simplex_qp(strength**2 * self._gram, strength * self.offsets)
        bound = strength * dot(theta, self.offsets) - 0.5 * strength**2 * float(theta @ self._gram @ theta)
        coef = np.zeros(self._space.n_coef)
        for share, normal in zip(theta, self.normals, strict=True):
            coef -= strength * share * normal.coef
        self._drop_idle(theta)
        return Function(self._space, coef), bound

    def _drop_idle(self, theta: Floats) -> None:
        self._idle = np.where(theta > 1e-9, 0, self._idle + 1)
        kept = np.flatnonzero(self._idle < _IDLE)
        if len(kept) < len(theta):
            self.normals = [self.normals[t] for t in kept]
            self.offsets, self._idle = self.offsets[kept], self._idle[kept]
            self._gram = self._gram[np.ix_(kept, kept)]


def cutting_plane(
    problem: Problem, *, start: Floats | None = None, tol: float = 1e-4, max_iter: int = 1000
) -> SolveResult:
    """Minimise a convex problem until the duality gap is below ``tol`` times the objective.

    Each round solves the model over all planes, searches the exact objective along the line to its
    minimiser, and cuts a new plane a little beyond the best point found (after Franc and Sonnenburg).
    """
    space = problem.space
    best = problem.first(start)
    planes = _Planes(space)
    planes.add(best.f, best.risk)
    bound, gap, n_iter = -np.inf, np.inf, 0
    while n_iter < max_iter and np.isfinite(best.objective):
        n_iter += 1
        target, new_bound = planes.minimise(problem.strength)
        bound = max(bound, new_bound)
        best = _search_line(problem, best, target)
        gap = best.objective - bound
        logger.debug("round %d: objective %.8g, gap %.2g, %d planes", n_iter, best.objective, gap, len(planes.normals))
        if gap <= tol * abs(best.objective):
            break
        ahead = best.f.plus(_CUT_AHEAD, target.plus(-1.0, best.f))
        planes.add(ahead, problem.risk(ahead.scores))
    converged = gap <= tol * abs(best.objective)
    return SolveResult(
        best.f.coef, best.objective, gap, n_iter, 2 * n_iter, converged, n_constraints=len(planes.normals)
    )


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
        share = low_slope / (low_slope - high_slope) if np.isfinite(high_slope) else 0.5
        middle = low + min(max(share, 0.1), 0.9) * (high - low)
        trial = problem.at(best.f.plus(middle, step))
        if trial.objective < best_here.objective:
            best_here = trial
        if slope(trial) < 0:
            low, low_slope = middle, slope(trial)
        else:
            high, high_slope = middle, slope(trial)
    return best_here
