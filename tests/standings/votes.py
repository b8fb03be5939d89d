"""Votes for tests: drawn from Davidson's model, with names."""

from __future__ import annotations

import numpy as np

import wellorder as wo


def named(left, right, outcome, names):
    """Return comparisons that know their items' names."""
    made = wo.Comparisons(left, right, outcome)
    made.names = np.array(names, dtype=object)
    return made


def draw(ratings, n, *, seed=0, names=None, moved=0.0, ties=0.7):
    """Draw votes on items of these ratings; ``moved`` is what else is added to the right side."""
    rng = np.random.default_rng(seed)
    ratings = np.asarray(ratings, dtype=float)
    m = len(ratings)
    left = rng.integers(0, m, n)
    right = (left + rng.integers(1, m, n)) % m
    d = ratings[right] - ratings[left] + moved
    odds = np.column_stack([np.exp(-d / 2), np.full(n, ties), np.exp(d / 2)])
    shares = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    outcome = np.minimum((rng.random(n)[:, None] > shares).sum(axis=1), 2) - 1
    return named(left, right, outcome, [f"item {k}" for k in range(m)] if names is None else names)


def unbeaten(n=60, names="abcde"):
    """Draw votes in which the first item won everything."""
    votes = draw([0.0, 0.5, 0.0, -0.2, -0.4], n, seed=1, names=list(names))
    outcome = np.where(votes.left == 0, -1, np.where(votes.right == 0, 1, votes.outcome))
    return named(votes.left, votes.right, outcome, list(names))


def two_islands(n=300, names="abcdefg"):
    """Draw votes on four items and on three others."""
    one, other = draw(np.linspace(1, -1, 4), n, seed=2), draw(np.linspace(1, -1, 3), n, seed=3)
    return named(
        np.r_[one.left, other.left + 4],
        np.r_[one.right, other.right + 4],
        np.r_[one.outcome, other.outcome],
        list(names),
    )
