"""Calibration: bins hold what was predicted and what happened, and differences of scores what they are worth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.figure import Figure

import wellorder as wo
from wellorder.figures import ByQueryDisplay, PairCalibrationDisplay, ScoreDifferencesDisplay
from wellorder.figures.differences import number_bins, reliability
from wellorder.order import Comparisons


@pytest.fixture
def ax():
    return Figure(layout="constrained").add_subplot()


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9]), min_size=1, max_size=60), st.integers(1, 8))
def test_bins_rise_hold_all_and_never_part_equals(values, n_bins):
    values = np.array(values)
    place = number_bins(values, n_bins)
    assert set(place) == set(range(place.max() + 1))
    assert place.max() < n_bins
    by_value = np.argsort(values, kind="stable")
    assert (np.diff(place[by_value]) >= 0).all()
    assert all(len(set(place[values == value])) == 1 for value in set(values))


def test_distinct_values_fill_bins_evenly():
    assert np.bincount(number_bins(np.arange(100.0), 10)).tolist() == [10] * 10
    with pytest.raises(ValueError, match="n_bins=0"):
        number_bins(np.arange(3.0), 0)


def test_both_directions_count_and_ties_are_apart(ax):
    outcome = np.array([1, -1, 0, 1])
    P = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.2, 0.1, 0.7]])
    display = PairCalibrationDisplay.from_predictions(outcome, P, n_bins=1).plot(ax=ax)
    better, tie = display.parts
    assert better.predicted[0] == pytest.approx(np.mean([0.7, 0.1, 0.3, 0.7, 0.1, 0.6, 0.3, 0.2]))
    assert better.observed[0] == pytest.approx(3 / 8)
    assert (tie.predicted[0], tie.observed[0], tie.count[0]) == (pytest.approx(0.25), 0.25, 4)
    assert [line.get_ydata()[0] for line in display.lines_] == [better.observed[0], tie.observed[0]]
    assert len(PairCalibrationDisplay.from_predictions([1, -1], P[:2]).parts) == 1
    with pytest.raises(ValueError, match="rows of 3 probabilities"):
        PairCalibrationDisplay.from_predictions([1, -1], P)


def test_a_model_that_knows_is_calibrated():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1600, 2, 3))
    gap = (X[:, 1] - X[:, 0]) @ [1.0, 0.5, 0.0] + rng.logistic(size=1600)
    y = np.where(np.abs(gap) < 1.2, 0, np.sign(gap)).astype(int)
    model = wo.CompareSVM(probability=True).fit(X[:800], y[:800])
    display = PairCalibrationDisplay.from_estimator(model, X[800:], y[800:], n_bins=4)
    assert np.abs(display.parts[0].predicted - display.parts[0].observed).max() < 0.15
    with pytest.raises(ValueError, match="gives no probabilities"):
        PairCalibrationDisplay.from_estimator(wo.RankSVM(), X, y)
    with pytest.raises(ValueError, match="give the outcomes"):
        PairCalibrationDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="no prediction"):
        reliability("x", [], [])


def test_differences_are_right_as_often_as_pairs_stand_rightly(ax):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 300)
    groups = rng.integers(0, 5, 300)
    scores = y + 1.5 * rng.standard_normal(300)
    display = ScoreDifferencesDisplay.from_predictions(y, scores, groups).plot(ax=ax)
    all_right = (display.bins.observed * display.bins.count).sum() / display.bins.count.sum()
    assert all_right == pytest.approx(1 - wo.metrics.swapped_pairs(y, scores, groups), abs=0.02)
    assert display.bins.observed[0] < 0.7 < 0.95 < display.bins.observed[-1]
    assert (np.diff(display.bins.predicted) > 0).all()
    assert np.array_equal(display.line_.get_ydata(), display.bins.observed)


def test_differences_do_not_depend_on_the_scale_and_ties_are_half_right():
    y, scores = [0, 1, 0, 1], np.array([0.0, 1.0, 2.0, 3.0])
    one, ten = (ScoreDifferencesDisplay.from_predictions(y, k * scores, n_bins=2).bins for k in (1, 10))
    assert np.allclose(one.predicted, ten.predicted)
    assert ScoreDifferencesDisplay.from_predictions([0, 1], [1.0, 1.0]).bins.observed.tolist() == [0.5]
    assert ScoreDifferencesDisplay.from_differences([1.0, -2.0]).bins.observed.tolist() == [1.0, 0.0]
    ranker = wo.RankSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    assert ScoreDifferencesDisplay.from_estimator(ranker, [[0.0], [1.0]], [0, 1]).bins.observed.tolist() == [1.0]
    with pytest.raises(ValueError, match="no pair of different grades"):
        ScoreDifferencesDisplay.from_predictions([1, 1], [0.0, 1.0])


def test_differences_of_comparisons():
    compared = Comparisons([0, 1, 2], [1, 2, 0], [1, 1, 0])
    found = ScoreDifferencesDisplay.from_predictions(compared, [0.0, 2.0, 1.0], n_bins=1)
    assert (found.bins.observed[0], found.bins.count[0]) == (0.5, 2)


def test_queries_are_sorted_by_who_is_ahead(ax):
    y, groups = [0, 1, 0, 1, 0, 1], ["a", "a", "b", "b", "c", "c"]
    display = ByQueryDisplay.from_predictions(
        "swapped_pairs", y, [0, 1, 1, 0, 0, 1], [1, 0, 0, 1, 0, 1], groups, names=("$one$", "_two")
    ).plot(ax=ax)
    assert display.ahead == {"a": 1.0, "c": 0.0, "b": -1.0}
    assert [text.get_text() for text in ax.texts] == ["above the line: $one$ ahead", "below: _two ahead"]
    assert ax.get_xlim() == (0.5, 3.5)
    many = ByQueryDisplay({q: float(q) for q in range(3000)}, dict.fromkeys(range(3000), 1500.0), ("x", "y"), "ndcg")
    many.plot(ax=Figure().add_subplot())
    outline = many.areas_[0].get_paths()[0].vertices
    assert len(outline) < 3000
    assert (outline[:, 1].max(), many.areas_[1].get_paths()[0].vertices[:, 1].min()) == (1499.0, -1500.0)
    with pytest.raises(ValueError, match="no query"):
        ByQueryDisplay({"a": np.nan}, {"a": 1.0}, ("x", "y"), "ndcg")
