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


@pytest.mark.parametrize("n_levels", [3, 400])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_of_unequal_groups_has_each_pair_as_often_as_the_others(n_levels, weighted):
    """On average, whether a group is drawn row by row or whole; where a level has few rows, each counts less."""
    rng = np.random.default_rng(3)
    group = np.concatenate([np.zeros(2_000, int), np.repeat(np.arange(1, 151), 4)])
    y = rng.integers(0, n_levels, len(group))
    y[:1_990] = np.minimum(y[:1_990], n_levels - 2)  # ten rows at the top
    weight = rng.uniform(0.5, 2.0, len(group)) if weighted else None
    pairs = wo.Grades(y, group, weights=weight).pairs
    size = 520
    q = size / len(pairs.active)
    totals = []
    for seed in range(150):
        rows, sample = pairs.sample(size, np.random.default_rng(seed))
        assert (np.unique(group[rows]) > 0).sum() * 4 >= (group[rows] > 0).sum()
        by_group = np.bincount(group[rows], sample_totals(sample), minlength=151)
        totals.append([by_group[0], by_group[1:].sum()])
    whole = np.bincount(group, sample_totals(pairs), minlength=151)
    expected = q * np.array([whole[0], whole[1:].sum()])
    error = np.std(totals, axis=0) / np.sqrt(150)
    assert (np.abs(np.mean(totals, axis=0) - expected) <= 4 * error).all()
    assert (error < 0.03 * expected).all()


def sample_totals(pairs):
    """Return half the weight of each row's pairs."""
    weight = np.ones(pairs.n_rows) if pairs.row_weight is None else pairs.row_weight
    group = np.zeros(pairs.n_rows, int) if pairs.group is None else pairs.group
    differ = np.not_equal.outer(pairs.level, pairs.level) & np.equal.outer(group, group)
    return 0.5 * weight * (differ @ weight)
