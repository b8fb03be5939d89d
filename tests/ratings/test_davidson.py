from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from tests.reference import ratings as reference

import wellorder as wo
from wellorder.ratings import davidson


def draw(seed, n, n_players=5, ties=True):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_players, n)
    right = (left + rng.integers(1, n_players, n)) % n_players
    outcome = rng.integers(-1, 2, n) if ties else rng.choice([-1, 1], n)
    outcome[0] = 1
    return left, right, outcome


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 40),
    ridge=st.sampled_from([0.01, 0.5, 10.0]),
    first_move=st.booleans(),
    ties=st.booleans(),
)
def test_agrees_with_a_general_minimiser(seed, n, ridge, first_move, ties):
    left, right, outcome = draw(seed, n, ties=ties)
    weights = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    games = wo.Comparisons(left, right, outcome, weights)
    model = wo.ratings.Davidson(ridge, first_move=first_move).fit(games)
    ratings, alpha, nu = reference.davidson(left, right, outcome, ridge=ridge, first_move=first_move, weights=weights)
    assert model.rating(list(ratings)) == pytest.approx(list(ratings.values()), abs=1e-3)
    assert model.advantage_ == pytest.approx(alpha, abs=1e-3)
    assert model.ties_ == pytest.approx(nu, rel=1e-3)


def test_without_ties_it_is_bradley_and_terrys_model():
    left, right, outcome = draw(1, 80, ties=False)
    design = np.zeros((80, 5))
    design[np.arange(80), right] += 1
    design[np.arange(80), left] -= 1
    logistic = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10).fit(design, outcome)
    model = wo.ratings.Davidson(ridge=0.5).fit(left, right, outcome)
    assert model.rating(range(5)) == pytest.approx(logistic.coef_.ravel(), abs=1e-5)
    assert model.ties_ == 0
    p = model.predict_proba([0], [1])
    assert p[0, 1] == 0
    assert p[0, 2] == pytest.approx(1 / (1 + np.exp(-model.compare([0], [1])[0])))


def test_two_players_in_closed_form():
    # 6 wins of b, 2 of a, 4 ties: with next to no ridge, e^d = 6/2 and ν = 4 / √(6·2)
    model = wo.ratings.Davidson(ridge=1e-9, tol=1e-9).fit(["a"] * 12, ["b"] * 12, [1] * 6 + [-1] * 2 + [0] * 4)
    assert model.compare(["a"], ["b"])[0] == pytest.approx(np.log(3), abs=1e-6)
    assert model.ties_ == pytest.approx(4 / np.sqrt(12), rel=1e-6)
    assert model.predict_proba(["a"], ["b"])[0] == pytest.approx([2 / 12, 4 / 12, 6 / 12], abs=1e-6)
    assert model.expected(["a"], ["b"])[0] == pytest.approx(8 / 12, abs=1e-6)
    assert model.predict(["a", "b"], ["b", "a"]).tolist() == [1, -1]


def test_agrees_with_an_independent_implementation():
    stored = json.loads(Path(__file__).with_name("davidson.json").read_text())["order_effect"]
    games = stored["left"], stored["right"], stored["outcome"]
    model = wo.ratings.Davidson(1e-8, first_move=True, tol=1e-8).fit(*games)
    ratings = model.rating(range(5))
    assert ratings[1:] - ratings[0] == pytest.approx(stored["ratings"], abs=2e-6)
    assert model.advantage_ == pytest.approx(stored["advantage"], abs=2e-6)
    assert np.log(model.ties_) == pytest.approx(stored["log_ties"], abs=2e-6)


def test_strangers_and_the_undefeated_stay_finite():
    model = wo.ratings.Davidson().fit(["a", "c"], ["b", "d"], [1, -1])
    assert np.isfinite(model.ratings_).all()
    assert model.rating(["b", "c"]) == pytest.approx(model.rating(["c", "b"]))
    assert model.rating(["nobody"]) == 0
    assert model.ratings_.sum() == pytest.approx(0, abs=1e-9)


def test_weights_are_repetitions():
    left, right, outcome = draw(8, 20)
    times = np.random.default_rng(0).integers(0, 4, 20)
    weighted = wo.ratings.Davidson().fit(wo.Comparisons(left, right, outcome, times.astype(float)))
    listed = wo.ratings.Davidson().fit(*(np.repeat(part, times) for part in (left, right, outcome)))
    assert weighted.rating(range(5)) == pytest.approx(listed.rating(range(5)), abs=1e-6)


def test_more_games_are_as_all_games():
    left, right, outcome = draw(9, 60)
    whole = wo.ratings.Davidson(first_move=True).fit(left, right, outcome)
    parts = wo.ratings.Davidson(first_move=True).fit(left[:25], right[:25], outcome[:25])
    parts.update(left[25:], right[25:], outcome[25:])
    assert parts.rating(range(5)) == pytest.approx(whole.rating(range(5)), abs=1e-5)
    assert parts.ties_ == pytest.approx(whole.ties_, rel=1e-5)


def test_the_stream_fits_what_was_played_before():
    left, right, outcome = draw(10, 40)
    time = np.arange(40) // 10
    before = wo.ratings.Davidson(first_move=True).stream(left, right, outcome, time=time)
    for month in (1, 2, 3):
        past = time < month
        model = wo.ratings.Davidson(first_move=True).fit(left[past], right[past], outcome[past])
        assert before.left[time == month] == pytest.approx(model.rating(left[time == month]), abs=1e-5)
        d = model.compare(left[time == month], right[time == month])
        assert before.difference[time == month] == pytest.approx(d, abs=1e-5)


