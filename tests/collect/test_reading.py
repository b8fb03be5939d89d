"""A database of votes is a file like others: read, rated, exported; live, empty, foreign and damaged."""

import os
import sqlite3
import warnings
from contextlib import closing

import polars as pl
import pytest

import wellorder as wo
from tests.collect.running import texts
from tests.collect.test_collection import NAMES, opened, sitting
from wellorder.cli.main import main
from wellorder.collect import Setting, open_collection
from wellorder.data import DataError

HARD = [
    "1",
    "-1",
    "0",
    "<",
    ">",
    "=",
    "NA x",
    "draw",
    "model_a",
    "nan.",
    "-.",
    "b,c",
    'd"e',
    "ü\u2028x",
]


@pytest.fixture
def votes(tmp_path):
    with opened(tmp_path / "votes.db", names=NAMES) as collection:
        for judge, outcome in ((1, "left"), (2, "right"), (1, "tie"), (2, "skip"), (1, "left")):
            collection.answer(judge, collection.turn(judge).offer.number, outcome, note=f"{outcome}, said")
        collection.undo(1, collection.turn(1).offer.number)
    return tmp_path / "votes.db"


def run(*words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return left.value.code


def test_it_is_read_like_a_file_of_votes(votes):
    table = wo.read(votes)
    assert sorted(table.comparisons.outcome.tolist()) == [-1, 0, 1]
    assert "outcome in outcome" in table.understood
    assert table.columns.columns == ["judge", "time", "seconds", "note", "chosen"]
    standings = wo.rate(table, clusters=["judge"])
    assert standings.n_votes_ == 3
    timed = wo.read(votes, time="time")
    assert timed.dated
    assert (timed.times[:-1] <= timed.times[1:]).all()


def test_rate_takes_it(votes, capsys):
    assert run("rate", votes, "--json") == 0
    assert '"standings"' in capsys.readouterr().out


def test_export_gives_what_rate_reads(votes, tmp_path, capsys):
    csv = tmp_path / "votes.csv"
    assert run("collect", "export", votes, "-o", csv) == 0
    assert "3 votes" in capsys.readouterr().out
    assert wo.rate(wo.read(csv)).table().equals(wo.rate(wo.read(votes)).table())
    assert pl.read_csv(csv)["note"].to_list() == ["left, said", "right, said", "tie, said"]
    assert run("collect", "export", votes, "-o", votes) == 2
    assert "overwritten" in capsys.readouterr().err


def test_names_that_look_like_outcomes_stay_names(tmp_path):
    path = tmp_path / "v.db"
    with opened(path, names=HARD) as collection:
        asked = []
        while (turn := collection.turn(1)).offer is not None:
            offer = turn.offer
            outcome = ("left", "right", "tie")[len(asked) % 3]
            asked.append((collection.items[offer.left], collection.items[offer.right], outcome))
            collection.answer(1, offer.number, outcome)
    for each in (path, tmp_path / "v.csv"):
        if each.suffix == ".csv":
            with warnings.catch_warnings():  # names that a spreadsheet takes for formulas
                warnings.simplefilter("ignore")
                assert run("collect", "export", path, "-o", each) == 0
        found = wo.read(each)
        sign = {-1: "left", 0: "tie", 1: "right"}
        names = found.comparisons.names
        rows = zip(found.comparisons.left, found.comparisons.right, found.comparisons.outcome, strict=True)
        assert [(names[a], names[b], sign[int(c)]) for a, b, c in rows] == asked


def test_it_is_read_while_votes_come_in(tmp_path):
    path = tmp_path / "v.db"
    with open_collection(path, texts(*NAMES), Setting()) as (keeper, _):
        for n in range(1, 4):
            keeper.ask(lambda c: c.answer(1, c.turn(1).offer.number, "left")).result(10)
            assert len(wo.read(path).comparisons.outcome) == n


def test_it_is_read_where_nothing_may_be_written(votes, tmp_path, monkeypatch):
    def refuse(address, **options):
        if "mode=ro" in address:
            address = f"file:{tmp_path / 'missing' / 'x.db'}?mode=ro"
        return connect(address, **options)

    connect = sqlite3.connect
    monkeypatch.setattr("wellorder.data.collected.sqlite3.connect", refuse)
    assert len(wo.read(votes).comparisons.outcome) == 3
    (tmp_path / "votes.db-wal").write_bytes(b"votes on their way")
    with pytest.raises(DataError, match="cannot be read"):  # to read the rest alone would be wrong
        wo.read(votes)


def test_by_any_name(votes, tmp_path):
    os.rename(votes, tmp_path / "votes.csv")
    assert len(wo.read(tmp_path / "votes.csv").comparisons.outcome) == 3


def test_no_votes_yet(tmp_path):
    with opened(tmp_path / "v.db"):
        pass
    with pytest.raises(DataError, match="no votes in it yet"):
        wo.read(tmp_path / "v.db")


def test_databases_of_something_else(tmp_path, capsys):
    with closing(sqlite3.connect(tmp_path / "o.db")) as db:
        db.execute("CREATE TABLE votes (x)")
    with pytest.raises(DataError, match="not one of 'wellorder collect'"):
        wo.read(tmp_path / "o.db")
    assert run("rate", tmp_path / "o.db") == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("left", [100, 5_000, 20_000])
def test_databases_that_were_cut_off(votes, left):
    with opened(votes, names=[f"a long name of item {n}" for n in range(400)]) as collection:
        sitting(collection, 1, 300)
    content = votes.read_bytes()
    assert len(content) > left
    votes.write_bytes(content[:left])
    with pytest.raises(DataError, match="SQLite"):
        wo.read(votes)


def test_databases_from_the_future(votes):
    with closing(sqlite3.connect(votes)) as db:
        db.execute("PRAGMA user_version = 2")
    with pytest.raises(DataError, match="update wellorder"):
        wo.read(votes)
