from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.order import draw_pairs


@pytest.mark.parametrize("order", ["full", "chain", "linear", "table"])
@pytest.mark.parametrize("balance", ["pairs", "groups"])
def test_drawn_pairs_are_pairs_with_their_weights(order, balance, cell_form):
    rng = np.random.default_rng(0)
    y, group, weight = rng.integers(0, 5, 200), rng.integers(0, 4, 200), rng.random(200)
    if order == "table":
        order = np.zeros((5, 5))
        order[3, 1] = order[0, 4] = 2.0  # edges that lead down and up
    grades = wo.Grades(y, group, order, weight)
    pairs = grades.balanced(balance)
    drawn = draw_pairs(pairs, 7, np.random.default_rng(1))
    assert drawn.n_pairs == 7 * len(pairs.active)
    np.testing.assert_array_equal(group[drawn.high], group[drawn.low])
    expected = grades.graph.weights[y[drawn.low], y[drawn.high]] * weight[drawn.high] * weight[drawn.low]
    if balance == "groups":
        expected = expected * pairs.group_factor[group[drawn.high]]
    assert (expected > 0).all()
    np.testing.assert_allclose(drawn.weight, expected, rtol=1e-12)


def test_partners_are_drawn_evenly(cell_form):
    y = np.array([0, 1, 1, 2])
    drawn = draw_pairs(wo.Grades(y).pairs, 30_000, np.random.default_rng(2))
    of_first = np.where(drawn.low == 0, drawn.high, -1)[(drawn.low == 0)]
    counts = np.bincount(of_first, minlength=4)
    # row 0 draws one of three partners; rows 1 and 2 draw it half of the time, row 3 a third
    np.testing.assert_allclose(counts / 30_000, [0, 1 / 3 + 1 / 2, 1 / 3 + 1 / 2, 1 / 3 + 1 / 3], atol=0.02)


def test_many_levels_do_not_overflow_the_look_up():
    levels = list(range(60_000))
    edges = [(a, b) for a in (100, 50_000) for b in range(50_001, 60_000)]
    graph = wo.OrderGraph.from_edges(levels, edges)
    assert wo.Grades([100, 50_000, 59_999], order=graph).describe().n_pairs == 2
