"""What splits and test rows say together: against the obvious sums, and against truth that is known."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import wellorder as wo
from tests.reference import drawn_with
from wellorder.evaluation import compare, evidence
from wellorder.evaluation.evidence import MOST_UNITS, Evidence, behind_leader, gather, keep_parts
from wellorder.evaluation.records import Parts, Record
from wellorder.evaluation.significance import corrected_resampled_test, holm
from wellorder.evaluation.splits import Split, comparison_folds, folds
from wellorder.metrics import make, parse

SWAPS = parse("swapped_pairs")


def noisy_scores(rng, y, n_methods, noise=1.0, worse=0.0):
    spread = np.full(n_methods, noise)
    spread[-1] += worse
    return y[:, None] + spread * rng.standard_normal((len(y), n_methods))


def judge(order, splits, scores_of, metric=SWAPS):
    """Return values, parts and repeats; ``scores_of`` gives one column a method for a split."""
    values, parts, repeats = [], [], []
    for split in splits:
        scores, part = scores_of(split), order.take(split.test)
        values.append([metric(part, column) for column in scores.T])
        parts.append([keep_parts(metric, order, split.test, column) for column in scores.T])
        repeats.append(split.repeat)
    return np.array(values), parts, repeats


# --------------------------------------------------------------------------------------------------
# Parts that are kept.


def test_parts_add_up_to_what_they_are_parts_of():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    order, rows = wo.Grades(y), np.arange(0, 60, 2)
    found = keep_parts(SWAPS, order, rows, rng.standard_normal(30))
    assert set(found.units) <= set(rows.tolist())
    assert sum(found.parts) == pytest.approx(0.0, abs=1e-4)
    assert found.meetings == found.shared == ()
    assert 0 < found.pair_square < 0.25 / 100


def test_lists_and_items_are_units_with_the_same_number_in_every_split():
    rng = np.random.default_rng(1)
    y, query = rng.integers(0, 3, 80), np.repeat(np.arange(10) * 7, 8)
    order = wo.Grades(y, query)
    rows = np.flatnonzero(np.isin(query, [14, 35]))
    for metric in ("swapped_pairs", "ndcg@5"):
        found = keep_parts(parse(metric), order, rows, rng.standard_normal(16))
        assert found.units == (2, 5)
    left, right = rng.integers(0, 5, 40), rng.integers(5, 9, 40)
    games = wo.Comparisons(left, right, rng.choice([-1, 0, 1], 40))
    metric = parse("comparison_error", "comparisons")
    found = keep_parts(metric, games, np.arange(20, 40), rng.standard_normal(9), threshold=0.2, advantage=0.1)
    assert set(found.units) == set(left[20:]) | set(right[20:])
    assert set(found.meetings) == {9 * a + b for a, b in zip(left[20:], right[20:], strict=True)}


def test_many_units_are_put_together():
    rng = np.random.default_rng(2)
    y = rng.standard_normal(5_000)
    order, scores = wo.Grades(y), y + rng.standard_normal(5_000)
    found = keep_parts(SWAPS, order, np.arange(5_000), scores)
    assert len(found.units) == len(found.parts) <= MOST_UNITS
    exact = wo.metrics.covariance(y, scores)[0, 0]
    assert np.sum(np.square(found.parts)) == pytest.approx(exact, rel=0.2)
    assert len(Record("k", "d", "m", 0, 0, 0, 1, 1, {}, parts=found).to_json()) < 25_000


def test_there_are_none_where_the_metric_is_no_mean_or_not_defined():
    own = make(lambda y, scores, groups=None: 0.5, name="own", greater_is_better=True)
    order = wo.Grades([0, 1, 1, 1])
    assert keep_parts(parse(own), order, np.arange(4), np.arange(4.0)) is None
    assert keep_parts(SWAPS, order, np.array([1, 2]), np.arange(2.0)) is None
    assert keep_parts(parse("ndcg"), order, np.arange(4), np.arange(4.0)) is None  # a single list


def test_records_keep_them():
    parts = Parts((1, 4), (0.25, -0.125), (3,), (0.5,), 0.01, (0.25, 0.75), (0.5, -0.5))
    record = Record("k", "d", "m", 0, 0, 0, 1, 1, {"swapped_pairs": 0.5}, parts=parts)
    assert Record.from_json(record.to_json()) == record
    without = {name: value for name, value in json.loads(record.to_json()).items() if name != "parts"}
    assert Record.from_json(json.dumps(without)).parts is None
    earlier = json.loads(record.to_json())
    del earlier["parts"]["luck"], earlier["parts"]["shares"]
    assert Record.from_json(json.dumps(earlier)).parts == replace(parts, shares=(), luck=())


@pytest.mark.parametrize(
    "change",
    [
        {"units": [1]},
        {"shares": [0.5]},
        {"luck": [0.5]},
        {"luck": [0.5, None]},
        {"shares": [1.5, -0.5]},
        {"parts": [0.25, None]},
        {"units": [1, -4]},
        {"pair_square": -1.0},
        {"meetings": "3"},
    ],
)
def test_damaged_parts_are_refused(change):
    parts = Parts((1, 4), (0.25, -0.125), (3,), (0.5,), 0.01)
    found = json.loads(Record("k", "d", "m", 0, 0, 0, 1, 1, {}, parts=parts).to_json())
    found["parts"].update(change)
    with pytest.raises(ValueError, match=r"its parts\."):
        Record.from_json(json.dumps(found))


# --------------------------------------------------------------------------------------------------
# Splits put together.


def test_one_model_on_all_rows_has_the_covariance_of_its_rows():
    """Where nothing is trained, folds are one large test part: kappa is next to nothing, and C is DeLong's."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 900)
    scores = noisy_scores(rng, y, 3)
    values, parts, repeats = judge(wo.Grades(y), folds(y, n_folds=3, n_repeats=4), lambda split: scores[split.test])
    found = gather(values, parts, repeats, 0.5)
    exact = wo.metrics.covariance(y, scores)
    assert found.means == pytest.approx([wo.metrics.swapped_pairs(y, column) for column in scores.T], abs=0.002)
    assert found.alone == pytest.approx(np.diag(exact), rel=0.12)
    apart = np.add.outer(np.diag(exact), np.diag(exact)) - 2 * exact
    above = np.triu_indices(3, 1)
    assert found.spread[above] == pytest.approx(np.sqrt(apart[above]), rel=0.08)


