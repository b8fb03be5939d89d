from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn import model_selection
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellorder as wo
from wellorder.evaluation import cross_validate
from wellorder.evaluation.significance import mean_interval
from wellorder.evaluation.splits import comparison_folds, folds

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 4))
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.standard_normal(120), [-1, 0, 1])
QUERY = np.array([f"q{number}" for number in RNG.integers(0, 15, 120)])
METRICS = ["swapped_pairs", "ndcg@5", "wmw(average=edges)", "misranking_cost"]


def by_scikit_learn(estimator, cv, metrics=METRICS, groups=None):
    scorers = {name: wo.metrics.scorer(name) for name in metrics}
    params = None if groups is None else {"groups": groups}
    with sklearn.config_context(enable_metadata_routing=True):
        found = model_selection.cross_validate(
            estimator, X, Y, cv=cv, scoring=scorers, params=params, error_score="raise"
        )
    sign = {name: 1 if wo.metrics.parse(name).greater_is_better else -1 for name in metrics}
    return {name: sign[name] * found[f"test_{name}"] for name in metrics}


def nested(cv):
    return GridSearchCV(make_pipeline(StandardScaler(), wo.RankSVM()), {"ranksvm__C": [0.01, 1.0]}, cv=cv)


@pytest.mark.parametrize(
    ("estimator", "cv", "groups"),
    [
        (wo.RankSVM(), GroupKFold(4), QUERY),
        (wo.RankSVM(kernel="rbf"), GroupKFold(3), QUERY),
        (wo.RankSVM(), KFold(4, shuffle=True, random_state=0), None),
        (make_pipeline(StandardScaler(), wo.RankSVM(balance="groups")), GroupKFold(4), QUERY),
        (nested(GroupKFold(3)), GroupKFold(3), QUERY),
        (nested(3), KFold(3, shuffle=True, random_state=0), None),
    ],
)
def test_same_numbers_as_scikit_learn(estimator, cv, groups):
    found = cross_validate(estimator, X, Y, groups=groups, metrics=METRICS, cv=cv)
    expected = by_scikit_learn(estimator, cv, groups=groups)
    assert list(found) == METRICS
    for name in METRICS:
        np.testing.assert_array_equal(found[name], expected[name])


def test_groups_change_what_is_learned():
    shifted = X + 5 * RNG.standard_normal(15)[np.unique(QUERY, return_inverse=True)[1]][:, None]
    with_groups = cross_validate(wo.RankSVM(), shifted, Y, groups=QUERY, cv=GroupKFold(4))
    splits = [(split.train, split.test) for split in with_groups.splits]
    blind = [
        wo.metrics.swapped_pairs(
            Y[test], wo.RankSVM().fit(shifted[train], Y[train]).predict(shifted[test]), QUERY[test]
        )
        for train, test in splits
    ]
    assert np.abs(with_groups["swapped_pairs"] - blind).max() > 0.01


def test_numbers_of_folds_are_our_own_folds():
    found = cross_validate(wo.RankSVM(), X, Y, groups=QUERY, cv=3, n_repeats=2, seed=5)
    splits = list(folds(Y, QUERY, n_folds=3, n_repeats=2, seed=5))
    expected = []
    for split in splits:
        model = wo.RankSVM().fit(X[split.train], Y[split.train], groups=QUERY[split.train])
        expected.append(1 - model.score(X[split.test], Y[split.test], groups=QUERY[split.test]))
    np.testing.assert_allclose(found["swapped_pairs"], expected, rtol=1e-12)
    assert [(split.repeat, split.fold) for split in found.splits] == [(r, k) for r in range(2) for k in range(3)]
    more = cross_validate(wo.RankSVM(), X, Y, groups=QUERY, cv=3, n_repeats=3, seed=5)
    np.testing.assert_array_equal(more["swapped_pairs"][:6], found["swapped_pairs"])


