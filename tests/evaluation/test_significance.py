from __future__ import annotations

import itertools
import math
import warnings

import baycomp
import numpy as np
import pytest
import scikit_posthocs
from scipy import stats
from statsmodels.stats.multitest import multipletests

from wellorder.evaluation import significance
from wellorder.evaluation.significance import (
    corrected_resampled_test,
    critical_difference,
    friedman,
    holm,
    mean_interval,
    nemenyi,
)

DIFFERENCES = np.random.default_rng(0).normal(0.02, 0.03, 15)


def test_by_hand():
    # mean 2, s² = 1, k = 3, n_test/n_train = 1/3: variance 1/3 + 1/3, so t = 2/√(2/3) with 2 degrees of freedom
    result = corrected_resampled_test([1.0, 2.0, 3.0], test_share=1 / 3)
    t = np.sqrt(6.0)
    assert result.statistic == pytest.approx(t)
    assert result.p_value == pytest.approx(1 - t / np.sqrt(2 + t**2))  # Student's tail with 2 degrees, in closed form
    reach = 4.302652729911275 * np.sqrt(2 / 3)
    assert (result.low, result.high) == pytest.approx((2 - reach, 2 + reach))
    assert (result.mean, result.n_splits, result.confidence) == (2.0, 3, 0.95)


@pytest.mark.parametrize("n_folds", [5, 10])
def test_tails_of_baycomps_correlated_t_test(n_folds):
    differences = DIFFERENCES[:10]
    result = corrected_resampled_test(differences, test_share=1 / (n_folds - 1))
    runs = len(differences) // n_folds
    left, _, right = baycomp.CorrelatedTTest.probs(np.zeros(10), differences, rope=1e-12, runs=runs)
    assert result.p_value == pytest.approx(2 * min(left, right), rel=1e-6)


def test_without_correction_it_is_the_t_test():
    result = corrected_resampled_test(DIFFERENCES, test_share=1e-14)
    oracle = stats.ttest_1samp(DIFFERENCES, 0.0)
    assert (result.statistic, result.p_value) == pytest.approx((oracle.statistic, oracle.pvalue))
    assert (result.low, result.high) == pytest.approx(tuple(oracle.confidence_interval(0.95)))


def test_the_interval_meets_zero_at_the_p_value():
    p = corrected_resampled_test(DIFFERENCES, 0.2).p_value
    assert corrected_resampled_test(DIFFERENCES, 0.2, confidence=1 - p).low == pytest.approx(0.0, abs=1e-12)


def test_it_holds_its_level_where_the_plain_t_test_does_not():
    # results of splits that share training rows: each is a common part plus a part of its own, correlation 0.2
    rng = np.random.default_rng(1)
    common, own = rng.standard_normal((2000, 1)), rng.standard_normal((2000, 10))
    draws = np.sqrt(0.2) * common + np.sqrt(0.8) * own
    ours = np.mean([corrected_resampled_test(row, test_share=0.25).p_value < 0.05 for row in draws])
    assert ours == pytest.approx(0.05, abs=0.015)
    assert np.mean(stats.ttest_1samp(draws, 0.0, axis=1).pvalue < 0.05) > 0.2


@pytest.mark.parametrize(
    ("differences", "p_value", "low", "high"),
    [
        ([0.0, 0.0, 0.0], 1.0, 0.0, 0.0),
        ([0.1, 0.1, 0.1], 0.25, 0.1, 0.1),
        ([-0.1] * 11, 2**-10, -0.1, -0.1),
        ([0.1, 0.1], np.nan, 0.1, 0.1),
        ([0.0, 0.0], 1.0, 0.0, 0.0),
        ([0.0], 1.0, np.nan, np.nan),
        ([0.3], np.nan, np.nan, np.nan),
        ([], np.nan, np.nan, np.nan),
    ],
)
def test_degenerate_splits(differences, p_value, low, high):
    result = corrected_resampled_test(differences, 0.2)
    np.testing.assert_allclose((result.p_value, result.low, result.high), (p_value, low, high), atol=1e-15)


@pytest.mark.parametrize("function", [lambda v: corrected_resampled_test(v, 0.2), lambda v: mean_interval(v, 80, 20)])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_splits_without_a_result_are_an_error(function, bad):
    with pytest.raises(ValueError, match="split 1"):
        function([0.1, bad, 0.2])


@pytest.mark.parametrize("share", [0.0, -0.1, np.inf, np.nan])
def test_bad_share(share):
    with pytest.raises(ValueError, match="test_share"):
        corrected_resampled_test([0.1, 0.2], share)


def test_bad_sizes_and_confidence():
    with pytest.raises(ValueError, match="positive"):
        mean_interval([0.1, 0.2], 0, 20)
    with pytest.raises(ValueError, match="confidence"):
        mean_interval([0.1, 0.2], 80, 20, confidence=95)
    with pytest.raises(ValueError, match="shape"):
        mean_interval([[0.1, 0.2]], 80, 20)


