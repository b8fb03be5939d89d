"""Comparisons by name: every kind of column, words for outcomes, and what is refused by name."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import wellorder as wo
from wellorder.order import number_objects

LEFT, RIGHT, OUTCOME = ["eve", "bob", "ada", "eve"], ["bob", "ada", "eve", "bob"], [1, 0, -1, 1]


@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        np.array,
        lambda values: np.array(values, dtype=object),
        pl.Series,
        lambda values: pl.Series(values, dtype=pl.Categorical if isinstance(values[0], str) else None),
        pd.Series,
        lambda values: pd.Series(values, dtype="category" if isinstance(values[0], str) else None),
    ],
)
@pytest.mark.parametrize("outcome", [OUTCOME, ["right", "tie", "left", "b"], ["bob", "=", "ada", "bob"]])
def test_names_are_numbered_as_they_come(kind, outcome):
    found = wo.Comparisons.from_names(kind(LEFT), kind(RIGHT), kind(outcome))
    assert found.names.tolist() == ["eve", "bob", "ada"]
    assert found.left.tolist() == [0, 1, 2, 0]
    assert found.right.tolist() == [1, 2, 0, 1]
    assert found.outcome.tolist() == OUTCOME


def test_as_one_by_one():
    rng = np.random.default_rng(0)
    names = np.array([f"name {number}" for number in range(300)])
    left, right = names[rng.integers(0, 300, (2, 1000))]
    left[left == right] = "another"
    codes, distinct = number_objects(np.stack([left, right], axis=1).ravel())
    found = wo.Comparisons.from_names(left, right, rng.integers(-1, 2, 1000))
    assert found.names.tolist() == distinct
    assert found.left.tolist() == codes[0::2].tolist()
    assert found.right.tolist() == codes[1::2].tolist()


@pytest.mark.parametrize(("one", "two"), [(7, -3), (("a", 1), ("b", 2)), ("a", 7), (1.5, 2.0), (b"x", "x")])
def test_names_of_any_hashable_kind(one, two):
    found = wo.Comparisons.from_names([two, one], [one, two], [1, -1], weights=[1, 2])
    assert found.names.tolist() == [two, one]
    assert found.left.tolist() == [0, 1]
    assert found.weight.tolist() == [1.0, 2.0]


def test_whole_numbers():
    found = wo.Comparisons.from_names(np.array([30, 10]), np.array([20, 30]), ["left", "right"])
    assert found.names.tolist() == [30, 20, 10]
    assert (found.left.tolist(), found.right.tolist(), found.outcome.tolist()) == ([0, 2], [1, 0], [-1, 1])


def test_names_are_kept_by_a_part_and_plain_comparisons_have_none():
    found = wo.Comparisons.from_names(LEFT, RIGHT, OUTCOME)
    assert found.take(np.array([2])).names is found.names
    assert wo.Comparisons([0], [1], [1]).names is None
    assert len(wo.Comparisons.from_names([], [], [])) == 0


@pytest.mark.parametrize(
    ("left", "right", "outcome", "said"),
    [
        (["a", "b"], ["b", "b"], [1, -1], "comparison 1 finds 'b' better than itself"),
        (["a", "b"], ["b", "b"], ["a", "b"], "comparison 1 finds 'b' better than itself"),
        (["a", None], ["b", "a"], [1, 1], "comparison 1 has no name for its left item"),
        (["a", "b"], ["b", float("nan")], [1, 1], "comparison 1 has no name for its right item"),
        (["a", "b"], ["b"], [1, 1], "left and right must be of one length, got 2 and 1"),
        (["a", "b"], ["b", "a"], [1], "must be of one length, got 2 names and 1"),
        (["a", "b"], ["b", "a"], [1, 2], "comparison 1 has the outcome 2"),
        (["a", "b"], ["b", "a"], ["left", "win"], "comparison 1: the outcome is 'win'; write 1, < or right"),
        (["a", "b"], ["b", "a"], ["left", None], "comparison 1: the outcome is missing"),
        (["a", "b"], ["b", "a"], [True, False], "np.where"),
        (["x", "y"], ["y", "z"], ["x", "x"], "comparison 1: the outcome is 'x', neither 'y' nor 'z'"),
        (["a", "b"], ["b", "a"], ["a", "a"], "comparison 1: the outcome 'a' could be read in two ways"),
    ],
)
def test_what_is_refused(left, right, outcome, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        wo.Comparisons.from_names(left, right, outcome)


def test_names_that_have_no_hash():
    with pytest.raises(TypeError, match="not hashable"):
        wo.Comparisons.from_names([["a"]], [["b"]], [1])


def test_ties_of_an_item_with_itself_are_no_contradiction():
    assert len(wo.Comparisons.from_names(["a"], ["a"], [0])) == 1


@pytest.mark.parametrize(
    ("left", "right", "said"), [(["a", "b"], [None, "a"], "right"), (["a", None], ["b", "a"], "left")]
)
def test_a_name_that_is_missing_is_told_with_its_side(left, right, said):
    with pytest.raises(ValueError, match=rf"comparison {int(said == 'left')} has no name for its {said} item"):
        wo.Comparisons.from_names(left, right, [1, 1])
