"""Missing values and columns of categories where trees are the model, and nowhere else."""

from __future__ import annotations

import warnings

import lightgbm
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.utils import get_tags

import wellorder as wo

TREES = [
    wo.OrderBoost(learner="tree", n_estimators=20),
    wo.OrderBoost("orboost", learner="tree", n_estimators=20),
    wo.OrderBoost("squared", learner="tree", n_estimators=20),
    wo.BoostedTrees(n_estimators=20),
    wo.BoostedTrees("lambdarank", n_estimators=20),
]


def holes(n=600, seed=0):
    """Grades of which a missing value says most, and the rows with it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    gone = rng.random(n) < 0.3
    X[gone, 1] = np.nan
    y = np.digitize(X[:, 0] + 3.0 * gone + 0.2 * rng.normal(size=n), [-1, 0, 1, 3])
    return X, y, gone


def named(n=900, seed=0):
    """Grades that go by the names in one column, in no order of the numbers."""
    rng = np.random.default_rng(seed)
    worth = rng.permutation(12) - 6.0
    code = rng.integers(0, 12, n)
    X = np.column_stack([rng.normal(size=n), 10.0 * code + 0.5])
    y = np.digitize(worth[code] + X[:, 0], [-4, -1, 1, 4])
    return X, y


@pytest.mark.parametrize("model", TREES, ids=str)
def test_a_missing_value_is_a_value(model):
    X, y, _ = holes()
    learned = model.fit(X, y)
    assert learned.score(X, y) > 0.9
    filled = np.where(np.isnan(X), 0.0, X)
    assert type(model)(**model.get_params()).fit(filled, y).score(filled, y) < learned.score(X, y)
    single = X.astype(np.float32)
    again = type(model)(**model.get_params()).fit(single, y)
    assert again.score(single, y) == pytest.approx(learned.score(X, y), abs=0.02)
    sparse = sp.csr_array(np.where(np.isnan(X), np.nan, X * (np.abs(X) > 0.2)))
    assert type(model)(**model.get_params()).fit(sparse, y).score(sparse, y) > 0.8


def test_only_trees_take_them():
    X, y, _ = holes()
    for model in (wo.OrderBoost(), wo.RankSVM(), wo.ProportionalOdds()):
        assert not get_tags(model).input_tags.allow_nan
        with pytest.raises(ValueError, match="contains NaN"):
            model.fit(X, y)
    for model in TREES:
        assert get_tags(model).input_tags.allow_nan
        with pytest.raises(ValueError, match="infinity"):
            model.fit(np.where(np.isnan(X), np.inf, X), y)
    own = wo.OrderBoost(learner=HistGradientBoostingRegressor(max_iter=2), n_estimators=5)
    assert get_tags(own).input_tags.allow_nan
    assert own.fit(X, y).score(X, y) > 0.8
    with pytest.raises(ValueError, match="categories= is for trees"):
        wo.OrderBoost(categories=[0]).fit(X[:, [0]], y)


def test_without_one_in_training_a_missing_value_goes_with_the_more_rows():
    X, y, _ = holes()
    X = np.where(np.isnan(X), 0.0, X)
    model = wo.OrderBoost(learner="tree", n_estimators=1, max_leaf_nodes=2).fit(X, y)
    scores = model.decision_function(X)
    often = max(np.unique(scores), key=lambda score: np.count_nonzero(scores == score))
    assert (model.decision_function(np.full((2, 3), np.nan)) == often).all()


def test_validation_rows_with_holes_of_their_own_stop_where_they_should():
    X, y, _ = holes()
    beside, y_beside, _ = holes(300, seed=1)
    whole = np.where(np.isnan(X), 0.0, X)
    for training in (X, whole):
        model = wo.OrderBoost(learner="tree", n_estimators=30, n_iter_no_change=5)
        model.fit(training, y, X_val=beside, y_val=y_beside)
        kept = model.n_estimators_
        risk = wo.OrderBoost(learner="tree", n_estimators=kept).fit(training, y)
        pairs = wo.Grades(y_beside).pairs
        d = risk.decision_function(beside)
        best = np.mean([np.exp(-(d[i] - d[j])) for i in range(300) for j in range(300) if y_beside[i] > y_beside[j]])
        assert model.validation_risk_.argmin() + 1 == kept
        assert pairs.n_pairs == np.sum(y_beside[:, None] > y_beside)
        if not model.consistent_:
            assert model.validation_risk_[kept - 1] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("model", TREES, ids=str)
def test_categories_are_split_as_sets(model):
    X, y = named()
    few = {"max_leaf_nodes": 4, "n_estimators": 5}
    as_names = type(model)(**{**model.get_params(), **few, "categories": [1]}).fit(X, y)
    as_numbers = type(model)(**{**model.get_params(), **few}).fit(X, y)
    assert as_names.pieces_["member"].any()
    assert as_names.score(X, y) > as_numbers.score(X, y) + 0.01
    assert list(as_names.categories_) == [1]
    assert len(as_names.categories_[1]) == 12


def test_names_are_names_whatever_numbers_they_are():
    X, y = named()
    model = wo.OrderBoost(learner="tree", n_estimators=10, categories=[1])
    scores = model.fit(X, y).decision_function(X)
    other = X.copy()
    other[:, 1] = np.round(-7.3 * X[:, 1], 3)  # other numbers in the other order: ties in the search may break so
    again = wo.OrderBoost(learner="tree", n_estimators=10, categories=[False, True]).fit(other, y)
    np.testing.assert_allclose(again.decision_function(other), scores, atol=0.3)
    frame = pd.DataFrame(X, columns=["a", "b"])
    by_name = wo.OrderBoost(learner="tree", n_estimators=10, categories=["b"]).fit(frame, y)
    assert np.array_equal(by_name.decision_function(frame), scores)


def test_a_category_that_training_had_not_goes_where_missing_ones_go():
    X, y = named()
    X[::7, 1] = np.nan
    model = wo.OrderBoost(learner="tree", n_estimators=10, categories=[1]).fit(X, y)
    rows = np.array([[0.3, np.nan], [0.3, -1.0], [0.3, 11.0], [0.3, 1e300]])
    with pytest.warns(UserWarning, match=r"column 1 has the category -1 \(first in row 1\).*missing in 3 rows"):
        scores = model.decision_function(rows)
    assert len(np.unique(scores)) == 1
    frame = pd.DataFrame(X, columns=["a", "maker"])
    model.set_params(categories=["maker"]).fit(frame, y)
    with pytest.warns(UserWarning, match="column 'maker' has the category 11 "):
        list(model.staged_decision_function(frame.assign(maker=11.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.decision_function(frame)  # a missing one is no stranger


def test_the_same_scores_as_lightgbm_itself():
    X, y = named()
    X[::7, 1] = np.nan
    X[::5, 0] = np.nan
    ours = wo.BoostedTrees(n_estimators=20, categories=[1], random_state=0).fit(X, y)
    codes = np.where(np.isnan(X[:, 1]), 12, np.searchsorted(np.unique(X[:, 1][~np.isnan(X[:, 1])]), X[:, 1]))
    theirs = lightgbm.LGBMRegressor(n_estimators=20, verbosity=-1, n_jobs=1, min_data_per_group=20)
    rows = np.column_stack([X[:, 0], codes])
    theirs.fit(rows, y, categorical_feature=[1])
    assert np.corrcoef(theirs.predict(rows), ours.decision_function(X))[0, 1] > 0.999


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        (["c"], "names the column 'c', which X has not"),
        ([2], "names column 2, and X has 2 columns"),
        ([0.5], "by name or by place"),
        ("b", "list of columns"),
        ([True], "mask of 1 columns"),
    ],
)
def test_wrong_columns_are_named(categories, message):
    X, y = named()
    with pytest.raises(ValueError, match=message):
        wo.OrderBoost(learner="tree", categories=categories).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with pytest.raises(ValueError, match="X has no column names"):
        wo.BoostedTrees(categories=["b"]).fit(X, y)
    with pytest.raises(ValueError, match="dense X"):
        wo.BoostedTrees(categories=[0]).fit(sp.csr_array(X), y)


def test_an_ensemble_of_trees_takes_what_trees_take():
    X, y, _ = holes()
    members = [("pairs", wo.OrderBoost(learner="tree", n_estimators=9)), ("grades", wo.BoostedTrees(n_estimators=9))]
    ensemble = wo.OrderEnsemble(members)
    assert get_tags(ensemble).input_tags.categorical
    assert ensemble.fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match="contains NaN"):
        wo.OrderEnsemble([*members, ("svm", wo.RankSVM())]).fit(X, y)
