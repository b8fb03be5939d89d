from __future__ import annotations

import logging
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.reference import pairs as reference, rank_svm as slow

import wellorder as wo
from wellorder.metrics import scorer


def make_data(seed=0, n=80, d=5, n_groups=4, n_levels=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    latent = X @ rng.standard_normal(d) + rng.standard_normal(n)
    y = latent if n_levels is None else np.digitize(latent, np.linspace(-2, 2, n_levels - 1))
    return X, y, rng.integers(0, n_groups, n), rng.integers(0, 4, n).astype(float)


def minimum(X, grades, group, weight, C, loss, balance="pairs"):
    listed = reference.list_pairs(grades.level, group, weight, grades.graph.weights)
    if balance == "groups":
        listed = reference.balance(listed, group)
    return slow.minimise(X, listed, weight, C, loss)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("order", ["full", "chain", "linear", "dcg"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_reaches_the_optimum_over_every_pair(loss, order, C):
    X, y, group, weight = make_data()
    model = wo.RankSVM(C=C, loss=loss, order=order).fit(X, y, groups=group, sample_weight=weight)
    fun, _ = minimum(X, wo.Grades(y, group, order), group, weight, C, loss)
    assert fun * (1 - 1e-9) <= model.objective_ <= fun * (1 + 1e-4)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("balance", ["pairs", "groups"])
def test_reaches_the_optimum_with_continuous_labels_and_sparse_rows(loss, balance):
    X, y, group, _ = make_data(1, n_levels=None)
    X[np.abs(X) < 0.7] = 0.0
    tight = wo.RankSVM(C=3.0, loss=loss, balance=balance, tol=1e-8).fit(sp.csr_matrix(X), y, groups=group)
    fun, w = minimum(X, wo.Grades(y, group), group, np.ones(len(y)), 3.0, loss, balance)
    assert tight.objective_ == pytest.approx(fun, rel=1e-7)
    np.testing.assert_allclose(tight.coef_, w, rtol=1e-3, atol=1e-4)
    dense = wo.RankSVM(C=3.0, loss=loss, balance=balance, tol=1e-8).fit(X, y, groups=group)
    np.testing.assert_allclose(tight.coef_, dense.coef_, rtol=1e-6)


@pytest.mark.parametrize("n_levels", [5, None])
def test_default_tolerance_is_kept_on_large_data(n_levels):
    # large enough for samples, threads and compiled sweeps
    X, y, _, _ = make_data(2, n=60_000, d=20, n_levels=n_levels)
    quick, exact = wo.RankSVM().fit(X, y), wo.RankSVM(tol=1e-10).fit(X, y)
    assert exact.objective_ <= quick.objective_ <= exact.objective_ * (1 + 1e-4)
    size = np.linalg.norm(exact.coef_)
    assert np.linalg.norm(quick.coef_ - exact.coef_) < 0.02 * size


def test_many_groups_are_solved_to_tolerance():
    X, y, _, _ = make_data(3, n=40_000, d=10)
    group = np.random.default_rng(0).integers(0, 700, len(y))
    quick, exact = (wo.RankSVM(tol=tol).fit(X, y, groups=group) for tol in (1e-4, 1e-10))
    assert exact.objective_ <= quick.objective_ <= exact.objective_ * (1 + 1e-4)


def test_weight_two_is_the_row_twice():
    X, y, group, weight = make_data(4)
    times = weight.astype(int)
    a = wo.RankSVM(tol=1e-9).fit(X, y, groups=group, sample_weight=weight)
    b = wo.RankSVM(tol=1e-9).fit(np.repeat(X, times, axis=0), np.repeat(y, times), groups=np.repeat(group, times))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-7)
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-10)


@pytest.mark.parametrize("n", [80, 30_000])
def test_permuted_rows_give_the_same_model(n):
    X, y, group, weight = make_data(5, n=n)
    place = np.random.default_rng(0).permutation(n)
    a = wo.RankSVM(tol=1e-12).fit(X, y, groups=group, sample_weight=weight)
    b = wo.RankSVM(tol=1e-12).fit(X[place], y[place], groups=group[place], sample_weight=weight[place])
    np.testing.assert_allclose(b.coef_, a.coef_, rtol=1e-5)
    assert b.n_pairs_ == a.n_pairs_


def test_the_same_bits_whatever_the_number_of_threads(monkeypatch):
    from wellorder.sweeps import dispatch

    X, y, group, _ = make_data(6, n=60_000)
    fits = []
    for cpus in (1, 2, 5):
        monkeypatch.setattr(dispatch, "available_cpus", lambda cpus=cpus: cpus)
        fits.append(wo.RankSVM().fit(sp.csr_matrix(X), y, groups=group).coef_.tobytes())
    assert fits[0] == fits[1] == fits[2]


def test_unjudged_and_lone_rows_change_nothing():
    X, y, group, _ = make_data(7)
    extra = np.random.default_rng(0).standard_normal((10, X.shape[1]))
    base = wo.RankSVM().fit(X, y, groups=group)
    more = wo.RankSVM().fit(
        np.vstack([X, extra]),
        np.concatenate([y, np.full(5, np.nan), np.arange(5.0)]),
        groups=np.concatenate([group, np.zeros(5, int), 100 + np.arange(5)]),
    )
    np.testing.assert_allclose(more.coef_, base.coef_, rtol=1e-9)
    assert more.objective_ == pytest.approx(base.objective_)
    assert more.n_pairs_ == base.n_pairs_


def test_takes_a_grades_and_refuses_groups_beside_it():
    X, y, group, weight = make_data(8)
    a = wo.RankSVM().fit(X, wo.Grades(y, group, "chain", weight))
    b = wo.RankSVM(order="chain").fit(X, y, groups=group, sample_weight=weight)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    with pytest.raises(ValueError, match="groups was passed beside a Grades"):
        wo.RankSVM().fit(X, wo.Grades(y), groups=group)


def test_text_grades_with_levels():
    X, y, _, _ = make_data(9, n_levels=3)
    names = ["poor", "fair", "good"]
    text = np.array(names)[y]
    a = wo.RankSVM(levels=names).fit(X, text)
    b = wo.RankSVM().fit(X, y)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.score(X, text) == b.score(X, y)


@pytest.mark.parametrize("n", [500, 20_000])
def test_float32_stays_float32(n):
    X, y, _, _ = make_data(10, n=n)
    small = wo.RankSVM().fit(X.astype(np.float32), y)
    assert small.coef_.dtype == np.float32
    assert small.decision_function(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(small.coef_, wo.RankSVM().fit(X, y).coef_, rtol=1e-2, atol=1e-3)


def test_drawn_pairs_are_seeded_and_close_to_all_pairs():
    X, y, group, weight = make_data(11, n=2_000)
    fits = [
        wo.RankSVM(pairs_per_item=5, random_state=seed).fit(X, y, groups=group, sample_weight=weight).coef_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])
    every = wo.RankSVM().fit(X, y, groups=group, sample_weight=weight).coef_
    assert np.linalg.norm(fits[0] - every) < 0.1 * np.linalg.norm(every)


def test_warm_start_needs_fewer_steps():
    X, y, _, _ = make_data(12, n=2_000)
    model = wo.RankSVM(C=1.0, warm_start=True, tol=1e-8).fit(X, y)
    cold = wo.RankSVM(C=1.1, tol=1e-8).fit(X, y)
    warm = model.set_params(C=1.1).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-4)


