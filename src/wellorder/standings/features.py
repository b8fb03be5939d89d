r"""Items with features: a rating is what the features say and a deviation of the item's own, both shrunk by the data.

.. math:: r = Xw + u, \qquad w \sim N(0, \sigma_w^2 I),\; u \sim N(0, \sigma_u^2 I)

so that r has the covariance :math:`V = \sigma_w^2 X X^\top + \sigma_u^2 I`, but for a level of its own in each island,
of which nothing is supposed: no prior joins islands. How likely votes are under two variances is found by Laplace's
approximation; a grid of them says how much less sure ratings are, as the variances are not known (``variances.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import minimize

from ..metrics import semidefinite
from ..sweeps import Floats
from .likelihood import information, most_likely, shares_of_islands
from .variances import likely, log_prior, middle_of, shares_of
from .votes import Votes

_RANGE = (-12.0, 6.0)
"""Logarithms of variances that are looked at."""


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The prior of the ratings that suits the votes.

    Attributes
    ----------
    pull : array of shape (n_parameters,) * 2
        Its precision, for variances in the middle of those that may be.
    weights : array of shape (n_features,)
        ŵ, per standard deviation of a feature.
    variance : (σ_w², σ_u²)
        In the middle of those that may be.
    widening : array of shape (n_parameters,) * 2
        What the covariance of θ is larger by, as the variances are not known.
    """

    pull: Floats
    weights: Floats
    variance: tuple[float, float]
    widening: Floats


def shrink(votes: Votes, X: Floats) -> Shrunk:
    """Find the variances of the features' weights and of the deviations; X has columns of mean zero."""
    evidence = _PriorFits(votes, X)
    found = minimize(
        lambda logs: -evidence.at(logs).density,
        [-2.0, -2.0],
        method="Nelder-Mead",
        options={"xatol": 0.1, "fatol": 0.01},
    )
    best = np.clip(found.x, *_RANGE)
    axes = [likely(evidence.along(best, place), float(best[place])) for place in range(2)]
    nodes = [evidence.at(np.array([of_w, of_u])) for of_w in axes[0] for of_u in axes[1]]
    share = shares_of([node.density for node in nodes])
    middle = evidence.at(middle_of(share, np.array([node.logs for node in nodes])))
    widening = -middle.covariance
    for weight, node in zip(share, nodes, strict=True):
        if weight > 1e-4 / len(nodes):
            apart = node.theta - middle.theta
            widening += weight * (node.covariance + np.outer(apart, apart))
    of_w, of_u = (float(each) for each in np.exp(middle.logs))
    n = votes.n_items
    weights = of_w * X.T @ (middle.pull[:n, :n] @ middle.theta[:n])
    return Shrunk(middle.pull, weights, (of_w, of_u), semidefinite(widening))


@dataclass(frozen=True, eq=False)
class _Node:
    """Two variances, by their logarithms; the logarithm of their density given the votes; and θ, if they are right."""

    logs: Floats
    density: float
    pull: Floats
    theta: Floats
    whole: Floats
    kept: Floats

    @property
    def covariance(self) -> Floats:
        """Of θ given these variances."""
        return np.asarray(linalg.inv(self.whole) - self.kept)


class _PriorFits:
    """How likely the votes are under variances of the prior."""

    def __init__(self, votes: Votes, X: Floats) -> None:
        self.votes = votes
        self.kept = shares_of_islands(votes)
        self.contrasts = _contrasts(votes)
        self.of_features = self.contrasts.T @ (X @ X.T) @ self.contrasts
        self.last: Floats | None = None

    def at(self, logs: Floats) -> _Node:
        """Fit the ratings under two variances."""
        within = np.clip(logs, *_RANGE)
        of_w, of_u = np.exp(within)
        root = linalg.cholesky(of_w * self.of_features + of_u * np.eye(len(self.of_features)), lower=True)
        half = linalg.solve_triangular(root, self.contrasts.T, lower=True)
        votes = self.votes
        pull = np.zeros((votes.n_parameters,) * 2)
        pull[: votes.n_items, : votes.n_items] = half.T @ half
        theta, at, _ = most_likely(votes, pull=pull, start=self.last)
        self.last = theta
        finite = np.where(np.isfinite(theta), theta, 0.0)
        whole = information(votes, at) + pull + self.kept
        evidence = at.value - 0.5 * float(finite @ pull @ finite) - float(np.log(np.diag(root)).sum())
        evidence -= 0.5 * float(np.linalg.slogdet(whole)[1])
        outside = float(np.abs(logs - within).sum())
        return _Node(within, evidence + log_prior(within) - outside, pull, finite, whole, self.kept)

    def along(self, best: Floats, place: int) -> Callable[[float], float]:
        """Return the density along one of the two, the other held."""
        return lambda log: self.at(np.where(np.arange(2) == place, log, best)).density


def _contrasts(votes: Votes) -> Floats:
    """Return an orthonormal basis of ratings with mean zero in each island."""
    kept = shares_of_islands(votes)[: votes.n_items, : votes.n_items]
    values, vectors = np.linalg.eigh(np.eye(votes.n_items) - kept)
    return np.asarray(vectors[:, values > 0.5])
