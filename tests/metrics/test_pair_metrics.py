from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sklearn.metrics import roc_auc_score
from tests.reference import metrics as reference, pairs as reference_pairs
from tests.strategies import cases

import wellorder as wo
from wellorder.metrics import (
    auc_consecutive,
    auc_ovo,
    auc_pairs,
    misranking_cost,
    order_error_rates,
    pairs,
    swapped_pairs,
    wmw,
)

tie_rules = st.sampled_from(["error", "half"])


def sums_of(case, ties):
    """Swapped and total weight of each edge, keyed by level numbers."""
    level = np.where(case.grades.level < 0, np.nan, case.grades.level)
    return reference.edge_sums(level, case.scores, case.group, case.weight, ties)


def undefined(function, *args, **options):
    with pytest.warns(UserWarning, match="there is no pair"):
        assert np.isnan(function(*args, **options))


@given(case=cases(), ties=tie_rules)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_aucs_equal_their_definitions_over_listed_pairs(form, cell_form, case, ties):
    sums = sums_of(case, ties)
    if not sums:
        for function in (auc_pairs, auc_ovo, auc_consecutive):
            undefined(function, case.grades, case.scores, ties=ties)
        return
    swapped, total = np.sum(list(sums.values()), axis=0)
    assert auc_pairs(case.grades, case.scores, ties=ties) == pytest.approx(1 - swapped / total, abs=1e-12)
    assert auc_ovo(case.grades, case.scores, ties=ties) == pytest.approx(reference.auc_ovo(sums), abs=1e-12)
    expected = reference.auc_consecutive(sums)
    assert auc_consecutive(case.grades, case.scores, ties=ties) == pytest.approx(expected, abs=1e-12)


@given(case=cases(), ties=tie_rules)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_wmw_over_pairs_and_over_edges(form, cell_form, case, ties):
    if not case.listed:
        undefined(wmw, case.grades, case.scores, ties=ties, average="edges")
        return
    pooled = wmw(case.grades, case.scores, ties=ties)
    assert pooled == pytest.approx(1 - swapped_pairs(case.grades, case.scores, ties=ties), abs=1e-12)
    table, level = case.grades.graph.weights, case.grades.level
    rates: dict[tuple[int, int], list[float]] = {}
    for i, j, _ in case.listed:
        weight = case.weight[i] * case.weight[j]
        wrong = reference.wrong(case.scores[i], case.scores[j], ties)
        rates.setdefault((level[j], level[i]), []).append((weight * wrong, weight))
    assert all(table[edge] > 0 for edge in rates)
    expected = np.mean([1 - np.divide(*np.sum(edge, axis=0)) for edge in rates.values()])
    assert wmw(case.grades, case.scores, average="edges", ties=ties) == pytest.approx(expected, abs=1e-12)


@given(case=cases(), ties=tie_rules)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_error_rates_for_each_two_grades(form, case, ties):
    expected = {
        (case.grades.levels[low], case.grades.levels[high]): swapped / total
        for (low, high), (swapped, total) in (
            ((int(low), int(high)), part) for (low, high), part in sums_of(case, ties).items()
        )
    }
    assert order_error_rates(case.grades, case.scores, ties=ties) == pytest.approx(expected, abs=1e-12)


@given(case=cases(), ties=tie_rules)
def test_misranking_cost_divides_by_the_number_of_pairs(case, ties):
    sums = sums_of(case, ties)
    if not sums:
        undefined(misranking_cost, case.grades, case.scores, None, ties=ties)
        return
    name = "swapped" if ties == "error" else "swapped_half"
    expected = reference_pairs.risk(name, case.listed, case.scores) / sum(total for _, total in sums.values())
    cost = misranking_cost(case.grades, case.scores, None, ties=ties)
    assert cost == pytest.approx(expected, rel=1e-12, abs=1e-12)
    doubled = wo.OrderGraph(case.grades.levels, 2 * case.grades.graph.weights)
    assert misranking_cost(case.grades, case.scores, doubled, ties=ties) == pytest.approx(2 * cost, rel=1e-12)


@pytest.mark.parametrize("ties", ["error", "half"])
def test_the_three_risks_are_costs_of_page_six(ties):
    rng = np.random.default_rng(0)
    y, scores = rng.choice(4, 200, p=[0.1, 0.4, 0.2, 0.3]), np.round(rng.standard_normal(200), 1)
    n = np.bincount(y)
    size = len(n)
    every = sum(n[a] * n[b] for b in range(size) for a in range(b))
    below, above = np.cumsum(n), len(y) - np.cumsum(n)
    costs = {name: np.zeros((size, size)) for name in ("pairs", "ovo", "cons")}
    for i in range(size):
        for j in range(i):
            costs["pairs"][j, i] = 1
            costs["ovo"][j, i] = 2 / (size * (size - 1)) * every / (n[i] * n[j])
            costs["cons"][j, i] = every / (size - 1) * sum(1 / (below[cut] * above[cut]) for cut in range(j, i))
    functions = {"pairs": auc_pairs, "ovo": auc_ovo, "cons": auc_consecutive}
    for name, function in functions.items():
        risk = misranking_cost(y, scores, costs[name], ties=ties)
        assert 1 - function(y, scores, ties=ties) == pytest.approx(risk, abs=1e-12), name
        assert risk == pytest.approx(swapped_pairs(y, scores, order=costs[name], ties=ties), abs=1e-12)  # ΣW = N


