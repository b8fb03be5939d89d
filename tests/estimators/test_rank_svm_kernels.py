from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from tests.estimators.test_rank_svm import make_data

import wellorder as wo
from wellorder.spaces import kernel


def make_ball(n=400, seed=0):
    """Grades that grow with ‖x‖²: nothing for a linear score."""
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return X, np.digitize((X**2).sum(axis=1), [1, 2, 3, 5])


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
def test_precomputed_inner_products_equal_the_linear_fit(loss):
    X, y, group, weight = make_data(1)
    linear = wo.RankSVM(loss=loss, tol=1e-9).fit(X, y, groups=group, sample_weight=weight)
    kernel = wo.RankSVM(loss=loss, kernel="precomputed", tol=1e-9).fit(X @ X.T, y, groups=group, sample_weight=weight)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-7)
    np.testing.assert_allclose(kernel.predict(X @ X.T), linear.predict(X), atol=1e-3)


@pytest.mark.parametrize(
    ("kernel", "matrix"),
    [
        ("rbf", lambda X, Z: rbf_kernel(X, Z, gamma=0.3)),
        ("poly", lambda X, Z: polynomial_kernel(X, Z, gamma=0.3, degree=2, coef0=1.0)),
        (lambda X, Z: rbf_kernel(X, Z, gamma=0.1), lambda X, Z: rbf_kernel(X, Z, gamma=0.1)),
    ],
    ids=["rbf", "poly", "callable"],
)
def test_a_kernel_equals_its_matrix(kernel, matrix):
    X, y, group, _ = make_data(2)
    new = np.random.default_rng(0).standard_normal((30, X.shape[1]))
    parameters = {"gamma": 0.3, "degree": 2, "coef0": 1.0, "tol": 1e-8}
    a = wo.RankSVM(kernel=kernel, **parameters).fit(X, y, groups=group)
    b = wo.RankSVM(kernel="precomputed", tol=1e-8).fit(matrix(X, X), y, groups=group)
    np.testing.assert_allclose(a.predict(new), b.predict(matrix(new, X)), rtol=1e-6, atol=1e-8)


def test_sparse_rows_give_the_same_kernel_model():
    X, y, _, _ = make_data(3)
    X[np.abs(X) < 0.5] = 0.0
    a = wo.RankSVM(kernel="rbf").fit(X, y)
    b = wo.RankSVM(kernel="rbf").fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(a.predict(X), b.predict(sp.csr_matrix(X)), rtol=1e-8)


@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"kernel": "rbf", "n_components": 100}, {"kernel": "poly"}])
def test_kernels_learn_a_ball_and_a_linear_score_does_not(options):
    X, y = make_ball()
    new, grade = make_ball(2_000, seed=1)
    model = wo.RankSVM(C=10.0, random_state=0, degree=2, **options).fit(X, y)
    assert model.score(new, grade) > 0.95
    assert wo.RankSVM(C=10.0).fit(X, y).score(new, grade) < 0.6


def test_all_rows_as_landmarks_are_the_kernel_itself():
    X, y = make_ball(150)
    exact = wo.RankSVM(kernel="rbf", gamma=0.5, tol=1e-9).fit(X, y)
    features = wo.RankSVM(kernel="rbf", gamma=0.5, n_components=150, tol=1e-9, random_state=0).fit(X, y)
    assert features.objective_ == pytest.approx(exact.objective_, rel=1e-5)
    np.testing.assert_allclose(features.predict(X), exact.predict(X), atol=1e-2)


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("C", [1.0, 10.0, 1000.0])
def test_large_c_stays_within_tolerance(C, continuous):
    # large enough to be preconditioned by a sample
    X, y = make_ball(2_000)
    y = (X**2).sum(axis=1) if continuous else y
    model = wo.RankSVM(C=C, kernel="rbf").fit(X, y)
    exact = wo.RankSVM(C=C, kernel="rbf", tol=1e-9).fit(X, y)
    assert exact.objective_ <= model.objective_ * (1 + 1e-9)
    assert model.objective_ <= exact.objective_ * (1 + 1e-3)


def test_landmarks_of_a_precomputed_kernel_are_those_of_its_rows():
    X, y = make_ball(200)
    K = rbf_kernel(X, gamma=0.5)
    a = wo.RankSVM(kernel="precomputed", n_components=40, random_state=0).fit(K, y)
    b = wo.RankSVM(kernel="rbf", gamma=0.5, n_components=40, random_state=0).fit(X, y)
    np.testing.assert_allclose(a.predict(K), b.predict(X), rtol=1e-5, atol=1e-6)


def test_dual_coefficients_sum_to_zero_in_each_group():
    X, y, group, _ = make_data(4)
    model = wo.RankSVM(kernel="rbf", tol=1e-12).fit(X, y, groups=group)
    dual = np.zeros(len(X))
    dual[model.support_] = model.dual_coef_
    np.testing.assert_allclose(np.bincount(group, dual), 0.0, atol=1e-5)


def test_unjudged_rows_are_no_support():
    X, y, _, _ = make_data(5)
    y = np.where(np.arange(len(y)) % 3 == 0, np.nan, y.astype(float))
    model = wo.RankSVM(kernel="rbf").fit(X, y)
    assert set(model.support_) <= set(np.flatnonzero(~np.isnan(y)))
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_cross_validation_slices_a_precomputed_kernel_both_ways():
    X, y, _, _ = make_data(6)
    K = rbf_kernel(X, gamma=0.2)
    a = cross_val_score(wo.RankSVM(kernel="precomputed"), K, y, cv=4)
    b = cross_val_score(wo.RankSVM(kernel="rbf", gamma=0.2), X, y, cv=4)
    np.testing.assert_allclose(a, b, atol=1e-3)


