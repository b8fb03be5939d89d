"""Islands, items that won or lost everything, and effects that cannot be told."""

import math

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.standings import separation

CORE = [("b", "c", 1), ("c", "d", 1), ("d", "b", 1), ("c", "b", 0), ("b", "c", -1), ("b", "d", 1)] * 3


def rated(games, **options):
    left, right, outcome = zip(*games, strict=True)
    return wo.rate(wo.Comparisons.from_names(left, right, outcome), **options)


def rows(standings):
    return {row["item"]: row for row in standings.table().iter_rows(named=True)}


def test_who_won_everything_has_an_interval_with_one_end():
    few = rows(rated([*CORE, ("a", "b", -1), ("c", "a", 1)]))
    many = rows(rated(CORE + [("a", "b", -1), ("c", "a", 1)] * 30))
    for found in (few, many):
        assert found["a"]["rating"] == math.inf
        assert found["a"]["high"] == math.inf
        assert math.isfinite(found["a"]["low"])
        assert found["a"]["rank"] == 1
    assert many["a"]["low"] > few["a"]["low"] + 1.0
    assert few["a"]["rank_high"] > 1
    assert many["a"]["rank_high"] == 1
    without = rows(rated(CORE))
    for item in "bcd":  # what is known of the others is what they say of each other
        assert few[item]["rating"] == pytest.approx(without[item]["rating"], abs=1e-4)
        assert few[item]["low"] == pytest.approx(without[item]["low"], abs=1e-3)


def test_one_end_is_exact_for_two_items():
    # n wins of n: the chance of that is 1 − confidence where p = 0.05^(1/n)
    standings = rated([("a", "b", -1)] * 10 + [("b", "c", 1), ("b", "c", -1)] * 50)
    p = 0.05 ** (1 / 10)
    low = rows(standings)["a"]["low"] - standings.ratings_[1]
    assert low == pytest.approx(math.log(p / (1 - p)), abs=0.02)
    assert standings.probability("a", "b") == pytest.approx(1 - 0.5**11, abs=1e-4)
    assert standings.probability("b", "a") == pytest.approx(0.5**11, abs=1e-4)


def test_coverage_of_one_end():
    rng = np.random.default_rng(0)
    p, n, covered, infinite = 0.9, 12, 0, 0
    for _ in range(150):
        wins = rng.binomial(n, p)
        games = [("a", "b", -1)] * wins + [("a", "b", 1)] * (n - wins)
        row = rows(rated(games + [("b", "c", 1), ("b", "c", -1)] * 2000))["a"]
        lead = math.log(p / (1 - p))  # b and c are equal
        truth = lead if math.isinf(row["high"]) else lead * 2 / 3  # against their mean, or that of all three
        covered += row["low"] <= truth <= row["high"]
        infinite += math.isinf(row["high"])
    assert infinite > 20
    assert covered >= 0.92 * 150


def test_wins_and_ties_may_be_infinite_together():
    found = rated([("a", "b", -1)] * 3 + [("a", "b", 0)] * 2)
    assert math.isinf(max(found.table()["high"].to_list()))
    assert rows(rated([("a", "b", -1), ("b", "c", -1), ("a", "c", 0)]))["a"]["high"] < math.inf


@pytest.mark.parametrize("winner", [-1, 1])
@pytest.mark.parametrize("n", [5, 60])
def test_a_side_that_decides_everything_is_infinite(winner, n):
    found = rated([("a", "b", winner), ("b", "a", winner)] * n, side=True)
    # n wins of n: the chance of that is 1 − confidence where p = 0.05^(1/n)
    p = 0.05 ** (1 / (2 * n))
    end = winner * math.log(p / (1 - p))
    ends = (end, math.inf) if winner > 0 else (-math.inf, end)
    assert found.effects().row(0) == ("side", winner * math.inf, *(pytest.approx(each, abs=0.02) for each in ends))


def test_of_an_effect_without_either_end_nothing_is_known():
    rng = np.random.default_rng(0)
    left = rng.integers(0, 4, 100)
    right, x = (left + rng.integers(1, 4, 100)) % 4, rng.normal(size=100)
    votes = wo.Comparisons(left, right, np.sign(x).astype(int))  # x decides, whatever the side is worth
    side, control = wo.rate(votes, side=True, controls={"x": x}).effects().rows()
    assert math.isnan(side[1])
    assert side[2:] == (-math.inf, math.inf)
    assert control[1] == control[3] == math.inf
    assert math.isfinite(control[2])


def test_effects_that_cannot_be_told_are_refused():
    games = [("a", "b", -1), ("a", "c", 1), ("a", "b", 1), ("a", "c", -1)]
    with pytest.raises(ValueError, match="the effect of 'side' cannot be told from the ratings"):
        rated(games, side=True)
    size = {"a": 1.0, "b": 2.0, "c": 5.0}
    with pytest.raises(ValueError, match="the effect of 'size' cannot be told"):
        rated(CORE + games, controls={"size": [size.get(b, 0.0) - size.get(a, 0.0) for a, b, _ in CORE + games]})
    with pytest.raises(ValueError, match="the control 'size' is zero in every vote"):
        rated(CORE, controls={"size": np.zeros(len(CORE))})


