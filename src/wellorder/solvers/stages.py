"""From coarse to fine: a small sample of the rows gives the start, and the shape of the Hessian.

A sample of m rows has its optimum within about d/m of the whole objective's, at m/n of the cost. The
exact Hessian over a sample, inverted, makes conjugate gradients on all rows need few products. Neither
changes what is minimised: only where from, and in how many steps.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from ..order import GradedPairs
from ..spaces import KernelSpace
from ..sweeps import Floats
from .newton import IDENTITY, Preconditioner, diagonal, newton_cg, sampled_hessian, sampled_kernel_hessian
from .problem import Objective, Point, Problem, RowProblem, SolveResult

_RATIO = 8
"""Each sample has this many times fewer rows than the next."""

_FEWEST_ROWS = 400
_ROWS_PER_COEF = 8
_MOST_COEF = 500
"""Wider linear problems are not sampled: up to here the sample's Hessian is inverted in no time."""

_FEW_COEF = 100
"""Up to here the Hessian of a sum over rows costs less than the products that it saves."""

_SAMPLE_ERROR = 0.1
"""A sample of m rows is solved to this share of d/m, about how far its optimum lies from the whole objective's."""

_MOST_HESSIAN_ROWS = 32_000
_MOST_LADDER_ENTRIES = 1_000_000
"""The Hessian is taken anew over samples up to this size; with very many levels it costs several times more."""

_COARSE_TOL = 1e-2
"""How well a kernel problem is solved over the sample that gives its start."""

_FEWEST_LANDMARKS = 200
_MOST_LANDMARKS = 2_000
"""Rows that precondition a kernel problem."""


class _StageSettings(TypedDict):
    tol: float
    max_iter: int


def coarse_to_fine(
    problem: Objective,
    *,
    start: Floats | None = None,
    tol: float = 1e-4,
    max_iter: int = 100,
    certain: bool = False,
) -> SolveResult:
    """Solve a smooth problem with :func:`newton_cg`, helped by samples of itself where it is large."""
    settings: _StageSettings = {"tol": tol, "max_iter": max_iter}
    if start is not None and not np.isfinite(start).all():
        start = None
    if isinstance(problem, Problem) and isinstance(problem.space, KernelSpace):
        return _kernel(problem, problem.space, start, certain, settings)
    samples = [problem]
    rng = np.random.default_rng(0)  # the sample decides the path, never the answer
    while (smaller := _smaller_linear(samples[-1], rng)) is not None:
        samples.append(smaller)
    coarsest = samples.pop()
    if samples and start is not None:  # it starts the whole problem; a sample only lends its Hessian
        preconditioner = sampled_hessian(coarsest, start)
        return newton_cg(problem, start=start, preconditioner=preconditioner, certain=certain, **settings)
    first = coarsest.first(None if samples else start)
    preconditioner = _first_preconditioner(coarsest, first)
    if not samples:
        return newton_cg(problem, start=first, preconditioner=preconditioner, certain=certain, **settings)
    result = newton_cg(coarsest, start=first, preconditioner=preconditioner, **_roughly(coarsest, settings))
    preconditioner = sampled_hessian(coarsest, result.coef)
    del coarsest
    while len(samples) > 1:  # a sample's rows are let go before the next larger problem is solved
        sample = samples.pop()
        result = newton_cg(sample, start=result.coef, preconditioner=preconditioner, **_roughly(sample, settings))
        if _is_cheap(sample):
            preconditioner = sampled_hessian(sample, result.coef)
        del sample
    return newton_cg(problem, start=result.coef, preconditioner=preconditioner, certain=certain, **settings)


def _roughly(sample: Objective, settings: _StageSettings) -> _StageSettings:
    """Ask of a sample's solution no more than the sample can say about the whole."""
    tol = max(settings["tol"], _SAMPLE_ERROR * sample.space.n_coef / sample.n_active)
    return {"tol": tol, "max_iter": settings["max_iter"]}


def _is_cheap(sample: Objective) -> bool:
    """Say whether a better Hessian than the smallest sample's costs less than the steps that it saves."""
    if not isinstance(sample, Problem) or sample.n_active > _MOST_HESSIAN_ROWS:
        return False
    ladder = isinstance(sample.pairs, GradedPairs) and sample.pairs.cells.pairs is None
    return not ladder or sample.n_active * sample.space.n_coef <= _MOST_LADDER_ENTRIES


def _kernel(
    problem: Problem, space: KernelSpace, start: Floats | None, certain: bool, settings: _StageSettings
) -> SolveResult:
    """Precondition a kernel problem by one sample; the larger C, the more products that saves."""
    pairs = problem.pairs
    # C·n is the weight of the mean loss; the larger C, the more of the kernel's tail matters
    C = problem.strength * pairs.total / pairs.mass
    size = int(min(space.n_rows * min(0.5, max(C, 1.0) ** 0.25 / _RATIO), _MOST_LANDMARKS))
    if size < _FEWEST_LANDMARKS or not isinstance(pairs, GradedPairs):
        return newton_cg(problem, start=start, certain=certain, **settings)
    rows, some = pairs.sample(size, np.random.default_rng(0))
    if some.n_pairs == 0:
        return newton_cg(problem, start=start, certain=certain, **settings)
    lines = space.lines(rows)
    sample = problem.restricted(KernelSpace(np.ascontiguousarray(lines[:, rows])), some)
    coarse = newton_cg(sample, tol=max(settings["tol"], _COARSE_TOL), max_iter=settings["max_iter"])
    if start is None:
        start = np.zeros(space.n_coef)
        start[rows] = coarse.coef
    preconditioner = sampled_kernel_hessian(lines, rows, sample, sample.space.scores(coarse.coef))
    return newton_cg(problem, start=start, preconditioner=preconditioner, certain=certain, **settings)


def _first_preconditioner(problem: Objective, at: Point) -> Preconditioner:
    """Choose what helps before anything is solved."""
    if not problem.has_columns:
        return IDENTITY
    n_coef = problem.space.n_coef
    if isinstance(problem, RowProblem) and n_coef <= _FEW_COEF:
        return sampled_hessian(problem, at.f.coef)
    return diagonal(problem, at)


def _smaller_linear(problem: Objective, rng: np.random.Generator) -> Objective | None:
    """Return the same linear problem over a fraction of its rows, or None if those would be too few."""
    n_coef, size = problem.space.n_coef, problem.n_active // _RATIO
    if not problem.has_columns or n_coef > _MOST_COEF:
        return None
    if size < max(_FEWEST_ROWS, _ROWS_PER_COEF * n_coef):
        return None
    return problem.sample(size, rng)
