"""SVOR: against a general solver, a two-class SVM, and what its thresholds promise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from sklearn.base import is_classifier, is_regressor
from sklearn.svm import SVC
from tests.reference import svor as reference

import wellorder as wo
from wellorder.losses import OrdinalRows, ordinal_hinge, smooth_ordinal_hinge
from wellorder.persistence import ModelFileError

KINDS = ["all", "immediate", "explicit"]


def make_rows(n=60, d=4, seed=0, grades=4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    truth = X @ rng.standard_normal(d) + noise * rng.standard_normal(n)
    return X, np.digitize(truth, np.quantile(truth, np.linspace(0, 1, grades + 1)[1:-1])), rng


def make_scores(seed, n=25, n_levels=4):
    rng = np.random.default_rng(seed)
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n - n_levels)])
    return 0.3 * level + rng.standard_normal(n), level, rng.integers(1, 4, n).astype(float), rng


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_thresholds_are_a_general_solvers(kind, seed):
    scores, level, weight, _ = make_scores(seed)
    value, b = ordinal_hinge(scores, OrdinalRows(level, weight, 4, kind))
    assert value == pytest.approx(reference.risk(scores, b, level, weight, kind), rel=1e-12)
    assert value == pytest.approx(reference.least_risk(scores, level, weight, kind), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [0.5, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_the_rounded_risk_has_its_derivatives_and_its_plane(kind, width, seed):
    scores, level, weight, rng = make_scores(seed)
    rows = OrdinalRows(level, weight, 4, kind)
    risk = smooth_ordinal_hinge(scores, rows, width)
    u, h = rng.standard_normal(len(scores)), 1e-7
    ahead, behind = (smooth_ordinal_hinge(scores + step * u, rows, width) for step in (h, -h))
    assert (ahead.value - behind.value) / (2 * h) == pytest.approx(risk.gradient @ u, rel=1e-5, abs=1e-5)
    np.testing.assert_allclose((ahead.gradient - behind.gradient) / (2 * h), risk.hessian_product(u), atol=1e-5)
    columns = np.array([risk.hessian_product(e) for e in np.eye(len(scores))])
    np.testing.assert_allclose(columns, columns.T, atol=1e-9)
    np.testing.assert_allclose(np.diag(columns), risk.hessian_diagonal(), atol=1e-9)
    for _ in range(20):  # the plane lies below the risk with its corners, everywhere
        other = 3 * rng.standard_normal() * scores + rng.standard_normal(len(scores))
        assert risk.gradient @ other - risk.slope <= ordinal_hinge(other, rows)[0] + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repetitions_and_rows_without_level_are_absent(kind):
    scores, level, weight, rng = make_scores(7)
    times = weight.astype(int)
    many = OrdinalRows(np.repeat(level, times), np.ones(times.sum()), 4, kind)
    some = OrdinalRows(np.append(level, -1), np.append(weight, 5.0), 4, kind)
    for width in (0.0, 0.2):
        a, b = (
            ordinal_hinge(s, rows)[0] if width == 0 else smooth_ordinal_hinge(s, rows, width).value
            for s, rows in ((np.repeat(scores, times), many), (np.append(scores, rng.standard_normal()), some))
        )
        assert a == pytest.approx(b, rel=1e-12)
    assert smooth_ordinal_hinge(np.append(scores, 0.0), some, 0.2).gradient[-1] == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_the_objective_is_a_general_solvers(kind, kernel, C):
    X, y, rng = make_rows(n=30, d=3)
    weights = rng.integers(1, 4, 30).astype(float)
    model = wo.SVOR(C=C, kernel=kernel, gamma=0.3, thresholds=kind).fit(X, y, sample_weight=weights)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = X @ X.T if kernel == "linear" else np.exp(-0.3 * distances)
    best = reference.minimum(K, y, weights, kind, C)
    assert best * (1 - 1e-6) <= model.objective_ <= best * (1 + 1e-3)
    assert model.objective_ - model.gap_ <= best * (1 + 1e-6)  # the gap is true
    assert model.gap_ <= 1e-3 * model.objective_
    scores = model.decision_function(X)
    square = model.coef_ @ model.coef_ if kernel == "linear" else scores[model.support_] @ model.dual_coef_
    risk = reference.risk(scores, model.thresholds_, y, weights, kind)
    assert model.objective_ == pytest.approx(0.5 * square + C * risk, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_two_levels_are_a_two_class_svm(kind, kernel):
    X, y, _ = make_rows(n=120, grades=2)
    model = wo.SVOR(C=0.7, kernel=kernel, gamma=0.2, thresholds=kind, tol=1e-7).fit(X, y)
    svm = SVC(C=0.7, kernel=kernel, gamma=0.2, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X) - model.thresholds_[0], svm.decision_function(X), atol=2e-3)
    assert (model.predict(X) == svm.predict(X)).mean() > 0.98


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-6, 6), st.integers(1, 3)), min_size=2, max_size=30).filter(
        lambda rows: len({level for level, _, _ in rows}) > 1
    ),
    st.sampled_from(["all", "explicit"]),
)
def test_thresholds_are_in_order(rows, kind):
    level, scores, weight = (np.array(column) for column in zip(*rows, strict=True))
    present, number = np.unique(level, return_inverse=True)
    found = ordinal_hinge(scores / 2.0, OrdinalRows(number, weight.astype(float), len(present), kind))[1]
    assert (np.diff(found) >= -1e-12).all()


@pytest.mark.filterwarnings("default:the best function is zero")  # of grades that are mostly noise
def test_fitted_thresholds_are_in_order_and_immediate_ones_need_not_be():
    crossed = 0
    for seed in range(15):
        X, y, _ = make_rows(n=40, seed=seed, grades=6, noise=6.0)
        for kind in KINDS:
            b = wo.SVOR(C=0.1, thresholds=kind).fit(X, y).thresholds_
            crossed += kind == "immediate" and (np.diff(b) < 0).any()
            assert kind == "immediate" or (np.diff(b) >= 0).all()
    assert crossed


def test_predict_counts_the_thresholds_below_a_score():
    X, y, _ = make_rows(n=300, noise=0.3)
    model = wo.SVOR(C=10.0).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), (scores[:, None] > model.thresholds_).sum(axis=1))
    assert (model.predict(X) == y).mean() > 0.8
    assert model.score(X, y) == pytest.approx(1 - wo.metrics.swapped_pairs(y, scores))
    first = model.decision_function(X[:1])[0]  # of one row alone: among others its last bit may differ
    model.thresholds_[1] = first  # a score equal to a threshold has not passed it
    model.thresholds_.sort()
    assert model.predict(X[:1])[0] == np.count_nonzero(model.thresholds_ < first)
    assert not is_classifier(model)
    assert not is_regressor(model)


def test_grades_come_back_in_the_users_labels():
    X, y, _ = make_rows(n=80, noise=0.2)
    names = np.array(["poor", "fair", "good", "best"])
    text = wo.SVOR(levels=["awful", *names]).fit(X, names[y])
    assert text.classes_.tolist() == names.tolist()  # "awful" is not present
    np.testing.assert_array_equal(text.predict(X), names[wo.SVOR().fit(X, y).predict(X)])
    ordered = pd.Series(pd.Categorical(names[y], categories=names, ordered=True))
    np.testing.assert_array_equal(wo.SVOR().fit(X, ordered).predict(X), text.predict(X))
    assert wo.SVOR().fit(X, y * 10.5).classes_.tolist() == [0.0, 10.5, 21.0, 31.5]
    assert wo.SVOR().fit(X, y > 1).predict(X).dtype == bool


def test_unjudged_rows_weightless_rows_and_groups_change_nothing():
    X, y, rng = make_rows(n=80)
    plain = wo.SVOR().fit(X, y)
    more = np.vstack([X, rng.standard_normal((20, 4))])
    unjudged = wo.SVOR().fit(more, np.append(y, np.full(20, np.nan)))
    weightless = wo.SVOR().fit(more, np.append(y, np.full(20, 9)), sample_weight=np.repeat([1.0, 0.0], [80, 20]))
    grouped = wo.SVOR().fit(X, y, groups=rng.integers(0, 5, 80))
    for other in (unjudged, weightless, grouped, wo.SVOR().fit(X, wo.Grades(y)), wo.SVOR().fit(sp.csr_array(X), y)):
        np.testing.assert_allclose(other.coef_, plain.coef_, atol=1e-6)
        np.testing.assert_allclose(other.thresholds_, plain.thresholds_, atol=1e-6)
        assert len(other.classes_) == 4


def test_kernels_landmarks_and_a_warm_start():
    X, y, _ = make_rows(n=200)
    cold = wo.SVOR(C=10.0, kernel="rbf").fit(X, y)
    warm = wo.SVOR(C=5.0, kernel="rbf", warm_start=True).fit(X, y).set_params(C=10.0).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-3)
    K = np.exp(-cold.gamma_ * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    given = wo.SVOR(C=10.0, kernel="precomputed").fit(K, y)
    assert given.objective_ == pytest.approx(cold.objective_, rel=1e-3)
    near = wo.SVOR(C=10.0, kernel="rbf", n_components=150, random_state=0).fit(X, y)
    assert near.objective_ == pytest.approx(cold.objective_, rel=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_tolerance_is_reached(kind):
    X, y, _ = make_rows(n=150, grades=5)
    for kernel in ("linear", "rbf"):
        model = wo.SVOR(C=5.0, kernel=kernel, thresholds=kind, tol=1e-7).fit(X, y)
        assert 0 <= model.gap_ <= 1e-7 * model.objective_


def test_separable_rows_and_equal_rows():
    X = np.arange(12.0)[:, None]
    y = np.repeat([0, 1, 2], 4)
    model = wo.SVOR(C=1e4, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(model.coef_, 2.0, rtol=1e-3)  # one between rows that are one apart: a margin of ±1
    np.testing.assert_array_equal(model.predict(X), y)
    with pytest.warns(UserWarning, match="the best function is zero"):
        flat = wo.SVOR().fit(np.ones((12, 2)), y)
    assert len(set(flat.predict(np.ones((3, 2))))) == 1
    assert np.isfinite(flat.thresholds_).all()


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({"C": -1}, [0, 1, 2], "C must be"),
        ({"tol": 0}, [0, 1, 2], "tol must be"),
        ({"thresholds": "some"}, [0, 1, 2], "thresholds='some'"),
        ({}, [1, 1, 1], "have the same grade"),
        ({}, [np.nan, np.nan, np.nan], "no row has a grade"),
        ({}, [0, 1], "inconsistent numbers of samples"),
        ({}, wo.Comparisons([0], [1], [1]), "takes grades"),
        ({}, wo.Grades([0, 1, 2], order="chain"), "no other order"),
    ],
)
def test_what_cannot_be_learned_is_named(params, y, message):
    with pytest.raises(ValueError, match=message):
        wo.SVOR(**params).fit(np.eye(3), y)


def test_too_many_levels_are_refused():
    with pytest.raises(ValueError, match="bin the grades"):
        wo.SVOR().fit(np.ones((1_200, 1)), np.arange(1_200))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_save_and_load(tmp_path, kernel):
    X, y, _ = make_rows()
    names = np.array(["d", "c", "b", "a"])
    model = wo.SVOR(kernel=kernel, levels=list(names)).fit(X, names[y])
    wo.save(model, tmp_path / "m.wo")
    loaded = wo.load(tmp_path / "m.wo")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    for broken in (np.ones(7), np.array([0.0, np.nan, 1.0]), np.ones((3, 1)), np.array([1, 2, 3])):
        model.thresholds_ = broken
        wo.save(model, tmp_path / "m.wo")
        with pytest.raises(ModelFileError, match="threshold"):
            wo.load(tmp_path / "m.wo")
