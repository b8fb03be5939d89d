"""Wins, draws and losses by ratings that know no draws: fitted to how players stood before their games."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.losses import calibrate
from wellorder.ratings import system as rating_system
from wellorder.sweeps import LOGIT

STREAMED = [wo.ratings.Elo, wo.ratings.Glicko, wo.ratings.Glicko2]


def drawn_games(n=6_000, n_players=25, side=0.8, seed=0):
    """Games by Davidson's model: ratings that stay, ν = 1.5, the first move worth ``side`` in log-odds."""
    rng = np.random.default_rng(seed)
    strength = rng.standard_normal(n_players)
    left = rng.integers(0, n_players, n)
    right = (left + rng.integers(1, n_players, n)) % n_players
    odds = np.exp(0.5 * np.outer(strength[right] - strength[left] - side, [-1.0, 0.0, 1.0]).reshape(n, 3))
    odds[:, 1] = 1.5
    truth = odds / odds.sum(axis=1, keepdims=True)
    outcome = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1) - 1
    return left, right, outcome, truth


@pytest.mark.parametrize("make", STREAMED)
def test_probabilities_are_calibrated_on_games_to_come(make):
    left, right, outcome, truth = drawn_games()
    past, future = slice(4_000), slice(4_000, None)
    plain, knowing = (
        make(advantage=advantage).fit(left[past], right[past], outcome[past]) for advantage in (0.0, "fit")
    )
    P = knowing.predict_proba(left[future], right[future])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    best = wo.metrics.comparison_log_loss(outcome[future], truth[future])
    found = wo.metrics.comparison_log_loss(outcome[future], P)
    shares = np.tile(np.bincount(outcome[past] + 1) / 4_000, (2_000, 1))
    assert best - 0.01 < found < best + 0.05 < wo.metrics.comparison_log_loss(outcome[future], shares)
    without = plain.predict_proba(left[future], right[future])
    assert wo.metrics.comparison_log_loss(outcome[future], without) > found + 0.02
    for each in (-1, 0, 1):
        predicted, observed, weight = wo.metrics.comparison_reliability(outcome[future], P, outcome=each)
        assert np.average(np.abs(predicted - observed), weights=weight) < 0.04


@pytest.mark.parametrize("make", STREAMED)
def test_the_first_move_is_found_and_is_no_part_of_the_ratings(make):
    left, right, outcome, _ = drawn_games()
    plain, knowing = make().fit(left, right, outcome), make(advantage="fit").fit(left, right, outcome)
    assert knowing.ratings_.tolist() == plain.ratings_.tolist()
    found = knowing.calibration_
    assert found.side == pytest.approx(0.8, abs=0.12)
    moved = plain.compare(left, right) - knowing.compare(left, right)
    np.testing.assert_allclose(moved, found.side / found.slope / LOGIT)
    neither = knowing.predict_proba([0, 3], [3, 0], first_move=False)
    np.testing.assert_allclose(neither[0], neither[1][::-1])
    given = make(advantage=50.0).fit(left, right, outcome)
    one, other = given.predict_proba([0, 3], [3, 0])
    assert one[0] + other[0] > one[2] + other[2] + 0.05  # the left one is better off, whoever it is
    with pytest.raises(ValueError, match="advantage='white' is not known"):
        make(advantage="white").fit(left, right, outcome)


@pytest.mark.parametrize("make", STREAMED)
def test_no_game_has_a_part_in_what_it_is_judged_by(make):
    left, right, outcome, _ = drawn_games(400)
    time = np.sort(np.random.default_rng(1).integers(0, 40, 400))[::-1]  # rows are not in the order of time
    system = make(advantage=30.0)
    before = system.stream(left, right, outcome, time=time)
    certainty = np.ones(400)
    if before.left_deviation is not None:
        spread = LOGIT * np.hypot(before.left_deviation, before.right_deviation)
        certainty = 1 / np.sqrt(1 + 3 * (spread / np.pi) ** 2)
    expected = calibrate(LOGIT * certainty * before.difference, outcome, np.ones(400), rein=1.0)
    assert system.calibration_ == pytest.approx(expected)


