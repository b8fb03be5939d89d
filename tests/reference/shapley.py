"""Shapley values between two rows, by their definitions: over all orders, and over all sets."""

from __future__ import annotations

from itertools import combinations, permutations
from math import factorial

import numpy as np


def mixture(a, b, player, chosen):
    """Return b, with the values of a in the columns of the chosen players."""
    return np.array([x if p in chosen else y for x, y, p in zip(a, b, player, strict=True)])


def by_orders(score, a, b, player, n_players):
    """Return the mean gain of each player over all orders in which they change from b to a."""
    gain, n_orders = np.zeros(n_players), 0
    for order in permutations(range(n_players)):
        chosen = set()
        for j in order:
            before = score(mixture(a, b, player, chosen))
            chosen.add(j)
            gain[j] += score(mixture(a, b, player, chosen)) - before
        n_orders += 1
    return gain / n_orders


def by_sets(score, a, b, player, n_players):
    """Return the same, by the formula over all sets that a player may join."""
    out = np.zeros(n_players)
    for j in range(n_players):
        others = [k for k in range(n_players) if k != j]
        for size in range(n_players):
            weight = factorial(size) * factorial(n_players - 1 - size) / factorial(n_players)
            for chosen in combinations(others, size):
                joined = score(mixture(a, b, player, {*chosen, j}))
                out[j] += weight * (joined - score(mixture(a, b, player, chosen)))
    return out