def test_a_warm_start_at_the_optimum_is_kept_on_large_data():
    X, y, _, _ = make_data(12, n=30_000)  # large enough for samples, whose own optimum is elsewhere
    model = wo.RankSVM(warm_start=True, tol=1e-9).fit(X, y)
    best = model.coef_.copy()
    model.set_params(tol=1e-4).fit(X, y)
    assert model.n_iter_ <= 1
    np.testing.assert_allclose(model.coef_, best, rtol=1e-4)


def test_badly_scaled_columns_and_offsets_converge():
    X, y, _, _ = make_data(13, n=3_000)
    awkward = X * np.array([1e-4, 1.0, 1e3, 1e6, 1.0]) + np.array([0, 1e5, 0, 0, -1e3])
    model = wo.RankSVM().fit(awkward, y)
    exact = wo.RankSVM(tol=1e-9).fit(awkward, y)
    assert model.objective_ <= exact.objective_ * (1 + 1e-3)


def test_constant_columns_get_no_weight():
    X, y, _, _ = make_data(14)
    X[:, 2] = 7.0
    assert abs(wo.RankSVM().fit(X, y).coef_[2]) < 1e-9


def test_no_convergence_is_said_with_advice():
    X, y, _, _ = make_data(15)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        wo.RankSVM(max_iter=1, tol=1e-12).fit(X, y)


