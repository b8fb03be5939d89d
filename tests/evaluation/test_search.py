from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GroupKFold, KFold, ParameterGrid, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellorder as wo
from wellorder.deadline import deadline, seconds_left, time_is_up
from wellorder.estimators import kernel_model
from wellorder.evaluation import OutOfTime, search, searching
from wellorder.evaluation.searching import choose_params
from wellorder.evaluation.splits import comparison_folds, folds
from wellorder.samples import Sample
from wellorder.spaces import Kernel, KernelSpace, kernel

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3))
Y = np.digitize(np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * RNG.standard_normal(90), [-1, 0, 1])
QUERY = np.array([f"q{number}" for number in RNG.integers(0, 12, 90)])
GRID = {"C": [10.0, 0.1, 1.0], "gamma": [0.1, 1.0]}
LEFT, RIGHT = RNG.integers(0, 40, (2, 150))
GAMES = wo.Comparisons(LEFT, RIGHT, np.where(RNG.random(150) < 0.1, 0, np.sign(X[RIGHT, 1] - X[LEFT, 1])).astype(int))


def of_square(A, B):
    return polynomial_kernel(A, B, degree=2, coef0=1.0, gamma=0.5)


def plain_loop(estimator, grid, y=Y, groups=None, table=X, cv=5, seed=0):
    """Clone, fit and score at every point of the grid and every fold: what a search stands for."""
    out = []
    for params in ParameterGrid(grid):
        values = []
        for split in folds(y, groups, n_folds=cv, seed=seed):
            train, test = ({"groups": None if groups is None else groups[rows]} for rows in (split.train, split.test))
            model = clone(estimator).set_params(**params).fit(table[split.train], y[split.train], **train)
            values.append(1 - model.score(table[split.test], y[split.test], **test))
        out.append(values)
    return np.array(out)


@pytest.mark.parametrize("groups", [None, QUERY])
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (wo.RankSVM(kernel="rbf"), GRID),
        (wo.RankSVM(kernel="poly", coef0=1.0), {"C": [0.1, 1.0], "degree": [2, 3], "gamma": [0.2]}),
        (wo.RankSVM(kernel=of_square), {"C": [0.01, 0.1]}),
        (wo.RankSVM(gamma=0.2), {"C": [1.0], "kernel": ["linear", "rbf", of_square]}),
        (wo.RankSVM(), {"C": [10.0, 0.1]}),
        (wo.RankSVM(loss="logistic", kernel="rbf", gamma=0.3), {"C": [0.1, 1.0], "balance": ["pairs", "groups"]}),
        (wo.RankSVM(loss="hinge", kernel="rbf", gamma=0.3), {"C": [0.1, 1.0]}),
        (wo.RankSVM(kernel="rbf", n_components=20, random_state=0), {"C": [0.1, 1.0]}),
        (wo.RankSVM(kernel="rbf", gamma=0.3), {"max_iter": [500, 1000]}),
        (wo.RankSVM(), {}),
    ],
)
def test_a_search_is_a_plain_loop(estimator, grid, groups):
    estimator = clone(estimator).set_params(tol=1e-5 if estimator.loss == "hinge" else 1e-8)
    found = search(estimator, grid, X, Y, groups=groups, refit=False)
    expected = plain_loop(estimator, grid, groups=groups)
    np.testing.assert_allclose([point.values for point in found.table], expected, atol=1e-12)
    np.testing.assert_allclose([point.mean for point in found.table], expected.mean(axis=1))
    assert [point.params for point in found.table] == list(ParameterGrid(grid))
    assert found.best_score == pytest.approx(expected.mean(axis=1).min())
    best = np.isclose(expected.mean(axis=1), found.best_score)
    assert found.best_params in [params for params, is_best in zip(ParameterGrid(grid), best, strict=True) if is_best]
    assert found.best_estimator is None


def test_the_default_tolerance_changes_little():
    found = search(wo.RankSVM(kernel="rbf"), GRID, X, Y, refit=False)
    expected = plain_loop(wo.RankSVM(kernel="rbf"), GRID)
    np.testing.assert_allclose([point.mean for point in found.table], expected.mean(axis=1), atol=3e-3)


