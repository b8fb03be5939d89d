"""Support vector ordinal regression: a risk of scores and thresholds, with the thresholds minimised out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..losses import OrdinalRows, RiskAt, ordinal_hinge, rounded_ordinal_hinge
from ..spaces import KernelSpace, LinearSpace, Space
from ..sweeps import Floats
from .newton_cg import newton_cg
from .preconditioning import IDENTITY, Preconditioner, diagonal
from .problem import Objective, SolveResult
from .rounding import round_off

_SMALLEST_CORNER = 1e-9
"""Beyond this, floating point has the better of rounded corners."""

_STRONG = 3.0
"""From this C on, a kernel problem is worth a preconditioner."""

_STEPS = 4
"""Newton steps with one preconditioner of a kernel problem: by then, other rows are inside corners."""

_MOST_BENT = 2_000
"""Where more rows than this bend, there is no preconditioner."""


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

    The gap that a corner of width δ leaves is at most δ times the objective, so that corners alone lead to any
    tolerance.
    """
    return round_off(
        problem,
        lambda width: replace(problem, width=width),
        _solve,
        start=start,
        tol=tol,
        max_iter=max_iter,
        smallest=min(_SMALLEST_CORNER, 0.01 * tol),
    ).result()


def _solve(problem: OrdinalProblem, /, *, start: Floats | None, tol: float, max_iter: int) -> SolveResult:
    """Solve a smooth problem; under a large C with a kernel in rounds, each with a preconditioner of its own."""
    space = problem.space
    steps = _STEPS if isinstance(space, KernelSpace) and problem.strength >= _STRONG else max_iter
    n_iter = n_products = 0
    while True:
        preconditioner = diagonal(problem, start) if isinstance(space, LinearSpace) else _bent_rows(problem, start)
        most = min(steps, max_iter - n_iter)
        found = newton_cg(problem, start=start, preconditioner=preconditioner, tol=tol, max_iter=most, certain=True)
        n_iter, n_products, start = n_iter + found.n_iter, n_products + found.n_products, found.coef
        if found.converged or found.n_iter < most or n_iter >= max_iter:
            return replace(found, n_iter=n_iter, n_products=n_products)


def _bent_rows(problem: OrdinalProblem, start: Floats | None) -> Preconditioner:
    """Invert I + strength · DK, with D the Hessian's diagonal: exact but for a rank of one a threshold.

    Only rows inside corners are in D, so that by Woodbury's formula the system to solve is a small one.
    """
    space = problem.space
    if start is None or problem.strength < _STRONG or not isinstance(space, KernelSpace):
        return IDENTITY
    weight = problem.strength * problem.risk(space.scores(start)).hessian_diagonal()
    rows = np.flatnonzero(weight > 0)
    if not 0 < len(rows) <= _MOST_BENT:
        return IDENTITY
    lines, root = space.lines(rows), np.sqrt(weight[rows])
    small = np.eye(len(rows)) + root[:, None] * lines[:, rows] * root
    try:
        factor = cho_factor(small, overwrite_a=True, check_finite=False)
    except LinAlgError:  # a kernel that is none
        return IDENTITY

    def apply(residual: Floats) -> Floats:
        out = residual.copy()
        seen = root * (lines @ residual.astype(lines.dtype, copy=False))
        out[rows] -= root * cho_solve(factor, seen, check_finite=False)
        return out

    return Preconditioner(apply, resembles=False)
