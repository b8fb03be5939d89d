"""What every metric is held to. The metrics are those of the registry: a new one is held to it by being there."""

from __future__ import annotations

import uuid
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.reference import metric_twins
from tests.strategies import cases

import wellorder as wo
from wellorder.metrics import (
    COMPARISON_METRICS,
    GRADE_PROBABILITY_METRICS,
    METRICS,
    PROBABILITY_METRICS,
    Metric,
    Retrieved,
    parse,
)

EVERY = [
    each
    for table in (METRICS, COMPARISON_METRICS, PROBABILITY_METRICS, GRADE_PROBABILITY_METRICS)
    for each in table.values()
]
N_PROBLEMS = 150
NAMES = [name for name, each in METRICS.items() if not each.needs_cutoff]
NAMES += [f"{name}@3" for name, each in METRICS.items() if each.cutoff]
MORE = [
    "ndcg@10",
    "ndcg(gain=linear)@2",
    "ndcg(empty=0.5,gain=linear)",
    "reciprocal_rank@1",
    "average_precision(empty=0,positive=2)",
    "wmw(average=edges)",
    "wmw(average=edges,order=chain,ties=error)",
    "swapped_pairs(ties=half)",
    "misranking_cost(order=dcg)",
    "kendall_tau(average=groups)",
    "p_norm_push(normalize=False,p=2)",
]


def with_cutoffs(definitions):
    """Return metrics without a cut-off, and with a few."""
    whole = [Metric(each) for each in definitions if not each.needs_cutoff]
    return whole + [Metric(each, k) for each in definitions if each.cutoff for k in (1, 2, 4)]


