"""RankBoost is RankBoost over listed pairs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.reference import pairs as listed, rank_boost as reference

import wellorder as wo


def data(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal((n, 2)), rng.integers(0, 4, n), np.full(n, 3.0)])
    y = np.digitize(X[:, 0] + 0.5 * X[:, 2] + rng.standard_normal(n), [0, 1])
    return X, y, rng.integers(0, 6, n), rng.integers(1, 3, n).astype(float)


@pytest.mark.parametrize("order", ["full", "dcg"])
@pytest.mark.parametrize("balance", ["pairs", "groups"])
def test_it_does_what_listed_pairs_do(form, order, balance):
    X, y, query, weight = data()
    X[3, 0] = np.nan
    grades = wo.Grades(y, query, order, weight)
    pairs = listed.list_pairs(grades.level, query, weight, grades.graph.weights)
    pairs = listed.balance(pairs, query) if balance == "groups" else pairs
    rounds, scores, risks = reference.fit(X, pairs, 12)
    model = wo.RankBoost(12, order=order, balance=balance).fit(X, y, groups=query, sample_weight=weight)
    np.testing.assert_allclose(model.train_risk_, risks, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-8)
    assert {(k, t) for k, t, _ in rounds} == set(
        zip(model.pieces_["feature"].tolist(), model.pieces_["threshold"].tolist(), strict=True)
    )


def test_every_round_keeps_what_its_bound_promises_and_the_exact_step_gains_more():
    X, y, query, _ = data(1)
    bound = wo.RankBoost(30).fit(X, y, groups=query)
    exact = wo.RankBoost(1, step="exact").fit(X, y, groups=query)
    assert (np.diff(bound.train_risk_) < 0).all()
    assert exact.train_risk_[0] <= bound.train_risk_[0] + 1e-12
    taken = [model.pieces_["threshold"][0] for model in (exact, wo.RankBoost(1).fit(X, y, groups=query))]
    assert taken[0] == taken[1]


def test_one_column_that_orders_all_pairs_ends_it():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = wo.RankBoost(200).fit(X, [0, 0, 1, 1])
    assert model.score(X, [0, 0, 1, 1]) == 1.0
    assert np.isfinite(model.decision_function(X)).all()
    assert model.n_estimators_ < 200


def test_constant_columns_order_nothing():
    with pytest.warns(UserWarning, match="no column varies"):
        model = wo.RankBoost().fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert (model.decision_function(np.ones((2, 2))) == 0).all()


def test_sparse_rows_and_comparisons():
    X, y, query, _ = data(2)
    X[np.abs(X) < 1] = 0
    dense, sparse = (wo.RankBoost(20).fit(rows, y, groups=query) for rows in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-10)
    grades = wo.Grades(y, query)
    high, low, _ = zip(*listed.list_pairs(grades.level, query, np.ones(len(y)), grades.graph.weights), strict=True)
    compared = wo.RankBoost(20).fit(X, wo.Comparisons(low, high, np.ones(len(high))))
    np.testing.assert_allclose(compared.train_risk_, dense.train_risk_, rtol=1e-9)


def test_rows_kept_apart_choose_the_round():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 5))
    y = np.digitize(X[:, 0] + 2 * rng.standard_normal(400), [0])
    model = wo.RankBoost(300, n_iter_no_change=10, stopping="swaps", random_state=0).fit(X, y)
    assert model.n_estimators_ < len(model.train_risk_) < 300
    assert model.n_estimators_ == np.argmin(model.validation_risk_) + 1
    refitted = model.set_params(n_iter_no_change=None, n_estimators=5).fit(X, y)
    assert not hasattr(refitted, "validation_risk_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"step": "far"}, "step='far' is not known"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"validation_fraction": 1}, "validation_fraction"),
        ({"balance": "rows"}, "balance"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        wo.RankBoost(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("step", ["bound", "exact"])
def test_a_learning_rate_that_oversteps_is_refused(step):
    X, y = data()[:2]
    with pytest.raises(ValueError, match=r"learning_rate=50 oversteps.*at most 1"):
        wo.RankBoost(50, step=step, learning_rate=50).fit(X, y)
    assert np.isfinite(wo.RankBoost(20, step=step, learning_rate=1.2).fit(X, y).train_risk_).all()