@pytest.mark.parametrize("metric", ["ndcg@5", "precision@1"])
def test_who_else_was_drawn_is_no_part_of_a_list(metric):
    """Four lists a fold, nothing trained: the variance is that of the twenty lists, however often they are drawn."""
    rng = np.random.default_rng(10)
    y, query = rng.integers(0, 4, 200), np.repeat(np.arange(20), 10)
    order, measure, scores = wo.Grades(y, query), parse(metric), noisy_scores(rng, y, 1, noise=2.0)
    cut = folds(order, n_folds=5, n_repeats=4)
    if metric == "precision@1":  # a fold whose lists are all alike has parts of zero, and lists all the same
        scores[query < 12] = y[query < 12, None]
    found = gather(*judge(order, cut, lambda split: scores[split.test], measure), 0.25)
    exact = wo.metrics.covariance(y, scores, measure, groups=query)[0, 0]
    assert found.alone[0] == pytest.approx(exact, rel=1e-3)
    assert found.n_units == 20


@pytest.mark.parametrize("metric", ["swapped_pairs", "ndcg@5"])
def test_a_list_that_is_tested_alone_is_one_unit(metric):
    """Each list a fold of its own: the variance is that of the mean of the lists' values, and rows are no units."""
    rng = np.random.default_rng(11)
    y, query = rng.integers(0, 4, 120), np.repeat(np.arange(12), 10)
    order, measure, scores = wo.Grades(y, query), parse(metric), noisy_scores(rng, y, 1, noise=2.0)
    cut = [Split(0, fold, np.flatnonzero(query != fold), np.flatnonzero(query == fold)) for fold in range(12)]
    values, parts, repeats = judge(order, cut, lambda split: scores[split.test], measure)
    assert [split[0].units for split in parts] == [(fold,) for fold in range(12)]
    found = gather(values, parts, repeats, 0.0)
    assert found.n_units == 12
    assert found.df == pytest.approx(11.0)
    assert found.alone[0] == pytest.approx(values.var(ddof=1) / 12, rel=1e-3)