def test_means_and_intervals():
    found = cross_validate(wo.RankSVM(), X, Y, metrics=METRICS, cv=6)
    values = found["ndcg@5"]
    assert found.mean("ndcg@5") == pytest.approx(values.mean())
    assert found.interval("ndcg@5", 0.9) == mean_interval(values, 100, 20, 0.9)  # one list: only splits tell
    interval = found.interval("swapped_pairs", 0.9)
    assert interval.low < interval.mean == found.mean("swapped_pairs") < interval.high
    assert (interval.confidence, interval.n_splits) == (0.9, 6)
    assert (len(found), found.greater_is_better["ndcg@5"], found.greater_is_better["swapped_pairs"]) == (4, True, False)
    assert found.fit_seconds.shape == found.score_seconds.shape == (6,)
    assert (found.fit_seconds > 0).all()
    with pytest.raises(KeyError):
        found["ndcg@7"]


def test_it_prints_as_a_table():
    text = str(cross_validate(wo.RankSVM(), X, Y, metrics=["swapped_pairs", "tau"])).splitlines()
    assert text[0].split() == ["metric", "mean", "95", "%", "interval", "better"]
    assert [line.split()[0] for line in text[1:3]] == ["swapped_pairs", "kendall_tau"]
    assert text[2].endswith("higher")
    assert text[3].startswith("5 splits, ")
    one = cross_validate(wo.RankSVM(), X, Y, cv=[(np.arange(60), np.arange(60, 120))])
    assert "-" not in repr(one).splitlines()[1]  # a single split has its rows to tell by
    perfect = cross_validate(wo.RankSVM(), Y[:, None].astype(float), Y, cv=[(np.arange(60), np.arange(60, 120))])
    assert " - " in repr(perfect)


@pytest.mark.filterwarnings("ignore:the rows of y are labelled otherwise")  # by their place, as is said
def test_frames_text_and_grades():
    names = np.array(["awful", "poor", "fair", "good"])
    levels = names.tolist()
    expected = cross_validate(wo.RankSVM(), X, Y, groups=QUERY)["swapped_pairs"]
    category = pd.Series(pd.Categorical(names[Y], levels, ordered=True), index=np.arange(120)[::-1])
    for table, y, estimator in (
        (pd.DataFrame(X), category, wo.RankSVM()),
        (pl.DataFrame(X), pl.Series(names[Y], dtype=pl.Enum(levels)), wo.RankSVM()),
        (X.tolist(), names[Y].tolist(), wo.RankSVM(levels=levels)),
        (X, names[Y], make_pipeline(StandardScaler(with_mean=False, with_std=False), wo.RankSVM(levels=levels))),
        (X, names[Y], make_pipeline(make_pipeline(wo.RankSVM(levels=levels)))),
        (X, names[Y], GridSearchCV(make_pipeline(wo.RankSVM(levels=levels)), {"ranksvm__C": [1.0]}, cv=2)),
    ):
        found = cross_validate(estimator, table, y, groups=pd.Series(QUERY))
        np.testing.assert_allclose(found["swapped_pairs"], expected, rtol=1e-12)
    graded = cross_validate(wo.RankSVM(), X, wo.Grades(names[Y], QUERY, levels=levels))
    np.testing.assert_allclose(graded["swapped_pairs"], expected, rtol=1e-12)


def test_models_without_a_decision_function():
    found = cross_validate(Ridge(), X, Y, groups=QUERY, metrics="swapped_pairs", cv=GroupKFold(4))
    for value, split in zip(found["swapped_pairs"], found.splits, strict=True):
        scores = Ridge().fit(X[split.train], Y[split.train]).predict(X[split.test])
        assert value == wo.metrics.swapped_pairs(Y[split.test], scores, QUERY[split.test])


def test_precomputed_kernels_are_cut_both_ways():
    estimator = wo.RankSVM(kernel="rbf", gamma=0.2, tol=1e-8)
    found = cross_validate(clone(estimator).set_params(kernel="precomputed"), rbf_kernel(X, gamma=0.2), Y)
    np.testing.assert_allclose(found["swapped_pairs"], cross_validate(estimator, X, Y)["swapped_pairs"], atol=1e-12)


