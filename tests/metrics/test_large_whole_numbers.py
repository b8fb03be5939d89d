"""Whole numbers beyond 2^53, unsigned and short ones: as scores, grades, differences and outcomes."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder import aggregation, metrics
from wellorder.data.writers import score_frame
from wellorder.evaluation import by_query
from wellorder.metrics.comparisons import missed_comparisons, swapped_comparisons, tie_auc
from wellorder.order import check_scores

LARGE = {
    "int64": np.array([2**53 + 1, 2**53, 2**53 + 3, 2**53 + 2]),
    "below zero": np.array([-(2**62) + 1, -(2**62), -(2**62) + 3, -(2**62) + 2]),
    "uint64": np.array([2**64 - 3, 2**64 - 4, 2**64 - 1, 2**64 - 2], dtype=np.uint64),
    "list": [2**53 + 1, 2**53, 2**53 + 3, 2**53 + 2],
    "both signs": [2**63 + 1, -5, 2**63 + 3, 2**63 + 2],
    "beyond 64 bits": [10**400 + 1, 10**400, 10**400 + 3, 10**400 + 2],
    "among floats": [2**53 + 1, 0.5, float("inf"), 2**53 + 2],
    "objects": np.array([2**70 + 1, 2**70, 2**70 + 3, 2**70 + 2], dtype=object),
}
"""Four numbers of the order 1, 0, 3, 2, that floats cannot all tell apart."""


@pytest.mark.parametrize("name", LARGE)
def test_scores_keep_their_order(name, form):
    small = np.array([1.0, 0.0, 3.0, 2.0])
    assert np.argsort(check_scores(LARGE[name], 4)).tolist() == [1, 0, 3, 2]
    for y in ([0, 0, 1, 1], [0, 1, 2, 3], [3, 1, 0, 2]):
        for definition in metrics.METRICS.values():
            measure = metrics.Metric(definition, 2 if definition.needs_cutoff else None)
            assert measure(y, LARGE[name]) == measure(y, small), measure
        assert metrics.order_error_rates(y, LARGE[name]) == metrics.order_error_rates(y, small)


def test_equal_ones_are_ties_and_one_column_is_enough():
    assert metrics.swapped_pairs([0, 1], [2**60 + 1, 2**60 + 1]) == 1.0
    assert metrics.swapped_pairs([0, 1], np.array([[2**60], [2**60 + 1]])) == 0.0
    with pytest.raises(ValueError, match="the score of row 1 is NaN"):
        metrics.swapped_pairs([0, 1], [2**60, float("nan")])
    with pytest.raises(ValueError, match="the score of row 0 is NaN"):
        metrics.swapped_pairs([0, 1], [None, 2**60])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32, bool])
def test_scores_of_any_type(dtype):
    assert metrics.swapped_pairs([0, 1, 1, 0], np.array([0, 1, 0, 1], dtype=dtype), ties="half") == 0.5


@pytest.mark.parametrize("name", ["int64", "uint64", "list", "beyond 64 bits"])
def test_other_readers_of_scores(name):
    scores = LARGE[name]
    assert by_query("swapped_pairs", [1, 0, 3, 2], scores, ["a", "a", "b", "b"]) == {"a": 0.0, "b": 0.0}
    table = np.array([scores, scores], dtype=object).T
    assert np.argsort(aggregation.borda(table)).tolist() == [1, 0, 3, 2]


def test_ranks_of_written_scores(tmp_path):
    path = tmp_path / "wines.csv"
    path.write_text("name,ph\nPinot,3.1\nMerlot,3.4\n")
    frame = score_frame(wo.read(path, item="name"), np.array([2**53, 2**53 + 1]))
    assert frame["rank"].to_list() == [2, 1]
    assert frame["score"].to_list() == [2.0**53, 2.0**53]


@pytest.mark.parametrize(
    "y",
    [
        np.array([2**53, 2**53 + 1, 2**53 + 3]),
        np.array([2**64 - 4, 2**64 - 3, 2**64 - 1], dtype=np.uint64),
        [2**70, 2**70 + 1, 2**70 + 3],
        np.array([0, 1, 3], dtype="datetime64[ns]") + np.timedelta64(2**60, "ns"),
        np.array([0, 1, 3], dtype="datetime64[us]") + np.timedelta64(2**59, "us"),
    ],
)
def test_grades_keep_their_order(y):
    assert wo.Grades(y).level.tolist() == [0, 1, 2]
    assert metrics.swapped_pairs(y, [0, 1, 2]) == 0.0
    assert metrics.swapped_pairs(y, [1, 0, 2]) == pytest.approx(1 / 3)


def test_costs_and_relevance_of_large_grades():
    y = [2**60, 2**60 + 1, 2**60 + 3]
    assert metrics.misranking_cost(y, [2, 1, 0], "linear") == pytest.approx((1 + 2 + 3) / 3)
    assert metrics.precision_at(y, [2, 1, 0], k=1, positive=2**60 + 2) == 0.0
    assert metrics.precision_at(y, [0, 1, 2], k=1, positive=2**60 + 2) == 1.0


def test_differences_keep_their_size():
    large = np.array([2**53 + 1, 2**53])
    assert metrics.comparison_auc([1, 0], large) == 1.0
    assert metrics.comparison_auc([0, 1], large) == 0.0
    assert metrics.comparison_auc([1, 0], large.tolist()) == 1.0
    assert metrics.comparison_auc([-1, 0], np.array([np.iinfo(np.int64).min, 5])) == 1.0
    assert metrics.comparison_auc([-1, 0], np.array([-128, 5], dtype=np.int8)) == 1.0
    assert metrics.comparison_roc([1, 0], large).tpr.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int8])
def test_differences_of_short_and_unsigned_scores_do_not_wrap(dtype):
    games = wo.Comparisons([0, 1, 2], [1, 2, 0], [-1, -1, 1])
    scores = np.array([100, 50, 0], dtype=dtype)
    assert swapped_comparisons(games, scores) == 0.0
    assert missed_comparisons(games, scores) == 0.0
    assert missed_comparisons(games, scores, threshold=60.0) == pytest.approx(2 / 3)
    tied = wo.Comparisons([0, 1, 2], [1, 2, 0], [0, -1, 1])
    assert tie_auc(tied, scores) == tie_auc(tied, scores.astype(float))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
def test_outcomes_without_a_sign(dtype):
    assert wo.Comparisons([0, 1], [1, 0], np.array([1, 0], dtype=dtype)).outcome.tolist() == [1, 0]
    assert metrics.comparison_error(np.array([1, 0], dtype=dtype), np.array([1, 1], dtype=dtype)) == 0.5
    wrapped = np.array([1, -1]).astype(dtype)
    for use in (lambda: wo.Comparisons([0, 1], [1, 0], wrapped), lambda: metrics.comparison_error([1, -1], wrapped)):
        with pytest.raises(ValueError, match=f"comparison 1 has the outcome {wrapped[1]}"):
            use()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint64])
def test_row_numbers_of_any_type(dtype):
    items = np.arange(12.0)[:, None]
    left, right = np.array([0, 1, 2], dtype=dtype), np.array([3, 4, 5])
    model = wo.CompareSVM().fit(wo.Pairs(items, left, right), [1, 1, 0])
    expected = model.compare(wo.Pairs(items, left.astype(int), right))
    assert model.compare(wo.Pairs(items, left, right)).tolist() == expected.tolist()
    assert wo.Comparisons(left, right, [1, 1, 0]).left.tolist() == [0, 1, 2]


def test_row_numbers_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"left\[1\] is 18446744073709551615"):
        wo.Comparisons(np.array([0, 2**64 - 1], dtype=np.uint64), [1, 2], [1, 1])


@pytest.mark.parametrize("weight", [1e-300, 1e300, 1e308])
def test_comparisons_of_any_weight(weight):
    y, wrong = [1, 0, -1, 1], [1, 1, -1, -1]
    P = [[0.0, 0.0, 1.0], [0.2, 0.5, 0.3], [0.7, 0.2, 0.1], [0.3, 0.3, 0.4]]
    given = [np.array([1.0, 1.0, 1.0, 0.5]) * weight]
    usual = [np.array([2.0, 2.0, 2.0, 1.0])]
    assert metrics.comparison_error(y, wrong, *given) == pytest.approx(metrics.comparison_error(y, wrong, *usual))
    assert metrics.comparison_brier(y, P, *given) == pytest.approx(metrics.comparison_brier(y, P, *usual))
    assert metrics.comparison_log_loss(y, P, *given) == pytest.approx(metrics.comparison_log_loss(y, P, *usual))


def test_each_bin_of_a_reliability_curve_has_its_own_means():
    P = [[0.001, 0.009, 0.99], [0.003, 0.007, 0.99], [0.5, 0.5, 0.0]]
    weight = [1e-300, 3e-300, 1e300]
    predicted, observed, total = metrics.comparison_reliability([-1, 1, 0], P, outcome=-1, sample_weight=weight)
    assert predicted.tolist() == pytest.approx([0.0025, 0.5])
    assert observed.tolist() == pytest.approx([0.25, 0.0])
    assert total.tolist() == pytest.approx([4e-300, 1e300], rel=1e-12, abs=0)


def test_swapped_comparisons_of_any_weight():
    games = wo.Comparisons([0, 0, 1], [1, 2, 2], [1, 1, 1], [1e-300, 1e300, 1e300])
    assert swapped_comparisons(games, np.array([1.0, 0.0, 2.0])) == pytest.approx(0.0, abs=1e-320)
    light = wo.Comparisons([0, 0], [1, 2], [1, 1], [1e-200, 1.0])
    assert swapped_comparisons(light, np.array([1.0, 0.0, 2.0])) == pytest.approx(1e-200, rel=1e-12, abs=0)
