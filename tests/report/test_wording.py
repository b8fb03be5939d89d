from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.report import boards
from wellorder.evaluation import LeftOut, Protocol, Record, is_share, make_leaderboard, view_board
from wellorder.metrics import COMPARISON_METRICS, METRICS
from wellorder.report import describe_metric, render
from wellorder.report.wording import (
    caution,
    claim,
    metric_title,
    no_better_than_chance,
    out_of_time,
    rivals,
)


@pytest.mark.parametrize("name", [*METRICS, *COMPARISON_METRICS])
@pytest.mark.parametrize("comparisons", [False, True])
def test_every_metric_has_plain_words_and_a_direction(name, comparisons):
    definition = {**COMPARISON_METRICS, **METRICS}[name]
    written = f"{name}@5" if definition.needs_cutoff else name
    words = describe_metric(written, comparisons=comparisons)
    assert words.endswith("Higher is better." if definition.greater_is_better else "Lower is better.")
    assert len(words) > 40
    assert "_" not in metric_title(written)


def test_names_with_options_and_unknown_names():
    assert metric_title("swapped_pairs(ties=half)") == "swapped pairs"
    assert is_share("swapped_pairs(ties=half)")
    assert metric_title("ndcg(gain=linear)@5") == "NDCG@5"
    assert "first 5 places" in describe_metric("ndcg@5")
    assert metric_title("my_metric") == "my_metric"
    assert describe_metric("my_metric")
    assert "decided comparisons" in describe_metric("swapped_pairs", comparisons=True)


def made_standings(*p_values, baselines=()):
    leader, other = boards.made().standings
    others = [replace(other, method=f"m{place}", p_value=p) for place, p in enumerate(p_values)]
    return [leader, *(replace(each, is_baseline=each.method in baselines) for each in others)]


@pytest.mark.parametrize(
    ("p_values", "words"),
    [
        ((), "no other method was tried"),
        ((0.3, 0.01), "m0 cannot be told apart from it"),
        ((0.3, 0.5), "m0 and m1 cannot be told apart from it"),
        ((0.3, 0.5, 0.9), "none of the 3 other methods can be told apart from it"),
        ((0.3, 0.5, 0.9, 0.01), "m0 and 2 others cannot be told apart from it"),
        ((0.01, 0.04), "every other method is worse beyond chance"),
        ((math.nan, None), "there are too few splits to say which differences are more than chance"),
    ],
)
def test_rivals(p_values, words):
    assert rivals(made_standings(*p_values)) == words


def test_cautions():
    assert caution(made_standings(0.3, 0.01)) == ""
    assert caution(made_standings(0.3, 0.01, baselines=["m1"])) == ""
    assert caution(made_standings(0.3, 0.3, baselines=["m0", "m1"])).startswith("m0 and m1 are baselines")
    baselines = [replace(each, is_baseline=True) for each in made_standings(0.3)]
    assert "nothing more elaborate does better" in caution(baselines)
    assert caution(baselines, ["rank-svm"]).startswith("The leader is a baseline, and rank-svm had too little time")


def test_no_baseline_is_praised_over_fits_that_were_cut_short_though_not_told_apart():
    board = boards.made(("ridge", "rank-svm", "order-boost", "svor"))
    leader, *others = (replace(each, p_value=0.6) for each in board.standings)
    leader = replace(leader, p_value=None, is_baseline=True, n_unfinished=1)
    cut = [replace(each, n_unfinished=each.n_splits * (each.method != "svor")) for each in others]
    board = replace(board, standings=(leader, *cut), left_out=(LeftOut("rank-boost", "no time", for_time=True),))
    assert out_of_time(board) == ["rank-boost", "rank-svm", "order-boost"]
    assert "nothing more elaborate" not in render(board)
    assert "rank-boost and 2 others had too little time to do better" in render(board)
    elaborate = replace(board, standings=(replace(leader, is_baseline=False), *cut[1:]))
    assert "rank-boost and order-boost had too little time to show what more would do" in render(elaborate)
    assert "too little time" not in render(replace(elaborate, standings=(cut[-1],), left_out=()))


def test_claims_of_other_metrics():
    assert claim(boards.made(metric="ndcg@10", greater=True)).startswith("reaches NDCG@10 0.2")
    board = boards.made()
    broken = replace(board, standings=(replace(board.standings[0], mean=math.nan),))
    assert claim(broken) == "has no value of swapped pairs on held-out data"


def standing_at(mean, low, high):
    return replace(boards.made().leader, mean=mean, low=low, high=high)


@pytest.mark.parametrize(
    ("metric", "greater", "standing", "said"),
    [
        ("swapped_pairs", False, standing_at(0.47, 0.28, 0.65), "what a random order does (50.0 %)"),
        ("swapped_pairs", False, standing_at(0.40, 0.31, 0.49), ""),
        ("kendall_tau", True, standing_at(0.1, -0.05, 0.25), "what a random order does (0.000)"),
        ("kendall_tau", True, standing_at(0.1, 0.05, 0.15), ""),
        ("ndcg@10", True, standing_at(0.5, 0.3, 0.7), ""),
        ("swapped_pairs", False, standing_at(0.47, math.nan, math.nan), ""),
    ],
)
def test_a_leader_that_may_be_chance_is_called_so_on_the_first_screen(metric, greater, standing, said):
    board = replace(boards.made(metric=metric, greater=greater), standings=(standing,))
    assert said in no_better_than_chance(board)
    assert bool(no_better_than_chance(board)) == bool(said)
    assert ("Do not trust" in render(board)) == bool(said)


@pytest.mark.parametrize("n_infinite", [1, 3])
def test_an_infinite_loss_stands_last_and_is_never_the_best(n_infinite):
    methods = ("plug-in-ranker", "proportional-odds", "order-boost")
    records = [
        Record(
            f"{name}/{k}", "d", name, 0, k, 0, 80, 20, {"log_loss": math.inf if k == 3 and place < n_infinite else loss}
        )
        for place, (name, loss) in enumerate(zip(methods, (0.5, 0.6, 0.7), strict=True))
        for k in range(5)
    ]
    protocol = Protocol("rows", 5, 1, 3, 0, "log_loss", ("log_loss",))
    board = make_leaderboard("d", records, methods, [], protocol, greater_is_better=False)
    rows = view_board(board).rows
    assert [(row.value.text, row.verdict) for row in rows[-n_infinite:]] == [("∞", "not tested")] * n_infinite
    said = f"{claim(board)}; {rivals(board.standings)}"
    if n_infinite == 1:
        assert board.leader.method == "proportional-odds"
        assert "∞" not in said
        assert "inf" not in said
    else:
        assert said.startswith("has an infinite log loss")
        assert said.endswith("so has every other method")
