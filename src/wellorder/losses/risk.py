"""What a loss gives back: the risk of scores under an order, with its derivatives in the scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from ..order import ConsistentPairs, GradedPairs, ListedPairs, SumOfPairs
from ..sweeps import Floats, list_pairs


@dataclass(frozen=True)
class SlopesAt:
    """A risk at one vector of scores, as far as trees ask: each row's own slope and curvature."""

    value: float
    gradient: Floats
    hessian_diagonal: Callable[[], Floats]


@dataclass(frozen=True)
class RiskAt(SlopesAt):
    """The risk R(s) = Σ W_ij · loss(s_i − s_j) at one vector of scores."""

    hessian_product: Callable[[Floats], Floats]
    """u ↦ H u, with H the (generalised) Hessian in the scores. On a device also of several u at once, one a line."""
    hessian_form: Callable[[Floats], Floats] | None = None
    """U ↦ Uᵀ H U, where that costs less than products with one column after the other."""
    slope: float = np.nan
    """Σ W_ij · loss'(s_i − s_j), of the losses that bound a hinge from below."""


LARGEST_GROUP = 20_000
"""Rows in one group up to which all pairs are visited: 2·10^8 of them."""


class PairLoss(ABC):
    """A loss ℓ(d) of the difference d = s_i − s_j of a pair whose first row should stand above.

    Convex and falling. ``derivatives`` is all that it takes: the pairs are then visited one by one, in O(Σ group²) time
    and O(n) memory. A loss with a shortcut over all pairs has its own ``graded``.
    """

    @abstractmethod
    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the loss, its slope and its curvature at each difference."""

    def graded(self, scores: Floats, pairs: GradedPairs) -> RiskAt:
        """Return the risk over the pairs of graded rows; refuse groups where visiting them would take minutes."""
        self.refuse_large_groups(pairs)
        rows, links = pairs.links
        s, n = pairs.centred(scores)[rows], pairs.n_rows
        value, total, gradient, diagonal = 0.0, 0.0, np.zeros(len(s)), np.zeros(len(s))
        for high, low, weight in list_pairs(links):
            loss, slope, curvature = (weight * part for part in self.derivatives(s[high] - s[low]))
            value, total = value + float(loss.sum()), total + float(slope.sum())
            gradient += np.bincount(high, slope, len(s)) - np.bincount(low, slope, len(s))
            diagonal += np.bincount(high, curvature, len(s)) + np.bincount(low, curvature, len(s))

        def spread(values: Floats) -> Floats:
            out = np.zeros(n)
            out[rows] = values
            return out

        def product(u: Floats) -> Floats:
            v, out = u[rows], np.zeros(len(s))
            for high, low, weight in list_pairs(links):
                bend = weight * self.derivatives(s[high] - s[low])[2] * (v[high] - v[low])
                out += np.bincount(high, bend, len(s)) - np.bincount(low, bend, len(s))
            return spread(out)

        return RiskAt(value, spread(gradient), lambda: spread(diagonal), product, slope=total)

    @property
    def called(self) -> str:
        """What errors call it."""
        return type(self).__name__.lower()

    def refuse_large_groups(self, pairs: GradedPairs) -> None:
        """Raise an error with advice where a group has more pairs than anybody waits for."""
        largest = int(np.diff(pairs.bounds).max(initial=0))
        if largest > LARGEST_GROUP:
            raise ValueError(
                f"the {self.called} loss visits every pair, and the largest group has {largest:,} rows "
                f"(at most {LARGEST_GROUP:,} are taken); use loss='squared_hinge', which is exact over all pairs in "
                "near-linear time, or draw pairs with pairs_per_item="
            )


@runtime_checkable
class Factorising(Protocol):
    """A loss that needs no copies of the rows for consistent pairs, or not for all scores."""

    def consistent(self, scores: Floats, pairs: ConsistentPairs) -> RiskAt | None:
        """Return the risk over consistent pairs; None where it takes the copies after all."""
        ...


PairSet: TypeAlias = GradedPairs | ConsistentPairs | ListedPairs | SumOfPairs


def risk_at(loss: PairLoss, scores: Floats, pairs: PairSet) -> RiskAt:
    """Evaluate a loss over an order, at the cost its shape allows."""
    if isinstance(pairs, SumOfPairs):
        return _summed(loss, scores, pairs)
    if isinstance(pairs, ListedPairs):
        return _listed(loss, scores, pairs)
    if isinstance(pairs, ConsistentPairs):
        return _consistent(loss, scores, pairs)
    return loss.graded(scores, pairs)


def dense_hessian(loss: PairLoss, scores: Floats, pairs: GradedPairs) -> Floats:
    """Return the whole Hessian in the scores, visiting every pair: for a sample of rows only."""
    n = pairs.n_rows
    rows, links = pairs.links
    out = np.zeros((n, n))
    for high, low, weight in list_pairs(links):
        i, j = rows[high], rows[low]
        curvature = weight * loss.derivatives(scores[i] - scores[j])[2]
        out += np.bincount(i.astype(np.int64) * n + j, curvature, minlength=n * n).reshape(n, n)
    out += out.T
    return np.asarray(np.diag(out.sum(axis=1)) - out)


def _listed(loss: PairLoss, scores: Floats, pairs: ListedPairs) -> RiskAt:
    """Visit listed pairs one by one."""
    high, low, n = pairs.high, pairs.low, pairs.n_rows

    def spread(values: Floats, sign: float) -> Floats:
        return np.bincount(high, values, minlength=n) + sign * np.bincount(low, values, minlength=n)

    value, slope, curvature = (pairs.weight * part for part in loss.derivatives(scores[high] - scores[low]))
    return RiskAt(
        value=float(value.sum()),
        gradient=spread(slope, -1.0),
        slope=float(slope.sum()),
        hessian_diagonal=lambda: spread(curvature, 1.0),
        hessian_product=lambda u: spread(curvature * (u[high] - u[low]), -1.0),
    )


def _consistent(loss: PairLoss, scores: Floats, pairs: ConsistentPairs) -> RiskAt:
    """Evaluate over the copies of the rows, and add up what the copies of one row get."""
    if isinstance(loss, Factorising) and (short := loss.consistent(scores, pairs)) is not None:
        return short
    risk = loss.graded(pairs.spread(scores), pairs.doubled)

    def diagonal() -> Floats:
        # a row's pair with itself costs loss(0) whatever its score, but adds its curvature to both of its copies
        own = 2.0 * loss.derivatives(np.zeros(1))[2][0] * pairs.self_weights
        return np.asarray(np.maximum(pairs.gather(risk.hessian_diagonal()) - own, 0.0))

    return RiskAt(
        value=risk.value,
        gradient=pairs.gather(risk.gradient),
        slope=risk.slope,
        hessian_diagonal=diagonal,
        hessian_product=lambda u: pairs.gather(risk.hessian_product(pairs.spread(u))),
    )


def _summed(loss: PairLoss, scores: Floats, pairs: SumOfPairs) -> RiskAt:
    """Add up the parts' mean risks, each times its mass."""
    shares = [part.mass / part.total for part in pairs.parts]
    risks = [risk_at(loss, scores, part) for part in pairs.parts]

    def add(values: list[Floats]) -> Floats:
        return np.asarray(np.sum([share * value for share, value in zip(shares, values, strict=True)], axis=0))

    return RiskAt(
        value=float(sum(share * risk.value for share, risk in zip(shares, risks, strict=True))),
        gradient=add([risk.gradient for risk in risks]),
        slope=float(sum(share * risk.slope for share, risk in zip(shares, risks, strict=True))),
        hessian_diagonal=lambda: add([risk.hessian_diagonal() for risk in risks]),
        hessian_product=lambda u: add([risk.hessian_product(u) for risk in risks]),
    )
