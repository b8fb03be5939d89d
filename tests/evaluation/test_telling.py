"""How much data tells two methods apart: against what a comparison of the two finds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.evaluation import tell_apart
from wellorder.evaluation.leaderboard import _evidence

from .tables import make_comparisons, make_table


@pytest.mark.parametrize(
    ("table", "unit"),
    [
        (make_table(400), "row"),
        (make_table(600, groups=40), "list"),
        (make_comparisons(600, items=60, described=False), "comparison"),
    ],
)
def test_it_is_about_what_a_comparison_of_the_two_finds(table, unit):
    found = tell_apart(table)
    assert found.unit == unit
    board = wo.compare(table, found.methods, metric="swapped_pairs", n_jobs=1)
    there = _evidence(board.records, found.methods, "swapped_pairs").found_apart(0, 1)
    assert 0.6 * there < found.told < 1.5 * there
    assert found.needed == pytest.approx(found.n_units * (found.told / 0.01) ** 2, rel=0.12)
    assert str(found).startswith(f"it takes about {found.needed:,} {unit}s to tell apart two methods")


def test_a_sample_says_the_same_as_all_rows(monkeypatch):
    table = make_table(3_000)
    whole = tell_apart(table)
    monkeypatch.setattr("wellorder.evaluation.telling._ROWS", (500, 700))
    part = tell_apart(table)
    assert part.n_units == whole.n_units == 3_000
    assert part != whole
    assert part.told == pytest.approx(whole.told, rel=0.25)


def test_items_with_features_have_two_methods_that_look_at_them():
    found = tell_apart(make_comparisons(300, items=80))
    assert (found.unit, found.methods) == ("comparison", ("rank-svm", "best-feature"))


def test_nothing_is_said_where_nothing_shows_it():
    assert tell_apart(make_table(3)) is None
    same = wo.data.Table("made", pl.DataFrame({"a": np.arange(60.0)}), np.arange(60.0) % 3)
    assert tell_apart(same) is None  # one column: the two methods never differ
