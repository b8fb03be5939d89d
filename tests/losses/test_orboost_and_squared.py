"""Losses of single rows: the reference's sums, and derivatives that are derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import orboost as reference

from wellorder.losses import ROW_LOSSES, GradedRows

NAMES = ["orboost", "squared"]


def random_rows(seed, n=40, n_levels=4, spread=1.0):
    rng = np.random.default_rng(seed)
    level = np.concatenate([np.arange(n_levels), rng.integers(-1, n_levels, n - n_levels)]).astype(np.int32)
    weight = np.where(level >= 0, rng.uniform(0.5, 2.0, n), 0.0)
    return GradedRows(level, weight, n_levels), spread * rng.standard_normal(n), rng


@pytest.mark.parametrize("n_levels", [2, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_orboost_has_the_best_ordered_thresholds(n_levels, seed):
    rows, s, _ = random_rows(seed, 25, n_levels, spread=1.5)
    risk, theta = ROW_LOSSES["orboost"].at(s, rows)
    expected = reference.best_thresholds(s, rows.level.tolist(), rows.weight)
    np.testing.assert_allclose(theta, expected, atol=1e-3)  # as near as the solver comes
    assert (np.diff(theta) >= 0).all()
    assert risk.value == pytest.approx(reference.risk(s, rows.level, rows.weight, theta), rel=1e-12)
    assert risk.value <= reference.risk(s, rows.level, rows.weight, np.sort(expected)) * (1 + 1e-9)


def test_thresholds_that_would_cross_are_pooled():
    rows = GradedRows(np.array([0, 1, 1, 1, 2], np.int32), np.ones(5), 3)
    _, theta = ROW_LOSSES["orboost"].at(np.array([3.0, 0.0, 0.1, -0.2, -3.0]), rows)
    assert theta[0] == theta[1]
    _, theta = ROW_LOSSES["orboost"].at(np.array([-3.0, 0.0, 0.1, -0.2, 3.0]), rows)
    assert theta[0] < theta[1]


def test_squared_is_the_variance_of_what_is_left():
    rows, s, _ = random_rows(1)
    risk, constant = ROW_LOSSES["squared"].at(s, rows)
    taking = rows.level >= 0
    left, weight = (rows.level - s)[taking], rows.weight[taking]
    assert constant[0] == pytest.approx(np.average(left, weights=weight))
    assert risk.value == pytest.approx(weight.sum() * np.average((left - constant[0]) ** 2, weights=weight))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spread", [0.5, 2.0])  # with 2, some thresholds are pooled
def test_gradient_and_hessian_are_derivatives_of_the_minimum(name, spread):
    rows, s, rng = random_rows(2, spread=spread)
    loss, u, step = ROW_LOSSES[name], rng.standard_normal(len(s)), 1e-6
    here = loss.at(s, rows)[0]
    ahead, behind = (loss.at(s + sign * step * u, rows)[0] for sign in (1, -1))
    assert (ahead.value - behind.value) / (2 * step) == pytest.approx(here.gradient @ u, rel=1e-6)
    product = here.hessian_product(u)
    np.testing.assert_allclose((ahead.gradient - behind.gradient) / (2 * step), product, rtol=1e-4, atol=1e-5)
    matrix = np.column_stack([here.hessian_product(unit) for unit in np.eye(len(s))])
    np.testing.assert_allclose(matrix.diagonal(), here.hessian_diagonal(), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(matrix @ np.ones(len(s)), 0.0, atol=1e-8)  # constants are free


@pytest.mark.parametrize("name", NAMES)
def test_value_and_curvature_are_those_at_held_thresholds(name):
    rows, s, _ = random_rows(3)
    loss, step = ROW_LOSSES[name], 1e-4
    risk, theta = loss.at(s, rows)
    assert loss.value(s, rows, theta) == pytest.approx(risk.value, rel=1e-12)
    for i in range(0, len(s), 7):
        unit = step * (np.arange(len(s)) == i)
        bend = (loss.value(s + unit, rows, theta) - 2 * risk.value + loss.value(s - unit, rows, theta)) / step**2
        assert loss.curvature(s, rows, theta)[i] == pytest.approx(bend, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_weight_two_is_the_row_twice(name):
    rows, s, rng = random_rows(4)
    times = np.where(rows.level >= 0, rng.integers(1, 4, len(s)), 1)
    weighted = GradedRows(rows.level, times.astype(float), 4)
    repeated = GradedRows(np.repeat(rows.level, times), np.ones(times.sum()), 4)
    (a, theta), (b, same) = ROW_LOSSES[name].at(s, weighted), ROW_LOSSES[name].at(np.repeat(s, times), repeated)
    assert a.value == pytest.approx(b.value)
    np.testing.assert_allclose(theta, same)
    by_row = np.bincount(np.repeat(np.arange(len(s)), times), b.gradient)
    np.testing.assert_allclose(a.gradient, by_row, atol=1e-12)


def test_orboost_survives_any_score():
    rows = GradedRows(np.array([0, 1, 2], np.int32), np.ones(3), 3)
    right, theta = ROW_LOSSES["orboost"].at(np.array([-1e5, 0.0, 1e5]), rows)
    assert right.value == 0.0
    assert np.isfinite(theta).all()
    assert np.isfinite(right.hessian_product(np.ones(3))).all()
    assert ROW_LOSSES["orboost"].at(np.array([2e3, 0.0, -2e3]), rows)[0].value == np.inf


@pytest.mark.parametrize("name", NAMES)
def test_scores_that_are_not_finite_have_an_infinite_risk(name):
    rows, s, _ = random_rows(5)
    s[0] = np.inf
    risk, theta = ROW_LOSSES[name].at(s, rows)
    assert risk.value == np.inf
    assert np.isnan(theta).all()


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("size", [1e3, 1e15, 1e150, 1e300])
@pytest.mark.parametrize("name", [*NAMES, "proportional_odds"])
def test_huge_scores_pass_without_a_warning(name, size, ordered):
    rows, s, _ = random_rows(0, spread=size)
    if ordered:
        s = np.sort(s)[np.argsort(np.argsort(rows.level, kind="stable"))]
    risk, _ = ROW_LOSSES[name].at(s, rows)
    assert not np.isnan(risk.value)
    assert len(risk.hessian_diagonal()) == len(risk.hessian_product(s)) == len(s)
    if np.isfinite(risk.value):
        assert np.isfinite(risk.gradient).all()
        assert np.isfinite(risk.hessian_diagonal()).all()
