from __future__ import annotations

import builtins
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import wellorder as wo
from wellorder.losses import LOSSES, RiskAt, risk_at
from wellorder.solvers import TreeShape, boost_trees
from wellorder.solvers.boosting import Rounds, Validation

SMALL = TreeShape(max_leaf_nodes=7, min_samples_leaf=5)


def pair_risk(y, groups=None, loss="exponential"):
    pairs = wo.Grades(y, groups).pairs
    scale = pairs.mass / pairs.total

    def risk(scores):
        at = risk_at(LOSSES[loss], scores, pairs)
        return RiskAt(
            scale * at.value,
            scale * at.gradient,
            lambda: scale * at.hessian_diagonal(),
            lambda u: scale * at.hessian_product(u),
        )

    return risk


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n), [-1, 0, 1]).astype(float)


@pytest.mark.parametrize("loss", ["exponential", "squared_hinge"])
@pytest.mark.parametrize("learning_rate", [0.1, 0.5])
def test_the_risk_falls_and_is_that_of_the_forest(loss, learning_rate):
    X, y = table()
    groups = np.arange(len(y)) % 40
    risk = pair_risk(y, groups, loss)
    result = boost_trees(X, risk, None, Rounds(30, learning_rate), seed=0, params=SMALL)
    assert len(result.pieces) == result.n_rounds == len(result.train_risk) == 30
    assert result.validation_risk is None
    assert (np.diff(result.train_risk) < 0).all()
    assert result.train_risk[0] < risk(np.zeros(len(y))).value
    for rounds in (1, 17, 30):
        value = risk(result.pieces.first(rounds).scores(X)).value
        assert value == pytest.approx(result.train_risk[rounds - 1], rel=1e-12)


def test_one_leaf_pair_takes_newton_steps_of_the_diagonal():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    y = X[:, 0]
    result = boost_trees(X, pair_risk(y), None, Rounds(1, 0.1), seed=0, params=SMALL)
    at = pair_risk(y)(np.zeros(20))
    expected = -0.1 * at.gradient / at.hessian_diagonal()
    np.testing.assert_allclose(result.pieces.scores(X), expected, rtol=1e-6)


def test_validation_says_when_to_stop():
    X, y = table(300)
    beside, y_beside = table(200, seed=1)
    y_beside = np.random.default_rng(2).permutation(y_beside)
    y_beside[:120] = table(200, seed=1)[1][:120]
    seen = []

    def risk(scores, train_scores):
        seen.append((scores.copy(), train_scores))
        return pair_risk(y_beside)(scores).value

    rounds = Rounds(200, 0.3, patience=7)
    result = boost_trees(X, pair_risk(y), Validation(beside, risk), rounds, seed=0, params=SMALL)
    assert len(result.validation_risk) == len(result.train_risk) == result.n_rounds + 7 < 200
    assert len(result.pieces) == result.n_rounds
    best, train = seen[result.n_rounds - 1]
    np.testing.assert_allclose(result.pieces.scores(beside), best, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.pieces.scores(X), train, rtol=0, atol=1e-12)


def test_rows_in_no_pair_take_no_part():
    X, y = table()
    more = np.concatenate([X, 100 + X[:150]])
    unjudged = np.concatenate([y, np.full(150, np.nan)])
    mixed = np.random.default_rng(0).permutation(len(more))
    plain = boost_trees(X, pair_risk(y), None, Rounds(20, 0.1), seed=0, params=SMALL)
    full = boost_trees(more, pair_risk(unjudged), None, Rounds(20, 0.1), seed=0, params=SMALL)
    for name, array in plain.pieces.to_arrays().items():
        assert np.array_equal(array, full.pieces.to_arrays()[name])
    shuffled = boost_trees(more[mixed], pair_risk(unjudged[mixed]), None, Rounds(20, 0.1), seed=0, params=SMALL)
    np.testing.assert_allclose(shuffled.pieces.scores(X), plain.pieces.scores(X), atol=1e-5)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_sparse_and_single_precision_rows(kind):
    X, y = table()
    X[np.abs(X) < 0.8] = 0.0
    dense = boost_trees(X, pair_risk(y), None, Rounds(20, 0.1), seed=0, params=SMALL)
    sparse = boost_trees(
        kind(X), pair_risk(y), Validation(kind(X), lambda s, t: 0.0), Rounds(20, 0.1), seed=0, params=SMALL
    )
    np.testing.assert_allclose(sparse.train_risk, dense.train_risk)
    single = X.astype(np.float32)
    result = boost_trees(single, pair_risk(y), None, Rounds(20, 0.1), seed=0, params=SMALL)
    value = pair_risk(y)(result.pieces.scores(single)).value
    assert value == pytest.approx(result.train_risk[-1], rel=1e-12)


