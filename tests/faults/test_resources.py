"""Memory is estimated before it is taken, and given back; the clock may jump; Ctrl-C leaves nothing behind."""

from __future__ import annotations

import ast
import gc
import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest

import wellorder as wo
from tests.collect.test_collection import ballots, opened
from tests.estimators.quick import COMPARED, GRADED, make
from wellorder import collect, estimators, memory
from wellorder.estimators import base

from .commands import NUMBERED

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs what Linux says of a process")

PEAKS = """
import ctypes, gc, json, sys, warnings
from tests.faults.test_resources import problem
from tests.estimators.quick import make
warnings.simplefilter("ignore")
libc = ctypes.CDLL(None)
libc.mallopt(-3, 65536)  # what is large is given back at once
def said(what):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(what))
found = {}
for name in json.loads(sys.argv[1]):
    model, given = problem(name)
    model.fit(*given)  # whatever is loaded or compiled once is
    gc.collect()
    libc.malloc_trim(0)
    open("/proc/self/clear_refs", "w").write("5")
    before = said("VmRSS")
    model.fit(*given)
    found[name] = said("VmHWM") - before
print(json.dumps(found))
"""


def problem(name, n=None, d=20):
    """Return an estimator, and a problem of moderate size."""
    n = (1_500 if name == "CompareLP" else 30_000) if n is None else n
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.digitize(X[:, 0] + rng.standard_normal(n), [-1, 0, 1])
    if name in GRADED:
        return make(name, n_estimators=10), (X, y)
    left = rng.integers(0, n, n)
    right = (left + 1 + rng.integers(0, n - 1, n)) % n
    return make(name), (X, wo.Comparisons(left, right, np.sign(y[right] - y[left])))


@LINUX
def test_the_memory_of_every_estimator_is_known_to_a_factor_of_two():
    names = list(estimators.__all__)
    words = [sys.executable, "-c", PEAKS, json.dumps(names)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    ran = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, **threads}, timeout=300)
    wrong = {}
    for name, peak in json.loads(ran.stdout).items():
        rows, d = (1_500, 20) if name == "CompareLP" else (30_000, 20)
        estimate = getattr(estimators, name)._held.bytes(rows, rows * d)
        if not estimate / 2 - 1e6 <= peak <= 2 * estimate + 1e6:
            wrong[name] = f"estimated {estimate / 1e6:.1f} MB, took {peak / 1e6:.1f} MB"
    assert wrong == {}


@pytest.mark.parametrize("name", estimators.__all__)
def test_what_does_not_fit_is_refused_before_it_is_tried(monkeypatch, name):
    model, (X, y) = problem(name, 60)
    monkeypatch.setattr(base, "_LITTLE", 0.0)
    monkeypatch.setattr(base, "available_bytes", lambda: 1_000.0)
    with pytest.raises(MemoryError, match=f"{name} needs about .* are free; fit on fewer (row|comparison)s or columns"):
        model.fit(X, y)
    monkeypatch.setattr(base, "available_bytes", lambda: None)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, y)


LIMITED = """
import resource, sys
from wellorder.cli.main import main
import wellorder.evaluation, wellorder.data, wellorder.persistence, lightgbm, wellorder.sweeps.factors
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 800_000_000, resource.RLIM_INFINITY))
main(sys.argv[1:])
"""


@LINUX
def test_memory_that_the_system_refuses_is_told_with_what_to_do(tmp_path):
    rng = np.random.default_rng(0)
    rows = "\n".join(f"{a:.3f},{b:.3f},{int(a + b > 0)}" for a, b in rng.standard_normal((12_000, 2)))
    (tmp_path / "d.csv").write_text(f"a,b,y\n{rows}\n")
    words = ("fit", "d.csv", "--target", "y", "--model", "rank-svm-rbf", "--no-bands", "-o", "m.wo")
    command = [sys.executable, "-c", LIMITED, *words]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, **threads}
    )
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.startswith("error: there is not enough memory: a kernel fit on 12,000 rows needs about")
    assert "set n_components=1000" in ran.stderr
    assert os.listdir(tmp_path) == ["d.csv"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            MemoryError("Unable to allocate 7.45 GiB for an array"),
            "there is not enough memory: Unable to allocate 7.45 GiB for an array; give it fewer rows or columns, or "
            "close other programs",
        ),
        (
            OverflowError("cannot convert float infinity to integer"),
            "a number of the data or of the model is too large to compute with (cannot convert float infinity to "
            "integer); scale it down",
        ),
    ],
    ids=["memory", "range"],
)
def test_what_runs_out_anywhere_is_an_error_in_one_line(say, here, monkeypatch, error, said):
    from wellorder import evaluation

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(evaluation, "fit_table", fail)
    found = say(*next(run.words for run in NUMBERED.values() if run.name == "fit"))
    assert found.code == 2
    assert found.err == f"error: {said}\n"
    assert not (here / "out.wo").exists()


