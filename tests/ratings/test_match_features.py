from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.reference import ratings as reference

import wellorder as wo
from wellorder.sweeps import dispatch


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 25), timed=st.booleans(), together=st.booleans())
def test_agrees_with_a_look_through_all_earlier_games(seed, n, timed, together):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    outcome, time = rng.integers(-1, 2, n), rng.integers(0, 7, n) if timed else None
    with dispatch.prefer_compiled(0 if seed % 4 == 0 else 10**12):
        found = wo.ratings.match_features(left, right, outcome, time=time, together=together, memory=0.7)
    _, elo = reference.elo(left, right, outcome, time, together=together)
    _, glicko = reference.glicko(left, right, outcome, time, together=together)
    for row in range(n):
        for side in range(2):
            rest = reference.features(left, right, outcome, time, row, side, elo, memory=0.7, together=together)
            expected = [elo[row][side], glicko[row][side], glicko[row][2 + side], *rest]
            place = (found.left, found.right)[side][row]
            assert found.items[place] == pytest.approx(expected, rel=1e-9, abs=1e-8)


def test_the_order_of_games_of_one_time_changes_nothing():
    rng = np.random.default_rng(0)
    left = rng.integers(0, 4, 60)
    right = (left + rng.integers(1, 4, 60)) % 4
    outcome, time = rng.integers(-1, 2, 60), rng.integers(0, 5, 60)
    order = rng.permutation(60)
    one = wo.ratings.match_features(left, right, outcome, time=time)
    other = wo.ratings.match_features(left[order], right[order], outcome[order], time=time[order])
    for a, b in ((one.left, other.left), (one.right, other.right)):
        np.testing.assert_allclose(other.items[b], one.items[a[order]], rtol=1e-9, atol=1e-9)


def test_goes_into_a_comparison_model_as_it_is():
    found = wo.ratings.match_features(["a", "b", "a"], ["b", "c", "c"], [1, 0, -1], time=[1, 2, 3])
    assert found.columns == wo.ratings.FEATURES
    assert found.items.shape == (6, 16)
    assert found.pairs.shape == (3, 2, 16)
    assert np.isfinite(found.items).all()


def test_systems_of_ones_own_are_copied():
    elo = wo.ratings.Elo(start=1200.0)
    found = wo.ratings.match_features(["a"], ["b"], [1], elo=elo, glicko=wo.ratings.Glicko(deviation=100.0))
    assert found.items[0, :3].tolist() == [1200, 1500, 100]
    assert not hasattr(elo, "players_")


def test_no_games_and_bad_memory():
    assert wo.ratings.match_features([], [], []).items.shape == (0, 16)
    with pytest.raises(ValueError, match="memory must be at least 0 and less than 1"):
        wo.ratings.match_features(["a"], ["b"], [1], memory=1.0)
