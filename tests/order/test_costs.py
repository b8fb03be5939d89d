"""Costs over levels: which are separable, the nearest that are, and what is left over some of the levels."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import wellorder as wo
from wellorder.order.graph import separable, violation


def gap(graph, other):
    return np.abs(graph.weights - other.weights).max()


@given(seed=st.integers(0, 2**32 - 1), n_levels=st.integers(2, 7))
def test_a_separable_table_gives_back_its_weights_and_scale(seed, n_levels):
    rng = np.random.default_rng(seed)
    weight, scale = rng.random(n_levels) + 0.1, np.cumsum(rng.random(n_levels) + 0.01)
    weight[1:-1] *= rng.random(n_levels - 2) < 0.8  # an inner level may cost nothing at all
    table = wo.OrderGraph(range(n_levels), wo.OrderGraph.from_scale(weight, scale).weights)
    assert table.is_consistent()
    found = separable(table.structure, table.labels)
    np.testing.assert_allclose(wo.OrderGraph.from_scale(found.weight, found.scale).weights, table.weights, atol=1e-12)
    assert gap(table.nearest_consistent(), table) < 1e-12


@given(seed=st.integers(0, 2**32 - 1))
def test_three_levels_are_separable_whatever_they_cost(seed):
    table = np.triu(np.random.default_rng(seed).random((3, 3)), 1)
    graph = wo.OrderGraph("abc", table)
    assert graph.is_consistent()
    assert gap(graph.nearest_consistent(), graph) < 1e-12


@pytest.mark.parametrize("kind", ["full", "chain"])
@pytest.mark.parametrize("n_levels", [4, 5, 9, 20])
def test_the_nearest_costs_are_sensible(kind, n_levels):
    graph = getattr(wo.OrderGraph, kind)(range(n_levels))
    nearest = graph.nearest_consistent()
    weight, scale = nearest.structure.weight, nearest.structure.scale
    assert nearest.levels == graph.levels
    assert nearest.is_consistent()
    assert (weight > 0.1).all()
    assert (np.diff(scale) > 0).all()
    np.testing.assert_allclose(weight, weight[::-1], rtol=1e-3)  # as the costs themselves
    assert (nearest.weights[graph.weights > 0] > 0.1).all()
    assert nearest.weights.max() < 2


def test_no_nearby_scale_fits_full_better():
    graph = wo.OrderGraph.full(range(4))
    nearest = graph.nearest_consistent()

    def misfit(weights):
        upper = weights[np.triu_indices(4, 1)]
        return np.sum((upper - 1) ** 2) + np.sum(np.log(upper) ** 2)

    rng = np.random.default_rng(0)
    best = misfit(nearest.weights)
    for _ in range(200):
        weight = nearest.structure.weight * np.exp(0.05 * rng.standard_normal(4))
        scale = np.cumsum(np.diff(nearest.structure.scale, prepend=0) * np.exp(0.05 * rng.standard_normal(4)))
        assert misfit(wo.OrderGraph.from_scale(weight, scale).weights) >= best - 1e-6
    assert best < misfit(wo.OrderGraph.linear(range(4)).weights / 2)


def test_a_small_disturbance_is_forgotten():
    rng = np.random.default_rng(1)
    linear = wo.OrderGraph.linear([0, 1, 2, 5, 9])
    disturbed = wo.OrderGraph(linear.levels, linear.weights + np.triu(0.01 * rng.random((5, 5)), 1))
    assert not disturbed.is_consistent()
    assert gap(disturbed.nearest_consistent(), linear) < 0.02


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (wo.OrderGraph.full("abcde"), "a swap of 'b' and 'c' costs 1, where .* 'a' and .* 'e' ask for 0"),
        (wo.OrderGraph.full(np.arange(10.0**4)), "a swap of 1.0 and 2.0 costs 1, .* highest 9999.0 ask for 0"),
        (wo.OrderGraph.chain("abcd"), "lowest level 'a' and the highest 'd' costs nothing"),
        (wo.OrderGraph.from_scale([0, 1, 1], [0, 1, 2]), "lowest level 0 and the highest 2 costs nothing"),
        (wo.OrderGraph.from_edges("abc", [("b", "a"), ("a", "c")]), "'b' stands below 'a' but is listed after it"),
        (wo.OrderGraph.full("a"), "not two levels"),
    ],
)
def test_the_reason_names_the_levels(graph, reason):
    assert not graph.is_consistent()
    assert re.search(reason, violation(graph.structure, graph.labels))


def test_what_has_no_nearest_costs_is_refused():
    with pytest.raises(ValueError, match="2 to 60 levels, not 61"):
        wo.OrderGraph.full(range(61)).nearest_consistent()
    with pytest.raises(ValueError, match="all costs are zero"):
        wo.OrderGraph(range(4), np.zeros((4, 4))).nearest_consistent()
    with pytest.raises(ValueError, match="listed after it"):
        wo.OrderGraph.from_edges("abcd", [("b", "a"), ("a", "c")]).nearest_consistent()


@pytest.mark.parametrize("kind", ["full", "chain", "linear", "dcg"])
def test_a_restricted_graph_has_the_costs_of_the_levels_left(kind):
    graph = getattr(wo.OrderGraph, kind)([0, 1, 2, 5, 6])
    part = graph.restrict([6, 0, 1])
    assert part.levels == (0, 1, 6)
    np.testing.assert_array_equal(part.weights, graph.weights[np.ix_([0, 1, 4], [0, 1, 4])])
    with pytest.raises(ValueError, match="3 is not among the levels"):
        graph.restrict([3])


def test_a_table_too_large_to_look_through_is_not_called_consistent():
    size = 5_001
    table = sp.coo_array(([1.0, 1.0], ([0, 0], [1, size - 1])), shape=(size, size))
    graph = wo.OrderGraph(range(size), table.tocsr())
    assert not graph.is_consistent()
    assert "at most 5,000 levels" in violation(graph.structure, graph.labels)
