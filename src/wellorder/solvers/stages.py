"""From coarse to fine: a small sample of the rows gives the start, and the shape of the Hessian.

A sample of m rows has its optimum within about d/m of the whole objective's, at m/n of the cost. The
exact Hessian over a sample, inverted, makes conjugate gradients on all rows need few products. Neither
changes what is minimised: only where from, and in how many steps.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypedDict

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..order import GradedPairs
from ..spaces import KernelSpace
from ..sweeps import Floats, one_blas_thread
from .newton import IDENTITY, Preconditioner, diagonal, newton_cg, sampled_hessian, sampled_kernel_hessian
from .problem import Objective, Point, Problem, RowProblem, SolveResult

_RATIO = 8
_LARGE_RATIO = 12
_MANY_ROWS = 10_000
_VERY_MANY_ROWS = 150_000
"""How many times fewer rows each sample has than the next larger one. The large ratio serves from many rows on, where a
sample's optimum is close enough; beyond very many, a step over all rows costs more than all samples together, and the
small one serves again."""

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

COARSE_TOL = 1e-2
"""How well a kernel problem is solved over the sample that gives its start."""

_FEWEST_LANDMARKS = 200
_MOST_LANDMARKS = 2_000
"""Rows that precondition a kernel problem."""


_LARGE_C = 300.0
_MOST_FACTORED = 10_000
"""From this C on, and up to so many rows, a factor of the whole kernel costs less than the products that it saves."""

_LARGEST_C = 10_000.0
"""Beyond this C the factor in float32 would have too few digits."""

_COARSER = 2
_NO_LARGER = 0.75
"""Such a problem starts from a sample of half the rows; not where the least rows of every cell make the sample nearly
as large (over this share of all)."""

_MOST_ALONE = 4_000
"""Rows of a kernel matrix up to which one thread is enough for its factors."""

_FEW_GROUPS = 10
"""Up to this many groups are solved by that factor: moving all scores of a group alike costs nothing, which a diagonal
cannot know, so that each group needs a direction of its own."""

_STEPS = 3
"""Newton steps with one factor: by then, other pairs are within the margin."""


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
    first = partial(_first_preconditioner, coarsest)
    if not samples:
        return newton_cg(problem, start=start, preconditioner=first, certain=certain, **settings)
    result = newton_cg(coarsest, preconditioner=first, **_roughly(coarsest, settings))
    preconditioner = sampled_hessian(coarsest, result.coef)
    del coarsest, first
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


def landmark_count(problem: Problem) -> int:
    """Return how many rows precondition a kernel problem, the more the larger C; 0 where they would be too few."""
    # the larger C, the more of the kernel's tail matters
    share = min(0.5, max(_c_of(problem), 1.0) ** 0.25 / _RATIO)
    size = int(min(problem.space.n_rows * share, _MOST_LANDMARKS))
    return size if size >= _FEWEST_LANDMARKS else 0


def _c_of(problem: Problem) -> float:
    """Return C, where C·n is the weight of the mean loss."""
    return problem.strength * problem.pairs.total / problem.pairs.mass


def _kernel(
    problem: Problem, space: KernelSpace, start: Floats | None, certain: bool, settings: _StageSettings
) -> SolveResult:
    """Precondition a kernel problem by one sample; the larger C, the more products that saves."""
    pairs, C = problem.pairs, _c_of(problem)
    graded = isinstance(pairs, GradedPairs) and pairs.cells.n_groups <= _FEW_GROUPS
    if graded and _LARGE_C <= C <= _LARGEST_C and _FEWEST_LANDMARKS <= space.n_rows <= _MOST_FACTORED:
        # its triangles are solved in many short turns, for each of which BLAS's threads would wait for each other
        with one_blas_thread(when=space.n_rows <= _MOST_ALONE):
            return _kernel_by_rows(problem, space, start, certain, settings)
    size = landmark_count(problem)
    if not size or not isinstance(pairs, GradedPairs):
        return newton_cg(problem, start=start, certain=certain, **settings)
    rows, some = pairs.sample(size, np.random.default_rng(0))
    if some.n_pairs == 0:
        return newton_cg(problem, start=start, certain=certain, **settings)
    lines = space.lines(rows)
    sample = problem.restricted(KernelSpace(np.ascontiguousarray(lines[:, rows])), some)
    coarse = newton_cg(sample, tol=max(settings["tol"], COARSE_TOL), max_iter=settings["max_iter"])
    if start is None:
        start = np.zeros(space.n_coef)
        start[rows] = coarse.coef
    preconditioner = sampled_kernel_hessian(lines, rows, sample, sample.space.scores(coarse.coef))
    return newton_cg(problem, start=start, preconditioner=preconditioner, certain=certain, **settings)


def _kernel_by_rows(
    problem: Problem, space: KernelSpace, start: Floats | None, certain: bool, settings: _StageSettings
) -> SolveResult:
    """Solve a kernel problem with a large C: each few steps are preconditioned by every row's own curvature.

    So much of the kernel's tail matters then that no sample has seen it. But where a row is in many pairs, it moves
    against their mean, which is next to nothing: the Hessian is all but its diagonal D, and with I + D^½ K D^½ factored
    conjugate gradients take a handful of products.
    """
    pairs = problem.pairs
    assert isinstance(pairs, GradedPairs)
    size = space.n_rows // _COARSER
    if start is None and size >= _FEWEST_LANDMARKS:
        rows, some = pairs.sample(size, np.random.default_rng(0))
        if some.n_pairs and len(rows) <= _NO_LARGER * space.n_rows:
            sample = problem.restricted(KernelSpace(np.ascontiguousarray(space.lines(rows)[:, rows])), some)
            roughly: _StageSettings = {"tol": max(settings["tol"], COARSE_TOL), "max_iter": settings["max_iter"]}
            assert isinstance(sample.space, KernelSpace)
            start = np.zeros(space.n_coef)
            start[rows] = _kernel_by_rows(sample, sample.space, None, False, roughly).coef
    n_iter = n_products = 0
    while True:
        most = min(_STEPS, settings["max_iter"] - n_iter)
        scores = np.zeros(space.n_rows) if start is None else space.scores(start)
        preconditioner = _by_own_curvature(problem, space, scores)
        tol = settings["tol"]
        found = newton_cg(problem, start=start, preconditioner=preconditioner, certain=certain, tol=tol, max_iter=most)
        n_iter, n_products, start = n_iter + found.n_iter, n_products + found.n_products, found.coef
        if found.converged or found.n_iter < most or n_iter >= settings["max_iter"]:
            return replace(found, n_iter=n_iter, n_products=n_products)


def _by_own_curvature(problem: Problem, space: KernelSpace, scores: Floats) -> Preconditioner:
    """Invert I + D K, with D the diagonal of strength · H: M⁻¹ = I − R (I + R K R)⁻¹ R K with R = D^½."""
    own = problem.strength * problem.risk(scores).hessian_diagonal()
    rows = np.flatnonzero(own > 0)
    # half the room and time; it is a stand-in only, and what float32 leaves of it shows in the products
    root = np.sqrt(own[rows]).astype(np.float32)
    S = space.lines(rows)[:, rows].astype(np.float32)
    S *= root
    S *= root[:, None]
    S.flat[:: len(rows) + 1] += 1.0
    try:
        factor = cho_factor(S, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:  # a kernel that is none
        return IDENTITY

    def apply(residual: Floats) -> Floats:
        out = residual.copy()
        seen = root * space.scores(residual)[rows].astype(np.float32)
        out[rows] -= root * cho_solve(factor, seen, check_finite=False)
        return out

    return Preconditioner(apply, resembles=False)


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
    n_coef, n = problem.space.n_coef, problem.n_active
    size = n // (_LARGE_RATIO if _MANY_ROWS <= n < _VERY_MANY_ROWS else _RATIO)
    if not problem.has_columns or n_coef > _MOST_COEF:
        return None
    if size < max(_FEWEST_ROWS, _ROWS_PER_COEF * n_coef):
        return None
    return problem.sample(size, rng)
