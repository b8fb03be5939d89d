"""Every form of the compiled window sums gives the same: by tables and by edges, few lines and many."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.losses import LOSSES, risk_at
from wellorder.losses.pairwise import Shortfalls
from wellorder.order import Windows
from wellorder.order.windows import TableWindows
from wellorder.solvers import Problem
from wellorder.spaces import KernelSpace, LinearSpace
from wellorder.sweeps import ALONE, multiplied_alone, sides


def graded(n_groups, order="full", n=1_000, n_levels=5, seed=0):
    rng = np.random.default_rng(seed)
    group = None if n_groups == 1 else rng.integers(0, n_groups, n)
    y = rng.integers(0, n_levels, n) if n_levels else rng.standard_normal(n)
    return wo.Grades(y, group, order=order).pairs, rng


def sides_of(pairs, scores):
    cells = pairs.cells
    rows = np.lexsort((scores, cells.group[cells.of_row]))
    for mirror, above in enumerate(cells.edges):
        bounds = pairs.bounds[-1] - pairs.bounds[::-1] if mirror else pairs.bounds
        yield (
            cells.of_row[rows],
            sides.compiled_reach(scores[rows], bounds, 1.0, bool(mirror)),
            above,
            bounds,
            bool(mirror),
        )


@pytest.mark.parametrize("order", ["full", "chain", "linear"])
@pytest.mark.parametrize("n_groups", [1, 3, 40])
def test_tables_say_what_edges_say(n_groups, order):
    pairs, rng = graded(n_groups, order)
    for cell, reach, above, bounds, mirror in sides_of(pairs, rng.standard_normal(1_000)):
        payload = rng.standard_normal((3, 1_000))
        indptr, indices, weights, table = above
        assert table is not None
        by_edges = sides.edge_sums(cell, reach, payload, indptr, indices, weights, mirror)
        by_table = sides.dense_sums(cell, reach, payload, *table, bounds, mirror)
        np.testing.assert_allclose(by_table, by_edges, atol=1e-10)
        assert by_edges.any()


def test_a_table_that_would_be_mostly_empty_is_not_made():
    y = np.arange(400) % 40
    assert wo.Grades(y, order="chain").pairs.cells.edges[0].table is None
    assert wo.Grades(np.arange(12), order="chain").pairs.cells.edges[0].table is None


@pytest.mark.parametrize("bounds", [[0, 250], [0, 1, 100, 100, 250]])
@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("margin", [0.0, 0.7])
def test_a_table_of_all_pairs_of_a_ladder_says_what_a_plan_says(bounds, mirror, margin):
    rng, bounds = np.random.default_rng(1), np.array(bounds)
    group = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    ascending = rng.standard_normal(250).round(1)
    ascending = ascending[np.lexsort((ascending, group))]
    rank = rng.integers(0, 60, 250)
    steps = 250 - bounds[::-1] if mirror else bounds
    of_step = np.repeat(np.arange(len(bounds) - 1), np.diff(steps))
    table = sides.ladder_pairs(ascending, rank, steps, margin, mirror)
    plan = sides.ladder_plan(rank, of_step, sides.plain_reach(ascending, steps, margin, mirror))
    payload = np.vstack([np.ones(250), rng.standard_normal(250)])
    np.testing.assert_allclose(payload @ table.T, sides.planned_sums(plan, payload), atol=1e-10)


@pytest.mark.parametrize("n_levels", [5, None])
@pytest.mark.parametrize("n_groups", [1, 7])
@pytest.mark.parametrize("order", ["full", "linear"])
def test_the_hessian_as_a_form_is_its_products_one_by_one(order, n_groups, n_levels):
    for n in (900, 6_000):  # NumPy, and Numba
        pairs, rng = graded(n_groups, order, n, n_levels)
        X, w = rng.standard_normal((n, 6)), rng.standard_normal(6)
        risk = risk_at(LOSSES["squared_hinge"], X @ w, pairs)
        expected = X.T @ np.column_stack([risk.hessian_product(column) for column in X.T])
        np.testing.assert_allclose(risk.hessian_form(X), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
        problem = Problem(LinearSpace(X), pairs, LOSSES["squared_hinge"], 1.0)
        np.testing.assert_allclose(problem.hessian(w), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_sums_below_are_one_half_of_the_sums():
    pairs, rng = graded(3, "linear", 6_000, None)
    windows = Windows(pairs, rng.standard_normal(6_000), margin=1.0)
    payload = rng.standard_normal((2, len(windows.rows)))
    np.testing.assert_allclose(windows.sums_below(payload), windows.sums(payload)[1], rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("order", ["full", "chain", "linear", "dcg"])
@pytest.mark.parametrize("n_groups", [1, 7])
@pytest.mark.parametrize("n_levels", [4, 90])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_table_of_few_rows_says_what_windows_say(order, n_groups, n_levels, weighted):
    rng = np.random.default_rng(n_levels)
    n, top = 120, 8 if order == "dcg" else n_levels
    group = None if n_groups == 1 else rng.integers(0, n_groups, n)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], n) if weighted else None
    balance = "groups" if weighted else "pairs"
    pairs = wo.Grades(rng.integers(0, top, n), group, weights=weight, order=order).balanced(balance)
    scores = np.round(rng.standard_normal(n), 1)  # some differ by exactly the margin
    table, windows = TableWindows(pairs, scores, 0.5), Windows(pairs, scores, 0.5)
    for few, many in ((table, windows), (table.with_margin(1.0), windows.with_margin(1.0))):
        short, same = Shortfalls(few), Shortfalls(many)
        assert short.squares == pytest.approx(same.squares, rel=1e-12)
        np.testing.assert_allclose(few.to_rows(short.gradient), many.to_rows(same.gradient), atol=1e-10)
        u, V = rng.standard_normal(n), rng.standard_normal((n, 3))
        product, expected = (w.to_rows(s.product(w.from_rows(u))) for w, s in ((few, short), (many, same)))
        np.testing.assert_allclose(product, expected, atol=1e-10)
        np.testing.assert_allclose(short.form(V[few.rows]), same.form(V[many.rows]), atol=1e-9)
    assert same.squares > 0


@pytest.mark.parametrize("shape", [(300, 40), (301, 41), (1_000, 9), (200, 200), (160, 700)])
def test_products_without_blas(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    space, w, g = LinearSpace(X), rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    assert multiplied_alone(X)
    np.testing.assert_allclose(space.scores(w), X @ w, atol=1e-12)
    np.testing.assert_allclose(space.adjoint(g), X.T @ g, atol=1e-12)
    assert not multiplied_alone(np.asfortranarray(X))
    assert not multiplied_alone(X.astype(np.float32))
    K = X @ X.T
    np.testing.assert_allclose(KernelSpace(K).scores(g), K @ g, atol=1e-9)


def test_few_rows_are_multiplied_in_blocks_that_wake_no_thread():
    X = np.random.default_rng(0).standard_normal((140, 1_000))
    space = LinearSpace(X)
    np.testing.assert_allclose(space.scores(X[0]), X @ X[0], atol=1e-12)
    np.testing.assert_allclose(space.adjoint(X[:, 0]), X.T @ X[:, 0], atol=1e-12)
    assert max(block[2].size for block in space._blocks) <= ALONE
