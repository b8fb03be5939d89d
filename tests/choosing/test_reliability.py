"""Reliability is told without bias from drawn votes, judges agree, and who flips coins is found."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from tests.standings.votes import draw
from wellorder.choosing import Judge, SimulatedJudges, judge_checks, pair_agreement, reliability, simulate


def test_reliability_is_the_squared_correlation_with_the_truth():
    off, naive = [], []
    for seed in range(16):  # one of them is far off by bad luck: its 90 drawn votes say .4, give or take as much
        truth = 1.5 * np.random.default_rng(seed).standard_normal(30)
        sitting = simulate(truth, 450, judges=[Judge()], random_share=0.2, batch=10, random_state=seed)
        true = np.corrcoef(truth, sitting.beliefs.mean)[0, 1] ** 2
        found = reliability(sitting.votes, sitting.random)
        off.append(found.separation - true)
        naive.append(found.separation_all - true)
        assert found.low <= found.separation + 0.02
    assert abs(np.mean(off)) < 0.05
    assert np.mean(naive) > 0.004  # .012 in the mean of 40 sittings


def test_where_judges_flip_coins_reliability_is_low_and_the_naive_one_is_not():
    found = []
    for seed in range(4):
        sitting = simulate(np.zeros(20), 300, judges=[Judge()], random_share=0.3, batch=5, random_state=seed)
        each = reliability(sitting.votes, sitting.random)
        found.append((each.separation, each.separation_all))
    assert np.mean(found, axis=0)[0] < 0.35
    assert np.mean(found, axis=0)[1] > 0.4


def test_with_random_pairs_all_of_them_say_the_same():
    votes = draw(1.5 * np.random.default_rng(1).standard_normal(25), 1_000, seed=1)
    judge = np.random.default_rng(0).integers(0, 6, 1_000)
    found = reliability(votes, np.ones(1_000, dtype=bool), judge=judge)
    assert found.separation == pytest.approx(found.separation_all, abs=0.03)
    assert found.split_half == pytest.approx(found.separation, abs=0.04)
    assert found.n_random == found.n_votes == 1_000


def test_too_few_drawn_votes_say_nothing():
    votes = draw([1.0, 0.0, -1.0], 60, seed=1)
    found = reliability(votes, np.arange(60) < 5)
    assert np.isnan(found.separation)
    assert "only 5 votes" in found.notes[0]
    with pytest.raises(ValueError, match="random has the shape"):
        reliability(votes, [True])


def judged(judges, n=900, m=15, seed=0):
    """Return random pairs with the answers of judges."""
    rng = np.random.default_rng(seed)
    truth = {str(k): 1.5 * each for k, each in enumerate(rng.standard_normal(m))}
    people = SimulatedJudges(truth, judges, random_state=rng)
    left = rng.integers(0, m, n)
    right = (left + rng.integers(1, m, n)) % m
    who = rng.integers(0, len(judges), n)
    answers = people.answers([(str(a), str(b)) for a, b in zip(left, right, strict=True)], who)
    return wo.Comparisons.from_names(left, right, answers), np.array(people.names)[who]


def test_who_answers_by_chance_is_found():
    votes, who = judged([Judge(), Judge(side=0.4), Judge(0.7), Judge(0.0)])
    found = judge_checks(votes, who)
    assert found.filter(found["by_chance"])["judge"].to_list() == ["judge 4"]
    others = found.filter(~found["by_chance"])
    assert (others["p_chance"] < 0.01).all()
    assert found["votes"].sum() == 900


def test_honest_judges_are_called_so_no_more_often_than_is_said():
    low, called = [], 0
    for seed in range(25):
        found = judge_checks(*judged([Judge()] * 4, n=160, seed=seed), level=0.1)
        low += found["p_honest"].to_list()
        called += bool(found["by_chance"].any())
    assert called <= 6  # 2.5 are expected at most
    assert np.mean(np.array(low) < 0.1) == pytest.approx(0.1, abs=0.08)
    assert np.mean(np.array(low) < 0.5) == pytest.approx(0.5, abs=0.15)


def test_agreement_on_pairs_that_two_have_judged():
    votes = wo.Comparisons([0, 1, 0, 2, 2], [1, 0, 1, 0, 0], [1, -1, -1, 0, 0])
    found = pair_agreement(votes, ["a", "b", "b", "a", "a"])
    assert found.n_pairs == 1  # the last two are by one judge
    assert found.share == pytest.approx(0.5)  # a and b say the same once, and once not
    assert np.isnan(pair_agreement(votes, ["a"] * 5).share)


def test_one_judge_cannot_be_checked():
    votes, who = judged([Judge()], n=30)
    with pytest.raises(ValueError, match="nobody else"):
        judge_checks(votes, who)
