"""Other processes of ours: they run nothing that lies in the current folder."""

import json
import subprocess
import sys

import polars as pl
import pytest

import wellorder as wo
from wellorder.processes import python_command

TRAP = "import pathlib\npathlib.Path(__file__).with_name('sprung').touch()\nraise ImportError('a trap')\n"


@pytest.fixture
def trapped(tmp_path, monkeypatch):
    """Return a folder of a stranger's, where we are: modules lie in it that ours would import."""
    for name in ("json", "polars", "wellorder", "starlette", "secrets"):
        (tmp_path / f"{name}.py").write_text(TRAP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_module_in_the_current_folder_is_not_imported(trapped):
    command = python_command(
        "import json, wellorder; print(json.dumps([*sys.argv[1:], wellorder.__file__]))", "one", "2"
    )
    assert json.loads(subprocess.check_output(command)) == ["one", "2", wo.__file__]
    assert not (trapped / "sprung").exists()


def test_a_parquet_file_of_a_stranger_s_folder_runs_nothing(trapped):
    pl.DataFrame({"x": [1, 2, 3], "y": [0, 1, 2]}).write_parquet("x.parquet")
    assert wo.read("x.parquet", target="y").X.shape == (3, 1)
    assert not (trapped / "sprung").exists()


def test_what_this_python_finds_is_found_there_too(tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("found = 'yes'\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert subprocess.check_output(python_command("import only_here; print(only_here.found)"), text=True) == "yes\n"
