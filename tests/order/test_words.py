"""Grades in words: an order is only suggested where it is a scale, and outcomes of votes are told from grades."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import wellorder as wo
from wellorder.data import DataError
from wellorder.order import likely_order, look_like_votes

X = np.arange(6.0)[:, None]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["left", "right", "tie"], True),
        (["model_a", "model_b", "tie (bothbad)"], True),
        (["A", "B", "Draw"], True),
        (["win", "loss"], True),
        (["home win", "draw", "away win"], True),
        (["1-0", "1/2", "0-1"], True),
        (["a", "b"], False),
        (["tie", "none"], False),
        (["good", "bad", "tie"], False),
        (["no", "maybe", "yes"], False),
    ],
)
def test_votes_are_told_from_grades(values, expected):
    assert look_like_votes(values) is expected


def test_the_alphabet_is_nobodys_scale():
    with pytest.raises(ValueError, match="in no order: 'gold', 'bronze', 'silver'") as refused:
        wo.RankSVM().fit(X, ["gold", "bronze", "silver"] * 2)
    assert "perhaps" not in str(refused.value)
    with pytest.raises(ValueError, match=r"perhaps levels=\['bad', 'fair', 'good'\]"):
        wo.RankSVM().fit(X, ["good", "bad", "fair"] * 2)
    assert likely_order(["gold", "bronze", "silver"]) is None


def test_categories_without_an_order_are_not_given_the_alphabets():
    """pandas' ``as_ordered`` would put 'excellent' below 'poor'."""
    with pytest.raises(
        ValueError, match=r"without an order.*perhaps levels=\['poor', 'good', 'excellent'\]"
    ) as refused:
        wo.RankSVM().fit(X, pd.Categorical(["poor", "good", "excellent"] * 2))
    assert "ordered()" not in str(refused.value)
    with pytest.raises(ValueError, match="look like the outcomes of votes"):
        wo.RankSVM().fit(X, pd.Categorical(["left", "tie", "right"] * 2))


def test_outcomes_of_votes_point_to_comparisons():
    with pytest.raises(ValueError, match=r"look like the outcomes of votes.* wo.Comparisons"):
        wo.RankSVM().fit(X, ["left", "tie", "right"] * 2)
    model = wo.RankSVM(levels=["loss", "draw", "win"]).fit(X, ["loss", "draw", "win"] * 2)  # grades after all
    assert model.n_pairs_ == 12


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_with_votes_as_target_points_to_comparisons(tmp_path):
    path = write(tmp_path, "votes.csv", "length,winner\n1,left\n2,right\n3,tie\n")
    with pytest.raises(DataError, match="looks like the outcomes of votes") as refused:
        wo.read(path, target="winner")
    for word in ("'wellorder rate'", "'compare'", "left= and right=", "outcome='winner'", "target="):
        assert word in str(refused.value)


@pytest.mark.parametrize(
    ("declared", "advice"),
    [
        ("small, grand, vast", "perhaps levels=[small, grand, vast]"),
        ("grand, small, vast", "in no order: vast, small, grand"),
    ],
)
def test_declared_categories_are_suggested_unless_by_the_alphabet(tmp_path, declared, advice):
    rows = "1,vast\n2,small\n3,grand\n"
    path = write(tmp_path, "a.arff", f"@relation r\n@attribute x numeric\n@attribute y {{{declared}}}\n@data\n{rows}")
    with pytest.raises(DataError) as refused:
        wo.read(path, target="y")
    assert advice in str(refused.value)
