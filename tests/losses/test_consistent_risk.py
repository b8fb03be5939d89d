"""The consistent risk (Uematsu and Lee, 2013, Theorem 4): two levels over twice the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.reference import consistent, pairs
from tests.strategies import cases

import wellorder as wo
from wellorder.losses import LOSSES, risk_at
from wellorder.order import make_consistent
from wellorder.order.consistent import _end_costs

both_forms = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)

SCHEMES = {
    "linear": wo.OrderGraph.linear(range(5)),
    "dcg": wo.OrderGraph.dcg(range(5)),
    "scale": wo.OrderGraph.from_scale([0.5, 1, 2, 0, 3], [-1, 0.5, 0.5, 1, 4]),
    "three levels": wo.OrderGraph(range(3), [[0, 0.3, 2], [0, 0, 1.7], [0, 0, 0]]),
    "three levels, one edge missing": wo.OrderGraph(range(3), [[0, 0, 2], [0, 0, 1], [0, 0, 0]]),
    "full, three levels": wo.OrderGraph.full(range(3)),
}


def close(actual, expected, scale):
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9 * max(1.0, scale))


def agrees(name, scores, order, listed):
    risk = risk_at(LOSSES[name], scores, order)
    hessian = pairs.hessian(name, listed, scores)
    u = np.cos(np.arange(len(scores)))
    size = sum(w for _, _, w in listed) * max([pairs.LOSSES[name](scores[i] - scores[j]) for i, j, _ in listed] or [0])
    if name == "smooth_hinge":  # the difference of two sums, each as large as the squared hinge's
        size += np.abs(pairs.hessian("squared_hinge", listed, scores)).sum()
    close(risk.value, pairs.risk(name, listed, scores), size)
    close(risk.gradient, pairs.gradient(name, listed, scores), size)
    close(risk.hessian_diagonal(), hessian.diagonal(), size)
    close(risk.hessian_product(u), hessian @ u, size)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("balance", ["pairs", "groups"])
@given(case=cases(max_rows=15))
@both_forms
def test_equals_the_sum_over_every_ordered_pair(name, balance, form, case):
    graph = case.grades.graph
    order = case.grades.balanced(balance)
    present = np.unique(case.grades.level[order.active])
    if order.n_pairs and not graph.take(present).is_consistent():
        with pytest.raises(ValueError, match="no consistent risk"):
            make_consistent(order)
        return
    made = make_consistent(order)
    listed = consistent.list_ordered_pairs(case.grades.level, case.group, case.weight, graph.weights)
    if balance == "groups":
        listed = [pair for pair in pairs.balance(listed, case.group) if pair[2] > 0]
    assert made.mass == order.mass
    assert made.n_pairs == order.n_pairs
    close(made.total, sum(w for _, _, w in listed), 1.0)
    agrees(name, case.scores, made, listed)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_is_the_forward_risk_and_the_extra_terms_of_theorem_4(name, scheme):
    rng = np.random.default_rng(1)
    graph = SCHEMES[scheme]
    level = np.concatenate([np.arange(graph.n_levels), rng.integers(0, graph.n_levels, 25)])
    grades = wo.Grades(level, order=graph)
    agrees(name, rng.standard_normal(len(level)), make_consistent(grades), consistent.theorem_4(level, graph.weights))


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_and_hessian_are_derivatives(name):
    rng = np.random.default_rng(2)
    order = make_consistent(wo.Grades(rng.integers(0, 5, 40), rng.integers(0, 3, 40), "linear"))
    s, u, step = rng.standard_normal(40), rng.standard_normal(40), 1e-6
    ahead, behind = (risk_at(LOSSES[name], s + sign * step * u, order) for sign in (1, -1))
    here = risk_at(LOSSES[name], s, order)
    assert (ahead.value - behind.value) / (2 * step) == pytest.approx(here.gradient @ u, rel=1e-6)
    change = (ahead.gradient - behind.gradient) / (2 * step)
    np.testing.assert_allclose(change, here.hessian_product(u), rtol=1e-5, atol=1e-5 * np.abs(change).max(initial=1))


def test_the_ends_are_the_levels_present():
    s = np.array([0.3, -1.0, 0.4, 2.0, 0.0])
    inner = make_consistent(wo.Grades([1, 2, 2, 3, 1], levels=range(6), order="full"))
    whole = make_consistent(wo.Grades([0, 1, 1, 2, 0], order="full"))
    assert risk_at(LOSSES["exponential"], s, inner).value == risk_at(LOSSES["exponential"], s, whole).value


@pytest.mark.parametrize("scheme", SCHEMES)
def test_costs_of_the_ends_are_the_first_row_and_last_column_by_the_root_of_their_corner(scheme):
    graph = SCHEMES[scheme]
    table = graph.weights
    for found, expected in zip(_end_costs(graph), (table[0], table[:, -1]), strict=True):
        np.testing.assert_allclose(found, expected / np.sqrt(table[0, -1]), rtol=1e-14)


def test_a_group_in_which_no_two_rows_differ_drops_out():
    alone = make_consistent(wo.Grades([0, 1, 2, 1, 1], [0, 0, 0, 1, 1]))
    assert alone.mass == 3
    assert not risk_at(LOSSES["exponential"], np.arange(5.0), alone).gradient[3:].any()


def test_no_pair_at_all_makes_an_empty_order():
    empty = make_consistent(wo.Grades([1.0, 1.0]))
    assert empty.n_pairs == 0
    assert risk_at(LOSSES["squared_hinge"], np.zeros(2), empty).value == 0


@pytest.mark.parametrize("order", ["full", "chain"])
def test_costs_without_a_consistent_risk_are_refused_by_name(order):
    with pytest.raises(ValueError, match=r"levels 0, 1, 2, 3.*order='linear'"):
        make_consistent(wo.Grades([0, 1, 2, 3], order=order))


def test_many_levels_cost_no_table():
    rng = np.random.default_rng(3)
    y, s = rng.standard_normal(20_000), rng.standard_normal(20_000)
    risk = risk_at(LOSSES["exponential"], s, make_consistent(wo.Grades(y, order="linear")))
    expected = ((y - y.min()) * np.exp(-s)).sum() * ((y.max() - y) * np.exp(s)).sum() / np.ptp(y)
    assert risk.value == pytest.approx(expected, rel=1e-12)


def test_an_infinite_risk_passes_without_a_warning():
    grades = wo.Grades([0, 1, 2, 2], order="linear")
    risk = risk_at(LOSSES["exponential"], np.array([3e3, 0.0, -3e3, 1.0]), make_consistent(grades))
    assert risk.value == np.inf


@pytest.mark.parametrize("name", ["exponential", "squared_hinge"])
def test_one_balanced_list_bends_by_its_share(name):
    level, scores = [0, 1, 1, 2, 2], np.array([0.3, -0.2, 0.1, 0.4, -0.5])
    plain, balanced = (
        make_consistent(wo.Grades(level, order="linear").to_pairs(5, balance)) for balance in ("pairs", "groups")
    )
    share = plain.total
    whole, part = (risk_at(LOSSES[name], scores, pairs) for pairs in (plain, balanced))
    np.testing.assert_allclose(part.hessian_diagonal() * share, whole.hessian_diagonal(), rtol=1e-12)
