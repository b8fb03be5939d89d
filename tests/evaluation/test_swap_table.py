from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import wellorder as wo
from wellorder.evaluation.judging import (
    bin_grades,
    comparison_roc_curve,
    judge_grades,
    ndcg_curve,
    pool_swaps,
    swap_table,
)
from wellorder.evaluation.records import SwapTable
from wellorder.metrics import comparison_roc, ndcg, order_error_rates

rows = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 2.5, 7.0, np.nan]), st.integers(-3, 3), st.sampled_from("ab")), min_size=1
)


def brute_force(grade, score, group):
    """Count every pair, one by one."""
    levels = sorted({g for g in grade if g == g})
    swapped = {(a, b): 0 for a in levels for b in levels if a < b}
    total = dict(swapped)
    for i in range(len(grade)):
        for j in range(len(grade)):
            if grade[i] < grade[j] and group[i] == group[j]:
                total[grade[i], grade[j]] += 1
                swapped[grade[i], grade[j]] += score[i] >= score[j]
    return levels, swapped, total


@given(rows)
def test_counts_are_those_of_every_pair(data):
    grade, score, group = (np.array(column) for column in zip(*data, strict=True))
    assume(not np.isnan(grade).all())
    table = swap_table(grade, score, group)
    levels, swapped, total = brute_force(grade.tolist(), score.tolist(), group.tolist())
    assert table.levels == tuple(f"{level:g}" for level in levels)
    for (low, high), count in total.items():
        a, b = levels.index(low), levels.index(high)
        assert table.total[a][b] == count
        assert table.swapped[a][b] == swapped[low, high]
        assert table.total[b][a] == 0


def test_rates_are_the_order_error_rates_also_with_weights():
    rng = np.random.default_rng(0)
    y, scores, groups = rng.integers(0, 9, 300), rng.integers(0, 20, 300), rng.integers(0, 7, 300)
    weights = rng.random(300)
    for grades in (wo.Grades(y, groups), wo.Grades(y, groups, weights=weights)):
        table = swap_table(grades, scores)
        rates = order_error_rates(grades, scores)
        assert len(rates) == 36
        for (low, high), rate in rates.items():
            assert table.swapped[low][high] / table.total[low][high] == pytest.approx(rate, abs=1e-12)
    mass = weights[(y == 2)][:, None] * weights[(y == 5)][None, :] * (groups[y == 2][:, None] == groups[y == 5])
    assert table.total[2][5] == pytest.approx(mass.sum())


def test_text_levels_keep_their_order_and_their_empty_places():
    grades = wo.Grades(["good", "poor", "good"], levels=["poor", "fair", "good"])
    table = swap_table(grades, [1.0, 2.0, 3.0])
    assert table.levels == ("poor", "fair", "good")
    assert (table.total[0][2], table.swapped[0][2], table.total[0][1]) == (2, 1, 0)


def test_many_grades_become_bins_of_equal_size():
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(600) / 10)
    bins = bin_grades(y)
    assert bins.labels[0] == "0 to 9.9"
    assert np.bincount(bins.level).tolist() == [100] * 6
    assert (np.diff(bins.level[np.argsort(y)]) >= 0).all()
    assert bin_grades(np.arange(322) + 25, most=4).labels == ("25 to 104", "105 to 185", "186 to 265", "266 to 346")
    assert len(bin_grades(np.arange(10)).labels) == 10  # few enough to be shown as they are


def test_a_grade_that_most_rows_have_is_one_bin_and_none_is_split():
    y = np.concatenate([np.zeros(900), np.arange(1, 101)])
    bins = bin_grades(y)
    assert 2 <= len(bins.labels) <= 6
    assert set(bins.level[y == 0]) == {0}
    assert bins.level.max() == len(bins.labels) - 1


def test_rows_without_a_grade_are_in_no_bin():
    y = np.append(np.arange(50.0), [np.nan, np.nan])
    bins = bin_grades(y)
    assert bins.level[-2:].tolist() == [-1, -1]
    assert len(bins.take(np.array([0, 51]))) == 2
    table = swap_table(bins, np.arange(52.0))
    assert sum(map(sum, table.swapped)) == 0
    assert sum(map(sum, table.total)) > 0


def test_parts_with_common_bins_add_up_to_the_whole():
    rng = np.random.default_rng(2)
    y, scores = rng.random(400), rng.random(400)
    fold = rng.integers(0, 4, 400)
    bins = bin_grades(y)
    pooled = pool_swaps(swap_table(bins.take(fold == k), scores[fold == k]) for k in range(4))
    whole = swap_table(bins, scores, fold)
    assert pooled == whole


