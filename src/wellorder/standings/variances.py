r"""Variances that are not known: how ratings differ beside their features, or judges among themselves.

Estimates are pulled together by a variance :math:`\sigma^2`. Few votes leave it uncertain, and with it how far to pull:
a row of variances, each weighted by how likely it is given the votes, says by how much covariances are larger than
with the middle one alone. Beforehand any variance is as likely as another up to about 1, and larger ones are less so:
then intervals cover as often as they should, whatever the variance is (Morris, 1983).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..sweeps import Floats

_DROP = 3.5
"""How far below the most likely one the logarithm of a density may fall until no more variances are looked at."""

_MOST_STEPS = 9
"""On each side of the most likely variance."""


def log_prior(logs: Floats) -> float:
    """Return the logarithm of the density of log σ²: that of σ² is (1 + σ²)^(−3/2)."""
    return float((logs - 1.5 * np.log1p(np.exp(logs))).sum())  # dσ² is σ² d log σ²


def likely(density: Callable[[float], float], best: float) -> Floats:
    """Return log σ² that may be: evenly from the best one to where the density has fallen, both ways.

    Parameters
    ----------
    density : callable
        From log σ² to the logarithm of its density.
    best : float
        Where that is about largest.
    """
    top = density(best)
    curve = max(top - 0.5 * (density(best + 0.5) + density(best - 0.5)), 1e-3) / 0.125  # of a parabola
    step = float(np.clip(1.2 / np.sqrt(curve), 0.2, 1.5))
    reach = []
    for sign in (-1, 1):
        k = 1
        while k < _MOST_STEPS and top - density(best + sign * k * step) < _DROP:
            k += 1
        reach.append(k)
    return np.asarray(best + step * np.arange(-reach[0], reach[1] + 1))


def shares_of(densities: Sequence[float]) -> Floats:
    """Return how likely each of some variances is, from logarithms of densities."""
    share = np.exp(np.asarray(densities) - max(densities))
    return np.asarray(share / share.sum())


def middle_of(shares: Floats, logs: Floats) -> Floats:
    """Return log σ² of the mean σ."""
    return np.asarray(2.0 * np.log(shares @ np.exp(0.5 * np.asarray(logs))))


def most_likely_variance(squares: Floats, n: int) -> Floats:
    """Return σ² that is most likely, with its prior, if n effects have these sums of expected squares.

    The derivative in log σ² is zero where (n + 1)σ⁴ + (n − 2 − S)σ² − S is.
    """
    lean = n - 2.0 - np.asarray(squares)
    return np.asarray((-lean + np.sqrt(lean**2 + 4.0 * (n + 1.0) * squares)) / (2.0 * (n + 1.0)))
