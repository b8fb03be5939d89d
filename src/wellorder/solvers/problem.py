"""The objective ½‖f‖² + C·n·R(s)/ΣW, and what solving it gives."""

from __future__ import annotations

from dataclasses import dataclass

from ..losses import PairLoss, PairSet, RiskAt, risk_at
from ..spaces import Function, Space
from ..sweeps import Floats


@dataclass(frozen=True)
class Problem:
    """Minimise ½‖f‖² + strength · R(s), with strength = C·n/ΣW."""

    space: Space
    pairs: PairSet
    loss: PairLoss
    strength: float

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate the loss over the order at these scores."""
        return risk_at(self.loss, scores, self.pairs)

    def objective(self, f: Function, risk: RiskAt) -> float:
        """Evaluate the objective at a function whose risk is known."""
        return 0.5 * f.square + self.strength * risk.value


def make_problem(space: Space, pairs: PairSet, loss: PairLoss, C: float) -> Problem:
    """State (★): C means the same for a hundred rows and for a million."""
    return Problem(space, pairs, loss, C * pairs.mass / pairs.total)


@dataclass(frozen=True)
class SolveResult:
    """What a solver found; ``gap`` is about how far the objective is from its minimum."""

    coef: Floats
    objective: float
    gap: float
    n_iter: int
    n_products: int
    converged: bool
    n_constraints: int = 0
    """Planes in the final model of a cutting-plane solver."""
