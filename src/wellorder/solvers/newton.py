"""Truncated Newton: a quadratic model at each step, minimised by conjugate gradients, then a line search.

Every function is carried with its scores (s = X w for a linear one), so that a trial point of the
line search costs one sort and two sweeps and no product with X at all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..deadline import time_is_up
from ..losses import RiskAt, dense_hessian
from ..order import GradedPairs
from ..spaces import Function
from ..sweeps import Floats, Ints, beside, cast, dot, namespace
from .problem import Objective, Point, Problem, SolveResult

# --------------------------------------------------------------------------------------------------
# Cheap stand-ins for the Hessian, so that conjugate gradients need few products with it.


@dataclass(frozen=True)
class Preconditioner:
    """An approximate inverse M⁻¹ of the Hessian H."""

    apply: Callable[[Floats], Floats]
    """Multiply coefficients by M⁻¹."""

    resembles: bool
    """Whether M is close to H, so that ½ ⟨r, M⁻¹ r⟩ is a fair guess of what is left to gain."""

    inverse: Floats | None = None
    """M⁻¹ itself, where it is a small matrix that may be improved on the way."""

    def learned(self, step: Floats, change: Floats) -> Preconditioner:
        """Return the nearest one whose M takes a step of the coefficients to the gradient's change along it (BFGS)."""
        bend = float(step @ change)
        if self.inverse is None or not bend > 0:  # only a positive curvature leaves M positive definite
            return self
        seen = self.inverse @ change
        cross = np.outer(seen, step) / bend
        along = (1.0 + change @ seen / bend) / bend
        return by_inverse(self.inverse - cross - cross.T + along * np.outer(step, step))


IDENTITY = Preconditioner(lambda residual: residual, resembles=False)


def sampled_hessian(sample: Objective, coef: Floats) -> Preconditioner:
    """Invert I + strength · Xᵀ H X over a sample of the rows; for few columns."""
    return by_inverse(invert(np.eye(len(coef)) + sample.strength * sample.hessian(coef)))


def by_inverse(inverse: Floats) -> Preconditioner:
    """Multiply by a matrix that is about the Hessian's inverse."""
    return Preconditioner(lambda residual: inverse @ residual, resembles=True, inverse=inverse)


def invert(hessian: Floats) -> Floats:
    """Invert a Hessian; columns of very different size must not cost digits."""
    size = np.sqrt(hessian.diagonal())
    inverse = np.linalg.inv(hessian / np.outer(size, size)) / np.outer(size, size)
    return np.asarray(0.5 * (inverse + inverse.T))


def sampled_kernel_hessian(lines: Floats, rows: Ints, sample: Problem, scores: Floats) -> Preconditioner:
    """Invert I + strength · E H EᵀK, with E the sampled rows: the Hessian over them, for all functions.

    ``lines`` is the kernel between the sampled rows and all, ``scores`` are those of the sampled rows.
    """
    assert isinstance(sample.pairs, GradedPairs)
    return some_rows(lines, rows, sample.strength * dense_hessian(sample.loss, scores, sample.pairs))


def some_rows(lines: Floats, rows: Ints, bent: Floats) -> Preconditioner:
    """Invert I + E G EᵀK, with E some rows and G = ``bent``, by Woodbury's formula: I − E (I + G K_zz)⁻¹ G EᵀK.

    ``lines`` is the kernel between these rows and all. A kernel that is none may raise ``LinAlgError``.
    """
    place = beside(lines, rows)
    bent, own = beside(lines, bent), cast(lines[:, place], "float64")
    inner = namespace(lines).linalg.solve(beside(lines, np.eye(len(rows))) + bent @ own, bent)
    inner = cast(0.5 * (inner + inner.T), lines.dtype)

    def apply(residual: Floats) -> Floats:
        out = 1.0 * residual
        out[place] -= inner @ (lines @ cast(residual, lines.dtype))
        return out

    return Preconditioner(apply, resembles=True)


