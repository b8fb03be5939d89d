"""Figure 1 of 'multipartite ranking': four methods on three normal classes, beside what theory says they tend to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..estimators import SVOR, OrderBoost
from ..sweeps import Array, Floats

GRID = np.linspace(-3.0, 3.0, 241)
_INNER = np.abs(GRID) <= 2.5
_STEPS = np.array([0.5, 1.0, 2.0])
"""Where the likelihood ratio lets SVOR's step function rise."""


@dataclass(frozen=True)
class Curve:
    """One method's score over the grid, and theory's."""

    estimate: Floats
    theory: Floats
    thresholds: Floats
    """Those of an ordinal model, the last one at zero (SVOR's as they are); else none."""
    n_rounds: int

    @property
    def error(self) -> float:
        """The largest distance from theory on [−2.5, 2.5], as a share of theory's range there, but for a constant."""
        apart = (self.estimate - self.theory)[_INNER]
        return float(0.5 * np.ptp(apart) / np.ptp(self.theory[_INNER]))


def draw(rng: np.random.Generator, n_each: int = 500) -> tuple[Floats, Array]:
    """Draw X | Y = k ~ N(2 (k − 2), 1), as many of each class."""
    y = np.repeat([1, 2, 3], n_each)
    return (rng.standard_normal(len(y)) + 2.0 * (y - 2))[:, None], y


def simulate(seed: int = 0, n_each: int = 500) -> dict[str, Curve]:
    """Fit the four methods of Figure 1; rounds are chosen on a second sample of the same size."""
    rng = np.random.default_rng(seed)
    (X, y), (X_val, y_val) = draw(rng, n_each), draw(rng, n_each)
    scale = X.std()  # bumps are as wide as sigma² = 0.5 on x itself, not on x standardised
    curves = {}
    for name, theory in _THEORIES.items():
        model = OrderBoost(name, width=0.5 / scale**2).fit(X, y, X_val=X_val, y_val=y_val)
        found = getattr(model, "thresholds_", np.zeros(0))
        at = found - found[-1] if len(found) else found
        estimate = model.decision_function(GRID[:, None]) - (found[-1] if len(found) else 0.0)
        curves[name] = Curve(_centred(estimate), _centred(theory(at)), at, model.n_estimators_)
    svor = SVOR(C=10.0, kernel="rbf", gamma=1.0).fit(X, y)
    low, high = svor.thresholds_
    places = np.sort([low - 1.0, low + 1.0, high - 1.0, high + 1.0])
    steps = places[np.searchsorted(_STEPS, ratio(GRID))]
    curves["svor"] = Curve(svor.decision_function(GRID[:, None]), steps, svor.thresholds_, svor.n_iter_)
    return curves


def ratio(x: Floats) -> Floats:
    """Return f0*(x) = (p2 + p3) / (p1 + p2) at unit costs."""
    return np.asarray((np.exp(2 * x) + np.exp(2)) / (np.exp(-2 * x) + np.exp(2)))


def proportional_odds_score(f0: Floats, theta: float) -> Floats:
    """Return (8): what proportional odds tends to, for a ratio f0* and thresholds (theta, 0)."""
    return np.asarray(np.log(0.5 * (f0 - 1 + np.sqrt((f0 - 1) ** 2 + 4 * np.exp(theta) * f0))))


def _pairs(_: Floats) -> Floats:
    return np.asarray(0.5 * np.log(ratio(GRID)))


def _orboost(theta: Floats) -> Floats:
    return np.asarray(
        0.5 * np.log((np.exp(2 * GRID) + np.exp(2 + theta[0])) / (np.exp(-2 * GRID - theta[0]) + np.exp(2)))
    )


def _odds(theta: Floats) -> Floats:
    return proportional_odds_score(ratio(GRID), float(theta[0]))


_THEORIES: dict[str, Callable[[Floats], Floats]] = {
    "pairs": _pairs,
    "orboost": _orboost,
    "proportional_odds": _odds,
}


def _centred(curve: Floats) -> Floats:
    return np.asarray(curve - curve.mean())
