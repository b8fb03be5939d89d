"""Squared slacks an edge by Newton's method; scores may also have to be smooth over a graph of neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ..losses import RiskAt
from ..spaces import KernelSpace
from ..sweeps import Floats, dot
from .coarse_to_fine import coarse_to_fine
from .newton_cg import newton_cg
from .preconditioning import IDENTITY, Preconditioner, some_rows
from .problem import Objective, RowProblem, SolveResult

_STRONG = 10.0
"""From this bound on the Hessian on, a kernel problem is worth a preconditioner."""

_MOST_BENT = 2_000
"""Where more rows than this bend, there is no preconditioner."""

_STEPS = 3
"""Newton steps with one preconditioner: by then, other rows have slacks."""


@dataclass(frozen=True)
class SmoothProblem(RowProblem):
    """Minimise ½‖f‖² + strength · R(s) + ½ sᵀLs, with R a sum over rows, and L a graph's Laplacian times its weight."""

    laplacian: sp.csr_array

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate R(s) + sᵀLs / (2 · strength)."""
        risk, share = super().risk(scores), 1.0 / self.strength
        rough = share * (self.laplacian @ scores)
        return RiskAt(
            value=risk.value + 0.5 * dot(scores, rough),
            gradient=risk.gradient + rough,
            hessian_diagonal=lambda: risk.hessian_diagonal() + share * self.laplacian.diagonal(),
            hessian_product=lambda u: risk.hessian_product(u) + share * (self.laplacian @ u),
        )

    def sample(self, size: int, rng: np.random.Generator) -> None:
        """Draw nothing: the neighbours of a sample are others."""
        return None


def squared_slacks(problem: RowProblem, *, tol: float, max_iter: int) -> SolveResult:
    """Minimise a smooth problem of rows and thresholds, the thresholds minimised out.

    Linear ones go from coarse to fine. With a kernel, each round has a preconditioner that is exact where it starts.
    """
    space = problem.space
    if not isinstance(space, KernelSpace):
        try:
            with np.errstate(over="raise", invalid="raise"):
                return coarse_to_fine(problem, tol=tol, max_iter=max_iter)
        except FloatingPointError:
            raise ValueError("X holds values so large that sums of their squares overflow; scale its columns") from None
    start: Floats | None = None
    n_iter = n_products = 0
    while True:
        most = min(_STEPS, max_iter - n_iter)
        preconditioner = _bent_rows(problem, space, start)
        found = newton_cg(problem, start=start, preconditioner=preconditioner, tol=tol, max_iter=most)
        n_iter, n_products, start = n_iter + found.n_iter, n_products + found.n_products, found.coef
        if found.converged or found.n_iter < most or n_iter >= max_iter:
            return replace(found, n_iter=n_iter, n_products=n_products)


def _bent_rows(problem: Objective, space: KernelSpace, start: Floats | None) -> Preconditioner:
    """Invert the Hessian over the rows that bend; there is no other curvature but the identity's."""
    scores = np.zeros(space.n_rows) if start is None else space.scores(start)
    risk = problem.risk(scores)
    diagonal = problem.strength * risk.hessian_diagonal()
    rows = np.flatnonzero(diagonal > 0)
    if not 0 < len(rows) <= _MOST_BENT:
        return IDENTITY
    lines = space.lines(rows)
    if dot(diagonal[rows], lines[:, rows].diagonal().astype(float)) < _STRONG:
        return IDENTITY
    unit, bent = np.zeros(space.n_rows), np.empty((len(rows), len(rows)))
    for place, row in enumerate(rows):
        unit[row] = 1.0
        bent[:, place] = risk.hessian_product(unit)[rows]
        unit[row] = 0.0
    bent *= problem.strength
    try:
        return some_rows(lines, rows, bent)
    except np.linalg.LinAlgError:  # a kernel that is none
        return IDENTITY