def test_pooling_merges_levels_that_some_parts_lack():
    pooled = pool_swaps([swap_table([9, 10], [0, 1]), swap_table([2, 10], [1, 0])])
    assert pooled.levels == ("2", "9", "10")  # as numbers, not as text
    assert pooled.swapped[0][2] == 1
    assert pooled.total[1][2] == 1
    one, two = SwapTable(("a", "c"), ((0, 1), (0, 0)), ((0, 2), (0, 0))), None
    two = SwapTable(("a", "b", "c"), ((0,) * 3,) * 3, ((0, 1, 1), (0, 0, 1), (0, 0, 0)))
    assert pool_swaps([one, two]).levels == ("a", "b", "c")
    assert pool_swaps([one, two]).total[0][2] == 3


def test_pooling_bins_of_different_edges_goes_by_place():
    rng = np.random.default_rng(3)
    parts = [swap_table(rng.random(80), rng.random(80)) for _ in range(3)]
    assert len({part.levels for part in parts}) == 3
    pooled = pool_swaps(parts)
    assert pooled.levels == parts[0].levels
    assert pooled.total[0][1] == sum(part.total[0][1] for part in parts)


def test_levels_in_contradicting_order_do_not_break_pooling():
    table = ((0.0, 1.0), (0.0, 0.0))
    pooled = pool_swaps([SwapTable(("a", "b"), table, table), SwapTable(("b", "a"), table, table)])
    assert pooled.total[0][1] == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bin_grades([1, 2], most=1), "most=1"),
        (lambda: pool_swaps([]), "no table"),
        (lambda: swap_table(wo.Grades([1, 2]), [1, 2], groups=[1, 1]), "groups was passed beside"),
        (lambda: ndcg_curve([1, 0], [1, 0], k=0), "k=0"),
        (lambda: comparison_roc_curve([1, 1], [1, 2]), "at least one tie"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_ndcg_curve_is_the_metric_at_each_cutoff():
    rng = np.random.default_rng(4)
    y, scores, groups = rng.integers(0, 4, 200), rng.standard_normal(200), rng.integers(0, 30, 200)
    curve = ndcg_curve(y, scores, groups, k=5)
    assert (curve.kind, curve.x) == ("ndcg", (1, 2, 3, 4, 5))
    assert curve.y == tuple(ndcg(y, scores, groups, k=k) for k in range(1, 6))
    assert ndcg_curve([0, 1, 2], [1, 2, 3], k=10).x == (1, 2, 3)  # no list is longer


def test_a_long_roc_is_thinned_and_keeps_its_shape():
    rng = np.random.default_rng(5)
    outcome = rng.integers(-1, 2, 20_000)
    d = outcome + rng.standard_normal(20_000)
    curve, roc = comparison_roc_curve(outcome, d), comparison_roc(outcome, d)
    assert len(curve.x) <= 200 < len(roc.fpr)
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, roc.tpr[-1])
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(np.trapezoid(roc.tpr, roc.fpr), abs=2e-3)


def test_row_weights_count_in_bins_as_in_the_metric():
    rng = np.random.default_rng(4)
    y, scores, weights = rng.random(60), rng.standard_normal(60), rng.integers(0, 4, 60).astype(float)
    grades = wo.Grades(y, np.arange(60) % 3, weights=weights)
    bins = bin_grades(grades)
    table = judge_grades(grades, scores, ("swapped_pairs",), bins).swaps
    assert table == judge_grades(grades, scores, ("swapped_pairs",)).swaps
    rows = [(i, j) for i in range(60) for j in range(60) if i % 3 == j % 3]
    for low in range(6):
        for high in range(low + 1, 6):
            pairs = [(i, j) for i, j in rows if (bins.level[i], bins.level[j]) == (low, high)]
            total = sum(weights[i] * weights[j] for i, j in pairs)
            swapped = sum(weights[i] * weights[j] for i, j in pairs if scores[i] >= scores[j])
            assert table.total[low][high] == pytest.approx(total)
            assert table.swapped[low][high] == pytest.approx(swapped)
    few = wo.Grades(np.digitize(y, [0.5]), weights=weights)
    judged = judge_grades(few, scores, ("swapped_pairs",), bin_grades(few))
    share = judged.swaps.swapped[0][1] / judged.swaps.total[0][1]
    assert share == pytest.approx(judged.metrics["swapped_pairs"])  # the table beside the metric says the same
