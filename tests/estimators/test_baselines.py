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


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "name", ["ndcg@3", "average_precision(positive=2.0)", "wmw", "swapped_pairs(ties=half)", "misranking_cost"]
)
def test_the_best_feature_follows_a_metric(storage, name):
    X, y, groups, _ = make_rows()
    metric = wo.metrics.parse(name)
    ranker = wo.BestFeature(metric=name).fit(storage(X), y, groups=groups)
    values = {(j, sign): metric(y, sign * X[:, j], groups) for j in range(X.shape[1]) for sign in (1, -1)}
    feature, sign = (max if metric.greater_is_better else min)(values, key=values.get)
    assert (ranker.feature_, ranker.coef_[feature]) == (feature, sign)
    assert ranker.swapped_pairs_ == pytest.approx(wo.metrics.swapped_pairs(y, sign * X[:, feature], groups))


def coarse_and_fine():
    """Rows of which one column is right but coarse, the other fine and right at the top alone."""
    X = np.array([[0, 1.0], [0, 2.0], [1, 0.0], [1, 3.0], [1, -1.0], [1, 4.0]])
    return X, np.array([0, 0, 1, 1, 1, 2])


def test_what_a_tie_is_worth_is_the_metrics_own():
    X, y = coarse_and_fine()
    chosen = {name: wo.BestFeature(metric=name).fit(X, y).feature_ for name in (None, "swapped_pairs", "wmw", "ndcg@1")}
    swapped = {ties: [wo.metrics.swapped_pairs(y, X[:, j], ties=ties) for j in (0, 1)] for ties in ("error", "half")}
    assert chosen[None] == chosen["swapped_pairs"] == int(np.argmin(swapped["error"]))
    assert chosen["wmw"] == int(np.argmin(swapped["half"])) == 0
    assert chosen["ndcg@1"] == 1


def test_row_weights_count_where_the_metric_has_them():
    X, y, groups, weights = make_rows(1)
    ranker = wo.BestFeature(metric="wmw").fit(X, y, groups=groups, sample_weight=weights)
    values = [wo.metrics.wmw(y, sign * X[:, j], groups, sample_weight=weights) for j in range(5) for sign in (1, -1)]
    assert (ranker.feature_, ranker.coef_.sum()) == (int(np.argmax(values)) // 2, 1 - 2 * (int(np.argmax(values)) % 2))
    by_list = [wo.BestFeature(metric="ndcg@5").fit(X, y, groups=groups, sample_weight=w) for w in (None, weights)]
    assert by_list[0].feature_ == by_list[1].feature_


def test_the_best_feature_of_comparisons_follows_a_metric():
    X, _, _, _ = make_rows()
    left, right = np.random.default_rng(1).integers(0, len(X), (2, 300))
    outcome = np.sign(X[left, 3] - X[right, 3]).astype(int)
    for name in ("comparison_error", "comparison_auc", "swapped_pairs"):
        ranker = wo.BestFeature(metric=name).fit(X, wo.Comparisons(left, right, outcome))
        assert (ranker.feature_, ranker.coef_[3]) == (3, -1.0)
    with pytest.raises(ValueError, match="a column gives none"):
        wo.BestFeature(metric="comparison_brier").fit(X, wo.Comparisons(left, right, outcome))


def test_a_metric_that_says_nothing_is_named():
    X, y, groups, _ = make_rows()
    with pytest.raises(ValueError, match="no metric 'nonsense'"):
        wo.BestFeature(metric="nonsense").fit(X, y)
    own = wo.metrics.make(lambda y, scores, groups=None: np.nan, greater_is_better=True, name="never")
    with pytest.raises(ValueError, match="never is not defined on the training rows"):
        wo.BestFeature(metric=own).fit(X, y, groups=groups)


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
