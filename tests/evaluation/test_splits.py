from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import wellorder as wo
from wellorder.evaluation.splits import comparison_folds, folds, hold_outs
from wellorder.samples import take


def test_strata_of_times_are_in_every_fold_and_their_rows_are_the_units_of_tests():
    rng = np.random.default_rng(0)
    stratum = np.repeat([0, 1], [60, 30])
    times = wo.Times(rng.exponential(1.0, 90), rng.random(90) < 0.7, groups=stratum)
    for split in folds(times, n_folds=5):
        np.testing.assert_array_equal(np.bincount(stratum[split.test]), [12, 6])
    found = wo.metrics.paired_test(times, rng.standard_normal(90), rng.standard_normal(90), metric="concordance")
    assert (found.unit, found.n_units) == ("rows", len(times.pairs.active))
    assert len(wo.cross_validate(wo.RankSVM(), rng.standard_normal((90, 2)), times)["swapped_pairs"]) == 5
    # rows that are kept apart for early stopping, too: of two strata no fraction would leave whole ones
    wo.OrderBoost(n_estimators=5, n_iter_no_change=2, random_state=0).fit(rng.standard_normal((90, 2)), times)


def test_small_strata_of_times_stay_whole():
    rng = np.random.default_rng(0)
    matched = np.repeat(np.arange(30), 3)
    times = wo.Times(rng.exponential(1.0, 90), rng.random(90) < 0.7, groups=matched)
    for split in folds(times, n_folds=5):
        assert not set(matched[split.train]) & set(matched[split.test])
    part = wo.Times(rng.exponential(1.0, 90), rng.random(90) < 0.7, groups=np.repeat([0, 1], 45)).take(
        np.arange(40, 50)
    )
    assert part.lists is None  # what was decided for all rows holds for a part


def pair_counts(y, splits, groups=None):
    part = lambda rows: wo.Grades(y[rows], None if groups is None else groups[rows])  # noqa: E731
    return [(part(split.train).pairs.n_pairs, part(split.test).pairs.n_pairs) for split in splits]


def assert_same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert (a.repeat, a.fold) == (b.repeat, b.fold)
        np.testing.assert_array_equal(a.train, b.train)
        np.testing.assert_array_equal(a.test, b.test)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([2, 5, 60]))
def test_rows_are_cut_into_folds_with_every_level_spread(seed, n_folds, n_levels):
    rng = np.random.default_rng(seed)
    y = np.append(rng.integers(0, n_levels, rng.integers(60, 90)), [0, 0, 1, 1])
    splits = list(folds(y, n_folds=n_folds, n_repeats=2, seed=seed))
    assert [(split.repeat, split.fold) for split in splits] == [(r, k) for r in range(2) for k in range(n_folds)]
    for repeat in range(2):
        tests = [split.test for split in splits[repeat * n_folds : (repeat + 1) * n_folds]]
        np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(y)))
        assert np.ptp([len(test) for test in tests]) <= 1
        if n_levels <= 5:
            counts = np.array([np.bincount(y[test], minlength=n_levels) for test in tests])
            assert np.ptp(counts, axis=0).max() <= 1
    for split in splits:
        np.testing.assert_array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(len(y)))


def test_many_grades_are_spread_by_quantile():
    y = np.random.default_rng(0).random(1_000)
    medians = [np.median(y[split.test]) for split in folds(y, n_folds=5)]
    deciles = [np.histogram(y[split.test], np.quantile(y, np.linspace(0, 1, 11)))[0] for split in folds(y, n_folds=5)]
    assert np.ptp(medians) < 0.05
    assert np.ptp(deciles, axis=0).max() <= 1
    one, two = (split.test.tolist() for split in folds(y, n_folds=5, n_repeats=2) if split.fold == 0)
    assert len(set(one) & set(two)) < 80  # shuffled within the quantiles: about 40 of 200 by chance


def test_few_rows_with_a_grade_each_still_change_from_repeat_to_repeat():
    y = np.arange(12)
    cuts = {
        frozenset(
            frozenset(split.test.tolist()) for split in folds(y, n_folds=3, n_repeats=8) if split.repeat == repeat
        )
        for repeat in range(8)
    }
    assert len(cuts) > 4