def test_limits_of_the_process_count(monkeypatch):
    monkeypatch.setattr(memory, "_limit_bytes", lambda: 5e6)
    assert memory.available_bytes() in (5e6, None)
    monkeypatch.setattr(memory, "_limit_bytes", lambda: -1.0)
    assert memory.available_bytes() in (0.0, None)


@pytest.mark.filterwarnings("ignore")
def test_five_hundred_fits_take_no_more_memory_than_fifty():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), rng.integers(0, 3, 30)
    games = wo.Comparisons(np.arange(29), np.arange(1, 30), np.sign(y[1:] - y[:-1]))
    models = [(make(name, n_estimators=2), games if name in COMPARED else y) for name in estimators.__all__]

    def fit_all(times):
        for _ in range(times):
            for model, given in models:
                model.fit(X, given)
        gc.collect()

    fit_all(2)
    tracemalloc.start()
    try:
        fit_all(1)
        before, _ = tracemalloc.get_traced_memory()
        fit_all(500 // len(models) + 1)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 100_000


INTERRUPTED = {number: run for number, run in NUMBERED.items() if run.writes and run.name not in ("demo", "reproduce")}
"""Of the others, one begins with a file of data, and one with records that stay."""


@pytest.mark.parametrize("number", INTERRUPTED)
def test_ctrl_c_leaves_neither_threads_nor_files(say, here, monkeypatch, number):
    def interrupt(*_):
        raise KeyboardInterrupt

    run = INTERRUPTED[number]
    before, threads = {each.name for each in here.iterdir()}, set(threading.enumerate())
    monkeypatch.setattr(os, "fsync", interrupt)
    found = say(*run.words)
    assert (found.code, found.err.splitlines()[-1]) == (130, "stopped")
    left = {each.name for each in here.iterdir()} - before - set(run.appends)
    assert not [name for name in left if not name.endswith(("-wal", "-shm"))]  # beside a database they are SQLite's
    assert {thread for thread in threading.enumerate() if not thread.daemon} <= threads


# --------------------------------------------------------------------------------------------------
# Clocks.

DATED = {"collect/store.py", "papers/reproducing.py"}
"""Where the time of day is written down, as the time of day."""


def test_nothing_is_measured_by_a_clock_that_may_jump():
    source = Path(wo.__file__).parent
    for path in source.rglob("*.py"):
        used = {
            f"{node.value.id}.{node.attr}"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        assert "time.time" not in used, path
        assert "datetime.now" not in used or str(path.relative_to(source)) in DATED, path


def test_a_clock_that_jumps_back_changes_no_budget(say, monkeypatch):
    clock = iter(range(10**9, 0, -3_600))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    run = next(run for run in NUMBERED.values() if run.name == "compare")
    assert say(*run.words).code == 0


def test_votes_stand_in_the_order_in_which_they_were_given_whatever_the_clock_says(tmp_path, monkeypatch):
    hours = iter(range(23, 0, -1))
    monkeypatch.setattr(collect.store, "now", lambda: f"2030-01-01 {next(hours):02d}:00:00.000000")
    with opened(tmp_path / "v.db", judges=("Ann",)) as collection:
        for outcome in ("left", "right", "tie"):
            collection.answer(1, collection.turn(1).offer.number, outcome)
        collection.undo(1, collection.turn(1).offer.number)
    assert [row[2] for row in ballots(tmp_path / "v.db")] == ["left", "right"]
