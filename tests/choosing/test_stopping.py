"""How near a goal is, and how many votes it takes: as they turn out where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import wellorder as wo
from tests.standings.votes import draw, two_islands
from wellorder.choosing import Judge, believe, plan, progress, reached, simulate
from wellorder.choosing.goals import Goal


def sittings(n, n_votes, goal="rank", spread=2.5, m=30):
    for seed in range(n):
        truth = spread * np.random.default_rng(seed).standard_normal(m)
        yield truth, simulate(truth, n_votes, judges=[Judge()], goal=goal, random_state=seed, batch=30)


def test_the_expected_tau_is_the_one_that_comes():
    found = [
        (reached(each.beliefs, Goal()), stats.kendalltau(truth, each.beliefs.mean).statistic)
        for truth, each in sittings(12, 150)
    ]
    expected, came = np.mean(found, axis=0)
    assert expected == pytest.approx(came, abs=0.03)


def test_the_chance_that_the_top_is_right_is_how_often_it_is():
    goal = Goal("top", 3)
    told, right = [], []
    for truth, each in sittings(30, 160, "top 3"):
        told.append(reached(each.beliefs, goal))
        right.append(set(np.argsort(-truth)[:3]) == set(np.argsort(-each.beliefs.mean)[:3]))
    error = np.sqrt(np.mean(np.multiply(told, np.subtract(1, told))) / 30)
    assert abs(np.mean(told) - np.mean(right)) < 3 * error
    assert 0.2 < np.mean(told) < 0.95


def test_rank_ends_hold_the_true_rank():
    share = []
    for truth, each in sittings(6, 150):
        found = progress(each.beliefs)
        rank = 1 + np.argsort(np.argsort(-truth))
        share.append(np.mean((found.rank_low <= rank) & (rank <= found.rank_high)))
    assert np.mean(share) == pytest.approx(0.93, abs=0.05)


def test_the_forecast_is_right_within_its_ends_mostly():
    inside = []
    for _, each in sittings(3, 600, spread=3.0):
        total = each.needed("expected", 0.83)
        assert total is not None
        n = total // 2
        votes = wo.Comparisons.from_names(
            each.votes.names[each.votes.left[:n]], each.votes.names[each.votes.right[:n]], each.votes.outcome[:n]
        )
        found = progress(believe(list(each.beliefs.names), votes), wanted=0.83)
        inside.append(found.more_low <= total - n <= found.more_high)
    assert sum(inside) >= 2


def test_what_is_reached_and_what_is_wanted_are_told_on_one_scale():
    votes = draw(np.linspace(4, -4, 6), 40, seed=0)
    known = believe([str(name) for name in votes.names], votes)
    found = progress(known, wanted=0.98)
    told, wanted = found.why.split("; ")
    assert f"τ of {found.reached:.2f} " in told
    assert f"({50 + 50 * found.reached:.3g}% of pairs right)" in told
    assert wanted == "0.98 (99% of pairs) is wanted"
    levels = progress(known, "levels 3", wanted=0.99)
    assert levels.why == f"{levels.reached:.0%} of the items are expected to be in their level; 99% is wanted"


def test_it_is_done_where_the_goal_is_reached_and_not_before():
    votes = draw(np.linspace(4, -4, 6), 400, seed=0)
    names = [str(name) for name in votes.names]
    done = progress(believe(names, votes))
    assert done.done
    assert done.more == 0
    assert "the goal is reached" in done.why
    start = progress(believe(names))
    assert not start.done
    assert start.votes == 0
    assert start.more > 20
    assert "not been compared" in start.why
    assert not progress(believe(list("abcdefg"), two_islands())).done
    assert progress(wo.rate(votes), "top 2").reached > 0.9
    assert "nine of ten" in progress(believe(names, votes), wanted=0.9999, widest=2).why
    assert "hardly tell" in progress(believe(names, votes), wanted=0.9999, least_gain=5.0).why


def test_more_votes_more_reached():
    names = [f"item {k}" for k in range(12)]
    for goal in ("rank", "top 3", "levels 3"):
        found = [
            progress(believe(names, draw(np.linspace(2, -2, 12), n, seed=1)), goal).reached for n in (30, 300, 3_000)
        ]
        assert found[0] < found[1] < found[2]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match=r"wanted=1\.5"):
        progress(believe(list("ab")), wanted=1.5)
    with pytest.raises(ValueError, match="n_items=1"):
        plan(1)


def test_a_plan_says_how_many_votes_it_takes():
    found = plan(30, wanted=0.88, spread=6.0, n_draws=2)
    assert found.low <= found.votes <= found.high
    assert found.votes < found.random_votes
    assert "30 items" in str(found)
    assert str(plan(6, most=10, n_draws=1)).startswith("6 items, Kendall's τ of 0.9: more than were tried")
