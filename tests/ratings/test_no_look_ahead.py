"""What is known before a game may depend on nothing that came with it or after it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import wellorder as wo
from wellorder.sweeps import dispatch


def known(found):
    if isinstance(found, wo.ratings.MatchFeatures):
        n = len(found.left)
        return np.column_stack([found.items[:n], found.items[n:]])
    parts = [found.left, found.right, found.left_deviation, found.right_deviation, found.difference]
    return np.column_stack([part for part in parts if part is not None])


WAYS = {
    "elo": lambda *games, together, **time: wo.ratings.Elo(k="fide", together=together).stream(*games, **time),
    "glicko": lambda *games, together, **time: wo.ratings.Glicko(together=together).stream(*games, **time),
    "glicko2": lambda *games, together, **time: wo.ratings.Glicko2(together=together).stream(*games, **time),
    "davidson": lambda *games, together, **time: wo.ratings.Davidson(together=together, first_move=True).stream(
        *games, **time
    ),
    "features": wo.ratings.match_features,
}


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 25),
    timed=st.booleans(),
    together=st.booleans(),
    change=st.sampled_from(["shuffle", "outcomes", "players", "times", "drop"]),
)
def test_the_future_changes_no_past_feature(way, seed, n, timed, together, change):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 5, n)
    right = (left + rng.integers(1, 5, n)) % 5
    outcome = rng.integers(-1, 2, n)
    time = rng.integers(0, 6, n) if timed else np.arange(n)
    now = int(rng.choice(time))
    past, future = np.flatnonzero(time < now), np.flatnonzero(time >= now)
    games = {"left": left, "right": right, "outcome": outcome, "time": time}
    changed = {name: values.copy() for name, values in games.items()}
    present = np.concatenate([past, future[time[future] == now]])  # what is known before a game of now, too
    match change:
        case "shuffle" if timed:
            # rows move in the table; those of the past keep their places, those of now may have new ones
            moved = np.arange(n)
            moved[future] = rng.permutation(future)
            changed = {name: values[moved] for name, values in games.items()}
            present = past
        case "outcomes":
            changed["outcome"][future] = rng.integers(-1, 2, len(future))
        case "players":
            later = np.flatnonzero(time > now)
            changed["left"][later], changed["right"][later] = 100 + rng.integers(0, 3, len(later)), right[later]
        case "times" if timed:
            later = np.flatnonzero(time > now)
            changed["time"][later] = now + 1 + rng.integers(0, 9, len(later))
        case _:
            keep = np.sort(present)
            changed = {name: values[keep] for name, values in games.items()}
    if timed and not together:
        present = past  # of the games of now, each knows those before it

    def run(these):
        times = {"time": these["time"]} if timed else {}
        with dispatch.prefer_compiled(0 if seed % 2 else 10**12):
            return known(WAYS[way](these["left"], these["right"], these["outcome"], together=together, **times))

    before, after = run(games), run(changed)
    rows = present
    if len(changed["left"]) < n:
        rows = np.searchsorted(np.sort(np.concatenate([past, future[time[future] == now]])), present)
    assert np.array_equal(before[present], after[rows])


@pytest.mark.parametrize("way", WAYS)
def test_the_past_does_change_what_is_known(way):
    left, right, time = [0, 1, 0], [1, 2, 2], [1, 2, 3]
    one = known(WAYS[way](left, right, [1, 1, 1], together=True, time=time))
    other = known(WAYS[way](left, right, [1, -1, 1], together=True, time=time))
    assert np.array_equal(one[:2], other[:2])
    assert not np.array_equal(one[2], other[2])


@pytest.mark.parametrize("way", WAYS)
def test_games_of_one_time_do_not_know_one_another(way):
    left, right = [0, 0, 0, 1], [1, 1, 2, 2]
    at_once = known(WAYS[way](left, right, [1, 1, -1, 1], together=True, time=[4, 4, 4, 4]))
    fresh = known(WAYS[way]([0], [1], [1], together=True, time=[4]))
    assert np.array_equal(at_once, np.repeat(fresh, 4, axis=0))
    in_turn = known(WAYS[way](left, right, [1, 1, -1, 1], together=False, time=[4, 4, 4, 4]))
    assert np.array_equal(in_turn[0], fresh[0])
    assert not np.array_equal(in_turn[1], fresh[0])