def quietly(metric, *args, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is not defined")
        return metric(*args, **options)


def same(value, other):
    return value == pytest.approx(other, rel=1e-12, abs=1e-12, nan_ok=True)


# --------------------------------------------------------------------------------------------------
# The slow, obvious version.


def graded(rng):
    """Draw a few short lists with ties, unjudged rows, and perhaps nothing that is relevant."""
    group = np.repeat(np.arange(3), rng.integers(0, 6, 3))
    n = len(group)
    y = rng.integers(0, rng.integers(1, 5), n).astype(float)
    y[rng.random(n) < rng.choice([0.0, 0.2, 0.8])] = np.nan
    scores = rng.integers(0, rng.choice([2, 4, 50]), n) / 3
    shuffled = rng.permutation(n)
    return y[shuffled], scores[shuffled], group[shuffled]


def compared(rng):
    """Draw a few comparisons of items, some of them ties, and scores that tie as well."""
    n, scores = rng.integers(0, 9), rng.integers(0, 4, 6) / 2
    left = rng.integers(0, 6, n)
    return wo.Comparisons(left, (left + rng.integers(1, 6, n)) % 6, rng.integers(-1, 2, n)), scores


def foretold(rng):
    """Draw outcomes, and their probabilities."""
    n = rng.integers(0, 9)
    return rng.integers(-1, 2, n), rng.dirichlet(np.ones(3), n)


def twin_of(definition):
    name = definition.function.__name__
    assert hasattr(metric_twins, name), f"write the slow, obvious {name} into tests/reference/metric_twins.py"
    return getattr(metric_twins, name)


def cut(metric):
    return {} if metric.cutoff is None else {"k": metric.cutoff}


def agree(metric, value, expected):
    low, high = metric.definition.bounds
    assert np.isnan(value) if expected is None else low <= value <= high
    assert value == pytest.approx(np.nan if expected is None else expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("metric", with_cutoffs([*METRICS.values()]), ids=str)
def test_a_metric_of_grades_is_its_twin(form, metric):
    rng, twin = np.random.default_rng(0), twin_of(metric.definition)
    for _ in range(N_PROBLEMS):
        y, scores, group = graded(rng)
        agree(metric, quietly(metric, y, scores, group), twin(y, scores, group, **cut(metric)))


@pytest.mark.parametrize("metric", with_cutoffs([each for each in EVERY if each.needs == "lists"]), ids=str)
def test_a_metric_of_lists_takes_lists_that_miss_judged_rows(form, metric):
    rng, twin = np.random.default_rng(1), twin_of(metric.definition)
    for _ in range(N_PROBLEMS):
        y, scores, group = graded(rng)
        scores[rng.random(len(y)) < 0.3] = np.nan
        value = quietly(metric, y, Retrieved(scores), group)
        agree(metric, value, twin(y, scores, group, **cut(metric), retrieved=True))


@pytest.mark.parametrize("name", COMPARISON_METRICS)
def test_a_metric_of_comparisons_is_its_twin(name):
    rng, metric = np.random.default_rng(2), Metric(COMPARISON_METRICS[name])
    for _ in range(N_PROBLEMS):
        problem = compared(rng)
        agree(metric, quietly(metric, *problem), twin_of(metric.definition)(*problem))


@pytest.mark.parametrize("name", PROBABILITY_METRICS)
def test_a_metric_of_probabilities_is_its_twin(name):
    rng, metric = np.random.default_rng(3), Metric(PROBABILITY_METRICS[name])
    for _ in range(N_PROBLEMS):
        problem = foretold(rng)
        agree(metric, quietly(metric, *problem), twin_of(metric.definition)(*problem))


@pytest.mark.parametrize("name", GRADE_PROBABILITY_METRICS)
def test_a_metric_of_probabilities_of_grades_is_its_twin(name):
    rng, metric = np.random.default_rng(3), Metric(GRADE_PROBABILITY_METRICS[name])
    for _ in range(N_PROBLEMS):
        n, levels = rng.integers(0, 9), [0, 1, 3, 7][: rng.integers(2, 5)]
        y = rng.choice(levels, n).astype(float)
        y[rng.random(n) < 0.2] = np.nan
        P = rng.dirichlet(np.ones(len(levels)), n)
        value = quietly(metric, y, P, levels=levels)
        agree(metric, value, twin_of(metric.definition)(y, P, levels))
        as_grades = wo.Grades(y, levels=levels)
        assert quietly(metric, as_grades, P[:, ::-1], levels=levels[::-1]) == pytest.approx(value, nan_ok=True)


# --------------------------------------------------------------------------------------------------
# The record.


@pytest.mark.parametrize("definition", EVERY, ids=lambda each: f"{each.needs}-{each.name}")
def test_a_record_is_whole(definition):
    low, high = definition.bounds
    assert low < high
    assert definition.meaning.endswith(".")
    assert definition.function.__doc__
    assert not definition.needs_cutoff or definition.cutoff
    cutoff = 5 if definition.needs_cutoff else None
    for name in (definition.name, *definition.aliases):
        written = name if cutoff is None else f"{name}@5"
        assert parse(written, definition.supervision) == Metric(definition, cutoff)
    assert str(Metric(definition, cutoff)) == (definition.name if cutoff is None else f"{definition.name}@5")


def test_no_name_stands_for_two_metrics():
    for table in ({**METRICS, **GRADE_PROBABILITY_METRICS}, {**COMPARISON_METRICS, **PROBABILITY_METRICS}):
        names = [name for each in table.values() for name in (each.name, *each.aliases)]
        assert len(names) == len(set(names))
    assert len(COMPARISON_METRICS) + len(PROBABILITY_METRICS) == len({*COMPARISON_METRICS, *PROBABILITY_METRICS})
    assert len(METRICS) + len(GRADE_PROBABILITY_METRICS) == len({*METRICS, *GRADE_PROBABILITY_METRICS})


CHANCE = [each for each in EVERY if each.chance is not None]


@pytest.mark.parametrize("definition", CHANCE, ids=lambda each: f"{each.needs}-{each.name}")
def test_chance_is_what_random_scores_reach(definition):
    rng, values = np.random.default_rng(4), []
    for _ in range(400):
        if definition.supervision == "grades":
            y, group = rng.choice([0, 1, 1, 3, 3, 3], 60), rng.integers(0, 4, 60)
            values.append(Metric(definition)(y, rng.standard_normal(60), group))
        else:
            left = rng.integers(0, 30, 60)
            games = wo.Comparisons(left, (left + rng.integers(1, 30, 60)) % 30, rng.choice([-1, 0, 1, 1], 60))
            values.append(Metric(definition)(games, rng.exponential(size=30)))
    error = np.std(values) / np.sqrt(len(values))
    assert error < 0.01
    assert np.mean(values) == pytest.approx(definition.chance, abs=4 * error)


# --------------------------------------------------------------------------------------------------
# The cut-off.


@pytest.mark.parametrize("name", [name for name, each in METRICS.items() if each.cutoff])
def test_the_cutoff_counts_and_what_stands_below_it_does_not(form, name):
    rng, differs = np.random.default_rng(5), False
    for _ in range(50):
        y, scores = rng.integers(0, 3, 12), rng.permutation(12)
        values = {k: quietly(Metric(METRICS[name], k), y, scores) for k in (1, 3, 6)}
        differs |= len(set(values.values())) > 1
        for k, value in values.items():
            below = np.flatnonzero(scores < 12 - k)
            other = scores.copy()
            other[below] = rng.permutation(scores[below])
            assert same(quietly(Metric(METRICS[name], k), y, other), value)
    assert differs, "the cut-off changes nothing"


# --------------------------------------------------------------------------------------------------
# Rows, ties, groups, direction.


@pytest.mark.parametrize("name", NAMES + MORE)
def test_a_metric_prints_as_its_name_and_parses_back(name):
    metric = parse(name)
    assert str(metric) == name
    assert parse(str(metric)) == metric
    assert hash(parse(name)) == hash(metric)
    assert parse(metric) is metric
    assert np.isfinite(metric([0, 1, 2], [0.1, 0.3, 0.2]))


@pytest.mark.parametrize("name", NAMES + MORE)
@given(case=cases(), seed=st.integers(0, 1000))
def test_the_order_of_rows_and_the_names_of_groups_do_not_count(name, case, seed):
    metric = parse(name)
    rng = np.random.default_rng(seed)
    y = np.append(np.asarray(case.grades.levels, float), np.nan)[case.grades.level]
    value = quietly(metric, y, case.scores, case.group)
    place = rng.permutation(len(y))
    names = np.array([str(uuid.UUID(int=int(rng.integers(2**62)))) for _ in range(10)], dtype=object)
    other = quietly(metric, y[place], case.scores[place], names[case.group][place])
    assert other == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True)
    judged = ~np.isnan(y)
    left = quietly(metric, y[judged], case.scores[judged], case.group[judged])
    assert left == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True)  # unjudged rows are left out
    monotone = quietly(metric, y, np.arctan(case.scores), case.group)
    assert monotone == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True)  # only the order of scores counts


