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


def test_judges_with_few_votes():
    sides, sharpnesses, lengths, ratings = [], [], [], np.linspace(-1.0, 1.0, 8)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        lean, log_sharp = 0.4 * rng.normal(size=(2, 30))
        left, right, outcome, _, judge = draw(rng, 600, ratings, judges=(lean, np.exp(log_sharp)))
        standings = wo.rate(wo.Comparisons(left, right, outcome), judge=judge)
        table = standings.judges()
        place, level = table["judge"].cast(int).to_numpy(), log_sharp.mean()
        # sharpness is told against the judges' mean, and leanings in units that go with it
        sides.append(covered(table["side_low"], table["side_high"], (lean * np.exp(level))[place]))
        sharp = np.exp(log_sharp - level)[place]
        lengths.append(ratings @ standings.ratings_ / (ratings @ ratings) / np.exp(level))
        sharpnesses.append(covered(table["sharpness_low"], table["sharpness_high"], sharp))
    assert np.mean(sides) >= 0.93  # with the most likely variances alone, 0.83 and 0.85
    assert np.mean(sharpnesses) >= 0.93
    assert abs(np.mean(lengths) - 1.0) < 0.09  # with the most likely sharpness alone, 1.13


def test_votes_that_fade_within_days():
    shares, ratings = [], np.linspace(-1.0, 1.0, 8)
    for seed in range(100, 200):
        rng = np.random.default_rng(seed)
        left, right, outcome, _, _ = draw(rng, 1000, ratings)
        days = rng.uniform(0.0, 365.0, 1000)
        standings = wo.rate(wo.Comparisons(left, right, outcome), half_life=5.0, times=days)
        table = standings.table()
        shares.append(covered(table["low"], table["high"], ratings[table["item"].cast(int).to_numpy()]))
    assert standings.n_units_ < 60
    assert 0.93 <= np.mean(shares) <= 0.97  # as if they were many, 0.89
    fewer = wo.rate(wo.Comparisons(left, right, outcome), half_life=0.8, times=days)
    assert any("take a longer half-life" in note for note in fewer.notes_)
