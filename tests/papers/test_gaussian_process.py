"""The Gaussian process that stands in for the informative vector machine, and pairs written out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor

import wellorder as wo
from wellorder.papers.convex_hulls.trials import ExplicitPairs, GaussianProcess


@pytest.fixture
def wave():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (150, 2))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + rng.normal(0, 0.1, 150)


def test_inducing_rows_that_are_all_rows_give_the_exact_mean(wave):
    X, y = wave
    exact = GaussianProcess(n_tuned=60).fit(X, y)
    sparse = GaussianProcess(n_exact=10, n_inducing=150, n_tuned=60).fit(X, y)
    assert isinstance(exact.exact_, GaussianProcessRegressor)
    assert sparse.predict(X) == pytest.approx(exact.predict(X), abs=1e-4)


def test_a_few_inducing_rows_come_near(wave):
    X, y = wave
    found = GaussianProcess(n_exact=10, n_inducing=40, n_tuned=60).fit(X, y).predict(X)
    assert np.corrcoef(found, y)[0, 1] > 0.98


def test_pairs_written_out_give_rank_svm(wave):
    X, y = wave
    grade = np.digitize(y, [-1.0, 0.0, 1.0])
    naive = ExplicitPairs(C=0.3).fit(X, grade)
    ours = wo.RankSVM(C=0.3, tol=1e-8).fit(X, grade)
    assert naive.coef_ == pytest.approx(ours.coef_, rel=1e-3)
    assert naive.decision_function(X) == pytest.approx(X @ naive.coef_)


def test_too_many_pairs_are_refused():
    X, y = np.ones((20_000, 2)), np.arange(20_000)
    with pytest.raises(ValueError, match="199,990,000 pairs of 2 features are too many"):
        ExplicitPairs().fit(X, y)
