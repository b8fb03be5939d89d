"""A fitted model that is asked for scores: in threads, in a fresh process, and of rows beside others."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import polars as pl
import pytest
from sklearn.utils import validation

import wellorder as wo
from wellorder.data import TableRanker
from wellorder.spaces import Forest
from wellorder.spaces.linear import row_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 12))
Y = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=400), [-1, 0, 1])
FRAME = pl.DataFrame({f"c{k}": X[:, k] for k in range(12)} | {"t": RNG.choice(["a", "b", "c"], 400), "y": Y})

MAKE = {
    "linear": wo.RankSVM,
    "kernel": lambda: wo.RankSVM(kernel="rbf"),
    "trees": lambda: wo.OrderBoost(learner="tree", n_estimators=30),
    "bumps": lambda: wo.OrderBoost(n_estimators=20),
    "steps": lambda: wo.RankBoost(n_estimators=20),
    "grades": wo.ProportionalOdds,
}


@pytest.fixture(scope="module")
def models():
    fitted = {name: make().fit(X, Y) for name, make in MAKE.items()}
    tables = {f"table of {name}": TableRanker(MAKE[name](), target="y").fit(FRAME) for name in ("linear", "trees")}
    plain, dicts = {name: (model, X) for name, model in fitted.items()}, FRAME.to_dicts()
    return plain | {name: (model, dicts) for name, model in tables.items()}


def test_eight_threads_score_as_one_does(models):
    for name, (model, rows) in models.items():
        expected = model.decision_function(rows)
        fresh = pickle.loads(
            pickle.dumps(model)
        )  # nobody has asked it before: what is built at first use is built by all at once
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _, model=fresh, rows=rows: model.decision_function(rows), range(24)))
        assert all(scores.tobytes() == expected.tobytes() for scores in found), name


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 2, 7, 136, 9_001])
def test_a_row_has_the_same_score_beside_any_others(d, dtype):
    rng = np.random.default_rng(d)
    rows, coef = rng.normal(size=(61, d)).astype(dtype), rng.normal(size=d).astype(dtype)
    scores = row_scores(rows, coef)
    assert scores.dtype == dtype
    np.testing.assert_allclose(scores, rows.astype(float) @ coef, atol=1e-12 * d if dtype == np.float64 else 1e-3)
    some = rng.permutation(61)[:17]
    assert row_scores(rows[some], coef).tobytes() == scores[some].tobytes()
    assert all(row_scores(rows[k : k + 1], coef)[0] == scores[k] for k in range(61))


@pytest.mark.parametrize("name", ["linear", "trees", "grades"])
def test_plain_arrays_are_not_looked_through_by_scikit_learn(models, name):
    model, _ = models[name]
    with mock.patch.object(validation, "validate_data", side_effect=AssertionError):
        expected = model.decision_function(X)
        np.testing.assert_allclose(model.decision_function(X.astype(np.float32)), expected, rtol=0.1, atol=0.5)


def test_all_others_are(models):
    model, trees = models["linear"][0], models["trees"][0]
    holes = np.where(np.arange(12) == 3, np.nan, X[:5])
    assert np.isfinite(trees.decision_function(holes)).all()
    for bad, words in (
        (holes, "NaN"),
        (X[:, :11], "11 features"),
        (X[0], "1D array"),
        (X[:0], "0 sample"),
        (np.where(X > 2, np.inf, X), "infinity"),
    ):
        with pytest.raises(ValueError, match=words):
            model.decision_function(bad)
    with pytest.raises(ValueError, match="infinity"):
        trees.decision_function(np.where(X > 2, np.inf, X))
    named = wo.RankSVM().fit(FRAME.drop("t", "y"), Y)
    with pytest.warns(UserWarning, match="valid feature names"):
        named.decision_function(X)
    assert model.decision_function(X.astype(">f8")).tobytes() == model.decision_function(X).tobytes()


def test_trees_are_built_once_and_stay_what_was_checked():
    model = wo.OrderBoost(learner="tree", n_estimators=5).fit(X, Y)
    scores = model.decision_function(X)
    with mock.patch.object(Forest, "__post_init__", side_effect=AssertionError):
        assert model.decision_function(X).tobytes() == scores.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        model.pieces_["left"][0] = 10**6
    other = {name: array.copy() for name, array in model.pieces_.items()}
    other["value"] *= 2
    model.pieces_ = other
    np.testing.assert_allclose(model.decision_function(X) - model.constant_, 2 * (scores - model.constant_))
    other["left"] = np.full_like(other["left"], 10**6)
    with pytest.raises(ValueError, match="forest"):
        model.decision_function(X)


@pytest.mark.parametrize("name", ["linear", "trees"])
def test_a_fresh_process_loads_little(models, tmp_path, name):
    wo.save(models[name][0], tmp_path / "model.wo")
    code = (
        "import sys, numpy as np, sklearn.base, sklearn.utils.validation, sklearn.utils.metadata_routing\n"
        "before = set(sys.modules)\n"
        "import wellorder as wo\n"
        f"wo.load({str(tmp_path / 'model.wo')!r}).predict(np.zeros((1, 12)))\n"
        "print(*sorted({'.'.join(name.split('.')[:2]) for name in set(sys.modules) - before}))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True).stdout
    new = set(out.split())
    rooms = {name for name in new if name.startswith("wellorder.")}
    assert not rooms & {"wellorder.data", "wellorder.evaluation", "wellorder.figures", "wellorder.cli"}
    for heavy in ("numba", "polars", "lightgbm", "matplotlib", "dask", "torch", "onnx", "click"):
        assert heavy not in new
    learned = {name for name in new if name.startswith("sklearn.")}
    assert not learned & {"sklearn.svm", "sklearn.linear_model", "sklearn.neighbors", "sklearn.preprocessing"}
