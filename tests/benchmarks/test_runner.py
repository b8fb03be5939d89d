"""The runner: turns, limits, resuming; each job in a process of its own."""

from __future__ import annotations

import json

import pytest
from benchmarks.job import measure
from benchmarks.peers import PEERS, Peer
from benchmarks.records import append_record, read_records
from benchmarks.shapes import Result
from benchmarks.workloads import WORKLOADS

from benchmarks import __main__ as command, runner

TINY = WORKLOADS["distorted-continuous-2e3"]


def test_a_job_in_a_process_of_its_own_is_recorded(tmp_path):
    path = tmp_path / "records.jsonl"
    (record,) = runner.run([TINY], path, turns=1, limit=100.0, methods=["wellorder"])
    assert record["status"] == "done", record
    assert record["seconds"] > 0
    assert record["swapped"] < 0.2
    assert record["objective"] == pytest.approx(397.3226, rel=1e-3)
    assert json.loads(path.read_text()) == record
    assert list(runner.run([TINY], path, turns=1, methods=["wellorder"])) == []  # it is on record


def test_a_job_out_of_time_says_what_it_was_doing():
    outcome = runner.attempt(TINY, PEERS["ridge"], 1, 0.05)
    assert outcome["status"] == "limit"
    assert outcome["reason"].startswith("still ")
    assert outcome["reached_mb"] >= 0


def pretend(monkeypatch, outcome):
    """Let every job end at once, and return the order in which they were asked for."""
    asked = []

    def attempt(workload, peer, threads, limit):
        asked.append((workload.name, peer.name))
        return outcome(workload, peer)

    monkeypatch.setattr(runner, "attempt", attempt)
    return asked


def test_methods_take_turns(tmp_path, monkeypatch):
    asked = pretend(monkeypatch, lambda workload, peer: {"status": "done", "seconds": 1.0})
    list(runner.run([TINY], tmp_path / "r", turns=2, methods=["wellorder", "ridge"]))
    assert [method for _, method in asked] == ["wellorder", "ridge"] * 2


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    path = tmp_path / "r"
    asked = pretend(monkeypatch, lambda workload, peer: {"status": "done", "seconds": 1.0})
    jobs = runner.run([TINY], path, turns=2, methods=["wellorder", "ridge"])
    next(jobs)
    jobs.close()
    path.write_text(path.read_text() + '{"workload": "cut sh')  # a crash while writing
    list(runner.run([TINY], path, turns=2, methods=["wellorder", "ridge"]))
    assert len(asked) == 4
    assert len(read_records(path)) == 4


def test_absent_and_failed_ones_are_tried_again(tmp_path, monkeypatch):
    asked = pretend(monkeypatch, lambda workload, peer: {"status": "failed", "reason": "it was broken"})
    for _ in range(2):
        list(runner.run([TINY], tmp_path / "r", turns=1, methods=["ridge"]))
    assert len(asked) == 2


def test_methods_that_a_workload_does_not_have_are_passed_over(tmp_path, monkeypatch):
    asked = pretend(monkeypatch, lambda workload, peer: {"status": "done", "seconds": 1.0})
    assert list(runner.run([TINY], tmp_path / "r", turns=1, methods=["svr"])) == []
    assert list(runner.run([TINY], tmp_path / "r", turns=1, methods=[])) == []
    assert not asked


@pytest.mark.parametrize("status", ["unsuitable", "failed", "absent"])
def test_who_cannot_is_asked_once(tmp_path, monkeypatch, status):
    asked = pretend(monkeypatch, lambda workload, peer: {"status": status, "reason": "no"})
    list(runner.run([TINY], tmp_path / "r", turns=3, methods=["ridge"]))
    assert len(asked) == 1


def test_out_of_time_once_is_out_of_time_on_larger_ones(tmp_path, monkeypatch):
    asked = pretend(monkeypatch, lambda workload, peer: {"status": "limit", "reason": "still working", "limit": 1.0})
    sizes = [WORKLOADS[f"distorted-continuous-{n}"] for n in ("2e3", "2e4")]
    records = list(runner.run(sizes, tmp_path / "r", turns=3, methods=["ridge"]))
    assert asked == [("distorted-continuous-2e3", "ridge")]
    assert records[-1]["reason"] == "out of time on distorted-continuous-2e3"


def test_a_peer_that_raises_is_a_failure_with_its_message(monkeypatch, capsys):
    def broken(rows, settings):
        raise RuntimeError("no licence")

    assert runner.attempt(TINY, Peer("gone", "order", broken), 1, 60.0)["status"] == "failed"
    with pytest.raises(RuntimeError, match="no licence"):
        measure(TINY, Peer("broken", "order", broken))


def test_short_work_is_repeated_and_its_median_counts():
    calls = []

    def start(rows, settings):
        return lambda: calls.append(len(rows.y)) or Result()

    found = measure(TINY, Peer("nothing", "order", start, warm_rows=10))
    assert calls == [10] + [2_000] * 5
    assert found["status"] == "done"


def test_appending_after_a_line_cut_short_loses_nothing(tmp_path):
    path = tmp_path / "r"
    path.write_text('{"cut')
    append_record(path, {"status": "done"})
    assert read_records(path) == [{"status": "done"}]


def test_the_command_lists_and_refuses(capsys, tmp_path):
    command.main(["list"])
    assert "levels-1e6" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no method 'rigde'; methods: wellorder, "):
        command.main(["levels-2e3", "--methods", "rigde"])
    with pytest.raises(SystemExit, match="holds no record"):
        command.main(["table", "--records", str(tmp_path / "none")])
