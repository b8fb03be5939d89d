"""The same model on a cluster as on one machine, input checked as well as here, and results that stay there."""

from __future__ import annotations

import re

import dask
import dask.array as da
import dask.bag as db
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import wellorder as wo


def spread_out(X, size=2_500):
    return da.from_array(X, chunks=(size, -1))


def assert_same(model, X, remote, y, **options):
    here, there = clone(model).fit(X, y, **options), clone(model).fit(remote, y, **options)
    size = np.abs(here.coef_).max()
    assert np.abs(there.coef_ - here.coef_).max() <= 1e-8 * size
    assert there.coef_.dtype == here.coef_.dtype
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-8)
    assert there.n_iter_ == here.n_iter_
    return here, there


def compared(X, n=2_500):
    rng = np.random.default_rng(1)
    left = rng.integers(0, len(X) - 1, n)
    right = left + 1 + rng.integers(0, len(X) - 1 - left)
    d = (X[right] - X[left]) @ [1.0, -0.5, 2.0, 0.0, 0.3, 0.0] + 2 * rng.standard_normal(n)
    return wo.Comparisons(left, right, np.where(np.abs(d) < 1.5, 0, np.sign(d)).astype(int))


IN_GROUPS = [
    wo.RankSVM(),
    wo.RankSVM(balance="groups", order="dcg"),
    wo.RankSVM(loss="hinge"),
    wo.RankSVM(kernel="rbf", n_components=30, random_state=0),
    wo.SwapSVM(),
]


@pytest.mark.parametrize("model", IN_GROUPS, ids=str)
def test_the_same_model_from_groups(client, graded, model):
    X, y, groups, weight = graded
    assert_same(model, X, spread_out(X), y, groups=groups, sample_weight=weight)


@pytest.mark.parametrize("strata", [False, True])
def test_the_same_model_from_censored_times(client, graded, strata):
    X, y, groups, _ = graded
    event = np.random.default_rng(0).random(len(y)) < 0.5
    lived = np.nan_to_num(y) - np.nanmin(y)
    times = wo.Times(lived, event, groups=groups if strata else None)
    assert_same(wo.RankSVM(), X, spread_out(X), times)


@pytest.mark.parametrize(
    "model",
    [
        wo.RankSVM(),
        wo.SwapSVM(),
        wo.RankSVM(kernel="poly", n_components=20, random_state=0),
        wo.RankSVM(pairs_per_item=3, random_state=0),
        wo.ProportionalOdds(),
        wo.ProportionalOdds(C=np.inf),
        wo.ConvexHullRanker(),
        wo.ConvexHullRanker(kernel="rbf", n_components=20, random_state=0),
    ],
    ids=str,
)
def test_the_same_model_from_one_list(client, graded, model):
    X, y, _, weight = graded
    here, there = assert_same(model, X, spread_out(X), y, sample_weight=weight)
    for name in ("thresholds_", "margins_", "coef_se_"):
        if hasattr(here, name):
            np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-7)


@pytest.mark.parametrize(
    "model",
    [
        wo.RankSVM(),
        wo.CompareSVM(),
        wo.CompareSVM(kernel="rbf", n_components=20, random_state=0),
        wo.CompareSVM(loss="squared_hinge", scale=True),
        wo.CompareSVM(loss="logistic", probability=True),
        wo.CompareSVM(kernel="rbf", n_components=20, random_state=0, loss="squared_hinge"),
    ],
    ids=str,
)
def test_the_same_model_from_comparisons(client, graded, model):
    X = graded[0]
    comparisons = compared(X)
    here, there = assert_same(model, X, spread_out(X), comparisons)
    for name in ("threshold_", "bias_", "calibration_"):
        if hasattr(here, name):
            np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-6)


def test_pairs_of_remote_items(client, graded):
    X = graded[0]
    given = compared(X)
    here, there = (wo.Pairs(items, given.left, given.right) for items in (X, spread_out(X)))
    one, other = (wo.CompareSVM(loss="squared_hinge").fit(pairs, given.outcome) for pairs in (here, there))
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-8)
    np.testing.assert_allclose(other.compare(there), one.compare(here), rtol=1e-8)
    assert other.score(there, given.outcome) == one.score(here, given.outcome)


def test_the_same_model_in_single_precision(client, graded):
    X, y, groups, _ = graded
    X = X.astype(np.float32)
    here, there = wo.RankSVM().fit(X, y, groups=groups), wo.RankSVM().fit(spread_out(X), y, groups=groups)
    assert there.coef_.dtype == np.float32
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-4)