def test_precomputed_kernels_are_cut_both_ways():
    K = rbf_kernel(X, gamma=0.3)
    base, grid = wo.RankSVM(kernel="rbf", gamma=0.3, tol=1e-8), {"C": [0.1, 10.0]}
    expected = search(base, grid, X, Y, refit=False)
    precomputed = wo.RankSVM(kernel="precomputed", tol=1e-8)
    for matrix in (K, sp.csr_array(K), pd.DataFrame(K)):
        found = search(precomputed, grid, matrix, Y)
        np.testing.assert_allclose(found.table[1].values, expected.table[1].values, atol=1e-12)
        assert found.best_estimator.predict(K[:4]).shape == (4,)


def test_each_kernel_is_computed_once(monkeypatch):
    computed = []
    matrix = Kernel.matrix

    def counted(self, A, B, dtype=None):
        computed.append((self.name, self.gamma, A.shape[0], B.shape[0]))
        return matrix(self, A, B, dtype)

    monkeypatch.setattr(Kernel, "matrix", counted)
    search(wo.RankSVM(kernel="rbf"), {**GRID, "balance": ["pairs", "groups"]}, X, Y, groups=QUERY, refit=False)
    assert computed == [("rbf", 0.1, 90, 90), ("rbf", 1.0, 90, 90)]
    computed.clear()
    grids = [
        {"kernel": ["rbf"], "gamma": ["scale"], "C": [1, 2]},
        {"kernel": ["linear"]},
        {"kernel": [of_square], "C": [1]},
    ]
    found = search(wo.RankSVM(), grids, X, Y)
    assert [each[0] for each in computed[:2]] == ["rbf", of_square]
    assert {each[2:] for each in computed[:2]} == {(90, 90)}
    assert len(computed) == 2 + (found.best_params["kernel"] != "linear")  # and once for the last fit


def test_warm_starts_save_work(monkeypatch):
    products = []
    scores = KernelSpace.scores

    def counted(self, coef):
        products.append(1)
        return scores(self, coef)

    monkeypatch.setattr(KernelSpace, "scores", counted)
    Cs = [0.1, 1.0, 3.0, 10.0, 30.0, 100.0]
    search(wo.RankSVM(kernel="rbf", gamma=0.3), {"C": Cs[::-1]}, X, Y, refit=False)
    warm = len(products)
    for C in Cs:
        search(wo.RankSVM(kernel="rbf", gamma=0.3), {"C": [C]}, X, Y, refit=False)
    assert warm < 0.85 * (len(products) - warm)


def test_scale_is_that_of_all_rows():
    estimator = wo.RankSVM(kernel="rbf", tol=1e-8)
    found = search(estimator, {"C": [1.0, 10.0]}, X, Y)
    width = 1 / (3 * X.var())
    assert found.best_estimator.gamma_ == pytest.approx(width)
    expected = plain_loop(clone(estimator).set_params(gamma=width), {"C": [1.0, 10.0]})
    np.testing.assert_allclose([point.values for point in found.table], expected, atol=1e-12)


def test_the_last_fit_is_the_users_own_model():
    estimator = wo.RankSVM(kernel="rbf")
    found = search(estimator, GRID, X, Y, groups=QUERY)
    again = clone(estimator).set_params(**found.best_params).fit(X, Y, groups=QUERY)
    np.testing.assert_array_equal(found.best_estimator.predict(X), again.predict(X))
    assert (found.best_estimator.kernel, found.best_estimator.warm_start) == ("rbf", False)
    assert not hasattr(estimator, "dual_coef_")
    assert estimator.get_params() == wo.RankSVM(kernel="rbf").get_params()
    assert found.seconds >= found.refit_seconds > 0
    assert sklearn.get_config()["enable_metadata_routing"] is False


@pytest.mark.parametrize("estimator", [wo.RankSVM(), make_pipeline(StandardScaler(), wo.RankSVM())])
def test_tied_points_give_the_simplest(estimator):
    name = "C" if isinstance(estimator, wo.RankSVM) else "ranksvm__C"
    easy = np.arange(30.0)[:, None]
    found = search(estimator, {name: [10.0, 0.1, 1.0]}, easy, np.arange(30), cv=3)
    assert (found.best_params, found.best_score) == ({name: 0.1}, 0.0)
    assert search(Ridge(), {"alpha": [3.0, 1.0]}, easy, np.arange(30), cv=3).best_params == {"alpha": 3.0}


class SecondColumn(BaseEstimator):
    """Scores rows by their second feature, or the other way round."""

    def __init__(self, sign=1):
        self.sign = sign

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.sign * X[:, 1]


