"""The objective ½‖f‖² + C·n·R(s)/ΣW, and what solving it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..losses import GradedRows, PairLoss, PairSet, RiskAt, RowLoss, risk_at
from ..order import GradedPairs
from ..spaces import Function, LinearSpace, RowSpace, Space
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

    @property
    def n_active(self) -> int:
        """How many rows take part."""
        return self.space.n_rows

    @property
    def has_columns(self) -> bool:
        """Whether the function is linear in columns that can be looked at."""
        return _over_rows(self.space) is not None

    def hessian(self, coef: Floats) -> Floats:
        """Return Xᵀ H X at these coefficients: one product with the risk's Hessian a column, for few columns."""
        space = _over_rows(self.space)
        assert space is not None
        risk, X = self.risk(space.scores(coef)), space.columns()
        if risk.hessian_form is not None:
            return risk.hessian_form(X)
        return np.asarray(X.T @ np.column_stack([risk.hessian_product(column) for column in X.T]))

    def spread(self, at: Point) -> tuple[float, Floats, Floats]:
        """Return Σ_i H_ii, and the mean and the mean square of each column by H_ii."""
        space = _over_rows(self.space)
        assert space is not None
        weight = at.risk.hessian_diagonal()
        total = float(weight.sum())
        share = weight / total if total > 0 else weight
        return total, space.adjoint(share), space.weighted_squares(share)

    def sample(self, size: int, rng: np.random.Generator) -> Objective | None:
        """Draw the same linear problem over about ``size`` rows, with the same weight on the mean loss.

        None where no sample of it can be drawn.
        """
        return None

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


def _over_rows(space: Space) -> RowSpace | None:
    """Return a space with columns as such a space; asking about a class first, as a protocol takes its time."""
    return space if isinstance(space, LinearSpace) or isinstance(space, RowSpace) else None  # noqa: SIM101


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

    @property
    def n_active(self) -> int:
        """How many rows take part."""
        return len(self.pairs.active) if isinstance(self.pairs, GradedPairs) else self.space.n_rows

    def sample(self, size: int, rng: np.random.Generator) -> Problem | None:
        """Draw rows, and take the pairs among them; only of graded rows."""
        if not isinstance(self.pairs, GradedPairs) or not isinstance(self.space, RowSpace):
            return None
        rows, some = self.pairs.sample(size, rng)
        return self.restricted(self.space.take(rows), some) if some.n_pairs else None

    def restricted(self, space: Space, sample: GradedPairs) -> Problem:
        """Return the problem over a sample, with the same weight on the mean loss."""
        return Problem(space, sample, self.loss, self.strength * self.pairs.total / sample.total)


@dataclass(frozen=True)
class RowProblem(Objective):
    """Minimise ½‖f‖² + C · R(s), with R a sum of losses of single rows."""

    space: Space
    rows: GradedRows
    loss: RowLoss
    strength: float

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate the loss at these scores, the thresholds minimised out."""
        return self.loss.at(scores, self.rows)[0]

    def sample(self, size: int, rng: np.random.Generator) -> RowProblem | None:
        """Draw rows of every level."""
        drawn = self.rows.sample(size, rng)
        if drawn is None or not isinstance(self.space, RowSpace):
            return None
        rows, some = drawn
        strength = self.strength * float(self.rows.mass.sum() / some.mass.sum())
        return RowProblem(self.space.take(rows), some, self.loss, strength)


def make_problem(space: Space, pairs: PairSet, loss: PairLoss, C: float) -> Problem:
    """State the objective ½‖f‖² + C·n·R/ΣW of docs/notation.md: C means the same for any number of rows."""
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
