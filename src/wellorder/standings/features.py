r"""Items with features: a rating is what the features say and a deviation of the item's own, both shrunk by the data.

.. math:: r = Xw + u, \qquad w \sim N(0, \sigma_w^2 I),\; u \sim N(0, \sigma_u^2 I)

so that r has the covariance :math:`V = \sigma_w^2 X X^\top + \sigma_u^2 I`, but for a level of its own in each island,
of which nothing is supposed: no prior joins islands. The variances are those under which the votes are most likely
(Laplace's approximation).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.optimize import minimize

from ..sweeps import Floats
from .likelihood import information, most_likely, shares_of_islands
from .votes import Votes

_RANGE = (-12.0, 6.0)
"""Logarithms of variances that are looked at."""


@dataclass(frozen=True, eq=False)
class Shrunk:
    """The prior of the ratings that suits the votes best.

    Attributes
    ----------
    pull : array of shape (n_parameters,) * 2
        Its precision.
    weights : array of shape (n_features,)
        ŵ, per standard deviation of a feature.
    variance : (σ_w², σ_u²)
    """

    pull: Floats
    weights: Floats
    variance: tuple[float, float]


def shrink(votes: Votes, X: Floats) -> Shrunk:
    """Find the variances of the features' weights and of the deviations; X has columns of mean zero."""
    contrasts = _contrasts(votes)
    of_features = contrasts.T @ (X @ X.T) @ contrasts
    start: list[Floats | None] = [None]

    def precision(logs: Floats) -> tuple[Floats, float]:
        of_w, of_u = np.exp(np.clip(logs, *_RANGE))
        root = linalg.cholesky(of_w * of_features + of_u * np.eye(len(of_features)), lower=True)
        half = linalg.solve_triangular(root, contrasts.T, lower=True)
        pull = np.zeros((votes.n_parameters,) * 2)
        pull[: votes.n_items, : votes.n_items] = half.T @ half
        return pull, -2.0 * float(np.log(np.diag(root)).sum())

    def loss(logs: Floats) -> float:
        pull, log_det = precision(logs)
        theta, at, _ = most_likely(votes, pull=pull, start=start[0])
        start[0] = theta
        finite = np.where(np.isfinite(theta), theta, 0.0)
        whole = information(votes, at) + pull + shares_of_islands(votes)
        evidence = at.value - 0.5 * float(finite @ pull @ finite) + 0.5 * log_det
        outside = np.abs(logs - np.clip(logs, *_RANGE)).sum()
        return float(-evidence + 0.5 * np.linalg.slogdet(whole)[1] + outside)

    found = minimize(loss, np.array([-2.0, -2.0]), method="Nelder-Mead", options={"xatol": 0.02, "fatol": 1e-3})
    logs = np.clip(found.x, *_RANGE)
    pull, _ = precision(logs)
    theta, _, _ = most_likely(votes, pull=pull, start=start[0])
    of_w, of_u = (float(each) for each in np.exp(logs))
    weights = of_w * X.T @ (pull[: votes.n_items, : votes.n_items] @ theta[: votes.n_items])
    return Shrunk(pull, weights, (of_w, of_u))


def _contrasts(votes: Votes) -> Floats:
    """Return an orthonormal basis of ratings with mean zero in each island."""
    kept = shares_of_islands(votes)[: votes.n_items, : votes.n_items]
    values, vectors = np.linalg.eigh(np.eye(votes.n_items) - kept)
    return np.asarray(vectors[:, values > 0.5])