@pytest.mark.parametrize(("metric", "greater"), [("ndcg@3", True), ("swapped_pairs(ties=half)", False)])
def test_higher_is_better_where_it_is(metric, greater):
    found = search(SecondColumn(), {"sign": [-1, 1]}, X, Y, groups=QUERY, metric=metric)
    means = [point.mean for point in found.table]
    assert found.best_score == (max(means) if greater else min(means))
    assert (found.metric, found.greater_is_better, found.best_params) == (metric, greater, {"sign": 1})


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_comparisons(kernel):
    estimator, items = wo.RankSVM(kernel=kernel, gamma=0.3, tol=1e-8), X[:40]
    found = search(estimator, {"C": [0.1, 10.0]}, items, GAMES, cv=4, seed=3)
    expected = [
        [
            1
            - clone(estimator).set_params(C=C).fit(items, GAMES.take(split.train)).score(items, GAMES.take(split.test))
            for split in comparison_folds(GAMES, n_folds=4, seed=3)
        ]
        for C in (0.1, 10.0)
    ]
    np.testing.assert_allclose([point.values for point in found.table], expected, atol=1e-12)
    assert found.best_estimator.predict(items).shape == (40,)
    by_name = search(estimator, {"C": [1.0]}, items, GAMES, cv=4, metric="comparison_error").table[0].values
    for value, split in zip(by_name, comparison_folds(GAMES, n_folds=4), strict=True):
        scores = clone(estimator).set_params(C=1.0).fit(items, GAMES.take(split.train)).decision_function(items)
        test = GAMES.take(split.test)
        predicted = np.sign(scores[test.right] - scores[test.left])
        assert value == pytest.approx(wo.metrics.comparison_error(test.outcome, predicted))
    auc = search(estimator, {"C": [0.1, 10.0]}, items, GAMES, cv=4, metric="comparison_auc")
    assert auc.greater_is_better
    assert 0.25 < auc.best_score <= 1


class NearestCompare(BaseEstimator):
    """A stand-in for models of pairs: the item with the larger first feature is better."""

    def __init__(self, turned=False):
        self.turned = turned

    def fit(self, X, y, sample_weight=None):
        self.fitted_ = len(X), None if sample_weight is None else len(sample_weight)
        return self

    def compare(self, X):
        pairs = np.asarray(X)
        return (-1 if self.turned else 1) * (pairs[:, 1, 0] - pairs[:, 0, 0])

    def score(self, X, y):
        return float(np.mean(np.sign(self.compare(X)) == y))


def test_pairs():
    left, right = np.arange(30), (np.arange(30) * 7 + 1) % 30
    keep = left != right
    pairs = wo.Pairs(X[:30], left[keep], right[keep])
    outcome = np.sign(X[pairs.right, 0] - X[pairs.left, 0]).astype(int)
    grid = {"turned": [True, False]}
    for rows in (pairs, np.asarray(pairs)):
        found = search(NearestCompare(), grid, rows, outcome, cv=3, sample_weight=np.ones(len(outcome)))
        assert ([point.mean for point in found.table], found.best_params) == ([1.0, 0.0], {"turned": False})
        assert found.best_estimator.fitted_ == (len(outcome), len(outcome))
    outcome[:5] = 0
    assert search(NearestCompare(), grid, pairs, outcome, cv=3, metric="comparison_auc").best_params["turned"] is False


class Recorder(BaseEstimator):
    """Keeps what reached fit and decision_function."""

    seen: list = []  # noqa: RUF012
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__decision_function = {"groups": True}  # noqa: RUF012

    def fit(self, X, y, groups=None, sample_weight=None):
        self.seen.append(("fit", len(X), groups, sample_weight))
        self.n_features_in_ = 3
        return self

    def decision_function(self, X, groups=None):
        self.seen.append(("decide", len(X), groups, None))
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize("make", [Recorder, lambda: make_pipeline(StandardScaler(), Recorder())])
def test_groups_reach_fit_and_the_decision_function(make):
    Recorder.seen.clear()
    search(make(), {}, X, Y, groups=QUERY, cv=3)
    assert len(Recorder.seen) == 3 * 2 + 1
    for _, n_rows, groups, _ in Recorder.seen:
        assert len(groups) == n_rows
    parts = [set(groups) for _, _, groups, _ in Recorder.seen]
    assert not parts[0] & parts[1]
    assert parts[-1] == set(QUERY)