def test_labels_may_be_remote_too(client, graded):
    X, y, groups, weight = graded
    remote = [da.from_array(column, chunks=5_000) for column in (y, groups, weight)]
    here = wo.RankSVM().fit(X, y, groups=groups, sample_weight=weight)
    there = wo.RankSVM().fit(spread_out(X), remote[0], groups=remote[1], sample_weight=remote[2])
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8)
    assert there.score(spread_out(X), remote[0], groups=remote[1]) == pytest.approx(here.score(X, y, groups=groups))


def test_scores_stay_remote_until_asked_for(client, graded):
    X, y, _, _ = graded
    odds = wo.ProportionalOdds().fit(X, y)
    for method in ("decision_function", "predict_proba", "predict"):
        there = getattr(odds, method)(spread_out(X))
        here = getattr(odds, method)(X)
        assert isinstance(there, da.Array)
        assert there.shape == here.shape
        assert there.dtype == here.dtype
        assert there.chunks[0] == (2_500, 2_500, 2_500, 2_500, 2_000)
        np.testing.assert_allclose(there.compute(), here, rtol=1e-10)
    kernel = wo.RankSVM(kernel="rbf").fit(X[:200], y[:200])  # fitted here, used there
    np.testing.assert_allclose(kernel.predict(spread_out(X)).compute(), kernel.predict(X), rtol=1e-9)


def test_metrics_take_remote_scores(client, graded):
    X, y, groups, _ = graded
    scores = da.from_array(X[:, 0], chunks=3_000)
    remote, lists = (da.from_array(column, chunks=4_000) for column in (y, groups))
    for metric in (wo.metrics.swapped_pairs, wo.metrics.ndcg):
        assert metric(remote, scores, lists) == metric(y, X[:, 0], groups)


def test_unknown_partition_sizes(client, graded):
    X, y, groups, _ = graded
    remote = spread_out(X)
    unknown = remote[remote[:, 0] > -0.5]
    assert np.isnan(unknown.shape[0])
    kept = X[:, 0] > -0.5
    here = wo.RankSVM().fit(X[kept], y[kept], groups=groups[kept])
    there = wo.RankSVM().fit(unknown, y[kept], groups=groups[kept])
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-8)
    assert np.isnan(unknown.shape[0])  # the caller's array is left as it was
    np.testing.assert_allclose(there.predict(unknown).compute(), here.predict(X[kept]), rtol=1e-8)


class Frame:
    """As much of a Dask data frame as there is without pyarrow: columns, and rows as an array."""

    def __init__(self, array, columns):
        self._array, self.columns = array, columns

    def __dask_graph__(self):
        return self._array.__dask_graph__()

    def to_dask_array(self):
        return self._array


def test_names_of_a_data_frames_columns_are_kept(client, graded):
    X, y, _, _ = graded
    names = list("abcdef")
    model = wo.RankSVM().fit(Frame(spread_out(X), names), y)
    assert model.feature_names_in_.tolist() == names
    assert model.n_features_in_ == 6
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(Frame(spread_out(X), names[::-1]))
    np.testing.assert_allclose(model.predict(Frame(spread_out(X), names)), X @ model.coef_, rtol=1e-9)


def test_whole_numbers_become_floats(client):
    X = np.arange(40).reshape(20, 2)
    there = wo.RankSVM().fit(da.from_array(X, chunks=(7, -1)), np.arange(20))
    np.testing.assert_allclose(there.coef_, wo.RankSVM().fit(X, np.arange(20)).coef_, rtol=1e-8)


def in_halves(block):
    """Return a sparse matrix with every entry in two parts, which SciPy allows."""
    whole = sp.csr_array(block)
    return sp.csr_array((np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), whole.shape)


@pytest.mark.parametrize(
    "form", [sp.csr_matrix, sp.csc_array, sp.coo_matrix, in_halves], ids=lambda form: form.__name__
)
@pytest.mark.parametrize("model", [wo.RankSVM(), wo.RankSVM(kernel="rbf", n_components=9, random_state=0)], ids=str)
def test_sparse_partitions(model, form):
    rng = np.random.default_rng(0)
    X, y = np.maximum(rng.standard_normal((600, 4)) - 0.5, 0.0), rng.integers(0, 3, 600)
    here, there = assert_same(model, sp.csr_array(X), spread_out(X, 170).map_blocks(form), y)
    np.testing.assert_allclose(there.predict(spread_out(X, 170).map_blocks(form)), here.predict(X), rtol=1e-8)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array], ids=lambda form: form.__name__)
def test_sparse_partitions_are_standardised(form):
    X = np.maximum(np.random.default_rng(0).standard_normal((600, 6)) - 0.5, 0.0)
    model, given = wo.CompareSVM(loss="squared_hinge", scale=True), compared(X, 400)
    here, there = assert_same(model, X, spread_out(X, 170).map_blocks(form), given)
    np.testing.assert_allclose(there.item_scale_, here.item_scale_, rtol=1e-10)


