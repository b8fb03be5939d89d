"""Support vector ordinal regression: a risk of scores and thresholds, with the thresholds minimised out."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from ..losses import OrdinalRows, RiskAt, ordinal_hinge, rounded_ordinal_hinge
from ..spaces import KernelSpace, Space
from ..sweeps import Floats
from .newton_cg import newton_cg
from .ordinal_kernel import by_multipliers
from .preconditioning import IDENTITY, diagonal
from .problem import Objective, SolveResult
from .rounding import round_off

_SMALLEST_CORNER = 1e-9
"""Beyond this, floating point has the better of rounded corners."""

_MOST_LOOKS = 5_000_000
"""Beyond so many looks of single rows at thresholds, multipliers for each would take too much room."""

_ONE_THREAD = 3_000
"""Up to so many rows BLAS is kept to one thread: where cores are busy, several wait for each other at every product."""

_COARSER = 4
_FEWEST_ROWS = 200
_COARSE_TOL = 0.05
"""A sample of so many times fewer rows, but no fewer than these, gives a kernel problem's start, solved so well."""


@dataclass(frozen=True)
class OrdinalProblem(Objective):
    """Minimise ½‖f‖² + C · min_b Σ ω_i Σ_j (1 − t_ij (s_i − b_j))_+, its corners rounded off over ``width``."""

    space: Space
    rows: OrdinalRows
    strength: float
    width: float = 0.0

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate the risk at these scores; with its corners, its value only."""
        if self.width > 0.0:
            return rounded_ordinal_hinge(scores, self.rows, self.width)
        unknown = np.full(len(scores), np.nan)
        return RiskAt(ordinal_hinge(scores, self.rows)[0], unknown, lambda: unknown, lambda u: unknown)


def ordinal_svm(
    problem: OrdinalProblem, *, start: Floats | None = None, tol: float = 1e-3, max_iter: int = 1000
) -> SolveResult:
    """Minimise until the duality gap is below ``tol`` times the objective.

    Over a kernel by multipliers; where that gives up, and without one, through corners that are rounded off less
    and less. The gap that a corner of width δ leaves is at most δ times the objective, so that corners alone lead to
    any tolerance.
    """
    n_iter = 0
    if isinstance(problem.space, KernelSpace) and problem.rows.n_looks <= _MOST_LOOKS:
        small = problem.space.n_rows <= _ONE_THREAD
        with threadpool_limits(limits=1, user_api="blas") if small else nullcontext():
            found = _over_kernel(problem, problem.space, start, tol, max_iter)
        if found.converged or found.n_iter >= max_iter:
            return found
        n_iter, start = found.n_iter, found.coef
    result = round_off(
        problem,
        lambda width: replace(problem, width=width),
        _solve,
        start=start,
        tol=tol,
        max_iter=max_iter - n_iter,
        smallest=min(_SMALLEST_CORNER, 0.01 * tol),
    ).result()
    return replace(result, n_iter=n_iter + result.n_iter)


def _solve(problem: OrdinalProblem, /, *, start: Floats | None, tol: float, max_iter: int) -> SolveResult:
    """Solve a smooth problem."""
    preconditioner = diagonal(problem, start) if problem.has_columns else IDENTITY
    return newton_cg(problem, start=start, preconditioner=preconditioner, tol=tol, max_iter=max_iter, certain=True)


def _over_kernel(
    problem: OrdinalProblem, space: KernelSpace, start: Floats | None, tol: float, max_iter: int
) -> SolveResult:
    """Solve by multipliers, from a sample's rough solution where nothing better is given.

    The sample keeps the strength, though its rows are fewer: a smoother function is a better start than one that
    has been bent to every one of few rows.
    """
    rows = problem.rows
    if start is None and space.n_rows >= _COARSER * _FEWEST_ROWS:
        taken = rows.sample(_COARSER, np.random.default_rng(0))  # the sample decides the path, never the answer
        some = KernelSpace(np.ascontiguousarray(space.lines(taken)[:, taken]))
        coarse = replace(problem, space=some, rows=rows.take(taken))
        start = np.zeros(space.n_coef)
        start[taken] = _over_kernel(coarse, some, None, max(tol, _COARSE_TOL), max_iter).coef
    return by_multipliers(problem, space, rows, start=start, tol=tol, max_iter=max_iter)
