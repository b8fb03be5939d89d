"""``wellorder compare``: side by side, interrupted, on few rows; and what the commands say of files and models."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from wellorder.evaluation import METHODS, board_run

COMMAND = [sys.executable, "-c", "from wellorder.cli.main import main; main()"]


def test_the_number_of_processes_and_the_memory_are_in_the_json(run, wines):
    options = ["compare", wines, "--target", "quality", "--item", "name", "--models", "ridge,best-feature", "--json"]
    boards = [json.loads(run(*options, "--repeats", 1, "--jobs", jobs).out) for jobs in (1, 2)]
    assert [board["protocol"]["n_jobs"] for board in boards] == [1, 2]
    assert boards[0]["protocol"]["memory"]["heaviest"] in ("ridge", "best-feature")
    for board in boards:
        for standing in board["standings"]:
            del standing["search_seconds"], standing["fit_seconds"]
    assert boards[0]["standings"] == boards[1]["standings"]
    assert boards[0]["hears_rows"]
    assert boards[0]["more_needed"] > 0
    assert run(*options, "--jobs", 0).code == 2


def test_a_column_of_times_cuts_the_past_from_the_future(run, wines):
    lines = wines.read_text().splitlines()
    dated = [lines[0] + ",day", *(f"{line},2024-01-{1 + k // 4:02d}" for k, line in enumerate(lines[1:]))]
    wines.write_text("\n".join(dated) + "\n")
    options = ["compare", wines, "--target", "quality", "--item", "name", "--models", "ridge,best-feature"]
    found = json.loads(run(*options, "--time", "day", "--json").out)
    assert (found["protocol"]["time"], found["protocol"]["n_repeats"]) == ("day", 1)
    assert run(*options, "--time", "dya").code == 2


def test_a_run_that_was_stopped_prints_what_there_is_and_exits_as_stopped(run, wines, monkeypatch):
    told = []

    def interrupt(self, record, spent):
        told.append(record)
        if len(told) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(board_run.BoardRun, "_tell", interrupt)
    options = ["compare", wines, "--target", "quality", "--item", "name", "--models", "ridge,best-feature"]
    stopped = run(*options, "--report", "r.html", "--jobs", 1)
    assert stopped.code == 130
    assert "2 methods on 2 splits" in stopped.out
    assert "the same command goes on from r.records.jsonl" in stopped.out
    assert os.path.exists("r.html")
    told.clear()
    as_json = run(*options, "--seed", 1, "--json", "--jobs", 1)
    assert as_json.code == 130
    assert not json.loads(as_json.out)["is_complete"]
    assert "stopped before all splits were done" in as_json.err
    told.clear()
    demo = run("demo")
    assert demo.code == 130
    assert "report: " in demo.out


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
def test_ctrl_c_ends_all_processes_quietly(wines):
    folder = wines.parent
    command = [*COMMAND, "compare", "wines.csv", "--target", "quality", "--item", "name", "--repeats", "50"]
    command += ["--models", "rank-svm,ridge", "--jobs", "2", "--records", "records.jsonl", "--time-budget", "500"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen(command, cwd=folder, start_new_session=True, **pipes)
    records = folder / "records.jsonl"
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and (not records.exists() or records.read_bytes().count(b"\n") < 6):
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = running.communicate(timeout=200)
    assert running.returncode == 130
    assert "the same command goes on from records.jsonl" in out
    assert "2 methods on" in out
    assert err == ""
    assert wait_until_gone(running.pid)


def test_processes_do_not_outlive_the_one_that_started_them(wines):
    folder = wines.parent
    command = [*COMMAND, "compare", "wines.csv", "--target", "quality", "--item", "name", "--repeats", "50"]
    command += ["--models", "rank-svm,ridge", "--jobs", "2", "--records", "records.jsonl", "--time-budget", "500"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = subprocess.Popen(command, cwd=folder, start_new_session=True, **quiet)
    records = folder / "records.jsonl"
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and (not records.exists() or records.read_bytes().count(b"\n") < 4):
        time.sleep(0.02)
    running.kill()
    running.wait()
    assert wait_until_gone(running.pid)


def wait_until_gone(session, seconds=30.0):
    """Wait until no process of a session runs any more; what has ended and was not asked after does not run."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        listed = subprocess.run(["ps", "-eo", "sid=,stat="], capture_output=True, text=True, check=True).stdout
        alive = [line for line in listed.splitlines() if line.split()[0] == str(session) and "Z" not in line]
        if not alive:
            return True
        time.sleep(0.1)
    return False


def test_a_hundred_rows_work_out_of_the_box(run, tmp_path):
    import numpy as np

    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{int(a + rng.standard_normal() > 0)}" for a, b in rng.standard_normal((100, 2))]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,y", *rows]))
    quick = "rank-svm,ridge,best-feature,proportional-odds"
    found = run("compare", "rows.csv", "--target", "y", "--models", quick, "--repeats", 1)
    assert found.code == 0
    assert "4 methods on 5 splits" in found.out
    assert "baselines: " in found.out


@pytest.mark.parametrize("name", ["fit", "compare"])
@pytest.mark.parametrize("width", ["50", "64", "80", "200"])
def test_help_lists_the_models(run, monkeypatch, name, width):
    monkeypatch.setenv("COLUMNS", width)
    found = run(name, "--help")
    assert "Models:" in found.out
    assert all(each in found.out for each in METHODS)
    models = found.out[found.out.index("Models:") : found.out.index("Examples:")]
    assert max(map(len, models.splitlines())) <= 100


def test_predicted_outcomes_are_numbers_in_json_where_the_file_has_numbers(run, games, tmp_path):
    text = games.read_text()
    for sign, number in ((",<", ",1"), (",=", ",0"), (",>", ",-1")):
        text = text.replace(sign, number)
    (tmp_path / "numbers.csv").write_text(text)
    for name, kind in (("numbers.csv", int), ("games.csv", str)):
        assert (
            run("fit", name, "--items", "players.csv", "--model", "compare-svm", "-o", "m.wo", "--no-bands").code == 0
        )
        rows = json.loads(run("predict", "m.wo", name, "--items", "players.csv", "--json").out)
        assert {type(row["predicted"]) for row in rows} == {kind}
