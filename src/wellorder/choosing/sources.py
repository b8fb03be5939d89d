"""What is known of items, from standings or from a fitted model, as beliefs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg

from ..losses import calibrate
from ..order import Comparisons, as_objects
from ..spaces import Kernel
from ..standings import Standings
from ..sweeps import Floats
from .beliefs import TYPICAL_VARIANCE, WORTH_OF_TYPICAL, Beliefs, believe, places_of


def from_standings(standings: Standings) -> Beliefs:
    r"""Return what standings say, with a prior where they say nothing.

    Within a class of items with finite differences the votes say N(r̂, Σ); with N(0, σ²) beforehand the mean becomes
    :math:`\sigma^2 (\Sigma + \sigma^2 I)^{-1} \hat r` and the covariance
    :math:`\sigma^2 \Sigma (\Sigma + \sigma^2 I)^{-1}`. The level of each class, about what stands in for infinite
    ratings, is as uncertain as an item before any vote. Where features took part, they speak of all items here, also of
    those without a vote.
    """
    if len(standings._features):
        return _with_features(standings)
    n = len(standings.items_)
    cov, number = standings.covariance_[:n, :n], standings._class
    spread2 = _variance_of(standings.ratings_[standings._core], np.diag(cov)[standings._core])
    mean, root = standings.ratings_.copy(), np.zeros((n, n))
    for each in np.unique(number):
        members = np.flatnonzero(number == each)
        size = len(members)
        level = float(mean[members].mean())
        if size > 1:
            own = cov[np.ix_(members, members)]
            whole = linalg.cho_factor(own + spread2 * np.eye(size))
            mean[members] = level + spread2 * linalg.cho_solve(whole, mean[members] - level)
            after = spread2 * linalg.cho_solve(whole, own)
        else:
            after = np.zeros((1, 1))
        after = 0.5 * (after + after.T) + spread2 / size
        root[np.ix_(members, members)] = linalg.cholesky(after + 1e-10 * spread2 * np.eye(size), lower=True)
    return Beliefs(
        as_objects([str(name) for name in standings.items_]),
        mean,
        root,
        _tie_weight(standings),
        float(np.sqrt(spread2)),
        0.0,
        standings.island_.astype(np.int64),
        float(standings.n_votes_),
    )


def _with_features(standings: Standings) -> Beliefs:
    """Return what standings with features say, of items in other islands and of those without a vote as well.

    The standings' prior V = σ_w² XXᵀ + σ_u² I joins no islands: it is taken out of the precision, and put back whole.
    """
    if not hasattr(standings, "_X"):
        raise ValueError(
            "these standings come from a file that does not hold the items' features; rate the votes again"
        )
    n = len(standings.items_)
    same = (standings.island_[:, None] == standings.island_) / np.bincount(standings.island_)[standings.island_]
    precision = linalg.inv(standings._inverse[:n, :n] + same) - same
    of_w, of_u = standings._variances
    V = of_w * standings._X @ standings._X.T + of_u * np.eye(n)
    apart = linalg.inv(V)  # V's precision, less what it says of the islands' levels
    sums = np.unique(standings.island_)[:, None] == standings.island_
    apart -= apart @ sums.T @ linalg.solve(sums @ apart @ sums.T, sums @ apart)
    whole = precision - apart + linalg.inv(V)
    lower = linalg.cholesky(0.5 * (whole + whole.T), lower=True)
    root = linalg.solve_triangular(lower, np.eye(n), lower=True).T
    mean = root @ (root.T @ (precision @ standings.ratings_))
    return Beliefs(
        as_objects([str(name) for name in standings.items_]),
        mean,
        root,
        _tie_weight(standings),
        float(np.sqrt(of_u)),
        float(np.sqrt(of_w)),
        standings.island_.astype(np.int64),
        float(standings.n_votes_),
    )


def _tie_weight(standings: Standings) -> float:
    """Return log ν of all kinds of ties; one may come after all."""
    return max(float(np.logaddexp.reduce(standings.log_nu_)), -float(np.log(standings.n_votes_ + 2.0)))


def _variance_of(ratings: Floats, squared_errors: Floats) -> float:
    """Return the variance of true ratings: of estimates, less that of their errors, with a few typical items."""
    n = len(ratings)
    squares = max(float(np.square(ratings - ratings.mean()).sum()) - float(squared_errors.sum()), 0.0) if n else 0.0
    return (squares + WORTH_OF_TYPICAL * TYPICAL_VARIANCE) / (max(n - 1.0, 0.0) + WORTH_OF_TYPICAL)


def from_model(
    model: Any, items: Any, names: Sequence[Any] | None, votes: Comparisons | None, rng: np.random.Generator
) -> Beliefs:
    """Return what a fitted model says of items: its scores, and by its kernel where its votes leave doubt.

    Scores become log-odds by the slope under which the votes are most likely; without votes, by a typical spread.
    """
    scores = np.asarray(model.decision_function(items), dtype=float)
    if names is None:
        names = [str(each) for each in range(len(scores))]
    if scores.shape != (len(names),):
        raise ValueError(f"the model gives scores of shape {scores.shape} for {len(names):,} names; give one an item")
    if not np.isfinite(scores).all():
        raise ValueError("the model gives some items scores that are not finite: nothing can be said of them")
    scores = scores - scores.mean()
    spread = float(scores.std())
    slope = np.sqrt(TYPICAL_VARIANCE) / spread if spread > 0 else 0.0
    if votes is not None and spread > 0:
        known = [str(name) for name in (names if votes.names is None else votes.names)]
        place = places_of(known, {str(name): place for place, name in enumerate(names)})
        weight = np.ones(len(votes)) if votes.weight is None else np.asarray(votes.weight, dtype=float)
        slope = calibrate(scores[place[votes.right]] - scores[place[votes.left]], votes.outcome, weight).slope
    kernel = getattr(model, "kernel", "linear")
    by_name = kernel in ("linear", "precomputed")
    spoken = "linear" if by_name else Kernel(kernel, model.gamma_, model.degree, model.coef0)
    return believe(names, votes, features=items, kernel=spoken, expected=slope * scores, random_state=rng)
