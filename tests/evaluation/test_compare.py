"""A comparison: the same splits for all, nothing learned from test parts, resumable, within its time."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import subprocess
import sys
import time

import joblib
import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.deadline import seconds_left, time_is_up
from wellorder.evaluation import METHODS, Method, Record, comparing, read_records, side_by_side, trials, view_board
from wellorder.evaluation.board_run import _may_do_better
from wellorder.evaluation.leaderboard import Leaderboard, Protocol, Standing
from wellorder.evaluation.records import Parts
from wellorder.evaluation.splits import feasible_folds
from wellorder.evaluation.tasks import Task
from wellorder.methods import Size
from wellorder.report import look_closer, render
from wellorder.report.wording import rivals

from .tables import make_comparisons, make_table

QUICK = ["rank-svm", "ridge", "best-feature"]


def compare(table, methods=None, *, n_jobs=1, **settings):
    """Trials one after the other, unless the test says otherwise; test_side_by_side.py has the others."""
    return comparing.compare(table, methods, n_jobs=n_jobs, **settings)


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


def top_or_whole(n_lists=30):
    """Lists whose best row one column knows, while another orders the rest of them."""
    rng = np.random.default_rng(0)
    grade = np.tile([0, 0, 1, 1, 2, 2, 3, 4], n_lists).astype(float)
    top = (grade == 4) + 0.01 * rng.standard_normal(len(grade))
    rest = np.where(grade == 4, 1.5, grade) + 0.2 * rng.standard_normal(len(grade))
    frame = pl.DataFrame({"top": top, "rest": rest})
    return wo.data.Table("lists", frame, grade, groups=np.repeat(np.arange(n_lists), 8))


def best_at_first(y, scores, groups=None):
    return wo.metrics.ndcg(y, scores, groups, k=1)


@pytest.mark.parametrize(
    ("metric", "column"),
    [
        (None, "rest"),
        ("swapped_pairs", "rest"),
        ("ndcg@1", "top"),
        (wo.metrics.make(best_at_first, greater_is_better=True), "top"),
    ],
    ids=["none", "swapped_pairs", "ndcg@1", "own"],
)
def test_the_best_column_is_chosen_by_what_is_compared_by(metric, column):
    table = top_or_whole()
    board = compare(table, ["ridge", "best-feature"], metric=metric, n_folds=2, n_repeats=1)
    for record in board.of("best-feature"):
        assert record.problem is None
        assert record.features[int(np.argmax(np.abs(record.weights)))] == column
    again = look_closer(table, board)
    assert again.looked_at in ("ridge", "best-feature")


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
    assert board.protocol.metrics == ("comparison_error", "swapped_pairs", "comparison_auc")
    assert board.leader.mean < 0.3
    assert "ridge-on-ranks" in [each.method for each in board.left_out if "does not learn from" in each.reason]
    by_error = compare(make_comparisons(), ["rank-svm"], metric="comparison_error", n_folds=3, n_repeats=1)
    assert by_error.leader.mean > board.leader.mean - 0.2
    assert not by_error.greater_is_better
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
    assert not broken.time_was_up
    assert broken.protocol.n_repeats == 2
    assert {(record.repeat, record.fold) for record in broken.records} == {(0, 0)}  # what all have finished
    assert len(list(read_records(path))) == 5
    resumed = compare(table, QUICK, **settings, records=path)
    assert resumed.is_complete
    assert results(resumed) == results(unbroken)
    assert len(list(read_records(path))) == 18
    again = compare(table, QUICK, **settings, records=path)
    assert again == resumed  # the times as well: nothing was computed again


def test_a_killed_run_goes_on_and_ends_as_an_unbroken_one(tmp_path, monkeypatch):
    lines = ["a,b,y"]
    rng = np.random.default_rng(0)
    for a, b in rng.standard_normal((60, 2)):
        lines.append(f"{a:.5f},{b:.5f},{a + b + rng.standard_normal():.5f}")
    (tmp_path / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-c", "from wellorder.cli.main import main; main()", "compare", "rows.csv"]
    command += ["--target", "y", "--models", "rank-svm,ridge,rank-svm-rbf", "--folds", "4", "--records", "broken.jsonl"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    records = tmp_path / "broken.jsonl"
    deadline = time.monotonic() + 300  # a busy machine may be slow; an idle one takes a second
    while time.monotonic() < deadline and (not records.exists() or records.read_bytes().count(b"\n") < 4):
        time.sleep(0.005)
    running.kill()
    running.wait()
    kept = [each.key for each in read_records(records)]
    assert 4 <= len(kept) < 24
    monkeypatch.chdir(tmp_path)
    table = wo.read("rows.csv", target="y")
    settings = {"methods": ["rank-svm", "ridge", "rank-svm-rbf"], "n_folds": 4, "n_repeats": 2, "n_jobs": 1}
    boards = [compare(table, records=path, **settings) for path in (records, None)]
    assert set(kept) <= {each.key for each in boards[1].records}
    assert results(boards[0]) == results(boards[1])
    assert records.read_bytes().count(b"\n") == 24


@pytest.mark.parametrize("change", [{"metrics": {}}, {"method": "rank-svm"}, {"n_train": 0}, {"fold": 1}])
def test_a_record_that_somebody_changed_is_computed_anew(tmp_path, change):
    path = tmp_path / "records.jsonl"
    settings = {"n_folds": 3, "n_repeats": 1, "records": path}
    before = results(compare(make_table(), ["ridge"], **settings))
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([json.dumps(json.loads(first) | change), *rest]) + "\n", encoding="utf-8")
    assert results(compare(make_table(), ["ridge"], **settings)) == before
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4


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
    shuffled = np.random.default_rng(0).permutation(90)
    assert n_new(dataclasses.replace(table, y=table.y[::-1].copy())) == 3
    assert n_new(dataclasses.replace(table, X=table.X[shuffled])) == 3
    assert n_new(dataclasses.replace(table, X=table.X.rename({"x0": "other"}))) == 3
    assert n_new(dataclasses.replace(table, groups=np.arange(90) % 6, group="query")) == 3
    assert n_new(dataclasses.replace(table, weights=1.0 + np.arange(90) % 2, weight="w")) == 3
    named = dataclasses.replace(table, y=np.array(["a", "b", "c", "d"], dtype=object)[table.y.astype(int)])
    assert n_new(dataclasses.replace(named, levels=("a", "b", "c", "d"))) == 3
    assert n_new(dataclasses.replace(named, levels=("b", "a", "c", "d"))) == 3
    monkeypatch.setattr(trials, "versions", lambda: (("numpy", "0.1"),))
    assert n_new(table) == 3
    monkeypatch.setitem(METHODS, "ridge", dataclasses.replace(METHODS["ridge"], make=lambda: wo.RidgeRanker(alpha=1.5)))
    assert n_new(table) == 3
    other_when_small = dataclasses.replace(
        METHODS["ridge"], grid=lambda size: {"alpha": [3.0 if size.n_rows < 70 else 4.0]}
    )
    monkeypatch.setitem(METHODS, "ridge", other_when_small)
    assert n_new(table) == 3
    larger = dataclasses.replace(other_when_small, grid=lambda size: {"alpha": [5.0 if size.n_rows < 70 else 4.0]})
    monkeypatch.setitem(METHODS, "ridge", larger)
    assert n_new(table) == 3
    monkeypatch.setitem(METHODS, "ridge", dataclasses.replace(METHODS["ridge"], grid=lambda size: {"alpha": [7.0]}))
    assert n_new(table) == 3


def test_the_lines_in_the_report_compute_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for part in ("a.csv", "b.csv"):
        rows = [f"{a:.4f},{b:.4f},7,{'good' if a > b else 'bad'}" for a, b in rng.standard_normal((20, 2))]
        (tmp_path / part).write_text("\n".join(["a,b,spare,y", *rows]), encoding="utf-8")
    table = wo.read(["a.csv", "b.csv"], target="y", levels=["bad", "good"], drop="spare")
    for settings in ({}, {"metric": "tau"}, {"metric": "tau", "metrics": ["tau"]}, {"metrics": ["wmw", "tau"]}):
        board = compare(table, ["ridge", "best-feature"], n_folds=3, n_repeats=1, **settings)
        found = {}
        exec(board.protocol.code, found)
        assert results(found["board"]) == results(board)
        assert found["board"].protocol.metrics == board.protocol.metrics


def test_the_lines_in_the_report_do_not_depend_on_how_fast_a_machine_is(fake):
    fake(lambda name, split: {"rank-svm": 15.0, "ridge": 1.0, "best-feature": 1.0}[name])
    board = compare(make_table(), QUICK, n_folds=5, n_repeats=4, time_budget=50)
    assert [each.method for each in board.left_out] == ["rank-svm"]
    assert "['ridge', 'best-feature']" in board.protocol.code
    assert "n_repeats=3" in board.protocol.code
    assert "time_budget=None" in board.protocol.code


@pytest.fixture
def fake(monkeypatch):
    """Trials that take no time: what they would take, and why they fail, is told by the test."""

    def set_up(seconds, problem=lambda name, split: None, stopped=lambda name, split: False):
        calls = []

        def run_trial(task, name, method, split, protocol, *, seconds, one_fit, key):
            calls.append((name, split.repeat, split.fold))
            took, failed = time_of(name, split), problem(name, split)
            if took > seconds:
                took, failed = seconds, f"{trials.OUT_OF_TIME}its search did not finish within {seconds:.1f} s"
            value = np.nan if failed else 0.2 + 0.01 * split.fold + 0.001 * len(name)
            sizes = len(split.train), len(split.test)
            metrics = dict.fromkeys(protocol.metrics, value)
            return Record(
                key,
                task.name,
                name,
                split.repeat,
                split.fold,
                protocol.seed,
                *sizes,
                metrics,
                fit_seconds=took,
                stopped=stopped(name, split),
                problem=failed,
            )

        time_of = seconds
        monkeypatch.setattr(side_by_side, "run_trial", run_trial)
        return calls

    return set_up


def test_what_does_not_fit_into_the_time_is_left_out_and_said_so(fake):
    fake(lambda name, split: {"rank-svm": 15.0, "ridge": 1.0}[name])
    board = compare(make_table(), ["rank-svm", "ridge"], n_folds=5, n_repeats=2, time_budget=50)
    assert [each.method for each in board.left_out] == ["rank-svm"]
    assert "did not finish within" in board.left_out[0].reason
    assert board.left_out[0].for_time
    assert [standing.method for standing in board.standings] == ["ridge"]
    assert board.leader.n_splits == 10
    assert board.is_complete


def test_a_search_that_outlasts_its_share_is_left_out_and_tried_again_with_more_time(fake, tmp_path):
    fake(lambda name, split: {"rank-svm": 15.0, "ridge": 1.0}[name])
    settings = {"n_folds": 2, "n_repeats": 1, "records": tmp_path / "records.jsonl"}
    board = compare(make_table(), ["rank-svm", "ridge"], time_budget=20, **settings)
    assert [each.method for each in board.left_out] == ["rank-svm"]
    assert "did not finish within" in board.left_out[0].reason
    longer = compare(make_table(), ["rank-svm", "ridge"], time_budget=70, **settings)
    assert longer.left_out == ()


def test_a_search_is_stopped_when_its_time_is_up():
    board = compare(make_table(), ["best-feature", "rank-svm"], time_budget=1e-6, n_folds=2, n_repeats=1)
    assert [each.method for each in board.left_out] == ["rank-svm"]
    assert "had next to none of the 1e-06 s" in board.left_out[0].reason


class Endless(wo.RankSVM):
    """Goes on until its time is up, and then has something."""

    def fit(self, X, y, *, groups=None, sample_weight=None):
        while not time_is_up():
            time.sleep(0.01)
        return super().fit(X, y, groups=groups, sample_weight=sample_weight)


def test_what_is_stopped_by_its_time_limit_is_kept_and_marked(monkeypatch, tmp_path):
    monkeypatch.setitem(METHODS, "endless", dataclasses.replace(METHODS["rank-svm"], make=Endless))
    settings = {"n_folds": 2, "n_repeats": 1, "n_jobs": 1, "records": tmp_path / "records.jsonl"}
    began = time.perf_counter()
    board = compare(make_table(), ["ridge", "endless"], time_budget=8, **settings)
    assert time.perf_counter() - began < 9.5
    standing = next(each for each in board.standings if each.method == "endless")
    assert (standing.n_splits, standing.n_stopped) == (2, 2)
    assert standing.mean < 0.4
    assert board.is_complete
    assert any("stopped by its time limit" in note for note in board.of("endless")[0].notes)
    assert standing.n_unfinished == 2
    said = "cut short by the time limit before their fits were done: endless; what they reach says nothing against them"
    assert any(note.startswith(said) for note in view_board(board).notes)
    again = compare(make_table(), ["ridge", "endless"], time_budget=8, **settings)  # from what is kept
    assert [each.seconds for each in again.of("endless")] == [each.seconds for each in board.of("endless")]


class Begun(wo.RankSVM):
    """Goes on until its time is up, and is then where it began: all scores are zero."""

    def fit(self, X, y, *, groups=None, sample_weight=None):
        super().fit(X, y, groups=groups, sample_weight=sample_weight)
        if seconds_left() < math.inf:
            while not time_is_up():
                time.sleep(0.01)
            self.coef_ = np.zeros_like(self.coef_)
        return self


def test_what_orders_nothing_yet_when_its_time_is_up_had_no_time(monkeypatch):
    """It is not said to order nothing, which would be said of the method."""
    monkeypatch.setitem(METHODS, "begun", dataclasses.replace(METHODS["rank-svm"], make=Begun))
    board = compare(make_table(), ["ridge", "begun"], n_folds=2, n_repeats=1, n_jobs=1, time_budget=2)
    assert [each.method for each in board.standings] == ["ridge"]
    (out,) = board.left_out
    assert (out.method, out.for_time) == ("begun", True)
    assert re.match(r"it did not finish within its share of the 2 s, 0\.\d+ s a split; raise", out.reason)


@pytest.mark.parametrize(("p", "n_without"), [(0.001, 0), (math.nan, 2)])
def test_a_method_whose_fits_were_cut_short_is_not_called_worse(p, n_without):
    leader = Standing("ridge", "", True, 2, 0.2, 0.1, 0.3, {}, None, 0.0, 0.1, {})
    whole = Standing("rank-svm", "", False, 2, 0.4, 0.3, 0.5, {}, p, 0.0, 0.1, {}, n_without_order=n_without)
    cut = dataclasses.replace(whole, n_unfinished=1)
    assert (whole.is_worse, whole.is_cut_short) == (True, False)
    assert (cut.is_worse, cut.is_told_apart, cut.is_cut_short) == (False, False, True)
    protocol = Protocol("rows", 2, 1, 3, 0, "swapped_pairs", ("swapped_pairs",))
    view = view_board(Leaderboard("made", False, (leader, cut), (), (), protocol))
    assert view.rows[1].cells[4] == "cut short"
    assert "cut short by the time limit before their fits were done: rank-svm (1 of 2 splits)" in view.below[1]
    assert rivals((leader, cut)) == "rank-svm had too little time to be judged"
    assert rivals((leader, cut, whole)).endswith("rank-svm had too little time to be judged")
    assert "nothing more elaborate" not in render(Leaderboard("made", False, (leader, cut), (), (), protocol))


def test_a_fit_that_is_stopped_as_all_time_is_up_is_not_counted(fake):
    """It had less time than its method has on every split, and so cannot be compared."""

    def stopped(name, split):
        return split.fold == 2 and name == "ridge"

    def seconds(name, split):
        return {("ridge", 1): 2.3, ("rank-svm", 2): 2.5, ("ridge", 2): 0.4}.get((name, split.fold), 1.0)

    fake(seconds, stopped=stopped)
    board = compare(make_table(), ["rank-svm", "ridge"], n_folds=3, n_repeats=1, time_budget=9, n_jobs=1)
    assert board.time_was_up
    assert board.leader.n_splits == 2
    fake(lambda name, split: 1.0, stopped=stopped)  # by its own limit: it is kept
    board = compare(make_table(), ["rank-svm", "ridge"], n_folds=3, n_repeats=1, time_budget=50, n_jobs=1)
    assert board.is_complete
    assert board.leader.n_splits == 3


def test_repeats_that_would_not_finish_are_not_begun(fake):
    calls = fake(lambda name, split: 10.0)
    board = compare(make_table(), ["rank-svm"], n_folds=3, n_repeats=5, time_budget=50)
    assert board.protocol.n_repeats == 1
    assert board.leader.n_splits == 3
    assert board.is_complete
    assert len(calls) == 3


@pytest.mark.parametrize(("n_folds", "n_repeats", "n_done"), [(3, 10**9, 6), (30, 10**9, 8)], ids=["repeats", "folds"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_splits_are_cut_as_there_is_time_for_them(fake, monkeypatch, n_folds, n_repeats, n_done, n_jobs):
    cut = []

    def counted(self, *arguments):
        for split in feasible_folds(self.order, *arguments):
            cut.append((split.repeat, split.fold))
            yield split
            assert len(cut) < 60, "splits are cut for which there is no time"

    monkeypatch.setattr(Task, "splits", counted)
    fake(lambda name, split: 4.0 * n_jobs)
    with joblib.parallel_config(backend="threading"):
        settings = {"n_folds": n_folds, "n_repeats": n_repeats, "time_budget": 35.0, "n_jobs": n_jobs}
        board = compare(make_table(), ["rank-svm"], **settings)
    assert board.leader.n_splits == n_done if n_jobs == 1 else board.leader.n_splits >= n_done
    assert cut == [(place // n_folds, place % n_folds) for place in range(len(cut))]
    if n_folds == 3:
        assert (board.protocol.n_repeats, board.protocol.planned_repeats) == (2, n_repeats)
        assert len(cut) == 6
    else:
        assert board.time_was_up


def test_the_time_that_cutting_takes_counts(fake, monkeypatch):
    def slow(self, *arguments):
        for split in feasible_folds(self.order, *arguments):
            time.sleep(0.02)
            yield split

    monkeypatch.setattr(Task, "splits", slow)
    fake(lambda name, split: 1.0)
    board = compare(make_table(), ["ridge", "best-feature"], n_folds=3, n_repeats=1)
    assert [record.search_seconds >= 0.02 for record in board.of("ridge")[1:]] == [True, True]
    assert all(record.search_seconds < 0.02 for record in board.of("best-feature"))


def test_rounds_that_cannot_be_cut_any_more_end_the_comparison_and_keep_what_is_done(fake, monkeypatch):
    def two_rounds(self, *arguments):
        for split in feasible_folds(self.order, *arguments):
            if split.repeat == 2:
                raise ValueError("there is no pair to learn from in the training part of fold 0 of repeat 2")
            yield split

    monkeypatch.setattr(Task, "splits", two_rounds)
    fake(lambda name, split: 1.0)
    with pytest.warns(UserWarning, match="of repeat 2; the comparison is over the splits before that"):
        board = compare(make_table(), ["ridge"], n_folds=3, n_repeats=9, time_budget=None)
    assert (board.leader.n_splits, board.protocol.n_repeats, board.protocol.planned_repeats) == (6, 2, None)
    assert board.is_complete


@pytest.mark.parametrize("slow", ["rank-svm", "ridge"])
def test_time_that_is_up_within_a_split_leaves_no_method_out(fake, slow):
    # the first split promises 2 s a method; the third takes far longer than what is left
    fake(lambda name, split: 100.0 if split.fold == 2 and name == slow else 2.0)
    board = compare(make_table(), ["rank-svm", "ridge"], n_folds=5, n_repeats=2, time_budget=40)
    assert board.left_out == ()
    assert {standing.method: standing.n_splits for standing in board.standings} == {"rank-svm": 2, "ridge": 2}
    assert not board.is_complete
    assert board.time_was_up


def test_one_that_has_nothing_by_its_limit_may_take_what_is_left(fake):
    fake(lambda name, split: 12.0 if (name, split.fold) == ("rank-svm", 2) else 1.0)
    board = compare(make_table(), ["rank-svm", "ridge"], n_folds=5, n_repeats=1, time_budget=40, n_jobs=1)
    assert board.is_complete
    assert [standing.n_splits for standing in board.standings] == [5, 5]


def test_a_fit_that_uses_the_time_up_ends_the_run(monkeypatch, fake):
    calls = fake(lambda name, split: 2.0)
    quick = side_by_side.run_trial

    def overrun(*arguments, **options):  # a single fit cannot be stopped, only the next one not begun
        record = quick(*arguments, **options)
        return dataclasses.replace(record, fit_seconds=100.0) if (record.fold, record.method) == (1, "a") else record

    monkeypatch.setattr(side_by_side, "run_trial", overrun)
    for name in ("a", "b"):
        monkeypatch.setitem(METHODS, name, METHODS["best-feature"])
    board = compare(make_table(), ["a", "b"], n_folds=3, n_repeats=1, time_budget=50)
    assert calls == [("a", 0, 0), ("b", 0, 0), ("a", 0, 1)]
    assert [standing.n_splits for standing in board.standings] == [1, 1]
    assert not board.is_complete


def test_a_second_repeat_that_was_cut_short_keeps_the_planned_number_of_splits(fake):
    fake(lambda name, split: 100.0 if (split.repeat, split.fold) == (1, 3) else 1.0)
    board = compare(make_table(), ["rank-svm", "ridge"], n_folds=5, n_repeats=2, time_budget=40)
    assert not board.is_complete
    assert board.leader.n_splits == 8
    assert (board.protocol.n_folds, board.protocol.n_repeats) == (5, 2)
    from wellorder.report import render

    assert "8 of 10 planned splits" in render(board)


@pytest.mark.parametrize("after", [1, 2])
def test_an_interrupt_within_the_first_split_shows_the_methods_that_have_done_it(tmp_path, after):
    done = []

    def interrupt(progress):
        done.append(progress)
        if len(done) == after:
            raise KeyboardInterrupt

    path = tmp_path / "records.jsonl"
    board = compare(make_table(), QUICK, n_folds=3, n_repeats=1, records=path, progress=interrupt)
    assert {each.method: each.n_splits for each in board.standings} == dict.fromkeys(QUICK[:after], 1)
    assert {each.method: each.reason for each in board.left_out} == dict.fromkeys(
        QUICK[after:], "the comparison was stopped before its turn"
    )
    assert not board.is_complete
    assert len(list(read_records(path))) == after  # nothing is lost


def test_an_interrupt_before_anything_is_done_goes_on_to_the_caller(monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(side_by_side, "run_trial", interrupt)
    with pytest.raises(KeyboardInterrupt):
        compare(make_table(), QUICK, n_folds=3, n_repeats=1)


def test_what_failed_for_want_of_memory_is_tried_again(fake, tmp_path):
    settings = {"n_folds": 2, "n_repeats": 1, "records": tmp_path / "records.jsonl"}
    calls = fake(lambda name, split: 1.0, lambda name, split: "out of memory: 9 GB" if name == "rank-svm" else None)
    first = compare(make_table(), ["rank-svm", "ridge"], **settings)
    assert [each.reason for each in first.left_out] == ["out of memory: 9 GB"]
    calls = fake(lambda name, split: 1.0)
    assert compare(make_table(), ["rank-svm", "ridge"], **settings).left_out == ()
    assert {name for name, _, _ in calls} == {"rank-svm"}


class OutOfMemory(wo.BestFeature):
    def fit(self, X, y, *, groups=None, sample_weight=None):
        raise MemoryError("9 GB")


def test_want_of_memory_is_told_apart_from_faults(monkeypatch):
    monkeypatch.setitem(METHODS, "huge", Method("huge", OutOfMemory))
    board = compare(make_table(), ["ridge", "huge"], n_folds=2, n_repeats=1)
    assert board.left_out[0].reason == f"{trials.OUT_OF_MEMORY}9 GB"


class Breaks(wo.BestFeature):
    def fit(self, X, y, *, groups=None, sample_weight=None):
        raise ValueError("it broke")


class Odd(wo.BestFeature):
    def fit(self, X, y, *, groups=None, sample_weight=None):
        raise KeyError("seven")


def test_a_method_that_fails_is_left_out_with_its_reason(monkeypatch):
    monkeypatch.setitem(METHODS, "breaks", Method("broken", Breaks))
    monkeypatch.setitem(METHODS, "odd", Method("fails of what nobody expects", Odd))
    board = compare(make_table(), ["ridge", "breaks", "odd"], n_folds=3, n_repeats=1)
    assert [(each.method, each.reason) for each in board.left_out] == [
        ("breaks", "it broke"),
        ("odd", "KeyError: 'seven'"),
    ]
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
    small, large = (Size("grades", n, 10, n * n // 2, n, n) for n in (500, 100_000))
    assert METHODS["rank-svm-rbf"].objection(small) is None
    assert "100,000 rows" in METHODS["rank-svm-rbf"].objection(large)
    assert METHODS["rank-svm-nystroem"].objection(large) is None
    assert "every pair" in METHODS["rank-svm-logistic"].objection(large)
    assert METHODS["rank-svm"].objection(large) is None


def test_methods_of_levels_and_lists_object_to_too_many():
    few, many = (Size("grades", 20_000, 10, 10**7, 20_000, r) for r in (5, 5_000))
    for name in ("svor", "proportional-odds", "plug-in-ranker"):
        assert METHODS[name].objection(few) is None
        assert "5,000" in METHODS[name].objection(many)
    assert "10,000 rows a list, and one has 20,000" in METHODS["lambdarank"].objection(few)
    assert METHODS["lambdarank"].objection(dataclasses.replace(few, largest_group=10_000)) is None


def test_trees_are_searched_over_as_many_points_whatever_they_are_grown_for():
    one, lists, small = (Size("grades", n, 10, 10**6, largest, 5) for n, largest in ((9, 9), (9, 4), (1, 1)))
    for size in (dataclasses.replace(each, n_rows=1_000 * each.n_rows) for each in (one, lists, small)):
        size = dataclasses.replace(size, largest_group=size.largest_group * 1_000)
        points = {
            name: int(np.prod([len(values) for values in METHODS[name].grid(size).values()]))
            for name in ("order-boost", "lightgbm", "lightgbm-on-ranks", "lambdarank")
        }
        assert len(set(points.values())) == 1
        assert ("balance" in METHODS["order-boost"].grid(size)) == (size.largest_group < size.n_rows)


def test_the_levels_of_a_training_part_are_counted():
    task = comparing.make_task(make_table())
    part = task.training_part(np.arange(len(task.order)))
    assert part.size.n_levels == len(np.unique(task.order.level))
    assert part.size.n_rows == len(task.order)


@pytest.mark.parametrize("name", METHODS)
def test_every_grid_is_of_the_methods_own_parameters(name):
    method = METHODS[name]
    grid = method.grid(Size("grades", 500, 10, 1_000, 500, 5))
    assert set(grid) <= set(method.make().get_params())
    assert method.about


def test_methods_that_draw_are_seeded(monkeypatch):
    monkeypatch.setitem(
        METHODS, "draws", Method("random landmarks", lambda: wo.RankSVM(kernel="rbf", gamma=0.3, n_components=5))
    )
    settings = {"n_folds": 2, "n_repeats": 1}
    boards = [compare(make_table(), ["draws", "rank-svm"], seed=seed, **settings) for seed in (0, 0, 1)]
    assert results(boards[0]) == results(boards[1])
    assert METHODS["rank-svm-nystroem"].make().random_state is None  # else the seed would not reach it
    table = make_table()
    fits = [wo.evaluation.fit_table(table, "draws", with_resolution=False, seed=seed) for seed in (0, 0, 1)]
    scores = [fitted.model.decision_function(table) for fitted in fits]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.abs(scores[0] - scores[2]).max() > 1e-3


def test_unjudged_rows_change_neither_means_nor_intervals():
    table = make_table(n=60)
    judged = np.random.default_rng(0).permutation(np.repeat([True, False], [60, 180]))
    X, y = np.random.default_rng(1).standard_normal((240, 4)), np.full(240, np.nan)
    X[judged], y[judged] = table.X.to_numpy(), table.y
    with_holes = dataclasses.replace(table, X=pl.DataFrame(X, schema=table.X.columns), y=y)
    # the best single column is the same however columns are scaled, which unjudged rows have a say in
    full, part = (compare(each, ["best-feature"], n_folds=3, n_repeats=2) for each in (with_holes, table))
    assert {(record.n_train, record.n_test) for record in full.records} == {(40, 20)}
    for name in ("mean", "low", "high"):
        assert getattr(full.leader, name) == pytest.approx(getattr(part.leader, name))
    assert full.leader.low < full.leader.mean


def test_the_leader_is_not_tested_as_if_it_had_been_named_before():
    # eight methods that are all alike: the best of them must not be called better more often than 5 times in 100
    protocol = wo.evaluation.Protocol("rows", 5, 1, 3, 0, "swapped_pairs", ("swapped_pairs",))
    rng = np.random.default_rng(0)
    names = [f"m{number}" for number in range(8)]
    found = 0
    for _ in range(150):
        # splits that share training rows vary together: correlation 0.2, which the test assumes
        values = np.sqrt(0.2) * rng.standard_normal((8, 1)) + np.sqrt(0.8) * rng.standard_normal((8, 5))
        records = [
            Record("k", "made", name, 0, fold, 0, 80, 20, {"swapped_pairs": float(values[place, fold])})
            for place, name in enumerate(names)
            for fold in range(5)
        ]
        board = wo.evaluation.make_leaderboard("made", records, names, (), protocol, greater_is_better=False)
        found += any(standing.is_told_apart for standing in board.standings)
    assert found <= 0.07 * 150


def test_p_values_are_holms_over_every_two_methods():
    rng = np.random.default_rng(3)
    values = 0.2 + 0.01 * rng.standard_normal((3, 6)) + np.array([[0.0], [0.02], [0.05]])
    records = [
        Record("k", "made", f"m{place}", 0, fold, 0, 50, 10, {"swapped_pairs": float(values[place, fold])})
        for place in range(3)
        for fold in range(6)
    ]
    protocol = wo.evaluation.Protocol("rows", 6, 1, 3, 0, "swapped_pairs", ("swapped_pairs",))
    board = wo.evaluation.make_leaderboard("made", records, ["m0", "m1", "m2"], (), protocol, greater_is_better=False)
    raw = [
        wo.evaluation.corrected_resampled_test(values[a] - values[b], 0.2).p_value for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    expected = wo.evaluation.holm(raw)
    assert [standing.p_value for standing in board.standings[1:]] == expected[:2].tolist()


def table_of_lists(n_with_pairs, n_silent, size=12):
    """Lists with pairs, and lists whose rows all have one grade."""
    table = make_table(n=size * (n_with_pairs + n_silent))
    groups = np.repeat(np.arange(n_with_pairs + n_silent), size)
    y = np.where(groups < n_with_pairs, table.y, 1.0)
    return dataclasses.replace(table, y=y, groups=groups, group="query")


@pytest.mark.parametrize(("n_with_pairs", "split_by"), [(2, "groups"), (3, "groups"), (1, "rows")])
def test_few_lists_with_a_pair_are_enough_for_every_method(n_with_pairs, split_by):
    board = compare(table_of_lists(n_with_pairs, 6), QUICK, n_repeats=1)
    assert board.left_out == ()
    assert board.protocol.split_by == split_by
    assert np.isfinite([standing.mean for standing in board.standings]).all()
    assert board.leader.n_splits == (5 if split_by == "rows" else n_with_pairs)
    assert all(record.params for record in board.of("rank-svm"))  # there was a search, cut by rows where it must be


def test_where_a_search_has_nothing_to_cut_the_defaults_are_used_and_it_is_said():
    table = table_of_lists(2, 0, size=2)
    board = compare(dataclasses.replace(table, y=np.array([0.0, 1.0, 0.0, 1.0])), QUICK, n_repeats=1)
    assert board.left_out == ()
    record = board.of("rank-svm")[0]
    assert record.params == {}
    assert any("the method's own" in note for note in record.notes)


def test_numbers_of_numpy_in_a_grid_are_kept_as_plain_ones(monkeypatch, tmp_path):
    grid = {"alpha": [np.int64(3), np.float32(0.5)]}
    monkeypatch.setitem(METHODS, "ridge", dataclasses.replace(METHODS["ridge"], grid=lambda size: grid))
    path = tmp_path / "records.jsonl"
    board = compare(make_table(), ["ridge"], n_folds=2, n_repeats=1, records=path)
    assert board.leader.params["alpha"] in (3, 0.5)
    assert {type(record.params["alpha"]) for record in board.records} <= {int, float}
    assert list(read_records(path)) == list(board.records)
    odd = [dataclasses.replace(record, params={"n": np.int64(3), "of": np.mean}) for record in board.records]
    again = wo.evaluation.make_leaderboard("made", odd, ["ridge"], (), board.protocol, greater_is_better=False)
    assert again.leader.params["n"] == 3
    assert json.loads(odd[0].to_json())["params"]["n"] == 3


def test_models_that_know_ties_are_judged_by_their_own_threshold():
    rng = np.random.default_rng(0)
    items = rng.standard_normal((40, 2))
    left, right = rng.integers(0, 40, (2, 400))
    left, right = left[left != right], right[left != right]
    d = 2.0 * (items[right, 0] - items[left, 0])
    games = wo.Comparisons(left, right, np.where(np.abs(d) > 1, np.sign(d), 0).astype(int))
    for name in ("compare-svm", "rank-threshold", "rank-threshold-both"):
        found = wo.cross_validate(METHODS[name].make(), items, games, metrics=["comparison_error"])
        assert found.mean("comparison_error") < 0.1, name
    blind = wo.cross_validate(METHODS["rank-svm"].make(), items, games, metrics=["comparison_error"])
    assert blind.mean("comparison_error") > 0.15


@pytest.mark.parametrize("given", ["wines.csv", [[1.0, 2.0]]], ids=["path", "rows"])
def test_what_is_no_table_is_refused_with_how_to_get_one(given):
    with pytest.raises(TypeError, match=r"takes a table, not \w+; wo.read makes one"):
        compare(given)


def test_a_fit_is_tried_anew_where_its_limit_is_larger_not_where_it_ended_early():
    record = next(iter(compare(make_table(), ["ridge"], n_folds=2, n_repeats=1).records))
    ended = dataclasses.replace(record, stopped=True, fit_seconds=0.8, allowed_seconds=3.0)
    assert not _may_do_better(ended, 3.1)
    assert _may_do_better(ended, 4.6)
    assert _may_do_better(dataclasses.replace(ended, allowed_seconds=0.0), 3.1)  # of records that do not say
    assert Record.from_json(ended.to_json()).allowed_seconds == 3.0


@pytest.mark.parametrize(("behind", "searches"), [(0.4, False), (0.101, True)])
def test_a_method_far_behind_searches_no_more_while_others_are_short_of_time(monkeypatch, behind, searches):
    allowed = []

    def run_trial(task, name, method, split, protocol, *, seconds, one_fit, key):
        allowed.append((name, split.fold, seconds))
        value = 0.1 if name == "a" else behind
        error = np.random.default_rng(len(name)).permutation(np.tile([-1e-3, 1e-3], len(split.test) // 2))
        parts = Parts(tuple(map(int, split.test[: len(error)])), tuple((error if name == "a" else -error).tolist()))
        return Record(
            key, task.name, name, split.repeat, split.fold, 0, len(split.train), len(split.test),
            dict.fromkeys(protocol.metrics, value), search_seconds=seconds - 1.0, fit_seconds=1.0, parts=parts,
            stopped=True, allowed_seconds=seconds,
        )  # fmt: skip

    monkeypatch.setattr(side_by_side, "run_trial", run_trial)
    for name in ("a", "b"):
        monkeypatch.setitem(METHODS, name, METHODS["best-feature"])
    compare(make_table(), ["a", "b"], n_folds=3, n_repeats=1, time_budget=60, n_jobs=1)
    second = {name: seconds for name, fold, seconds in allowed if fold == 1}
    assert second["b"] > 3.0 if searches else second["b"] < 3.0
    assert second["a"] > 5.0
