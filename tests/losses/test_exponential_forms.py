"""The exponential risk in plain numbers and in logarithms: the same answers, where both have one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.reference import pairs as reference
from tests.strategies import cases

import wellorder as wo
from wellorder.losses import LOSSES, exponential, risk_at
from wellorder.order import make_consistent

both_forms = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)


def everything(scores, order):
    risk = risk_at(LOSSES["exponential"], scores, order)
    u = np.cos(np.arange(len(scores)))
    return [np.array(risk.value), risk.gradient, risk.hessian_diagonal(), risk.hessian_product(u)]


def in_logarithms(scores, order):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exponential, "_REACH", -1.0)
        return everything(scores, order)


def the_same(scores, order, rtol=1e-12):
    for plain, logs in zip(everything(scores, order), in_logarithms(scores, order), strict=True):
        np.testing.assert_allclose(plain, logs, rtol=rtol, atol=rtol * np.abs(logs).max(initial=0.0))


@pytest.mark.parametrize("balance", ["pairs", "groups"])
@given(case=cases(two_weights=True))
@both_forms
def test_plain_numbers_equal_logarithms(balance, form, cell_form, case):
    the_same(case.scores, case.grades.balanced(balance))


@given(case=cases(two_weights=True))
@both_forms
def test_logarithms_equal_the_sum_over_every_pair(cell_form, case):
    value, gradient, diagonal, _ = in_logarithms(case.scores, case.grades.pairs)
    hessian = reference.hessian("exponential", case.listed, case.scores)
    size = 1e-9 * max(np.abs(hessian).sum(), 1.0)
    np.testing.assert_allclose(value, reference.risk("exponential", case.listed, case.scores), rtol=1e-9, atol=size)
    np.testing.assert_allclose(gradient, reference.gradient("exponential", case.listed, case.scores), atol=size)
    np.testing.assert_allclose(diagonal, hessian.diagonal(), atol=size)


@pytest.mark.parametrize("order", ["full", "linear"])
@pytest.mark.parametrize("n_levels", [5, 3_000])
@pytest.mark.parametrize("spread", [1.0, 80.0])
def test_scores_far_apart_keep_their_digits(order, n_levels, spread, form):
    rng = np.random.default_rng(1)
    grades = wo.Grades(rng.integers(0, n_levels, 3_000), rng.integers(0, 2, 3_000), order)
    the_same(np.clip(spread * rng.standard_normal(3_000), -240, 240), grades.pairs)


def test_consistent_pairs_in_plain_numbers(form):
    rng = np.random.default_rng(2)
    grades = wo.Grades(rng.integers(0, 5, 300), rng.integers(0, 9, 300), "dcg", rng.random(300))
    for balance in ("pairs", "groups"):
        the_same(3 * rng.standard_normal(300), make_consistent(grades.balanced(balance)))


@pytest.mark.parametrize("far", [300.0, 1e4])
def test_scores_beyond_plain_numbers_take_the_logarithms(far, form):
    pairs = wo.Grades([0, 1, 0, 1], [0, 0, 1, 1]).pairs
    value, gradient, *_ = everything(np.array([-far, far, 0.0, 0.5]), pairs)
    assert value == pytest.approx(np.exp(-0.5), rel=1e-12)
    assert np.isfinite(gradient).all()


def test_extreme_weights_take_the_logarithms(form):
    pairs = wo.Grades([0, 1, 2], weights=[1e-250, 1e250, 1.0]).pairs
    s = np.array([200.0, -200.0, 0.0])
    value, *_ = everything(s, pairs)
    assert value == pytest.approx(np.exp(400.0) + 1e-250 * np.exp(200.0) + 1e250 * np.exp(-200.0), rel=1e-9)


@pytest.mark.parametrize("consistent", [False, True])
def test_scores_whose_exponentials_overflow_still_have_a_risk(consistent):
    grades = wo.Grades([0, 1, 2], order="linear")
    pairs = make_consistent(grades) if consistent else grades.pairs
    risk = risk_at(LOSSES["exponential"], np.array([-800.0, 0.0, 800.0]), pairs)
    assert risk.value == pytest.approx(0.5 if consistent else 0.0)  # the middle row's pair with itself
    assert np.isfinite(risk.gradient).all()
    assert np.isfinite(risk.hessian_product(np.ones(3))).all()