def test_all_are_the_auc_for_two_levels():
    rng = np.random.default_rng(1)
    y, s, w = rng.integers(0, 2, 300), np.round(rng.standard_normal(300), 1), rng.random(300)
    expected = roc_auc_score(y, s, sample_weight=w)
    for function in (auc_pairs, auc_ovo, auc_consecutive, wmw):
        assert function(y, s, sample_weight=w) == pytest.approx(expected, abs=1e-12)
    assert wmw(y, s, average="edges", sample_weight=w) == pytest.approx(expected, abs=1e-12)
    assert 1 - order_error_rates(y, s, ties="half", sample_weight=w)[0, 1] == pytest.approx(expected, abs=1e-12)


def test_auc_ovo_is_scikit_learns_one_against_one():
    rng = np.random.default_rng(2)
    y, s = rng.integers(0, 3, 300), np.round(rng.standard_normal(300), 1)
    expected = np.mean(
        [roc_auc_score(y[k] == b, s[k]) for a, b in [(0, 1), (0, 2), (1, 2)] for k in [np.isin(y, (a, b))]]
    )
    assert auc_ovo(y, s) == pytest.approx(expected, abs=1e-12)


def test_weights_are_repetition():
    rng = np.random.default_rng(3)
    y, s, w = rng.integers(0, 4, 60), np.round(rng.standard_normal(60), 1), rng.integers(0, 4, 60)
    group = rng.integers(0, 3, 60)
    for function in (auc_pairs, auc_ovo, auc_consecutive, wmw):
        weighted = function(y, s, group, sample_weight=w)
        assert weighted == pytest.approx(function(y.repeat(w), s.repeat(w), group.repeat(w)), abs=1e-12)


def test_as_many_levels_as_rows_are_cheap_in_one_list():
    rng = np.random.default_rng(4)
    y, s = rng.standard_normal(20_000), rng.standard_normal(20_000)
    share = 1 - swapped_pairs(y, s)
    assert auc_ovo(y, s) == pytest.approx(share, abs=1e-12)  # every pair of levels is one pair
    assert auc_pairs(y, s) == pytest.approx(share, abs=1e-12)
    assert 0.4 < auc_consecutive(y, s) < 0.6


def test_levels_absent_from_the_data_do_not_count():
    grades = wo.Grades([0, 0, 2, 3, 2], levels=[0, 1, 2, 3, 4])
    scores = [0.1, 0.6, 0.5, 0.4, 0.9]
    for function in (auc_pairs, auc_ovo, auc_consecutive):
        assert function(grades, scores) == pytest.approx(function([0, 0, 1, 2, 1], scores))


def test_too_many_levels_for_a_table_are_refused(monkeypatch):
    monkeypatch.setattr(pairs, "MOST_WEIGHED_LEVELS", 2)
    with pytest.raises(ValueError, match="at most 2 levels; bin the grades"):
        auc_ovo([0, 1, 2], [0, 1, 2], groups=[0, 0, 0])
    with pytest.raises(ValueError, match="one rate for each two"):
        order_error_rates(np.arange(2000), np.arange(2000))


def test_misranking_cost_needs_an_order_over_the_same_levels():
    with pytest.raises(ValueError, match="needs costs"):
        misranking_cost([0, 1], [0, 1], None)
    with pytest.raises(ValueError, match="the levels are"):
        misranking_cost(wo.Grades([0, 1]), [0, 1], wo.OrderGraph.full([0, 1, 2]))
    assert misranking_cost([0, 3], [1, 0], "linear") == 3.0
    assert swapped_pairs([0, 3], [1, 0], order="linear") == 1.0


@pytest.mark.parametrize("function", [wmw, auc_pairs, auc_ovo, auc_consecutive, order_error_rates])
def test_unknown_rules(function):
    with pytest.raises(ValueError, match="ties='random' is not known; use 'error' or 'half'"):
        function([0, 1], [0, 1], ties="random")
    with pytest.raises(ValueError, match="average='mean' is not known"):
        wmw([0, 1], [0, 1], average="mean")


def test_edges_of_zero_weight_are_no_edges():
    y, scores = [0, 1, 2, 3], [0.3, 0.2, 0.4, 0.1]
    graph = wo.OrderGraph.from_scale([1, 1, 0, 1], [0, 1, 2, 3])  # level 2 weighs nothing
    assert wmw(y, scores, order=graph, average="edges") == 0.0  # (0, 1), (0, 3) and (1, 3) are all swapped
    graph = wo.OrderGraph.from_scale([1, 1, 1, 1], [0, 1, 1, 1])  # 1, 2 and 3 are not told apart
    assert wmw(y, scores, order=graph, average="edges") == pytest.approx(1 / 3)