def diagonal(problem: Objective, at: Point) -> Preconditioner:
    """Divide by about the Hessian's diagonal: heals columns of very different size; for any number.

    H's own diagonal would need the sums over all partners; Σ_i H_ii (x_ik − mean_k)² is close to it,
    and unlike Σ_i H_ii x_ik² it does not mistake a column's distance from zero for its spread.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scale = diagonal_of(problem.strength, *problem.spread(at))
    return Preconditioner(lambda residual: residual / scale, resembles=False)


def diagonal_of(strength: float, total: float, mean: Floats, squares: Floats) -> Floats:
    """Return 1 + strength · total · variance of each column, from its mean and mean square by the weights H_ii."""
    scale = 1.0 + strength * total * np.maximum(squares - mean**2, 1e-8 * squares)
    if not np.isfinite(scale).all():
        column = int(np.flatnonzero(~np.isfinite(scale))[0])
        raise ValueError(
            f"column {column} of X holds values so large that their squares overflow; scale the columns of X "
            "(StandardScaler)"
        )
    return np.asarray(scale)


# --------------------------------------------------------------------------------------------------
# Newton's method.


logger = logging.getLogger(__name__)

_TRUNCATION = 0.25
"""Conjugate gradients stop when about this share of the model's decrease is left."""

_MOST_PRODUCTS = 500

_CREDIBLE = 2.0
"""M is trusted to be within this factor of the Hessian, as long as no step of conjugate gradients was longer."""

_CONTRACTS = 0.25
"""Steps −M⁻¹g, which need no product with the Hessian, go on while ⟨g, M⁻¹g⟩ falls to this share or less in each."""

_ONE_LOOK = 0.6
"""Where a single such step is all that supports M, the gap must be below this share of the tolerance."""

_FURTHER = 0.01
"""Where the gradient itself must become small, a step may leave no more than this share of the tolerance ungained."""

_ROUNDING = 1e-12
"""Relative decreases of the objective that floating point may hide."""

_STANDSTILL = 10
"""So many steps in a row whose decrease floating point may hide are enough: the next thousand gain no more."""

_SUFFICIENT = 1e-3
"""A step is taken when it gives at least this share of the decrease that its slope promises."""

_STEEP = 0.1
_FARTHEST = 3.0
"""A step at whose end more than this share of its first slope is left goes on, to so many times its length at most."""


class _NewtonStep(NamedTuple):
    f: Function
    predicted: float  # the decrease of the quadratic model
    leftover: float  # at most what a better step could gain beyond that, or infinite where nobody checked
    stretch: float  # the longest step of conjugate gradients: the largest value of M/H seen
    n_products: int


class _Last(NamedTuple):
    """A step −M⁻¹ g, taken by its ``length``."""

    step: Function
    gradient: Floats
    fit: float  # ⟨g, M⁻¹ g⟩
    length: float

    def stretch(self, slope: float) -> float:
        """Return M/H along the step, H as the slope's change from −fit to the new one shows it."""
        rise = slope + self.fit
        return self.length * self.fit / rise if rise > 0 else np.inf


