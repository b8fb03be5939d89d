"""Trials side by side: the same bits as one after the other, within the same time, whatever happens to a process."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

import wellorder as wo
from wellorder.deadline import TimeIsUp, deadline
from wellorder.evaluation import (
    METHODS,
    Memory,
    Method,
    Record,
    board_run,
    compare,
    read_records,
    side_by_side,
    trials,
)
from wellorder.evaluation.board_run import decide_jobs
from wellorder.evaluation.trials import hear_warnings

from .tables import make_comparisons, make_table

MIXED = ["rank-svm", "rank-svm-rbf", "lightgbm", "ridge"]


def results(board):
    """Everything but the times."""
    return [
        {name: value for name, value in dataclasses.asdict(record).items() if not name.endswith("_seconds")}
        for record in sorted(board.records, key=lambda record: record.key)
    ]


def test_processes_give_the_same_bits_and_write_the_same_records(tmp_path):
    settings = {"n_folds": 2, "n_repeats": 1, "inner_folds": 2, "time_budget": None}
    one = compare(make_table(n=150), MIXED, n_jobs=1, **settings)
    two = compare(make_table(n=150), MIXED, n_jobs=2, records=tmp_path / "records.jsonl", **settings)
    assert results(one) == results(two)
    assert [each.method for each in one.standings] == [each.method for each in two.standings]
    assert two.protocol.n_jobs == 2
    kept = list(read_records(tmp_path / "records.jsonl"))
    assert sorted(kept, key=lambda record: record.key) == sorted(two.records, key=lambda record: record.key)


class SaysWhere(wo.BestFeature):
    """Notes the thread that it is fitted in."""

    where = []  # noqa: RUF012 - all of them note there

    def fit(self, X, y, *, groups=None, sample_weight=None):
        time.sleep(0.02)
        self.where.append(threading.current_thread())
        return super().fit(X, y)


def test_a_backend_that_was_configured_is_used(monkeypatch):
    monkeypatch.setitem(METHODS, "says-where", Method("says where", SaysWhere))
    settings = {"n_folds": 3, "n_repeats": 2, "time_budget": None}
    before, showing = list(warnings.filters), warnings.showwarning
    limits = [each["num_threads"] for each in threadpool_info()]
    with joblib.parallel_config(backend="threading", n_jobs=3):
        threads = compare(make_table(), ["says-where", "rank-svm", "ridge"], **settings)
    assert threads.protocol.n_jobs == 3
    assert len(SaysWhere.where) == 6
    assert threading.main_thread() not in SaysWhere.where
    assert (list(warnings.filters), warnings.showwarning) == (before, showing)
    assert [each["num_threads"] for each in threadpool_info()] == limits
    one = compare(make_table(), ["says-where", "rank-svm", "ridge"], n_jobs=1, **settings)
    assert results(threads) == results(one)


def test_comparisons_travel_too():
    settings = {"n_folds": 2, "n_repeats": 1, "time_budget": None}
    boards = [compare(make_comparisons(), ["davidson", "compare-svm"], n_jobs=n, **settings) for n in (1, 2)]
    assert results(boards[0]) == results(boards[1])


class Dies(wo.BestFeature):
    """Takes its whole process with it, as the system does where memory is short."""

    is_mended = False

    def fit(self, X, y, *, groups=None, sample_weight=None):
        if not self.is_mended:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows has one that kills
        return super().fit(X, y)


def test_a_process_that_dies_costs_its_method_only(monkeypatch, tmp_path):
    monkeypatch.setitem(METHODS, "dies", Method("dies", Dies))
    path = tmp_path / "records.jsonl"
    settings = {"n_folds": 2, "n_repeats": 1, "time_budget": None, "records": path}
    board = compare(make_table(), ["ridge", "dies", "rank-svm"], n_jobs=2, **settings)
    assert {each.method: each.n_splits for each in board.standings} == {"ridge": 2, "rank-svm": 2}
    assert [(each.method, each.reason) for each in board.left_out] == [("dies", trials.WORKER_ENDED)]
    assert board.is_complete
    assert len(list(read_records(path))) == 5
    monkeypatch.setattr(Dies, "is_mended", True)  # there is more memory now: it is tried again, and it alone
    board = compare(make_table(), ["ridge", "dies", "rank-svm"], n_jobs=1, **settings)
    assert {each.method: each.n_splits for each in board.standings} == {"ridge": 2, "dies": 2, "rank-svm": 2}
    assert len(list(read_records(path))) == 7


@pytest.fixture
def fake(monkeypatch):
    """Trials that take no time in threads; what they would take is told by the test."""

    def set_up(time_of):
        begun = []

        def run_trial(task, name, method, split, protocol, *, seconds, one_fit, key):
            begun.append((name, split.repeat, split.fold))
            took, problem = time_of(name, split), None
            if took > seconds:
                took, problem = seconds, f"{trials.OUT_OF_TIME}it did not finish within {seconds:.1f} s"
            value = np.nan if problem else 0.2 + 0.01 * split.fold + 0.001 * len(name)
            metrics = dict.fromkeys(protocol.metrics, value)
            sizes = len(split.train), len(split.test)
            at = split.repeat, split.fold
            return Record(key, task.name, name, *at, 0, *sizes, metrics, fit_seconds=took, problem=problem)

        monkeypatch.setattr(side_by_side, "run_trial", run_trial)
        return begun

    with joblib.parallel_config(backend="threading"):
        yield set_up


def test_the_budget_is_by_the_clock(fake):
    fake(lambda name, split: {"rank-svm": 12.0, "ridge": 1.0}[name])
    settings = {"n_folds": 5, "n_repeats": 2, "time_budget": 50.0}
    # 5 · 13 s of trials are 33 s by the clock of two processes, and another round would not fit
    two = compare(make_table(), ["rank-svm", "ridge"], n_jobs=2, **settings)
    assert two.left_out == ()
    assert two.protocol.n_repeats == 1
    one = compare(make_table(), ["rank-svm", "ridge"], n_jobs=1, **settings)
    assert [each.method for each in one.left_out] == ["rank-svm"]


@pytest.mark.parametrize("n_kept", [0, 1, 4, 5, 6, 7, 9, 12])
def test_a_killed_run_decides_as_an_unbroken_one(fake, tmp_path, n_kept):
    # the third split takes far longer than the first promised: time is up in the midst of the round
    fake(lambda name, split: 30.0 if split.fold == 2 else 4.0 if name == "ridge" else 2.0)
    names = ["rank-svm", "ridge", "best-feature"]
    settings = {"n_folds": 5, "n_repeats": 2, "time_budget": 50.0, "n_jobs": 2}
    whole = compare(make_table(), names, records=tmp_path / "whole.jsonl", **settings)
    assert not whole.is_complete
    assert whole.time_was_up
    lines = (tmp_path / "whole.jsonl").read_text().splitlines(keepends=True)
    rng = np.random.default_rng(n_kept)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("".join(rng.permutation(lines)[:n_kept]))
    resumed = compare(make_table(), names, records=broken, **settings)
    assert results(resumed) == results(whole)
    assert (resumed.left_out, resumed.is_complete) == (whole.left_out, whole.is_complete)


def test_what_was_begun_too_late_is_not_used(fake):
    # both trials of the second split begin at once, but the first alone uses the time up
    fake(lambda name, split: 2.0 if split.fold == 0 else 1.0)
    quick = side_by_side.run_trial

    def overrun(*arguments, **options):
        record = quick(*arguments, **options)
        return dataclasses.replace(record, fit_seconds=500.0) if record.fold == 1 else record

    side_by_side.run_trial = overrun  # the fixture's monkeypatch puts the true one back
    board = compare(make_table(), ["rank-svm", "ridge"], n_jobs=2, n_folds=4, n_repeats=1, time_budget=50.0)
    assert not board.is_complete
    assert [each.n_splits for each in board.standings] == [1, 1]


def test_an_interrupt_keeps_what_is_done_of_any_split(fake):
    fake(lambda name, split: 1.0)
    told = []

    def interrupt(progress):
        told.append(progress)
        if len(told) == 8:
            raise KeyboardInterrupt

    board = compare(make_table(), ["rank-svm", "ridge"], n_jobs=2, n_folds=5, n_repeats=1, progress=interrupt)
    assert not board.is_complete
    assert not board.time_was_up
    assert board.leader.n_splits >= 3
    assert told[-1].active == ("rank-svm", "ridge")


def test_processes_are_only_started_where_they_pay(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    monkeypatch.setattr("wellorder.evaluation.board_run.available_bytes", lambda: 10e9)
    assert decide_jobs(None, Memory(0, "ridge", 10**8), 1_000) == (8, False)
    assert decide_jobs(None, Memory(0, "ridge", 3 * 10**9), 1_000) == (2, False)
    assert decide_jobs(None, Memory(0, "ridge", 10**10), 1_000) == (1, False)
    assert decide_jobs(None, Memory(0, "ridge", 10**8), 1_000_000) == (1, False)
    assert decide_jobs(3, Memory(0, "ridge", 10**10), 1_000_000) == (3, True)
    with joblib.parallel_config(backend="threading", n_jobs=5):
        assert decide_jobs(None, Memory(0, "ridge", 10**10), 1_000_000) == (5, True)
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        compare(make_table(), ["ridge"], n_jobs=0)


def test_quick_work_starts_no_process(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a process was started")

    monkeypatch.setattr(side_by_side, "Parallel", refuse)
    monkeypatch.setattr(board_run, "PATIENCE", 1_000.0)
    plans = []
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    board = compare(make_table(), ["ridge", "best-feature"], n_folds=3, n_repeats=2, begin=plans.append)
    assert board.is_complete
    assert (plans[0].n_jobs, plans[0].methods) == (board.protocol.n_jobs, ("ridge", "best-feature"))
    monkeypatch.setattr(board_run, "PATIENCE", 0.0)
    with pytest.raises(AssertionError, match="a process was started"):
        compare(make_table(), ["ridge", "best-feature"], n_folds=3, n_repeats=2)


def test_an_ensemble_leaves_out_members_for_which_there_is_no_time():
    table = make_table()
    X, y = table.X.to_numpy(), table.y
    members = [("linear", wo.RankSVM()), ("ridge", wo.RidgeRanker()), ("slow", Sleeper())]
    began = time.perf_counter()
    with (
        deadline(lambda: 5.0 - (time.perf_counter() - began)) as end,
        pytest.warns(ConvergenceWarning, match="stopped by its time limit before these members .* left out: slow"),
    ):
        fitted = wo.OrderEnsemble(members).fit(X, y)
    assert end.stopped
    assert fitted.weights_[2] == 0.0
    assert set(fitted.rankers_) <= {"linear", "ridge"}
    with deadline(lambda: -1.0), pytest.raises(TimeIsUp, match="before the first member"):
        wo.OrderEnsemble(members).fit(X, y)
    board = compare(table, ["best-feature", "order-ensemble"], n_folds=2, n_repeats=1, time_budget=1e-3, n_jobs=1)
    reason = next(each.reason for each in board.left_out if each.method == "order-ensemble")
    assert "had next to none of the 0.001 s" in reason


class Sleeper(wo.RankSVM):
    def fit(self, X, y, *, groups=None, sample_weight=None):
        time.sleep(2.0)
        return super().fit(X, y, groups=groups, sample_weight=sample_weight)


def test_threads_hear_their_own_warnings_and_leave_the_process_as_it_was():
    before, showing = list(warnings.filters), warnings.showwarning
    heard = {}

    def work(number):
        with hear_warnings() as notes:
            for _ in range(20):
                warnings.warn(f"from {number}", stacklevel=1)
                time.sleep(0.001)
            heard[number] = list(notes)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
        time.sleep(0.003)
    for thread in threads:
        thread.join()
    assert heard == {number: [f"from {number}"] * 20 for number in range(4)}
    assert (list(warnings.filters), warnings.showwarning) == (before, showing)


def test_memory_is_estimated_and_what_has_no_room_is_left_out(monkeypatch):
    plans = []
    small = compare(make_table(), n_folds=2, n_repeats=1, begin=plans.append, methods=["ridge", "rank-svm-rbf"])
    assert small.protocol.memory.heaviest == "rank-svm-rbf"
    assert small.protocol.memory.data == 90 * 4 * 8 + 45 * 4 * 8
    assert plans[0].memory == small.protocol.memory
    monkeypatch.setattr("wellorder.evaluation.board_run.available_bytes", lambda: 3.5e8)
    from wellorder.evaluation.board_run import choose_methods
    from wellorder.evaluation.tasks import make_task

    task = make_task(make_table(n=2_000))
    first = next(iter(task.splits(2, 1, 0)))
    chosen, left_out, memory = choose_methods(task, None, first)
    reason = next(each.reason for each in left_out if each.method == "rank-svm-rbf")
    assert reason.startswith("it needs about 520 MB of memory, and 350 MB are free")
    assert "ridge" in chosen
    assert memory.needed < 3.5e8
    assert choose_methods(task, ["rank-svm-rbf"], first)[0] == ["rank-svm-rbf"]  # named, it is tried


def test_what_is_meant_for_authors_of_libraries_is_no_note():
    with hear_warnings() as notes:
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning, FutureWarning):
            warnings.warn(kind.__name__, kind, stacklevel=1)
    assert notes == ["FutureWarning"]
