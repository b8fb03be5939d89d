"""Files of comparisons, with and without a file of items."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.data import ComparisonTable, Table, read

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


@pytest.mark.parametrize(("bad", "said"), [("2", "is '2'"), ("", "is missing"), ("win", "is 'win'"), ("0.5", "'0.5'")])
def test_other_outcomes(tmp_path, bad, said):
    refuses(tmp_path, f"left,right,outcome\na,b,1\na,b,{bad}\n", "the outcome", said, "right is better", line=3)


def test_weights(tmp_path):
    text = "left,right,outcome,weight,w2\na,b,1,2,3\nb,c,1,1,4\n"
    assert games(tmp_path, text).comparisons.weight.tolist() == [2.0, 1.0]
    assert games(tmp_path, text, weight="w2").comparisons.weight.tolist() == [3.0, 4.0]
    refuses(tmp_path, text.replace("2,3", "-2,3"), "the weight (column 'weight') is -2", line=2)
    refuses(tmp_path, text, "no column 'wt'", weight="wt")


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
    assert len(games(tmp_path, "left,right,outcome\na,b,1\na,a,0\n")) == 2


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
