"""ProportionalOdds: against R, statsmodels and logistic regression, and what its probabilities promise."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from tests.reference import proportional_odds as reference

import wellorder as wo
from wellorder.persistence import ModelFileError

STORED = json.loads(Path(__file__).with_suffix(".json").with_stem("proportional_odds").read_text())


def make_rows(n=200, d=4, seed=0, n_levels=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    latent = X @ np.linspace(1.0, -0.5, d) + rng.logistic(size=n)
    return X, np.digitize(latent, np.quantile(latent, np.linspace(0, 1, n_levels + 1)[1:-1])), rng


def housing():
    stored = STORED["housing"]
    cont, kind, influence, satisfaction = np.unravel_index(np.arange(72), (2, 4, 3, 3))
    X = np.column_stack([influence == 1, influence == 2, kind == 1, kind == 2, kind == 3, cont == 1]).astype(float)
    return X, satisfaction, np.array(stored["freq"]), stored


def test_the_housing_table_gives_the_digits_of_polr():
    X, y, freq, stored = housing()
    names = np.array(["Low", "Medium", "High"])
    model = wo.ProportionalOdds(C=np.inf, levels=list(names)).fit(X, names[y], sample_weight=freq)
    np.testing.assert_allclose(model.coef_, stored["coef"], atol=5e-7)
    np.testing.assert_allclose(model.thresholds_, stored["thresholds"], atol=5e-7)
    np.testing.assert_allclose(model.coef_se_, stored["coef_se"], atol=5.01e-6)
    np.testing.assert_allclose(model.thresholds_se_, stored["thresholds_se"], atol=5.01e-6)
    assert 2 * model.objective_ == pytest.approx(stored["deviance"], abs=5e-4)
    assert list(model.classes_) == ["Low", "Medium", "High"]


def test_the_model_of_statsmodels():
    stored = STORED["made"]
    X, y = np.array(stored["X"]), np.array(stored["y"])
    model = wo.ProportionalOdds(C=np.inf).fit(X, y)
    np.testing.assert_allclose(model.coef_, stored["coef"], atol=1e-6)
    np.testing.assert_allclose(model.thresholds_, stored["thresholds"], atol=1e-6)
    np.testing.assert_allclose(model.coef_se_, stored["coef_se"], rtol=1e-5)
    assert model.objective_ == pytest.approx(-stored["log_likelihood"], rel=1e-10)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_two_levels_are_logistic_regression(C):
    X, y, rng = make_rows(n_levels=2)
    weight = rng.integers(1, 4, len(y)).astype(float)
    model = wo.ProportionalOdds(C=C, tol=1e-13).fit(X, y, sample_weight=weight)
    peer = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, peer.coef_[0], atol=1e-6)
    np.testing.assert_allclose(-model.thresholds_, peer.intercept_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    assert (model.predict(X) == peer.predict(X)).all()


@pytest.mark.parametrize("C", [0.05, 3.0])
def test_the_objective_is_a_general_minimisers(C):
    X, y, rng = make_rows(n=60, d=2)
    weight = rng.integers(1, 4, 60).astype(float)

    def objective(free):
        w, thresholds = free[:2], np.cumsum(np.concatenate([free[2:3], np.exp(free[3:])]))
        return 0.5 * w @ w + C * reference.risk(X @ w, thresholds, y, weight)

    best = minimize(objective, np.zeros(5), method="BFGS", tol=1e-9)
    model = wo.ProportionalOdds(C=C, tol=1e-11).fit(X, y, sample_weight=weight)
    assert model.objective_ == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(model.coef_, best.x[:2], atol=1e-4)
    stated = np.concatenate([model.coef_, model.thresholds_[:1], np.log(np.diff(model.thresholds_))])
    assert objective(stated) == pytest.approx(model.objective_, rel=1e-12)


def test_a_large_c_nears_maximum_likelihood():
    X, y, _ = make_rows()
    # a tolerance of the objective is one of the squared error of the coefficients
    free, bound = (wo.ProportionalOdds(C=C, tol=1e-14).fit(X, y) for C in (np.inf, 1e7))
    np.testing.assert_allclose(bound.coef_, free.coef_, atol=1e-6)
    assert not hasattr(bound, "coef_se_")
    assert not hasattr(free.set_params(C=1.0).fit(X, y), "coef_se_")


def test_standard_errors_are_those_of_the_whole_information():
    X, y, _ = make_rows(n=80, d=2)
    model = wo.ProportionalOdds(C=np.inf).fit(X + 1e4, y)  # far from zero, to see that no digit is lost
    near = wo.ProportionalOdds(C=np.inf).fit(X, y)
    at, h = np.concatenate([near.coef_, near.thresholds_]), 1e-4
    information = np.empty((5, 5))
    for i, u in enumerate(h * np.eye(5)):
        for j, v in enumerate(h * np.eye(5)):
            corners = [reference.risk(X @ p[:2], p[2:], y, np.ones(80)) for p in (at + u + v, at + u, at + v, at)]
            information[i, j] = (corners[0] - corners[1] - corners[2] + corners[3]) / h**2
    errors = np.sqrt(np.linalg.inv(information).diagonal())
    np.testing.assert_allclose(np.concatenate([near.coef_se_, near.thresholds_se_]), errors, rtol=1e-3)
    np.testing.assert_allclose(model.coef_, near.coef_, atol=1e-8)
    np.testing.assert_allclose(model.coef_se_, near.coef_se_, rtol=1e-6)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_weight_of_two_is_the_row_twice_and_no_grade_is_no_row(C):
    X, y, rng = make_rows()
    times = rng.integers(0, 4, len(y))
    weighted = wo.ProportionalOdds(C=C).fit(X, y, sample_weight=times.astype(float))
    repeated = wo.ProportionalOdds(C=C).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    unjudged = wo.ProportionalOdds(C=C).fit(
        np.vstack([X, 9 + X]), np.append(y, np.full(200, np.nan)), sample_weight=np.append(times, times) + 0.0
    )
    for other in (repeated, unjudged):
        np.testing.assert_allclose(weighted.coef_, other.coef_, atol=1e-6)
        np.testing.assert_allclose(weighted.thresholds_, other.thresholds_, atol=1e-6)
    if np.isinf(C):
        np.testing.assert_allclose(weighted.coef_se_, repeated.coef_se_, rtol=1e-6)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_sparse_single_precision_and_frames_are_the_same_model(C):
    X, y, _ = make_rows()
    X[np.abs(X) < 0.5] = 0.0
    model = wo.ProportionalOdds(C=C).fit(X, y)
    sparse = wo.ProportionalOdds(C=C).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=1e-6)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), model.predict_proba(X), atol=1e-6)
    single = wo.ProportionalOdds(C=C).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.coef_, model.coef_, atol=1e-4)
    framed = wo.ProportionalOdds(C=C).fit(pd.DataFrame(X, columns=list("abcd")), pd.Series(y))
    assert list(framed.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(framed.coef_, model.coef_, rtol=1e-12)


def test_probabilities_and_grades():
    X, y, _ = make_rows(n_levels=5)
    model = wo.ProportionalOdds().fit(X, 10 * y)
    found = model.predict_proba(np.vstack([X, 300 * X]))
    assert found.shape == (400, 5)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    scores = model.decision_function(X)
    np.testing.assert_allclose(found[:200], reference.probabilities(scores, model.thresholds_), atol=1e-12)
    assert (model.predict(X) == 10 * found[:200].argmax(axis=1)).all()
    grades = model.predict(X)[np.argsort(scores)]
    assert (np.diff(grades) >= 0).all()  # a higher score has no lower grade
    mean = found[:200].mean(axis=0)
    np.testing.assert_allclose(mean, np.bincount(y) / 200, atol=0.02)  # calibrated, on the whole
    assert not is_classifier(model)
    assert not is_regressor(model)
    assert model.score(X, y) > 0.6


def test_labels_groups_and_absent_levels():
    X, y, _ = make_rows()
    names = np.array(["poor", "fair", "good", "best"])
    model = wo.ProportionalOdds(levels=["none", *names]).fit(X, names[y], groups=np.arange(200) % 7)
    assert list(model.classes_) == list(names)
    assert set(model.predict(X)) <= set(names)
    plain = wo.ProportionalOdds().fit(X, wo.Grades(y))
    np.testing.assert_array_equal(plain.coef_, model.coef_)
    weight = np.where(y == 3, 0.0, 1.0)
    assert list(wo.ProportionalOdds().fit(X, y, sample_weight=weight).classes_) == [0, 1, 2]


def test_a_warm_start_starts_where_the_last_fit_ended():
    X, y, _ = make_rows(n=2_000)
    for C in (1.0, np.inf):
        model = wo.ProportionalOdds(C=C, warm_start=True, tol=1e-12).fit(X, y)
        cold, coef = model.n_iter_, model.coef_
        assert model.fit(X, y).n_iter_ < cold
        np.testing.assert_allclose(model.coef_, coef, atol=1e-6)
    free = model.coef_.copy()
    model.coef_[:] = 1e6  # from where every likelihood is zero
    np.testing.assert_allclose(model.fit(X, y).coef_, free, atol=1e-6)
    assert model.fit(X[:, :2], y).coef_.shape == (2,)


def test_large_data_go_from_coarse_to_fine():
    X, y, _ = make_rows(n=60_000, d=5, seed=3, n_levels=5)
    penalised = wo.ProportionalOdds(C=1e6).fit(X, y)
    free = wo.ProportionalOdds(C=np.inf).fit(X, y)
    np.testing.assert_allclose(penalised.coef_, free.coef_, atol=0.02 * free.coef_se_.min())
    assert penalised.n_iter_ <= 5
    np.testing.assert_allclose(free.coef_, np.linspace(1.0, -0.5, 5), atol=4 * free.coef_se_.max())


def test_a_problem_over_a_sample_has_the_same_weight_on_the_mean_loss():
    from wellorder.losses import ROW_LOSSES, GradedRows
    from wellorder.solvers import RowProblem
    from wellorder.spaces import LinearSpace

    X, y, rng = make_rows(n=5_000)
    rows = GradedRows(y.astype(np.int32), rng.random(5_000) + 0.5, 4)
    problem = RowProblem(LinearSpace(X), rows, ROW_LOSSES["proportional_odds"], 2.0)
    sample = problem.sample(600, np.random.default_rng(0))
    assert 500 < sample.space.n_rows == len(sample.rows.level) < 700
    assert sample.strength * sample.rows.mass.sum() == pytest.approx(2.0 * rows.mass.sum())
    assert problem.sample(100, np.random.default_rng(0)) is None  # no room for every level


def test_what_has_no_maximum_likelihood_is_refused_with_advice():
    X, y, rng = make_rows()
    free = wo.ProportionalOdds(C=np.inf)
    with pytest.raises(ValueError, match=r"^column 2 of X does not vary.*finite C"):
        free.fit(np.insert(X, 2, 3.0, axis=1), y)
    with pytest.raises(ValueError, match=r"^columns 0, 1, 4 of X add up to nothing, or to a constant.*finite C"):
        free.fit(np.column_stack([X, 7.0 - X[:, 0] + 2 * X[:, 1]]), y)
    with pytest.raises(ValueError, match=r"no maximum: some combination.*give a finite C"):
        free.fit(X, np.digitize(X[:, 0], [-1, 0, 1]))
    rare = np.where((y == 3) & (rng.random(200) < 0.1), 1.0, 0.0)  # says 'best' without fail
    with pytest.raises(ValueError, match=r"no maximum: some combination.*give a finite C"):
        free.fit(np.column_stack([X, rare]), y)
    with pytest.raises(ValueError, match="add up to nothing"):
        free.fit(X[:4], [0, 1, 2, 3])
    with pytest.raises(ValueError, match="X has 2,001 columns; without a penalty at most 2,000"):
        free.fit(np.zeros((3, 2_001)), [0, 1, 2])
    for column in (3.0 * np.ones(200), X[:, 0], 9.0 * (y == 3)):  # nothing of it troubles a penalty
        wo.ProportionalOdds().fit(np.column_stack([X, column]), y)


def test_an_outlier_is_no_separation():
    X, y, _ = make_rows(n=300, d=2)
    X[0, 0] = 1e5
    model = wo.ProportionalOdds(C=np.inf).fit(X, y)
    assert np.isfinite(model.coef_se_).all()


def test_bad_input_is_named():
    X, y, _ = make_rows()
    for C in (0, -1.0, np.nan, "1", -np.inf):
        with pytest.raises(ValueError, match="C must be a positive number"):
            wo.ProportionalOdds(C=C).fit(X, y)
    with pytest.raises(ValueError, match="ProportionalOdds takes grades, one a row, not Comparisons"):
        wo.ProportionalOdds().fit(X, wo.Comparisons([0], [1], [1]))
    with pytest.raises(ValueError, match="ProportionalOdds puts thresholds between consecutive levels"):
        wo.ProportionalOdds().fit(X, wo.Grades(y, order="chain"))
    with pytest.raises(ValueError, match="nothing to tell apart: all rows that count have the same grade"):
        wo.ProportionalOdds().fit(X, np.ones(200))
    with pytest.raises(ValueError, match="1,001 levels, and ProportionalOdds keeps a threshold"):
        wo.ProportionalOdds().fit(np.zeros((1_001, 1)), np.arange(1_001))
    for C in (1e6, np.inf):
        with pytest.warns(ConvergenceWarning, match="stopped after max_iter=1 steps"):
            wo.ProportionalOdds(C=C, max_iter=1).fit(X, y)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_saved_models_give_the_same_and_damaged_ones_are_refused(C, tmp_path):
    X, y, _ = make_rows()
    names = np.array(["poor", "fair", "good", "best"])
    model = wo.ProportionalOdds(C=C, levels=list(names)).fit(X.astype(np.float32), names[y])
    wo.save(model, tmp_path / "m.wo")
    loaded = wo.load(tmp_path / "m.wo")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert (loaded.predict(X) == model.predict(X)).all()
    assert sorted(vars(loaded)) == sorted(vars(model))
    for change in (
        {"thresholds_": model.thresholds_[::-1].copy()},
        {"thresholds_": np.array([0.0, np.nan, 1.0])},
        {"classes_": model.classes_[:2]},
        {"coef_": model.coef_[:2]},
        {"coef_": model.coef_[:, None]},
        {"coef_": np.full_like(model.coef_, np.nan)},
    ):
        damaged = wo.load(tmp_path / "m.wo")
        vars(damaged).update(change)
        wo.save(damaged, tmp_path / "bad.wo")
        with pytest.raises(ModelFileError):
            wo.load(tmp_path / "bad.wo")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shift", [1e3, 1e8])
def test_columns_far_from_zero_have_the_same_maximum(shift, form):
    X, y, _ = make_rows(300)
    near = wo.ProportionalOdds(C=np.inf).fit(X, y)
    far = wo.ProportionalOdds(C=np.inf).fit(form(X + shift), y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    np.testing.assert_allclose(far.coef_se_, near.coef_se_, atol=1e-6)
    np.testing.assert_allclose(far.predict_proba(form(X + shift)), near.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("infinite", [np.float32("inf"), np.float64("inf"), float("inf")])
def test_infinity_of_any_kind_means_no_penalty(infinite):
    X, y, _ = make_rows(100)
    assert hasattr(wo.ProportionalOdds(C=infinite).fit(X, y), "coef_se_")


@pytest.mark.parametrize("factor", [1e-200, 1e200])
@pytest.mark.parametrize("model", [wo.ProportionalOdds(), wo.SVOR(), wo.OrderBoost("orboost", n_estimators=2)])
def test_weights_that_cannot_be_added_up_are_refused(model, factor):
    X, y, rng = make_rows(60)
    with pytest.raises(ValueError, match=r"row weights are too large or too small.*divide them by a common factor"):
        model.fit(X, y, sample_weight=factor * rng.uniform(1, 2, 60))
