"""Support vector ordinal regression: a risk of scores and thresholds, with the thresholds minimised out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..losses import OrdinalRows, RiskAt, ordinal_hinge, rounded_ordinal_hinge
from ..spaces import LinearSpace, Space
from ..sweeps import Floats
from .newton_cg import newton_cg
from .preconditioning import IDENTITY, diagonal
from .problem import Objective, SolveResult
from .rounding import round_off

_SMALLEST_CORNER = 1e-9
"""Beyond this, floating point has the better of rounded corners."""


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
    preconditioner = diagonal(problem, start) if isinstance(problem.space, LinearSpace) else IDENTITY
    return newton_cg(problem, start=start, preconditioner=preconditioner, tol=tol, max_iter=max_iter, certain=True)
