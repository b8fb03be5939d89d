"""Risks that are sums over parts of the rows, evaluated where those lie: only coefficients travel.

A group that lies within one part has all its pairs there. So R(X w) = Σ_p R_p(X_p w), and each part can evaluate its
own risk, its gradient X_pᵀ g_p and its Hessian products X_pᵀ H_p X_p v. Losses and solvers know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..losses import PairLoss, PairSet, RiskAt, risk_at
from ..order import Balance, EndWeights, GradedPairs, OrderGraph, make_pairs
from ..spaces import CoefficientSpace, KernelSpace, LinearSpace, PartedSpace, RowSpace, Space
from ..sweeps import Array, Floats, Ints
from .problem import Point, Problem


@dataclass(frozen=True)
class PartitionedProblem(Problem):
    """Minimise ½‖w‖² + strength · Σ_p R_p(X_p w), each part of the risk being evaluated where its rows lie.

    ``space`` is that of the coefficients, and what a solver takes for scores are these. ``held`` are handles of the
    parts' pairs, which stay where their rows are.
    """

    rows: PartedSpace
    held: tuple[Any, ...]

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate every part's risk; what a part needs for products with its Hessian stays there."""
        coef, each = scores, self.rows.each
        at = each(partial(_evaluate, self.loss, coef), self.held, keep=True)
        parts = each(_first_order, at)
        return RiskAt(
            value=float(sum(value for value, _, _ in parts)),
            gradient=np.sum([gradient for _, gradient, _ in parts], axis=0),
            slope=float(sum(slope for _, _, slope in parts)),
            hessian_diagonal=lambda: np.asarray(np.sum(each(_hessian, at), axis=0)).diagonal(),
            hessian_product=lambda v: np.asarray(np.sum(each(partial(_product, v), at), axis=0)),
        )

    @property
    def has_columns(self) -> bool:
        """Whether the function is linear in columns: it is."""
        return True

    def hessian(self, coef: Floats) -> Floats:
        """Return Xᵀ H X, the parts' own added up."""
        at = self.rows.each(partial(_evaluate, self.loss, coef), self.held, keep=True)
        return np.asarray(np.sum(self.rows.each(_hessian, at), axis=0))

    def spread(self, at: Point) -> tuple[float, Floats, Floats]:
        """Return Σ_i H_ii, and the mean and the mean square of each column by H_ii, from the parts' sums."""
        there = self.rows.each(partial(_evaluate, self.loss, at.f.coef), self.held, keep=True)
        total, first, second = (np.sum(part, axis=0) for part in zip(*self.rows.each(_spread, there), strict=True))
        by = total if total > 0 else 1.0
        return float(total), first / by, second / by

    def sample(self, size: int, rng: np.random.Generator) -> Problem | None:
        """Draw rows, and take the pairs among them."""
        assert isinstance(self.pairs, GradedPairs)
        rows, some = self.pairs.sample(size, rng)
        if not some.n_pairs:
            return None
        return _pose(self.rows.take(rows), some, self.loss, self.strength * self.pairs.total / some.total)


def pose_problem(space: Space, pairs: PairSet, loss: PairLoss, C: float) -> Problem:
    """State ½‖f‖² + C·n·R/ΣW (docs/notation.md) part by part, where rows lie in parts and each group in one of them."""
    return _pose(space, pairs, loss, C * pairs.mass / pairs.total)


def _pose(space: Space, pairs: PairSet, loss: PairLoss, strength: float) -> Problem:
    # asking about a class first: asking about a protocol takes as long as a step on few rows
    if isinstance(space, LinearSpace | KernelSpace) or not isinstance(space, PartedSpace):
        return Problem(space, pairs, loss, strength)
    if not isinstance(pairs, GradedPairs) or not within_parts(space, pairs):
        return Problem(space, pairs, loss, strength)
    held = _hold_pairs(space, pairs)
    return PartitionedProblem(CoefficientSpace(space.n_coef), pairs, loss, strength, space, held)


def within_parts(space: PartedSpace, pairs: GradedPairs) -> bool:
    """Say whether every group lies within one part."""
    if len(space.bounds) == 2:
        return True
    if pairs.group is None:
        return False
    seen = np.zeros(int(pairs.group.max(initial=-1)) + 1, dtype=bool)
    for codes in space.cut(pairs.group):
        mine = np.unique(codes)
        if seen[mine].any():
            return False
        seen[mine] = True
    return True


def _hold_pairs(space: PartedSpace, pairs: GradedPairs) -> tuple[Any, ...]:
    """Send every part the levels, groups and weights of its rows, once; it makes pairs of them."""
    levels = space.cut(pairs.level)
    groups, weights = (
        [None] * len(levels) if column is None else space.cut(column) for column in (pairs.group, pairs.row_weight)
    )
    ends: list[EndWeights | None] = [None] * len(levels)
    if pairs.end_weights is not None:
        none = [None] * len(levels)
        above, below = (none if part is None else space.cut(part) for part in pairs.end_weights)
        ends = [EndWeights(*both) for both in zip(above, below, strict=True)]
    present = [np.unique(level[level >= 0]) for level in levels]
    graphs = [pairs.graph.take(places) for places in present]
    make = partial(_make_pairs, pairs.balance, pairs.compiled)
    return tuple(space.each(make, levels, groups, weights, ends, present, graphs, keep=True))


def _make_pairs(
    balance: Balance,
    compiled: bool,
    part: RowSpace,
    level: Ints,
    group: Ints | None,
    weight: Floats | None,
    ends: EndWeights | None,
    present: Array,
    graph: OrderGraph,
) -> GradedPairs | None:
    """Make the pairs of one part, its own levels numbered; None where there is no pair."""
    number = np.where(level >= 0, np.searchsorted(present, level), -1).astype(np.int32)
    if group is not None:
        group = np.unique(group, return_inverse=True)[1].astype(np.int32)
    pairs = make_pairs(number, group, weight, graph, balance, ends=ends, compiled=compiled)
    return pairs if pairs.n_pairs else None


def _evaluate(loss: PairLoss, coef: Floats, part: RowSpace, pairs: GradedPairs | None) -> RiskAt | None:
    """Evaluate one part's risk, to be kept where it is; None where it has no pair."""
    return None if pairs is None else risk_at(loss, part.scores(coef), pairs)


def _first_order(part: RowSpace, at: RiskAt | None) -> tuple[float, Floats, float]:
    """Return value, gradient in the coefficients, and slope."""
    return (0.0, np.zeros(part.n_coef), 0.0) if at is None else (at.value, part.adjoint(at.gradient), at.slope)


def _product(v: Floats, part: RowSpace, at: RiskAt | None) -> Floats:
    return np.zeros(part.n_coef) if at is None else part.adjoint(at.hessian_product(part.scores(v)))


def _hessian(part: RowSpace, at: RiskAt | None) -> Floats:
    product: Callable[[Floats], Floats] = partial(_product, part=part, at=at)
    return np.column_stack([product(unit) for unit in np.eye(part.n_coef)])


def _spread(part: RowSpace, at: RiskAt | None) -> tuple[float, Floats, Floats]:
    if at is None:
        return 0.0, np.zeros(part.n_coef), np.zeros(part.n_coef)
    weight = at.hessian_diagonal()
    return float(weight.sum()), part.adjoint(weight), part.weighted_squares(weight)
