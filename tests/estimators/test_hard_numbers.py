"""One suite over all estimators: numbers that are the same to a person, and hard on floating point."""

from __future__ import annotations

import inspect
import warnings
from time import process_time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import kendalltau
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import wellorder as wo
from wellorder import estimators
from wellorder.estimators.base import OneScoreWarning
from wellorder.estimators.compare_model import CompareModel

NEEDED = {
    "CompareLP": {"C": 1.0},  # else the outcomes must be separable
    "OrderEnsemble": {"estimators": [("svm", wo.RankSVM()), ("ridge", wo.RidgeRanker())]},
    "ThresholdCompare": {"estimator": wo.RankSVM()},
}
"""What a constructor cannot do without."""

QUICK = {"n_estimators": 10, "min_samples_leaf": 2, "random_state": 0}
"""Parameters of any estimator that has them."""

VARIANTS = {
    "kernel": ["rbf", "poly"],
    "n_components": [10],
    "loss": ["hinge", "logistic", "orboost", "squared", "absolute"],
    "learner": ["tree"],
    "slacks": ["row"],
    "penalty": ["l1", "laplacian"],
    "scale": [True],
    "thresholds": ["immediate", "explicit"],
}
"""Values that make another method of an estimator that takes them."""

rng = np.random.default_rng(0)
X = np.where(rng.random((60, 4)) < 0.6, rng.standard_normal((60, 4)), 0.0)
Y = np.digitize(X @ [1.0, -0.5, 0.3, 0.0] + 0.3 * rng.standard_normal(60), [-0.6, 0.6])
LEFT, RIGHT = rng.integers(0, 60, (2, 150))
LEFT, RIGHT = LEFT[LEFT != RIGHT], RIGHT[LEFT != RIGHT]
OUTCOME = np.sign(Y[RIGHT] - Y[LEFT])


def every_estimator():
    """Make each public estimator as it comes, and with each other value that it takes."""
    for name in estimators.__all__:
        cls = getattr(estimators, name)
        taken = inspect.signature(cls).parameters
        given = {key: value for key, value in QUICK.items() if key in taken} | NEEDED.get(name, {})
        yield pytest.param(cls(**given), id=name)
        for key, values in VARIANTS.items():
            for value in values if key in taken else ():
                model = cls(**given, **{key: value})
                try:
                    model._check_parameters()
                except ValueError:  # another estimator's value
                    continue
                except AttributeError:
                    pass
                yield pytest.param(model, id=f"{name}-{key}={value}")


EVERY = list(every_estimator())


PLAIN = [model for model in EVERY if "=" not in model.id]
"""Each as it comes."""

SHIFTED = [model for model in EVERY if getattr(model.values[0], "kernel", None) != "poly"]
"""Those that look at differences only; a polynomial kernel knows where zero is."""


def fit(model, items, y=Y, outcome=OUTCOME, weight=None):
    """Fit a model of rows, or of comparisons of rows."""
    if isinstance(model, CompareModel):
        return model.fit(wo.Pairs(items, LEFT, RIGHT), outcome, sample_weight=weight)
    return model.fit(items, y, sample_weight=weight)


def in_parts(matrix):
    """Return the same sparse matrix with every entry in two unequal parts, which SciPy allows."""
    whole = sp.csr_array(matrix)
    share = 0.3 + 0.4 * np.sin(np.arange(whole.nnz)) ** 2
    data = np.stack([whole.data * share, whole.data - whole.data * share], axis=1).ravel()
    parts = sp.csr_array((data, np.repeat(whole.indices, 2), 2 * whole.indptr), shape=whole.shape)
    assert not parts.has_canonical_format
    return parts


@pytest.mark.parametrize("model", EVERY)
def test_entries_in_parts_are_added_up(model):
    whole, parts = sp.csr_array(X), in_parts(X)
    stored = parts.nnz
    expected = fit(model, whole).decision_function(whole)
    for form in ("csr", "csc", "coo"):
        scores = model.decision_function(parts.asformat(form))
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9, err_msg=form)
    np.testing.assert_allclose(fit(model, parts).decision_function(whole), expected, rtol=1e-5, atol=1e-6)
    assert parts.nnz == stored  # the user's own matrix is as it was