def test_few_lists_of_unequal_length_are_no_crowd():
    """Intervals of a mean over ten lists, of which two hold most pairs, hold the truth as often as they say."""
    rng = np.random.default_rng(12)
    sizes = np.array([6, 6, 8, 8, 10, 10, 14, 14, 60, 80])
    query = np.repeat(np.arange(10), sizes)
    cut = list(folds(wo.Grades(np.arange(len(query)) % 3, query), n_folds=5, n_repeats=1))
    means, reach, df = [], [], []
    for _ in range(120):
        y = rng.integers(0, 3, len(query))
        scores = y[:, None] * (0.5 + 0.5 * rng.standard_normal(10))[query][:, None] + rng.standard_normal((len(y), 1))
        found = gather(*judge(wo.Grades(y, query), cut, lambda split, s=scores: s[split.test]), 0.0)
        means.append(found.means[0])
        reach.append(stats.t.isf(0.025, found.df) * np.sqrt(found.alone[0]))
        df.append(found.df)
    assert max(df) < 8  # and not nine
    assert 0.9 < np.mean(np.abs(means - np.mean(means)) < reach) < 0.99


def test_what_varies_between_repeats_widens_what_is_known():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 4, 300)
    steady = noisy_scores(rng, y, 2)

    def evidence(luck):
        draw = np.random.default_rng(5)
        made = judge(
            wo.Grades(y),
            folds(y, n_folds=5, n_repeats=2),
            lambda split: steady[split.test] + luck * draw.standard_normal((len(split.test), 2)),
        )
        return gather(*made, 0.25)

    assert (evidence(0.5).alone > 1.3 * evidence(0.0).alone).all()


def test_who_is_drawn_with_whom_is_no_effect_of_training_rows():
    """Nothing is learned: parts vary from cut to cut by what the halves of test parts show, and by nothing else."""
    rng = np.random.default_rng(13)
    y = np.repeat(np.arange(4), 24)
    scores = noisy_scores(rng, y, 3, noise=1.5)
    true = drawn_with.variance_between_cuts(y, scores, 4, 60, rng)
    values, parts, repeats = judge(wo.Grades(y), folds(y, n_folds=4, n_repeats=30), lambda split: scores[split.test])
    tables = np.zeros((30, 96, 3))
    for repeat, split in zip(repeats, parts, strict=True):
        for m, each in enumerate(split):
            tables[repeat, each.units, m] = np.array(each.luck) / 4
    seen = np.einsum("rim,rip->mp", tables, tables) / 30 * (1 - 1 / 4)  # a fourth of all others is there at any rate
    assert seen.trace() == pytest.approx(true.trace(), rel=0.12)
    assert seen.trace() - seen.mean() * 3 == pytest.approx(true.trace() - true.mean() * 3, rel=0.12)
    old = [[replace(each, luck=()) for each in split] for split in parts]
    now, before = (gather(values, found, repeats, 1 / 3).alone.sum() for found in (parts, old))
    assert now == pytest.approx(wo.metrics.covariance(y, scores).trace(), rel=0.1)  # nothing is left for training rows
    assert before > now


