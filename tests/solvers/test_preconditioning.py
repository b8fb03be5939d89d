"""Preconditioners: a wrong one costs time only, so that no answer would show it."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.losses import LOSSES
from wellorder.order import Grades
from wellorder.solvers import make_problem
from wellorder.solvers.preconditioning import sampled_hessian, some_rows
from wellorder.spaces import Kernel, LinearSpace


def test_some_rows_of_a_kernel_are_inverted_exactly():
    rng = np.random.default_rng(0)
    K = Kernel("rbf", 0.3).matrix(*2 * (rng.normal(size=(12, 2)),))
    rows = np.array([1, 4, 5, 9])
    root = rng.normal(size=(4, 4))
    G = root @ root.T
    E = np.eye(12)[:, rows]
    v = rng.normal(size=12)
    found = some_rows(K[rows], rows, G)
    assert found.apply((np.eye(12) + E @ G @ E.T @ K) @ v) == pytest.approx(v)
    assert found.resembles


def test_the_hessian_of_few_columns_is_inverted_exactly():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    problem = make_problem(LinearSpace(X), Grades(y).pairs, LOSSES["squared_hinge"], 2.0)
    w, v = rng.normal(size=3), rng.normal(size=3)
    product = problem.risk(X @ w).hessian_product
    assert sampled_hessian(problem, w).apply(v + problem.strength * X.T @ product(X @ v)) == pytest.approx(v)
