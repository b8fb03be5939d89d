"""Splits as the world has them: learn from the past, be judged by the future."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.data import DataError
from wellorder.evaluation import compare, cross_validate, view_board
from wellorder.evaluation.splits import time_cuts
from wellorder.report import render

RNG = np.random.default_rng(0)


def test_the_past_is_learned_from_and_the_future_judged_by():
    y, times = RNG.integers(0, 3, 100), RNG.permutation(100)
    splits = list(time_cuts(y, times, n_cuts=4))
    assert len(splits) == 4
    for split in splits:
        assert times[split.train].max() < times[split.test].min()
    tested = np.concatenate([split.test for split in splits])
    assert sorted(times[tested].tolist()) == list(range(50, 100))
    assert [len(split.train) for split in splits] == sorted(len(split.train) for split in splits)


def test_rows_of_one_time_and_groups_stay_together():
    y, days = RNG.integers(0, 3, 120), np.repeat(np.arange(12), 10)
    for split in time_cuts(y, days, n_cuts=5):
        assert not set(days[split.train]) & set(days[split.test])
    query = np.tile(np.arange(30), 4)
    when = RNG.random(120)
    last = np.array([when[query == each].max() for each in range(30)])
    for split in time_cuts(y, when, query, n_cuts=3):
        assert not set(query[split.train]) & set(query[split.test])
        assert last[query[split.train]].max() < last[query[split.test]].min()


def test_dates_are_times_and_unjudged_rows_are_not_judged_by():
    y = np.where(np.arange(40) % 5 == 0, np.nan, RNG.integers(0, 3, 40))
    dates = np.datetime64("2020-01-01") + np.arange(40)
    tested = np.concatenate([split.test for split in time_cuts(y, dates, n_cuts=2)])
    assert not np.isnan(y[tested]).any()


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (np.zeros(20), "all rows are of about one time"),
        (np.full(20, np.nan), "row 0 has no time"),
        (np.arange(19), "give one for each of 20 rows"),
        (np.array(["a"] * 20), "numbers or dates"),
    ],
)
def test_times_that_cannot_be(times, message):
    with pytest.raises(ValueError, match=message):
        list(time_cuts(np.tile([0, 1], 10), times))


def test_lists_that_all_go_on_to_the_end_have_no_past():
    year, query = np.tile(np.arange(10), 4), np.repeat(np.arange(4), 10)
    with pytest.raises(ValueError, match=r"all lists end at about the same time.*leave the groups out"):
        list(time_cuts(np.tile([0, 1], 20), year, query))
    assert len(list(time_cuts(np.tile([0, 1], 20), year, n_cuts=2))) == 2


def test_they_are_splits_for_cross_validation_and_comparisons():
    X = RNG.standard_normal((200, 3))
    found = cross_validate(
        wo.RankSVM(), X, np.round(X[:, 0]), cv=time_cuts(np.round(X[:, 0]), np.arange(200), n_cuts=3)
    )
    assert len(found["swapped_pairs"]) == 3
    left, right = RNG.integers(0, 5, 60), RNG.integers(5, 10, 60)
    games = wo.Comparisons(left, right, RNG.choice([-1, 1], 60))
    splits = list(time_cuts(games, np.arange(60), n_cuts=2))
    assert [split.test.tolist() for split in splits] == [list(range(30, 45)), list(range(45, 60))]


def write_drifting(path, n=400):
    """Write rows whose order is upside down from the middle of the year on: only the future shows it."""
    x = RNG.standard_normal(n)
    turned = np.where(np.arange(n) < n // 2, 1, -1)
    grade = np.clip(np.round(x * turned + 0.1 * RNG.standard_normal(n)) + 2, 0, 4)
    day = [f"2024-{1 + k * 12 // n:02d}-{1 + k % 28:02d}" for k in range(n)]
    order = RNG.permutation(n)
    pl.DataFrame({"x": x, "other": RNG.standard_normal(n), "day": day, "grade": grade})[order].write_csv(path)


def test_compare_learns_from_the_past(tmp_path):
    path = tmp_path / "rows.csv"
    write_drifting(path)
    table = wo.read(path, target="grade", time="day")
    assert table.feature_names == ("x", "other")
    board = compare(table, ["ridge", "best-feature"], n_folds=3, time_budget=None, n_jobs=1)
    assert (board.protocol.n_folds, board.protocol.n_repeats, board.protocol.time) == (3, 1, "day")
    first = min(board.of("ridge"), key=lambda record: record.fold)
    assert first.metrics["swapped_pairs"] > 0.8  # what was learned is upside down by then
    blind = compare(wo.read(path, target="grade", drop="day"), ["ridge"], n_repeats=1, time_budget=None, n_jobs=1)
    assert blind.leader.mean < 0.6
    assert "rows by 'day', judged by what came after" in view_board(board).title
    assert "all that came before it is the training part" in render(board)


def test_comparisons_are_put_into_the_order_of_time(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("left,right,outcome,when\na,b,>,2024-03-01 10:00\nb,c,<,2023-12-24\nc,a,=,2024-03-01 09:30\n")
    games = wo.read(path, time="when")
    names = games.items.ids
    assert [names[k] for k in games.comparisons.left] == ["b", "c", "a"]
    assert np.diff(games.times).tolist() == pytest.approx([68 + 9.5 / 24, 0.5 / 24])
    assert games.take(np.array([2])).times.tolist() == [games.times[2]]


@pytest.mark.parametrize(("written", "problem"), [("31.5.2024", "neither a number nor a date"), ("", "is missing")])
def test_a_time_that_is_none_is_named_with_its_line(tmp_path, written, problem):
    path = tmp_path / "games.csv"
    path.write_text(f"left,right,outcome,when\na,b,>,2024-03-01\nb,c,<,{written}\n")
    with pytest.raises(DataError, match=f"line 3.*{problem}|{problem}.*line 3"):
        wo.read(path, time="when")
