"""A fit that is interrupted or fails leaves no half of a model: it is not fitted, and can be fitted again."""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from tests.estimators import quick

import wellorder as wo
from wellorder import estimators
from wellorder.data import TableRanker

POINTS = np.linspace(0.02, 0.95, 7)
"""How far a fit has come when it is interrupted, as a share of all its calls."""

OTHERS = {"RatingRanker": wo.ratings.RatingRanker, "TableRanker": lambda: TableRanker(wo.RankSVM(), target="grade")}


def make(name):
    """Return an estimator that is fitted quickly."""
    return OTHERS[name]() if name in OTHERS else quick.make(name, n_estimators=3)


def data_for(model, d):
    """Return what ``fit`` takes, rows of d features first."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((36, d))
    y = np.digitize(X[:, 0] + 0.1 * rng.standard_normal(36), [-0.5, 0.5])
    if isinstance(model, TableRanker):
        return (pl.DataFrame(X).with_columns(grade=y),)
    if isinstance(model, wo.ratings.RatingRanker) or get_tags(model).input_tags.three_d_array:
        left, right = np.arange(35), np.arange(1, 36)
        return X, wo.Comparisons(left, right, np.sign(y[right] - y[left]))
    return X, y


@contextmanager
def interrupted(at=None):
    """Raise KeyboardInterrupt at the n-th call of a Python function inside the block; count them."""
    calls = [0]

    def count(frame, event, arg):
        if event == "call":
            calls[0] += 1
            if calls[0] == at:
                raise KeyboardInterrupt

    gc.collect()
    gc.disable()  # what it would call, and when, is no part of the fit
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        gc.enable()


def is_interrupted(model, old, new, at):
    """Fit old data, then new ones up to the n-th call; False where nobody hears it there, as in a finaliser."""
    model.fit(*old)
    try:
        with interrupted(at):
            model.fit(*new)
    except KeyboardInterrupt:
        return True
    return False


@pytest.mark.filterwarnings("ignore")  # of small data, which nobody asks about here
@pytest.mark.parametrize("name", [*estimators.__all__, *OTHERS])
def test_an_interrupted_refit_leaves_nothing_fitted(name):
    model = make(name)
    old, new = data_for(model, 4), data_for(model, 2)
    model.fit(*new)  # whatever is done once only is done: later fits make as many calls
    model.fit(*old)
    model.decision_function(old[0])
    with interrupted() as calls:
        model.fit(*new)
    expected = model.decision_function(new[0])
    for point in POINTS:
        assert any(is_interrupted(model, old, new, max(2, int(point * calls[0]) - sooner)) for sooner in range(5))
        for rows in (old[0], new[0]):
            with pytest.raises(NotFittedError):
                model.decision_function(rows)
        np.testing.assert_array_equal(model.fit(*new).decision_function(new[0]), expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*estimators.__all__, *OTHERS])
def test_a_fit_that_fails_leaves_nothing_fitted(name):
    model = make(name)
    rows, *y = data_for(model, 3)
    wrong = rows.head(0) if isinstance(model, TableRanker) else np.full((36, 2, 2, 2), np.nan)
    for before in (False, True):
        if before:
            model.fit(rows, *y)
        with pytest.raises((ValueError, TypeError)):
            model.fit(wrong, *y)
        with pytest.raises(NotFittedError):
            model.decision_function(rows)


@pytest.mark.parametrize("system", [wo.ratings.Davidson, wo.ratings.Elo, wo.ratings.Glicko, wo.ratings.Glicko2])
def test_an_interrupted_rating_begins_anew(system):
    old, new = (
        (["a", "b", "c"], ["b", "c", "a"], [1, 1, -1]),
        (["x", "y", "z"] * 9, ["y", "z", "x"] * 9, [1, -1, 1] * 9),
    )
    model = system().fit(*new).fit(*old)
    with interrupted() as calls:
        model.fit(*new)
    for point in POINTS:
        model.fit(*old)
        with pytest.raises(KeyboardInterrupt), interrupted(at=max(2, int(point * calls[0]))):
            model.fit(*new)
        assert len(set(model.rating(["a", "b", "x", "nobody"]).tolist())) == 1
        assert model.fit(*new).rating(["x", "y"]).tolist() == system().fit(*new).rating(["x", "y"]).tolist()


def test_what_was_set_stays():
    model = wo.RankSVM(C=2.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(groups=False)
    model.note = "kept"
    with pytest.raises(ValueError, match="NaN"):
        model.fit([[np.nan]], [1])
    assert model.get_params()["C"] == 2.0
    assert model.note == "kept"
    assert model.get_metadata_routing().fit.requests["groups"] is False


def test_warnings_still_point_at_the_line_that_fits():
    X = np.arange(12.0).reshape(6, 2)
    with pytest.warns(UserWarning, match="stopped after") as heard:
        wo.RankSVM(max_iter=1, tol=1e-12, loss="logistic").fit(X, [0, 1, 2, 0, 1, 2])
    assert heard[0].filename == __file__


class Mine(wo.RankSVM):
    """Somebody's own ranker, with a parameter and a place to keep things that look as if they were fitted."""

    def __init__(self, C=1.0, lambda_=3):
        super().__init__(C=C)
        self.lambda_ = lambda_
        self._kept = {}

    def fit(self, X, y, groups=None):
        self._kept["n"] = len(X)
        return super().fit(X, y, groups=groups)


def test_a_fit_that_fails_forgets_only_what_was_fitted():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = Mine().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="pair"):
        model.fit(X, np.zeros(20))
    assert not hasattr(model, "coef_")
    assert model.get_params() == {"C": 1.0, "lambda_": 3}
    assert model.fit(X, X[:, 0])._kept == {"n": 20}