def test_islands_are_not_compared():
    standings = rated([*CORE, ("x", "y", 1), ("x", "y", -1), ("y", "x", 1)])
    found = rows(standings)
    assert found["b"]["island"] == 1
    assert found["x"]["island"] == 2
    assert found["x"]["rank"] == 1
    assert (found["x"]["rank_low"], found["x"]["rank_high"]) == (1, 2)
    assert math.isnan(standings.probability("b", "x"))
    assert math.isnan(standings.needed("b", "x"))
    with pytest.raises(ValueError, match="no votes link 'b' and 'x'"):
        standings.predict("b", "x")
    assert any("2 islands" in note for note in standings.notes_)
    alone = rows(rated(CORE))  # an island is rated as if there were no other, but for the ties, which they share
    assert found["b"]["votes"] == alone["b"]["votes"]


def test_few_clusters_are_said_to_be_few():
    rng = np.random.default_rng(1)
    left = rng.integers(0, 3, 300)
    right = (left + rng.integers(1, 3, 300)) % 3
    votes = wo.Comparisons(left, right, rng.integers(-1, 2, 300))
    few = wo.rate(votes, clusters=[rng.integers(0, 6, 300)])
    assert few.n_units_ == 6
    assert any("only 6 clusters" in note for note in few.notes_)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"scale": "points"}, "scale='points' is not among"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1"),
        ({"controls": ["length"]}, "names a column, and comparisons have none; give an array"),
        ({"controls": {"length": [1.0, 2.0]}}, "one entry a vote"),
        ({"controls": {"length": [math.nan] + [1.0] * (len(CORE) - 1)}}, "is missing in vote 1"),
        ({"clusters": ["judge"]}, "names a column"),
        ({"counts": [0.5] * len(CORE)}, "it is a number of votes"),
        ({"half_life": -1.0, "times": np.arange(len(CORE))}, "give a positive number"),
        ({"times": np.arange(len(CORE))}, "goes with half_life="),
        ({"neutral": [2] * len(CORE), "side": True}, "write 1 or 0"),
    ],
)
def test_options_that_do_not_fit_are_refused_by_name(options, match):
    with pytest.raises(ValueError, match=match):
        rated(CORE, **options)


@pytest.mark.parametrize(
    "games",
    [
        [("a", "b", -1), ("a", "b", 1), ("b", "a", 0), ("a", "b", -1), ("b", "c", 1)],
        [("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "e", 1)],
    ],
)
def test_a_single_vote_tells_nothing_apart(games):
    standings = rated(games)
    assert len(standings.above()) == 0
    # one vote between equals: deviances are at most 2 log 2 a vote, or 2 log 3 where there are ties
    known = standings._deviance[np.isfinite(standings._deviance)]
    assert np.abs(known).max() <= 2 * len(games) * math.log(3)


def test_an_item_without_a_vote_is_an_island_of_which_nothing_is_known():
    votes = wo.Comparisons([0, 1, 0, 1], [1, 0, 1, 0], [1, 1, -1, 0])
    found = rows(wo.rate(wo.Comparisons([*votes.left, 3], [*votes.right, 3], [*votes.outcome, 0])))
    assert (found["2"]["low"], found["2"]["high"]) == (-math.inf, math.inf)
    assert found["2"]["votes"] == 0


def test_one_judge_who_decides_everything_is_one_vote():
    games = CORE * 4 + [("a", "b", -1), ("a", "c", -1), ("a", "d", -1)] * 20
    judge = [place % 12 for place in range(len(CORE) * 4)] + [99] * 60
    alone, many = rated(games, clusters=[np.array(judge)]), rated(games)
    assert rows(many)["a"]["rank_high"] == 1
    assert rows(alone)["a"]["rank_high"] > 1
    assert rows(alone)["a"]["low"] < 0.5 < rows(many)["a"]["low"]


def test_both_bad_must_be_said():
    with pytest.raises(ValueError, match="do not say which ties were such"):
        rated(CORE, both_bad="own")


def test_a_difference_with_an_infinite_rating_has_one_end():
    standings = rated([("a", "b", -1)] * 10 + [("b", "c", 1), ("b", "c", -1)] * 500)
    lead, low, high = standings.difference("a", "b")
    p = 0.05 ** (1 / 10)
    exact = math.log(p / (1 - p))
    assert (lead, high) == (math.inf, math.inf)
    assert exact - 0.7 < low < exact  # each of the two ends may miss half as often
    assert standings.difference("b", "a") == (-math.inf, -math.inf, -low)
    # nothing links a and d, though both are infinitely above the others: neither is known to be above the other
    both = rated([*[("a", "b", -1)] * 10, *[("d", "b", -1)] * 10, *[("b", "c", 1), ("b", "c", -1)] * 50])
    assert both.difference("a", "d")[1:] == (-math.inf, math.inf)


def test_every_end_is_looked_for_among_many_items_with_few_votes(monkeypatch):
    monkeypatch.setattr(separation, "_WORK_ON_PAIRS", 1e7)  # pairs are not asked about here
    rng = np.random.default_rng(0)
    left = rng.integers(0, 100, 260)
    right = (left + rng.integers(1, 100, 260)) % 100
    ratings = rng.normal(size=100)
    outcome = np.sign(ratings[right] - ratings[left] + rng.logistic(size=260)).astype(int)
    standings = wo.rate(wo.Comparisons(left, right, outcome))
    table = standings.table().filter(pl.col("rating").is_infinite())
    assert len(table) > 20
    assert (table["low"].is_finite() | table["high"].is_finite()).mean() > 0.9  # one vote alone says nothing
    assert not any("no end was looked for" in note for note in standings.notes_)