def test_training_rows_add_what_luck_leaves():
    """The sums of docs/how-sure.md, written out: 24 rows, four folds, three repeats."""
    rng, n, n_folds, n_repeats = np.random.default_rng(15), 24, 4, 3
    steady, moving, luck = (scale * rng.standard_normal((n_repeats, n)) for scale in (0.0, 0.3, 0.1))
    steady = steady + rng.standard_normal(n)
    drawn = (steady + moving) - (steady + moving).mean(axis=1, keepdims=True)
    parts, repeats = [], []
    for repeat in range(n_repeats):
        for rows in rng.permutation(n).reshape(n_folds, -1):
            rows.sort()
            parts.append([Parts(tuple(rows), tuple(drawn[repeat, rows]), luck=tuple(luck[repeat, rows]))])
            repeats.append(repeat)
    found = gather(np.full((12, 1), 0.5), parts, repeats, 10.0)  # so many test rows that the correction is no limit
    table = drawn / n_folds * np.sqrt(n / (n - 1))
    within = np.mean([sum(each**2) for each in table])
    over_all = sum(table.mean(axis=0) ** 2)
    of_luck = np.mean([sum((each / n_folds) ** 2) for each in luck])
    met_anew = (1 - 1 / n_repeats) * (1 - 1 / n_folds)
    adds = n_folds * n_repeats / (n_repeats - 1) * (within - over_all - of_luck * met_anew)
    assert 0 < adds < 10 * over_all
    assert found.alone[0] == pytest.approx(over_all + adds)


def test_luck_is_what_a_row_has_more_among_its_half():
    rng = np.random.default_rng(14)
    y, rows = rng.integers(0, 3, 60), np.arange(0, 60, 2)
    order, scores = wo.Grades(y), rng.integers(0, 9, 30).astype(float)  # of which some are tied
    found = keep_parts(SWAPS, order, rows, scores)
    whole, value = drawn_with.parts_of(y[rows], scores)
    expected = -whole
    for split in folds(order.take(rows), n_folds=2):
        half, share = drawn_with.parts_of(y[rows][split.test], scores[split.test])
        expected[split.test] += half / 2 + (share - value) / 2 / len(half)
    assert found.units == tuple(rows)
    assert found.luck == pytest.approx(expected, abs=1e-5)


def test_where_nothing_is_swapped_there_is_no_luck():
    y = np.tile([0, 1, 2, 0], 10)
    found = keep_parts(SWAPS, wo.Grades(y), np.arange(24), y[:24].astype(float))
    assert found.luck == (0.0,) * 24


@pytest.mark.parametrize("metric", ["swapped_pairs", "ndcg@5"])
def test_lists_are_drawn_as_they_are(metric):
    y, query = np.tile([0, 1, 2, 0], 10), np.repeat(np.arange(10), 4)
    assert keep_parts(parse(metric), wo.Grades(y, query), np.arange(24), np.arange(24.0) % 5).luck == ()


def test_the_same_method_twice_is_not_told_apart_and_costs_nothing():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 200)
    one = noisy_scores(rng, y, 2, worse=3.0)
    scores = one[:, [0, 0, 1]]
    made = judge(wo.Grades(y), folds(y, n_folds=5, n_repeats=2), lambda split: scores[split.test])
    found = gather(*made, 0.25)
    first, second, last = behind_leader(found, greater_is_better=False)
    assert (first, second) == (1.0, 1.0)
    assert last < 0.01
    assert found.more_units(0, 1) == math.inf
    assert found.more_units(0, 2) < 1


