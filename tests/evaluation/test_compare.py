"""A comparison: the same splits for all, nothing learned from test parts, resumable, within its time."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import wellorder as wo
from wellorder.evaluation import METHODS, Method, compare, read_records
from wellorder.evaluation.methods import Size

from .tables import make_comparisons, make_table

QUICK = ["rank-svm", "ridge", "best-feature"]


def results(board):
    """Everything but the times."""
    return [
        {
            name: value
            for name, value in dataclasses.asdict(record).items()
            if name not in ("search_seconds", "fit_seconds", "predict_seconds")
        }
        for record in sorted(board.records, key=lambda record: record.key)
    ]


def test_one_trial_is_what_a_person_would_do_by_hand():
    table = make_table()
    board = compare(table, ["rank-svm"], n_folds=3, n_repeats=1, inner_folds=2, seed=5)
    record = board.of("rank-svm")[1]
    split = list(wo.evaluation.folds(table.grades(), n_folds=3, seed=5))[1]
    train, test = table.take(split.train), table.take(split.test)
    encoder = wo.data.TableEncoder().fit(train)
    ranker = wo.RankSVM(**record.params).fit(encoder.transform(train), train.y)
    scores = ranker.decision_function(encoder.transform(test))
    assert record.metrics["swapped_pairs"] == wo.metrics.swapped_pairs(test.y, scores)
    assert record.metrics["kendall_tau"] == wo.metrics.kendall_tau(test.y, scores)
    np.testing.assert_array_equal(record.weights, ranker.coef_)
    assert record.features == ("x0", "x1", "x2", "x3")
    assert (record.n_train, record.n_test) == (len(train), len(test))


def test_all_methods_meet_on_the_same_splits():
    board = compare(make_table(groups=12), QUICK, n_folds=3, n_repeats=2)
    for name in QUICK:
        assert [(record.repeat, record.fold) for record in board.of(name)] == [(r, f) for r in (0, 1) for f in range(3)]
    assert {standing.method for standing in board.standings} == set(QUICK)
    assert board.protocol.split_by == "groups"
    assert "ndcg@10" in board.protocol.metrics
    means = [standing.mean for standing in board.standings]
    assert means == sorted(means)
    assert board.leader.p_value is None
    assert board.leader.low < board.leader.mean < board.leader.high


@pytest.mark.parametrize(("groups", "n_folds", "split_by"), [(3, 3, "groups"), (2, 2, "groups"), (1, 5, "rows")])
def test_few_groups_make_fewer_folds_and_one_group_is_cut_by_rows(groups, n_folds, split_by):
    board = compare(make_table(groups=groups), ["rank-svm", "ridge"], n_repeats=1)
    assert board.left_out == ()
    assert board.protocol.n_folds == n_folds
    assert board.protocol.split_by == split_by
    assert board.leader.n_splits == n_folds


def test_the_metric_leads():
    board = compare(make_table(groups=12), QUICK, metric="ndcg@5", metrics=["tau"], n_folds=3, n_repeats=1)
    assert board.protocol.metrics == ("ndcg@5", "kendall_tau")
    assert board.greater_is_better
    means = [standing.mean for standing in board.standings]
    assert means == sorted(means, reverse=True)


@pytest.mark.parametrize("described", [True, False])
def test_comparisons_are_compared_too(described):
    board = compare(make_comparisons(described=described), n_folds=3, n_repeats=1)
    assert board.protocol.metrics == ("swapped_pairs", "comparison_auc")
    assert board.leader.mean < 0.3
    assert [each.method for each in board.left_out if "does not learn from" in each.reason] == ["ridge-on-ranks"]
    assert board.records[0].curve.kind == "comparison_roc"


def test_an_interrupted_run_goes_on_and_ends_as_an_unbroken_one(tmp_path):
    table, settings = make_table(), {"n_folds": 3, "n_repeats": 2}
    unbroken = compare(table, QUICK, **settings)
    done = []

    def interrupt(progress):
        done.append(progress)
        if len(done) == 5:
            raise KeyboardInterrupt

    path = tmp_path / "records.jsonl"
    broken = compare(table, QUICK, **settings, records=path, progress=interrupt)
    assert not broken.is_complete
    assert {(record.repeat, record.fold) for record in broken.records} == {(0, 0)}  # what all have finished
    assert len(list(read_records(path))) == 5
    resumed = compare(table, QUICK, **settings, records=path)
    assert resumed.is_complete
    assert results(resumed) == results(unbroken)
    assert len(list(read_records(path))) == 18
    again = compare(table, QUICK, **settings, records=path)
    assert again == resumed  # the times as well: nothing was computed again


def test_a_killed_run_goes_on_and_ends_as_an_unbroken_one(tmp_path):
    lines = ["a,b,y"]
    rng = np.random.default_rng(0)
    for a, b in rng.standard_normal((60, 2)):
        lines.append(f"{a:.5f},{b:.5f},{a + b + rng.standard_normal():.5f}")
    (tmp_path / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    command = [
        sys.executable,
        "-c",
        "from wellorder.cli.main import main; main()",
        "compare",
        "rows.csv",
        "--target",
        "y",
    ]
    command += ["--models", "rank-svm,ridge,rank-svm-rbf", "--folds", "4", "--json", "--records"]
    running = subprocess.Popen([*command, "broken.jsonl"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    records = tmp_path / "broken.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not records.exists() or records.read_bytes().count(b"\n") < 4):
        time.sleep(0.005)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    n_before = records.read_bytes().count(b"\n")
    assert n_before >= 4
    boards = [
        json.loads(subprocess.run([*command, name], cwd=tmp_path, capture_output=True, check=True).stdout)
        for name in ("broken.jsonl", "whole.jsonl")
    ]
    for board in boards:
        for standing in board["standings"]:
            del standing["search_seconds"], standing["fit_seconds"]
    assert boards[0] == boards[1]
    assert records.read_bytes().count(b"\n") == 24


def test_other_data_grids_or_seeds_are_computed_anew(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    table = make_table()

    def n_new(table, **changes):
        before = len(path.read_text().splitlines()) if path.exists() else 0
        compare(table, ["ridge"], **({"n_folds": 3, "n_repeats": 1, "records": path} | changes))
        return len(path.read_text().splitlines()) - before

    assert n_new(table) == 3
    assert n_new(table) == 0
    assert n_new(table, seed=1) == 3
    assert n_new(table, metric="tau") == 3
    assert n_new(table, inner_folds=2) == 3
    assert n_new(dataclasses.replace(table, y=table.y[::-1].copy())) == 3
    monkeypatch.setitem(METHODS, "ridge", dataclasses.replace(METHODS["ridge"], grid=lambda size: {"alpha": [7.0]}))
    assert n_new(table) == 3


def test_the_lines_in_the_report_compute_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for part in ("a.csv", "b.csv"):
        rows = [f"{a:.4f},{b:.4f},7,{'good' if a > b else 'bad'}" for a, b in rng.standard_normal((20, 2))]
        (tmp_path / part).write_text("\n".join(["a,b,spare,y", *rows]), encoding="utf-8")
    table = wo.read(["a.csv", "b.csv"], target="y", levels=["bad", "good"], drop="spare")
    board = compare(table, ["ridge"], n_folds=3, n_repeats=1)
    found = {}
    exec(board.protocol.code, found)
    assert results(found["board"]) == results(board)


class Sleeper(wo.BestFeature):
    """A method that takes its time."""

    def fit(self, X, y, *, groups=None, sample_weight=None):
        time.sleep(0.15)
        return super().fit(X, y, groups=groups, sample_weight=sample_weight)


def test_what_does_not_fit_into_the_time_is_left_out_and_said_so(monkeypatch):
    monkeypatch.setitem(METHODS, "sleeper", Method("slow", Sleeper))
    board = compare(make_table(), ["best-feature", "sleeper"], n_folds=5, n_repeats=2, time_budget=0.5)
    assert [each.method for each in board.left_out] == ["sleeper"]
    assert "first of 5 splits" in board.left_out[0].reason
    assert [standing.method for standing in board.standings] == ["best-feature"]
    assert board.leader.n_splits == 10
    assert board.is_complete


def test_a_search_that_outlasts_its_share_is_left_out_and_tried_again_with_more_time(monkeypatch, tmp_path):
    slow = Method("slow", Sleeper, grid=lambda size: {"levels": [None, None]})
    monkeypatch.setitem(METHODS, "sleeper", slow)
    path = tmp_path / "records.jsonl"
    settings = {"n_folds": 2, "n_repeats": 1, "records": path}
    board = compare(make_table(), ["best-feature", "sleeper"], time_budget=0.2, **settings)
    assert "did not finish within its share" in board.left_out[0].reason
    longer = compare(make_table(), ["best-feature", "sleeper"], time_budget=60, **settings)
    assert longer.left_out == ()


def test_repeats_that_would_not_finish_are_not_begun(monkeypatch):
    monkeypatch.setitem(METHODS, "sleeper", Method("slow", Sleeper))
    board = compare(make_table(), ["sleeper"], n_folds=3, n_repeats=5, time_budget=0.8)
    assert board.protocol.n_repeats == 1
    assert board.leader.n_splits == 3
    assert board.is_complete


class Breaks(wo.BestFeature):
    def fit(self, X, y, *, groups=None, sample_weight=None):
        raise ValueError("it broke")


def test_a_method_that_fails_is_left_out_with_its_reason(monkeypatch):
    monkeypatch.setitem(METHODS, "breaks", Method("broken", Breaks))
    board = compare(make_table(), ["ridge", "breaks"], n_folds=3, n_repeats=1)
    assert [(each.method, each.reason) for each in board.left_out] == [("breaks", "it broke")]
    with pytest.raises(ValueError, match=r"no method could be run on made.csv: breaks: it broke"):
        compare(make_table(), ["breaks"], n_folds=3, n_repeats=1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_folds": 1}, "n_folds must be at least 2"),
        ({"metric": "ndgc"}, "no metric 'ndgc'"),
        ({"methods": ["rank-smv"]}, "did you mean 'rank-svm'"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        compare(make_table(), **settings)


def test_kernels_are_only_tried_where_they_are_feasible():
    small, large = (Size("grades", n, 10, n * n // 2, n) for n in (500, 100_000))
    assert METHODS["rank-svm-rbf"].objection(small) is None
    assert "100,000 rows" in METHODS["rank-svm-rbf"].objection(large)
    assert METHODS["rank-svm-nystroem"].objection(large) is None
    assert "every pair" in METHODS["rank-svm-logistic"].objection(large)
    assert METHODS["rank-svm"].objection(large) is None


@pytest.mark.parametrize("name", METHODS)
def test_every_grid_is_of_the_methods_own_parameters(name):
    method = METHODS[name]
    grid = method.grid(Size("grades", 500, 10, 1_000, 500))
    assert set(grid) <= set(method.make().get_params())
    assert method.about
