"""Whether more rows would help: growing parts, and the tail that is fitted to them."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.evaluation import LearningCurve, folds, table_curve
from wellorder.evaluation.learning_curves import _growing


def made(values, sizes, greater_is_better=False):
    return LearningCurve(np.asarray(sizes, float), np.asarray(values), "swapped_pairs", greater_is_better, (0.0, 1.0))


@pytest.mark.parametrize("c", [0.5, 1.0])
def test_a_power_law_is_found_again(c):
    sizes = np.array([50, 100, 200, 400, 800])
    rng = np.random.default_rng(0)
    values = 0.2 + 2.0 * sizes[:, None] ** -c + 1e-4 * rng.standard_normal((5, 10))
    curve = made(values, sizes)
    assert curve.at(1_600) == pytest.approx(0.2 + 2.0 * 1_600**-c, abs=2e-3)
    gain, low, high = curve.gain(2.0)
    assert low <= gain <= high
    assert gain == pytest.approx(2.0 * (800**-c - 1_600**-c), rel=0.1)
    assert made(1.0 - values, sizes, greater_is_better=True).gain(2.0)[0] == pytest.approx(gain, rel=1e-6)


def test_what_does_not_fall_is_not_promised_to():
    curve = made(0.3 + 0.01 * np.random.default_rng(1).standard_normal((5, 8)), [50, 100, 200, 400, 800])
    gain, low, _ = curve.gain(2.0)
    assert 0 <= gain < 0.01
    assert low < 0.002
    assert made(np.full((4, 3), 0.5), [1, 2, 3, 4]).gain()[0] == 0.0


def test_larger_parts_hold_the_smaller_ones_and_lists_stay_whole():
    y, query = np.tile([0, 1, 2], 40), np.repeat(np.arange(24), 5)
    for order in (wo.Grades(y), wo.Grades(y, query)):
        split = next(folds(order, n_folds=4))
        parts = _growing(order, split, np.array([0.1, 0.4, 1.0]), 0)
        assert set(parts[0]) < set(parts[1]) < set(parts[2]) == set(split.train)
        if order.group is not None:
            for rows in parts:
                assert all((query[rows] == each).sum() == 5 for each in set(query[rows]))


def test_the_whole_training_part_is_a_cross_validation():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 4))
    y = np.round(X[:, 0] + rng.standard_normal(150))
    curve = wo.learning_curve(wo.RankSVM(), X, y, sizes=[0.2, 1.0], cv=3)
    np.testing.assert_allclose(curve.values[-1], wo.cross_validate(wo.RankSVM(), X, y, cv=3)["swapped_pairs"])
    assert curve.sizes.tolist() == [20, 100]
    assert "200  " in str(curve)
    table = wo.data.Table("made", pl.DataFrame(X, schema=list("abcd")), y)
    assert table_curve(table, "ridge", n_folds=3, sizes=3).values.shape == (3, 3)


def test_parts_without_a_pair_have_no_value():
    y = np.r_[np.zeros(57), np.ones(3)]
    curve = wo.learning_curve(wo.RankSVM(), np.arange(60.0)[:, None], y, sizes=[0.05, 1.0], cv=3)
    assert np.isnan(curve.values[0]).any()
    assert np.isfinite(curve.values[1]).all()
    assert np.isnan(curve.means[0])  # of some test parts alone, which the other sizes' mean is not


def test_shares_of_very_few_rows_that_are_the_same_rows_are_one_size():
    X = np.arange(12.0)[:, None]
    curve = wo.learning_curve(wo.RankSVM(), X, np.arange(12) // 3, sizes=[0.1, 0.15, 0.2, 1.0], cv=3)
    assert curve.sizes.tolist() == [2, 8]
    assert curve.values.shape == (2, 3)


@pytest.mark.filterwarnings("error")
def test_sizes_at_which_nothing_is_known_are_passed_over():
    values = np.full((5, 4), np.nan)
    values[2:] = 0.2 + np.array([[0.2], [0.1], [0.05]])
    curve = made(values, [2, 3, 50, 100, 200])
    assert np.isnan(curve.means[:2]).all()
    assert np.isfinite(curve.gain()).all()
    assert np.isnan(made(np.full((3, 4), np.nan), [2, 3, 4]).gain()).all()


def test_the_gain_is_that_of_the_two_numbers_beside_it():
    rng = np.random.default_rng(3)
    sizes = np.array([50, 100, 200, 400, 800])
    curve = made(0.2 + 2.0 / np.sqrt(sizes[:, None]) + 0.02 * rng.standard_normal((5, 6)), sizes)
    then, now, gain = map(
        float, re.search(r"1,600  (\S+) by the tail, which has (\S+) at 800: (\S+) better", str(curve)).groups()
    )
    assert now - then == pytest.approx(gain, abs=1.1e-4)


@pytest.mark.parametrize("sizes", [1, [0.5], [0.0, 1.0], [0.5, 2.0]])
def test_sizes_that_make_no_curve(sizes):
    with pytest.raises(ValueError, match="sizes="):
        wo.learning_curve(wo.RankSVM(), np.zeros((9, 1)), np.arange(9), sizes=sizes)


def test_a_method_that_does_not_learn_from_such_data_is_refused():
    table = wo.data.Table("made", pl.DataFrame({"a": np.arange(9.0)}), np.arange(9.0))
    with pytest.raises(ValueError, match="elo does not learn from grades"):
        table_curve(table, "elo")
