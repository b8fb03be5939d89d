"""Names come from anybody's files: a terminal shows them and obeys none, and a file gets them as they are."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import zipfile

import pytest

import wellorder as wo
from wellorder.cli.leaderboard import LiveBoard
from wellorder.evaluation import Memory, Plan
from wellorder.writing import visible

EVIL = "e\x1b[31mvil\x07\x9b2J\u202etxt\u2066\x7f"
SHOWN = r"e\x1b[31mvil\x07\x9b2J\u202etxt\u2066\x7f"
OBEYED = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HONEST = "[red]Ñandú 東京 عربى \u200fעברית\u200f 👩\u200d🔬 \u00a0x\\n"


@pytest.fixture
def odd(tmp_path):
    """A file whose items, lists, columns, categories and own name are odd."""
    lines = [f"name,list,{EVIL}a,b,grade"]
    for row in range(24):
        name = EVIL if row == 0 else HONEST if row == 1 else f"n{row}"
        lines.append(f"{name},{EVIL if row % 2 else 'plain'},{row % 5},{row % 7},{row % 3}")
    path = tmp_path / f"{EVIL}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path.name


ROLES = ("--target", "grade", "--group", "list", "--item", "name")


def test_no_command_hands_a_name_on_to_the_terminal_unseen(run, odd):
    model = f"{EVIL}.wo"
    commands = [
        ("check", odd, *ROLES),
        ("fit", odd, *ROLES, "-o", model),
        ("order", model, odd),
        ("order", model, odd, "--json"),
        ("predict", model, odd, "--json"),
        ("explain", model, odd, EVIL, "n2"),
        ("explain", model, odd, EVIL, "n2", "--json"),
        ("evaluate", model, odd),
        ("compare", odd, *ROLES, "--models", "ridge,rank-svm", "--folds", "2", "--repeats", "1", "--json"),
        ("compare", odd, *ROLES, "--models", "ridge,rank-svm", "--folds", "2", "--report", f"{EVIL}.html"),
    ]
    for command in commands:
        found = run(*command)
        assert found.code == 0, found.err
        assert OBEYED.search(found.out + found.err) is None, command
    assert SHOWN in run("order", model, odd).out
    assert HONEST in run("order", model, odd).out
    assert json.loads(run("order", model, odd, "--json").out)[0]["list"] in (EVIL, "plain")
    assert EVIL in {row["item"] for row in json.loads(run("order", model, odd, "--json").out)}


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", f"{EVIL}nosuch.csv"),
        ("fit", "{odd}", "--target", EVIL, "-o", "m.wo"),
        ("fit", "{odd}", *ROLES, "--set", f"{EVIL}=1", "-o", "m.wo"),
        ("fit", "{odd}", *ROLES, "--model", EVIL, "-o", "m.wo"),
        ("compare", "{odd}", *ROLES, "--metric", EVIL),
        (EVIL,),
    ],
)
def test_errors_show_names_too(run, odd, arguments):
    found = run(*(odd if each == "{odd}" else each for each in arguments))
    assert found.code == 2
    assert OBEYED.search(found.out + found.err) is None


def test_the_version_in_a_model_file_is_no_free_text(run, tmp_path):
    wo.save(wo.RankSVM().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m.wo")
    with zipfile.ZipFile(tmp_path / "m.wo") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    manifest |= {"version": 99, "written_by": {"wellorder": EVIL}}
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(tmp_path / "m.wo", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match="is no version"):
        wo.load(tmp_path / "m.wo")
    found = run("predict", "m.wo", "m.wo")
    assert (found.code, OBEYED.search(found.err)) == (2, None)


def test_scores_hold_the_names_as_they_are_but_a_terminal_is_shown_them(run, odd, monkeypatch, tmp_path):
    run("fit", odd, *ROLES, "-o", "m.wo")
    run("predict", "m.wo", odd, "-o", "scores.csv")
    written = (tmp_path / "scores.csv").read_text(encoding="utf-8")
    assert EVIL in written
    assert HONEST in written
    assert run("predict", "m.wo", odd).out == written  # into a pipe, as into a file
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda stream: True)
    at_terminal = run("predict", "m.wo", odd).out
    assert SHOWN in at_terminal
    assert OBEYED.search(at_terminal) is None


def test_formulas_stay_text_and_are_told_of(run, tmp_path):
    names = ["=1+2", "@sum(A1)", "-1", "+2.5e3", "=", "plain", "-x"]
    rows = "".join(f"{name},{-number},{number % 2}\n" for number, name in enumerate(names))
    (tmp_path / "d.csv").write_text(f"name,a,grade\n{rows}")
    run("fit", "d.csv", "--target", "grade", "--item", "name", "--no-bands", "-o", "m.wo")
    found = run("predict", "m.wo", "d.csv", "-o", "scores.csv")
    assert found.code == 0
    assert found.err.startswith("warning: scores.csv: 3 names in column 'name', such as '=1+2', would be formulas")
    with (tmp_path / "scores.csv").open() as file:
        read = list(csv.DictReader(file))
    assert [row["name"] for row in read] == [
        f"'{name}" if name in ("=1+2", "@sum(A1)", "-x") else name for name in names
    ]
    assert wo.read(tmp_path / "scores.csv", item="name").ids.tolist() == names
    assert all(row["score"] == repr(float(row["score"])) for row in read)
    found = run("predict", "m.wo", "d.csv", "--raw-names", "-o", "scores.csv")
    assert found.err == ""
    with (tmp_path / "scores.csv").open() as file:
        read = list(csv.DictReader(file))
    assert [row["name"] for row in read] == names  # to be joined with other files
    assert all(row["score"] == repr(float(row["score"])) for row in read)
    assert run("predict", "m.wo", "d.csv", "-o", "scores.parquet").err == ""
    quiet = [name for name in names if name not in ("=1+2", "@sum(A1)", "-x")]
    rows = "".join(f"{name},{-number},{number % 2}\n" for number, name in enumerate(quiet))
    (tmp_path / "d.csv").write_text(f"name,a,grade\n{rows}")
    assert run("predict", "m.wo", "d.csv", "-o", "scores.csv").err == ""


def test_a_board_shows_names():
    from rich.console import Console

    written = io.StringIO()
    console = Console(file=written, width=100, height=20)
    board = LiveBoard(console)
    board.begin(Plan(f"{EVIL}[red]", ("ridge",), (), 5, 2, "swapped_pairs", False, 45.0, 1, Memory(1, None, 0), None))
    console.print(board)
    assert OBEYED.search(written.getvalue()) is None
    assert f"{SHOWN}[red]" in written.getvalue()


def test_visible_leaves_what_people_write():
    assert visible(HONEST) == HONEST
    assert visible(EVIL) == SHOWN
    assert visible("a\nb\tc") == r"a\nb\tc"
    assert visible("a\nb\tc", keep="\n") == "a\nb\\tc"
    assert visible(os.fsdecode(b"\xff.csv")) == r"\udcff.csv"
    assert json.loads(visible(json.dumps(EVIL, ensure_ascii=False), as_json=True)) == EVIL
