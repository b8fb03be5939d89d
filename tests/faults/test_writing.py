"""A full disk, a folder that may not be written to, a process that is killed: nothing is half-written, and it is said.

What the commands write is found in ``commands.py``; the one seam that all of it goes through, in ``whole_files.py``.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.cli.test_pipes import run_unread  # noqa: F401
from wellorder.cli.options import output_file
from wellorder.whole_files import whole_file, write_whole

from .commands import NUMBERED, RUNS
from .test_commands import commands

OUTPUTS = {f"{number} {name}": (run, name) for number, run in NUMBERED.items() for name in run.writes}


@pytest.fixture
def full_for(monkeypatch):
    """Let the disk be full for one file: what is written beside its place does not get there."""

    def fill(last):
        real = os.fsync

        def fsync(descriptor):
            name = os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))
            if name.startswith(f".{last}."):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)

    return fill


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs names of open files")
@pytest.mark.parametrize("output", OUTPUTS)
def test_a_full_disk_leaves_the_old_file_and_is_told_with_its_name(say, here, full_for, output):
    run, name = OUTPUTS[output]
    path = here / name
    path.parent.mkdir(exist_ok=True)
    if not name.startswith("p.") and "records" not in name:  # a page of a paper is written into, and its records read
        path.write_bytes(b"old")
    before = {each.name for each in here.rglob("*")}
    full_for(path.name)
    found = say(*run.words)
    last = found.err.strip().splitlines()[-1]
    assert found.code == 2
    assert last.startswith("error: ")
    assert path.name in last
    assert "No space left on device" in last
    assert not path.exists() or path.read_bytes() == b"old"
    assert not [each for each in here.rglob("*.tmp") if each.name not in before]


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits as Linux has them")
@pytest.mark.parametrize(
    "run", [run for run in RUNS if run.words[0] not in ("demo", "compare", "reproduce")], ids=lambda run: run.name
)
def test_a_disk_that_is_really_full(say, here, run):
    """The kernel itself refuses every byte of a file beyond a few."""
    import resource

    outputs = [here / name for name in (*run.writes, *run.appends)]
    before = {path.name for path in here.iterdir()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, hard))
    try:
        found = say(*run.words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    if not outputs:
        assert found.code == 0
        return
    assert found.code == 2, found.err
    last = found.err.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert any(path.name in last for path in outputs)
    left = {path.name for path in here.iterdir()} - before
    assert not [name for name in left if ".db" not in name]  # what is beside a database is the database's own
    assert say(*run.words).code == 0  # once there is room


UNREAD = {number: run for number, run in NUMBERED.items() if run.words[0] not in ("demo", "compare", "reproduce")}


@pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")
@pytest.mark.filterwarnings("ignore")  # of names that spreadsheets would compute
@pytest.mark.parametrize("number", UNREAD)
def test_files_are_written_although_nobody_reads_what_is_printed(run_unread, here, number):  # noqa: F811
    assert run_unread(*UNREAD[number].words)[0] == 0
    for name in UNREAD[number].writes:
        assert (here / name).stat().st_size > 0


def outputs():
    """Yield every option that names a file to be written."""
    for name, command in commands():
        for option in command.params:
            if option.callback is output_file:
                yield pytest.param(name, option.opts[-1], id=f"{name} {option.opts[-1]}")


@pytest.mark.parametrize(("name", "option"), list(outputs()))
def test_what_cannot_be_written_is_said_before_any_work(say, here, monkeypatch, name, option):
    words = next(run.words for run in RUNS if run.name == name)
    at = here / "folder"
    at.mkdir()
    said = say(*words, option, at)
    assert (said.code, "is a folder; name a file in it" in said.err) == (2, True)
    said = say(*words, option, at / "none" / "file")
    assert (said.code, "there is no folder" in said.err) == (2, True)
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **more: mode != os.W_OK and real(path, mode, **more))
    said = say(*words, option, at / "file")
    assert (said.code, "may not be written to" in said.err) == (2, True)
    assert os.listdir(at) == []


KILLED = """
import os, signal, sys
from wellorder.whole_files import whole_file
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
moment, path = sys.argv[1:]
real = os.replace
if moment == "before the move":
    os.fsync = die
elif moment == "after the move":
    os.replace = lambda *names: (real(*names), die())
with whole_file(path) as file:
    file.write(b"new " * 50_000)
    if moment == "in the middle":
        file.flush()
        die()
    file.write(b"end")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals as POSIX has them")
@pytest.mark.parametrize("moment", ["in the middle", "before the move", "after the move"])
def test_killed_at_any_moment_a_file_is_the_old_one_or_the_new(tmp_path, moment):
    path = write_whole(tmp_path / "kept", "old")
    ended = subprocess.run([sys.executable, "-c", KILLED, moment, str(path)], check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    new = b"new " * 50_000 + b"end"
    assert path.read_bytes() == (new if moment == "after the move" else b"old")
    write_whole(path, "later")  # what the killed one left beside it is in nobody's way
    assert path.read_text() == "later"


def test_of_two_who_write_a_file_at_once_one_has_written_all_of_it(tmp_path):
    path, started = tmp_path / "both", threading.Barrier(2)

    def writer(letter):
        for _ in range(30):
            started.wait(30)
            with whole_file(path) as file:
                for _ in range(20):
                    file.write(letter * 1_000)

    threads = [threading.Thread(target=writer, args=(letter,)) for letter in (b"a", b"b")]
    for thread in threads:
        thread.start()
    seen = set()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            seen.add(path.read_bytes())
    assert seen <= {b"a" * 20_000, b"b" * 20_000}
    assert os.listdir(tmp_path) == ["both"]
