"""Losses of comparisons with ties: differences beyond a threshold for the decided, within it for the ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..sweeps import Floats, Ints, dot, near_one
from .pairwise import Hinge
from .risk import PairLoss, RiskAt

_MOST_STEPS = 200
"""Of Newton and bisection together, towards the best bias."""

_ROUNDING = 1e-13
"""What is left of a slope, against the sum of its terms, that floating point cannot tell from zero."""


@dataclass(frozen=True)
class TiedPairs:
    """Comparisons of rows: the first ``n_decided`` put row ``high[k]`` above row ``low[k]``, the others are ties."""

    high: Ints
    low: Ints
    weight: Floats
    n_decided: int
    n_rows: int

    def __len__(self) -> int:
        return len(self.high)

    @property
    def n_ties(self) -> int:
        """How many comparisons are ties."""
        return len(self) - self.n_decided

    @property
    def outcome(self) -> Ints:
        """1 for each decided comparison, 0 for each tie."""
        return (np.arange(len(self)) < self.n_decided).astype(np.int64)

    def differences(self, scores: Floats) -> Floats:
        """Return s_high − s_low of each comparison."""
        return np.asarray(scores[self.high] - scores[self.low])

    def spread(self, values: Floats, sign: float = -1.0) -> Floats:
        """Give each row the values of the comparisons it is high in, and those it is low in times ``sign``."""
        n = self.n_rows
        return np.bincount(self.high, values, n) + sign * np.bincount(self.low, values, n)

    @property
    def row_shares(self) -> Floats:
        """How much of all comparing each row has part in; it adds up to 1."""
        return self.spread(self.weight, 1.0) / (2.0 * float(self.weight.sum()))

    def take(self, chosen: Ints) -> TiedPairs:
        """Return some of the comparisons, by rising number; all rows stay."""
        n_decided = int(np.searchsorted(chosen, self.n_decided))
        return TiedPairs(self.high[chosen], self.low[chosen], self.weight[chosen], n_decided, self.n_rows)

    def compact(self) -> tuple[Ints, TiedPairs]:
        """Return the rows that are compared at all, and the comparisons with only these rows, numbered anew."""
        rows, number = np.unique(np.concatenate([self.low, self.high]), return_inverse=True)
        low, high = number[: len(self)], number[len(self) :]
        return rows, TiedPairs(high, low, self.weight, self.n_decided, len(rows))


def tied_risk(loss: PairLoss, scores: Floats, pairs: TiedPairs) -> tuple[RiskAt, float]:
    r"""Return the risk of comparisons with ties, the bias β minimised out, and that bias.

    With d = s_high − s_low,

    .. math:: R(s) = \min_\beta \sum_{\text{decided}} \omega\, \ell(d + \beta)
              + \sum_{\text{ties}} \omega\, [\ell(-d - \beta) + \ell(d - \beta)]:

    decided comparisons want d above the threshold −β by the loss's margin, ties want abs(d) below it. Derivatives are
    those of the minimum: as the scores move, β gives way. O(n) a step of the search for β.
    """
    d = pairs.differences(scores)
    if not np.isfinite(d).all():
        nothing = np.zeros_like(scores)
        return RiskAt(np.inf, nothing, lambda: nothing, np.zeros_like), np.nan
    n = pairs.n_decided
    classes = _TwoClassPairs(d[:n], d[n:], pairs.weight[:n], pairs.weight[n:])
    bias = classes.best_bias(loss)
    value, slope, bend = classes.derivatives(loss, bias)
    split = classes.per_comparison
    pull = split(slope, classes.of_difference)
    own, mixed = split(bend, np.ones_like(bend)), split(bend, classes.of_difference * classes.of_bias)
    total = float(bend.sum())
    share = mixed / total if total > 0 else np.zeros_like(mixed)

    def product(u: Floats) -> Floats:
        v = pairs.differences(u)
        return pairs.spread(own * v - mixed * dot(share, v))

    return RiskAt(
        value=float(value.sum()),
        gradient=pairs.spread(pull),
        slope=float(slope.sum()),
        hessian_diagonal=lambda: pairs.spread(np.maximum(own - mixed * share, 0.0), 1.0),
        hessian_product=product,
    ), bias


def tied_value(loss: PairLoss, scores: Floats, pairs: TiedPairs, bias: float) -> float:
    """Return the same risk at a given bias."""
    d, n = pairs.differences(scores), pairs.n_decided
    classes = _TwoClassPairs(d[:n], d[n:], pairs.weight[:n], pairs.weight[n:])
    return float(classes.derivatives(loss, bias)[0].sum())


class _TwoClassPairs:
    """Comparisons as pairs of two classes: decided ones once, ties in both directions; margins are of_bias · β + at.

    Venuto, Hocking, Spanurattana and Sugiyama (2014), equation (8).
    """

    def __init__(self, decided: Floats, ties: Floats, decided_weight: Floats, tie_weight: Floats) -> None:
        self._n = len(decided)
        self.at = np.concatenate([decided, -ties, ties])
        self.weight = np.concatenate([decided_weight, tie_weight, tie_weight])
        one, other = np.ones(len(decided)), np.ones(len(ties))
        self.of_bias = np.concatenate([one, -other, -other])
        self.of_difference = np.concatenate([one, -other, other])

    def derivatives(self, loss: PairLoss, bias: float) -> tuple[Floats, Floats, Floats]:
        """Return the weighted loss, slope and curvature of each margin."""
        value, slope, bend = loss.derivatives(self.of_bias * bias + self.at)
        return self.weight * value, self.weight * slope, self.weight * bend

    def best_bias(self, loss: PairLoss) -> float:
        """Minimise over β: Newton's method, kept inside a bracket that shrinks at every step; of hinges, exactly."""
        if isinstance(loss, Hinge):
            return self._best_corner(loss.steepness)
        low, high, bias = -np.inf, np.inf, 0.0
        for step in range(_MOST_STEPS):
            _, slopes, bends = self.derivatives(loss, bias)
            slope, bend = float((self.of_bias * slopes).sum()), float(bends.sum())
            if abs(slope) <= _ROUNDING * float(np.abs(slopes).sum()):
                break
            low, high = (low, bias) if slope > 0 else (bias, high)
            new = bias - slope / bend if bend > 0 else np.nan
            if not low < new < high or (step % 4 == 3 and np.isfinite(high - low)):
                far = 1.0 + 2.0 * abs(bias)
                new = 0.5 * (low + high) if np.isfinite(high - low) else bias - np.sign(slope) * far
            if not low < new < high:  # neighbours in floating point
                break
            bias = float(new)
        return bias

    def _best_corner(self, steepness: float) -> float:
        """Return where hinges that end, for the decided, balance those that begin, for ties; the middle of a range."""
        corners = self.of_bias * (1.0 / steepness - self.at)
        order = np.argsort(corners, kind="stable")
        passed = np.cumsum(self.weight[order])
        balance = float(self.weight[: self._n].sum())
        slack = 1e-12 * float(passed[-1])
        first = int(np.searchsorted(passed, balance - slack))
        last = int(np.searchsorted(passed, balance + slack, side="right"))
        at = corners[order[[min(first, len(order) - 1), min(last, len(order) - 1)]]]
        return float(0.5 * (at[0] + at[1]))

    def per_comparison(self, values: Floats, sign: Floats) -> Floats:
        """Add up the two directions of each tie."""
        signed = sign * values
        first, second = np.split(signed[self._n :], 2)
        return np.concatenate([signed[: self._n], first + second])