def test_row_weights_reach_fit_or_are_an_error():
    weight = np.arange(90.0)
    Recorder.seen.clear()
    search(Recorder(), {}, X, Y, sample_weight=weight, cv=3)
    assert [len(given) for kind, _, _, given in Recorder.seen if kind == "fit"] == [60, 60, 60, 90]
    found = search(wo.RankSVM(), {"C": [1.0]}, X, Y, sample_weight=weight)
    np.testing.assert_array_equal(found.best_estimator.coef_, wo.RankSVM().fit(X, Y, sample_weight=weight).coef_)
    with pytest.raises(ValueError, match="set_fit_request"):
        search(make_pipeline(StandardScaler(), wo.RankSVM()), {}, X, Y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), wo.RankSVM().set_fit_request(sample_weight=True)
        )
    weighted = search(asking, {}, X, Y, sample_weight=weight).best_estimator[-1].coef_
    assert np.abs(weighted - search(asking, {}, X, Y).best_estimator[-1].coef_).max() > 1e-3


@pytest.mark.filterwarnings("ignore:the rows of y are labelled otherwise")  # by their place, as is said
def test_text_grades_and_frames():
    names = np.array(["awful", "poor", "fair", "good"])
    levels = names.tolist()
    expected = search(wo.RankSVM(), {"C": [0.1, 1.0]}, X, Y, groups=QUERY)
    for table, y in (
        (pd.DataFrame(X, columns=list("abc")), pd.Series(names[Y], index=np.arange(90) + 7)),
        (pl.DataFrame(X, schema=list("abc")), pl.Series(names[Y])),
        (X.tolist(), names[Y].tolist()),
    ):
        found = search(wo.RankSVM(levels=levels), {"C": [0.1, 1.0]}, table, y, groups=list(QUERY))
        assert [point.values for point in found.table] == [point.values for point in expected.table]
        piped = search(make_pipeline(wo.RankSVM(levels=levels)), {"ranksvm__C": [0.1]}, table, y, groups=QUERY)
        np.testing.assert_allclose(piped.table[0].values, expected.table[0].values, atol=1e-3)
    assert search(wo.RankSVM(), {}, pd.DataFrame(X, columns=list("abc")), Y).best_estimator.feature_names_in_[0] == "a"
    graded = search(wo.RankSVM(), {"C": [0.1, 1.0]}, X, wo.Grades(names[Y], QUERY, levels=levels))
    assert [point.values for point in graded.table] == [point.values for point in expected.table]


def test_weighted_grades_with_a_metric_of_lists():
    weighted = wo.Grades(Y, QUERY, weights=np.arange(90) % 3)
    assert 0 < search(wo.RankSVM(), {}, X, weighted, metric="ndcg@5").best_score <= 1
    plain = search(wo.RankSVM(), {}, X, wo.Grades(Y, QUERY), metric="swapped_pairs").table[0].values
    assert search(wo.RankSVM(), {}, X, weighted).table[0].values != plain


def test_unjudged_rows_change_nothing():
    """Nothing but gamma="scale", which looks at all rows: here a width is given."""
    places = np.random.default_rng(5).permutation(180)[:90]
    places.sort()
    table, holes = np.random.default_rng(6).standard_normal((180, 3)), np.full(180, np.nan)
    table[places], holes[places] = X, Y
    model = wo.RankSVM(kernel="rbf", tol=1e-8)
    found, expected = search(model, GRID, table, holes), search(model, GRID, X, Y)
    assert found.best_params == expected.best_params
    for one, other in zip(found.table, expected.table, strict=True):
        np.testing.assert_allclose(one.values, other.values, atol=1e-12)


def test_folds_without_a_pair_are_skipped_with_a_warning():
    y = np.append(Y[:40], [0, 0, 0])
    splits = PredefinedSplit(np.append(np.arange(40) % 3, [3, 3, 3]))
    with pytest.warns(UserWarning, match=r"fold 3; 2 of 8 fits are left out"):
        found = search(wo.RankSVM(), {"C": [0.1, 1.0]}, X[:43], y, cv=splits)
    assert found.n_skipped == 2
    for point in found.table:
        assert np.isnan(point.values).tolist() == [False, False, False, True]
        assert point.mean == pytest.approx(np.mean(point.values[:3]))
    nowhere = [(np.arange(40), np.array([40, 41, 42]))]
    with (
        pytest.warns(UserWarning, match="not defined"),
        pytest.raises(ValueError, match="not defined in any fold"),
    ):
        search(wo.RankSVM(), {"C": [0.1, 1.0]}, X[:43], y, cv=nowhere)


