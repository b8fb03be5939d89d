"""Simulated judges answer as they are said to."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.choosing import Judge, SimulatedJudges, simulate
from wellorder.choosing.simulating import _tau


def answers(judge, truth, n=20_000):
    people = SimulatedJudges(dict(zip("ab", truth, strict=True)), [judge], random_state=0)
    return people.answers([("a", "b")] * n, np.zeros(n, int))


def shares(found):
    return [float(np.mean(found == each)) for each in (-1, 0, 1)]


def test_answers_are_davidsons():
    odds = np.array([np.exp(-0.5), 0.4, np.exp(0.5)])
    assert shares(answers(Judge(ties=0.4), (0.0, 1.0))) == pytest.approx((odds / odds.sum()).tolist(), abs=0.01)


def test_sides_sharpness_and_carelessness():
    right = shares(answers(Judge(ties=0.0, side=1.0), (0.0, 0.0)))[2]
    assert right == pytest.approx(1 / (1 + np.exp(-1.0)), abs=0.01)
    assert shares(answers(Judge(0.0, ties=0.0), (0.0, 5.0)))[2] == pytest.approx(0.5, abs=0.015)
    assert shares(answers(Judge(ties=0.0, careless=0.5), (0.0, 9.0)))[2] == pytest.approx(0.75, abs=0.015)


def test_judges_tire_in_a_sitting_and_come_back_rested():
    found = answers(Judge(ties=0.0, tire=0.9), (0.0, 2.0)).reshape(-1, 100)
    early, late = (found[:, part] == 1 for part in (slice(0, 20), slice(80, 100)))
    assert early.mean() > late.mean() + 0.15


def test_items_that_are_believed_equal_are_half_right():
    assert _tau(np.array([0.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(2 / 3)
    assert _tau(np.array([0.0, 1.0, 1.0, 2.0]), np.array([1.0, 2.0, 2.0, 3.0])) == pytest.approx(1.0)
    assert _tau(np.zeros(3), np.arange(3.0)) == 0.0


def test_a_sitting_is_the_same_again_and_goes_the_way_it_says():
    truth = {name: float(place) for place, name in enumerate("abcdefgh")}
    one, two = (simulate(truth, 90, random_state=3, batch=7) for _ in range(2))
    assert one.votes.outcome.tolist() == two.votes.outcome.tolist()
    assert one.path.equals(two.path)
    assert one.path["votes"].to_list() == [*range(7, 90, 7), 90]
    assert len(one.votes) == len(one.random) == len(one.judge) == 90
    assert one.needed("tau", -1.0) == 7
    assert one.needed("tau", 2.0) is None
    short = simulate(truth, 500, until=0.8, random_state=3)
    assert len(short.votes) < 500
    assert short.path["expected"][-1] >= 0.8


def test_chosen_pairs_need_fewer_votes_than_random_ones():
    needed = {0.1: [], 1.0: []}
    for share, of_share in needed.items():
        for seed in range(4):
            truth = 5.0 * np.random.default_rng(seed).standard_normal(40)
            size = 8 if share < 1 else 40
            sitting = simulate(truth, 900, random_share=share, batch=size, until=0.9, measure="tau", random_state=seed)
            of_share.append(len(sitting.votes))
    assert np.median(needed[0.1]) < 0.7 * np.median(needed[1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Judge(sharpness=-1.0), "makes no sense"),
        (lambda: Judge(careless=2.0), "makes no sense"),
        (lambda: SimulatedJudges({"a": 1.0}, 3), "there are 1 items"),
        (lambda: SimulatedJudges({"a": 1.0, "b": np.inf}, 3), "rating of 'b' is not finite"),
        (lambda: SimulatedJudges({"a": 1.0, "b": 2.0}, 0), "a judge at least"),
        (lambda: SimulatedJudges({"a": 1.0, "b": 2.0}, 1).answer("a", "c"), "nothing of 'c'"),
        (lambda: simulate([0.0, 1.0], 0), "n_votes=0"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
