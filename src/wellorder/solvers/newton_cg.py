"""Truncated Newton: a quadratic model at each step, minimised by conjugate gradients, then a line search.

Every function is carried with its scores (s = X w for a linear one), so that a trial point of the
line search costs one sort and two sweeps and no product with X at all.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np

from ..losses import RiskAt
from ..spaces import Function
from ..sweeps import Floats
from .preconditioning import Preconditioner
from .problem import Problem, SolveResult

logger = logging.getLogger(__name__)

_TRUNCATION = 0.1
"""Conjugate gradients stop when about this share of the model's decrease is left."""

_SUFFICIENT = 1e-3
"""A step is taken when it gives at least this share of the decrease that its slope promises."""


class _Point(NamedTuple):
    f: Function
    risk: RiskAt
    objective: float


class _Step(NamedTuple):
    f: Function
    predicted: float  # the decrease of the quadratic model
    leftover: float  # about what a better step could gain beyond that
    n_products: int


def newton_cg(
    problem: Problem,
    *,
    start: Floats | None = None,
    preconditioner: Preconditioner | None = None,
    tol: float = 1e-4,
    max_iter: int = 100,
) -> SolveResult:
    """Minimise a smooth problem to a relative accuracy ``tol`` of the objective.

    Stops when what is still to be gained (as far as the last quadratic model, its truncation and its
    agreement with the true decrease tell) is below ``tol`` times the objective.
    """
    space = problem.space
    coef = np.zeros(space.n_coef) if start is None else start
    point = _evaluate(problem, Function(space, coef, np.zeros(space.n_rows) if start is None else None))
    n_products, n_iter, gap = 0, 0, np.inf
    converged = not np.isfinite(point.objective)
    while n_iter < max_iter and not converged:
        gradient = point.f.coef + problem.strength * space.adjoint(point.risk.gradient)
        step = _minimise_model(problem, gradient, point.risk, preconditioner)
        n_products += step.n_products
        if step.predicted <= 0 and preconditioner is not None:  # no inverse of anything, in floating point
            preconditioner = None
            continue
        new_point = _line_search(problem, point, step, space.inner(gradient, step.f))
        if new_point is None:  # rounding hides any further decrease
            gap, converged = step.predicted, step.predicted <= max(tol, 1e-9) * abs(point.objective)
            break
        n_iter += 1
        gap = step.leftover + abs(step.predicted - (point.objective - new_point.objective))
        point = new_point
        converged = gap <= tol * abs(point.objective)
        logger.debug(
            "step %d: objective %.10g, gap about %.2g, %d products", n_iter, point.objective, gap, step.n_products
        )
    return SolveResult(point.f.coef, point.objective, gap, n_iter, n_products, converged)


def _evaluate(problem: Problem, f: Function) -> _Point:
    risk = problem.risk(f.scores)
    return _Point(f, risk, problem.objective(f, risk))


def _minimise_model(problem: Problem, gradient: Floats, risk: RiskAt, preconditioner: Preconditioner | None) -> _Step:
    """Minimise ⟨g, p⟩ + ½ ⟨p, Hp⟩ over p by preconditioned conjugate gradients, roughly."""
    space, strength = problem.space, problem.strength
    step = Function(space, np.zeros(space.n_coef), np.zeros(space.n_rows))
    residual, direction, fit = -gradient, step, 1.0
    predicted, leftover = 0.0, 0.0
    for n_products in range(500):
        smoothed = Function(space, residual if preconditioner is None else preconditioner(residual))
        new_fit = space.inner(residual, smoothed)
        if n_products:
            # ½ ⟨r, M⁻¹ r⟩ is what is left to gain, as far as M resembles H
            leftover = min(leftover, 0.5 * new_fit)
        if leftover <= _TRUNCATION * predicted and (n_products or new_fit <= 0):
            break
        direction = smoothed.plus(new_fit / fit if n_products else 0.0, direction)
        fit = new_fit
        # invariant: directions are conjugate, and step minimises the model over their span
        bent = strength * risk.hessian_product(direction.scores)
        length = fit / (direction.square + float(bent @ direction.scores))
        step = step.plus(length, direction)
        residual = residual - length * (direction.coef + space.adjoint(bent))
        gain = 0.5 * length * fit
        predicted += gain
        leftover = (n_products + 1) * gain  # gains shrink, on average, at least this fast
    return _Step(step, predicted, leftover, n_products)


def _line_search(problem: Problem, point: _Point, step: _Step, slope: float) -> _Point | None:
    """Find a length that decreases the objective enough; None where rounding hides any decrease."""
    length = 1.0
    for _ in range(60):
        if -length * slope <= 1e-15 * abs(point.objective):
            return None
        trial = _evaluate(problem, point.f.plus(length, step.f))
        if trial.objective <= point.objective + _SUFFICIENT * length * slope:
            return trial
        bend = trial.objective - point.objective - length * slope  # ½ φ''·length², were φ a parabola
        guess = -0.5 * slope * length**2 / bend if np.isfinite(bend) else 0.0
        length = min(max(guess, 0.1 * length), 0.5 * length)
    return None
