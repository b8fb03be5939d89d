"""How sure metrics are: influences against listed pairs, covariances against DeLong's and bootstraps."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder import metrics
from wellorder.metrics import (
    METRICS,
    covariance,
    influence_of,
    influence_of_probabilities,
    paired_test,
    pairs as pairs_module,
    parse,
)
from wellorder.order import swapped_around_row, swapped_by_row
from wellorder.sweeps import swaps_around

PAIR_METRICS = ("swapped_pairs", "wmw", "auc_pairs", "auc_ovo", "auc_consecutive", "misranking_cost", "kendall_tau")


def a_problem(seed, n=60, n_levels=4, n_groups=None, tied=True):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_levels, n)
    groups = None if n_groups is None else rng.integers(0, n_groups, n)
    scores = np.column_stack([y + spread * rng.standard_normal(n) for spread in (1.0, 2.0, 3.0)])
    return y, np.round(scores, 1) if tied else scores, groups, rng


@pytest.mark.parametrize("n_groups", [None, 5])
@pytest.mark.parametrize("ties", ["error", "half"])
@pytest.mark.parametrize("n", [30, 400])
def test_a_rows_part_is_that_of_its_listed_pairs(n, ties, n_groups):
    y, scores, groups, rng = a_problem(1, n, n_groups=n_groups)
    weight = rng.uniform(0.5, 2.0, n)
    W = np.subtract.outer(y, y).clip(0) * np.outer(weight, weight)
    if groups is not None:
        W = W * np.equal.outer(groups, groups)
    for s in scores.T:
        apart = np.subtract.outer(s, s)
        wrong = (apart < 0) + (1.0 if ties == "error" else 0.5) * (apart == 0)
        share = (W * wrong).sum() / W.sum()
        expected = ((W * (wrong - share)).sum(axis=0) + (W * (wrong - share)).sum(axis=1)) / W.sum()
        value, found = metrics.pairs.swaps_of(y, s, groups, "linear", ties, weight).by_row()
        assert value == pytest.approx(share, abs=1e-14)
        np.testing.assert_allclose(found, expected, atol=1e-14)
        value, found = metrics.pairs.wmw_of(y, s, groups, "linear", "pooled", ties, weight).by_row()
        assert value == pytest.approx(1.0 - share, abs=1e-14)
        np.testing.assert_allclose(found, -expected, atol=1e-14)


@pytest.mark.parametrize("n_groups", [None, 12])
@pytest.mark.parametrize("metric", [*PAIR_METRICS, "wmw(average=edges)", "kendall_tau(average=groups)"])
def test_values_are_the_metrics(metric, n_groups):
    y, scores, groups, _ = a_problem(2, 200, n_groups=n_groups)
    found = influence_of(y, scores, metric, groups)
    expected = [parse(metric)(y, column, groups) for column in scores.T]
    np.testing.assert_allclose(found.values, expected, atol=1e-13)


@pytest.mark.parametrize("n_groups", [None, 6])
@pytest.mark.parametrize(
    "metric", ["auc_ovo", "auc_consecutive", "wmw(average=edges)", "wmw(average=edges,order=chain)"]
)
def test_a_mean_of_shares_goes_by_each_share_of_its_own(metric, n_groups):
    """A row that is taken twice moves the metric as its part says: a derivative, by differences."""
    y, scores, groups, _ = a_problem(11, 150, n_groups=n_groups)
    s, step = scores[:, 1], 1e-5
    found = parse(metric).call(parse(metric).definition.parts, y, s, groups).by_row()[1]
    for row in (0, 7, 70, 149):
        weight = np.ones(len(y))
        weight[row] += step
        more = parse(metric)(y, s, groups, sample_weight=weight)
        weight[row] -= 2 * step
        less = parse(metric)(y, s, groups, sample_weight=weight)
        assert found[row] == pytest.approx((more - less) / (2 * step), abs=1e-7)


def delong(y, scores):
    """The covariance of DeLong, DeLong and Clarke-Pearson (1988), by its formula."""
    high, low = scores[y == 1], scores[y == 0]
    wins = (high[:, None] > low[None]) + 0.5 * (high[:, None] == low[None])
    of_high, of_low = wins.mean(axis=1), wins.mean(axis=0)
    return np.cov(of_high.T) / len(high) + np.cov(of_low.T) / len(low)


@pytest.mark.parametrize("tied", [False, True])
def test_two_levels_give_delongs_covariance(tied):
    y, scores, _, _ = a_problem(3, 90, n_levels=2, tied=tied)
    np.testing.assert_allclose(covariance(y, scores, "wmw"), delong(y, scores), rtol=1e-12)


@pytest.mark.parametrize("metric", PAIR_METRICS)
def test_standard_errors_are_those_of_a_bootstrap(metric):
    y, scores, _, rng = a_problem(4, 300)
    measure = parse(metric)
    draws = rng.integers(0, len(y), (400, len(y)))
    drawn = np.array([[measure(y[rows], column[rows]) for column in scores.T] for rows in draws])
    found = covariance(y, scores, metric)
    np.testing.assert_allclose(np.sqrt(np.diag(found)), drawn.std(axis=0), rtol=0.12)
    correlation = found / np.sqrt(np.outer(np.diag(found), np.diag(found)))
    np.testing.assert_allclose(correlation, np.corrcoef(drawn.T), atol=0.12)


@pytest.mark.parametrize("n_groups", [None, 120])
@pytest.mark.parametrize(("n_levels", "order"), [(5, "full"), (5, "linear"), (1_000, "full")])
@pytest.mark.parametrize("weighted", [False, True])
def test_standard_errors_are_within_a_twentieth_of_bootstraps(n_levels, order, weighted, n_groups):
    """By listed pairs: a row that is drawn c times weighs c; a list counts c times, with each of its pairs."""
    n, n_draws, rng = 1_000, 3_000, np.random.default_rng(12)
    y = rng.integers(0, n_levels, n)
    scores = y + n_levels / 2 * rng.standard_normal(n)
    weight = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    groups = None if n_groups is None else rng.integers(0, n_groups, n)
    W = np.subtract.outer(y, y).clip(0, None if order == "linear" else 1) * np.outer(weight, weight)
    wrong = W * (np.subtract.outer(scores, scores) <= 0)
    if groups is None:
        times = rng.multinomial(n, np.full(n, 1 / n), n_draws).astype(float)
        total, swapped = (((times @ pairs) * times).sum(axis=1) for pairs in (W, wrong))
    else:
        times, same = (
            rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), n_draws),
            np.equal.outer(groups, groups),
        )
        by_row = ((pairs * same).sum(axis=1) for pairs in (W, wrong))
        total, swapped = (times @ np.bincount(groups, part, minlength=n_groups) for part in by_row)
    found = covariance(wo.Grades(y, groups, order, weights=weight), scores)
    assert np.sqrt(found[0, 0]) == pytest.approx(np.std(swapped / total), rel=0.05)


@pytest.mark.parametrize("metric", ["swapped_pairs", "ndcg@5", "map", "mrr", "precision@3", "kendall_tau", "auc_ovo"])
def test_lists_are_the_units_where_there_are_lists(metric):
    y, scores, groups, rng = a_problem(5, 1200, n_levels=3, n_groups=80)
    found = influence_of(y, scores, metric, groups)
    assert (found.unit, found.n_units) == ("groups", 80)
    rows = [np.flatnonzero(groups == each) for each in range(80)]
    drawn = []
    for _ in range(250):
        some = rng.integers(0, 80, 80)
        picked = np.concatenate([rows[each] for each in some])
        number = np.repeat(np.arange(80), [len(rows[each]) for each in some])
        drawn.append([parse(metric)(y[picked], column[picked], number) for column in scores.T])
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance())), np.std(drawn, axis=0), rtol=0.2)


def test_a_list_counts_once_though_each_pair_has_two_rows():
    y, scores, groups, _ = a_problem(6, 400, n_groups=30)
    W = (np.subtract.outer(y, y) > 0) & np.equal.outer(groups, groups)
    wrong = np.subtract.outer(scores[:, 0], scores[:, 0]) <= 0
    share = (W & wrong).sum() / W.sum()
    by_group = [((W & wrong)[groups == g].sum() - share * W[groups == g].sum()) / W.sum() for g in range(30)]
    p = np.array([W[groups == g].sum() for g in range(30)]) / W.sum()
    v = 1 / np.sqrt(p)
    few = v / (v * (1 - 2 * p) + p**2 @ v)  # the variance of a list over that of its deviation from the mean
    expected = np.sum(np.square(by_group) * few)
    assert covariance(y, scores[:, 0], groups=groups)[0, 0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("sizes", [[60, 10, 10, 10, 10], [100, 60, 40, 25, 15, 10, 8, 6, 5, 4], [20] * 12])
def test_few_large_lists_are_no_crowd(sizes):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    alarms = 0
    for _ in range(200):
        y = rng.integers(0, 4, len(groups))
        one, other = (y + rng.normal(0, 1.5, len(groups)) for _ in range(2))
        alarms += paired_test(y, one, other, groups=groups).p_value < 0.05
    assert alarms <= 20  # ten are expected, at most


def test_degrees_of_freedom_are_those_of_equal_lists_or_fewer():
    y = np.tile([0, 1, 2, 3], 30)
    scores = np.random.default_rng(1).normal(size=120)
    assert influence_of(y, scores, groups=np.repeat(np.arange(10), 12)).degrees == pytest.approx(9.0)
    assert influence_of(y, scores, groups=np.minimum(np.arange(120) // 4, 10)).degrees < 3.0


def test_meetings_of_the_same_items_are_not_counted_twice():
    """Votes that have nothing to do with each other vary like coins, whoever they are about."""
    rng = np.random.default_rng(7)
    values, errors = [], []
    for _ in range(200):
        left, right = rng.integers(0, 30, 400), rng.integers(30, 60, 400)
        votes = wo.Comparisons(left, right, np.where(rng.random(400) < 0.7, 1, -1))
        scores = np.where(np.arange(60) < 30, 0.0, 1.0)
        found = influence_of(votes, scores)
        values.append(found.values[0])
        errors.append(found.covariance()[0, 0])
    assert np.mean(errors) == pytest.approx(0.21 / 400, rel=0.1)
    assert np.var(values) == pytest.approx(0.21 / 400, rel=0.25)


@pytest.mark.parametrize("metric", ["swapped_pairs", "comparison_error"])
def test_votes_give_the_metrics_values(metric):
    rng = np.random.default_rng(8)
    votes = wo.Comparisons(
        rng.integers(0, 9, 80), rng.integers(9, 20, 80), rng.integers(-1, 2, 80), weights=rng.uniform(1, 2, 80)
    )
    scores = np.round(rng.normal(size=(20, 2)), 1)
    found = influence_of(votes, scores, metric)
    expected = [parse(metric, of="comparisons")(votes, column) for column in scores.T]
    np.testing.assert_allclose(found.values, expected, atol=1e-14)
    assert found.unit == "items"


def test_the_paired_test_holds_its_level_and_finds_what_is_there():
    rng = np.random.default_rng(9)
    alike, apart = [], []
    for _ in range(300):
        y = rng.integers(0, 4, 120)
        one, two, worse = (y + spread * rng.standard_normal(120) for spread in (1.5, 1.5, 3.5))
        alike.append(paired_test(y, one, two).p_value < 0.05)
        apart.append(paired_test(y, one, worse).p_value < 0.05)
    assert 0.02 < np.mean(alike) < 0.09
    assert np.mean(apart) > 0.8


def test_the_difference_has_its_sign_interval_and_units():
    y, scores, groups, _ = a_problem(10, 300, n_groups=20)
    found = paired_test(y, scores[:, 0], scores[:, 2], groups=groups)
    assert found.difference < 0
    assert found.low < found.difference < found.high < 0
    assert (found.unit, found.n_units) == ("groups", 20)
    same = paired_test(y, scores[:, 0], scores[:, 0])
    assert (same.difference, same.p_value) == (0.0, 1.0)
    turned = paired_test(y, scores[:, 2], scores[:, 0], groups=groups)
    assert turned.p_value == pytest.approx(found.p_value)
    assert turned.low == pytest.approx(-found.high)


def test_one_list_of_lists_has_no_standard_error():
    found = paired_test([0, 1, 2], [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], "ndcg")
    assert np.isnan(found.standard_error)
    assert np.isnan(found.p_value)


def test_what_cannot_be_asked_is_said():
    with pytest.raises(ValueError, match="nothing says how sure"):
        covariance([0, 1], [1.0, 2.0], "p_norm_push")
    with pytest.raises(ValueError, match="one column a method"):
        covariance([0, 1], np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="there is no pair"):
        covariance([1, 1], [1.0, 2.0])
    with pytest.raises(ValueError, match="confidence"):
        paired_test([0, 1], [1.0, 2.0], [2.0, 1.0], confidence=1.5)
    with pytest.raises(ValueError, match="have no groups"):
        covariance(wo.Comparisons([0], [1], [1]), [0.0, 1.0], groups=[1])


def test_every_metric_that_is_a_mean_says_of_what():
    without = {name for name, each in METRICS.items() if each.parts is None}
    assert without == {"p_norm_push"}


@pytest.mark.parametrize("n", [40, 700, 60_000])
@pytest.mark.parametrize("n_levels", [80, 60_000])
def test_rows_of_one_list_take_one_sweep_and_it_says_what_two_do(n, n_levels):
    """What the two sweeps add up to, of every row, with ties in grades, in scores and in none."""
    rng = np.random.default_rng(7)
    y = (rng.permutation(n) % n_levels).astype(float)
    scores = y + n_levels * rng.standard_normal(n)
    pairs = wo.Grades(y).pairs
    for given in (scores, np.where(np.arange(n) < 2, scores[0], scores), np.round(scores / n_levels, 1)):
        for ties in ("error", "half"):
            both = sum(swapped_by_row(pairs, given, ties))
            np.testing.assert_array_equal(swapped_around_row(pairs, given, ties), both)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("n_levels", [1, 3, 200])
def test_the_one_sweep_counts_what_stands_on_the_wrong_side(compiled, n_levels):
    rng = np.random.default_rng(9)
    level = rng.integers(0, n_levels, 200)
    _, cell, count = np.unique(level, return_inverse=True, return_counts=True)
    rows = rng.permutation(200).astype(np.int32)
    place = np.argsort(rows)
    better, before = (each[:, None] < each for each in (level, place))
    wrong = (better & ~before) | (better.T & before)  # of row i and row j: j better and not after i, or worse and after
    found = swaps_around(rows, cell.astype(np.int32), np.cumsum(count) - count, compiled=compiled)
    np.testing.assert_array_equal(found, wrong.sum(axis=1))


def test_columns_side_by_side_are_those_one_by_one():
    rng = np.random.default_rng(7)
    y = rng.permutation(60_000).astype(float)
    scores = y[:, None] + 60_000 * rng.standard_normal((60_000, 3))
    found = wo.metrics.covariance(y, scores)
    np.testing.assert_allclose(np.diag(found), [wo.metrics.covariance(y, column)[0, 0] for column in scores.T])


@pytest.mark.parametrize("n_groups", [1, 4])
def test_kendalls_tau_does_the_work_of_all_methods_once(n_groups, monkeypatch):
    """What belongs to the grades is found once, whatever the number of methods; and equal scores have no τ."""
    rng = np.random.default_rng(8)
    y, scores = rng.integers(0, 4, 60), rng.standard_normal((60, 5))
    groups = np.arange(60) % n_groups
    made, untied = [], pairs_module._untied_by_row
    monkeypatch.setattr(pairs_module, "_untied_by_row", lambda *given: made.append(given) or untied(*given))
    grades = wo.Grades(y, groups)
    found = wo.metrics.covariance(grades, scores, "kendall_tau")
    assert len(made) == 6  # of each method's scores, and of the grades
    alone = [wo.metrics.covariance(y, column, "kendall_tau", groups)[0, 0] for column in scores.T]
    np.testing.assert_allclose(np.diag(found), alone)
    with pytest.raises(ValueError, match="all scores of a group are equal"):
        wo.metrics.covariance(grades, groups.astype(float), "kendall_tau")
    weighted = wo.Grades(y, groups, weights=np.where(np.arange(60) < 30, 0.0, 1.0))
    with pytest.raises(ValueError, match="all scores of a group are equal"):
        wo.metrics.covariance(weighted, np.where(np.arange(60) < 30, scores[:, 0], 0.0), "kendall_tau")


@pytest.mark.parametrize("groups", [None, np.full(30, 7)])
def test_of_one_list_the_rows_are_the_units_of_probabilities_too(groups):
    rng = np.random.default_rng(9)
    y, P = rng.integers(0, 3, 30), rng.dirichlet(np.ones(3), 30)
    found = influence_of_probabilities(wo.Grades(y, groups), P, parse("ranked_probability_score"), levels=(0, 1, 2))
    each = np.square(P.cumsum(axis=1)[:, :2] - (y[:, None] <= [0, 1])).sum(axis=1) / 2
    assert (found.unit, found.n_units) == ("rows", 30)
    assert found.values == pytest.approx(each.mean())
    assert found.covariance()[0, 0] == pytest.approx(each.var(ddof=1) / 30)
    assert covariance(y, P[:, 2], groups=groups) == pytest.approx(covariance(y, P[:, 2]))


def test_lists_without_two_grades_do_not_count_for_kendalls_tau():
    y, scores, groups, _ = a_problem(10, n_groups=5)
    more = np.append(y, [1, 2, 2]), np.vstack([scores, [[0.0] * 3, [1.0] * 3, [1.0] * 3]]), np.append(groups, [9, 8, 8])
    found, expected = (
        influence_of(grades, given, "kendall_tau(average=groups)", lists)
        for grades, given, lists in (more, (y, scores, groups))
    )
    assert found.n_units == expected.n_units == 5
    np.testing.assert_allclose(found.values, expected.values)
    np.testing.assert_allclose(found.covariance(), expected.covariance())


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_costs_that_do_not_add_up_have_no_covariance():
    graph = wo.OrderGraph([0, 1, 2], [[0, 1e308, 1e308], [0, 0, 1e308], [0, 0, 0]])
    with pytest.raises(ValueError, match="too large or too small to add up"):
        covariance(wo.Grades([0, 1, 2] * 6, order=graph), np.arange(18.0))
