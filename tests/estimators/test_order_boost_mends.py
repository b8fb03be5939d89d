"""OrderBoost: what a user may hand it that used to mislead it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import wellorder as wo


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    return X, np.digitize(X[:, 0] + 0.3 * rng.standard_normal(300), [-0.7, 0.0, 0.7])


def test_trees_add_up_entries_given_in_parts(rows):
    X, y = rows
    whole = sp.csr_array(X)
    parts = sp.csr_array(
        (np.repeat(0.5 * whole.data, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), shape=whole.shape
    )
    assert not parts.has_canonical_format
    models = [wo.OrderBoost(learner="tree", n_estimators=10).fit(each, y) for each in (whole, parts)]
    np.testing.assert_array_equal(*(model.decision_function(whole) for model in models))
    assert parts.nnz == 2 * whole.nnz  # the caller's matrix is as it was


@pytest.mark.parametrize("factor", [1e-6, 1e100])
@pytest.mark.parametrize("loss", ["pairs", "squared_hinge", "orboost", "squared"])
def test_trees_do_not_see_the_scale_of_the_weights(rows, loss, factor):
    X, y = rows
    plain, scaled = (
        wo.OrderBoost(loss, learner="tree", n_estimators=10).fit(X, y, sample_weight=weight)
        for weight in (None, np.full(len(y), factor))
    )
    np.testing.assert_allclose(plain.decision_function(X), scaled.decision_function(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("learner", ["gaussian", "tree"])
def test_columns_that_say_nothing_are_named(learner):
    with pytest.warns(UserWarning, match="no column varies"):
        model = wo.OrderBoost(learner=learner, n_estimators=3).fit(np.ones((60, 2)), np.arange(60) % 3)
    assert model.n_estimators_ == 0
    assert (model.decision_function(np.ones((2, 2))) == 0).all()


def test_a_leaf_larger_than_the_data_is_named(rows):
    X, y = rows
    with pytest.warns(UserWarning, match="min_samples_leaf"):
        wo.OrderBoost(learner="tree", min_samples_leaf=200, n_estimators=3).fit(X, y)


def test_numpys_booleans_are_booleans(rows):
    X, y = rows
    with pytest.raises(ValueError, match="levels"):  # four levels in the full order
        wo.OrderBoost(consistent=np.True_, n_estimators=2).fit(X, y)
    assert not wo.OrderBoost(consistent=np.False_, order="linear", n_estimators=2).fit(X, y).consistent_
    assert wo.OrderBoost(consistent=np.True_, order="linear", n_estimators=2).fit(X, y).consistent_


@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_least_squares_refuse_weights_that_vanish_or_overflow(rows, weight):
    X, y = rows
    with pytest.raises(ValueError, match="common factor"):
        wo.OrderBoost("squared").fit(X, y, sample_weight=np.full(len(y), weight))


def test_probabilities_are_never_negative(rows):
    X, y = rows
    model = wo.OrderBoost("proportional_odds", n_estimators=20).fit(X, y)
    probability = model.predict_proba(100 * X)
    assert (probability >= 0).all()
    assert not np.signbit(probability).any()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)


class TestOrderLeftOpen:
    """Grades of the full order leave the costs to the model; any other order is their own."""

    @pytest.mark.parametrize("make", [wo.RankSVM, wo.OrderBoost, wo.PlugInRanker])
    def test_the_model_decides(self, rows, make):
        X, y = rows
        direct = make(order="dcg").fit(X, y)
        through = make(order="dcg").fit(X, wo.Grades(y))
        np.testing.assert_array_equal(direct.decision_function(X), through.decision_function(X))

    @pytest.mark.parametrize("make", [wo.RankSVM, wo.OrderBoost, wo.PlugInRanker])
    def test_two_orders_are_refused(self, rows, make):
        X, y = rows
        with pytest.raises(ValueError, match="order was passed beside a Grades"):
            make(order="dcg").fit(X, wo.Grades(y, order="chain"))

    def test_an_order_of_other_levels_is_refused(self, rows):
        X, y = rows
        with pytest.raises(ValueError, match="the order graph has the levels"):
            wo.RankSVM(order=wo.OrderGraph.linear([1, 2, 3])).fit(X, wo.Grades(y))


@pytest.mark.parametrize(("loss", "rate"), [("pairs", 0.2), ("squared_hinge", 0.2), ("squared", 0.1)])
def test_trees_take_longer_steps_over_pairs_of_many_rows_in_few_rounds(loss, rate):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 1))
    y = np.digitize(X[:, 0] + rng.standard_normal(len(X)), [-1.0, 1.0])
    auto = wo.OrderBoost(loss, learner="tree", n_estimators=5, max_leaf_nodes=4, random_state=0).fit(X, y)
    given = wo.OrderBoost(**auto.get_params() | {"learning_rate": rate}).fit(X, y)
    np.testing.assert_allclose(auto.decision_function(X[:100]), given.decision_function(X[:100]), rtol=1e-12)