def test_splitters_and_splits():
    estimator, grid = wo.RankSVM(), {"C": [0.1, 1.0]}
    splitter = KFold(4, shuffle=True, random_state=1)
    values = [point.values for point in search(estimator, grid, X, Y, cv=splitter, refit=False).table]
    assert len(values[0]) == 4
    made = list(splitter.split(X))
    assert [point.values for point in search(estimator, grid, X, Y, cv=made, refit=False).table] == values
    masks = [(np.isin(np.arange(90), train), np.isin(np.arange(90), test)) for train, test in made]
    assert [point.values for point in search(estimator, grid, X, Y, cv=masks, refit=False).table] == values
    own = list(folds(Y, n_folds=3, seed=4))
    by_seed = search(estimator, grid, X, Y, cv=3, seed=4, refit=False)
    assert [p.values for p in search(estimator, grid, X, Y, cv=own, refit=False).table] == [
        p.values for p in by_seed.table
    ]
    games = search(estimator, grid, X[:40], GAMES, cv=KFold(3))
    assert len(games.table[0].values) == 3
    for cv in (KFold(3), GroupKFold(3)):
        by_ids = search(estimator, grid, X, Y, groups=QUERY, cv=cv).table
        assert [p.values for p in search(estimator, grid, X, wo.Grades(Y, QUERY), cv=cv).table] == [
            p.values for p in by_ids
        ]
        assert len(by_ids[0].values) == 3


def test_a_deadline_stops_the_search_and_keeps_what_was_done():
    left = iter([None, 5.0, 1.0, 1.0, 0.0])
    with pytest.raises(OutOfTime, match="after 3 of 6 fits") as stopped:
        search(wo.RankSVM(kernel="rbf"), {"C": [0.1, 1.0], "gamma": [0.3]}, X, Y, cv=3, deadline=lambda: next(left))
    done = np.isfinite([point.values for point in stopped.value.table])
    np.testing.assert_array_equal(done, [[True, True, False], [True, False, False]])
    assert np.isfinite([point.mean for point in stopped.value.table]).all()
    asked = []
    search(wo.RankSVM(), {"C": [0.1, 1.0]}, X, Y, cv=3, deadline=lambda: asked.append(1))
    assert len(asked) == 7  # before every fit, the last one too


def test_a_kernel_too_large_is_refused_before_it_is_computed(monkeypatch):
    monkeypatch.setattr(kernel, "available_bytes", lambda: 2e8)
    monkeypatch.setattr(Kernel, "matrix", lambda *_: pytest.fail("computed"))
    with pytest.raises(MemoryError, match="n_components"):
        search(wo.RankSVM(kernel="rbf"), GRID, X, Y)


def test_what_is_held_beside_a_fit_counts(monkeypatch):
    monkeypatch.setattr(kernel, "available_bytes", lambda: kernel.kernel_bytes(72, 8) + 8 * 90**2)
    assert search(wo.RankSVM(kernel="rbf"), {"C": [1.0]}, X, Y, refit=False).n_skipped == 0
    monkeypatch.setattr(kernel, "available_bytes", lambda: kernel.kernel_bytes(72, 8) + 8 * 90**2 - 1)
    with pytest.raises(MemoryError, match="on 72 rows"):
        search(wo.RankSVM(kernel="rbf"), {"C": [1.0]}, X, Y, refit=False)


def test_single_precision_where_the_model_itself_would_use_it(monkeypatch):
    dtypes = []
    start = KernelSpace.__init__

    def noted(self, K):
        dtypes.append(K.dtype.name)
        start(self, K)

    expected = search(wo.RankSVM(kernel="rbf"), GRID, X, Y, refit=False)
    monkeypatch.setattr(KernelSpace, "__init__", noted)
    for module in (searching, kernel_model):
        monkeypatch.setattr(module, "use_single", lambda n_rows, C, tol: C < 5)
    found = search(wo.RankSVM(kernel="rbf"), GRID, X, Y, cv=5, refit=False)
    assert dtypes == ["float32", "float32", "float64"] * 10  # C rises through each fold of each kernel
    np.testing.assert_allclose([p.mean for p in found.table], [p.mean for p in expected.table], atol=2e-3)
    dtypes.clear()
    search(wo.RankSVM(kernel="rbf"), {"C": [1.0]}, X, Y, refit=False)
    search(wo.RankSVM(kernel="poly"), {"C": [1.0]}, X, Y, refit=False)
    assert dtypes == ["float32"] * 5 + ["float64"] * 5


