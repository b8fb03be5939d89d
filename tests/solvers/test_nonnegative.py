"""Newton over a ≥ 0, as weights of an ensemble are learned, against a cone solver."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.order_ensemble import best_weights

import wellorder as wo
from wellorder.losses import LOSSES
from wellorder.solvers import make_problem, signed_newton
from wellorder.spaces import LinearSpace


def nonnegative(problem):
    """Minimise over a ≥ 0 as exactly as rounding lets one."""
    return signed_newton(problem, np.ones(problem.space.n_coef, np.int64), tol=1e-10)


def listed(y, groups, weight):
    n = len(y)
    return [(i, j, weight[i] * weight[j]) for i in range(n) for j in range(n) if y[i] > y[j] and groups[i] == groups[j]]


@pytest.mark.parametrize("seed", range(6))
def test_it_finds_what_a_cone_solver_finds(seed):
    rng = np.random.default_rng(seed)
    n, m = 30, 5
    y, groups, weight = rng.integers(0, 4, n), rng.integers(0, 2, n), rng.uniform(0.5, 2.0, n)
    points = rng.standard_normal((n, m)) + np.outer(y, [0.5, 0.1, 0.0, -0.3, 1.0])
    C = float(rng.choice([0.01, 1.0, 100.0]))
    grades = wo.Grades(y, groups, weights=weight)
    found = nonnegative(make_problem(LinearSpace(points), grades.pairs, LOSSES["squared_hinge"], C))
    in_pairs = grades.pairs.active
    a, value = best_weights(points, listed(y, groups, weight), weight[in_pairs].sum(), C)
    assert found.converged
    assert found.coef == pytest.approx(a, abs=2e-5)
    assert found.objective == pytest.approx(value, rel=1e-8)
    assert found.objective <= value * (1 + 1e-10)
    assert (found.coef >= 0).all()


def test_nothing_helps_where_all_columns_point_the_wrong_way():
    y = np.arange(20)
    problem = make_problem(
        LinearSpace(-np.column_stack([y, y**2]) / 20), wo.Grades(y).pairs, LOSSES["squared_hinge"], 1.0
    )
    found = nonnegative(problem)
    assert found.coef.tolist() == [0.0, 0.0]
    assert found.converged


def test_columns_that_are_the_same_share_their_weight():
    y = np.repeat(np.arange(4), 5)
    column = y + np.random.default_rng(0).standard_normal(20)
    points = np.column_stack([column, column, np.zeros(20)])
    found = nonnegative(make_problem(LinearSpace(points), wo.Grades(y).pairs, LOSSES["squared_hinge"], 10.0))
    assert found.coef[0] == pytest.approx(found.coef[1], rel=1e-6)
    assert found.coef[0] > 0
    assert found.coef[2] == 0.0