@pytest.mark.parametrize("name", NAMES + MORE)
def test_a_better_order_has_a_better_value(name):
    metric = parse(name)
    y = np.array([0, 1, 2, 2, 1, 0, 0, 3])
    best, worst = metric(y, y), metric(y, -y)
    constant = quietly(metric, y, np.zeros(8))
    assert best > worst if metric.greater_is_better else best < worst
    if not np.isnan(constant):
        assert min(best, worst) <= constant <= max(best, worst)


@pytest.mark.parametrize("name", NAMES + MORE)
def test_grades_stand_in_for_y(name):
    rng = np.random.default_rng(0)
    y, scores, group = rng.integers(0, 3, 30), np.round(rng.standard_normal(30), 1), rng.integers(0, 4, 30)
    metric = parse(name)
    order = {**metric.definition.defaults, **dict(metric.options)}.get("order", "full")
    assert metric(wo.Grades(y, group, order), scores) == pytest.approx(metric(y, scores, group), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", NAMES + MORE)
@pytest.mark.parametrize("y", [[], [np.nan, np.nan], [0, 0, 0]], ids=["no row", "unjudged", "all zero"])
def test_nothing_to_evaluate_is_nan_with_a_warning(name, y):
    if "empty=0" in name and len(y) == 3:
        assert parse(name)(y, np.zeros(len(y))) in (0.0, 0.5)
        return
    with pytest.warns(UserWarning, match="is not defined"):
        assert np.isnan(parse(name)(y, np.zeros(len(y))))


@pytest.mark.parametrize("name", NAMES + MORE)
def test_hostile_scores_and_groups(name):
    metric = parse(name)
    y = [0, 1, 2, 3]
    plain = metric(y, [0.0, 2.0, 1.0, 3.0])
    assert metric(y, [-1e300, 2e300 / 3, 1.0, 1e300]) == plain
    assert metric(y, [-np.inf, 5.0, -5.0, np.inf]) == plain
    assert metric(y, [[0.0], [2.0], [1.0], [3.0]]) == plain
    with pytest.raises(ValueError, match="score of row 2 is NaN"):
        metric(y, [0, 1, np.nan, 2])
    with pytest.raises(ValueError, match="one score a row"):
        metric(y, [0, 1])
    with pytest.raises(ValueError, match="groups has 2 entries for 4 rows"):
        metric(y, [0, 1, 2, 3], groups=["a", "b"])
    with pytest.raises(ValueError, match="row 1 has no group id"):
        metric(y, [0, 1, 2, 3], groups=["a", None, "a", "b"])


@pytest.mark.parametrize("name", NAMES + MORE)
def test_rows_are_held_against_their_own_group_alone(name):
    rng, metric = np.random.default_rng(6), parse(name)
    y, scores, group = rng.integers(0, 4, 40), np.round(rng.standard_normal(40), 1), rng.integers(0, 5, 40)
    moved = scores + rng.permutation(100.0 * np.arange(5))[group]
    assert same(metric(y, moved, group), metric(y, scores, group))
    assert metric(y, scores) != metric(y, scores, group)


@pytest.mark.parametrize("name", COMPARISON_METRICS)
def test_comparisons_in_any_order_and_scores_in_any_unit(name):
    rng, metric = np.random.default_rng(7), Metric(COMPARISON_METRICS[name])
    for _ in range(20):
        games, scores = compared(rng)
        value, place = quietly(metric, games, scores), rng.permutation(len(games))
        shuffled = wo.Comparisons(games.left[place], games.right[place], games.outcome[place])
        turned = wo.Comparisons(games.right, games.left, -games.outcome)
        assert same(quietly(metric, shuffled, scores), value)
        assert same(quietly(metric, turned, scores), value)  # who is called left does not count
        assert same(quietly(metric, games, 8 * scores + 3), value)


@pytest.mark.parametrize("name", COMPARISON_METRICS)
def test_a_better_order_predicts_comparisons_better(name):
    metric, scores = Metric(COMPARISON_METRICS[name]), np.array([0.0, 1.0, 1.0, 3.0])
    left, right = np.triu_indices(4, 1)
    games = wo.Comparisons(left, right, np.sign(scores[right] - scores[left]).astype(int))
    best, worst = metric(games, scores), metric(games, -scores)
    assert best > worst if metric.greater_is_better else best < worst
