"""OrderBoost: what it takes, what it keeps, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import wellorder as wo
from wellorder.estimators.boosting import keep_apart
from wellorder.persistence import ModelFileError

LOSSES = ["pairs", "squared_hinge", "orboost", "proportional_odds", "squared"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    latent = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.standard_normal(400)
    return X, np.digitize(latent, [-0.3, 0.7, 1.5]), latent


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", ["gaussian", "tree", DecisionTreeRegressor(max_depth=3, random_state=0)], ids=str)
def test_every_loss_with_every_learner(data, loss, learner):
    X, y, _ = data
    model = wo.OrderBoost(loss, learner=learner, n_estimators=30, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.85
    assert (np.diff(model.train_risk_) <= 0).all()
    assert len(model.train_risk_) == model.n_estimators_ == 30
    assert not hasattr(model, "validation_risk_")


@pytest.mark.parametrize("order", ["full", "linear"])
def test_defaults_order_five_levels_and_continuous_grades(data, order):
    X, _, latent = data
    for y in (np.digitize(latent, [-0.5, 0.2, 0.9, 1.6]), latent):
        model = wo.OrderBoost(order=order, n_estimators=60).fit(X[:300], y[:300])
        assert model.score(X[300:], y[300:]) > 0.83
        assert model.consistent_ == (order == "linear")


def test_consistent_where_the_costs_allow_it(data):
    X, y, _ = data
    few = wo.OrderBoost(n_estimators=3)
    assert few.fit(X, y > 1).consistent_
    assert few.fit(X, np.minimum(y, 2)).consistent_
    assert not few.fit(X, y).consistent_
    assert not few.fit(X, wo.Grades(np.minimum(y, 2), order="chain")).consistent_
    plain = wo.OrderBoost(n_estimators=3, consistent=False).fit(X, np.minimum(y, 2))
    assert not plain.consistent_
    assert (plain.train_risk_ != few.fit(X, np.minimum(y, 2)).train_risk_).all()
    with pytest.raises(ValueError, match=r"no consistent risk over pairs exists for these costs"):
        wo.OrderBoost(consistent=True).fit(X, y)
    with pytest.raises(ValueError, match="consistent=True needs grades"):
        wo.OrderBoost(consistent=True).fit(X, wo.Comparisons([0], [1], [1]))


def test_two_levels_are_the_same_either_way(data):
    X, y, _ = data
    a, b = (wo.OrderBoost(n_estimators=5, consistent=c).fit(X, y > 1).decision_function(X) for c in (True, False))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_kept_apart_choose_the_round(data, loss):
    X, y, _ = data
    model = wo.OrderBoost(loss, n_iter_no_change=5, validation_fraction=0.3, random_state=1).fit(X, y)
    made = len(model.validation_risk_)
    assert model.n_estimators_ == np.argmin(model.validation_risk_) + 1
    assert made == len(model.train_risk_) <= 300
    assert made == 300 or made - model.n_estimators_ == 5
    again = wo.OrderBoost(loss, n_iter_no_change=5, validation_fraction=0.3, random_state=1).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("learner", ["gaussian", "tree", Ridge()], ids=str)
def test_validation_rows_of_ones_own(data, loss, learner):
    X, y, _ = data
    model = wo.OrderBoost(loss, learner=learner, n_estimators=20).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert model.n_estimators_ == np.argmin(model.validation_risk_) + 1
    short = wo.OrderBoost(loss, learner=learner, n_estimators=model.n_estimators_).fit(X[:200], y[:200])
    np.testing.assert_allclose(model.decision_function(X), short.decision_function(X), atol=1e-12)
    if loss == "pairs":
        d = model.decision_function(X[200:])
        above = y[200:, None] > y[None, 200:]
        expected = np.exp(-(d[:, None] - d[None, :]))[above].mean()
        assert model.validation_risk_.min() == pytest.approx(expected)


@pytest.mark.parametrize("learner", ["gaussian", "tree"])
def test_swapped_pairs_may_say_when_to_stop(data, learner):
    X, y, _ = data
    rows = {"X_val": X[200:], "y_val": y[200:]}
    model = wo.OrderBoost(learner=learner, n_estimators=40, stopping="swaps").fit(X[:200], y[:200], **rows)
    swapped = wo.metrics.swapped_pairs(y[200:], model.decision_function(X[200:]), ties="half")
    assert model.validation_risk_.min() == pytest.approx(swapped, abs=1e-12)
    assert model.n_estimators_ == np.argmin(model.validation_risk_) + 1
    by_risk = wo.OrderBoost(learner=learner, n_estimators=40).fit(X[:200], y[:200], **rows)
    assert model.validation_risk_.min() < by_risk.validation_risk_.min()


def test_swapped_comparisons_and_sums_say_when_to_stop(data):
    X, y, _ = data
    compared = wo.Comparisons([0, 1, 2, 3], [4, 5, 6, 7], [1, -1, 1, 1], weights=[1.0, 2.0, 3.0, 4.0])
    model = wo.OrderBoost(n_estimators=1, stopping="swaps").fit(X, y, X_val=X, y_val=compared)
    d = model.decision_function(X)
    right = (d[[4, 5, 6, 7]] - d[[0, 1, 2, 3]]) * [1, -1, 1, 1]
    share = np.average(right < 0, weights=[1.0, 2.0, 3.0, 4.0])
    assert model.validation_risk_[0] == pytest.approx(share)
    graded = wo.OrderBoost(n_estimators=1, stopping="swaps").fit(X, y, X_val=X, y_val=y).validation_risk_[0]
    both = wo.OrderBoost(n_estimators=1, stopping="swaps").fit(X, y, X_val=X, y_val=wo.Grades(y) + compared)
    assert both.validation_risk_[0] == pytest.approx((400 * graded + 10 * share) / 410)


def test_stopping_by_swaps_needs_pairs(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="stopping='swaps' say how pairs count"):
        wo.OrderBoost("orboost", stopping="swaps").fit(X, y)
    with pytest.raises(ValueError, match="stopping='never' is not known"):
        wo.OrderBoost(stopping="never").fit(X, y)


def test_validation_with_costs_weights_and_groups(data):
    X, y, _ = data
    g = np.arange(400) % 7
    weight = np.random.default_rng(2).integers(0, 3, 400).astype(float)
    graph = wo.OrderGraph.from_edges(range(4), [(0, 1), (1, 3, 2.0), (2, 3)])
    for order in ("linear", graph, graph.weights):
        model = wo.OrderBoost(order=order, n_estimators=5).fit(
            X, y, groups=g, sample_weight=weight, X_val=X, y_val=y, groups_val=g, sample_weight_val=weight
        )
        np.testing.assert_allclose(model.validation_risk_, model.train_risk_, rtol=1e-9)


def test_whole_groups_are_kept_apart(data):
    _, y, _ = data
    g = np.repeat(np.arange(20), 20)
    train, apart = keep_apart(y, g, 0.25, np.random.default_rng(0))
    assert set(g[train]).isdisjoint(g[apart])
    assert len(set(g[apart])) == 5
    train, apart = keep_apart(np.array([0] * 50 + [1] * 10 + [2, -1]), None, 0.1, np.random.default_rng(0))
    assert sorted([*train, *apart]) == list(range(62))
    assert len(apart) == 6
    assert {60, 61} <= set(train.tolist())


def test_comparisons_and_sums(data):
    X, _, latent = data
    rng = np.random.default_rng(3)
    left, right = rng.integers(0, 400, (2, 1500))
    outcome = np.sign(latent[right] - latent[left]).astype(int)
    compared = wo.Comparisons(left, right, outcome)
    for order in (compared, compared + wo.Grades(np.where(np.arange(400) < 100, latent, np.nan))):
        for loss in ("pairs", "squared_hinge"):
            model = wo.OrderBoost(loss, n_estimators=40).fit(X, order)
            assert model.score(X, latent) > 0.85
            assert not model.consistent_
    stopped = wo.OrderBoost(n_iter_no_change=3, random_state=0).fit(X, compared)
    assert len(stopped.validation_risk_) < 300
    with pytest.raises(ValueError, match="cannot be parted"):
        wo.OrderBoost(n_iter_no_change=3).fit(X, compared + wo.Grades(latent))
    for loss in ("orboost", "squared"):
        with pytest.raises(ValueError, match="takes grades, one a row, not Comparisons"):
            wo.OrderBoost(loss).fit(X, compared)


def test_groups_hide_what_differs_between_them(data):
    X, y, _ = data
    g = np.arange(400) % 2
    shifted = y + 10 * g
    with_group = np.column_stack([X, g])
    model = wo.OrderBoost(n_estimators=20).fit(with_group, shifted, groups=g)
    assert 3 not in model.pieces_["feature"]
    assert 3 in wo.OrderBoost(n_estimators=20).fit(with_group, shifted).pieces_["feature"]


@pytest.mark.parametrize("loss", ["orboost", "proportional_odds"])
def test_grades_come_out_in_the_users_own_labels(data, loss):
    X, y, _ = data
    names = np.array(["poor", "fair", "good", "great"])
    model = wo.OrderBoost(loss, n_estimators=60, levels=[*names, "perfect"]).fit(X, names[y])
    assert model.classes_.tolist() == names.tolist()
    assert (model.predict(X) == names[y]).mean() > 0.7
    assert (np.diff(model.thresholds_) >= 0).all()


def test_probabilities(data):
    X, y, _ = data
    model = wo.OrderBoost("proportional_odds", n_estimators=40).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.mean(axis=0), np.bincount(y) / 400, atol=0.02)
    assert -np.mean(np.log(P[np.arange(400), y])) == pytest.approx(model.train_risk_[-1])
    assert not hasattr(wo.OrderBoost(), "predict_proba")
    assert not hasattr(wo.OrderBoost(), "implicit_costs")


def test_least_squares_gives_grades(data):
    X, y, _ = data
    model = wo.OrderBoost("squared", n_estimators=50).fit(X, 100.0 + 10 * y)
    residual = 100.0 + 10 * y - model.predict(X)
    assert residual.mean() == pytest.approx(0.0, abs=1e-9)
    assert np.mean(residual**2) == pytest.approx(model.train_risk_[-1])
    named = wo.OrderBoost("squared", n_estimators=50, levels=["5", "10", "2", "1"])  # places, not numbers
    np.testing.assert_allclose(
        named.fit(X, np.array(["5", "10", "2", "1"])[y]).predict(X), (model.predict(X) - 100) / 10
    )


@pytest.mark.parametrize(
    ("thresholds", "expected"),
    [
        (
            [-0.0932, -0.0656, -0.0386, 0.0],
            [[0, 1, 1.028, 1.056, 1.098], [0, 0, 0.053, 0.116, 1.068], [0, 0, 0, 0.063, 1.039], [0, 0, 0, 0, 1]],
        ),
        (
            [-0.7742, -0.7742, -0.4183, 0.0],
            [[0, 1, 1, 1.427, 2.169], [0, 0, 0.299, 0.966, 2.169], [0, 0, 0, 0.539, 1.519], [0, 0, 0, 0, 1]],
        ),
    ],
)
def test_implicit_costs_are_those_of_the_papers_table_2(data, thresholds, expected):
    X, _, _ = data
    model = wo.OrderBoost("orboost", n_estimators=1).fit(X, np.arange(400) % 5 + 1)
    model.thresholds_ = np.array(thresholds)
    costs = model.implicit_costs()
    assert costs.levels == (1, 2, 3, 4, 5)
    assert costs.is_consistent()
    np.testing.assert_allclose(costs.weights[:4], expected, atol=1.1e-3)


def test_sparse_and_dense_rows_give_the_same(data):
    rng = np.random.default_rng(4)
    X = np.where(rng.random((300, 5)) < 0.7, 0.0, rng.standard_normal((300, 5)))
    y = np.digitize(X @ np.arange(5), [-1, 1])
    dense = wo.OrderBoost(n_estimators=20).fit(X, y)
    sparse = wo.OrderBoost(n_estimators=20).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-7)
    np.testing.assert_allclose(sparse.decision_function(X), sparse.decision_function(sp.csr_array(X)), atol=1e-12)


def test_rows_in_another_order_and_unjudged_rows_change_nothing(data):
    X, y, _ = data
    rng = np.random.default_rng(5)
    place = rng.permutation(500)
    more, grades = np.vstack([X, 50 + rng.standard_normal((100, 3))])[place], np.append(y, np.full(100, np.nan))[place]
    a = wo.OrderBoost(n_estimators=20, order="linear").fit(X, y).decision_function(X)
    b = wo.OrderBoost(n_estimators=20, order="linear").fit(more, grades).decision_function(X)
    np.testing.assert_allclose(a, b, atol=1e-8)


def test_separable_rows_end_early():
    X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    for loss in LOSSES:
        model = wo.OrderBoost(loss, learner=DecisionTreeRegressor(max_depth=2)).fit(X, y)
        assert model.score(X, y) == 1.0
        assert model.n_estimators_ < 50
        assert np.ptp(model.decision_function(X)) < 100


def test_a_learner_that_takes_no_weights(data):
    X, y, _ = data
    model = wo.OrderBoost(learner=KNeighborsRegressor(20), n_estimators=5).fit(X, y)
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("learner", ["gaussian", "tree", Ridge()], ids=str)
@pytest.mark.parametrize("loss", ["pairs", "orboost", "squared"])
def test_save_and_load(data, tmp_path, learner, loss):
    X, y, _ = data
    model = wo.OrderBoost(loss, learner=learner, n_estimators=8, order="full").fit(X, y)
    wo.save(model, tmp_path / "model.wo")
    loaded = wo.load(tmp_path / "model.wo")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("parameters", "changes"),
    [
        ({}, {"constant_": np.nan}),
        ({}, {"pieces_": {}}),
        ({}, {"loss": "evil"}),
        ({}, {"n_features_in_": 1}),
        ({"loss": "orboost"}, {"thresholds_": np.zeros(1)}),
        ({"loss": "orboost"}, {"classes_": np.zeros(9)}),
        ({"learner": "tree"}, {"n_features_in_": 1}),
        ({"learner": Ridge()}, {"learner_weights_": np.ones(1)}),
    ],
    ids=str,
)
def test_files_whose_parts_do_not_fit_are_refused(data, tmp_path, parameters, changes):
    X, y, _ = data
    model = wo.OrderBoost(n_estimators=8, **parameters).fit(X, y)
    vars(model).update(changes)
    wo.save(model, tmp_path / "model.wo")
    with pytest.raises(ModelFileError, match="not sound"):
        wo.load(tmp_path / "model.wo")


def test_a_foreign_learner_is_not_saved(data, tmp_path):
    X, y, _ = data
    model = wo.OrderBoost(learner=DecisionTreeRegressor(), n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match="not among the learners a model file may hold"):
        wo.save(model, tmp_path / "model.wo")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "loss='hinge' is not known"),
        ({"learner": "stump"}, "learner='stump' is not known"),
        ({"learner": Ridge}, "learner must be"),
        ({"consistent": "yes"}, "consistent must be"),
        ({"n_estimators": 0}, "n_estimators must be"),
        ({"learning_rate": -1}, "learning_rate must be 'auto' or a positive number, got -1"),
        ({"validation_fraction": 1.0}, "between 0 and 1"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be None or a positive whole number"),
        ({"width": 0}, "width must be"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be 'auto' or a positive whole number"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be"),
        ({"l2_regularization": -1.0}, "l2_regularization must be 0 or a positive number"),
        ({"learner": "tree", "min_gain": -1.0}, "min_gain must be 0 or a positive number"),
        ({"loss": "orboost", "order": "linear"}, "looks at no pair"),
        ({"loss": "squared", "consistent": True}, "looks at no pair"),
        ({"loss": "squared", "balance": "groups"}, "looks at no pair"),
        ({"loss": "orboost", "n_iter_no_change": 2, "validation_fraction": 1e-3}, "no validation row"),
        ({"n_iter_no_change": 2, "validation_fraction": 1e-3}, "validation rows hold no pair"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(data, parameters, message):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        wo.OrderBoost(**parameters).fit(X, y)


def test_bad_validation_rows_are_named(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="passed together"):
        wo.OrderBoost().fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="need X_val"):
        wo.OrderBoost().fit(X, y, groups_val=y)
    lists = np.arange(400) // 20
    with pytest.raises(ValueError, match="give groups_val="):
        wo.OrderBoost().fit(X, y, groups=lists, X_val=X, y_val=y)
    few = wo.OrderBoost(n_estimators=2)
    by_rows = few.fit(X, y, groups=lists, X_val=X, y_val=y, groups_val=lists).validation_risk_
    by_order = few.fit(X, y, groups=lists, X_val=X, y_val=wo.Grades(y, groups=lists)).validation_risk_
    np.testing.assert_array_equal(by_rows, by_order)
    with pytest.raises(ValueError, match="2 features"):
        wo.OrderBoost().fit(X, y, X_val=X[:, :2], y_val=y)
    with pytest.raises(ValueError, match="hold no pair"):
        wo.OrderBoost().fit(X, y, X_val=X, y_val=np.ones(400))
    with pytest.raises(ValueError, match="grade 10, which is not among the levels"):
        wo.OrderBoost("orboost").fit(X, y, X_val=X, y_val=y + 9)


def test_validation_grades_are_matched_by_their_labels(data):
    X, y, _ = data
    names = np.array(["poor", "fair", "good", "great"])
    some = y[200:] > 1  # only two of the levels
    for loss in ("orboost", "proportional_odds"):
        model = wo.OrderBoost(loss, n_estimators=5, levels=names)
        held, rows = names[y[200:]][some], X[200:][some]
        plain = model.fit(X, names[y], X_val=rows, y_val=held).validation_risk_
        graded = model.fit(X, names[y], X_val=rows, y_val=wo.Grades(held, levels=["good", "great"])).validation_risk_
        np.testing.assert_array_equal(plain, graded)
    with pytest.raises(ValueError, match="'superb', which no training row has"):
        model.fit(X, names[y], X_val=X, y_val=wo.Grades(["superb"] * 400, levels=["good", "superb"]))


def test_grades_with_costs_are_refused_by_losses_of_single_rows(data):
    X, y, _ = data
    for loss in ("squared", "orboost"):
        with pytest.raises(ValueError, match="'full'"):
            wo.OrderBoost(loss).fit(X, wo.Grades(y, order="linear"))


@pytest.mark.parametrize("learner", ["gaussian", DecisionTreeRegressor()], ids=str)
def test_columns_that_say_nothing_are_named(learner):
    model = wo.OrderBoost(learner=learner)
    with pytest.warns(UserWarning, match="no piece lowers the risk"):
        model.fit(np.ones((20, 2)), np.arange(20) % 3)
    assert model.n_estimators_ == 0
    assert not model.decision_function(np.ones((3, 2))).any()
