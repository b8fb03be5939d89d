from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.estimators.test_rank_svm import make_data
from tests.reference import pairs as reference

import wellorder as wo


def hinge_minimum(X, listed, strength):
    high, low, weight = (np.array(column) for column in zip(*listed, strict=True))
    w = cp.Variable(X.shape[1])
    loss = cp.sum(cp.multiply(weight, cp.pos(1 - (X[high] - X[low]) @ w)))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + strength * loss))
    problem.solve(solver=cp.CLARABEL)
    return problem.value, w.value


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("order", ["full", "dcg"])
def test_hinge_reaches_the_optimum_with_a_true_gap(C, order):
    X, y, group, weight = make_data(1)
    model = wo.RankSVM(C=C, loss="hinge", order=order).fit(X, y, groups=group, sample_weight=weight)
    grades = wo.Grades(y, group, order, weight)
    listed = reference.list_pairs(grades.level, group, weight, grades.graph.weights)
    minimum, w = hinge_minimum(X, listed, C * grades.pairs.mass / grades.pairs.total)
    assert minimum * (1 - 1e-6) <= model.objective_ <= minimum * (1 + 2e-4)
    assert model.objective_ - model.gap_ <= minimum * (1 + 1e-6)  # the bound is a bound
    np.testing.assert_allclose(model.coef_, w, atol=0.05 * np.linalg.norm(w))


def test_hinge_on_continuous_grades_and_many_rows():
    X, y, _, _ = make_data(2, n=15_000, n_levels=None)
    model = wo.RankSVM(loss="hinge", tol=1e-3).fit(X, y)
    assert 0 <= model.gap_ <= 1e-3 * model.objective_
    other = wo.RankSVM(loss="squared_hinge").fit(X, y)
    assert model.score(X, y) == pytest.approx(other.score(X, y), abs=0.01)


def test_hinge_on_comparisons_equals_the_explicit_problem():
    X, y, _, _ = make_data(3, n=40)
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 40, 200), rng.integers(0, 40, 200)
    left, right = left[left != right], right[left != right]
    outcome = np.sign(y[right] - y[left])
    model = wo.RankSVM(C=0.5, loss="hinge").fit(X, wo.Comparisons(left, right, outcome))
    listed = [(r, le, 1.0) if o > 0 else (le, r, 1.0) for le, r, o in zip(left, right, outcome, strict=True) if o]
    minimum, _ = hinge_minimum(X, listed, 0.5)
    assert model.objective_ == pytest.approx(minimum, rel=2e-3)


def test_too_few_rounds_warn():
    X, y, _, _ = make_data(4)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        wo.RankSVM(loss="hinge", max_iter=2, tol=1e-9).fit(X, y)


def test_idle_planes_are_dropped():
    from wellorder.losses import LOSSES
    from wellorder.solvers import cutting_plane, make_problem
    from wellorder.spaces import LinearSpace

    X, y, _, _ = make_data(5, n=3_000, d=20)
    result = cutting_plane(make_problem(LinearSpace(X), wo.Grades(y).pairs, LOSSES["hinge"], 10.0), tol=1e-6)
    assert result.converged
    assert result.n_constraints < result.n_iter