def test_score_counts_all_pairs_with_ties_as_errors():
    X, y, group, _ = make_data(16)
    model = wo.RankSVM(order="chain").fit(X, y, groups=group)
    expected = 1 - wo.metrics.swapped_pairs(y, model.decision_function(X), groups=group)
    assert model.score(X, y, groups=group) == expected
    model.coef_ = np.zeros_like(model.coef_)
    assert model.score(X, y, groups=group) == 0.0


def test_score_under_a_graph_uses_its_closure():
    X, y, _, _ = make_data(17, n_levels=3)
    graph = wo.OrderGraph.from_edges([0, 1, 2], [(0, 1), (1, 2, 5.0)])
    model = wo.RankSVM(order=graph).fit(X, y)
    assert model.score(X, y) == 1 - wo.metrics.swapped_pairs(y, model.predict(X))


def test_score_without_a_pair_is_nan_with_a_warning():
    X, y, _, _ = make_data(18)
    model = wo.RankSVM().fit(X, y)
    with pytest.warns(UserWarning, match="no pair"):
        assert np.isnan(model.score(X[:3], [1, 1, 1]))


def test_groups_reach_fit_and_score_through_pipeline_and_search():
    X, y, group, _ = make_data(19, n=200, n_groups=10)
    X = X + 50 * np.random.default_rng(0).standard_normal((10, 1))[group]  # queries live on their own scales
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), wo.RankSVM()), {"ranksvm__C": [0.1, 10]}, cv=GroupKFold(3)
        )
        search.fit(X, y, groups=group)
        by_hand = make_pipeline(StandardScaler(), wo.RankSVM(C=search.best_params_["ranksvm__C"]))
        by_hand.fit(X, y, groups=group)
        folds = list(GroupKFold(3).split(X, y, group))
        scores = cross_validate(
            make_pipeline(StandardScaler(), wo.RankSVM()),
            X,
            y,
            cv=GroupKFold(3),
            scoring=scorer("swapped_pairs"),
            params={"groups": group},
        )["test_score"]
    np.testing.assert_allclose(search.best_estimator_[-1].coef_, by_hand[-1].coef_)
    train, test = folds[0]
    scaler = StandardScaler().fit(X[train])
    model = wo.RankSVM().fit(scaler.transform(X[train]), y[train], groups=group[train])
    expected = -wo.metrics.swapped_pairs(y[test], model.predict(scaler.transform(X[test])), groups=group[test])
    assert scores[0] == pytest.approx(expected)


def test_feature_names_are_kept_for_pandas_and_polars():
    import pandas as pd
    import polars as pl

    X, y, _, _ = make_data(20)
    names = list("abcde")
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = wo.RankSVM().fit(frame, y)
        assert model.feature_names_in_.tolist() == names
        np.testing.assert_allclose(model.predict(frame), X @ model.coef_)


def test_clone_and_pickle_keep_the_model():
    X, y, _, _ = make_data(21)
    model = wo.RankSVM(C=2.0).fit(X, y)
    assert clone(model).C == 2.0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_progress_is_logged_and_silent_by_default(caplog, capsys):
    X, y, _, _ = make_data(22)
    with caplog.at_level(logging.DEBUG, logger="wellorder"):
        wo.RankSVM().fit(X, y)
    assert "objective" in caplog.text
    assert capsys.readouterr() == ("", "")


