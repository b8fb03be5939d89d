"""Intervals hold the truth as often as they say, where something beside the ratings is uncertain, too."""

import numpy as np
import polars as pl

import wellorder as wo

from .test_rate import draw


def covered(low, high, truth):
    """Return the share of intervals that hold their truth."""
    return float(np.mean((np.asarray(low) <= truth) & (truth <= np.asarray(high))))


def test_ratings_with_features_of_which_the_variances_are_uncertain():
    names = np.array([f"item {place}" for place in range(30)])
    shares = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(30, 2))
        ratings = x @ (0.5 * rng.normal(size=2)) + 0.4 * rng.normal(size=30)
        left, right, outcome, _, _ = draw(rng, 300, ratings)
        votes = pl.DataFrame({"left": names[left], "right": names[right], "outcome": outcome})
        items = pl.DataFrame({"item": names, "one": x[:, 0], "other": x[:, 1]})
        table = wo.rate(wo.read(votes, items=items), features=True).table()
        place = np.array([int(name.split()[1]) for name in table["item"]])
        shares.append(covered(table["low"], table["high"], (ratings - ratings.mean())[place]))
    assert 0.93 <= np.mean(shares) <= 0.97  # with the most likely variances alone, less than 0.93