def agreement(a, b):
    """Return Kendall's correlation of two scores of the same rows."""
    return kendalltau(a, b).statistic


@pytest.mark.parametrize(("dtype", "offset"), [(np.float64, 1e8), (np.float32, 1e4)], ids=["float64", "float32"])
@pytest.mark.parametrize("model", SHIFTED)
def test_columns_far_from_zero(model, dtype, offset):
    far = (X + offset).astype(dtype)
    near = far.astype(float) - offset + 10.0  # above zero, which is a place of its own to trees
    expected = fit(clone(model), near).decision_function(near)
    assert agreement(expected, fit(model, far).decision_function(far)) > 0.99


@pytest.mark.parametrize("model", SHIFTED)
def test_a_sparse_column_far_from_zero(model):
    if getattr(model, "kernel", "linear") != "linear":
        model.set_params(gamma=0.5)  # 'scale' would see how far the columns lie from each other
    near = np.column_stack([X, np.linspace(-1, 1, len(X)) * (-1.0) ** np.arange(len(X)) + 10.0])
    near, far = sp.csr_array(near), sp.csr_array(near + np.array([0, 0, 0, 0, 1e8]))
    expected = fit(clone(model), near).decision_function(near)
    assert agreement(expected, fit(model, far).decision_function(far)) > 0.99


@pytest.mark.parametrize("model", [model for model in EVERY if model not in SHIFTED])
def test_a_kernel_that_knows_zero_warns_of_columns_far_from_it(model):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit(model.set_params(max_iter=3), X + 1e8)
    assert any("column 0 of X lies far from zero" in str(each.message) for each in said)


@pytest.mark.parametrize("model", [wo.RankSVM(kernel="rbf"), wo.SVOR(kernel="rbf")], ids=str)
def test_a_width_that_takes_distance_from_zero_for_spread(model):
    with pytest.warns(match="column 1 of X lies far from zero.*give gamma a number"):
        model.fit(X + np.array([0, 1e6, 0, 0]), Y)
    model.set_params(gamma=0.5).fit(X + np.array([0, 1e6, 0, 0]), Y)
    model.set_params(gamma="scale").fit(X + 1e6, Y)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_thresholds_move_with_the_columns(C):
    near, far = wo.ProportionalOdds(C).fit(X, Y), wo.ProportionalOdds(C).fit(X + 1e5, Y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-4)
    np.testing.assert_allclose(far.thresholds_ - 1e5 * far.coef_.sum(), near.thresholds_, rtol=1e-3)
    np.testing.assert_allclose(far.predict_proba(X + 1e5), near.predict_proba(X), atol=1e-4)
    if np.isinf(C):  # the threshold at zero, far from all rows, is known as badly as the coefficients make it
        origin = np.linalg.norm(far.thresholds_se_) / np.linalg.norm(near.thresholds_se_)
        assert 1e4 < origin < 1e6
        np.testing.assert_allclose(far.coef_se_, near.coef_se_, rtol=1e-4)


@pytest.mark.parametrize("model", [wo.SVOR(), wo.SVOR(n_components=10, random_state=0)], ids=str)
def test_grades_do_not_depend_on_where_zero_is(model):
    np.testing.assert_array_equal(model.fit(X + 1e8, Y).predict(X + 1e8), model.fit(X, Y).predict(X))


def test_names_of_columns_survive_a_move():
    frame = pd.DataFrame(X + 1e8, columns=list("abcd"))
    model = wo.PlugInRanker().fit(frame, Y)
    assert model.estimator_.feature_names_in_.tolist() == list("abcd")
    assert agreement(model.decision_function(frame), wo.PlugInRanker().fit(X, Y).decision_function(X)) > 0.99


def test_a_negative_gap_is_none():
    offset = np.repeat(1e9 * np.arange(6), 10)[:, None]  # lists far from each other, which nobody moves
    groups = np.repeat(np.arange(6), 10)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = wo.RankSVM().fit(X + offset, Y, groups=groups)
    assert model.gap_ >= 0
    best = wo.RankSVM().fit(X, Y, groups=groups).objective_
    assert said or model.objective_ < 1.001 * best


WEIGHED = [model for model in PLAIN if model.id != "CompareLP"]
"""Those whose weights meet a regulariser; a linear programme's have a test of their own."""