def test_float32_kernels_stay_float32():
    X, y = make_ball()
    for options in ({}, {"n_components": 50, "random_state": 0}):
        model = wo.RankSVM(kernel="rbf", **options).fit(X.astype(np.float32), y)
        assert model.predict(X.astype(np.float32)).dtype == np.float32
        assert model.score(X.astype(np.float32), y) > 0.95


def test_warm_start_over_c():
    X, y = make_ball(300)
    model = wo.RankSVM(kernel="rbf", C=1.0, warm_start=True).fit(X, y)
    warm = model.set_params(C=1.05).fit(X, y)
    cold = wo.RankSVM(kernel="rbf", C=1.05).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-3)


def test_a_kernel_that_does_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(kernel, "available_bytes", lambda: 10**6)
    X, y = make_ball(1_000)
    with pytest.raises(MemoryError, match=r"1,000 rows needs about 0\.2 GB.*n_components"):
        wo.RankSVM(kernel="rbf").fit(X, y)
    wo.RankSVM(kernel="rbf", n_components=20).fit(X, y)


def test_free_memory_is_known_here():
    free = kernel.available_bytes()
    assert free is None or free > 10**7


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({"kernel": "rbff"}, np.eye(3), "kernel='rbff' is not known"),
        ({"kernel": "precomputed"}, np.ones((3, 2)), r"square matrix.*\(3, 2\)"),
        ({"kernel": "rbf", "gamma": -1.0}, np.eye(3), "gamma must be"),
        ({"kernel": "rbf", "gamma": "scaled"}, np.eye(3), "gamma must be"),
        ({"kernel": "rbf", "n_components": 0}, np.eye(3), "n_components must be"),
        ({"kernel": lambda X, Z: np.ones(3)}, np.eye(3), r"kernel function gave an array of shape \(3,\)"),
    ],
)
def test_bad_kernels_are_named(parameters, X, message):
    with pytest.raises(ValueError, match=message):
        wo.RankSVM(**parameters).fit(X, [0, 1, 2])


@pytest.mark.parametrize("C", [10.0, 1e3, 1e4])
def test_single_precision_is_used_only_where_it_is_harmless(C):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_000, 5))
    y = np.digitize((X**2).sum(axis=1) + rng.standard_normal(2_000), [2, 4, 6, 8])
    default = wo.RankSVM(kernel="rbf", C=C).fit(X, y)
    double = wo.RankSVM(kernel="rbf", C=C, tol=1e-7).fit(X, y)
    assert default.objective_ <= double.objective_ * (1 + 1e-3)


def test_large_polynomials_stay_in_double_precision():
    rng = np.random.default_rng(1)
    X = 30 * rng.standard_normal((2_100, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it may say so; it must not claim what is not so
        model = wo.RankSVM(kernel="poly", degree=4, gamma=1.0).fit(X, X[:, 0].round(-1))
    assert np.isfinite(model.objective_)


def test_another_kernel_starts_afresh():
    X, y = make_ball(300)
    model = wo.RankSVM(kernel="rbf", warm_start=True).fit(X, y)
    for parameters in ({"kernel": "linear"}, {"kernel": "rbf", "n_components": 20}, {"n_components": None}):
        model.set_params(random_state=0, **parameters).fit(X, y)
        fresh = wo.RankSVM(**model.get_params()).fit(X, y)
        assert set(vars(model)) == set(vars(fresh))
        assert model.objective_ == pytest.approx(fresh.objective_, rel=1e-3)


def test_rows_far_from_zero_keep_their_distances():
    X, y = make_ball(200)
    near = wo.RankSVM(kernel="rbf", gamma=0.5).fit(X, y)
    far = wo.RankSVM(kernel="rbf", gamma=0.5).fit(X + 2.0**30, y)
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-4)


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (-np.eye(5), "row 0 with itself is -1"),
        (np.triu(np.ones((5, 5))), "not symmetric"),
    ],
)
def test_what_is_no_kernel_is_refused(K, message):
    with pytest.raises(ValueError, match=message):
        wo.RankSVM(kernel="precomputed").fit(K, np.arange(5))
    with pytest.raises(ValueError, match="NaN or infinity"):
        wo.RankSVM(kernel=lambda X, Z: np.full((len(X), len(Z)), np.nan)).fit(np.eye(5), np.arange(5))


def test_an_indefinite_matrix_is_not_called_converged():
    K = np.eye(6)
    K[0, 5] = K[5, 0] = 3.0  # negative on the difference of the two, where the solution lies
    for loss in ("squared_hinge", "hinge"):
        with pytest.warns(ConvergenceWarning):
            wo.RankSVM(kernel="precomputed", C=100.0, loss=loss).fit(K, np.arange(6))


def test_a_model_without_a_single_coefficient_scores_zero():
    X = np.eye(4)
    ranker = wo.RankSVM(kernel="rbf").fit(X, [0, 1, 2, 3])
    ranker.support_, ranker.dual_coef_ = ranker.support_[:0], ranker.dual_coef_[:0]
    ranker.support_vectors_ = ranker.support_vectors_[:0]
    assert ranker.decision_function(X).tolist() == [0.0] * 4


def test_landmarks_grow_with_the_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_600, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    model = wo.RankSVM(kernel="rbf", n_components="auto", random_state=0).fit(X, y)
    assert model.landmarks_.shape == (400, 3)
    np.testing.assert_array_equal(
        model.predict(X), wo.RankSVM(kernel="rbf", n_components=400, random_state=0).fit(X, y).predict(X)
    )
    with pytest.raises(ValueError, match="n_components='many' is not known; use one of 'auto'"):
        wo.RankSVM(kernel="rbf", n_components="many").fit(X, y)
