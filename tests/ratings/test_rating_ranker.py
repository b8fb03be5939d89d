from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo

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
