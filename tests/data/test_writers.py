"""Writing tables and scores."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest

from wellorder.data import DataError, Table, read, read_run, score_frame, write_run, write_scores, write_table
from wellorder.data.writers import ranks

from .files import games, put, table

WINES = "name,ph,colour,list,w,quality\nP,3.1,red,7,1,5\nM,3.4,white,8,2,6\nR,,red,7,0.5,\n"
ROLES = {"target": "quality", "group": "list", "item": "name", "weight": "w"}


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.parquet", "o.csv.gz", "o.tsv.gz", "o.parquet.gz"])
def test_tables_come_back(tmp_path, name):
    first = table(tmp_path, WINES, **ROLES)
    write_table(tmp_path / name, first)
    again = read(tmp_path / name, **ROLES)
    assert again.X.equals(first.X)
    for part in ("y", "groups", "ids", "weights"):
        np.testing.assert_array_equal(getattr(again, part), getattr(first, part))
    assert name.endswith(".gz") == (tmp_path / name).read_bytes().startswith(b"\x1f\x8b")


def test_numbered_features_and_text_grades(tmp_path):
    write_table(tmp_path / "o.csv", table(tmp_path, "2 qid:7 1:0.5 3:1\n0 qid:8 2:1.5\n", "t.txt"))
    assert (tmp_path / "o.csv").read_text().splitlines()[:2] == ["qid,1,2,3,grade", "7,0.5,0.0,1.0,2.0"]
    found = table(tmp_path, "a,g\n1,x\n2,\n", target="g", levels=["x", "y"])
    write_table(tmp_path / "o.csv", found)
    assert read(tmp_path / "o.csv", target="g", levels=["x", "y"]).y.tolist() == ["x", None]


def test_comparisons_come_back(tmp_path):
    first = games(tmp_path, "left,right,outcome,weight\nAnna,Ben,>,1\nBen,Carl,=,2\n")
    write_table(tmp_path / "o.csv", first)
    again = read(tmp_path / "o.csv")
    assert again.items.ids.tolist() == first.items.ids.tolist()
    assert again.comparisons.outcome.tolist() == [-1, 0]
    assert again.comparisons.weight.tolist() == [1.0, 2.0]


def test_scores(tmp_path):
    write_scores(tmp_path / "o.csv", table(tmp_path, WINES, group="list", item="name"), [1.0, 5.0, 2.5])
    assert (tmp_path / "o.csv").read_text() == "list,name,score,rank\n7,P,1.0,2\n8,M,5.0,1\n7,R,2.5,1\n"
    write_scores(tmp_path / "o.csv.gz", table(tmp_path, "a\n1\n2\n"), [0.0, 0.0])
    assert gzip.decompress((tmp_path / "o.csv.gz").read_bytes()) == b"item,score,rank\n1,0.0,1\n2,0.0,1\n"


def test_names_that_are_taken(tmp_path):
    write_scores(tmp_path / "o.csv", table(tmp_path, "score,rank\nx,y\n", group="score", item="rank"), [1.0])
    assert (tmp_path / "o.csv").read_text().splitlines()[0] == "score,rank,score_,rank_"


def test_ranks():
    scores = np.array([3.0, 1.0, 3.0, np.inf, np.inf, -np.inf])
    assert ranks(scores).tolist() == [3, 5, 3, 1, 1, 6]
    assert ranks(scores, np.array(["a", "a", "b", "b", "a", "b"])).tolist() == [2, 3, 2, 1, 1, 3]
    assert ranks(np.empty(0)).tolist() == []


def test_refusals(tmp_path):
    found = table(tmp_path, "a\n1\n2\n")
    with pytest.raises(DataError, match="ending"):
        write_table(tmp_path / "o.xlsx", found)
    for name in ("o.csv", "o.parquet"):
        with pytest.raises(DataError, match="cannot be written"):
            write_table(tmp_path / "nowhere" / name, found)
    with pytest.raises(ValueError, match="one score a row"):
        write_scores(tmp_path / "o.csv", found, [1.0])
    twice = table(tmp_path, "1 qid:1 1:1\n", "t.txt")
    put(tmp_path, "x")
    with pytest.raises(DataError, match="both called"):
        write_table(tmp_path / "o.csv", type(twice)("s", found.X, target="a", y=np.zeros(2)))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arff", "csv.gz", "arff.gz"])
def test_every_format_of_columns_is_read_back(tmp_path, ending):
    frame = pl.DataFrame(
        {
            "a b": [1.5, None, -1e300],
            "it's": ["x, y", "100%", "{odd}"],
            'say "hi"': ["?", "back\\slash", "é"],
            "n": [1.0, 2.0, 3.0],
        }
    )
    table = Table("t", frame, np.array([1.0, np.nan, 3.0]), target="grade")
    write_table(tmp_path / f"t.{ending}", table)
    again = read(tmp_path / f"t.{ending}", target="grade")
    if ending.startswith("arff"):
        assert again.X.equals(frame)
    assert again.X["a b"].to_list() == frame["a b"].to_list()
    np.testing.assert_array_equal(again.y, table.y)


@pytest.mark.parametrize("ending", ["letor", "svmlight.gz"])
def test_letor_files_are_written_by_their_ending(tmp_path, ending):
    table = Table("t", pl.DataFrame({"a": [1.5, 0.0], "b": [2.0, 3.0]}), np.array([1.0, 0.0]), groups=np.array([1, 1]))
    write_table(tmp_path / f"t.{ending}", table)
    again = read(tmp_path / f"t.{ending}")
    np.testing.assert_array_equal(again.X.toarray(), table.X.to_numpy())
    np.testing.assert_array_equal(again.y, table.y)


def test_rows_without_an_id_are_called_by_a_word(tmp_path):
    rows = "1 qid:1 1:1 # a\n0 qid:1 1:2\n2 qid:1 1:3 # 2\n"
    some = table(tmp_path, rows, "some.letor")
    assert some.row_ids().tolist() == ["a", "row-2", "2"]
    assert some.names().tolist() == ["a", "row 2", "2"]
    assert score_frame(some, [1.0, 2.0, 3.0])["item"].to_list() == ["a", "row-2", "2"]
    none = table(tmp_path, "1 qid:1 1:1\n0 qid:1 1:2\n", "none.letor")
    assert none.row_ids().tolist() == ["1", "2"]
    assert none.names().tolist() == ["row 1", "row 2"]
    assert none.ids is None
    both = read([tmp_path / "some.letor", tmp_path / "none.letor"])
    write_run(tmp_path / "run", both.row_ids(), both.groups, np.arange(5.0))
    assert sorted(read_run(tmp_path / "run").item.tolist()) == ["2", "a", "row-2", "row-4", "row-5"]
    assert both.take(np.array([0, 2])).row_ids().tolist() == ["a", "2"]
