"""Names cut to fit: never longer than asked for, and those that differ look different."""

from __future__ import annotations

from hypothesis import given, strategies as st

from wellorder.evaluation.explaining import cut, cut_apart


def test_short_names_stay_as_they_are():
    assert cut_apart(["age", "bmi", "age"], 5) == ["age", "bmi", "age"]
    assert cut("residual sugar", 8) == "residua…"


def test_names_that_differ_at_their_end_or_in_the_middle_are_told_apart():
    names = [f"the share of households in {place} that own a car" for place in ("town", "the country")]
    short = cut_apart(names, 24)
    assert "town" in short[0]
    assert "the c" in short[1]
    numbered = [f"{'x' * 60}{number}" for number in range(30)]
    assert len(set(cut_apart(numbered, 20))) == 30


def test_parts_of_a_group_that_differ_further_on_are_told_apart_too():
    far = "b" * 40
    names = [f"{'a' * 40}1", f"{'a' * 40}2{far}1", f"{'a' * 40}2{far}2"]
    assert len(set(cut_apart(names, 20))) == 3


@given(st.lists(st.text(alphabet="ab ", max_size=60), max_size=8), st.integers(8, 30))
def test_no_name_is_longer_than_asked_for(names, most):
    short = cut_apart(names, most)
    assert len(short) == len(names)
    assert all(len(each) <= most for each in short)
    assert all(
        own == name for own, name in zip(short, names, strict=True) if len(name) <= most and own == cut(name, most)
    )
