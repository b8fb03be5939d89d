"""Files for a model: the columns keep the meaning they had in training."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.data import ComparisonTable, DataError, Table, TableRanker, readers
from wellorder.data.model_input import read_for

from .files import games, put, table


def fitted(folder: Path, values: list[str], repeat: int = 4) -> TableRanker:
    """Fit a model to one text column whose values stand for rising grades."""
    rows = "".join(f"{value},{grade}\n" for grade, value in enumerate(values) for _ in range(repeat))
    return TableRanker(wo.RankSVM()).fit(table(folder, f"c,y\n{rows}", "train.csv", target="y"))


def scores(model: TableRanker, path: Path) -> list[float]:
    found = read_for(model, path)
    assert isinstance(found, Table)
    return [float(score) for score in model.decision_function(found)]


def expected(model: TableRanker, values: list[str | None]) -> list[float]:
    return [float(score) for score in model.decision_function(pl.DataFrame({"c": values}, schema={"c": pl.String}))]


@pytest.mark.parametrize(
    ("training", "values"),
    [
        (["1", "01", "x"], ["1", "01", "1"]),
        (["true", "false", "maybe"], ["false", "true", "true"]),
        (["4", "5", "more"], ["4"] * 19 + ["more"]),
    ],
    ids=str,
)
def test_categories_are_what_is_written(tmp_path, training, values):
    model = fitted(tmp_path, training)
    path = put(tmp_path, "\n".join(["c", *values]), "new.csv")
    assert scores(model, path) == expected(model, values)
    assert len(set(expected(model, values))) == len(set(values))


def test_blanks_and_missing_values_are_still_read_as_such(tmp_path):
    model = fitted(tmp_path, ["4", "5", "", "more"])
    assert scores(model, put(tmp_path, "c,d\n 4 ,1\nNA,1\n?,1\n", "new.csv")) == expected(model, ["4", None, None])


def test_an_unseen_number_is_an_unseen_category(tmp_path):
    model = fitted(tmp_path, ["4", "5", "more"])
    found = read_for(model, put(tmp_path, "c\n4\n6\n", "new.csv"))
    with pytest.warns(UserWarning, match="column 'c' has the value '6'"):
        model.decision_function(found)


def test_types_that_a_file_declares_are_kept(tmp_path):
    model = fitted(tmp_path, ["4.0", "5", "true", "-"])
    frames = {"numbers": [4.0, 5.0], "truth": [True, True]}
    for name, values in frames.items():
        pl.DataFrame({"c": values}).write_parquet(tmp_path / f"{name}.parquet")
    assert scores(model, tmp_path / "numbers.parquet") == expected(model, ["4.0", "5"])
    assert scores(model, tmp_path / "truth.parquet") == expected(model, ["true", "true"])
    arff = "@relation r\n@attribute c {}\n@data\n{}\n"
    numeric = put(tmp_path, arff.format("numeric", "4"), "n.arff")
    assert scores(model, numeric) == expected(model, ["4.0"])


def test_declared_categories_are_not_trimmed_away(tmp_path):
    rows = "\n".join(f"'{value}',{grade}" for grade, value in enumerate(["-", "1", "2"]) for _ in range(4))
    text = f"@relation r\n@attribute c {{'-',1,2}}\n@attribute y numeric\n@data\n{rows}\n"
    train = table(tmp_path, text, "t.arff", target="y")
    model = TableRanker(wo.RankSVM()).fit(train)
    found = read_for(model, tmp_path / "t.arff")
    assert (model.decision_function(found) == model.decision_function(train)).all()


def test_items_keep_their_categories(tmp_path):
    results = "left,right,outcome\na,b,>\nb,c,>\nc,d,>\na,d,>\n"
    items = put(tmp_path, "name,kind\na,1\nb,01\nc,x\nd,x\n", "items.csv")
    model = TableRanker(wo.RankSVM()).fit(games(tmp_path, results, items=items))
    new = put(tmp_path, "name,kind\na,1\nb,01\n", "new.csv")
    found = read_for(model, put(tmp_path, "left,right,outcome\na,b,>\n", "g.csv"), judged=True, items=new)
    assert isinstance(found, ComparisonTable)
    rows = model.decision_function(found)
    assert (rows == model.decision_function(pl.DataFrame({"kind": ["1", "01"]}))).all()
    assert rows[0] != rows[1]


GRADED = "a,q,w,y\n" + "".join(f"{row * 7 % 10},{row % 2},{1 + row % 3},{row}\n" for row in range(10))


def model_of(folder: Path, drop: str = "", **roles: str) -> TableRanker:
    found = table(folder, GRADED, "train.csv", target="y", drop=[name for name in drop.split(",") if name], **roles)
    return TableRanker(wo.RankSVM()).fit(found)


def test_a_file_without_the_group_is_not_judged(tmp_path):
    model = model_of(tmp_path, group="q", weight="w")
    path = put(tmp_path, "a,w,y\n1,1,2\n2,1,3\n", "new.csv")
    with pytest.raises(
        DataError, match=r"new\.csv: it has no column 'q', the model's group.*; add it, the same in all"
    ):
        read_for(model, path, judged=True)
    with pytest.warns(UserWarning, match="no column 'q', the model's group: all rows are put in one list") as caught:
        found = read_for(model, path)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert found.groups is None


def test_a_file_without_the_weight_is_not_judged(tmp_path):
    model = model_of(tmp_path, group="q", weight="w")
    path = put(tmp_path, "a,q,y\n1,1,2\n2,1,3\n", "new.csv")
    with pytest.raises(DataError, match=r"it has no column 'w', the model's weight.*; add it, 1 in all rows"):
        read_for(model, path, judged=True)
    assert read_for(model, path).weights is None  # scores do not depend on it


def test_what_the_model_never_had_is_not_missed(tmp_path):
    found = read_for(model_of(tmp_path, drop="q,w"), put(tmp_path, "a,y\n1,2\n2,3\n", "new.csv"), judged=True)
    assert (found.groups, found.weights, found.y.tolist()) == (None, None, [2.0, 3.0])


def test_letor_without_queries_is_not_judged(tmp_path):
    lines = [f"{row % 3} qid:{row // 5} 1:{row % 4} 2:{row * 7 % 5}\n" for row in range(20)]
    model = TableRanker(wo.RankSVM()).fit(table(tmp_path, "".join(lines), "t.letor"))
    path = put(tmp_path, "1 1:3\n0 2:1\n", "new.letor")
    with pytest.raises(DataError, match="its lines have no qid, the model's group"):
        read_for(model, path, judged=True)
    with pytest.warns(UserWarning, match="all rows are put in one list"):
        assert read_for(model, path).y is None
    assert read_for(model, tmp_path / "t.letor", judged=True).groups is not None


def test_each_file_is_read_once(tmp_path, monkeypatch):
    model = model_of(tmp_path)
    read: list[str] = []

    def counted(path, format_name=None, *, plain=readers.read_file):
        read.append(path.name)
        return plain(path, format_name)

    monkeypatch.setattr(readers, "read_file", counted)
    paths = [put(tmp_path, GRADED, name) for name in ("one.csv", "two.csv")]
    assert len(read_for(model, paths)) == 20
    assert read == ["one.csv", "two.csv"]
    with pytest.raises(ValueError, match="there is no file to read"):
        read_for(model, [])


def test_columns_called_like_those_of_comparisons_are_features_of_a_model_of_grades(tmp_path):
    rows = "".join(f"{row % 3},{row % 5},{row % 2},{row}\n" for row in range(12))
    path = put(tmp_path, f"left,right,outcome,y\n{rows}")
    model = TableRanker(wo.RankSVM()).fit(wo.read(path, target="y"))
    found = read_for(model, path)
    assert isinstance(found, Table)
    assert np.isfinite(model.decision_function(found)).all()


def test_reading_does_not_load_the_data_sets_of_scikit_learn():
    code = "import sys, wellorder.data; print('sklearn.datasets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


TASTED = "ph,colour,quality\n3.1,red,5\n3.2,white,6\n3.3,red,5\n3.6,white,7\n"


def test_what_cannot_be_scored_is_named_by_its_line(tmp_path):
    model = TableRanker(wo.RankSVM()).fit(table(tmp_path, TASTED, target="quality"))
    quoted = put(tmp_path, 'note,ph,colour\n"two\nlines",3,red\n\nx,sour,white\n', "new.csv")
    with pytest.raises(
        DataError, match=r"new\.csv, line 5: column 'ph' held numbers in the training data, and has 'sour'"
    ):
        model.decision_function(read_for(model, quoted))
    both = [put(tmp_path, "ph,colour\n3,red\n", "1.csv"), put(tmp_path, "ph,colour\n3,red\n2,pink\n", "2.csv")]
    with pytest.warns(UserWarning, match=r"the value 'pink' \(first in line 3 of .*2\.csv\)"):
        model.decision_function(read_for(model, both))
    with pytest.warns(UserWarning, match=r"the value 'pink' \(first in line 3 of .*2\.csv\)"):
        model.decision_function(read_for(model, both).take(np.array([2, 0])))
    pl.DataFrame({"ph": ["3", "a", "b"], "colour": ["red"] * 3}).write_parquet(tmp_path / "new.parquet")
    with pytest.raises(DataError, match=r"new\.parquet: row 2: column 'ph' held numbers"):
        model.decision_function(read_for(model, tmp_path / "new.parquet"))
    huge = put(tmp_path, "ph,colour\n3,red\n1e308,red\n", "new.csv")
    with pytest.raises(DataError, match=r"new\.csv, line 3: column 'ph' is 1e\+308 here, which is too large"):
        model.decision_function(read_for(model, huge))


def test_strangers_are_named_by_their_line(tmp_path):
    model = TableRanker(wo.RankSVM()).fit(games(tmp_path, "left,right,outcome\na,b,>\nb,c,>\n"))
    with pytest.raises(DataError, match=r"who\.csv, line 3: the item 'd' is not among those that were compared"):
        model.decision_function(read_for(model, put(tmp_path, "name\na\nd\n", "who.csv")))


@pytest.mark.parametrize("filled", [1, 4], ids=["dense", "sparse"])
def test_features_beyond_the_models_are_said(tmp_path, filled):
    rows = "".join(f"{row % 2} qid:1 1:{row % 5} {1 + filled * (1 + row % 3)}:{row % 4}\n" for row in range(12))
    model = TableRanker(wo.RankSVM()).fit(table(tmp_path, rows, "train.letor"))
    assert model.encoder_.layout_ == ("numbered" if filled == 1 else "sparse")
    far = put(tmp_path, "? qid:1 1:2 2:1 2000000000:1\n? qid:1 1:3\n", "far.letor")
    with pytest.warns(UserWarning, match=r"1 feature beyond number .* \(first 2,000,000,000\), of which .* ignored"):
        scores = model.decision_function(read_for(model, far))
    near = put(tmp_path, "? qid:1 1:2 2:1\n? qid:1 1:3\n", "new.letor")
    np.testing.assert_array_equal(scores, model.decision_function(read_for(model, near)))
