from __future__ import annotations

import uuid
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.strategies import cases

import wellorder as wo
from wellorder.metrics import COMPARISON_METRICS, METRICS, find_definition, parse, scorer

NAMES = [f"{name}@3" if METRICS[name].needs_cutoff else name for name in METRICS]
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


@pytest.mark.parametrize("name", NAMES + MORE)
def test_a_metric_prints_as_its_name_and_parses_back(name):
    metric = parse(name)
    assert str(metric) == name
    assert parse(str(metric)) == metric
    assert hash(parse(name)) == hash(metric)
    assert parse(metric) is metric
    assert np.isfinite(metric([0, 1, 2], [0.1, 0.3, 0.2]))


def test_options_reach_the_function():
    y, scores = [0, 0, 1, 3], [0.5, 0.5, 0.4, 0.5]
    direct = wo.metrics.ndcg(y, scores, k=2, gain="linear")
    assert parse("ndcg(gain=linear)@2")(y, scores) == direct != wo.metrics.ndcg(y, scores, k=2)
    assert parse("misranking_cost")(y, scores) == wo.metrics.misranking_cost(y, scores, "linear")
    assert parse("swapped_pairs(ties=half)")(y, scores) == wo.metrics.swapped_pairs(y, scores, ties="half")
    assert parse("precision@2")(y, scores) == wo.metrics.precision_at(y, scores, 2)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("map", "average_precision"),
        ("mrr@10", "reciprocal_rank@10"),
        ("precision_at@5", "precision@5"),
        ("tau", "kendall_tau"),
        (" wmw( ties = error , average=edges) ", "wmw(average=edges,ties=error)"),
        ("ndcg()", "ndcg"),
    ],
)
def test_other_spellings_print_as_one(name, printed):
    assert str(parse(name)) == printed


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndgc", "no metric 'ndgc'; did you mean 'ndcg'"),
        ("swapped_pairs@3", "takes no cut-off"),
        ("", "no metric"),
        (None, "no metric None"),
        ("ndcg@0", "at least 1"),
        ("ndcg@-1", "no metric"),
        ("ndcg@10@5", "no metric"),
        ("precision", "needs a cut-off: write precision@10"),
        ("wmw(average=edge)", "one of pooled, edges"),
        ("wmw(mean=edges)", "no option of the metric 'wmw'; it has order, average, ties"),
        ("wmw(average)", "no option"),
        ("wmw(ties=half,ties=half)", "given twice"),
        ("ndcg(k=3)", "no option of the metric 'ndcg'; it has gain, empty"),
        ("ndcg(groups=3)", "no option"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(name, message):
    with pytest.raises(ValueError, match=message):
        parse(name)


def quietly(metric, *args, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is not defined")
        return metric(*args, **options)


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
    order = dict(metric.options).get("order", "linear" if "cost" in name else "full")
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


def test_scorer_is_higher_for_better_models():
    X, y = np.arange(6.0)[:, None], np.arange(6)
    good, bad = wo.RankSVM().fit(X, y), wo.RankSVM().fit(X, -y)
    assert scorer("swapped_pairs")(good, X, y) == 0.0
    assert scorer("swapped_pairs")(bad, X, y) == -1.0
    assert repr(scorer("swapped_pairs")) == "scorer('swapped_pairs')"
    assert scorer("ndcg@3")(good, X, y) == 1.0


def test_definitions_are_found_by_the_names_that_metrics_print():
    assert find_definition("ndcg(gain=linear)@5") is METRICS["ndcg"]
    assert find_definition("swapped_pairs") is METRICS["swapped_pairs"]
    assert find_definition("swapped_pairs", comparisons=True) is COMPARISON_METRICS["swapped_pairs"]
    assert find_definition("comparison_error").is_share
    assert find_definition("ndcg", comparisons=True) is METRICS["ndcg"]
    assert find_definition("my_metric") is None


def test_metrics_of_comparisons_are_counts_of_comparisons():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, 12).astype(float)
    left = rng.integers(0, 12, 80)
    right = (left + rng.integers(1, 12, 80)) % 12
    outcome = rng.integers(-1, 2, 80)
    weight = rng.integers(1, 4, 80).astype(float)
    sign = np.sign(scores[right] - scores[left])
    decided = outcome != 0
    for weights in (None, weight):
        w = np.ones(80) if weights is None else weights
        games = wo.Comparisons(left, right, outcome, weights)
        value = {name: each.function(games, scores) for name, each in COMPARISON_METRICS.items()}
        swapped = w[decided & (sign != outcome)].sum() / w[decided].sum()
        assert value["swapped_pairs"] == pytest.approx(swapped)
        assert value["comparison_error"] == pytest.approx(w[sign != outcome].sum() / w.sum())
        assert value["comparison_auc"] == wo.metrics.comparison_auc(outcome, scores[right] - scores[left])
    with pytest.warns(UserWarning, match="is not defined"):
        assert np.isnan(COMPARISON_METRICS["swapped_pairs"].function(wo.Comparisons([0], [1], [0]), scores))