def newton_cg(
    problem: Objective,
    *,
    start: Floats | None = None,
    preconditioner: Preconditioner | Callable[[Point], Preconditioner] = IDENTITY,
    tol: float = 1e-4,
    max_iter: int = 100,
    certain: bool = False,
) -> SolveResult:
    """Minimise a smooth problem to a relative accuracy ``tol`` of the objective.

    The preconditioner may also be what makes one, of the point where the steps begin.

    Stops when a Newton step, solved so far that its error is bounded, promises less than ``tol`` times
    the objective; that step is taken too. Where the preconditioner M resembles the Hessian, steps −M⁻¹ g come
    first, which need no product with the Hessian: how the gradient changes along them bears M out, or does not.
    If it must be ``certain``, it goes on until ½‖∇‖² is less than that:
    the Hessian is at least the identity, so nothing more can be left to gain (and a duality gap is that small).
    """
    space = problem.space
    point = problem.first(start)
    if not isinstance(preconditioner, Preconditioner):
        preconditioner = preconditioner(point)
    n_products = n_iter = 0
    hidden = 0  # steps in a row whose decrease floating point may have hidden
    gap = stretch = np.inf
    last: _Last | None = None
    by_itself = preconditioner.inverse is not None and not certain  # whether M⁻¹ g is a step
    # invariant: the objective of ``point`` has never risen; ``gap`` is infinite, or what the last model promised:
    # its own decrease, and what a better step could have gained beyond
    while np.isfinite(point.objective) and n_iter < max_iter and not (n_iter and time_is_up()):
        enough = tol * abs(point.objective)
        gradient = point.f.coef + problem.strength * space.adjoint(point.risk.gradient)
        if certain:
            # H ≥ I, by ½‖f‖² alone: no convex function that bends so much can fall by more than ½‖∇‖²
            square = Function(space, gradient).square
            gap = 0.5 * square if square >= 0 else np.inf
            if gap <= enough:
                break
        if last is not None:  # the last step needed no product with H, but its ends show one: the gradient's change
            preconditioner = preconditioner.learned(last.length * last.step.coef, gradient - last.gradient)
        smoothed = Function(space, preconditioner.apply(gradient))
        fit = space.inner(gradient, smoothed)
        if fit <= 0 and preconditioner is not IDENTITY and gradient.any():  # no inverse, in floating point
            preconditioner, by_itself = IDENTITY, False
            continue
        if last is not None:
            stretch = last.stretch(space.inner(gradient, last.step))
            by_itself = fit <= _CONTRACTS * last.fit  # as long as such steps pay; then conjugate gradients take over
        borne_out = preconditioner.resembles and stretch < _CREDIBLE  # by the last step
        if fit <= 0:  # the very minimum; or an inner product that is none, and nothing can be said
            gap = np.inf if gradient.any() else 0.0
            break
        # what is left to gain is ½ ⟨g, H⁻¹ g⟩, at most ½ ⟨g, M⁻¹ g⟩ times the largest M/H; that is taken to be below
        # _CREDIBLE where the steps have shown nothing larger
        careful = 1.0 if last is None else _ONE_LOOK
        if borne_out and not certain and 0.5 * _CREDIBLE * fit <= careful * enough:
            gap = 0.5 * _CREDIBLE * fit
            break
        if by_itself:
            step = _NewtonStep(Function(space, -smoothed.coef, -smoothed.scores), 0.5 * fit, np.inf, np.inf, 0)
        else:
            target = _FURTHER * enough if certain else enough
            step = _minimise_model(problem, gradient, smoothed, fit, point.risk, preconditioner, target)
        n_products += step.n_products
        gap = step.predicted + step.leftover
        stretch = step.stretch
        new_point, length = _line_search(problem, point, step.f, space.inner(gradient, step.f))
        last = _Last(step.f, gradient, fit, length) if by_itself else None
        if new_point is None:  # rounding hides any further decrease, which proves nothing unless it is tiny
            gap = step.predicted if step.predicted <= _ROUNDING * abs(point.objective) else gap
            break
        n_iter += 1
        decrease = point.objective - new_point.objective
        hidden = hidden + 1 if decrease <= _ROUNDING * abs(point.objective) else 0
        point = new_point
        logger.debug("step %d: objective %.10g, gap %.2g, %d products", n_iter, point.objective, gap, n_products)
        if (0 <= gap <= enough and not certain) or hidden >= _STANDSTILL:
            break
    return _ended(point, gap, tol, n_iter, n_products)


def _ended(point: Point, gap: float, tol: float, n_iter: int, n_products: int) -> SolveResult:
    """Say how far the steps have come."""
    if gap < 0:  # a step along which rounding has turned the curvature: it says nothing about what is left
        gap = np.inf
    converged = gap <= max(tol, _ROUNDING) * abs(point.objective)
    return SolveResult(point.f.coef, point.objective, gap, n_iter, n_products, converged)