@pytest.mark.parametrize("X", [np.ones((40, 2)), np.zeros((40, 0)), np.random.default_rng(0).normal(size=(9, 2))])
def test_nothing_to_split(X, capfd):
    y = np.arange(len(X)) % 3
    validation = Validation(X[:5], lambda scores, train: float(np.abs(scores).sum() + len(train)))
    result = boost_trees(X, pair_risk(y), validation, Rounds(10, 0.1, 3), seed=0, params=TreeShape())
    assert result.n_rounds == 0
    assert result.train_risk.tolist() == result.validation_risk.tolist() == []
    assert (result.pieces.scores(X) == 0).all()
    assert capfd.readouterr() == ("", "")


def test_growth_that_comes_to_an_end():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    result = boost_trees(X, pair_risk(X[:, 0], loss="squared_hinge"), None, Rounds(500, 1.0), seed=0, params=SMALL)
    assert result.n_rounds == len(result.pieces) < 500
    assert result.train_risk[-1] < 1e-6


def test_no_pair_is_an_error():
    def risk(scores):
        return RiskAt(0.0, np.zeros(5), lambda: np.zeros(5), lambda u: u)

    with pytest.raises(ValueError, match="nothing to learn from"):
        boost_trees(np.zeros((5, 1)), risk, None, Rounds(5, 0.1), seed=0, params=SMALL)


def test_samples_follow_the_seed():
    X, y = table()
    shape = TreeShape(max_features=0.5, subsample=0.5)
    risks = [boost_trees(X, pair_risk(y), None, Rounds(9, 0.1), seed=s, params=shape).train_risk for s in (0, 0, 1)]
    assert np.array_equal(risks[0], risks[1])
    assert not np.array_equal(risks[0], risks[2])


def test_the_same_bits_for_any_number_of_threads():
    shape = TreeShape(max_leaf_nodes=8, subsample=0.8)
    X, y = table(3_000)
    X = X + 0.01 * np.random.default_rng(0).normal(size=X.shape)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            found.append(boost_trees(X, pair_risk(y), None, Rounds(3, 0.1), seed=0, params=shape).pieces.to_arrays())
    for other in found[1:]:
        assert all(np.array_equal(array, other[name]) for name, array in found[0].items())


@pytest.mark.parametrize("error", [ImportError("No module named 'lightgbm'"), OSError("libgomp.so.1: cannot open")])
def test_missing_lightgbm_gives_advice(monkeypatch, error):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "lightgbm":
            raise error
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    X, y = table(50)
    with pytest.raises(ImportError, match=r"pip install lightgbm.*libgomp1.*brew install libomp"):
        boost_trees(X, pair_risk(y), None, Rounds(5, 0.1), seed=0, params=SMALL)


def test_a_risk_that_overflows_ends_the_rounds_before_it():
    X, y = table()

    def risk(scores):
        return replace(pair_risk(y)(scores), **({"value": np.inf} if np.abs(scores).max() > 0.5 else {}))

    result = boost_trees(X, risk, None, Rounds(100, 0.1), seed=0, params=SMALL)
    assert 3 < result.n_rounds == len(result.pieces) < 100
    assert np.isfinite(result.train_risk).all()
    assert np.abs(result.pieces.scores(X)).max() <= 0.5


FORKED = """
import os, signal, sys
import numpy as np
import wellorder as wo
from wellorder.solvers import tree_boosting

tree_boosting.THREADS_FROM = 100  # as if the rows were many: LightGBM starts its threads
X, y = np.random.default_rng(0).standard_normal((2_000, 5)), np.arange(2_000) % 3
here = wo.BoostedTrees(n_estimators=3).fit(X, y).decision_function(X)
child = os.fork()
if child == 0:
    signal.alarm(100)  # ends it where it would wait for ever
    there = wo.BoostedTrees(n_estimators=3).fit(X, y).decision_function(X)
    os._exit(0 if np.array_equal(here, there) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_after_trees_grows_the_same_trees():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], timeout=300, check=False)
    assert done.returncode == 0