def test_a_kernels_width_far_from_zero():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 4)) + 1e6, rng.integers(0, 3, 600)
    model = wo.RankSVM(kernel="rbf", n_components=9, random_state=0)
    here, there = clone(model).fit(X, y), clone(model).fit(spread_out(X, 170), y)
    assert there.gamma_ == pytest.approx(here.gamma_, rel=1e-9)


def test_what_is_masked_is_missing():
    X = np.arange(40.0).reshape(20, 2)
    masked = da.ma.masked_equal(da.from_array(X, chunks=(7, -1)), 23.0)
    with pytest.raises(ValueError, match="NaN, first in row 11, column 1"):
        wo.RankSVM().fit(masked, np.arange(20))
    with pytest.raises(ValueError, match="NaN, first in row 11, column 1"):
        wo.RankSVM().fit(X, np.arange(20)).predict(masked).compute()


@pytest.mark.parametrize("X", [dask.delayed(np.zeros((10, 2))), db.from_sequence([[1.0], [2.0]])])
def test_other_collections_are_no_tables(X):
    with pytest.raises(TypeError, match=r"X is a Dask (DelayedLeaf|Bag), which is no table"):
        wo.RankSVM().fit(X, np.arange(10))


@pytest.mark.parametrize(("value", "what"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_what_is_not_finite_is_named_by_row_and_column(client, graded, value, what):
    X, y, _, _ = graded
    bad = X.copy()
    bad[5_123, 4] = value
    with pytest.raises(ValueError, match=f"Input X contains {what}.*row 5123, column 4"):
        wo.RankSVM().fit(spread_out(bad), y)
    with pytest.raises(ValueError, match=f"Input X contains {what}.*row 5123, column 4"):
        wo.RankSVM().fit(X, y).predict(spread_out(bad)).compute()


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (da.zeros(10, chunks=5), "Expected 2D"),
        (da.zeros((0, 2), chunks=(5, 2)), "0 sample"),
        (da.zeros((10, 0), chunks=(5, 1)), "0 feature"),
        (da.from_array(np.array([["a"]] * 10, dtype=object), chunks=(5, 1)), "not numbers"),
    ],
)
def test_bad_arrays(X, match):
    with pytest.raises(ValueError, match=match):
        wo.RankSVM().fit(X, np.arange(10))


def test_a_wrong_number_of_grades_or_columns(graded):
    X, y, _, _ = graded
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        wo.RankSVM().fit(spread_out(X), y[:-1])
    with pytest.raises(ValueError, match="5 features"):
        wo.RankSVM().fit(X, y).predict(spread_out(X[:, :5]))


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (wo.RankSVM(kernel="rbf"), "n_components"),
        (wo.RankSVM(kernel="precomputed"), "kernel between all rows"),
        (wo.ConvexHullRanker(slacks="row"), "slacks='edge'"),
        (wo.ConvexHullRanker(penalty="laplacian"), "penalty='l2'"),
    ],
    ids=str,
)
def test_settings_that_need_all_rows_here(model, match):
    X = da.from_array(np.random.default_rng(0).random((30, 2)), chunks=(10, -1))
    with pytest.raises(ValueError, match=match):
        model.fit(X, np.arange(30) % 3)


@pytest.mark.parametrize(
    "model",
    [
        wo.SVOR(),
        wo.RidgeRanker(),
        wo.BestFeature(),
        wo.OrderBoost(),
        wo.RankBoost(),
        wo.BoostedTrees(),
        wo.MultipleHyperplaneRanker(),
        wo.NestedRanker(),
        wo.PlugInRanker(),
        wo.OrderEnsemble([("svm", wo.RankSVM()), ("ridge", wo.RidgeRanker())]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_others_name_those_that_take_dask_arrays(model):
    X = da.from_array(np.random.default_rng(0).random((30, 2)), chunks=(10, -1))
    with pytest.raises(TypeError, match=r"takes no Dask arrays; these do: .*RankSVM, SwapSVM"):
        model.fit(X, np.arange(30) % 3)


def test_the_error_names_all_that_take_dask_arrays():
    with pytest.raises(TypeError) as raised:
        wo.RidgeRanker().fit(da.zeros((30, 2)), np.arange(30) % 3)
    classes = [getattr(wo, name) for name in wo.__all__ if isinstance(getattr(wo, name), type)]
    takers = {each.__name__ for each in classes if getattr(each, "takes_dask", False)}
    assert takers >= {"RankSVM", "CompareSVM"}
    assert set(re.search("these do: ([^.]*)", str(raised.value))[1].split(", ")) == takers
