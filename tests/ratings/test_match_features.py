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


@pytest.mark.parametrize("timed", [True, False])
@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 20))
def test_a_match_to_come_is_described_as_it_will_be(seed, n, timed):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 5, n + 1)
    right = (left + rng.integers(1, 6, n + 1)) % 6
    outcome = rng.integers(-1, 2, n + 1)
    time = np.append(np.sort(rng.integers(0, 30, n)), 30 + rng.integers(0, 60)) if timed else None
    whole = wo.ratings.match_features(left, right, outcome, time=time)
    before = wo.ratings.match_features(left[:-1], right[:-1], outcome[:-1], time=None if time is None else time[:-1])
    # beside another match of the same players, which it must know nothing of
    twice = None if time is None else np.append(time[-1] + 5, time[-1])
    found = before.upcoming([right[-1], left[-1]], [left[-1], right[-1]], time=twice)
    assert found.pairs.shape == (2, 2, 16)
    for side, place in ((whole.left[-1], found.left[1]), (whole.right[-1], found.right[1])):
        assert found.items[place] == pytest.approx(whole.items[side], rel=1e-9, abs=1e-9)
    assert (
        before.items.tolist()
        == wo.ratings.match_features(
            left[:-1], right[:-1], outcome[:-1], time=None if time is None else time[:-1]
        ).items.tolist()
    )


def test_matches_to_come_want_times_that_are_to_come():
    dates = np.array(["2024-01-01", "2024-03-01"], "datetime64[D]")
    known = wo.ratings.match_features(["a", "b"], ["b", "c"], [1, 0], time=dates)
    later = known.upcoming(["c", "x"], ["a", "y"], time=np.array(["2024-03-31", "2024-04-01"], "datetime64[D]"))
    since = wo.ratings.FEATURES.index("since_last")
    assert later.items[later.right[0], since] == 90
    assert later.items[later.left[1]].tolist()[:3] == [1500.0, 1500.0, 350.0]
    with pytest.raises(ValueError, match="say with time= when"):
        known.upcoming(["c"], ["a"])
    with pytest.raises(ValueError, match=r"time\[0\] is .* matches to come are later"):
        known.upcoming(["c"], ["a"], time=dates[1:])
    with pytest.raises(ValueError, match="two kinds"):
        known.upcoming(["c"], ["a"], time=[99999.0])
    with pytest.raises(ValueError, match="leave time= out"):
        wo.ratings.match_features(["a"], ["b"], [1]).upcoming(["a"], ["b"], time=[1])
    assert wo.ratings.match_features([], [], []).upcoming(["a"], ["b"]).items.shape == (2, 16)
