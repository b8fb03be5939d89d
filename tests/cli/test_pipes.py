"""Whoever reads our output may go: the command ends quietly, with exit code 0, and its files are written."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest

from wellorder.cli.main import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")

STARTED = [sys.executable, "-c", "from wellorder.cli.main import main; main()"]
GRADED = ("wines.csv", "--target", "quality", "--item", "name")


@pytest.fixture
def run_unread(capsys, monkeypatch):
    """Run a command whose reader has gone before it prints a word; return its exit code, and what else it said."""

    def run_in_process(*arguments, name="stdout"):
        capsys.readouterr()
        reader, writer = os.pipe()
        os.close(reader)
        with monkeypatch.context() as patched, open(writer, "w", encoding="utf-8") as stream:
            patched.setattr(sys, name, stream)
            patched.setattr(sys, f"__{name}__", stream)
            with warnings.catch_warnings(), pytest.raises(SystemExit) as leaving:
                main(list(arguments))
            getattr(sys, name).flush()  # as Python does when it exits
        said = capsys.readouterr()
        return leaving.value.code, said.out + said.err

    return run_in_process


def test_files_are_written_although_nobody_reads(run, run_unread, wines, tmp_path):
    assert run_unread("fit", *GRADED, "--no-bands", "-o", "m.wo") == (0, "")
    quick = ("--models", "ridge", "--folds", "2", "--repeats", "1")
    assert run_unread("compare", *GRADED, *quick, "--report", "r.html") == (0, "")
    assert (tmp_path / "r.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert run("predict", "m.wo", wines).code == 0


def test_every_command_ends_quietly(run, run_unread, wines):
    run("fit", *GRADED, "--no-bands", "-o", "m.wo")
    for arguments in (
        ("--help",),
        ("check", *GRADED),
        ("check", *GRADED, "--json"),
        ("predict", "m.wo", "wines.csv"),
        ("order", "m.wo", "wines.csv"),
        ("evaluate", "m.wo", "wines.csv"),
        ("explain", "m.wo", "wines.csv", "wine 1", "wine 2"),
    ):
        assert run_unread(*arguments) == (0, ""), arguments


def test_what_is_wrong_stays_wrong(run, run_unread, tmp_path):
    (tmp_path / "one.csv").write_text("a,y\n1,1\n2,1\n")
    assert run_unread("check", "one.csv", "--target", "y") == (1, "")  # nothing to learn from
    assert run_unread("check", "nosuch.csv")[0] == 2
    assert run_unread("check", "nosuch.csv", name="stderr") == (2, "")


def test_a_process_ends_without_a_word(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    command = [*STARTED, "--help"]
    found = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (found.returncode, found.stderr) == (0, "")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (found.returncode, found.stderr) == (2, "error: standard output: No space left on device\n")


def test_what_is_piped_is_utf8_whatever_the_system_writes(tmp_path):
    (tmp_path / "vins.csv").write_text("acidité,constanté,y\n" + "1,0,1\n2,0,2\n3,0,2\n" * 9, encoding="utf-8")
    command = [*STARTED, "check", "vins.csv", "--target", "y"]
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    others = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}
    found = subprocess.run(command, cwd=tmp_path, env=others | plain, capture_output=True, check=False)
    assert (found.returncode, found.stderr) == (0, b"")
    assert "constanté" in found.stdout.decode("utf-8")


def test_a_table_for_a_device_is_written_as_csv(run, wines):
    run("fit", *GRADED, "--no-bands", "-o", "m.wo")
    command = [*STARTED, "predict", "m.wo", "wines.csv", "-o"]
    said = [
        subprocess.run([*command, name], capture_output=True, text=True, check=True).stdout
        for name in ("-", "/dev/stdout")
    ]
    assert said[0].startswith("name,score,rank\n")
    assert said[1].startswith(said[0])
