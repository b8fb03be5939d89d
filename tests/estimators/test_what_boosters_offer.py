"""Subsampling, least gains, interactions, further rounds, staged scores and importances of boosted trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import wellorder as wo
from wellorder.data import TableRanker, read


def graded(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n), [-1, 0, 1])


def trees(**params):
    return wo.OrderBoost(learner="tree", **{"n_estimators": 20, "random_state": 0} | params)


@pytest.mark.parametrize("name", ["subsample", "max_features"])
def test_subsamples_are_drawn_by_the_seed(name):
    X, y = graded()
    scores = [trees(**{name: 0.5}, random_state=seed).fit(X, y).decision_function(X) for seed in (0, 0, 1)]
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])
    assert not np.array_equal(scores[0], trees().fit(X, y).decision_function(X))


def test_splits_that_gain_too_little_are_not_made():
    X, y = graded()
    sizes = [len(trees(min_gain=least).fit(X, y).pieces_["value"]) for least in (0.0, 5.0, 50.0)]
    assert sizes[0] > sizes[1] > sizes[2]


def columns_met(arrays):
    """Return the sets of columns on the ways from roots to leaves."""
    found = set()

    def walk(k, columns):
        if arrays["left"][k] < 0:
            found.add(frozenset(columns))
            return
        for child in (arrays["left"][k], arrays["right"][k]):
            walk(child, columns | {int(arrays["feature"][k])})

    for root in arrays["roots"]:
        walk(root, frozenset())
    return found


def test_only_columns_of_one_set_meet():
    X, y = graded()
    free = columns_met(trees().fit(X, y).pieces_)
    assert any({0, 1} <= each for each in free)
    for sets, allowed in (([[0], [1], [2], [3]], [{0}, {1}, {2}, {3}]), ([[1, 2]], [{1, 2}, {0, 3}])):
        met = columns_met(trees(interactions=sets).fit(X, y).pieces_)
        assert all(any(each <= one for one in allowed) for each in met)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(grade=y)
    by_name = TableRanker(trees(interactions=[["b", "c"]]), target="grade").fit(frame)
    assert by_name.ranker_.get_params()["interactions"] == [[1, 2]]
    assert columns_met(by_name.ranker_.pieces_) == met
    assert read(frame, target="grade").y is not None


def test_staged_scores_are_those_of_the_first_trees():
    X, y = graded()
    X[::5, 1] = np.nan
    X[:, 3] = np.round(X[:, 3])
    model = trees(categories=[3]).fit(X, y)
    staged = list(model.staged_decision_function(X))
    assert len(staged) == model.n_estimators_
    assert np.array_equal(staged[-1], model.decision_function(X))
    short = trees(categories=[3], n_estimators=7).fit(X, y)
    assert np.array_equal(staged[6], short.decision_function(X))
    assert not hasattr(wo.OrderBoost(), "staged_decision_function")


@pytest.mark.parametrize("loss", ["pairs", "squared_hinge", "orboost", "squared"])
def test_more_rounds_are_the_rounds_of_one_fit(loss):
    X, y = graded()
    whole = trees(loss=loss).fit(X, y)
    model = trees(loss=loss, n_estimators=8, warm_start=True, learning_rate=0.1).fit(X, y)
    first = model.decision_function(X)
    model.set_params(n_estimators=20).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(model.train_risk_, whole.train_risk_, rtol=1e-9)
    np.testing.assert_allclose(model.risk_falls_, whole.risk_falls_, atol=1e-9)
    np.testing.assert_allclose(model.feature_importances_, whole.feature_importances_, atol=1e-6)
    staged = list(model.staged_decision_function(X))
    if loss in ("pairs", "squared_hinge"):
        np.testing.assert_allclose(staged[7], first, atol=1e-12)
    assert len(staged) == 20


def test_more_rounds_with_validation_rows_of_ones_own_and_their_groups():
    X, y = graded()
    beside, y_beside = graded(200, seed=1)
    own = {"X_val": beside, "y_val": y_beside, "groups_val": np.arange(200) % 10}
    groups = np.arange(len(y)) % 25
    whole = trees(n_estimators=30).fit(X, y, groups=groups, **own)
    model = trees(n_estimators=10, warm_start=True).fit(X, y, groups=groups, **own)
    model.set_params(n_estimators=30).fit(X, y, groups=groups, **own)
    np.testing.assert_allclose(model.validation_risk_, whole.validation_risk_, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-6)


def test_what_cannot_be_gone_on_from_says_so():
    X, y = graded()
    model = trees(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="20 trees, and n_estimators=5 are fewer"):
        model.set_params(n_estimators=5).fit(X, y)
    model = trees(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="over 4 columns; X has 3"):
        model.set_params(n_estimators=25).fit(X[:, :3], y)
    model = trees(warm_start=True, categories=[3]).fit(X.round(), y)
    with pytest.raises(ValueError, match="other categories"):
        model.set_params(n_estimators=25).fit(X.round() + 1, y)


def test_importances_add_up_to_the_fall_of_the_exact_risk():
    X, y = graded()
    model = trees(consistent=False, subsample=0.7).fit(X, y)
    high, low = np.nonzero(y[:, None] > y[None, :])
    d = model.decision_function(X)
    exact = np.mean(np.exp(-(d[high] - d[low])))
    assert model.train_risk_[-1] == pytest.approx(exact, rel=1e-9)
    assert model.risk_falls_.sum() == pytest.approx(1.0 - exact, rel=1e-9)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.argmin() == model.risk_falls_.argmin() == 3
    assert not hasattr(wo.OrderBoost().fit(X, y), "feature_importances_")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"subsample": 1.5}, "at most 1"),
        ({"max_features": 0.0}, "must be a positive number"),
        ({"min_gain": -1.0}, "must be 0 or a positive number"),
        ({"interactions": "none"}, "list of lists"),
        ({"interactions": [[9]]}, "names column 9"),
        ({"learner": "gaussian", "subsample": 0.5}, "subsample= is for trees"),
    ],
)
def test_wrong_options_are_named(params, message):
    X, y = graded(100)
    with pytest.raises(ValueError, match=message):
        wo.OrderBoost(**{"learner": "tree"} | params).fit(X, y)


def test_lambdarank_looks_as_far_as_it_is_told_and_takes_gains():
    X, y = graded()
    scores = {}
    for name, params in {
        "usual": {},
        "thirty": {"truncation": 30},
        "three": {"truncation": 3},
        "doubling": {"label_gain": [0, 1, 3, 7]},
        "places": {"label_gain": [0, 1, 2, 3]},
    }.items():
        model = wo.BoostedTrees("lambdarank", n_estimators=10, **params)
        scores[name] = model.fit(X, y, groups=np.arange(len(y)) % 5).decision_function(X)
    assert np.array_equal(scores["usual"], scores["thirty"])
    assert np.array_equal(scores["usual"], scores["doubling"])
    assert not np.array_equal(scores["usual"], scores["three"])
    assert not np.array_equal(scores["usual"], scores["places"])
    for wrong in ([0, 1], [3, 2, 1, 0], [0, 1, 2, np.inf]):
        with pytest.raises(ValueError, match="label_gain must be 4 numbers"):
            wo.BoostedTrees("lambdarank", label_gain=wrong).fit(X, y)