def test_only_kernels_like_a_gaussian_stay_in_single_precision(monkeypatch):
    monkeypatch.setattr(kernel_model, "use_single", lambda *_: True)
    K = rbf_kernel(X, gamma=0.3)
    for matrix, dtype in ((K.astype(np.float32), np.float32), (2 * K.astype(np.float32), np.float64), (K, np.float64)):
        model = wo.RankSVM(kernel="precomputed")
        model.gamma_ = 1.0
        assert model._make_space(matrix, 1.0, 1e-4, np.random.default_rng(0)).lines(np.arange(2)).dtype == dtype
    single = wo.RankSVM(kernel="precomputed").fit(K.astype(np.float32), Y)
    assert single.objective_ == pytest.approx(wo.RankSVM(kernel="precomputed").fit(K, Y).objective_, rel=1e-4)


def test_it_prints_as_a_table():
    text = str(search(wo.RankSVM(), {"C": [0.1, 1.0]}, X, Y)).splitlines()
    assert text[0] == "swapped_pairs (lower is better)"
    assert sorted(line[0] for line in text[1:]) == [" ", "*"]
    assert text[1].endswith("C=0.1")


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: search(wo.RankSVM(), {"D": [1]}, X, Y), "Invalid parameter 'D'"),
        (lambda: search(make_pipeline(wo.RankSVM()), {"D": [1]}, X, Y), "Invalid parameter 'D'"),
        (lambda: search(wo.RankSVM(), {"C": [1, -1]}, X, Y), "C must be a positive number"),
        (lambda: search(wo.RankSVM(kernel="rbf"), {"gamma": [-1]}, X, Y), "gamma must be"),
        (lambda: search(wo.RankSVM(kernel="poly"), {"degree": [0]}, X, Y), "degree must be"),
        (lambda: search(wo.RankSVM(), {}, X, Y, metric="accuracy"), "no metric 'accuracy'"),
        (lambda: search(wo.RankSVM(), {}, X[:40], GAMES, metric="ndcg"), "no metric 'ndcg' of comparisons"),
        (lambda: search(wo.RankSVM(), {}, X[:40], GAMES, groups=QUERY[:40]), "groups was passed beside"),
        (lambda: search(wo.RankSVM(), {}, X[:40], wo.Grades(Y[:40]) + GAMES), "cannot be split as one"),
        (lambda: search(wo.RankSVM(), {}, X, wo.Grades(Y), groups=QUERY), "groups was passed beside"),
        (lambda: search(wo.RankSVM(), {}, X, None), "y is None"),
        (lambda: search(wo.RankSVM(), {}, X, Y, cv="five"), "cv must be"),
        (lambda: search(wo.RankSVM(), {}, X, Y, cv=[]), "no split"),
        (lambda: search(wo.RankSVM(), {}, X, Y, groups=np.arange(90) % 3), "3 groups, too few for 5 folds"),
        (lambda: search(wo.RankSVM(kernel="rbf"), {}, np.full((90, 2), np.nan), Y), "NaN"),
        (lambda: search(NearestCompare(), {}, np.zeros((9, 2, 1)), np.ones(9), groups=np.ones(9)), "groups was passed"),
    ],
)
def test_clear_errors(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_a_search_that_is_cut_short_has_the_best_by_then():
    left = iter([1e3] * 5 + [-1.0] * 2)  # the first fold of all points, and the second of two
    with pytest.raises(OutOfTime, match="after 5 of 9 fits") as late:
        search(wo.RankSVM(), {"C": [1e-9, 1.0, 1e-8]}, X, Y, cv=3, deadline=lambda: next(left))
    assert late.value.best_params == {"C": 1.0}
    nothing = iter([-1.0])
    with pytest.raises(OutOfTime) as late:
        search(wo.RankSVM(), {"C": [1.0]}, X, Y, cv=3, deadline=lambda: next(nothing))
    assert late.value.best_params is None


class Endless(wo.RankSVM):
    """Steps that take their time, until somebody says that it is up."""

    def fit(self, X, y, *, groups=None, sample_weight=None):
        while not time_is_up():
            time.sleep(0.01)
        return super().fit(X, y, groups=groups, sample_weight=sample_weight)


def test_a_search_whose_fits_do_not_end_in_time_leaves_the_time_to_the_last_fit():
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        part = Sample(X, wo.Grades(Y))
        with deadline(lambda: 3.0 - (time.perf_counter() - began)) as end:
            found = choose_params(
                Endless(), {"C": [1e-9, 1.0, 1e-8, 0.1]}, part, n_folds=2, seed=0, deadline=seconds_left
            )
    assert time.perf_counter() - began < 1.5  # the rest is for the last fit
    assert found == {}  # a point that was compared with nothing is no better than the model's own
    assert end.stopped
