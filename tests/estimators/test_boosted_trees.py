"""BoostedTrees: LightGBM's own objectives, as LightGBM computes them, kept as plain arrays."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata

import wellorder as wo
from wellorder.persistence import ModelFileError

lightgbm = pytest.importorskip("lightgbm")

SHAPE = {"n_estimators": 20, "max_leaf_nodes": 7, "min_samples_leaf": 5}
SAME = {
    "verbosity": -1,
    "num_leaves": 7,
    "min_data_in_leaf": 5,
    "learning_rate": 0.1,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 1,
}


def make_rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(n), [0, 1, 2]).astype(float)
    return X, y, rng.integers(0, 12, n), rng.integers(1, 4, n).astype(float)


def own(X, target, objective="regression", group=None, weight=None, **more):
    data = lightgbm.Dataset(X, target, group=group, weight=weight)
    return lightgbm.train({**SAME, "objective": objective, **more}, data, 20).predict(X)


def test_regression_is_lightgbms():
    X, y, _, weight = make_rows()
    grades = 10.0 * y + 1000.0
    scaled = grades / grades.max()
    centre = np.average(scaled, weights=weight)
    expected = own(X, scaled - centre, weight=weight, boost_from_average=False)
    found = wo.BoostedTrees(**SHAPE).fit(X, grades, sample_weight=weight).predict(X)
    np.testing.assert_allclose(found, grades.max() * (expected + centre), rtol=1e-12)
    assert np.abs(found - grades).mean() < 5.0


def test_ranks_are_mean_ranks_within_groups():
    X, y, groups, _ = make_rows()
    target = np.zeros(len(y))
    for g in np.unique(groups):
        mine = groups == g
        target[mine] = (rankdata(y[mine]) - 0.5) / mine.sum() - 0.5
    top = np.abs(target).max()
    expected = own(X, target / top - (target / top).mean(), boost_from_average=False)
    found = wo.BoostedTrees("ranks", **SHAPE).fit(X, y, groups=groups).predict(X)
    np.testing.assert_allclose(found, top * (expected + (target / top).mean()), atol=1e-9)


def test_lambdarank_takes_groups_as_queries_in_any_order():
    X, y, groups, _ = make_rows()
    order = np.argsort(groups, kind="stable")
    expected = np.empty(len(y))
    expected[order] = own(X[order], y[order], "lambdarank", group=np.bincount(groups), label_gain=[0, 1, 3, 7])
    names = np.array([f"q{99 - g}" for g in groups])
    found = wo.BoostedTrees("lambdarank", **SHAPE).fit(X, y, groups=groups)
    np.testing.assert_allclose(found.predict(X), expected, rtol=1e-12)
    assert wo.BoostedTrees("lambdarank", **SHAPE).fit(X, y, groups=names).score(X, y, groups) > 0.9


def test_lambdarank_takes_many_levels_but_no_long_list():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    model = wo.BoostedTrees("lambdarank", **SHAPE).fit(X, X[:, 0], groups=np.arange(400) // 100)
    assert model.score(X, X[:, 0], np.arange(400) // 100) > 0.9
    with pytest.raises(ValueError, match=r"at most 10,000 rows a group, and one has 10,001; use OrderBoost"):
        wo.BoostedTrees("lambdarank").fit(np.arange(10_001.0)[:, None], np.arange(10_001) % 3)


@pytest.mark.parametrize("objective", ["regression", "ranks", "lambdarank"])
def test_unjudged_and_weightless_rows_change_nothing(objective):
    X, y, groups, weight = make_rows()
    model = wo.BoostedTrees(objective, **SHAPE)
    scores = model.fit(X, y, groups=groups, sample_weight=weight).predict(X)
    more_X, more_groups = np.vstack([X, 9.0 + X[:40]]), np.append(groups, groups[:40])
    more_y = np.append(y, [np.nan] * 20 + [3.0] * 20)
    more_weight = np.append(weight, [1.0] * 20 + [0.0] * 20)
    again = model.fit(more_X, more_y, groups=more_groups, sample_weight=more_weight).predict(X)
    np.testing.assert_array_equal(scores, again)


@pytest.mark.parametrize("objective", ["regression", "ranks", "lambdarank"])
def test_sparse_rows_and_saved_models_give_the_same_scores(objective, tmp_path, monkeypatch):
    X, y, groups, _ = make_rows()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = wo.BoostedTrees(objective, **SHAPE).fit(X, y, groups=groups)
    sparse = wo.BoostedTrees(objective, **SHAPE).fit(sp.csr_array(X), y, groups=groups)
    np.testing.assert_array_equal(model.predict(X), sparse.predict(sp.csr_array(X)))
    wo.save(model, tmp_path / "model.wo")
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # as if it were not installed
    np.testing.assert_array_equal(wo.load(tmp_path / "model.wo").predict(X), model.predict(X))
    with pytest.raises(ImportError, match="needs LightGBM"):
        model.fit(X, y)


def test_a_damaged_model_is_refused(tmp_path):
    X, y, _, _ = make_rows()
    model = wo.BoostedTrees(**SHAPE).fit(X, y)
    model.pieces_["left"][0] = 0
    wo.save(model, tmp_path / "model.wo")
    with pytest.raises(ModelFileError, match="child"):
        wo.load(tmp_path / "model.wo")


def test_huge_grades_and_words():
    X, y, _, _ = make_rows()
    model = wo.BoostedTrees(**SHAPE)
    usual, huge = model.fit(X, y - 1.5).predict(X), model.fit(X, (y - 1.5) * 1e300).predict(X)
    np.testing.assert_allclose(huge / 1e300, usual, rtol=1e-9)
    words = np.array(["bad", "poor", "good", "best"])
    placed = wo.BoostedTrees(levels=words.tolist(), **SHAPE).fit(X, words[y.astype(int)]).predict(X)
    np.testing.assert_array_equal(placed, model.fit(X, y).predict(X))


def test_columns_that_do_not_vary():
    y = np.arange(60) % 3
    with pytest.warns(UserWarning, match="orders nothing.*no column varies"):
        model = wo.BoostedTrees().fit(np.ones((60, 2)), y)
    assert model.predict(np.ones((2, 2))) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"objective": "rank"}, "objective='rank' is not known"),
        ({"n_estimators": 0}, "n_estimators must be a positive whole number"),
        ({"max_leaf_nodes": 1}, "one leaf orders nothing"),
        ({"learning_rate": 0.0}, "learning_rate must be a positive number"),
        ({"l2_regularization": -1.0}, "l2_regularization must be a positive number"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    X, y, _, _ = make_rows(30)
    with pytest.raises(ValueError, match=message):
        wo.BoostedTrees(**params).fit(X, y)


def test_comparisons_are_refused():
    with pytest.raises(ValueError, match="takes grades, one a row, not Comparisons; use OrderBoost"):
        wo.BoostedTrees().fit(np.eye(3), wo.Comparisons([0], [1], [1]))
