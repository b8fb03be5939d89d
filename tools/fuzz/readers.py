"""Files: whatever the bytes, a table or an error of the project's own, in one line that names the file."""

from __future__ import annotations

import gzip
import io
import sqlite3
import tempfile
import warnings
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.data.test_readers_fuzz import OPTIONS, PIECES, SEEDS as TABLES

from wellorder.data import ComparisonTable, DataError, Table, read, read_qrels, read_run
from wellorder.data.formats import FORMATS
from wellorder.data.spreadsheets import mark_formulas
from wellorder.evaluation import Record
from wellorder.evaluation.records import read_records

from .target import Case, Target, mutated, quick_folder, write

RECORD = Record("k", "d", "ridge", 0, 0, 0, 4, 2, {"swapped_pairs": 0.25}, params={"C": 1.0}, held_out=(0.5, 1.0))

OTHERS: dict[str, tuple[Callable[[str], Any], bytes]] = {
    "run": (read_run, b"q1 Q0 a 1 2.5 tag\nq1 Q0 b 2 1.5 tag\nq2 Q0 a 1 0.5 tag\n"),
    "qrels": (read_qrels, b"q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"),
    "records": (lambda path: list(read_records(path)), RECORD.to_json().encode() + b"\n"),
}
"""Readers of what is no table."""

SLOW = ("parquet",)
"""Formats whose reader starts a process: one case in thirty thousand."""


@cache
def seeds() -> dict[str, bytes]:
    """Return a good file of every format there is, by a name that ends as such files do."""
    found = {**TABLES, "votes.db": _database(), "names.csv": b"'=1,b\n'@x,1\n''-y,2\n"}
    for name, known in FORMATS.items():
        if not any(f".{each}".endswith(known.suffixes) for each in found):
            raise LookupError(f"give a small good file of the format {name!r} to tools/fuzz/readers.py")
    return found


def _database() -> bytes:
    from tests.collect.test_collection import opened

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "votes.db")
        with opened(path) as collection:
            collection.answer(1, collection.turn(1).offer.number, "left", note="said")
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("VACUUM")
        return path.read_bytes()


def draw(random: Random) -> Case:
    """Change a good file in a few places, or put bytes together."""
    if random.random() < 0.12:
        kind = random.choice(list(OTHERS))
        return {"reader": kind, "name": f"t.{kind}", "content": mutated(OTHERS[kind][1], random, PIECES), "options": {}}
    names = [name for name in seeds() if name not in SLOW and (name != "votes.db" or random.random() < 0.1)]
    name = "parquet" if random.random() < 0.00003 else random.choice(names)
    content = seeds()[name]
    options: dict[str, Any] = dict(random.choice(OPTIONS)) if random.random() < 0.6 else {}
    match random.randrange(12):
        case 0:
            content = b"".join(random.choice([*PIECES, b"a", b"1", b" "]) for _ in range(random.randint(0, 30)))
        case 1:
            content = mutated(content, random, PIECES) + mutated(seeds()[random.choice(names)], random, PIECES)
        case 2:
            packed = bytearray(gzip.compress(mutated(content, random, PIECES), mtime=0))
            content = mutated(bytes(packed), random, PIECES) if random.random() < 0.5 else bytes(packed)
        case _:
            content = mutated(content, random, PIECES, most=8 if random.random() < 0.1 else 3)
    if random.random() < 0.15:
        options["format"] = random.choice([each for each in FORMATS if each not in SLOW])
    return {"reader": "read", "name": f"t.{name}", "content": content, "options": options}


def run(case: Case) -> str:
    """Read it."""
    path = f"{quick_folder()}/{case['name']}"
    write(path, case["content"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*its outcomes are 1 and 0")
            if case["reader"] != "read":
                OTHERS[case["reader"]][0](path)
                return "read"
            found = read(path, **case["options"])
    except (DataError, ValueError) as error:
        if not isinstance(error, DataError) and case["reader"] != "records":
            raise
        said = str(error)
        if len(said.splitlines()) != 1 or quick_folder() not in said:
            raise AssertionError(f"an error in several lines, or of no file: {said!r}") from error
        return "refused"
    if not isinstance(found, Table | ComparisonTable) or not len(found):
        raise AssertionError(f"{type(found).__name__} without a row")
    if isinstance(found, Table) and found.ids is not None and found.ids.dtype == object:
        _check_names(found.ids.tolist())
    return "read"


def _check_names(names: list[Any]) -> None:
    """See that what was read can be written for spreadsheets, and read again, without a change."""
    import polars as pl

    from wellorder.data.formats import read_csv

    frame = pl.DataFrame({"n": [str(name) for name in names], "x": list(range(len(names)))})
    text = io.BytesIO()
    mark_formulas(frame)[0].write_csv(text)
    path = f"{quick_folder()}/written.csv"
    write(path, text.getvalue())
    back = read_csv(path).frame["n"].to_list()
    if [each or "" for each in back] != frame["n"].to_list():
        raise AssertionError(f"names changed: {frame['n'].to_list()} to {back}")


READERS = Target("readers", 0.4, draw, run)
