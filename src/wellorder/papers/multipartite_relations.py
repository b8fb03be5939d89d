"""Figures 3 and 4 of 'multipartite ranking': how the scores of different methods on MovieLens relate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau

from ..estimators import SVOR, OrderBoost
from ..order import OrderGraph
from ..sweeps import Array, Floats
from .movielens import Ratings
from .multipartite_simulation import proportional_odds_score

_WIDTH = 22.0
"""σ² of SVOR's kernel: 0.5 for each of the 44 columns."""

_SVOR_COST = 100.0
"""The paper's is 500, for which a fit takes many minutes; the thresholds and the picture differ little."""

COSTS = (1.0, 2.0, 5.0, 10.0)
"""Of c_13 in Figure 4."""


@dataclass(frozen=True)
class Relation:
    """The scores of one method against those of pairwise ranking, and the line that theory draws."""

    title: str
    pairs: Floats
    """Scores of pairwise ranking with the cost that makes the two correspond, shifted to lie on theory's line."""
    scores: Floats
    line: tuple[Floats, Floats] | None
    """Theory's relation: pairwise score, the other's; None where it is a step function."""

    @property
    def tau(self) -> float:
        """Kendall's tau of the two."""
        return float(kendalltau(self.pairs, self.scores).statistic)

    @property
    def error(self) -> float:
        """The root mean square distance from theory's line, as a share of the scores' deviation."""
        if self.line is None:
            return float("nan")
        apart = self.scores - np.interp(self.pairs, *self.line)
        return float(np.sqrt(np.mean(apart**2)) / self.scores.std())


@dataclass(frozen=True)
class Relations:
    """What one sample of three categories gave."""

    against: dict[str, Relation]
    """Figure 3."""
    by_cost: dict[float, Floats]
    """Figure 4: centred scores of pairwise ranking for each c_13."""
    thresholds: dict[str, Floats]


def relate(ratings: Ratings, *, n_estimators: int = 500, n_rows: int = 3_000, seed: int = 0) -> Relations:
    """Fit the methods on ratings in three categories; rounds are chosen on as many others."""
    rng = np.random.default_rng(seed)
    category = np.digitize(ratings.rating, [4, 5]) + 1
    drawn = rng.permutation(len(category))[: 2 * n_rows]
    train, other = drawn[:n_rows], drawn[n_rows:]
    X, y = ratings.X[train], category[train]

    def boost(loss: str, order: OrderGraph | str = "full") -> OrderBoost:
        model = OrderBoost(loss, order=order, n_estimators=n_estimators)
        return model.fit(X, y, X_val=ratings.X[other], y_val=category[other])

    def pairwise(c13: float) -> Floats:
        return _centred(boost("pairs", tripartite(c13)).decision_function(X))

    by_cost = {cost: pairwise(cost) for cost in COSTS}
    ordinal = {loss: boost(loss) for loss in ("orboost", "proportional_odds")}
    theta = {loss: float(model.thresholds_[0] - model.thresholds_[1]) for loss, model in ordinal.items()}
    scores = {loss: model.decision_function(X) - model.thresholds_[1] for loss, model in ordinal.items()}
    grade = boost("squared").decision_function(X)
    svor = SVOR(C=_SVOR_COST, kernel="rbf", gamma=0.5 / _WIDTH, tol=1e-2).fit(X, y)
    against = {
        "orboost": _relation("ORBoost", pairwise(float(np.exp(-theta["orboost"]))), scores["orboost"], _same),
        "squared": _relation("regression", by_cost[2.0], grade, _regression),
        "proportional_odds": _relation(
            "proportional odds",
            by_cost[1.0],
            scores["proportional_odds"],
            lambda pairs: proportional_odds_score(np.exp(2 * pairs), theta["proportional_odds"]),
        ),
        "svor": Relation("SVOR", by_cost[1.0], svor.decision_function(X), None),
    }
    found = {loss: np.array([value, 0.0]) for loss, value in theta.items()}
    return Relations(against, by_cost, {**found, "svor": svor.thresholds_})


def tripartite(c13: float) -> OrderGraph:
    """Return the costs c_12 = c_23 = 1 and c_13."""
    return OrderGraph([1, 2, 3], [[0.0, 1.0, c13], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])


def _same(pairs: Floats) -> Floats:
    return pairs


def _regression(pairs: Floats) -> Floats:
    """Return the s_r with ½ log (s_r − 1)/(3 − s_r) = pairs."""
    odds = np.exp(2 * pairs)
    return np.asarray((1.0 + 3.0 * odds) / (1.0 + odds))


def _relation(title: str, pairs: Floats, scores: Floats, theory: Callable[[Floats], Floats]) -> Relation:
    """Shift the pairwise scores, which mean nothing up to a constant, so that theory's mean is the scores'."""
    low, high = -20.0, 20.0
    for _ in range(60):  # invariant: theory's mean is below the scores' at `low`, above at `high`
        middle = 0.5 * (low + high)
        if np.mean(theory(pairs + middle)) < scores.mean():
            low = middle
        else:
            high = middle
    shifted = pairs + low
    line = np.linspace(shifted.min(), shifted.max(), 200)
    return Relation(title, shifted, scores, (line, np.asarray(theory(line))))


def _centred(scores: Array) -> Floats:
    return np.asarray(scores - scores.mean())
