"""What a boosted model lowers: the risk of the training rows, and beside it that of rows kept apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..losses import GradedRows, PairLoss, PairSet, RiskAt, RowLoss, risk_at
from ..order import ConsistentPairs, GradedPairs, ListedPairs, SumOfPairs, make_consistent, swapped_weight
from ..order.pairs import make_pairs
from ..sweeps import Array, Floats


@dataclass(frozen=True)
class PairRisk:
    """n·R(s)/ΣW over pairs: each row counts about once, however many pairs it is in.

    Its Hessian diagonal is the curvature of the pairs of each row, its pair with itself among them where there is one:
    then a row of weight two bends as the row listed twice.
    """

    loss: PairLoss
    pairs: PairSet
    weight: Floats
    """Of each row; zero where it is in no pair."""

    def __call__(self, scores: Floats) -> RiskAt:
        """Return the risk at these scores."""
        risk, factor = risk_at(self.loss, scores, self.pairs), self.pairs.mass / self.pairs.total
        return RiskAt(
            value=factor * risk.value,
            gradient=factor * risk.gradient,
            hessian_diagonal=lambda: factor * (risk.hessian_diagonal() + self._own_bend),
            hessian_product=lambda u: factor * risk.hessian_product(u),
        )

    @cached_property
    def _own_bend(self) -> Any:
        if not isinstance(self.pairs, ConsistentPairs):
            return 0.0
        return 2.0 * self.loss.derivatives(np.zeros(1))[2][0] * self.pairs.self_weights

    @property
    def mass(self) -> float:
        """What the risk is divided by to be a mean over pairs."""
        parts = self.pairs.parts if isinstance(self.pairs, SumOfPairs) else (self.pairs,)
        return float(sum(part.mass for part in parts))

    def mean(self, scores: Floats, thresholds: Floats) -> float:
        """Return the mean risk of a pair; there are no thresholds."""
        return self(scores).value / self.mass

    def thresholds(self, scores: Floats) -> Floats:
        """Return no thresholds."""
        return np.empty(0)


class RowRisk:
    """Σ ω_i loss(s_i, y_i; θ) over graded rows, the thresholds minimised out.

    Its Hessian diagonal is the curvature of each row's own loss, the thresholds held: then a row of weight two bends
    as the row listed twice.
    """

    def __init__(self, loss: RowLoss, rows: GradedRows) -> None:
        self._loss, self._rows = loss, rows
        self._last: tuple[Floats, Floats] | None = None
        self.weight: Floats = np.where(rows.level >= 0, rows.weight, 0.0)
        self.mass = float(self.weight.sum())

    def __call__(self, scores: Floats) -> RiskAt:
        """Return the risk at these scores."""
        near = None if self._last is None else self._last[1]
        risk, thresholds = self._loss.at(scores, self._rows, near)
        self._last = scores.copy(), thresholds
        return replace(risk, hessian_diagonal=lambda: self._loss.curvature(scores, self._rows, thresholds))

    def thresholds(self, scores: Floats) -> Floats:
        """Return the best thresholds for these scores; those of the last scores are at hand."""
        if self._last is None or not np.array_equal(self._last[0], scores):
            self(scores)
        assert self._last is not None
        return self._last[1]

    def mean(self, scores: Floats, thresholds: Floats) -> float:
        """Return the mean loss of a row at given thresholds."""
        return self._loss.value(scores, self._rows, thresholds) / self.mass


BoostRisk: TypeAlias = PairRisk | RowRisk


def choose_pairs(pairs: PairSet, consistent: Any) -> tuple[PairSet, bool]:
    """Return Theorem 4's pairs where they are asked for or stand to reason, and whether the risk is consistent.

    With two levels the plain pairs are the same sum.
    """
    asked = consistent != "auto" and bool(consistent)
    if not isinstance(pairs, GradedPairs):
        if asked:
            raise ValueError("consistent=True needs grades alone: comparisons name their pairs; use 'auto' or False")
        return pairs, False
    if consistent != "auto" and not asked:
        return pairs, False
    graph = pairs.graph.take(np.unique(pairs.level[pairs.active]))
    if not asked and not graph.is_consistent():
        return pairs, False
    return (pairs if graph.n_levels == 2 else make_consistent(pairs)), True


def swapped_share(pairs: PairSet, scores: Floats) -> float:
    """Return the share of swapped pairs, by weight; a tie is half a swap."""
    if isinstance(pairs, SumOfPairs):
        shares = [part.mass * swapped_share(part, scores) for part in pairs.parts]
        return sum(shares) / sum(part.mass for part in pairs.parts)
    if isinstance(pairs, ListedPairs):
        sign = np.sign(scores[pairs.high] - scores[pairs.low])
        return 0.5 * float(pairs.weight @ (1.0 - sign)) / pairs.total
    assert isinstance(pairs, GradedPairs)
    return float(swapped_weight(pairs, scores, "half")) / pairs.total


def row_weights(pairs: PairSet) -> Floats:
    """Return how much each row counts; zero where it is in no pair."""
    if isinstance(pairs, SumOfPairs):
        return np.asarray(np.sum([row_weights(part) for part in pairs.parts], axis=0))
    if isinstance(pairs, ListedPairs):
        ends = np.concatenate([pairs.high, pairs.low])
        return np.bincount(ends, np.tile(pairs.weight, 2), minlength=pairs.n_rows)
    assert not isinstance(pairs, ConsistentPairs)
    out = np.zeros(pairs.n_rows)
    out[pairs.active] = 1.0 if pairs.row_weight is None else pairs.row_weight[pairs.active]
    return out


def take_pairs(pairs: GradedPairs, rows: Array) -> GradedPairs:
    """Return the pairs among some of the rows."""
    group = None if pairs.group is None else pairs.group[rows]
    weight = None if pairs.row_weight is None else pairs.row_weight[rows]
    return make_pairs(pairs.level[rows], group, weight, pairs.graph, pairs.balance)


def take_rows(rows: GradedRows, places: Array) -> GradedRows:
    """Return some of the rows."""
    return GradedRows(rows.level[places], rows.weight[places], rows.n_levels)
