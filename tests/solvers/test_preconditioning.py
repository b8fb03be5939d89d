"""Preconditioners: a wrong one costs time only, so that no answer would show it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from wellorder import RankSVM
from wellorder.losses import LOSSES
from wellorder.order import Grades
from wellorder.solvers import make_problem, stages
from wellorder.solvers.newton import IDENTITY, by_inverse, sampled_hessian, some_rows
from wellorder.spaces import Kernel, KernelSpace, LinearSpace


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


def test_what_a_step_has_shown_is_learned():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(5, 5))
    H, guess = np.eye(5) + root @ root.T, by_inverse(np.diag(rng.random(5) + 0.1))
    step = rng.normal(size=5)
    learned = guess.learned(step, H @ step)
    assert learned.apply(H @ step) == pytest.approx(step)
    assert np.linalg.eigvalsh(learned.inverse).min() > 0
    assert guess.learned(step, -H @ step) is guess  # no convex function bends like that
    assert IDENTITY.learned(step, H @ step) is IDENTITY


@pytest.mark.parametrize("n_levels", [5, None])
def test_a_large_fit_goes_over_all_rows_few_times(monkeypatch, n_levels):
    rng = np.random.default_rng(4)
    n, calls = 60_000, []
    X = rng.standard_normal((n, 10))
    y = X[:, 0] + rng.standard_normal(n)
    for name in ("scores", "adjoint"):
        product = getattr(LinearSpace, name)

        def counted(self, vector, product=product):
            calls.append(self.n_rows)
            return product(self, vector)

        monkeypatch.setattr(LinearSpace, name, counted)
    RankSVM().fit(X, y if n_levels is None else np.digitize(y, [-1.5, -0.5, 0.5, 1.5]))
    assert calls.count(n) <= 6  # a start and two steps: there and back


@pytest.mark.parametrize("levels", [3, 600])
def test_a_kernel_problem_with_a_large_strength_takes_few_products(levels, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 6))
    truth = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(600)
    y = np.argsort(np.argsort(truth)) * levels // 600
    products, scores = [0], KernelSpace.scores

    def counted(space, coef):
        products[0] += space.n_rows == 600
        return scores(space, coef)

    monkeypatch.setattr(KernelSpace, "scores", counted)
    few = RankSVM(C=1000.0, kernel="rbf").fit(X, y)
    of_few, products[0] = products[0], 0
    monkeypatch.setattr(stages, "_LARGE_C", np.inf)
    many = RankSVM(C=1000.0, kernel="rbf").fit(X, y)
    assert of_few < 0.7 * products[0]
    assert few.objective_ == pytest.approx(many.objective_, rel=2e-4)


@pytest.mark.parametrize("most", [1, 3, 4])
def test_a_kernel_problem_ends_after_as_many_steps_as_it_may_take(most, monkeypatch):
    """Whether or not they are a multiple of those after which it is preconditioned anew."""
    calls, solve = [], stages.newton_cg

    def counted(problem, **settings):
        calls.append(settings["max_iter"])
        assert len(calls) < 10
        return solve(problem, **settings)

    monkeypatch.setattr(stages, "newton_cg", counted)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 3))
    y = np.digitize(np.sin(2 * X[:, 0]) + 0.5 * rng.standard_normal(240), [-0.5, 0.5])
    with pytest.warns(ConvergenceWarning):
        model = RankSVM(C=1000.0, kernel="rbf", tol=1e-12, max_iter=most).fit(X, y)
    assert model.n_iter_ == most
    assert calls[-2:] == [3, 1] if most == 4 else calls[-1:] == [most]
