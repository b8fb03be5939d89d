"""Forests where values are missing, or are categories: walked row by row, and as LightGBM has it."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from tests.reference import trees as reference

from wellorder.spaces import Categories, Forest
from wellorder.sweeps import dispatch

GRID = np.array([-2.0, -0.0, 0.1, 1.5])
N_CATEGORIES = [0, 3, 0, 1]


def rows_with_holes(rng, n):
    X = rng.choice([*GRID, np.nan, 0.0, 1.0, 2.0, 3.0, 7.0, 1e18], (n, 4))
    return X


@given(seed=st.integers(0, 10_000), n=st.integers(0, 30), n_trees=st.integers(0, 6), compiled=st.booleans())
def test_agrees_with_the_reference_to_the_last_bit(seed, n, n_trees, compiled):
    rng = np.random.default_rng(seed)
    arrays = reference.with_holes(rng, reference.draw(rng, n_trees, 4, GRID), N_CATEGORIES)
    X = rows_with_holes(rng, n)
    forest = Forest.from_arrays(arrays)
    forest.check(4)
    with dispatch.prefer_compiled(0 if compiled else 10**12):
        for x in (X, np.asfortranarray(X), X.astype(np.float32), sp.csr_array(X)):
            dense = x.toarray() if sp.issparse(x) else x
            assert np.array_equal(forest.scores(x), reference.scores(arrays, dense))
        kept = n_trees // 2
        few = {**arrays, "roots": arrays["roots"][:kept]}
        assert np.array_equal(forest.first(kept).scores(X), reference.scores(few, X))
        for other in (forest, Forest.constant(2.5)):
            both = forest.first(kept).plus(other).scores(X)
            np.testing.assert_allclose(both, forest.first(kept).scores(X) + other.scores(X), atol=1e-12)
    if n_trees:
        left = [reference.goes_left(arrays, k, X[0, f]) for k, f in enumerate(arrays["feature"])] if n else []
        inner = arrays["left"] >= 0
        assert not n or np.array_equal(forest.goes_left(X[0])[inner], np.array(left)[inner])


@given(seed=st.integers(0, 10_000))
def test_arrays_with_a_few_bytes_changed_are_refused_or_walked(seed):
    rng = np.random.default_rng(seed)
    arrays = reference.with_holes(rng, reference.draw(rng, 3, 4, GRID), N_CATEGORIES)
    for _ in range(rng.integers(1, 4)):
        array = arrays[rng.choice(list(arrays))]
        if len(array):
            array[rng.integers(len(array))] = rng.integers(-3, len(arrays["left"]) + 3)
    try:
        forest = Forest.from_arrays(arrays)
        forest.check(4)
    except ValueError:
        return
    X = rows_with_holes(rng, 5)
    assert np.array_equal(forest.scores(X), reference.scores(arrays, X))


def good():
    return {
        "feature": np.array([0, -1, 1, -1, -1, -1], np.int32),
        "threshold": np.array([0.5, 0, 0, 0, 0, 0]),
        "left": np.array([1, -1, 3, -1, -1, -1], np.int32),
        "right": np.array([2, -1, 4, -1, -1, -1], np.int32),
        "value": np.array([0, 1.0, 0, 2.0, 3.0, 4.0]),
        "roots": np.array([0, 5], np.int32),
        "missing_left": np.array([1, 0, 0, 0, 0, 0], bool),
        "set_size": np.array([0, 0, 3, 0, 0, 0], np.int32),
        "member": np.array([1, 0, 1], bool),
    }


HOSTILE = {
    "a set larger than what is there": ("set_size", 2, 4, "do not have the sizes"),
    "a smaller one": ("set_size", 2, 2, "do not have the sizes"),
    "below zero": ("set_size", 2, -3, "do not have the sizes"),
    "at a leaf": ("set_size", 1, 1, "do not have the sizes"),
    "sizes that overflow": ("set_size", 0, 2**31 - 1, "do not have the sizes"),
    "beside a threshold": ("threshold", 2, 0.5, "beside its set"),
    "missing values at a leaf": ("missing_left", 1, True, "a leaf of a forest"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_arrays_are_refused(name):
    array, place, value, message = HOSTILE[name]
    arrays = good()
    Forest.from_arrays(arrays).check(2)
    arrays[array][place] = value
    with pytest.raises(ValueError, match=message):
        Forest.from_arrays(arrays).check(2)


def test_arrays_of_the_wrong_kind_or_that_lack_others_are_refused():
    for name in ("missing_left", "set_size", "member"):
        lacking = {other: array for other, array in good().items() if other != name}
        with pytest.raises(ValueError, match="has the arrays"):
            Forest.from_arrays(lacking)
        for bad in (good()[name].astype(np.float64), good()[name][:-1], good()[name][:, None]):
            with pytest.raises(ValueError, match="a forest"):
                Forest.from_arrays({**good(), name: bad})
    with pytest.raises(ValueError, match="missing_left, set_size and member"):
        Forest(**{**good(), "member": None})


def test_forests_of_older_versions_refuse_missing_values():
    arrays = good()
    old = {name: arrays[name] for name in ("feature", "threshold", "left", "right", "value", "roots")}
    forest = Forest.from_arrays(old)
    assert set(forest.to_arrays()) == set(old)
    X = np.array([[0.4, 1.0], [0.6, -1.0]])
    assert forest.scores(X).tolist() == [5.0, 6.0]
    for holes in (np.array([[np.nan, 0.0]]), sp.csr_array([[np.nan, 0.0]])):
        with pytest.raises(ValueError, match="older wellorder"):
            forest.scores(holes)


SETTINGS = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_col_wise": True, "min_data_per_group": 5}


@pytest.mark.parametrize("sparse", [False, True])
def test_missing_values_fall_as_lightgbm_has_them(sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 4))
    y = X[:, 0] + np.where(rng.random(len(X)) < 0.5, X[:, 1], 2.0)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[y > 2, 2] = np.nan
    X[:, 3] = rng.integers(0, 2, len(X))  # this one has them all
    kind = sp.csr_matrix if sparse else np.asarray
    booster = lightgbm.train(SETTINGS, lightgbm.Dataset(kind(X), y), 50)
    forest = Forest.from_lightgbm(booster.model_to_string())
    assert forest.set_size is None
    ours = forest.scores(sp.csr_array(X) if sparse else X)
    np.testing.assert_allclose(ours, booster.predict(kind(X)), rtol=0, atol=1e-12)


def test_sets_of_categories_are_those_of_lightgbm():
    rng = np.random.default_rng(0)
    n, missing = 70, 70
    code = rng.integers(0, n + 1, 6_000)
    gain = rng.normal(size=n + 1)
    X = np.column_stack([code, rng.normal(size=len(code))]).astype(float)
    y = gain[code] + X[:, 1]
    booster = lightgbm.train(SETTINGS, lightgbm.Dataset(X, y, categorical_feature=[0]), 50)
    forest = Forest.from_lightgbm(booster.model_to_string(), {0: Categories(n, has_missing=True)})
    forest.check(2)
    assert forest.member is not None
    assert forest.member.any()
    assert not forest.member.all()
    ours = X.copy()
    ours[code == missing, 0] = np.nan
    np.testing.assert_allclose(forest.scores(ours), booster.predict(X), rtol=0, atol=1e-12)
    unseen = ours.copy()
    unseen[code == missing, 0] = 1000.0  # no category: as if it were missing
    assert np.array_equal(forest.scores(unseen), forest.scores(ours))


def test_without_a_missing_value_in_training_it_goes_with_the_more_rows():
    X = np.repeat([[0.0], [1.0]], [30, 70], axis=0)
    for categories in ({}, {0: Categories(2, has_missing=False)}):
        data = lightgbm.Dataset(X, X[:, 0], categorical_feature=list(categories))
        few = {"min_data_in_leaf": 5, "min_data_in_bin": 1, "cat_smooth": 0.0, "cat_l2": 0.0}
        booster = lightgbm.train({**SETTINGS, **few}, data, 1)
        forest = Forest.from_lightgbm(booster.model_to_string(), categories)
        low, high, hole = forest.scores(np.array([[0.0], [1.0], [np.nan]]))
        assert low < high == hole
