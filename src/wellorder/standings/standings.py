"""Standings: which thing is best, and how sure. Ratings of items from votes, with intervals, ranks and effects."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from ..order import Comparisons
from ..sweeps import Array, Floats, Ints
from .likelihood import Votes, expand, merge, most_likely, probabilities
from .sureness import difference_errors, inverse_information, rank_sets, robust_middle

_FEW_CLUSTERS = 30
"""With fewer, Student's t takes the place of the normal law."""


@dataclass(frozen=True, eq=False)
class Standings:
    """Ratings of items, and how sure they are.

    Attributes
    ----------
    items : tuple of str
    ratings : array of shape (n_items,)
        Mean zero in each island; in log-odds.
    effect_names : tuple of str
    beta : array of shape (n_effects,)
        In favour of the right side.
    log_nu : float
        Of ties; −inf where there is none.
    covariance : array of shape (n_items + n_effects + 1,) * 2
    island : array of shape (n_items,)
    tally : array of shape (n_items, 3)
        Weight of losses, ties and wins.
    n_units : int
        Votes, or clusters, whichever was taken to be independent.
    clustered : bool
    confidence : float
    """

    items: tuple[str, ...]
    ratings: Floats
    effect_names: tuple[str, ...]
    beta: Floats
    log_nu: float
    covariance: Floats
    island: Ints
    tally: Floats
    n_units: int
    clustered: bool
    confidence: float = 0.95

    @property
    def _quantile(self) -> float:
        tail = (1.0 - self.confidence) / 2.0
        if self.clustered and self.n_units < _FEW_CLUSTERS:
            return float(stats.t.isf(tail, max(self.n_units - 1, 1)))
        return float(stats.norm.isf(tail))

    @cached_property
    def _of_items(self) -> Floats:
        n = len(self.items)
        return self.covariance[:n, :n]

    @cached_property
    def _ranks(self) -> tuple[Ints, Ints]:
        return rank_sets(self.ratings, self._of_items, self.island, self.confidence)

    def table(self) -> pl.DataFrame:
        """Return a row an item, the best first, islands one after the other, the largest first."""
        reach = self._quantile * np.sqrt(np.maximum(np.diag(self._of_items), 0.0))
        low, high = self._ranks
        size = np.bincount(self.island)
        by_size = np.argsort(np.argsort(-size, kind="stable"), kind="stable")
        order = np.lexsort((-self.ratings, by_size[self.island]))
        place = np.empty(len(order), np.int64)
        for number in range(len(size)):
            members = order[self.island[order] == number]
            place[members] = np.arange(1, len(members) + 1)
        losses, ties, wins = self.tally.T
        frame = pl.DataFrame(
            {
                "item": list(self.items),
                "rating": self.ratings,
                "low": self.ratings - reach,
                "high": self.ratings + reach,
                "rank": place,
                "rank_low": low,
                "rank_high": high,
                "votes": losses + ties + wins,
                "wins": wins,
                "ties": ties,
                "losses": losses,
                "island": by_size[self.island] + 1,
            }
        )
        return frame[order.tolist()]

    def effects(self) -> pl.DataFrame:
        """Return what moves votes beside the items: estimates in log-odds, in favour of the right side."""
        n = len(self.items)
        error = np.sqrt(np.maximum(np.diag(self.covariance)[n:-1], 0.0))
        reach = self._quantile * error
        return pl.DataFrame(
            {
                "effect": list(self.effect_names),
                "estimate": self.beta,
                "low": self.beta - reach,
                "high": self.beta + reach,
            },
            schema={"effect": pl.String, "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64},
        )

    def _number(self, item: str) -> int:
        try:
            return self.items.index(item)
        except ValueError:
            raise KeyError(f"there is no item {item!r} in these standings") from None

    def probability(self, a: str, b: str) -> float:
        """Return how likely it is that a is really above b; NaN where no votes link the two."""
        i, j = self._number(a), self._number(b)
        error = difference_errors(self._of_items, self.island)[i, j]
        if i == j or not np.isfinite(error):
            return 0.5 if i == j else math.nan
        apart = self.ratings[i] - self.ratings[j]
        return float(stats.norm.cdf(apart / error)) if error > 0 else float(apart > 0)

    def predict(self, left: str, right: str, z: Sequence[float] = ()) -> dict[str, float]:
        """Return the probabilities of a vote: for the left one, for a tie, for the right one, effects included."""
        effects = np.zeros(len(self.beta)) if not len(z) else np.asarray(z, dtype=float)
        d = self.ratings[self._number(right)] - self.ratings[self._number(left)] + float(self.beta @ effects)
        found = probabilities(np.array([d]), self.log_nu)
        return dict(zip(("left", "tie", "right"), (float(each[0]) for each in found), strict=True))


def rate_votes(
    comparisons: Comparisons,
    names: Sequence[str],
    *,
    side: bool = False,
    neutral: Array | None = None,
    controls: Mapping[str, Array] | None = None,
    clusters: Sequence[Array] = (),
    confidence: float = 0.95,
) -> Standings:
    """Rate items from votes; what :func:`wellorder.rate` does once names and columns are read."""
    n = len(comparisons)
    columns: dict[str, Array] = {}
    if side:
        columns["side"] = np.ones(n) if neutral is None else (~np.asarray(neutral, dtype=bool)).astype(float)
    columns |= {name: np.asarray(values, dtype=float) for name, values in (controls or {}).items()}
    weight = np.ones(n) if comparisons.weight is None else np.asarray(comparisons.weight, dtype=float)
    whole = Votes(
        comparisons.left,
        comparisons.right,
        comparisons.outcome,
        weight,
        weight**2,
        np.column_stack(list(columns.values())) if columns else np.zeros((n, 0)),
        len(names),
    )
    numbered = tuple(np.unique(np.asarray(each), return_inverse=True)[1] for each in clusters)
    votes, numbers = merge(whole, *numbered)
    theta, _ = most_likely(votes)
    inverse = inverse_information(votes, theta)
    middle, n_units = robust_middle(votes, theta, numbers)
    cov = inverse @ middle @ inverse
    tally = np.zeros((len(names), 3))
    np.add.at(tally, (votes.left, 1 - votes.outcome), votes.weight)
    np.add.at(tally, (votes.right, 1 + votes.outcome), votes.weight)
    return Standings(
        tuple(map(str, names)),
        theta[: len(names)],
        tuple(columns),
        theta[len(names) : -1],
        float(theta[-1]),
        cov,
        votes.island,
        tally,
        n_units,
        bool(clusters),
        confidence,
    )


def log_likelihood(votes: Votes, theta: Floats) -> float:
    """Return the log-likelihood of votes."""
    return expand(votes, theta).value
