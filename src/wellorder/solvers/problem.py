"""The objective ½‖f‖² + C·n·R(s)/ΣW, and what solving it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..losses import PairLoss, PairSet, RiskAt, risk_at
from ..spaces import Function, Space
from ..sweeps import Floats


class Point(NamedTuple):
    """A function, with its risk and its objective."""

    f: Function
    risk: RiskAt
    objective: float


class Objective(ABC):
    """½‖f‖² + strength · R(s), whatever R is: all that a solver of smooth problems needs to know."""

    space: Space
    strength: float

    @abstractmethod
    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate the risk at these scores."""

    def at(self, f: Function) -> Point:
        """Evaluate risk and objective at a function."""
        risk = self.risk(f.scores)
        return Point(f, risk, 0.5 * f.square + self.strength * risk.value)

    def first(self, start: Floats | None) -> Point:
        """Evaluate at the starting coefficients, or at zero."""
        space = self.space
        if start is None:
            return self.at(Function(space, np.zeros(space.n_coef), np.zeros(space.n_rows)))
        return self.at(Function(space, start))


@dataclass(frozen=True)
class Problem(Objective):
    """Minimise ½‖f‖² + strength · R(s), with strength = C·n/ΣW."""

    space: Space
    pairs: PairSet
    loss: PairLoss
    strength: float

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate the loss over the order at these scores."""
        return risk_at(self.loss, scores, self.pairs)


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