def weights_for(model):
    return np.random.default_rng(5).uniform(0.5, 1.5, len(LEFT) if isinstance(model, CompareModel) else len(X))


@pytest.mark.parametrize("factor", [1e300, 1e-300])
@pytest.mark.parametrize("model", WEIGHED)
def test_weights_that_floating_point_cannot_add_up(model, factor):
    with pytest.raises(ValueError, match=r"weights .*(too large|too small).*by a common factor"):
        fit(model, X, weight=factor * weights_for(model))


@pytest.mark.parametrize("factor", [1e60, 1e-60])
@pytest.mark.parametrize("model", WEIGHED)
def test_extreme_weights_order_rows_or_say_why_not(model, factor):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        scores = fit(model, X, weight=factor * weights_for(model)).decision_function(X)
    assert np.isfinite(scores).all()
    assert np.ptp(scores) > 0 or any(issubclass(each.category, OneScoreWarning | ConvergenceWarning) for each in said)


@pytest.mark.parametrize("model", [wo.BoostedTrees(n_estimators=5), wo.BoostedTrees("ranks", n_estimators=5)], ids=str)
def test_trees_see_only_the_ratios_of_weights(model):
    weight = np.random.default_rng(5).uniform(0.5, 1.5, len(X))
    ordinary = clone(model).fit(X, Y, sample_weight=weight).decision_function(X)
    for power in (-200, 200):
        scores = clone(model).fit(X, Y, sample_weight=np.ldexp(weight, power)).decision_function(X)
        np.testing.assert_allclose(scores, ordinary, rtol=1e-12)


@pytest.mark.parametrize(
    "model", [wo.RankSVM(loss="hinge"), wo.RankSVM(loss="hinge", kernel="rbf"), wo.SwapSVM()], ids=str
)
def test_weights_of_very_different_size_end_soon(model):
    rng = np.random.default_rng(0)
    X, y, weight = rng.standard_normal((12, 2)), rng.integers(0, 3, 12), rng.choice([0, 1, 1e12], 12)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y, sample_weight=weight)
    assert said or model.gap_ <= model.tol * model.objective_
    assert model.n_iter_ < 300


@pytest.mark.parametrize("thresholds", ["all", "immediate"])
def test_svor_says_that_its_best_function_is_zero(thresholds):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), rng.integers(0, 4, 60)
    with pytest.warns(OneScoreWarning, match=r"orders nothing.*raise C, try another thresholds=.*RankSVM"):
        model = wo.SVOR(thresholds=thresholds).fit(X, y)
    assert np.ptp(model.decision_function(X)) == 0


@pytest.mark.parametrize("model", PLAIN)
def test_a_model_without_an_order_says_so(model):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        scores = fit(model, np.ones((60, 2))).decision_function(np.ones((60, 2)))
    assert np.ptp(scores) == 0
    if not isinstance(model, CompareModel | wo.BestFeature | wo.RidgeRanker | wo.OrderEnsemble):
        assert any(issubclass(each.category, OneScoreWarning) for each in said)


@pytest.mark.parametrize("values", ["ones", "any"])
@pytest.mark.parametrize("model", [wo.BestFeature(), wo.RankBoost(3), wo.OrderBoost(n_estimators=3)], ids=str)
def test_a_million_sparse_columns(model, values):
    rng, n, entries = np.random.default_rng(0), 100, 2_000
    data = np.ones(entries) if values == "ones" else rng.random(entries)
    where = rng.integers(0, n, entries), rng.integers(0, 1_000_000, entries)
    y = rng.integers(0, 3, n)
    wide = sp.csr_array((data, where), shape=(n, 1_000_000))
    begun = process_time()
    model.fit(wide, y)
    assert process_time() - begun < 10  # seconds: a look at each column would take minutes
    filled = np.unique(wide.indices)
    few = clone(model).fit(wide[:, filled].toarray(), y)
    np.testing.assert_allclose(model.decision_function(wide), few.decision_function(wide[:, filled].toarray()))


def test_bumps_refuse_what_they_cannot_do_in_hours():
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random_array((200, 25_000), density=0.45, rng=rng))
    with pytest.raises(ValueError, match=r"25,000 sparse columns.*use learner='tree'"):
        wo.OrderBoost().fit(X, rng.integers(0, 3, 200))
