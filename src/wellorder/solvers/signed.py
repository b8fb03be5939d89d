"""Newton's method over linear functions some of whose weights must not be negative, or not positive."""

from __future__ import annotations

import logging

import numpy as np

from ..deadline import time_is_up
from ..spaces import Function
from ..sweeps import Bools, Floats, Ints
from .problem import Objective, Point, SolveResult

logger = logging.getLogger(__name__)

_SUFFICIENT = 1e-4
"""A step is taken where it gives this share of the decrease that its slope promises."""

_HALVINGS = 40
_MOST_PRODUCTS = 500
_ROUNDING = 1e-9


def signed_newton(
    problem: Objective, signs: Ints, *, start: Floats | None = None, tol: float = 1e-4, max_iter: int = 1000
) -> SolveResult:
    r"""Minimise F(w) = ½‖w‖² + strength · R(Xw) over the w with :math:`σ_j w_j \ge 0` wherever σ_j is not zero.

    In each step the weights that stand at their bound, or next to it, and are pushed against it stay there; the others
    take a Newton step, found by conjugate gradients, and its path is bent at the bounds (Bertsekas 1982). As F bends at
    least as much as ½‖w‖², it cannot fall by more than

    .. math:: -\min_v \; g^\top (v - w) + \tfrac12 \|v - w\|^2

    over the same v, which is a sum over single weights: the gap that ends it is a bound, not a guess.
    """
    point = problem.first(None if start is None else _feasible(np.asarray(start, dtype=float), signs))
    gap, n_products, n_iter = np.inf, 0, 0
    # invariant: the weights of ``point`` have their signs, and its objective has never risen
    while True:
        w = point.f.coef
        gradient = w + problem.strength * problem.space.adjoint(point.risk.gradient)
        move = _feasible(w - gradient, signs) - w
        gap = max(-float(gradient @ move + 0.5 * move @ move), 0.0)
        logger.debug("step %d: objective %.10g, gap %.2g", n_iter, point.objective, gap)
        if gap <= tol * abs(point.objective) or n_iter == max_iter or (n_iter and time_is_up()):
            break
        near = np.abs(w) <= min(1e-8, float(np.linalg.norm(move)))
        held = near & (signs * gradient > 0)
        step, products = _newton_step(problem, point, gradient, ~held)
        step[held] = -w[held]
        n_products += products
        after = _along(problem, point, gradient, step, signs) or _along(problem, point, gradient, -gradient, signs)
        if after is None:  # rounding hides any further decrease
            break
        point, n_iter = after, n_iter + 1
    converged = gap <= max(tol, _ROUNDING) * abs(point.objective)
    return SolveResult(point.f.coef, point.objective, gap, n_iter, n_products, converged)


def _feasible(w: Floats, signs: Ints) -> Floats:
    """Return the nearest weights that have their signs."""
    return np.where(signs * w < 0, 0.0, w)


def _newton_step(problem: Objective, point: Point, gradient: Floats, free: Bools) -> tuple[Floats, int]:
    """Solve H p = −g over the free weights, by conjugate gradients, the better the smaller the gradient is."""
    space, strength = problem.space, problem.strength
    step = np.zeros_like(gradient)
    residual = np.where(free, -gradient, 0.0)
    start = float(np.linalg.norm(residual))
    enough = start * min(0.1, start)
    direction, square = residual.copy(), start**2
    # invariant: directions are conjugate, and residual is what of −g the step leaves
    for n_products in range(_MOST_PRODUCTS):
        if square <= enough**2 or square == 0.0:
            return step, n_products
        bent = point.risk.hessian_product(space.scores(direction))
        image = np.where(free, direction + strength * space.adjoint(bent), 0.0)
        length = square / float(direction @ image)
        step += length * direction
        residual -= length * image
        before, square = square, float(residual @ residual)
        direction = residual + (square / before) * direction
    return step, _MOST_PRODUCTS


def _along(problem: Objective, point: Point, gradient: Floats, step: Floats, signs: Ints) -> Point | None:
    """Go along a step, bent where weights come to their bounds, as far as the objective falls enough."""
    w, length = point.f.coef, 1.0
    for _ in range(_HALVINGS):
        there = _feasible(w + length * step, signs)
        slope = float(gradient @ (there - w))
        if slope < 0:
            trial = problem.at(Function(problem.space, there))
            if trial.objective <= point.objective + _SUFFICIENT * slope and trial.objective < point.objective:
                return trial
        length *= 0.5
    return None
