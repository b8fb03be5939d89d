from __future__ import annotations

import lightgbm
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from tests.reference import trees as reference

from wellorder.spaces import Forest, trees as module
from wellorder.sweeps import dispatch, nodes as sweep

GRID = np.array([-2.0, -0.0, 0.1, 1e-35, 1.5])


@given(seed=st.integers(0, 10_000), n=st.integers(0, 30), n_trees=st.integers(0, 6), compiled=st.booleans())
def test_agrees_with_the_reference_to_the_last_bit(seed, n, n_trees, compiled):
    rng = np.random.default_rng(seed)
    arrays = reference.draw(rng, n_trees, 4, GRID)
    X = rng.choice(np.append(GRID, [0.0, np.nextafter(0.1, 1), 7.0]), (n, 4))
    forest = Forest.from_arrays(arrays)
    forest.check(4)
    with dispatch.prefer_compiled(0 if compiled else 10**12):
        for x in (X, np.asfortranarray(X), X.astype(np.float32), sp.csr_array(X)):
            dense = x.toarray() if sp.issparse(x) else x
            assert np.array_equal(forest.scores(x), reference.scores(arrays, dense))
        kept = n_trees // 2
        few = {**arrays, "roots": arrays["roots"][:kept]}
        assert np.array_equal(forest.first(kept).scores(X), reference.scores(few, X))


@pytest.mark.usefixtures("form")
def test_blocks_and_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    arrays = reference.draw(rng, 5, 40, GRID)
    X = sp.random_array((300, 40), density=0.3, rng=rng).tocsr()
    forest = Forest.from_arrays(arrays)
    whole = forest.scores(X)
    monkeypatch.setattr(module, "_BLOCK_ROWS", 7)
    monkeypatch.setattr(sweep, "_CHUNK", 11)
    monkeypatch.setattr(dispatch, "THREADS_FROM", 0)
    monkeypatch.setattr(dispatch, "available_cpus", lambda: 3)
    dispatch._pool.cache_clear()
    assert np.array_equal(forest.scores(X), whole)
    assert np.array_equal(forest.scores(X.toarray()), whole)
    dispatch._pool.cache_clear()


def tricky(rng, dtype):
    X = rng.normal(size=(2_000, 7))
    X[:, 1] = 3.0  # constant
    X[:, 2] = rng.integers(0, 3, len(X))
    X[:, 3] *= rng.random(len(X)) < 0.1  # mostly zero
    X[:, 4] *= 1e-36  # nothing but zeros, for LightGBM
    X[:, 5] *= 1e300 if dtype == np.float64 else 1e30
    return X.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
def test_same_scores_as_lightgbm(dtype, sparse):
    rng = np.random.default_rng(1)
    X = tricky(rng, dtype)
    y = X[:, 0] + X[:, 3] + (X[:, 2] == 1) + np.sign(X[:, 5])
    settings = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_col_wise": True}
    booster = lightgbm.train(settings, lightgbm.Dataset(sp.csr_matrix(X) if sparse else X, y), 60)
    forest = Forest.from_lightgbm(booster.model_to_string())
    forest.check(7)
    assert len(forest) == 60
    inner = np.flatnonzero(forest.left >= 0)
    on_edges = np.repeat(X[:50], 40, axis=0)
    for row in on_edges:  # on a threshold, and to either side of it
        node = rng.choice(inner)
        value = dtype(forest.threshold[node])
        if abs(value) > 1e-30:  # LightGBM's answers for dense and for sparse rows differ at its own −1e-35
            row[forest.feature[node]] = rng.choice(np.nextafter(value, np.array([value, np.inf, -np.inf], dtype)))
    for rows in (X, on_edges):
        ours = forest.scores(sp.csr_array(rows) if sparse else rows)
        np.testing.assert_allclose(ours, booster.predict(rows, raw_score=True), rtol=0, atol=1e-12)


def test_rows_that_lightgbm_trains_as_small_as_its_zero_fall_as_in_training():
    X = np.repeat([-1.0, np.float32(-1e-35), 0.0, 1.0], [100, 20, 80, 100])[:, None]
    y = np.repeat([0.0, 2.0, 1.0, 3.0], [100, 20, 80, 100])
    settings = {"verbosity": -1, "num_threads": 1, "learning_rate": 1.0}
    booster = lightgbm.train(settings, lightgbm.Dataset(X, y), 1)
    forest = Forest.from_lightgbm(booster.model_to_string())
    assert abs(forest.scores(X) - y).sum() == pytest.approx(2 * 20 * 100 * 2 / 120)