def test_comparisons():
    left, right = RNG.integers(0, 120, (2, 300))
    games = wo.Comparisons(left, right, np.sign(Y[right] - Y[left]))
    found = cross_validate(wo.RankSVM(), X, games, metrics=["swapped_pairs", "comparison_auc"], cv=3, n_repeats=2)
    expected = [
        1 - wo.RankSVM().fit(X, games.take(split.train)).score(X, games.take(split.test))
        for split in comparison_folds(games, n_folds=3, n_repeats=2)
    ]
    np.testing.assert_allclose(found["swapped_pairs"], expected, rtol=1e-12)
    assert found.greater_is_better == {"swapped_pairs": False, "comparison_auc": True}
    assert (found["comparison_auc"] > 0.4).all()


def test_folds_without_a_pair():
    y = np.append(Y[:30], [1, 1])
    splits = [(np.arange(20), np.arange(20, 30)), (np.arange(20), np.array([30, 31])), (np.arange(5, 25), np.arange(5))]
    with pytest.warns(UserWarning, match="swapped_pairs is not defined in the test part of split 1 of 3"):
        found = cross_validate(wo.RankSVM(), X[:32], y, cv=splits)
    assert np.isnan(found["swapped_pairs"]).tolist() == [False, True, False]
    assert found.mean("swapped_pairs") == pytest.approx(np.nanmean(found["swapped_pairs"]))
    assert found.interval("swapped_pairs").n_splits == 2


def test_routing_and_the_estimator_stay_as_they_were():
    estimator = wo.RankSVM()
    assert sklearn.get_config()["enable_metadata_routing"] is False
    cross_validate(estimator, X, Y, groups=QUERY)
    assert sklearn.get_config()["enable_metadata_routing"] is False
    assert not hasattr(estimator, "coef_")
    with pytest.raises(ValueError, match="C must be"):
        cross_validate(wo.RankSVM(C=-1.0), X, Y)
    assert sklearn.get_config()["enable_metadata_routing"] is False


def test_row_weights_reach_fit():
    weight = RNG.integers(0, 4, 120).astype(float)
    found = cross_validate(wo.RankSVM(), X, Y, sample_weight=weight)
    for value, split in zip(found["swapped_pairs"], found.splits, strict=True):
        model = wo.RankSVM().fit(X[split.train], Y[split.train], sample_weight=weight[split.train])
        assert value == pytest.approx(1 - model.score(X[split.test], Y[split.test]))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: cross_validate(wo.RankSVM(), X, Y, metrics=[]), "at least one metric"),
        (lambda: cross_validate(wo.RankSVM(), X, Y, metrics=["ndgc"]), "no metric 'ndgc'"),
        (lambda: cross_validate(wo.RankSVM(), X, Y, cv=KFold(3), n_repeats=2), "n_repeats"),
        (lambda: cross_validate(wo.RankSVM(), X, Y, cv=True), "cv must be"),
        (lambda: cross_validate(make_pipeline(wo.RankSVM()), X, Y, sample_weight=np.ones(120)), "set_fit_request"),
    ],
)
def test_clear_errors(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_splitters_that_repeat():
    assert len(cross_validate(wo.RankSVM(), X, Y, cv=RepeatedKFold(n_splits=3, n_repeats=2)).splits) == 6


def test_unjudged_rows_make_no_interval_narrower():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = np.round(X[:, 0] + rng.standard_normal(60))
    places = np.sort(rng.permutation(240)[:60])
    table, holes = rng.standard_normal((240, 3)), np.full(240, np.nan)
    table[places], holes[places] = X, y
    model = wo.RankSVM(tol=1e-8)
    expected = wo.cross_validate(model, X, y, n_repeats=2)
    found = wo.cross_validate(model, table, holes, n_repeats=2)
    assert found.n_judged == expected.n_judged
    assert found.n_judged[0] == (48, 12)
    one, other = found.interval("swapped_pairs"), expected.interval("swapped_pairs")
    assert (one.low, one.mean, one.high) == pytest.approx((other.low, other.mean, other.high))
    by_group = wo.cross_validate(model, table, holes, groups=np.arange(240) % 10)
    assert sum(n_test for _, n_test in by_group.n_judged) == 60
    text = np.array(["low", "high"], dtype=object)[(y > 0).astype(int)]
    named = wo.cross_validate(wo.RankSVM(levels=["low", "high"]), X, text)
    assert named.n_judged[0] == (48, 12)
