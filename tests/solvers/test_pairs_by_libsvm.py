"""Few listed pairs under a kernel, by libsvm: the same minimum as the rounded hinge, proven by the gap."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import wellorder as wo
from wellorder.losses import Hinge
from wellorder.order import ListedPairs
from wellorder.solvers import cutting_plane, make_problem, planes
from wellorder.spaces import Kernel, KernelSpace


def _problem(C: float = 1.0, n: int = 60, steepness: float = 1.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, 3))
    high, low = rng.permutation(2 * n).reshape(2, n)
    swapped = X[high, 0] + rng.normal(0, 0.7, n) < X[low, 0]
    high, low = np.where(swapped, low, high), np.where(swapped, high, low)
    pairs = ListedPairs(high, low, rng.integers(1, 4, n).astype(float), 2 * n, float(n))
    K = Kernel("rbf", 0.3).matrix(X, X)
    return make_problem(KernelSpace(K), pairs, Hinge(steepness), C), K


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("steepness", [1.0, 2.0])
def test_the_minimum_is_cvxpys(C, steepness):
    problem, K = _problem(C, steepness=steepness)
    assert planes.suits_libsvm(problem)
    found = planes.pairs_by_libsvm(problem, 5e-5)
    pairs = problem.pairs
    alpha = cp.Variable(pairs.n_pairs)
    P = steepness**2 * (K[pairs.high] - K[pairs.low])[:, pairs.high]
    P -= steepness**2 * (K[pairs.high] - K[pairs.low])[:, pairs.low]
    dual = cp.sum(alpha) - 0.5 * cp.quad_form(alpha, cp.psd_wrap(P))
    box = [alpha >= 0, alpha <= problem.strength * pairs.weight]
    best = cp.Problem(cp.Maximize(dual), box).solve(solver=cp.CLARABEL)
    assert found.converged
    assert found.objective == pytest.approx(best, rel=5e-5)
    assert found.objective - found.gap <= best * (1 + 1e-5)


def test_the_gap_is_that_of_the_problem_itself():
    problem, _ = _problem()
    loose, tight = planes.pairs_by_libsvm(problem, 0.5), planes.pairs_by_libsvm(problem, 1e-7)
    assert loose.gap >= loose.objective - tight.objective - 1e-9
    assert tight.gap <= 1e-7 * tight.objective


def test_where_libsvm_does_not_end_the_rounded_hinge_goes_on(monkeypatch):
    problem, _ = _problem(10.0)
    exact = cutting_plane(problem, tol=1e-5)
    monkeypatch.setattr(planes, "_STEPS_PER_PAIR", 1)
    assert not planes.pairs_by_libsvm(problem, 1e-5).converged
    other = cutting_plane(problem, tol=1e-4)
    assert other.converged
    assert other.objective == pytest.approx(exact.objective, rel=2e-4)


def test_a_larger_kernel_between_pairs_than_between_rows_is_not_made():
    problem, _ = _problem()
    pairs = problem.pairs
    many = ListedPairs(*(np.tile(each, 3) for each in (pairs.high, pairs.low, pairs.weight)), 120, 60.0)
    assert not planes.suits_libsvm(make_problem(problem.space, many, Hinge(), 1.0))


def test_rank_svm_of_comparisons_is_solved_to_its_tolerance():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    left, right = np.arange(40), np.arange(40, 80)
    outcome = np.sign(X[right, 0] ** 2 - X[left, 0] ** 2).astype(int)
    ranker = wo.RankSVM(10.0, loss="hinge", kernel="rbf").fit(X, wo.Comparisons(left, right, outcome))
    assert ranker.gap_ <= 1e-4 * ranker.objective_
    assert ranker.score(X, wo.Comparisons(left, right, outcome)) > 0.9