def test_p_values_do_not_depend_on_the_unit_of_the_metric_and_fall_with_the_lead():
    cov = np.diag([1.0, 1.0, 1.0, 4.0])
    found = Evidence(np.array([10.0, 9.0, 6.0, 3.0]), np.diag(cov), cov, 500)
    scaled = Evidence(found.means * 1e-3, found.alone * 1e-6, cov * 1e-6, 500)
    p = behind_leader(found, greater_is_better=True)
    assert behind_leader(scaled, greater_is_better=True) == pytest.approx(p, abs=0.01)
    assert behind_leader(Evidence(-found.means, found.alone, cov, 500), greater_is_better=False) == p
    assert p[0] == 1.0
    assert p[1] > 0.3 > 0.05 > p[2]
    # the least likely lead is judged first, and no later one may have a smaller p-value
    assert p[2] >= p[3]


def test_how_many_more_units_are_needed_goes_by_the_square_of_what_would_be_seen():
    found = Evidence(np.array([0.50, 0.47, 0.5]), np.full(3, 4e-4), np.diag([4e-4, 5e-4, 4e-4]), 100)
    seen = (stats.norm.isf(0.025) + stats.norm.isf(0.2)) * 0.03
    assert found.found_apart(0, 1) == pytest.approx(seen)
    assert found.more_units(0, 1) == pytest.approx((seen / 0.03) ** 2)
    assert found.more_units(0, 1, power=0.5, alpha=0.01) == pytest.approx(stats.norm.isf(0.005) ** 2)
    assert found.more_units(0, 2) == math.inf


def test_methods_that_are_judged_do_not_stand_beside_those_after_them():
    """Down to two of them, whose p-value is that of a t-test; and what no draw reaches is one in all and itself."""
    means, cov = np.array([0.0, 1.0, 1.6, 2.2, 2.8, 60.0]), 0.5 * np.eye(6)
    p = behind_leader(Evidence(means, np.diag(cov), cov, 31), greater_is_better=False)
    assert p == sorted(p, reverse=True)
    assert p[1] == pytest.approx(2 * stats.t.sf(1.0, 30), abs=0.012)
    assert p[-1] == 1 / 20_001


def test_an_interval_needs_units_that_differ():
    none = Evidence(np.array([0.5]), np.array([0.0]), np.zeros((1, 1)), 5)
    assert all(map(math.isnan, none.interval(0)))


# --------------------------------------------------------------------------------------------------
# Truth that is known: docs/how-sure.md has the same with more draws.


def ridge_race(rng, n=200, d=6, n_methods=6, worse=0.0):
    """Draw rows, and ridge models that each see the columns through noise of their own."""
    truth = rng.standard_normal((n, d))
    y = np.digitize(truth.sum(axis=1) / np.sqrt(d) + rng.standard_normal(n), [-1.2, -0.4, 0.4, 1.2])
    noise = 1.0 + worse * (np.arange(n_methods) == n_methods - 1)
    seen = [truth + level * rng.standard_normal((n, d)) for level in noise]

    def scores(split):
        columns = []
        for x in seen:
            known = x[split.train]
            columns.append(
                x[split.test] @ np.linalg.solve(known.T @ known + np.eye(d), known.T @ (y[split.train] - 2.0))
            )
        return np.column_stack(columns)

    cut = folds(y, n_folds=5, n_repeats=2, seed=int(rng.integers(2**31)))
    return judge(wo.Grades(y), cut, scores)


def vote_race(rng, n_items=40, n_votes=400, d=5, n_methods=6):
    items = rng.standard_normal((n_items, d))
    left = rng.integers(0, n_items, n_votes)
    right = (left + 1 + rng.integers(0, n_items - 1, n_votes)) % n_items
    worth = 1.5 * items.sum(axis=1) / np.sqrt(d)
    outcome = np.where(rng.random(n_votes) < 1 / (1 + np.exp(worth[left] - worth[right])), 1, -1)
    games = wo.Comparisons(left, right, outcome)
    seen = [items + 0.7 * rng.standard_normal((n_items, d)) for _ in range(n_methods)]

    def scores(split):
        columns = []
        for x in seen:
            apart = x[right[split.train]] - x[left[split.train]]
            columns.append(x @ np.linalg.solve(apart.T @ apart + np.eye(d), apart.T @ outcome[split.train]))
        return np.column_stack(columns)

    cut = comparison_folds(games, n_folds=5, n_repeats=2, seed=int(rng.integers(2**31)))
    return judge(games, cut, scores, parse("swapped_pairs", "comparisons"))


