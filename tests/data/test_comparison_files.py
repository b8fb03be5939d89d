"""Files of comparisons, with and without a file of items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.data import ComparisonTable, Table, TableRanker, read
from wellorder.evaluation import fit_table

from .files import games, put, refuses

GAMES = "left,right,outcome\nAnna,Ben,>\nBen,Carl,<\nCarl,Anna,=\n"
ITEMS = "name,height,town\nCarl,1.7,X\nAnna,1.8,Y\nBen,1.9,X\nDora,1.6,Y\n"


def test_items_by_name(tmp_path):
    found = games(tmp_path, GAMES)
    assert found.items.ids.tolist() == ["Anna", "Ben", "Carl"]
    assert not found.described
    assert found.items.X.toarray().tolist() == np.eye(3).tolist()
    assert found.comparisons.left.tolist() == [0, 1, 2]
    assert found.comparisons.right.tolist() == [1, 2, 0]
    assert found.comparisons.outcome.tolist() == [-1, 1, 0]
    assert found.comparisons.weight is None
    assert found.take(np.array([1])).comparisons.outcome.tolist() == [1]


def test_outcomes_as_numbers(tmp_path):
    found = games(tmp_path, "right,outcome,left\nb,-1,a\nc,1,b\na,0.0,c\n")
    assert found.comparisons.outcome.tolist() == [-1, 1, 0]
    assert found.items.ids.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(("bad", "said"), [("2", "is '2'"), ("", "is missing"), ("win", "is 'win'"), ("0.7", "'0.7'")])
def test_other_outcomes(tmp_path, bad, said):
    refuses(tmp_path, f"left,right,outcome\na,b,1\na,b,{bad}\n", "the outcome", said, "right is better", line=3)


def test_weights(tmp_path):
    text = "left,right,outcome,weight,w2\na,b,1,2,3\nb,c,1,1,4\n"
    assert games(tmp_path, text, drop="w2").comparisons.weight.tolist() == [2.0, 1.0]
    assert games(tmp_path, text, weight="w2", drop="weight").comparisons.weight.tolist() == [3.0, 4.0]
    refuses(tmp_path, text.replace("2,3", "-2,3"), "the weight (column 'weight') is -2", line=2)
    refuses(tmp_path, text, "no column 'wt'", weight="wt")
    refuses(tmp_path, text.replace("1,4", "one,4"), "the weight 'one' (column 'weight') is not a number", line=3)


def test_a_score_that_is_none_is_named_where_it_stands(tmp_path):
    text = "home_team,away_team,home_score,away_score\na,b,1,2\nb,c,1,many\n"
    refuses(tmp_path, text, "the score 'many' (column 'away_score') is not a number", line=3)


def test_file_of_items(tmp_path):
    items = put(tmp_path, ITEMS, "items.csv")
    found = games(tmp_path, GAMES, items=items)
    assert found.described
    assert found.items.ids.tolist() == ["Carl", "Anna", "Ben", "Dora"]
    assert found.items.feature_names == ("height", "town")
    assert found.comparisons.left.tolist() == [1, 2, 0]
    assert games(tmp_path, GAMES, items=items, item="name", drop="town").items.feature_names == ("height",)


@pytest.mark.parametrize("header", ["item,a", "id,a", "who,a"])
def test_the_column_of_names(tmp_path, header):
    items = put(tmp_path, f"{header}\nAnna,1\nBen,2\nCarl,3\n", "items.csv")
    assert games(tmp_path, GAMES, items=items).items.feature_names == ("a",)


def test_names_that_are_no_item(tmp_path):
    items = put(tmp_path, ITEMS.replace("Ben", "Benn"), "items.csv")
    refuses(tmp_path, GAMES, "the item 'Ben' is not in", "items.csv", "did you mean 'Benn'?", line=2, items=items)
    items = put(tmp_path, "name,a\nAnna,1\n", "items.csv")
    refuses(tmp_path, GAMES, "'Ben' is not in", "add it there", line=2, items=items)


def test_items_that_are_there_twice(tmp_path):
    items = put(tmp_path, ITEMS + "Anna,2.0,Z\n", "items.csv")
    with pytest.raises(ValueError, match=r"items\.csv, line 6: the item 'Anna' \(column 'name'\) is already in line 3"):
        games(tmp_path, GAMES, items=items)


def test_missing_names(tmp_path):
    refuses(tmp_path, "left,right,outcome\na,b,1\na,,1\n", "the name (column 'right') is missing", line=3)


def test_an_item_better_than_itself(tmp_path):
    refuses(tmp_path, "left,right,outcome\na,b,1\na,a,1\n", "'a' is compared with itself", line=3)
    assert len(games(tmp_path, "left,right,outcome\na,b,-1\na,a,0\n")) == 2


def test_options_that_do_not_fit(tmp_path):
    refuses(tmp_path, GAMES, "group= goes with grades", group="left")
    refuses(tmp_path, GAMES, "levels= goes with grades", levels=["a", "b"])
    refuses(tmp_path, GAMES, "drop= goes with the features of a file of items", drop="left")
    refuses(tmp_path, GAMES, "item= goes with the features of a file of items", item="left")
    items = put(tmp_path, "1 qid:1 1:1\n", "items.txt")
    with pytest.raises(ValueError, match="LETOR files have none"):
        games(tmp_path, GAMES, items=items)
    refuses(tmp_path, "a,b\n1,2\n", "no columns left, right and outcome", items=items)


def test_with_a_target_it_is_a_table(tmp_path):
    assert isinstance(read(put(tmp_path, GAMES.replace("outcome", "x")), target=None), Table)
    assert isinstance(read(put(tmp_path, "left,right,outcome\n1,2,1\n"), target="outcome"), Table)


def test_several_files_of_comparisons(tmp_path):
    paths = [put(tmp_path, GAMES, "1.csv"), put(tmp_path, "left,right,outcome\nDora,Ben,1\n", "2.csv")]
    found = read(paths)
    assert isinstance(found, ComparisonTable)
    assert len(found) == 4
    assert found.items.ids.tolist() == ["Anna", "Ben", "Carl", "Dora"]


@pytest.mark.parametrize("tie", ["tie", "draw"])
def test_outcomes_as_words(tmp_path, tie):
    found = games(tmp_path, f"left,right,outcome\na,b,left\nb,c,right\na,c,{tie}\n")
    assert found.comparisons.outcome.tolist() == [-1, 1, 0]
    assert found.signs == ("left", tie, "right")


def test_columns_without_a_role_are_kept(tmp_path):
    text = "left,right,outcome,judge,day\nAnna,Ben,>,x,1\nBen,Carl,<,y,2\n"
    assert games(tmp_path, text).columns.rows() == [("x", 1.0), ("y", 2.0)]
    assert games(tmp_path, text, drop="judge").columns.columns == ["day"]
    assert games(tmp_path, text, drop=["judge", "day"]).columns is None
    items = put(tmp_path, ITEMS.replace("town", "day"), "items.csv")
    assert games(tmp_path, text, items=items, drop=["judge", "day"]).items.feature_names == ("height",)
    found = games(tmp_path, text, items=items)
    assert found.items.feature_names == ("height", "day")
    assert found.columns.columns == ["judge", "day"]


def test_methods_name_the_columns_that_they_do_not_use(tmp_path):
    found = games(tmp_path, "left,right,outcome,judge,day\na,b,>,x,1\nb,c,<,y,2\nc,a,=,x,3\na,c,<,z,4\n")
    with pytest.warns(UserWarning, match=r"games\.csv: the columns 'judge', 'day' are not used: of comparisons"):
        fit_table(found, "davidson", with_resolution=False)
    with pytest.warns(UserWarning, match=r"the column 'day' is not used"):
        wo.compare(replace(found, columns=found.columns.select("day")), ["davidson", "elo"], n_folds=2, n_jobs=1)
    fit_table(replace(found, columns=None), "davidson", with_resolution=False)


def test_a_file_that_is_refused_says_that_alone(tmp_path):
    refuses(tmp_path, "left,right,outcome,judge\na,b,who,x\n", "the outcome is 'who'", line=2)


@pytest.mark.parametrize("one", ["1", "1.0"])
def test_wins_and_losses_of_the_left_one_are_not_taken_for_ties_without_a_word(tmp_path, one):
    text = f"left,right,outcome\na,b,{one}\nb,c,{one.replace('1', '0', 1)}\nc,a,{one}\n"
    with pytest.warns(UserWarning, match=r"right is better' \(2 times\).* difference' \(1 times\).* write > and <"):
        games(tmp_path, text)
    games(tmp_path, text + f"a,c,-{one}\n")


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (("left", "right", "tie"), "outcome"),
        (("win", "loss", "draw"), "outcome"),
        (("A", "B", ""), "outcome"),
        ((">", "<", "="), "outcome"),
        (("Anna", "Carl", "tie"), "winner"),
    ],
)
@pytest.mark.parametrize("levels", [None, "alphabetical"])
def test_who_won_is_no_grade(tmp_path, words, target, levels):
    """Alphabetical levels of such words would be learned without complaint."""
    text = f"left,right,{target}\nAnna,Ben,{words[0]}\nBen,Carl,{words[1]}\nCarl,Anna,{words[2]}\n"
    given = None if levels is None else sorted(word for word in words if word)
    refuses(
        tmp_path, text, f"{target!r} says which of left and right", "leave target= out", target=target, levels=given
    )
    frame = pl.DataFrame({"left": ["a", "b"], "right": ["b", "a"], target: ["left", "right"]})
    with pytest.raises(ValueError, match="which of left and right is better"):
        TableRanker(wo.RankSVM(), target=target, levels=["left", "right"]).fit(frame)


def test_grades_of_rows_with_features_called_left_and_right(tmp_path):
    eyes = "left,right,outcome\n20,30,good\n20,25,bad\n30,20,good\n"
    assert read(put(tmp_path, eyes), target="outcome", levels=["bad", "good"]).levels == ("bad", "good")
    assert read(put(tmp_path, "left,right,y\n1,2,1\n2,1,2\n"), target="y").y.tolist() == [1.0, 2.0]