def test_same_seed_same_bits_and_more_repeats_change_nothing():
    y = np.random.default_rng(0).integers(0, 4, 100)
    groups = np.random.default_rng(1).integers(0, 20, 100)
    games = wo.Comparisons(groups, (groups + 1 + y) % 30, np.ones(100))
    for cut in (
        lambda **options: folds(y, **options),
        lambda **options: folds(y, groups, **options),
        lambda **options: comparison_folds(games, **options),
        lambda **options: hold_outs(y, n_train=30, n_test=20, **options),
    ):
        few, many = list(cut(n_repeats=2, seed=7)), list(cut(n_repeats=5, seed=7))
        assert_same(few, many[: len(few)])
        assert many[0].test.tolist() != next(iter(cut(n_repeats=2, seed=8))).test.tolist()
        first_of_second = next(split for split in few if split.repeat == 1)
        assert few[0].test.tolist() != first_of_second.test.tolist()


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_groups_stay_together_and_every_fold_has_a_pair(seed, n_folds):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 15, 30)
    names = np.array([f"query {number}" for number in rng.permutation(30)], dtype=object)
    groups = rng.permutation(np.repeat(names, sizes))
    y = rng.integers(0, 3, len(groups)).astype(float)
    splits = list(folds(y, groups, n_folds=n_folds, seed=seed))
    for split in splits:
        assert not set(groups[split.train]) & set(groups[split.test])
    np.testing.assert_array_equal(np.sort(np.concatenate([split.test for split in splits])), np.arange(len(y)))
    assert np.ptp([len(split.test) for split in splits]) <= 2 * sizes.max()
    assert min(min(counts) for counts in pair_counts(y, splits, groups)) > 0


def test_what_group_ids_look_like_does_not_matter():
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 3, 80), rng.integers(0, 12, 80)
    expected = list(folds(y, groups, n_folds=4))
    for ids in (
        groups.tolist(),
        -groups,
        [f"{100 - number}" for number in groups],
        [(number, "x") for number in groups],
    ):
        assert_same(list(folds(y, ids, n_folds=4)), expected)


def test_rare_groups_with_a_pair_are_spread():
    sizes = np.append(np.random.default_rng(0).integers(1, 12, 36), [2, 2, 2, 2])  # a pair in the last four only
    groups = np.repeat(np.arange(40), sizes)
    y = np.append(np.zeros(len(groups) - 8), [0, 1] * 4)
    for seed in range(5):
        assert all(test > 0 for _, test in pair_counts(y, list(folds(y, groups, n_folds=4, seed=seed)), groups))


def test_a_large_group_does_not_upset_the_balance():
    groups = np.concatenate([np.repeat(np.arange(80), 5), np.full(100, 99)])
    y = np.arange(500) % 3
    for seed in range(10):
        assert np.ptp([len(split.test) for split in folds(y, groups, n_folds=5, seed=seed)]) <= 5


def test_unjudged_rows():
    y = np.where(np.arange(40) % 4 == 0, np.nan, np.arange(40) % 3)
    unjudged = np.flatnonzero(np.isnan(y))
    for split in folds(y, n_folds=4):
        assert not np.isin(unjudged, split.test).any()
        assert np.isin(unjudged, split.train).all()
    groups = np.arange(40) // 5
    for split in folds(y, groups, n_folds=4):
        assert len(split.test) == 10  # two groups, unjudged rows and all
    for split in hold_outs(y, n_train=10, n_test=20):
        assert not np.isnan(y[split.train]).any()
        assert not np.isnan(y[split.test]).any()


