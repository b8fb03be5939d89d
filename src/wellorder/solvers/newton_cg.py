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
from ..sweeps import Floats, dot
from .preconditioning import IDENTITY, Preconditioner
from .problem import Problem, SolveResult

logger = logging.getLogger(__name__)

_TRUNCATION = 0.25
"""Conjugate gradients stop when about this share of the model's decrease is left."""

_MOST_PRODUCTS = 500

_SUFFICIENT = 1e-3
"""A step is taken when it gives at least this share of the decrease that its slope promises."""


class _Point(NamedTuple):
    f: Function
    risk: RiskAt
    objective: float


class _Step(NamedTuple):
    f: Function
    predicted: float  # the decrease of the quadratic model
    n_products: int


def newton_cg(
    problem: Problem,
    *,
    start: Floats | None = None,
    preconditioner: Preconditioner = IDENTITY,
    tol: float = 1e-4,
    max_iter: int = 100,
) -> SolveResult:
    """Minimise a smooth problem to a relative accuracy ``tol`` of the objective.

    Stops when what a Newton step can gain is below ``tol`` times the objective: that is told by the
    gradient where the preconditioner resembles the Hessian, else by conjugate gradients, whose last
    step is then taken too.
    """
    space = problem.space
    coef = np.zeros(space.n_coef) if start is None else start
    point = _evaluate(problem, Function(space, coef, np.zeros(space.n_rows) if start is None else None))
    n_products, n_iter, gap = 0, 0, np.inf
    while np.isfinite(point.objective) and n_iter < max_iter:
        gradient = point.f.coef + problem.strength * space.adjoint(point.risk.gradient)
        smoothed = Function(space, preconditioner.apply(gradient))
        fit = space.inner(gradient, smoothed)
        if fit <= 0 and preconditioner is not IDENTITY and gradient.any():  # no inverse, in floating point
            preconditioner = IDENTITY
            continue
        if fit <= 0 or (preconditioner.resembles and 0.5 * fit <= tol * abs(point.objective)):
            gap = 0.5 * fit
            break
        step = _minimise_model(problem, gradient, smoothed, fit, point.risk, preconditioner)
        n_products += step.n_products
        gap = step.predicted
        new_point = _line_search(problem, point, step.f, space.inner(gradient, step.f))
        if new_point is None:  # rounding hides any further decrease
            break
        n_iter += 1
        point = new_point
        logger.debug("step %d: objective %.10g, gained about %.2g", n_iter, point.objective, gap)
        if gap <= tol * abs(point.objective):
            break
    converged = gap <= max(tol, 1e-12) * abs(point.objective)
    return SolveResult(point.f.coef, point.objective, gap, n_iter, n_products, converged)


def _evaluate(problem: Problem, f: Function) -> _Point:
    risk = problem.risk(f.scores)
    return _Point(f, risk, problem.objective(f, risk))


def _minimise_model(
    problem: Problem,
    gradient: Floats,
    smoothed: Function,
    fit: float,
    risk: RiskAt,
    preconditioner: Preconditioner,
) -> _Step:
    """Minimise ⟨g, p⟩ + ½ ⟨p, Hp⟩ over p by preconditioned conjugate gradients, roughly.

    ``smoothed`` is M⁻¹ g and ``fit`` is ⟨g, M⁻¹ g⟩.
    """
    space, strength = problem.space, problem.strength
    residual = -gradient
    direction = Function(space, -smoothed.coef, -smoothed.scores)
    step = Function(space, np.zeros(space.n_coef), np.zeros(space.n_rows))
    predicted = 0.0
    for n_products in range(1, _MOST_PRODUCTS + 1):
        # invariant: directions are conjugate, and step minimises the model over their span
        bent = strength * risk.hessian_product(direction.scores)
        length = fit / (direction.square + dot(bent, direction.scores))
        step = step.plus(length, direction)
        residual = residual - length * (direction.coef + space.adjoint(bent))
        gain = 0.5 * length * fit
        predicted += gain
        if n_products > 1 and n_products * gain <= _TRUNCATION * predicted:
            break  # gains shrink, on average, at least this fast
        smoothed = Function(space, preconditioner.apply(residual))
        new_fit = space.inner(residual, smoothed)
        if new_fit <= 0 or (preconditioner.resembles and 0.5 * new_fit <= _TRUNCATION * predicted):
            break
        direction = smoothed.plus(new_fit / fit, direction)
        fit = new_fit
    return _Step(step, predicted, n_products)


def _line_search(problem: Problem, point: _Point, step: Function, slope: float) -> _Point | None:
    """Find a length that decreases the objective enough; None where rounding hides any decrease."""
    length = 1.0
    for _ in range(60):
        if -length * slope <= 1e-15 * abs(point.objective):
            return None
        trial = _evaluate(problem, point.f.plus(length, step))
        if trial.objective <= point.objective + _SUFFICIENT * length * slope:
            return trial
        bend = trial.objective - point.objective - length * slope  # ½ φ''·length², were φ a parabola
        guess = -0.5 * slope * length**2 / bend if np.isfinite(bend) else 0.0
        length = min(max(guess, 0.1 * length), 0.5 * length)
    return None
