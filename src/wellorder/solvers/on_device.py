"""Problems whose scores are on a device: a small sample of the rows helps, solved there too.

Products with X cost a device so little that one sample is enough: it gives the start, and the inverse Hessian that
preconditions. Neither changes what is minimised. Vectors never leave the device; single numbers do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..order import GradedPairs
from ..sweeps import Floats, to_numpy
from .newton_cg import newton_cg
from .preconditioning import IDENTITY, Preconditioner, invert, some_rows
from .problem import Problem, SolveResult

_SAMPLE = 20_000
_ROWS_PER_COEF = 20
_MOST_COEF = 500
"""Wider linear problems are preconditioned by a diagonal: a sample's Hessian would cost more than it saves."""

_FEWEST_LANDMARKS = 200
_MOST_LANDMARKS = 2_000
_COARSE_TOL = 1e-2
"""How well the sample of a kernel problem is solved."""


def solve_on_device(
    problem: Problem, *, start: Floats | None = None, tol: float = 1e-4, max_iter: int = 100
) -> SolveResult:
    """Solve a smooth problem with :func:`newton_cg` where its rows are; the result is in NumPy arrays."""
    space: Any = problem.space
    pairs = problem.pairs
    assert isinstance(pairs, GradedPairs)
    problem = replace(problem, strength=float(problem.strength))  # a NumPy scalar would pull tensors to itself
    find_help = _kernel_help if space.is_kernel else _linear_help
    first, preconditioner = find_help(problem, space, pairs, float(tol), max_iter)
    if start is not None and np.isfinite(start).all():
        first = space.vector(start)
    result = newton_cg(problem, start=first, preconditioner=preconditioner, tol=float(tol), max_iter=max_iter)
    return replace(result, coef=to_numpy(result.coef))


def _linear_help(
    problem: Problem, space: Any, pairs: GradedPairs, tol: float, max_iter: int
) -> tuple[Any, Preconditioner]:
    """Solve a sample of a linear problem: its answer, and its inverse Hessian there."""
    zero = space.vector(np.zeros(space.n_coef))
    if space.n_coef > _MOST_COEF:
        return zero, _diagonal(problem, space)
    sample, those = problem, space
    if (size := max(_SAMPLE, _ROWS_PER_COEF * space.n_coef)) < pairs.n_rows:
        rows, some = pairs.sample(size, np.random.default_rng(0))
        if some.n_pairs == 0:
            return zero, _diagonal(problem, space)
        those = space.take(rows)
        sample = problem.restricted(those, some)
    rough = newton_cg(sample, start=zero, preconditioner=_diagonal(sample, those), tol=tol, max_iter=max_iter)
    columns = those.columns()
    bent = sample.risk(those.scores(rough.coef)).hessian_product(columns.T)
    hessian = np.eye(space.n_coef) + sample.strength * to_numpy(bent @ columns)
    inverse = space.vector(invert(hessian))
    return rough.coef, Preconditioner(lambda residual: inverse @ residual, resembles=True)


def _kernel_help(
    problem: Problem, space: Any, pairs: GradedPairs, tol: float, max_iter: int
) -> tuple[Any, Preconditioner]:
    """Solve a kernel problem over a few landmarks: its answer, and the Hessian over them, inverted."""
    start = np.zeros(space.n_coef)
    # C·n is the weight of the mean loss; the larger C, the more of the kernel's tail matters
    C = problem.strength * pairs.total / pairs.mass
    size = int(min(space.n_rows * min(0.5, max(C, 1.0) ** 0.25 / 8), _MOST_LANDMARKS))
    if size < _FEWEST_LANDMARKS:
        return space.vector(start), IDENTITY
    rows, some = pairs.sample(size, np.random.default_rng(0))
    if some.n_pairs == 0:
        return space.vector(start), IDENTITY
    lines, those = space.lines(rows), space.take(rows)
    sample, everything = problem.restricted(those, some), np.arange(len(rows), dtype=np.int32)
    zero = space.vector(np.zeros(len(rows)))
    exact = some_rows(those.lines(everything), everything, _hessian(sample, those, zero))
    rough = newton_cg(sample, start=zero, preconditioner=exact, tol=max(tol, _COARSE_TOL), max_iter=max_iter)
    start[rows] = to_numpy(rough.coef)
    return space.vector(start), some_rows(lines, rows, _hessian(sample, those, rough.coef))


def _hessian(sample: Problem, space: Any, coef: Any) -> Floats:
    """Return the whole Hessian in the scores of a sample, weighed as in the objective."""
    return sample.strength * to_numpy(
        sample.risk(space.scores(coef)).hessian_product(space.vector(np.eye(space.n_rows)))
    )


def _diagonal(problem: Problem, space: Any) -> Preconditioner:
    """Divide by about the Hessian's diagonal at zero, Σ_i H_ii (x_ik − mean_k)²."""
    weight = problem.risk(space.scores(space.vector(np.zeros(space.n_coef)))).hessian_diagonal()
    total = float(weight.sum())
    share = weight / total
    squares, mean = to_numpy(space.weighted_squares(share)), to_numpy(space.adjoint(share))
    scale = 1.0 + problem.strength * total * np.maximum(squares - mean**2, 1e-8 * squares)
    if not np.isfinite(scale).all():
        column = int(np.flatnonzero(~np.isfinite(scale))[0])
        raise ValueError(
            f"column {column} of X holds values so large that their squares overflow; scale the columns of X"
        )
    there = space.vector(scale)
    return Preconditioner(lambda residual: residual / there, resembles=False)