def test_text_grades_through_grades_with_levels():
    y = np.array(["good", "poor", "fair"] * 10)
    grades = wo.Grades(y, levels=["poor", "fair", "good"])
    for split in folds(grades, n_folds=5):
        assert sorted(y[split.test]) == ["fair", "fair", "good", "good", "poor", "poor"]
    assert_same(list(folds(grades)), list(folds(np.array([2, 0, 1] * 10))))
    with pytest.raises(ValueError, match="levels="):
        list(folds(y))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: folds([0, 1, 0, 1], ["a", "a", "b", "b"], n_folds=3), "2 groups, too few for 3 folds"),
        (lambda: folds([0, 1, np.nan], n_folds=3), "2 judged rows, too few for 3 folds; ask for at most 2 folds"),
        (lambda: folds([0, np.nan], n_folds=3), "there is 1 judged rows, too few for 3 folds; no folds can be made"),
        (lambda: folds([0, 1, 2], n_folds=1), "at least 2"),
        (lambda: folds([0, 1, 2], n_folds=2, n_repeats=0), "n_repeats"),
        (lambda: folds([0, 0, 0, 1], n_folds=2), "no pair to learn from in the training part of fold"),
        (lambda: folds([0, 1, 0, 0], ["a", "a", "b", "b"], n_folds=2), "no pair to learn from"),
        (lambda: folds(wo.Grades([0, 1, 2]), [0, 1, 2], n_folds=2), "groups was passed beside"),
        (lambda: comparison_folds(wo.Comparisons([0, 1], [1, 0], [1, 1]), n_folds=2), "1 pairs of items"),
        (lambda: comparison_folds(wo.Comparisons([0, 1], [1, 2], [1, 0]), n_folds=2), "no pair to learn from"),
        (lambda: hold_outs([0, 1, 2], n_train=2, n_test=2), "at most 3 together"),
        (lambda: hold_outs([0, 1, 2], n_train=3), "at least 1"),
        (lambda: hold_outs([0, 0, 0], n_train=2, n_test=1), "no pair to learn from"),
        (lambda: hold_outs(wo.Grades([0, 1], groups=[0, 1]), n_train=1, n_test=1), "groups apart"),
    ],
)
def test_clear_errors(call, match):
    with pytest.raises(ValueError, match=match):
        list(call())


def test_rows_and_comparisons_are_not_mixed_up():
    with pytest.raises(TypeError, match="comparison_folds"):
        list(folds(wo.Comparisons([0], [1], [1])))
    with pytest.raises(TypeError, match="Comparisons"):
        list(comparison_folds(np.arange(5)))


def test_rematches_stay_together():
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 8, (2, 300))
    keep = left != right
    left, right = left[keep], right[keep]
    games = wo.Comparisons(left, right, rng.integers(-1, 2, len(left)))
    couple = np.minimum(left, right) * 8 + np.maximum(left, right)
    splits = list(comparison_folds(games, n_folds=4, n_repeats=2))
    for split in splits:
        assert not set(couple[split.train]) & set(couple[split.test])
    assert np.ptp([len(split.test) for split in splits]) <= np.bincount(couple).max()
    np.testing.assert_array_equal(np.sort(np.concatenate([s.test for s in splits[:4]])), np.arange(len(left)))


def test_hold_outs_have_the_sizes_asked_for():
    y = np.arange(50)
    splits = list(hold_outs(y, n_train=20, n_test=10, n_repeats=30))
    assert {(len(split.train), len(split.test)) for split in splits} == {(20, 10)}
    assert all(not set(split.train) & set(split.test) for split in splits)
    assert len(np.unique(np.concatenate([split.test for split in splits]))) == 50
    assert [len(split.test) for split in hold_outs(y, n_train=20)] == [30]
    assert [split.repeat for split in splits] == list(range(30))


def test_take():
    rows = np.array([2, 0])
    X = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(take(X, rows), X[rows])
    np.testing.assert_array_equal(take(sp.coo_array(X), rows).toarray(), X[rows])
    np.testing.assert_array_equal(take(pd.DataFrame(X, index=list("abc")), rows), X[rows])
    np.testing.assert_array_equal(take(pl.DataFrame(X), rows), X[rows])
    assert take(["a", "b", "c"], rows) == ["c", "a"]
    assert take(None, rows) is None
    grades = wo.Grades([0, 1, 2], groups=["a", "b", "b"], weights=[1, 2, 3])
    assert grades.pairs.n_pairs == 1
    part = grades.take(np.array([2, 1]))
    assert (part.levels, part.n_groups, part.weight.tolist()) == ((0, 1, 2), 1, [3.0, 2.0])
    assert (part.pairs.n_pairs, part.pairs.total) == (1, 6.0)
    assert grades.pairs.total == 6.0
    games = wo.Comparisons([0, 1, 2], [1, 2, 0], [1, 0, -1], [1, 2, 3]).take(rows)
    assert (games.left.tolist(), games.outcome.tolist(), games.weight.tolist()) == ([2, 0], [-1, 1], [3.0, 1.0])
