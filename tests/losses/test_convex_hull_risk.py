"""Slacks an edge: against one by one, a general solver, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.reference import convex_hull as reference

from wellorder.estimators.hulls import EdgeSlacks, LevelEdges
from wellorder.losses import GradedRows

GRAPHS = {
    "chain": [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)],
    "full": [(a, b, 1.0) for a in range(4) for b in range(a + 1, 4)],
    "diamond": [(0, 1, 2.0), (0, 2, 0.5), (1, 3, 1.0), (2, 3, 3.0)],
}


def as_slacks(edges, n_levels=4):
    low, high, weight = zip(*edges, strict=True)
    return EdgeSlacks(LevelEdges(np.array(low), np.array(high), np.array(weight)), n_levels)


def make_scores(seed, n=40, shift=0.0):
    rng = np.random.default_rng(seed)
    level = np.concatenate([np.arange(4), rng.integers(-1, 4, n - 4)])
    scores = 0.5 * level + rng.standard_normal(n) + shift
    return scores, GradedRows(level, rng.integers(1, 4, n).astype(float), 4), rng


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(("seed", "shift"), [(0, 0.0), (1, 1e6)])
def test_value_and_thresholds_are_a_general_solvers(graph, shift, seed, form):
    scores, rows, _ = make_scores(seed, shift=shift)
    edges, slacks = GRAPHS[graph], as_slacks(GRAPHS[graph])
    risk, t = slacks.at(scores, rows)
    one_by_one = reference.risk(scores, t, rows.level, rows.weight, edges)
    assert risk.value == pytest.approx(one_by_one, rel=1e-12 if shift == 0 else 1e-8)
    assert slacks.value(scores, rows, t) == pytest.approx(one_by_one, rel=1e-12)
    least = reference.least_risk(scores - shift, rows.level, rows.weight, edges)
    assert risk.value == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("graph", GRAPHS)
def test_derivatives_are_those_of_the_minimum(graph, form):
    scores, rows, rng = make_scores(0)
    slacks = as_slacks(GRAPHS[graph])
    risk, t = slacks.at(scores, rows)
    u, h = rng.standard_normal(len(scores)), 1e-6
    ahead, behind = (slacks.at(scores + step * u, rows)[0] for step in (h, -h))
    assert (ahead.value - behind.value) / (2 * h) == pytest.approx(risk.gradient @ u, rel=1e-6)
    np.testing.assert_allclose((ahead.gradient - behind.gradient) / (2 * h), risk.hessian_product(u), atol=1e-5)
    columns = np.array([risk.hessian_product(e) for e in np.eye(len(scores))])
    np.testing.assert_allclose(columns, columns.T, atol=1e-12)
    np.testing.assert_allclose(np.diag(columns), risk.hessian_diagonal(), atol=1e-12)
    assert np.linalg.eigvalsh(columns).min() > -1e-10
    assert not risk.gradient[rows.level < 0].any()
    assert risk.gradient.sum() == pytest.approx(0.0, abs=1e-10)  # a common shift is the thresholds' own
    fixed = np.diag(columns) + 0.0
    assert (slacks.curvature(scores, rows, t) >= fixed - 1e-12).all()


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-8, 8), st.integers(1, 3)), min_size=0, max_size=25),
    st.sampled_from(sorted(GRAPHS)),
)
def test_ties_and_separated_levels(listed, graph):
    level, scores, weight = (np.array(c) for c in zip(*[(k, 4 * k, 1) for k in range(4)], *listed, strict=True))
    rows = GradedRows(level, weight.astype(float), 4)
    slacks = as_slacks(GRAPHS[graph])
    risk, t = slacks.at(scores / 2.0, rows)
    assert risk.value == pytest.approx(
        reference.risk(scores / 2.0, t, level, weight, GRAPHS[graph]), rel=1e-9, abs=1e-9
    )
    for step in (-1e-3, 1e-3):  # no other threshold is better
        assert reference.risk(scores / 2.0, t + step, level, weight, GRAPHS[graph]) >= risk.value - 1e-9
    many = GradedRows(np.repeat(level, weight), np.ones(weight.sum()), 4)
    again, t_again = slacks.at(np.repeat(scores / 2.0, weight), many)
    assert again.value == pytest.approx(risk.value, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(t_again, t, atol=1e-7)


def test_a_threshold_between_separated_levels_stands_in_the_middle():
    rows = GradedRows(np.array([0, 1, 1]), np.ones(3), 2)
    risk, t = as_slacks([(0, 1, 1.0)], 2).at(np.array([0.0, 4.0, 5.0]), rows)
    assert (risk.value, t.tolist()) == (0.0, [2.5])  # rows of level 0 end at 1, those of level 1 begin at 4


def test_scores_that_are_not_finite_cost_infinitely_much():
    rows = GradedRows(np.array([0, 1]), np.ones(2), 2)
    risk, t = as_slacks([(0, 1, 1.0)], 2).at(np.array([0.0, np.nan]), rows)
    assert risk.value == np.inf
    assert np.isnan(t).all()
