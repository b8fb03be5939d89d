"""SVOR over a kernel: corners around multipliers, steps solved exactly, and where that gives up."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import svor as reference

from wellorder.estimators import svor
from wellorder.estimators.svor import OrdinalProblem, by_multipliers, ordinal_svm
from wellorder.losses import OrdinalRows, ordinal as sorted_rows, ordinal_hinge, smooth_ordinal_hinge
from wellorder.losses.ordinal import ListedLooks
from wellorder.spaces import Function, KernelSpace

KINDS = ["all", "immediate", "explicit"]


def make_rows(seed, kind, n=25, n_levels=4):
    rng = np.random.default_rng(seed)
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n - n_levels)])
    scores = (0.3 if seed % 2 else -0.3) * level + rng.standard_normal(n)  # upside down, ordered thresholds are pooled
    return scores, OrdinalRows(level, rng.integers(1, 4, n).astype(float), n_levels, kind), rng


def make_problem(n=120, kind="all", C=5.0, n_levels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    truth = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)
    level = np.digitize(truth, np.quantile(truth, np.linspace(0, 1, n_levels + 1)[1:-1]))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    return OrdinalProblem(KernelSpace(K), OrdinalRows(level, np.ones(n), n_levels, kind), C)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [0.5, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_the_shifted_risk_is_the_sum_one_by_one_at_its_best_thresholds(kind, width, seed):
    scores, rows, rng = make_rows(seed, kind)
    looks = ListedLooks(rows)
    centre = rng.random((len(scores), 3))
    listed = centre[looks.row, looks.threshold]
    at = looks.at(scores, listed, width, np.zeros(3))

    def risk(b):
        return reference.shifted_risk(scores, b, rows.level, rows.weight, kind, centre, width)

    assert at.value == pytest.approx(risk(at.thresholds), rel=1e-10)
    for move in 0.1 * rng.standard_normal((40, 3)):
        moved = at.thresholds + move
        assert at.value <= risk(np.sort(moved) if kind == "explicit" else moved) + 1e-9
    assert kind != "explicit" or (np.diff(at.thresholds) >= 0).all()
    again = looks.at(scores, listed, width, at.thresholds)
    assert again.value == pytest.approx(at.value, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_the_shifted_risk_has_its_derivatives_and_its_plane(kind, seed):
    scores, rows, rng = make_rows(seed, kind)
    looks = ListedLooks(rows)
    centre, near, width, h = rng.random(len(looks)), np.zeros(3), 0.3, 1e-7
    at = looks.at(scores, centre, width, near)
    u = rng.standard_normal(len(scores))
    ahead, behind = (looks.at(scores + step * u, centre, width, near) for step in (h, -h))
    assert (ahead.value - behind.value) / (2 * h) == pytest.approx(at.gradient @ u, rel=1e-5, abs=1e-5)
    bent, d = at.bending()
    total = d.sum(axis=0)
    hessian = np.diag(d.sum(axis=1)) - (d / np.where(total > 0, total, 1.0)) @ d.T
    product = np.zeros(len(scores))
    product[bent] = hessian @ u[bent]
    np.testing.assert_allclose((ahead.gradient - behind.gradient) / (2 * h), product, atol=1e-5)
    for _ in range(20):
        other = 3 * rng.standard_normal() * scores + rng.standard_normal(len(scores))
        assert at.gradient @ other + at.plane <= ordinal_hinge(other, rows)[0] + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_around_nothing_the_shifted_risk_is_the_rounded_one(kind):
    scores, rows, _ = make_rows(1, kind)
    looks = ListedLooks(rows)
    at, rounded = looks.at(scores, np.zeros(len(looks)), 0.2, np.zeros(3)), smooth_ordinal_hinge(scores, rows, 0.2)
    assert at.value == pytest.approx(rounded.value, rel=1e-12)
    np.testing.assert_allclose(at.gradient, rounded.gradient, atol=1e-12)
    assert at.plane == pytest.approx(-rounded.slope, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_sorting_and_bisection_find_the_same_thresholds(kind, seed, monkeypatch):
    scores, rows, _ = make_rows(seed, kind, n=60)
    if seed > 2:
        scores = np.round(2 * scores) / 2  # ties, and ranges of thresholds
    value, b = ordinal_hinge(scores, rows)
    monkeypatch.setattr(sorted_rows, "_MOST_LISTED", 0)
    other_value, other_b = ordinal_hinge(scores, rows)
    assert value == pytest.approx(other_value, rel=1e-12)
    np.testing.assert_allclose(b, other_b, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_solves_newtons_equations(kind):
    problem = make_problem(kind=kind)
    space, looks = problem.space, ListedLooks(problem.rows)
    rng = np.random.default_rng(0)
    stage = svor._Stage(space, looks, problem.strength, 0.3 * rng.random(len(looks)), 0.3)
    at = stage._at(Function(space, rng.standard_normal(space.n_coef)), np.zeros(3))
    gradient = Function(space, at.f.coef + problem.strength * at.risk.gradient)
    step = stage._newton_step(at, gradient)
    bent, d = at.risk.bending()
    assert 0 < len(bent) < space.n_rows
    total = d.sum(axis=0)
    hessian = np.zeros((space.n_rows, space.n_rows))
    hessian[np.ix_(bent, bent)] = np.diag(d.sum(axis=1)) - (d / np.where(total > 0, total, 1.0)) @ d.T
    left = step.coef + problem.strength * hessian @ space.scores(step.coef)
    np.testing.assert_allclose(left, -gradient.coef, atol=1e-8)
    np.testing.assert_allclose(step.scores, space.scores(step.coef), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_multipliers_and_ever_narrower_corners_find_the_same(kind, monkeypatch):
    problem = make_problem(kind=kind)
    found = by_multipliers(problem, problem.space, problem.rows, start=None, tol=1e-6, max_iter=500)
    assert found.converged
    assert found.gap <= 1e-6 * found.objective
    assert found.objective == problem.at(Function(problem.space, found.coef)).objective
    monkeypatch.setattr(svor, "_MOST_BENT", 0)  # gives up at once
    other = ordinal_svm(problem, tol=1e-5)
    assert other.converged
    assert other.n_iter > found.n_iter
    assert found.objective == pytest.approx(other.objective, rel=2e-5)


def test_a_sample_starts_a_larger_problem_and_decides_nothing():
    problem = make_problem(n=900, n_levels=5, C=2.0)
    found = ordinal_svm(problem, tol=1e-5)
    alone = by_multipliers(problem, problem.space, problem.rows, start=None, tol=1e-5, max_iter=500)
    assert found.converged
    assert alone.converged
    assert found.n_iter < alone.n_iter
    assert found.objective == pytest.approx(alone.objective, rel=2e-5)
    rows = problem.rows.sample(4, np.random.default_rng(0))
    assert len(rows) == 225
    assert np.bincount(problem.rows.take(rows).level).tolist() == [45] * 5


def test_a_large_c_is_solved_in_few_steps():
    found = ordinal_svm(make_problem(n=300, C=1000.0), tol=1e-4)
    assert found.converged
    assert found.n_iter < 150


def test_a_kernel_that_is_none_does_not_converge():
    problem = make_problem(n=60)
    K = problem.space.scores(np.eye(60))
    values, vectors = np.linalg.eigh(K)
    values[-5:] *= -1
    broken = OrdinalProblem(KernelSpace(vectors * values @ vectors.T), problem.rows, 5.0)
    assert not ordinal_svm(broken).converged
    assert not ordinal_svm(make_problem(n=200, C=1000.0), tol=1e-9, max_iter=2).converged


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_strength_takes_a_dozen_steps_from_inside(kind, monkeypatch):
    problem = make_problem(n=900, kind=kind, C=500.0)
    found = ordinal_svm(problem, tol=1e-4)
    assert found.converged
    assert found.n_iter <= 40
    monkeypatch.setattr(svor, "_from_inside", lambda *_: None)
    other = ordinal_svm(problem, tol=1e-4)
    assert other.n_iter > 1.5 * found.n_iter
    assert found.objective == pytest.approx(other.objective, rel=2e-4)
    assert found.gap <= 1e-4 * found.objective
    assert np.count_nonzero(found.coef) <= 1.1 * np.count_nonzero(other.coef)  # it rests on as few rows


@pytest.mark.parametrize("kind", KINDS)
def test_the_interior_point_is_the_minimum(kind):
    problem = make_problem(n=80, kind=kind, C=20.0)
    inside = svor._from_inside(problem, problem.space, 1e-6, 100)
    assert inside is not None
    assert inside.n_iter <= 30
    assert problem.at(Function(problem.space, inside.coef)).objective == pytest.approx(inside.objective, rel=1e-6)
    assert inside.objective == pytest.approx(ordinal_svm(problem, tol=1e-8).objective, rel=3e-8)
