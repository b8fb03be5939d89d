"""Every command, run on small files whose names try to break out: what it prints, and what it writes.

Commands and their outputs are found in the command line itself; one that is new is asked for by ``test_commands.py``.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import warnings
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'</svg></style>{{7*7}}"
ESCAPES = "e\x1b[31mvil\x07\x9b2J\u202etxt\x7f"
FORMULA = "=cmd|' /C calc'!A0"
EVIL = (MARKUP, ESCAPES, FORMULA)
"""What names hold that a browser, a terminal or a spreadsheet would obey."""

FOLDER = f"<b onload=alert(1)>{ESCAPES}"
"""Where everything lies: paths are shown, too."""

LEVELS = (f"{MARKUP}low", f"{ESCAPES}mid", f"{FORMULA}high")
ROLES = ("--target", f"{MARKUP}grade", "--group", f"{ESCAPES}list", "--item", f"{FORMULA}name")
GRADED = ("graded.csv", *ROLES, "--levels", ",".join(LEVELS))
COMPARED = ("votes.csv", "--drop", f"{ESCAPES}judge,{FORMULA}length")
QUICK = ("--folds", "2", "--repeats", "1", "--models", "ridge,best-feature")
RECORDS = str(Path(__file__).parents[2] / "docs/results/records/swapped-pairs.jsonl.gz")


@dataclass(frozen=True)
class Run:
    """Words of a command line, and the files it writes."""

    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    appends: tuple[str, ...] = ()
    """Files that grow as the work goes on: a full disk costs them no line that is there."""

    @property
    def name(self) -> str:
        """The command, by its words."""
        return "collect export" if self.words[:2] == ("collect", "export") else self.words[0]


RUNS = [
    Run(("demo", "--folder", "shown"), ("shown/diabetes.csv", "shown/report.html")),
    Run(("check", *GRADED)),
    Run(("check", "votes.csv")),
    Run(("fit", *GRADED, "-o", "out.wo"), ("out.wo",)),
    Run(("predict", "graded.wo", "graded.csv", "-o", "out.csv"), ("out.csv",)),
    Run(("predict", "davidson.wo", "votes.csv", "-o", "out.csv"), ("out.csv",)),
    Run(("predict", "standings.wo", "votes.csv", "-o", "out.csv"), ("out.csv",)),
    Run(("evaluate", "graded.wo", "graded.csv")),
    Run(("evaluate", "standings.wo", "votes.csv")),
    Run(("order", "graded.wo", "graded.csv")),
    Run(("order", "graded.wo", "graded.csv", "-o", "out.csv", "--report", "o.html"), ("out.csv", "o.html")),
    Run(("order", "standings.wo", "-o", "out.csv", "--report", "o.html"), ("out.csv", "o.html")),
    Run(("export", "graded.wo", "-o", "m.sql"), ("m.sql",)),
    Run(("explain", "graded.wo", "graded.csv", MARKUP, ESCAPES)),
    Run(("importance", "graded.wo", "graded.csv", "--repeats", "2")),
    Run(("compare", *GRADED, *QUICK, "--report", "c.html", "--records", "c.jsonl"), ("c.html",), ("c.jsonl",)),
    Run(
        ("rate", "votes.csv", "--judge", f"{ESCAPES}judge", "-o", "out.csv", "--save", "s.wo", "--report", "r.html"),
        ("out.csv", "s.wo", "r.html"),
    ),
    Run(("collect", "items.csv", "--into", "new.db", "--simulate", "truth.csv", "--votes", "4"), (), ("new.db",)),
    Run(("collect", "export", "votes.db", "-o", "out.csv"), ("out.csv",)),
    Run(("across", "one.jsonl", "two.jsonl", "--report", "a.html"), ("a.html",)),
    Run(
        ("reproduce", "swapped-pairs", "--from", RECORDS, "--part", "table-1", "--write", "p.md", "--picture", "p.svg"),
        ("records/p.jsonl.gz", "p.md", "p.svg"),
    ),
]

NUMBERED = {f"{place} {run.name}": run for place, run in enumerate(RUNS)}

UNTRIED = {("reproduce", "--records"): "it takes minutes and data to run a paper; the file is kept as that of compare"}


def cell(text):
    return '"' + text.replace('"', '""') + '"'


def write(path, *rows):
    path.write_text("".join(",".join(map(cell, map(str, row))) + "\n" for row in rows), encoding="utf-8")


def make_files(folder):
    """Write graded rows, votes, items, what they are worth, and a database of votes."""
    rng = np.random.default_rng(0)
    names = [*EVIL, *(f"plain {row}" for row in range(33))]
    rows = [(ROLES[5], ROLES[3], f"{MARKUP}a", f"{ESCAPES}b", f"{FORMULA}c", ROLES[1])]
    for row, name in enumerate(names):
        a, b = rng.standard_normal(2).round(3)
        level = int(np.digitize(a + 0.4 * b, [-0.4, 0.4]))
        rows.append((name, f"{EVIL[row % 2]}{row % 2}", a, b, EVIL[row % 3], LEVELS[level]))
    write(folder / "graded.csv", *rows)
    some = [*EVIL, "plain", "simple"]
    votes = [("left", "right", "outcome", f"{ESCAPES}judge", f"{FORMULA}length")]
    for vote in range(80):
        left, right = rng.choice(5, 2, replace=False)
        said = "<" if rng.random() < 0.5 + 0.1 * (right - left) else "=" if rng.random() < 0.2 else ">"
        votes.append((some[left], some[right], said, EVIL[vote % 3], vote % 7))
    write(folder / "votes.csv", *votes)
    write(folder / "items.csv", ("name", f"{MARKUP}text"), *((name, name) for name in some))
    write(folder / "truth.csv", ("name", "worth"), *((name, place) for place, name in enumerate(some)))


def make_database(path):
    """Votes that were collected, with notes of judges who are called like that."""
    from tests.collect.test_collection import opened

    with opened(path, names=list(EVIL), judges=EVIL[:2]) as collection:
        for judge in (1, 2):
            collection.answer(judge, collection.turn(judge).offer.number, "left", note=EVIL[judge])
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM ballots").fetchone() == (2,)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """A folder with all that the runs read; a test works in a copy of it."""
    from wellorder.cli.main import main

    folder = tmp_path_factory.mktemp("made") / FOLDER
    folder.mkdir()
    make_files(folder)
    make_database(folder / "votes.db")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for words in (
            ("fit", *GRADED, "-o", "graded.wo"),
            ("fit", *COMPARED, "--model", "davidson", "--no-bands", "-o", "davidson.wo"),
            ("rate", "votes.csv", "--judge", f"{ESCAPES}judge", "--save", "standings.wo"),
            ("compare", *GRADED, *QUICK, "--records", "one.jsonl"),
        ):
            with warnings.catch_warnings(action="ignore"), pytest.raises(SystemExit) as leaving:
                main(list(words))
            assert not leaving.value.code, words
    finally:
        os.chdir(before)
    text = (folder / "one.jsonl").read_text(encoding="utf-8")
    (folder / "two.jsonl").write_text(text.replace("graded.csv", f"{FORMULA}.csv"), encoding="utf-8")
    return folder


@pytest.fixture
def here(workshop, tmp_path, monkeypatch):
    """A copy of the workshop, in which commands run."""
    folder = tmp_path / FOLDER
    shutil.copytree(workshop, folder)
    monkeypatch.chdir(folder)
    return folder