@pytest.mark.parametrize(("n_train", "n_test"), [(1, 1), (0.5, 0.25), (3, 0.5)])
def test_rows_of_the_parts_may_be_few_or_shares(n_train, n_test):
    found = mean_interval([1.0, 2.0, 4.0], n_train, n_test)
    reach = stats.t.isf(0.025, 2) * np.sqrt((1 / 3 + n_test / n_train) * np.var([1.0, 2.0, 4.0], ddof=1))
    assert (found.low, found.high) == pytest.approx((7 / 3 - reach, 7 / 3 + reach))
    for bad in ((0, n_test), (n_train, 0), (-1, n_test), (n_train, -1)):
        with pytest.raises(ValueError, match="must be positive"):
            mean_interval([1.0, 2.0, 4.0], *bad)


def test_mean_interval_is_the_tests_interval():
    values = 0.3 + DIFFERENCES
    interval, test = mean_interval(values, 80, 20, confidence=0.9), corrected_resampled_test(values, 0.25, 0.9)
    assert (interval.mean, interval.low, interval.high) == pytest.approx((test.mean, test.low, test.high))
    assert str(mean_interval([0.5], 80, 20)) == "0.5 (nan to nan)"


def test_holm_against_statsmodels():
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 7, 20):
        p_values = np.round(rng.random(n) ** 3, rng.integers(1, 4))  # with zeros and ties
        np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1], rtol=1e-12, atol=0)


def test_holm_leaves_out_tests_that_were_not_made():
    np.testing.assert_allclose(holm([0.01, np.nan, 0.04, 0.03]), [0.03, np.nan, 0.06, 0.06])
    assert holm([]).shape == (0,)
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, 1.5])


def tables():
    rng = np.random.default_rng(2)
    smooth = rng.random((9, 4)) + np.linspace(0, 0.3, 4)
    return [smooth, np.round(4 * smooth) / 4, rng.random((5, 3)), np.round(rng.random((20, 6)), 1)]


@pytest.mark.parametrize("table", tables())
def test_friedman_against_scipy(table):
    result = friedman(table)
    oracle = stats.friedmanchisquare(*table.T)
    assert (result.statistic, result.p_value) == pytest.approx((oracle.statistic, oracle.pvalue))
    assert result.mean_ranks == pytest.approx(stats.rankdata(-table, axis=1).mean(axis=0))
    turned = friedman(table, greater_is_better=False)
    assert np.add(turned.mean_ranks, result.mean_ranks) == pytest.approx(table.shape[1] + 1)
    assert turned.statistic == pytest.approx(result.statistic)


@pytest.mark.parametrize("table", [tables()[0], tables()[2]])
def test_iman_and_davenport_is_an_analysis_of_variance_of_the_ranks(table):
    # F of the methods in the two-way layout sets × methods, computed on the ranks
    rank = stats.rankdata(table, axis=1)
    n, k = rank.shape
    between = n * ((rank.mean(axis=0) - rank.mean()) ** 2).sum() / (k - 1)
    rest = ((rank - rank.mean(axis=0)) ** 2).sum() / ((n - 1) * (k - 1))
    result = friedman(table)
    assert result.f_statistic == pytest.approx(between / rest)
    assert result.f_p_value == pytest.approx(stats.f.sf(between / rest, k - 1, (n - 1) * (k - 1)))


@pytest.mark.parametrize("round_to", [None, 0])
@pytest.mark.parametrize(("n", "k"), [(2, 2), (2, 3), (3, 3), (2, 4), (4, 3)])
def test_friedmans_p_value_counts_the_orders_that_the_sets_could_have(n, k, round_to):
    rng = np.random.default_rng(10 * n + k)
    table = rng.random((n, k)) + np.linspace(0, 0.5, k)
    table = table if round_to is None else np.round(3 * table, round_to)  # with ties
    found = friedman(table)
    ways = [
        friedman([row[list(order)] for row, order in zip(table, orders, strict=True)]).statistic
        for orders in itertools.product(itertools.permutations(range(k)), repeat=n)
    ]
    assert found.permutation_p_value == pytest.approx(np.mean(np.array(ways) >= found.statistic - 1e-9))
    assert found.least_p_value == pytest.approx(1 / math.factorial(k) ** (n - 1))


def test_friedmans_p_value_of_many_orders_is_near_the_counted_one():
    # Friedman's own table (1937) for 4 methods on 5 sets: χ² = 7.8 or more has a probability of .044
    rng = np.random.default_rng(0)
    tables = (rng.random((5, 4)) + np.linspace(0, 0.4, 4) for _ in range(500))
    found = next(each for each in map(friedman, tables) if each.statistic == pytest.approx(7.8))
    assert found.permutation_p_value == pytest.approx(0.044, abs=0.005)


