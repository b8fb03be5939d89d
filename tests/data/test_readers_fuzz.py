"""Whatever the bytes: a table, or a DataError in one line. Never another exception, warning or crash."""

from __future__ import annotations

import gzip
import io
import warnings
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from wellorder.data import ComparisonTable, DataError, Table, read
from wellorder.data.formats import FORMATS


def _parquet() -> bytes:
    buffer = io.BytesIO()
    frame = pl.DataFrame({"a": [1.5, None, 3.0], "b": ["x", "y", None], "g": [1, 2, 3], "t": [True, False, None]})
    frame.write_parquet(buffer, compression="uncompressed")
    return buffer.getvalue()


SEEDS = {
    "csv": b'a,b,g\n1.5,"x, y",1\n,"say ""so""",2\n-,NA,1\n3,z,?\n',
    "semicolon.csv": b"a;b;g\n1,5;x;1\n-2;y;2\n",
    "games.csv": b"left,right,outcome,weight\nAnna,Ben,>,1\nBen,Carl,=,0.5\nCarl,Anna,-1,2\n",
    "tsv": b"a\tb\tg\n1\tx\t1\n2\ty\t2\n",
    "arff": b"@relation r\n@attribute a real\n@attribute b {x,'y z'}\n@attribute g string\n"
    b"@data\n1,x,u\n?,'y z',\"v\"\n",
    "letor": b"2 qid:7 1:0.5 3:1 # one\n0 qid:8 2:-1.5e2\n",
    "parquet": _parquet(),
    "jsonl": b'{"a": 1.5, "b": "x", "g": 1}\n\n{"a": null, "b": "y z", "g": true}\n{"g": 3, "c": [1, {"d": 2}]}\n',
    "votes.csv": b"model_a,model_b,winner,judge\nx,y,model_a,1\ny,z,tie (bothbad),?\nz,x,x,3\n",
    "matches.csv": b"home_team,away_team,home_score,away_score\nx,y,1,0\ny,z,2,2\nz,x,0,3\n",
    "winners.csv": b"winner,loser,outcome\nx,y,1\ny,z,0\n",
}
PIECES = [
    b"\n",
    b"\r\n",
    b",",
    b";",
    b"\t",
    b'"',
    b"'",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"inf",
    b"nan",
    b"1e999",
    b"?",
    b"{",
]
PIECES += [
    b"@data",
    b"@attribute",
    b"qid:",
    b"9999999999:1",
    b"#",
    b"%",
    b"-",
    b"=",
    b"left,right,outcome\n",
    b'{"a":',
    b"winner,",
    b"\x1f\x8b",
]
OPTIONS: list[dict[str, object]] = [
    {},
    {"target": "a"},
    {"group": "g"},
    {"item": "b"},
    {"target": "b", "levels": ["x", "y z"]},
]
OPTIONS += [{"weight": "a"}, {"drop": "a"}, {"target": "g", "levels": [1, 2]}]


@st.composite
def mutated(draw: st.DrawFn, seed: bytes) -> bytes:
    content = bytearray(seed)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        match draw(st.sampled_from(["insert", "delete", "byte", "repeat", "cut"])):
            case "insert":
                content[place:place] = draw(st.sampled_from(PIECES))
            case "delete":
                del content[place : place + draw(st.integers(1, 8))]
            case "byte":
                content[place : place + 1] = bytes([draw(st.integers(0, 255))])
            case "repeat":
                content[place:place] = content[max(0, place - draw(st.integers(1, 20))) : place]
            case "cut":
                del content[place:]
    return bytes(content)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    return tmp_path_factory.mktemp("fuzz")


def try_to_read(path: Path, **options: object) -> Table | ComparisonTable | DataError:
    """Return the table, or the error of reading it; anything else that is raised fails the test."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*its outcomes are 1 and 0")
            return read(path, **options)  # type: ignore[arg-type]
    except DataError as error:
        return error


def check(path: Path, **options: object) -> None:
    found = try_to_read(path, **options)
    if isinstance(found, DataError):
        assert len(str(found).splitlines()) == 1
        assert str(path.parent) in str(found)
        assert found.line is None or found.line >= 1
    else:
        assert len(found) > 0


@given(content=st.binary(max_size=200), kind=st.sampled_from([*FORMATS, None]), zipped=st.booleans())
def test_arbitrary_bytes(folder, content, kind, zipped):
    path = folder / "arbitrary.txt"
    path.write_bytes(gzip.compress(content) if zipped else content)
    check(path, format=kind)


@given(content=st.text(alphabet="ab1,;\t\n\r\"'?-.e{}@%# :<>=", max_size=60), kind=st.sampled_from([*FORMATS, None]))
def test_arbitrary_text(folder, content, kind):
    path = folder / "text.csv"
    path.write_bytes(content.encode())
    check(path, format=kind)


@pytest.mark.parametrize("name", [name for name in SEEDS if name != "parquet"])
@given(data=st.data(), options=st.sampled_from(OPTIONS))
def test_mutated_files(folder, name, data, options):
    path = folder / f"t.{name}"
    path.write_bytes(data.draw(mutated(SEEDS[name])))
    check(path, **options)


@settings(max_examples=15)  # each starts a process
@given(data=st.data())
def test_mutated_parquet(folder, data):
    path = folder / "t.parquet"
    path.write_bytes(data.draw(mutated(SEEDS["parquet"])))
    check(path)


@given(data=st.data())
def test_mutated_gzip(folder, data):
    path = folder / "t.csv.gz"
    path.write_bytes(data.draw(mutated(gzip.compress(SEEDS["csv"], mtime=0))))
    check(path)


@given(data=st.data())
def test_mutated_items(folder, data):
    games, items = folder / "games.csv", folder / "items.csv"
    games.write_bytes(SEEDS["games.csv"])
    items.write_bytes(data.draw(mutated(b"name,a,b\nAnna,1,x\nBen,2,y\nCarl,3,x\n")))
    check(games, items=items)
