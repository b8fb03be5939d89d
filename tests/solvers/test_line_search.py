"""How far a step is taken: as far as it leads down, and no evaluation more than that is worth."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import wellorder as wo
from wellorder.losses import LOSSES, RiskAt
from wellorder.solvers import make_problem, newton, newton_cg, planes
from wellorder.solvers.problem import Problem
from wellorder.spaces import Function, LinearSpace


def problem(noise: float, C: float = 100.0, loss: str = "squared_hinge", levels: int = 5) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    latent = X @ rng.standard_normal(8)
    latent += noise * latent.std() * rng.standard_normal(400)
    grades = np.searchsorted(np.quantile(latent, np.arange(1, levels) / levels), latent)
    return make_problem(LinearSpace(X), wo.Grades(grades).pairs, LOSSES[loss], C)


@pytest.fixture
def work(monkeypatch):
    """Count evaluations of the risk and products with its Hessian."""
    counts: Counter[str] = Counter()
    risk = Problem.risk

    def counted(self, scores):
        counts["evaluations"] += 1
        return risk(self, scores)

    monkeypatch.setattr(Problem, "risk", counted)

    def of_fit(posed):
        counts.clear()
        found = newton_cg(posed)
        assert found.converged
        return counts["evaluations"], found.n_products

    return of_fit


def first_step(posed):
    """Return the start, the step to the minimum of its quadratic model, and the slope along it."""
    at = posed.first(None)
    gradient = at.f.coef + posed.strength * posed.space.adjoint(at.risk.gradient)
    step = Function(posed.space, -np.linalg.solve(np.eye(8) + posed.strength * posed.hessian(at.f.coef), gradient))
    return at, step, float(gradient @ step.coef)


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "exponential"])
def test_a_step_goes_on_where_it_still_falls(noise, loss):
    posed = problem(noise, loss=loss)
    at, step, slope = first_step(posed)
    taken, length = newton._line_search(posed, at, step, slope)
    assert taken.objective == posed.at(at.f.plus(length, step)).objective
    lengths = np.linspace(0.05, 3.0, 60)
    along = np.array([posed.at(at.f.plus(t, step)).objective for t in lengths])
    ends = posed.at(at.f.plus(1.0, step)).objective
    if lengths[along.argmin()] > 1.3:
        assert length > 1.0
        assert ends - taken.objective > 0.5 * (ends - along.min())
    assert taken.objective <= ends


def test_longer_steps_save_work(work, monkeypatch):
    for noise in (0.0, 0.3):
        posed = problem(noise)
        evaluations, products = work(posed)
        with monkeypatch.context() as patch:
            patch.setattr(newton, "_lengthened", lambda posed, at, step, slope, end: (end, 1.0))
            before, products_before = work(posed)
        assert products <= products_before
        assert evaluations + products < before + products_before


def test_a_step_that_ends_level_costs_nothing_more(work, monkeypatch):
    posed = problem(noise=20.0)  # nearly every pair is within the margin to the end: the model is right
    found = work(posed)
    monkeypatch.setattr(newton, "_lengthened", lambda posed, at, step, slope, end: (end, 1.0))
    assert found == work(posed)


@pytest.mark.parametrize("far", [0.02, 0.5, 1.5])
def test_planes_search_their_line_to_its_lowest_point_also_beyond_the_target(far):
    """The target at a part of the way there, or beyond it."""
    posed = problem(0.3, C=10.0)
    at, step, _ = first_step(posed)
    along = minimize_scalar(lambda t: posed.at(at.f.plus(t, step)).objective, bounds=(0, 5), method="bounded")
    found = planes._search_line(posed, at, at.f.plus(far * along.x, step))
    assert found.objective == posed.at(found.f).objective
    assert found.objective - along.fun <= 1e-6 * (at.objective - along.fun)


@pytest.mark.parametrize("noise", [0.0, 20.0])
def test_products_with_the_hessian_are_counted(noise, monkeypatch):
    products, risk = 0, Problem.risk

    def counted(self, scores):
        def product(u):
            nonlocal products
            products += 1
            return at.hessian_product(u)

        at = risk(self, scores)
        return RiskAt(at.value, at.gradient, at.hessian_diagonal, product)

    monkeypatch.setattr(Problem, "risk", counted)
    found = newton_cg(problem(noise), certain=True, tol=1e-8)
    assert found.converged
    assert found.n_products == products
