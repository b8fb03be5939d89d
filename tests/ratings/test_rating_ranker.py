from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.evaluation.methods import METHODS, measure_size

GAMES = wo.Comparisons([0, 1, 2, 3], [1, 2, 0, 1], [1, 0, -1, -1])


@pytest.mark.parametrize("system", [None, wo.ratings.Elo(), wo.ratings.Glicko(), wo.ratings.Glicko2()])
def test_rows_are_players(system):
    items = np.zeros((5, 2))
    ranker = wo.ratings.RatingRanker(system).fit(items, GAMES)
    scores = ranker.decision_function(items)
    assert scores == pytest.approx(ranker.system_.rating(range(5)))
    assert scores[4] == ranker.system_.rating(["a stranger"])[0]
    assert ranker.predict(items).tolist() == scores.tolist()
    assert ranker.score(items, GAMES) == np.mean([scores[1] > scores[0], scores[2] > scores[0], scores[3] > scores[1]])
    assert ranker.n_features_in_ == 2


def test_new_items_are_refused():
    ranker = wo.ratings.RatingRanker().fit(np.zeros((4, 2)), GAMES)
    with pytest.raises(ValueError, match="X has 3 rows, but 4 were rated"):
        ranker.decision_function(np.zeros((3, 2)))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="learns from comparisons"):
        wo.ratings.RatingRanker().fit(np.zeros((4, 2)), [1, 2, 3, 4])
    with pytest.raises(ValueError, match="names item 2, but there are 2 rows"):
        wo.ratings.RatingRanker().fit(np.zeros((2, 2)), GAMES)
    ranker = wo.ratings.RatingRanker().fit(np.zeros((4, 2)), GAMES)
    with pytest.raises(ValueError, match="score takes"):
        ranker.score(np.zeros((4, 2)), [1, 2, 3, 4])
    with pytest.warns(UserWarning, match="no decided comparison"):
        assert np.isnan(ranker.score(np.zeros((4, 2)), wo.Comparisons([0], [1], [0])))
    with pytest.raises(ValueError, match="nothing to learn a direction from"):
        wo.ratings.RatingRanker(wo.ratings.Elo()).fit(np.zeros((4, 2)), wo.Comparisons([0, 1], [1, 2], [0, 0]))


def many_games(n=300, seed=0):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, 6, (2, n))
    margin = 0.7 * (right - left) + rng.standard_normal(n)
    return wo.Comparisons(left, right, np.where((np.abs(margin) < 0.8) | (left == right), 0, np.sign(margin)))


def test_what_an_item_does_against_itself_says_nothing():
    games = many_games()
    apart = games.left != games.right
    assert not apart.all()
    items, other = np.zeros((6, 1)), wo.Comparisons(games.left[apart], games.right[apart], games.outcome[apart])
    for system in (None, wo.ratings.Elo(), wo.ratings.Glicko()):
        both = [wo.ratings.RatingRanker(system).fit(items, each) for each in (games, other)]
        assert both[0].ratings_.tolist() == both[1].ratings_.tolist()
        assert both[0].threshold_ == both[1].threshold_


def test_probabilities_are_those_of_davidson():
    games = many_games()
    ranker = wo.ratings.RatingRanker().fit(np.zeros((6, 1)), games)
    d = ranker.ratings_[[1, 5]] - ranker.ratings_[[3, 0]]
    np.testing.assert_allclose(ranker.probabilities(d), ranker.system_.predict_proba([3, 0], [1, 5]))
    np.testing.assert_allclose(ranker.probabilities(d), ranker.probabilities(-d)[:, ::-1])
    decided = wo.Comparisons([0, 1, 2], [1, 2, 0], [1, 1, 1])
    assert wo.ratings.RatingRanker().fit(np.zeros((3, 1)), decided).probabilities([0.0]).tolist() == [[0.5, 0.0, 0.5]]


@pytest.mark.parametrize("system", [None, wo.ratings.Elo(), wo.ratings.Glicko(), wo.ratings.Glicko2()])
def test_the_threshold_misses_fewest_comparisons(system):
    games = many_games()
    apart = games.left != games.right
    ranker = wo.ratings.RatingRanker(system).fit(np.zeros((6, 1)), games)
    d = (ranker.ratings_[games.right] - ranker.ratings_[games.left])[apart]

    def wrong(threshold):
        return np.sum(np.where(np.abs(d) > threshold, np.sign(d), 0) != games.outcome[apart])

    assert wrong(ranker.threshold_) == min(map(wrong, [0.0, *np.abs(d)]))
    assert ranker.threshold_ > 0


def test_row_order_is_time():
    games = many_games()
    back = wo.Comparisons(games.left[::-1], games.right[::-1], games.outcome[::-1])
    items = np.zeros((6, 1))
    ahead = wo.ratings.RatingRanker(wo.ratings.Elo()).fit(items, games).ratings_
    assert ahead == pytest.approx(wo.ratings.Elo().fit(*_apart(games)).rating(range(6)))
    assert ahead != pytest.approx(wo.ratings.RatingRanker(wo.ratings.Elo()).fit(items, back).ratings_)


def _apart(games):
    kept = games.left != games.right
    return games.left[kept], games.right[kept], games.outcome[kept]


@pytest.mark.parametrize("system", [wo.ratings.Davidson(first_move=True), wo.ratings.Elo(advantage="fit")])
def test_a_side_that_always_wins_is_named(system):
    left = np.arange(12) % 4
    games = wo.Comparisons(left, (left + 1 + np.arange(12) // 4) % 4, -np.ones(12, int))  # the winner is written first
    with pytest.warns(
        UserWarning, match="all 12 decided comparisons were won by the left one.*takes that for what the"
    ):
        wo.ratings.RatingRanker(system).fit(np.zeros((4, 1)), games)
    assert not measure_size(np.zeros((4, 1)), games, has_features=False).has_sides
    for name in ("elo", "glicko", "davidson"):
        grid = METHODS[name].grid(measure_size(np.zeros((4, 1)), games, has_features=False))
        assert [False] in grid.values() or [0.0] in grid.values(), name  # a search must not find it either
        mixed = wo.Comparisons(games.left, games.right, np.resize([1, -1], 12))
        both = METHODS[name].grid(measure_size(np.zeros((4, 1)), mixed, has_features=False))
        assert [False, True] in both.values() or [0.0, "fit"] in both.values(), name
