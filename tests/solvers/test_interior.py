"""The interior point method for comparisons with ties, against libsvm at a fine tolerance."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from wellorder.estimators.compare_solving import interior_svm
from wellorder.losses import TiedPairs
from wellorder.solvers import RowLooks, interior_looks


def make(n_decided, n_ties, d, seed):
    rng = np.random.default_rng(seed)
    n, n_rows = n_decided + n_ties, 20
    X = rng.standard_normal((n_rows, d))
    high = rng.integers(0, n_rows, n)
    low = (high + rng.integers(1, n_rows, n)) % n_rows
    weight = rng.integers(0, 3, n).astype(float)
    weight[[0, -1]] = 1.0  # one of either kind at least
    return X, TiedPairs(high, low, weight, n_decided, n_rows)


def two_class_rows(X, pairs):
    D = X[pairs.high] - X[pairs.low]
    n = pairs.n_decided
    label = np.repeat([1.0, -1.0], [n, 2 * pairs.n_ties])
    return np.vstack([D, -D[n:]]), label, np.concatenate([pairs.weight, pairs.weight[n:]])


def objective(X, pairs, C, coef, bias):
    D, label, weight = two_class_rows(X, pairs)
    return 0.5 * coef @ coef + C * weight @ np.maximum(0.0, 1.0 - label * (D @ coef + bias))


@settings(max_examples=40, deadline=None)
@given(
    n_decided=st.integers(1, 40),
    n_ties=st.integers(1, 20),
    d=st.integers(1, 6),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_minimum_is_libsvms(n_decided, n_ties, d, C, seed):
    X, pairs = make(n_decided, n_ties, d, seed)
    found = interior_svm(X, pairs, C, 1e-7)
    assert found.converged
    assert found.objective == pytest.approx(objective(X, pairs, C, found.coef, found.bias), rel=1e-12)
    np.testing.assert_allclose(found.scores, X @ found.coef)
    D, label, weight = two_class_rows(X, pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = SVC(kernel="linear", C=C, tol=1e-8, max_iter=100_000).fit(D, label, weight)  # it may take minutes
    theirs = objective(X, pairs, C, machine.coef_.ravel(), machine.intercept_[0])
    assert found.objective <= theirs * (1 + 1e-7)
    if machine.fit_status_ != 0:
        return
    np.testing.assert_allclose(found.coef, machine.coef_.ravel(), atol=2e-3 * (1 + np.abs(machine.coef_).max()))


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_steps_are_few_whatever_the_weight_of_the_loss(C):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 10))
    high, low = rng.integers(0, 300, 2_000), rng.integers(300, 600, 2_000)
    swap = (X[high] - X[low]) @ np.ones(10) + rng.standard_normal(2_000) < 0
    pairs = TiedPairs(np.where(swap, low, high), np.where(swap, high, low), np.ones(2_000), 1_500, 600)
    found = interior_svm(X, pairs, C, 1e-3)
    assert found.converged
    assert found.n_iter <= 25


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_few_where_thresholds_press_against_each_other(seed, C, squared):
    rng = np.random.default_rng(seed)
    X, level = rng.standard_normal((60, 3)), np.arange(60) % 4
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    row, column, each = np.repeat(np.arange(60), 3), np.tile(np.arange(3), 60), np.arange(180)
    looks = RowLooks(
        row=row, column=column, side=np.where(level[row] > column, 1.0, -1.0), margin=np.ones(180), slack=each,
        cost=np.full(180, C), n_columns=3, lower=np.arange(2), upper=np.arange(1, 3), step=np.full(2, 0.5),
        squared=squared,
    )  # fmt: skip
    found = interior_looks(K, looks, tol=1e-8)
    assert found.converged
    assert found.n_iter <= 20
    assert np.diff(found.thresholds).min() >= 0.5 - 1e-9
    scores = K @ found.coef
    assert found.objective == pytest.approx(
        0.5 * found.coef @ scores + looks.objective(scores, found.thresholds), rel=1e-9
    )


def test_what_has_no_digits_left_is_not_called_solved():
    X, pairs = make(30, 10, 3, seed=0)
    found = interior_svm(1e200 * X, pairs, 1.0, 1e-3)
    assert not found.converged