def _minimise_model(
    problem: Objective,
    gradient: Floats,
    smoothed: Function,
    fit: float,
    risk: RiskAt,
    preconditioner: Preconditioner,
    enough: float,
) -> _NewtonStep:
    """Minimise ⟨g, p⟩ + ½ ⟨p, Hp⟩ over p by preconditioned conjugate gradients, roughly.

    ``smoothed`` is M⁻¹ g and ``fit`` is ⟨g, M⁻¹ g⟩. While the decrease is large, a guess of what is left
    says when to stop. Once it could be below ``enough``, a guess will not do: see :func:`_bound`.
    """
    space, strength = problem.space, problem.strength
    zeros_like = namespace(gradient).zeros_like
    residual, direction, scores = -gradient, -smoothed.coef, -smoothed.scores
    step = Function(space, zeros_like(gradient), zeros_like(scores))
    predicted, leftover, stretch = 0.0, np.inf, 0.0
    for n_products in range(1, _MOST_PRODUCTS + 1):
        # invariant: directions are conjugate (⟨p, Hq⟩ = 0), step minimises the model over their span, residual is minus
        # the model's gradient at step, and fit is ⟨residual, M⁻¹ residual⟩; all but smoothed is changed in place
        bent = risk.hessian_product(scores)
        image = space.adjoint(bent)
        length = fit / (Function(space, direction, scores).square + strength * dot(bent, scores))
        part = length * direction
        step.add(part, length * scores)
        image *= length * strength
        image += part
        residual -= image
        gain = 0.5 * length * fit  # of the model along this direction
        predicted += gain
        stretch = max(stretch, length)
        smoothed = Function(space, preconditioner.apply(residual))
        new_fit = space.inner(residual, smoothed)
        if new_fit <= 0:  # nothing left, or nothing that floating point can tell
            leftover = 0.0 if not residual.any() else np.inf
            break
        guess = n_products * gain if n_products > 1 else np.inf  # gains shrink, on average, at least this fast
        if preconditioner.resembles and stretch < _CREDIBLE:
            guess = min(guess, 0.5 * new_fit)
        if predicted + guess <= enough:
            # nearly there: before the fit may end, the guess has to give way to a bound
            leftover = _bound(Function(space, residual), new_fit, stretch, preconditioner)
            if predicted + leftover <= enough:
                if not (preconditioner.resembles and stretch < _CREDIBLE):
                    # changed in place, the residual may be small where rounding has left the true one behind
                    image = step.coef + strength * space.adjoint(risk.hessian_product(step.scores))
                    leftover = 0.5 * Function(space, gradient + image).square
                    n_products += 1
                break
        elif predicted > enough and guess <= _TRUNCATION * predicted:
            break  # far from the end: the next point's model is worth more than the last digits of this one
        if time_is_up():
            break  # what there is of the step goes down, too
        direction *= new_fit / fit
        direction += smoothed.coef
        scores *= new_fit / fit
        scores += smoothed.scores
        fit = new_fit
    return _NewtonStep(step, predicted, leftover if predicted + leftover <= enough else np.inf, stretch, n_products)


def _bound(residual: Function, fit: float, stretch: float, preconditioner: Preconditioner) -> float:
    """Bound ½ ⟨r, H⁻¹ r⟩, what conjugate gradients have left to gain.

    H is at least the identity, so ½ ‖r‖² is a bound for certain. A preconditioner that claims to resemble H
    gives a far better one, ½ ⟨r, M⁻¹ r⟩ times the largest value of M/H, but only if the products with H itself
    bear it out: the steps' lengths are values of M/H, and must not have shown it to be far from one.
    """
    if preconditioner.resembles and stretch < _CREDIBLE:
        return 0.5 * _CREDIBLE * fit
    return 0.5 * residual.square


def _line_search(problem: Objective, point: Point, step: Function, slope: float) -> tuple[Point | None, float]:
    """Find a length that decreases the objective enough, and how long; None where rounding hides any decrease."""
    length = 1.0
    # invariant: no length tried so far was short enough, and each is at most half of the last: sixty are the end of it
    for _ in range(60):
        if -length * slope <= 1e-15 * abs(point.objective):
            return None, length
        trial = problem.at(point.f.plus(length, step))
        if trial.objective <= point.objective + _SUFFICIENT * length * slope:
            return _lengthened(problem, point, step, slope, trial) if length == 1.0 else (trial, length)
        bend = trial.objective - point.objective - length * slope  # ½ φ''·length², were φ a parabola
        guess = -0.5 * slope * length**2 / bend if np.isfinite(bend) else 0.0
        length = min(max(guess, 0.1 * length), 0.5 * length)  # the parabola's minimum, if it is neither end
    return None, length


def _lengthened(problem: Objective, point: Point, step: Function, slope: float, end: Point) -> tuple[Point, float]:
    """Go beyond the end of a step where the way still falls steeply there, if that leads lower; say how far.

    As pairs leave the margin curvature goes with them, and a model that still counts them ends too early: at half the
    way, where the first step begins at zero with every pair within the margin. The cubic with the values and slopes of
    both ends has seen some of that.
    """
    steep = problem.space.inner(end.f.coef, step) + problem.strength * dot(end.risk.gradient, step.scores)
    if not steep < _STEEP * slope:
        return end, 1.0
    # along the cubic, the slope at length t is slope + a t + b t²
    b = 3.0 * (slope + steep - 2.0 * (end.objective - point.objective))
    a = steep - slope - b
    bend = a + np.sqrt(max(a * a - 4.0 * b * slope, 0.0))
    length = min(-2.0 * slope / bend, _FARTHEST) if bend > 0 else _FARTHEST
    if length <= 1.0:
        return end, 1.0
    further = problem.at(point.f.plus(length, step))
    return (further, length) if further.objective < end.objective else (end, 1.0)