@pytest.mark.parametrize("race", [ridge_race, vote_race])
def test_equal_methods_are_seldom_told_apart_and_intervals_cover(race):
    rng = np.random.default_rng(7)
    found = [gather(*race(rng), 0.25) for _ in range(60)]
    alarms = [min(behind_leader(each, greater_is_better=False, seed=k)) < 0.05 for k, each in enumerate(found)]
    assert np.mean(alarms) <= 0.12  # 5 % within what 60 draws can tell
    means = np.array([each.means for each in found])
    reach = np.array([stats.t.isf(0.025, each.df) * np.sqrt(each.alone) for each in found])
    assert 0.9 <= np.mean(np.abs(means - means.mean(axis=0)) <= reach) <= 0.995
    apart = np.array([each.means[0] - each.means[1] for each in found])
    error = np.array([stats.t.isf(0.025, each.df) * each.spread[0, 1] for each in found])
    assert np.mean(np.abs(apart) <= error) >= 0.87


def test_a_worse_method_is_found_where_splits_alone_do_not_find_it():
    rng, by_rows, by_splits = np.random.default_rng(8), 0, 0
    for k in range(25):
        values, parts, repeats = ridge_race(rng, worse=1.5)
        found = gather(values, parts, repeats, 0.25)
        by_rows += behind_leader(found, greater_is_better=False, seed=k)[-1] < 0.05
        leader = int(np.argmin(found.means))
        raw = {
            couple: corrected_resampled_test(values[:, couple[0]] - values[:, couple[1]], 0.25).p_value
            for couple in combinations(range(6), 2)
        }
        adjusted = dict(zip(raw, holm(list(raw.values())), strict=True))
        by_splits += adjusted.get((leader, 5), 1.0) < 0.05
    assert by_rows >= 10
    assert by_rows > by_splits + 4


def test_compare_tells_apart_what_the_rows_tell_apart():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((300, 4))
    y = np.digitize(X.sum(axis=1) + rng.standard_normal(300), [-2, 0, 2])
    table = wo.data.Table("made", pl.DataFrame(X, schema=["a", "b", "c", "d"]), y)
    board = compare(table, ["ridge", "best-feature", "rank-svm"], n_repeats=1, time_budget=None, n_jobs=1)
    worst = board.standings[-1]
    assert worst.method == "best-feature"
    assert worst.is_told_apart
    assert not board.standings[1].is_told_apart
    assert board.more_needed > 1
    assert all(each.low < each.mean < each.high for each in board.standings)
    assert all(record.parts is not None for record in board.records)


def test_what_training_rows_add_is_a_share_of_what_test_rows_do():
    """Of a half and of a fifth they are taken as they are; more than splits allow is not, and nothing below 0."""
    whole = np.diag([4.0, 5.0, 1.0, 1.0, 1.0])
    varies, most = np.diag([2.0, 1.0, 3.0, -1.0, 0.5]), np.diag([4.0, 5.0, 2.0, 1.0, 0.25])
    np.testing.assert_allclose(np.diag(evidence._inflate(whole, varies, most)), [6.0, 6.0, 3.0, 1.0, 1.25])


def test_rows_of_the_only_list_there_is_are_units():
    rng = np.random.default_rng(3)
    y, rows = rng.integers(0, 3, 40), np.arange(0, 40, 2)
    scores = rng.standard_normal(20)
    one_list, no_list = wo.Grades(y, np.zeros(40)), wo.Grades(y)
    assert keep_parts(SWAPS, one_list, rows, scores) == keep_parts(SWAPS, no_list, rows, scores)