NO_PAIR = "no pair of rows to learn an order from"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": [1, 1, 1, 1]}, f"{NO_PAIR}: all grades are the same"),
        ({"y": [np.nan] * 4}, f"{NO_PAIR}: no row has a grade"),
        ({"groups": [1, 2, 3, 4]}, "no group has two rows of different grades"),
        ({"sample_weight": [0, 0, 0, 1]}, "every pair has a row of zero weight"),
        ({"order": wo.OrderGraph([0, 1, 2, 3], np.zeros((4, 4)))}, "the order puts none of these levels above"),
        ({"y": [0, 1, 2]}, "inconsistent numbers of samples: X has 4 rows, y has 3"),
        ({"y": None}, "y is None"),
        ({"y": ["a", "b", "c", "d"]}, "pass levels="),
        ({"y": [0, 1, np.inf, 2]}, "infinity.*row 2"),
        ({"X": [[np.nan], [1], [2], [3]]}, "contains NaN"),
        ({"X": [[np.inf], [1], [2], [3]]}, "contains infinity"),
        ({"groups": [1, 2]}, "groups has 2 entries for 4 rows"),
        ({"sample_weight": [1, -1, 1, 1]}, "row 1 has the weight -1"),
        ({"sample_weight": [1, np.nan, 1, 1]}, "row 1 has the weight nan"),
        ({"C": 0}, "C must be a positive number, got 0"),
        ({"C": "1"}, "C must be a positive number, got '1'"),
        ({"tol": -1}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"loss": "squared"}, "loss='squared' is not known; use one of 'squared_hinge', 'hinge'"),
        ({"balance": "queries"}, "balance='queries' is not known"),
        ({"order": "fuller"}, "order='fuller' is not known"),
        ({"order": np.ones((4, 4))}, "runs in a circle"),
        ({"pairs_per_item": 0}, "pairs_per_item must be"),
        ({"pairs_per_item": 2.5}, "pairs_per_item must be a positive whole number"),
    ],
    ids=str,
)
def test_bad_input_is_named(changes, message):
    data = {"X": [[0.0], [1.0], [2.0], [3.0]], "y": [0, 1, 2, 3], "groups": None, "sample_weight": None}
    data |= {name: value for name, value in changes.items() if name in data}
    parameters = {name: value for name, value in changes.items() if name not in data}
    with pytest.raises(ValueError, match=message):
        wo.RankSVM(**parameters).fit(data["X"], data["y"], groups=data["groups"], sample_weight=data["sample_weight"])


def test_features_too_large_to_multiply_are_named():
    with pytest.raises(ValueError, match="scale the columns"):
        wo.RankSVM().fit([[1e300], [-1e300], [5e299]], [0, 1, 2])


def test_nothing_beside_an_order_is_ignored_silently():
    X, y, group, _ = make_data(30)
    with pytest.raises(ValueError, match="order was passed beside a Grades"):
        wo.RankSVM(order="chain").fit(X, wo.Grades(y, order="linear"))
    with pytest.raises(ValueError, match="levels was passed beside a Grades"):
        wo.RankSVM(levels=[0, 1, 2, 3]).fit(X, wo.Grades(y))
    with pytest.raises(ValueError, match="groups was passed beside a Grades"):
        wo.metrics.swapped_pairs(wo.Grades(y), X[:, 0], groups=group)
    expected = wo.metrics.swapped_pairs(y, X[:, 0], order="linear")
    assert wo.metrics.swapped_pairs(wo.Grades(y), X[:, 0], order="linear") == expected


def test_scorers_read_text_grades_by_the_models_levels():
    X, y, group, _ = make_data(31, n_levels=3)
    text = np.array(["poor", "fair", "good"])[y]
    ranker = wo.RankSVM(levels=["poor", "fair", "good"])
    for model in (ranker.fit(X, text), make_pipeline(StandardScaler(), ranker).fit(X, text)):
        expected = wo.metrics.swapped_pairs(y, model.decision_function(X), groups=group)
        assert scorer("swapped_pairs")(model, X, text, group) == -expected


def test_a_class_absent_from_a_fold_keeps_its_place_in_the_order():
    X, y, _, _ = make_data(32, n_levels=3)
    costs = np.array([[0.0, 1.0, 5.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    fold = y != 1
    model = wo.RankSVM(order=costs, levels=[0, 1, 2]).fit(X[fold], y[fold])
    np.testing.assert_allclose(model.coef_, wo.RankSVM().fit(X[fold], y[fold]).coef_, rtol=1e-9)
    assert 0 < model.score(X, y) <= 1
    with pytest.raises(ValueError, match=r"order has shape \(3, 3\), but there are 2 levels.*declare levels="):
        wo.RankSVM(order=costs).fit(X[fold], y[fold])
