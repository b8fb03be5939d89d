from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.reference import survival as reference

import wellorder as wo
from wellorder.losses import cox_risk, make_risk_sets


def some_times(rng, n=40):
    time, event = rng.integers(1, 12, n).astype(float), rng.random(n) < 0.6
    weight, group = rng.integers(0, 3, n).astype(float), rng.integers(0, 3, n)
    return time, event, weight, group


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("seed", range(4))
def test_is_the_product_over_events(ties, seed):
    rng = np.random.default_rng(seed)
    time, event, weight, group = some_times(rng)
    times = wo.Times(time, event, groups=group, weights=weight)
    kept = np.flatnonzero(weight > 0)
    scores = rng.standard_normal(len(time))
    sets = make_risk_sets(times, ties)
    risk = cox_risk(scores, sets)
    listed = [part[kept] for part in (time, event, weight, group)]

    def value(s):
        return reference.partial_likelihood(*listed, s[kept], ties)

    assert risk.value == pytest.approx(value(scores), rel=1e-12)
    step, eye = 1e-5, np.eye(len(time))
    slope = [(value(scores + step * e) - value(scores - step * e)) / (2 * step) for e in eye]
    np.testing.assert_allclose(risk.gradient, slope, atol=1e-7)
    hessian = np.array(
        [
            (cox_risk(scores + step * e, sets).gradient - cox_risk(scores - step * e, sets).gradient) / (2 * step)
            for e in eye
        ]
    )
    u, U = rng.standard_normal(len(time)), rng.standard_normal((len(time), 3))
    np.testing.assert_allclose(risk.hessian_product(u), hessian @ u, atol=1e-6)
    np.testing.assert_allclose(risk.hessian_diagonal(), hessian.diagonal(), atol=1e-6)
    np.testing.assert_allclose(risk.hessian_form(U), U.T @ hessian @ U, atol=1e-5)


def test_columns_are_summed_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    times = wo.Times(rng.integers(1, 30, 200), rng.random(200) < 0.5)
    risk = cox_risk(rng.standard_normal(200), make_risk_sets(times))
    U = rng.standard_normal((200, 4))
    whole = risk.hessian_form(U)
    monkeypatch.setattr("wellorder.losses.cox._BLOCK", 7)
    np.testing.assert_allclose(risk.hessian_form(U), whole, rtol=1e-12)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_the_ranker_finds_the_minimum(ties):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    time, event = np.ceil(5 * rng.exponential(np.exp(X[:, 0]))), rng.random(60) < 0.7
    weight, group = np.ones(60), np.zeros(60)

    def objective(w):
        return 0.5 * 0.3 * w @ w + reference.partial_likelihood(time, event, weight, group, X @ w, ties)

    model = wo.CoxRanker(0.3, ties=ties).fit(X, wo.Times(time, event))
    found = minimize(objective, np.zeros(3), tol=1e-10)
    assert model.objective_ == pytest.approx(found.fun, rel=1e-7)
    np.testing.assert_allclose(model.coef_, found.x, atol=1e-3)


def test_scores_far_apart_do_not_end_in_nan():
    times = wo.Times([1, 2, 3, 4], [1, 1, 1, 0])
    risk = cox_risk(np.array([0.0, 1.0, 2.0, 3000.0]), make_risk_sets(times))
    assert risk.value == np.inf or np.isfinite(risk.value)
    X = np.array([[0.0], [1.0], [2.0], [1e6]])
    assert np.isfinite(wo.CoxRanker(1e-3).fit(X, times).coef_).all()


def test_grades_are_times_that_all_ended_with_an_event():
    rng = np.random.default_rng(0)
    X, time = rng.standard_normal((50, 2)), rng.integers(0, 20, 50)
    graded = wo.CoxRanker().fit(X, time).coef_
    np.testing.assert_allclose(graded, wo.CoxRanker().fit(X, wo.Times(time, np.ones(50))).coef_, rtol=1e-12)
    with pytest.raises(ValueError, match="CoxRanker takes times or grades"):
        wo.CoxRanker().fit(X, wo.Comparisons([0], [1], [1]))


def test_weight_two_is_the_row_twice_under_breslows_rule():
    rng = np.random.default_rng(3)
    X, time, event = rng.standard_normal((40, 2)), rng.integers(1, 9, 40), rng.random(40) < 0.7
    weight = rng.integers(0, 3, 40)
    rows = np.repeat(np.arange(40), weight)
    weighted = wo.CoxRanker(ties="breslow").fit(X, wo.Times(time, event, weights=weight)).coef_
    listed = wo.CoxRanker(ties="breslow").fit(X[rows], wo.Times(time[rows], event[rows])).coef_
    np.testing.assert_allclose(weighted, listed, rtol=1e-4)
