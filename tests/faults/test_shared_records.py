"""One file of records, and more than one run: two at once, one that is killed, one whose disk is full, other data."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings

import pytest

from wellorder.evaluation import Record
from wellorder.evaluation.records import RecordFile, read_records

from .commands import GRADED, QUICK


def record(key, size=3_000):
    return Record(key, "data", "ridge", 0, 0, 0, 2, 1, {"swapped_pairs": 0.25}, held_out=(0.5,) * size)


TWO = """
import sys
from tests.faults.test_shared_records import record
from wellorder.evaluation.records import RecordFile
kept = RecordFile(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(40):
    kept.append(record(f"{sys.argv[2]}{number}"))
"""


def test_two_runs_that_write_at_once_lose_and_break_no_line(tmp_path):
    path = tmp_path / "shared.jsonl"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in "ab"
    ]
    for run in runs:
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        run.stdin.write("\n")
        run.stdin.flush()
    for run in runs:
        run.communicate(timeout=60)
        assert run.returncode == 0
    assert sorted(each.key for each in read_records(path)) == sorted(f"{name}{n}" for name in "ab" for n in range(40))


def test_threads_that_share_a_file_do_so_too(tmp_path):
    path = tmp_path / "shared.jsonl"

    def add(name):
        kept = RecordFile(path)
        for number in range(25):
            kept.append(record(f"{name}{number}"))

    threads = [threading.Thread(target=add, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(read_records(path))) == 75


def test_what_another_run_was_killed_over_ends_no_record_of_ours(tmp_path):
    path = tmp_path / "shared.jsonl"
    ours = RecordFile(path)
    ours.append(record("first"))
    with path.open("ab") as theirs:
        theirs.write(record("theirs").to_json().encode()[:1_000])
    ours.append(record("second"))
    assert [each.key for each in read_records(path)] == ["first", "second"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits as Linux has them")
def test_a_disk_that_is_full_in_the_middle_of_a_line_leaves_none_of_it(tmp_path):
    import resource

    path = tmp_path / "shared.jsonl"
    ours, theirs = RecordFile(path), RecordFile(path)
    ours.append(record("first"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + 5_000, hard))
    try:
        with pytest.warns(UserWarning, match=r"shared.jsonl \(File too large\): the run goes on without"):
            ours.append(record("lost"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    theirs.append(record("second"))
    ours.append(record("in memory alone"))
    assert [each.key for each in read_records(path)] == ["first", "second"]
    assert "in memory alone" in ours


def test_other_data_under_the_same_records_are_computed_anew(say, here):
    """What is kept is known by what the rows hold, not by the file's name."""
    words = ("compare", *GRADED, *QUICK, "--records", "kept.jsonl")
    assert say(*words).code == 0
    n_lines = len((here / "kept.jsonl").read_bytes().splitlines())
    assert say(*words).code == 0
    assert len((here / "kept.jsonl").read_bytes().splitlines()) == n_lines
    content = (here / "graded.csv").read_text(encoding="utf-8")
    first = content.index("\n", content.index("\n") + 1)
    (here / "graded.csv").write_text(content[:first].replace("0.", "3.") + content[first:], encoding="utf-8")
    assert say(*words).code == 0
    assert len((here / "kept.jsonl").read_bytes().splitlines()) == 2 * n_lines
    with warnings.catch_warnings(action="error"):
        assert len({each.key for each in read_records(here / "kept.jsonl")}) == 2 * n_lines
