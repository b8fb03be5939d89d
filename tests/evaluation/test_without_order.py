"""Methods that give all held-out rows the same score order nothing, and are told so, without a made-up interval."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.cli.leaderboard import print_leaderboard
from wellorder.evaluation import Record
from wellorder.evaluation.judging import judge_comparisons, judge_grades
from wellorder.evaluation.leaderboard import Protocol, make_leaderboard
from wellorder.report import render
from wellorder.report.wording import rivals

GRADES = [0, 1, 1, 0, 2, 2]


@pytest.mark.parametrize(
    ("scores", "groups", "expected"),
    [
        ([1.0] * 6, None, True),
        ([1.0] * 5 + [2.0], None, False),
        ([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], None, False),
        ([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], list("aaabbb"), True),  # an order of lists is none of rows
        ([1.0, 1.0, 1.0, 2.0, 2.0, 7.0], list("aaabbb"), False),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], range(6), False),  # there is nothing to order
    ],
)
def test_equal_scores_within_every_list_are_no_order(scores, groups, expected):
    grades = wo.Grades(GRADES, groups)
    assert judge_grades(grades, np.array(scores), ["swapped_pairs"]).orders_nothing is expected


def test_rows_without_a_grade_make_no_order():
    scores = np.array([1.0, 1.0, 9.0])
    assert judge_grades(wo.Grades([0, 1, np.nan]), scores, ["swapped_pairs"]).orders_nothing


def test_equal_scores_of_all_decided_comparisons_are_no_order():
    games = wo.Comparisons([0, 1, 2], [1, 2, 3], [1, 1, 0])
    for scores, expected in (([1, 1, 1, 1], True), ([1, 1, 1, 2], True), ([1, 2, 1, 1], False)):
        found = judge_comparisons(games, np.array(scores, dtype=float), ["swapped_pairs"])
        assert found.orders_nothing is expected
    ties = wo.Comparisons([0], [1], [0])
    assert not judge_comparisons(ties, np.ones(2), ["comparison_error"]).orders_nothing


def board_of(values, silent=(), metric="swapped_pairs"):
    """Make a leaderboard of one value a split; the named methods order nothing where their value is 1."""
    records = [
        Record(
            f"{name}/{fold}",
            "made",
            name,
            0,
            fold,
            0,
            80,
            20,
            {metric: value},
            orders_nothing=name in silent and value == 1,
        )
        for name, column in values.items()
        for fold, value in enumerate(column)
    ]
    protocol = Protocol("rows", len(records) // len(values), 1, 3, 0, metric, (metric,))
    return make_leaderboard("made", records, list(values), [], protocol, greater_is_better=False)


GOOD = [0.10, 0.12, 0.09, 0.11, 0.13]
CLOSE = [0.11, 0.11, 0.10, 0.12, 0.13]


@pytest.mark.parametrize(
    ("constant", "words"),
    [([1.0] * 5, "orders nothing"), ([1.0, 0.2, 1.0, 0.2, 0.2], "orders nothing on 2 of 5 splits")],
)
def test_leaderboard_terminal_and_report_say_who_orders_nothing(constant, words, capsys):
    board = board_of({"rank-svm": GOOD, "svor": constant, "ridge": CLOSE}, silent=["svor"])
    last = board.standings[-1]
    assert (last.method, last.lack_of_order, last.is_told_apart, last.is_worse) == ("svor", words, False, True)
    assert math.isnan(last.low)
    assert math.isnan(last.high)
    assert math.isnan(last.p_value)
    assert math.isfinite(board.leader.low)
    alone = board_of({"rank-svm": GOOD, "ridge": CLOSE})
    assert board.standings[1] == alone.standings[1]  # its test is as if the other were not there
    assert rivals(board.standings) == "ridge cannot be told apart from it"
    print_leaderboard(board)
    printed = capsys.readouterr().out
    assert words in printed
    assert "the same score for all held-out rows, so that there is no order to judge: svor" in printed
    assert "100.0 % –" not in printed
    assert "– 100.0 %" not in printed
    page = render(board)
    assert f">{words}</td>" in page
    assert words in board._repr_html_()


def test_a_leader_that_orders_nothing_is_not_praised():
    page = render(board_of({"svor": [1.0] * 5, "ridge": [1.0] * 5}, silent=["svor", "ridge"]))
    assert "orders nothing: it gives all held-out rows the same score" in page
    assert "every other method orders nothing somewhere" in page
    assert "of held-out pairs rightly" not in page


@pytest.mark.parametrize("values", [[0.1, 0.3], [0.25] * 5, [0.0] * 5])
def test_splits_that_do_not_vary_or_are_too_few_give_no_interval(values):
    leader = board_of({"rank-svm": values, "ridge": [value + 0.1 for value in values]}).leader
    assert leader.mean == pytest.approx(np.mean(values))
    assert math.isnan(leader.low)
    assert math.isnan(leader.high)


def test_the_constant_optimum_of_an_ordinal_model_is_seen_in_a_comparison():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    rare = (0.3 * X[:, 0] + rng.standard_normal(80) > 1.6).astype(float)
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    table = wo.data.Table("rare.csv", frame, rare, target="y")
    board = wo.compare(table, ["svor", "ridge"], n_folds=3, n_repeats=1, time_budget=None, n_jobs=1)
    found = {each.method: each for each in board.standings}
    assert found["svor"].lack_of_order == "orders nothing"
    assert math.isnan(found["svor"].low)
    assert found["ridge"].lack_of_order == ""