def best_threshold(differences: Floats, outcome: Ints, weight: Floats | None = None) -> float:
    r"""Return the τ ≥ 0 at which 'a difference where abs(d) > τ' has the lowest zero-one loss, exactly.

    The loss changes only at values of abs(d), so one sort finds all of it: O(n log n). Of several best ranges of τ the
    lowest is taken: 0 where it is in that range, else the range's middle, and where it has no end, its beginning.

    Examples
    --------
    >>> from wellorder.losses.ties import best_threshold
    >>> best_threshold([3.0, -1.0, 0.5, -2.0], [1, 0, 0, -1])
    1.5
    """
    d, y = np.asarray(differences, dtype=float), np.asarray(outcome)
    w = np.ones(len(d)) if weight is None else near_one(weight)[0]
    size = np.abs(d)
    order = np.argsort(size, kind="stable")
    size, w = size[order], w[order]
    tied_wrong, told_wrong = y[order] != 0, np.sign(d[order]) != y[order]
    # loss(τ) with the first k comparisons, by size, taken for ties
    gain = np.concatenate([[0.0], np.cumsum(w * told_wrong - w * tied_wrong.astype(float))])
    ends = np.flatnonzero(np.append(size[1:] > size[:-1], True)) + 1 if len(d) else np.empty(0, int)
    k = ends if len(d) and size[0] == 0 else np.concatenate([[0], ends])  # at τ = 0 differences of 0 are ties already
    best = int(k[np.argmax(gain[k] >= gain[k].max() - 1e-12 * float(w.sum()))])
    if best == 0 or size[best - 1] == 0:
        return 0.0
    return float(size[best - 1] if best == len(d) else 0.5 * (size[best - 1] + size[best]))
