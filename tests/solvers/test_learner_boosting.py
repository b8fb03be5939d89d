"""Any regressor boosts: what it is fitted to, and with which weights."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from wellorder.losses import ROW_LOSSES, GradedRows
from wellorder.solvers import Rounds, boost_learner

SEEN = []


class Unweighted(RegressorMixin, BaseEstimator):
    """Remember what it was fitted to; predict the first column."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        SEEN.append((X, y, None, self.random_state))
        return self

    def predict(self, X):
        return X[:, 0]


class Weighted(Unweighted):
    def fit(self, X, y, sample_weight=None):
        SEEN.append((X, y, sample_weight, self.random_state))
        return self


@pytest.mark.parametrize("learner", [Weighted(), Unweighted()], ids=["weighted", "unweighted"])
def test_learners_are_fitted_to_newtons_steps_or_to_the_gradient(learner):
    SEEN.clear()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    level = (np.arange(30) % 4 - 1).astype(np.int32)
    rows = GradedRows(level, np.where(level >= 0, rng.uniform(0.5, 2.0, 30), 0.0), 3)
    loss = ROW_LOSSES["proportional_odds"]
    boost_learner(X, learner, lambda s: loss.at(s, rows)[0], None, Rounds(2, 1.0), rng=np.random.default_rng(0))
    first, taking = loss.at(np.zeros(30), rows)[0], level >= 0
    fitted, target, weight, _ = SEEN[0]
    np.testing.assert_array_equal(fitted, X[taking])
    pull, bend = -first.gradient[taking], first.hessian_diagonal()[taking]
    np.testing.assert_allclose(target, pull if weight is None else pull / bend)
    assert (weight is None) == (type(learner) is Unweighted)
    if weight is not None:
        np.testing.assert_allclose(weight, bend)
    assert SEEN[0][3] != SEEN[1][3]  # each round draws with a seed of its own
    assert learner.random_state is None