def test_tree_without_a_split():
    booster = lightgbm.train({"verbosity": -1, "num_threads": 1}, lightgbm.Dataset(np.eye(30), np.ones(30)), 3)
    forest = Forest.from_lightgbm(booster.model_to_string())
    np.testing.assert_allclose(forest.scores(np.eye(30)), 1.0)
    assert Forest.constant(2.5).scores(np.zeros((3, 0))).tolist() == [2.5] * 3


def test_trees_that_mean_something_else_are_refused():
    X = np.repeat(np.arange(4.0), 50)[:, None]
    y = np.array([0.0, 3.0, 1.0, 2.0])[X[:, 0].astype(int)]
    settings = {"verbosity": -1, "num_threads": 1}
    categories = lightgbm.train(settings, lightgbm.Dataset(X, y, categorical_feature=[0]), 3)  # nobody said so
    zeros = lightgbm.train({**settings, "zero_as_missing": True}, lightgbm.Dataset(X, y), 3)
    classes = lightgbm.train({**settings, "objective": "multiclass", "num_class": 4}, lightgbm.Dataset(X, y), 3)
    for booster in (categories, zeros, classes):
        with pytest.raises(ValueError, match="only LightGBM"):
            Forest.from_lightgbm(booster.model_to_string())


def good():
    return {
        "feature": np.array([0, -1, 1, -1, -1, -1], np.int32),
        "threshold": np.array([0.5, 0, 0.5, 0, 0, 0]),
        "left": np.array([1, -1, 3, -1, -1, -1], np.int32),
        "right": np.array([2, -1, 4, -1, -1, -1], np.int32),
        "value": np.array([0, 1.0, 0, 2.0, 3.0, 4.0]),
        "roots": np.array([0, 5], np.int32),
    }


HOSTILE = {
    "child outside": ("right", 2, 99, "after its parent"),
    "child in another tree": ("right", 2, 5, "after its parent"),
    "child below -1": ("left", 2, -2, "after its parent"),
    "itself": ("left", 2, 2, "after its parent"),
    "cycle": ("left", 2, 0, "after its parent"),
    "two parents": ("left", 2, 4, "one parent"),
    "one child": ("left", 2, -1, "one child"),
    "no feature": ("feature", 0, -1, "below 0"),
    "feature at a leaf": ("feature", 5, 0, "leaf"),
    "feature outside": ("feature", 0, 2, "looks at column 2"),
    "nan": ("threshold", 0, np.nan, "finite"),
    "infinity": ("threshold", 0, np.inf, "finite"),
    "value": ("value", 3, np.nan, "finite"),
    "first root": ("roots", 0, 1, "ascending"),
    "root outside": ("roots", 1, 6, "ascending"),
    "root below": ("roots", 1, -1, "ascending"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_arrays_are_refused(name):
    array, place, value, message = HOSTILE[name]
    arrays = good()
    Forest.from_arrays(arrays).check(2)
    arrays[array][place] = value
    with pytest.raises(ValueError, match=message):
        Forest.from_arrays(arrays).check(2)


def test_wrong_shapes_types_and_names_are_refused():
    for name, array in good().items():
        wrong = [
            array.astype(np.int64),
            array[:, None],
            array[:-1],
            list(array),
            array.astype(array.dtype.newbyteorder()),
        ]
        for bad in wrong if name != "roots" else wrong[:-2]:
            with pytest.raises(ValueError, match="a "):
                Forest.from_arrays({**good(), name: bad})
        with pytest.raises(ValueError, match="has the arrays"):
            Forest.from_arrays({other: array for other, array in good().items() if other != name})
    with pytest.raises(ValueError, match="X has 1 columns"):
        Forest.from_arrays(good()).scores(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="between 0 and 2"):
        Forest.from_arrays(good()).first(3)


@given(seed=st.integers(0, 10_000))
def test_arrays_with_a_few_bytes_changed_are_refused_or_walked(seed):
    rng = np.random.default_rng(seed)
    arrays = reference.draw(rng, 3, 4, GRID)
    for _ in range(rng.integers(1, 4)):
        array = arrays[rng.choice(list(arrays))]
        if len(array):
            array[rng.integers(len(array))] = rng.integers(-3, len(arrays["left"]) + 3)
    try:
        forest = Forest.from_arrays(arrays)
        forest.check(4)
    except ValueError:
        return
    X = rng.choice(GRID, (5, 4))
    assert np.array_equal(forest.scores(X), reference.scores(arrays, X))