@pytest.mark.parametrize("make", STREAMED)
def test_it_goes_by_the_latest_games_however_they_came(make, monkeypatch):
    monkeypatch.setattr(rating_system, "RECENT", 150)
    left, right, outcome, _ = drawn_games(400)
    whole = make().fit(left, right, outcome)
    parts = make()
    for begin in range(0, 400, 50):
        rows = slice(begin, begin + 50)
        parts.update(left[rows], right[rows], outcome[rows])
        assert parts.calibration_.slope >= 0
    assert len(whole._met["outcome"]) == 150
    assert parts.calibration_ == pytest.approx(whole.calibration_)
    assert whole.calibration_ != pytest.approx(make().fit(left[:250], right[:250], outcome[:250]).calibration_)


def test_what_is_uncertain_is_more_even():
    left, right, outcome, _ = drawn_games(2_000)
    glicko = wo.ratings.Glicko().fit(left, right, outcome)
    best = max(range(25), key=lambda player: glicko.rating([player])[0])
    glicko.update(["guest"], [int(np.argmin(glicko.ratings_))], [-1])
    middle = int(np.argmin(np.abs(glicko.ratings_ - glicko.rating(["guest"])[0])[:25]))  # rated alike, and well known
    middle = next(player for player, number in glicko.players_.items() if number == middle)
    p = glicko.predict_proba(["guest", middle], [best, best])
    assert p[0, 2] < p[1, 2]


@pytest.mark.parametrize("make", STREAMED)
def test_few_games_give_sober_probabilities(make):
    with pytest.raises(ValueError, match="no game has been rated yet"):
        make().predict_proba(["Ann"], ["Bob"])
    once = make().fit(["Ann"], ["Bob"], [1])
    assert 0.5 < once.predict_proba(["Ann"], ["Bob"])[0, 2] < 0.9
    assert once.predict_proba(["Ann"], ["Bob"])[0, 1] == 0  # no game was drawn
    assert once.calibration_.slope == pytest.approx(1.0)
    once.update(["Ann"], ["Bob"], [0])
    assert 0 < once.predict_proba(["Ann"], ["Bob"])[0, 1] < 0.7


@pytest.mark.parametrize("make", [*STREAMED, wo.ratings.Davidson])
def test_a_ranker_has_them_for_rows(make):
    left, right, outcome, _ = drawn_games(500, n_players=5)
    ranker = wo.ratings.RatingRanker(make()).fit(np.zeros((6, 1)), wo.Comparisons(left, right, outcome))
    pairs = [0, 5, -1], [1, 2, 3]
    found = ranker.probabilities_between(*pairs)
    np.testing.assert_array_equal(found, ranker.system_.predict_proba(*pairs))
    np.testing.assert_array_equal(found[1:], ranker.probabilities_between([-1, 5], [2, 3]))  # neither has played
    d = ranker.ratings_[[1, 2]] - ranker.ratings_[[0, 3]]
    by_difference = ranker.probabilities(d)
    np.testing.assert_allclose(by_difference, ranker.probabilities(-d)[:, ::-1])
    if not hasattr(ranker.system_, "deviations_"):
        np.testing.assert_allclose(by_difference, ranker.system_.predict_proba([0, 3], [1, 2]))


def test_how_uncertain_davidsons_ratings_are():
    """Repeated draws from known ratings: differences vary as much as the curvature says."""
    rng, strength = np.random.default_rng(0), np.array([1.0, 0.3, 0.0, -1.3])
    left, right = np.array([(i, j) for i in range(4) for j in range(4) if i != j] * 12 + [(0, 3)] * 40).T
    odds = np.exp(0.5 * np.outer(strength[right] - strength[left], [-1.0, 0.0, 1.0]))
    up_to = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    model = wo.ratings.Davidson(1e-3, first_move=True)
    found, said = [], []
    for _ in range(300):
        model.fit(left, right, (rng.random(len(left))[:, None] > up_to).sum(axis=1) - 1)
        doubt = model.uncertainty()
        numbers = [model.players_[player] for player in (0, 1, 2, 3)]
        found.append(model.rating([1, 2, 3]) - model.rating([0]))
        said.append(doubt.between(numbers[0], np.array(numbers[1:])))
    np.testing.assert_allclose(np.mean(said, axis=0), np.std(found, axis=0), rtol=0.12)
    assert doubt.between(0, 0) == 0
    assert doubt.between(0, -1) > 30  # who has not played may stand anywhere that the ridge allows
    np.testing.assert_allclose(doubt.take(np.array([2, 0])).between(0, 1), doubt.between(2, 0))
    assert wo.ratings.Elo().fit([0], [1], [1]).uncertainty() is None
