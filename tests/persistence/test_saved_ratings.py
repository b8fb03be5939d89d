"""Ratings come back to the last bit, go on where they were, and are refused where their parts do not fit."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.persistence import ModelFileError

SYSTEMS = [wo.ratings.Elo(k="fide"), wo.ratings.Glicko(), wo.ratings.Glicko2(), wo.ratings.Davidson()]


def some_games(seed=0, n=80):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, 5, n)
    return left, (left + rng.integers(1, 5, n)) % 5, rng.integers(-1, 2, n)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: type(system).__name__)
def test_ratings_are_saved_and_go_on(tmp_path, system):
    path, items = tmp_path / "m.wo", np.zeros((6, 2))
    ranker = wo.ratings.RatingRanker(system).fit(items, wo.Comparisons(*some_games()))
    wo.save(ranker, path)
    again = wo.load(path)
    assert again.decision_function(items).tolist() == ranker.decision_function(items).tolist()
    assert (again.threshold_, again.unseen_) == (ranker.threshold_, ranker.unseen_)
    pairs = [0, 1, 5, -1], [1, 2, 0, 3]
    assert again.probabilities_between(*pairs).tolist() == ranker.probabilities_between(*pairs).tolist()
    later = some_games(1)
    expected = ranker.system_.update(*later).rating(range(6))
    assert again.system_.update(*later).rating(range(6)).tolist() == expected.tolist()
    assert again.probabilities_between(*pairs).tolist() == ranker.probabilities_between(*pairs).tolist()


@pytest.mark.parametrize("system", SYSTEMS[:3], ids=lambda system: type(system).__name__)
def test_ratings_of_older_files_have_no_probabilities_and_say_why(tmp_path, system):
    ranker = wo.ratings.RatingRanker(system).fit(np.zeros((6, 2)), wo.Comparisons(*some_games()))
    del ranker.system_._met, ranker.system_._calibration  # what older versions did not keep
    wo.save(ranker, tmp_path / "m.wo")
    again = wo.load(tmp_path / "m.wo")
    assert again.ratings_.tolist() == ranker.ratings_.tolist()
    assert not hasattr(again, "probabilities_between")
    with pytest.raises(ValueError, match="fit it anew"):
        again.system_.predict_proba([0], [1])
    again.system_.update(*some_games(1))  # goes on rating
    assert again.system_.expected([0], [1]).shape == (1,)


def test_named_players_and_times_are_kept(tmp_path):
    elo = wo.ratings.Elo().fit(["Ann", "Bob"], ["Bob", "Cem"], [1, 0], time=[1.0, 2.0])
    wo.save(elo, tmp_path / "elo.wo")
    again = wo.load(tmp_path / "elo.wo")
    assert again.rating(["Ann", "Zed"]).tolist() == elo.rating(["Ann", "Zed"]).tolist()
    with pytest.raises(ValueError, match="is not after the last game rated"):
        again.update(["Ann"], ["Bob"], [1], time=[2.0])


def state(**parts):
    """Change parts of what a streamed system keeps of its players."""
    return {"_state": lambda old: {**old, **{name: change(old[name]) for name, change in parts.items()}}}


UNSOUND = [
    ("Elo", {"players_": lambda old: {**old, 0: 10**9}}),
    ("Elo", {"players_": lambda old: {**old, 0: -1}}),
    ("Elo", {"players_": lambda old: {**old, 0: 0.0}}),
    ("Elo", {"players_": list}),
    ("Elo", {"_now": lambda old: "yesterday"}),
    ("Elo", state(rating=lambda old: old[:-1])),
    ("Elo", state(games=lambda old: old.astype(np.float32))),
    ("Elo", state(peak=lambda old: old + np.inf)),
    ("Elo", state(rating=lambda old: old * np.nan)),
    ("Elo", {"_state": lambda old: dict(reversed(old.items()))}),
    ("Elo", {"_state": lambda old: {}}),
    ("Elo", {"_met": lambda old: {**old, "outcome": old["outcome"] + 3}}),
    ("Elo", {"_met": lambda old: {**old, "difference": old["difference"][1:]}}),
    ("Glicko", {"_met": lambda old: {**old, "certainty": old["certainty"] + 1.0}}),
    ("Elo", {"_calibration": lambda old: (-1.0, *old[1:])}),
    ("Elo", {"_calibration": lambda old: (*old[:2], np.nan)}),
    ("Glicko", state(deviation=lambda old: old[:2])),
    ("Glicko2", state(volatility=lambda old: old.reshape(-1, 1))),
    ("Davidson", {"_players": lambda old: old + 10**6}),
    ("Davidson", {"_players": lambda old: old[:, :1]}),
    ("Davidson", {"_outcome": lambda old: old + 2}),
    ("Davidson", {"_outcome": lambda old: old[1:]}),
    ("Davidson", {"_weight": lambda old: old * np.nan}),
    ("Davidson", {"_parameters": lambda old: old[1:]}),
    ("Davidson", {"_parameters": lambda old: old * np.nan}),
]


@pytest.mark.parametrize(("name", "changes"), UNSOUND, ids=[f"{name}-{i}" for i, (name, _) in enumerate(UNSOUND)])
def test_unsound_systems_are_refused(tmp_path, name, changes):
    system = getattr(wo.ratings, name)().fit(*some_games())
    system.predict_proba([0], [1])
    for part, change in changes.items():
        vars(system)[part] = change(vars(system)[part])
    wo.save(system, tmp_path / "m.wo")
    with pytest.raises(ModelFileError, match=r"m\.wo"):
        wo.load(tmp_path / "m.wo")


@pytest.mark.parametrize(
    "changes",
    [
        {"system_": wo.RankSVM()},
        {"ratings_": [1.0]},
        {"ratings_": np.ones((2, 2))},
        {"ratings_": np.array([np.nan])},
        {"threshold_": -1.0},
        {"threshold_": np.nan},
        {"unseen_": np.inf},
        {"unseen_": None},
    ],
    ids=str,
)
def test_unsound_rankers_are_refused(tmp_path, changes):
    ranker = wo.ratings.RatingRanker().fit(np.zeros((6, 2)), wo.Comparisons(*some_games()))
    vars(ranker).update(changes)
    wo.save(ranker, tmp_path / "m.wo")
    with pytest.raises(ModelFileError, match=r"m\.wo"):
        wo.load(tmp_path / "m.wo")