def test_friedmans_p_value_is_never_nought():
    agree = friedman(np.tile([3.0, 2.0, 1.0], (2, 1)))
    assert (agree.f_p_value, agree.permutation_p_value) == (0.0, pytest.approx(1 / 6))
    assert friedman(np.tile([3.0, 2.0, 1.0], (20, 1))).permutation_p_value == pytest.approx(6.0**-19)
    assert friedman(np.tile(np.arange(12.0), (3, 1))).permutation_p_value == pytest.approx(1 / 20_001)


def test_from_many_sets_on_friedmans_p_value_is_fs():
    rng = np.random.default_rng(1)
    table = rng.random((15, 4)) + np.linspace(0, 0.3, 4)
    few, many = friedman(table), friedman(np.vstack([table, table[:1]]))
    assert few.permutation_p_value == pytest.approx(few.f_p_value, rel=0.5)
    assert many.permutation_p_value == many.f_p_value


def test_friedman_at_the_ends():
    alike = friedman(np.ones((4, 3)))
    assert (alike.statistic, alike.p_value, alike.f_p_value, alike.mean_ranks) == (0.0, 1.0, 1.0, (2.0, 2.0, 2.0))
    always = friedman(np.tile([3.0, 2.0, 1.0], (6, 1)))
    assert (always.statistic, always.f_statistic, always.f_p_value) == (pytest.approx(12.0), np.inf, 0.0)


@pytest.mark.parametrize("table", tables())
def test_nemenyi_against_scikit_posthocs(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = scikit_posthocs.posthoc_nemenyi_friedman(table).to_numpy()
    p = nemenyi(table)
    np.testing.assert_allclose(p, oracle, atol=1e-6)
    assert (p == p.T).all()


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_against_demsars_table(k, q):
    assert critical_difference(k, 12) == pytest.approx(q * np.sqrt(k * (k + 1) / 72), rel=3e-4)


def test_ranks_a_critical_difference_apart_have_p_equal_to_alpha():
    k, n = 3, 8
    p = stats.studentized_range.sf(
        critical_difference(k, n, 0.1) / np.sqrt(k * (k + 1) / (6 * n)) * np.sqrt(2), k, np.inf
    )
    assert p == pytest.approx(0.1, rel=1e-6)


@pytest.mark.parametrize("call", [friedman, nemenyi])
def test_bad_tables(call):
    with pytest.raises(ValueError, match="method 1 has no value on data set 0"):
        call([[0.1, np.nan], [0.2, 0.3]])
    with pytest.raises(ValueError, match="two data sets"):
        call([[0.1, 0.2]])


def test_bad_critical_difference():
    with pytest.raises(ValueError, match="two methods"):
        critical_difference(1, 5)
    with pytest.raises(ValueError, match="alpha"):
        critical_difference(3, 5, alpha=5)


@pytest.mark.parametrize(("n", "k", "ties"), [(2, 2, False), (2, 4, False), (3, 3, True), (4, 3, False), (3, 4, True)])
def test_few_ranks_are_gone_through_one_by_one(n, k, ties):
    rng = np.random.default_rng(n + 10 * k)
    table = rng.random((n, k))
    table = np.round(3 * table) if ties else table
    rank = stats.rankdata(-table, axis=1)
    orders = itertools.product(*(itertools.permutations(row) for row in rank))
    spread = [((np.sum(order, axis=0) - n * (k + 1) / 2) ** 2).sum() for order in orders]
    own = ((rank.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()
    assert friedman(table).permutation_p_value == pytest.approx(np.mean(np.array(spread) >= own - 1e-9))


def test_agreement_is_never_certain():
    for n, k in ((2, 2), (2, 5), (2, 9), (6, 4), (20, 2), (200, 200)):
        found = friedman(np.tile(np.arange(k), (n, 1)))
        assert found.f_p_value == 0.0
        expected = math.exp(-(n - 1) * math.lgamma(k + 1))
        assert found.least_p_value == pytest.approx(expected)
        assert found.permutation_p_value >= found.least_p_value * (1 - 1e-12)
    many = np.random.default_rng(0).random((30, 6))
    assert friedman(many).permutation_p_value == friedman(many).f_p_value


def test_the_ends_of_what_is_allowed():
    assert significance.critical_difference(3, 1) == pytest.approx(significance.critical_difference(3, 4) * 2)
    for confidence in (0.0, 1.0):
        with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
            significance._interval(np.array([0.1, 0.2]), 0.25, confidence)
    for n_methods, n_sets in ((1, 5), (3, 0)):
        with pytest.raises(ValueError, match="needs two methods and one data set at least"):
            significance.critical_difference(n_methods, n_sets)