def test_only_ties_say_nothing():
    with pytest.raises(ValueError, match="every game is a tie"):
        wo.ratings.Davidson().fit(["a"], ["b"], [0])
    before = wo.ratings.Davidson().stream(["a", "a"], ["b", "b"], [0, 0])  # nothing known yet is no error
    assert before.left.tolist() == [0, 0]


def test_stopping_early_is_said():
    left, right, outcome = draw(11, 60)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 Newton steps"):
        wo.ratings.Davidson(max_iter=1, tol=1e-12).fit(left, right, outcome)


def test_no_games_at_all():
    model = wo.ratings.Davidson().fit([], [], [])
    assert model.predict_proba(["a"], ["b"]).tolist() == [[0.5, 0, 0.5]]
    assert clone(model).get_params() == model.get_params()


def test_equal_players_without_ties_have_no_favourite():
    model = wo.ratings.Davidson().fit(["a", "b"], ["b", "a"], [1, 1])
    assert model.predict(["a", "b", "new"], ["b", "a", "other"]).tolist() == [0, 0, 0]
    favoured = wo.ratings.Davidson(first_move=True).fit(["a", "b"], ["b", "a"], [-1, -1])
    assert favoured.predict(["a", "b"], ["b", "a"]).tolist() == [-1, -1]


@pytest.mark.parametrize("first_move", [False, True])
def test_predictions_are_the_likeliest_outcomes(first_move):
    left, right, outcome = draw(12, 40)
    model = wo.ratings.Davidson(first_move=first_move).fit(left, right, outcome)
    a, b = np.nonzero(~np.eye(5, dtype=bool))
    assert model.predict(a, b).tolist() == (np.argmax(model.predict_proba(a, b), axis=1) - 1).tolist()


def test_light_games_rate_by_little_but_in_order():
    left, right, outcome = [0, 1, 2, 0, 1], [1, 2, 0, 2, 0], [1, 1, -1, 1, 0]
    one = wo.ratings.Davidson().fit(wo.Comparisons(left, right, outcome, np.full(5, 1e-12))).rating(range(3))
    assert np.abs(one).max() == pytest.approx(0.0, abs=1e-10)
    for weight in (1e-300, 1e-100):
        rating = wo.ratings.Davidson().fit(wo.Comparisons(left, right, outcome, np.full(5, weight))).rating(range(3))
        assert rating / weight == pytest.approx(one / 1e-12, rel=1e-5, abs=1e-5)
        assert np.argsort(rating).tolist() == [0, 1, 2]


@pytest.mark.parametrize("weights", [[1e300, 1e300, 1e300], [1.0, 1e-300, 1e300], [5e-324, 5e-324, 5e-324]])
def test_weights_that_no_ridge_can_stand_beside_are_refused(weights):
    with pytest.raises(ValueError, match=r"weigh .* together.*divide them by a common factor"):
        wo.ratings.Davidson().fit(wo.Comparisons([0, 1, 0], [1, 2, 2], [1, 0, -1], weights))


@pytest.mark.parametrize("n_players", [5, 400])  # counted in a table of all games that are possible, and sorted
@pytest.mark.parametrize("dtype", [float, np.uint8])
def test_votes_are_merged_before_the_fit(monkeypatch, n_players, dtype):
    left, right, outcome = draw(13, 3_000, n_players)
    left, right, outcome = (np.concatenate([part, part[:2_000], part[:1]]) for part in (left, right, outcome))
    weights = np.random.default_rng(13).integers(0, 4, len(left)).astype(dtype)
    sizes, search = [], davidson.most_likely

    def counted(games, *rest, **more):
        sizes.append(len(games.outcome))
        return search(games, *rest, **more)

    monkeypatch.setattr(davidson, "most_likely", counted)
    merged = wo.ratings.Davidson(first_move=True, tol=1e-8).fit(wo.Comparisons(left, right, outcome, weights))
    distinct = {*zip(left.tolist(), right.tolist(), outcome.tolist(), strict=True)}
    assert sizes == [len(distinct)]
    monkeypatch.setattr(davidson, "merge_games", lambda *games: games)
    listed = wo.ratings.Davidson(first_move=True, tol=1e-8).fit(wo.Comparisons(left, right, outcome, weights))
    assert sizes[1:] == [5_001]
    assert merged.rating(range(n_players)) == pytest.approx(listed.rating(range(n_players)), abs=1e-7)
    assert (merged.advantage_, merged.ties_) == pytest.approx((listed.advantage_, listed.ties_), abs=1e-7)


def test_votes_of_later_are_merged_with_those_of_before():
    left, right, outcome = draw(14, 500)
    model = wo.ratings.Davidson().fit(left, right, outcome, time=np.arange(500))
    model.update(left, right, outcome, time=np.arange(500, 1000))
    twice = wo.ratings.Davidson().fit(wo.Comparisons(left, right, outcome, np.full(500, 2)))
    assert model._weight.sum() == 1_000
    assert model._weight.tolist() == twice._weight.tolist()
    assert model.rating(range(5)) == pytest.approx(twice.rating(range(5)), abs=1e-6)
