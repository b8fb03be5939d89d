"""The baselines: the best single column, and least squares on grades or ranks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.linear_model import Ridge

import wellorder as wo


def make_rows(seed=0, n=120, d=5):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    y = np.digitize(X[:, 1] - 0.5 * X[:, 3] + rng.standard_normal(n), [-1, 1]).astype(float)
    return X, y, rng.integers(0, 9, n), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_the_best_feature_is_the_one_of_fewest_swaps(storage):
    X, y, groups, weights = make_rows()
    ranker = wo.BestFeature().fit(storage(X), y, groups=groups, sample_weight=weights)
    swapped = {
        (sign, j): wo.metrics.swapped_pairs(y, sign * X[:, j], groups, sample_weight=weights)
        for j in range(X.shape[1])
        for sign in (1, -1)
    }
    sign, feature = min(swapped, key=swapped.get)
    assert ranker.feature_ == feature
    assert ranker.coef_[feature] == sign
    assert np.count_nonzero(ranker.coef_) == 1
    assert ranker.swapped_pairs_ == pytest.approx(swapped[sign, feature])
    assert ranker.score(X, y, groups, weights) == pytest.approx(1 - swapped[sign, feature])


def test_the_first_of_equal_features_upright_is_taken():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    assert wo.BestFeature().fit(X, [0, 1, 2]).coef_.tolist() == [1.0, 0.0]


def test_the_best_feature_of_comparisons():
    X, _, _, _ = make_rows()
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, len(X), (2, 300))
    outcome = np.sign(X[left, 3] - X[right, 3]).astype(int)  # lower is better
    ranker = wo.BestFeature().fit(X, wo.Comparisons(left, right, outcome))
    assert (ranker.feature_, ranker.coef_[3], ranker.swapped_pairs_) == (3, -1.0, 0.0)


def test_ridge_on_grades_is_ridge():
    X, y, _, weights = make_rows()
    y[:4] = np.nan
    expected = Ridge(alpha=3.0).fit(X[4:], y[4:], sample_weight=weights[4:]).coef_
    found = wo.RidgeRanker(alpha=3.0).fit(X, y, sample_weight=weights).coef_
    np.testing.assert_allclose(found, expected)


def test_ridge_on_ranks_takes_mean_ranks_within_groups():
    X, y, groups, _ = make_rows()
    y[:4] = np.nan
    target = np.zeros(len(y))
    for group in np.unique(groups):
        mine = (groups == group) & ~np.isnan(y)
        target[mine] = (rankdata(y[mine]) - 0.5) / mine.sum() - 0.5
    judged = ~np.isnan(y)
    expected = Ridge(alpha=2.0).fit(X[judged], target[judged]).coef_
    np.testing.assert_allclose(wo.RidgeRanker(2.0, on="ranks").fit(X, y, groups=groups).coef_, expected)


def test_text_grades_count_as_places():
    X, y, _, _ = make_rows()
    levels = ["poor", "fair", "good"]
    text = np.array(levels)[y.astype(int)]
    by_text = wo.RidgeRanker(levels=levels).fit(X, text)
    np.testing.assert_allclose(by_text.coef_, wo.RidgeRanker().fit(X, y).coef_)


def test_ridge_on_comparisons_regresses_outcomes_on_differences():
    X, _, _, _ = make_rows()
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, len(X), (2, 300))
    outcome = np.sign(X[right, 0] - X[left, 0]).astype(int)
    expected = Ridge(alpha=1.0, fit_intercept=False).fit(X[right] - X[left], outcome).coef_
    np.testing.assert_allclose(wo.RidgeRanker().fit(X, wo.Comparisons(left, right, outcome)).coef_, expected)


@pytest.mark.parametrize("ranker", [wo.BestFeature(), wo.RidgeRanker()])
def test_baselines_refuse_what_they_cannot_use(ranker):
    with pytest.raises(ValueError, match="no pair of rows"):
        ranker.fit(np.eye(3), [1, 1, 1])
    mixed = wo.Grades([0, 1, 2]) + wo.Comparisons([0], [1], [1])
    with pytest.raises(ValueError, match="not their sum"):
        ranker.fit(np.eye(3), mixed)


@pytest.mark.parametrize(("params", "message"), [({"alpha": 0.0}, "alpha"), ({"on": "stars"}, "'grades', 'ranks'")])
def test_ridge_names_a_wrong_parameter(params, message):
    with pytest.raises(ValueError, match=message):
        wo.RidgeRanker(**params).fit(np.eye(3), [0, 1, 2])
