"""Hinges with their corners rounded off, less and less, until a true duality gap is small."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from ..spaces import Function
from ..sweeps import Floats
from .planes import Planes
from .problem import Objective, Point, SolveResult

logger = logging.getLogger(__name__)

_CORNERS = 0.02, 0.5
"""How much of the hinge is rounded off at first, in units of its margin: at least and at most."""

_SHRINK = 0.05, 0.5
"""The corner becomes at most and at least so much smaller from stage to stage."""

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
class Rounded:
    """Where rounding off corners has led: the best point, planes below the risk, and the bound they give."""

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


def round_off(
    problem: Objective,
    rounded: Callable[[float], Q],
    solve: SmoothSolver[Q],
    *,
    start: Floats | None,
    tol: float,
    max_iter: int,
    steepness: float = 1.0,
    smallest: float = _SMALLEST_CORNER,
) -> Rounded:
    """Minimise a risk of hinges (1 − a z)_+ through smooth ones, until the gap is below ``tol`` times the objective.

    ``rounded(width)`` is the problem with rounded corners, and ``solve`` minimises it; its slopes make a plane
    below the risk of the problem itself. Ends without being done where the corner would become smaller than
    ``smallest``.
    """
    planes = Planes(problem.space)
    best, bound = problem.first(start), -np.inf
    width = float(np.clip(np.sqrt(10.0 * tol), *_CORNERS))
    n_iter = n_products = 0
    done = converged = False
    while np.isfinite(best.objective) and width >= smallest and n_iter < max_iter:
        smooth = rounded(width)
        found = solve(smooth, start=start, tol=0.3 * tol, max_iter=max_iter - n_iter)
        n_iter, n_products = n_iter + max(found.n_iter, 1), n_products + found.n_products
        point = problem.at(Function(problem.space, found.coef))
        risk = smooth.risk(point.f.scores)
        planes.add(risk.gradient, -risk.slope / steepness)
        target, new_bound = planes.minimise(problem.strength)
        bound = max(bound, new_bound)
        if not found.coef.any():  # good enough where it started, at zero, which orders nothing: try the planes' own
            point = problem.at(target)
        best = point if point.objective < best.objective else best
        start = found.coef
        gap = gap_between(best, bound)
        logger.debug("corner %.2g: objective %.8g, gap %.2g", width, best.objective, gap)
        if gap <= tol * abs(best.objective) or gap == np.inf:
            done, converged = True, bool(gap < np.inf)
            break
        width *= float(np.clip(np.sqrt(0.3 * tol * abs(best.objective) / gap), *_SHRINK))
    return Rounded(best, bound, planes, n_iter, n_products, done, converged)


def gap_between(best: Point, bound: float) -> float:
    """Return how far the objective is above its bound; a bound above it comes of a kernel that is none."""
    gap = best.objective - bound
    return gap if gap >= -1e-8 * abs(best.objective) else np.inf
