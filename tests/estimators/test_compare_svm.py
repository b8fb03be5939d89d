"""CompareSVM against libsvm on the two-class pairs, the linear programme's margin, and its paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import KFold, cross_val_score
from tests.reference import compare_svm as reference

import wellorder as wo
from wellorder.estimators import compare_solving
from wellorder.estimators.compare_solving import TieProblem
from wellorder.losses import LOSSES, TiedPairs
from wellorder.spaces import LinearSpace


def make(n=40, n_items=20, seed=0, noise=0.3, threshold=1.0):
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((n_items, 3))
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    z = (items[right] - items[left]) @ [1.0, -1.0, 0.3] + noise * rng.standard_normal(n)
    return items, left, right, np.where(np.abs(z) > threshold, np.sign(z), 0).astype(int)


@pytest.mark.parametrize("C", [0.3, 30.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "callable", "precomputed"])
def test_scores_are_libsvms_on_the_explicit_two_class_problem(kernel, C):
    items, left, right, y = make()
    k = linear_kernel if kernel == "linear" else lambda a, b: rbf_kernel(a, b, gamma=0.3)
    expected, beta = reference.svm_compare(k, items, left, right, y, C)
    assert beta < 0
    X = k(items, items) if kernel == "precomputed" else items
    model = wo.CompareSVM(C, kernel=k if kernel == "callable" else kernel, gamma=0.3, tol=1e-8)
    model.fit(wo.Pairs(X, left, right), y)
    assert model.bias_ == pytest.approx(beta, rel=1e-5)
    assert model.threshold_ == 1.0
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)
    listed = (left, right, y, np.ones(len(y)))
    if kernel == "linear":
        u = -beta * model.coef_
        value = 0.5 * u @ u + C * reference.risk_at("hinge", -beta * scores, *listed, beta)
        assert model.objective_ == pytest.approx(value, rel=1e-6)


def test_many_items_in_one_pair_each_give_the_same_kernel():
    rng = np.random.default_rng(1)
    items = rng.standard_normal((80, 2))
    left, right = np.arange(40), 40 + np.arange(40)
    y = rng.integers(-1, 2, 40)
    expected, _ = reference.svm_compare(lambda a, b: rbf_kernel(a, b, gamma=0.5), items, left, right, y, 5.0)
    model = wo.CompareSVM(5.0, kernel="rbf", gamma=0.5, tol=1e-8).fit(wo.Pairs(items, left, right), y)
    np.testing.assert_allclose(model.decision_function(items), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_smooth_losses_reach_the_minimum(loss, weighted):
    items, left, right, y = make(n=25, n_items=10)
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    model = wo.CompareSVM(2.0, loss=loss, tol=1e-10).fit(wo.Pairs(items, left, right), y, weight)

    def objective(at):
        return 0.5 * at[1:] @ at[1:] + 2.0 * reference.risk_at(loss, items @ at[1:], left, right, y, weight, at[0])

    best = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-7})
    assert model.objective_ == pytest.approx(best.fun, rel=1e-8)
    assert model.bias_ == pytest.approx(best.x[0], rel=1e-3)
    np.testing.assert_allclose(model.coef_, best.x[1:] / -best.x[0], rtol=1e-3)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_a_linear_kernel_by_another_name_gives_the_same_scores(loss):
    items, left, right, y = make()
    pairs = wo.Pairs(items, left, right)
    plain = wo.CompareSVM(loss=loss, tol=1e-6).fit(pairs, y)
    by_kernel = wo.CompareSVM(loss=loss, kernel=linear_kernel, tol=1e-6).fit(pairs, y)
    by_landmarks = wo.CompareSVM(loss=loss, kernel=linear_kernel, n_components=20, tol=1e-6).fit(pairs, y)
    for other in (by_kernel, by_landmarks):
        np.testing.assert_allclose(other.compare(pairs), plain.compare(pairs), rtol=5e-3, atol=2e-3)


def test_the_hinge_has_one_minimum_whichever_way_it_is_solved(monkeypatch):
    items, left, right, y = make(n=1500, n_items=300)
    pairs = wo.Pairs(items, left, right)
    by_interior = wo.CompareSVM().fit(pairs, y)
    monkeypatch.setattr(compare_solving, "_MOST_COLUMNS", 0)
    by_newton = wo.CompareSVM().fit(pairs, y)
    monkeypatch.setattr(compare_solving, "_MOST_FOR_LIBSVM", 10**9)
    by_libsvm = wo.CompareSVM(tol=1e-5).fit(pairs, y)
    assert len({model.n_iter_ for model in (by_interior, by_newton, by_libsvm)}) == 3
    spread = np.abs(by_libsvm.compare(pairs)).max()
    for model, accuracy in ((by_interior, 1e-5), (by_newton, 1e-3)):
        assert model.objective_ == pytest.approx(by_libsvm.objective_, rel=accuracy)
        np.testing.assert_allclose(model.compare(pairs), by_libsvm.compare(pairs), atol=0.01 * spread)


def test_many_comparisons_use_samples_and_reach_the_same_minimum(monkeypatch):
    items, left, right, y = make(n=40_000, n_items=500)
    pairs = wo.Pairs(items, left, right)
    quick = wo.CompareSVM(loss="squared_hinge", tol=1e-8).fit(pairs, y)
    monkeypatch.setattr(TieProblem, "sample", lambda self, size, rng: None)
    slow = wo.CompareSVM(loss="squared_hinge", tol=1e-8).fit(pairs, y)
    assert quick.n_iter_ < slow.n_iter_
    np.testing.assert_allclose(quick.coef_, slow.coef_, rtol=1e-4)


def test_a_sample_has_the_same_objective_on_average():
    items, left, right, y = make(n=20_000, n_items=500)
    order = np.argsort(y == 0, kind="stable")
    high, low = np.where(y >= 0, right, left)[order], np.where(y >= 0, left, right)[order]
    whole = TieProblem(
        LinearSpace(items), TiedPairs(high, low, np.ones(len(y)), np.count_nonzero(y), 500), LOSSES["logistic"], 2.0
    )
    sample = whole.sample(4000, np.random.default_rng(0))
    assert len(sample.pairs) == 4000
    w = np.array([2.0, -1.0, 0.5])
    values = [each.strength * each.risk(each.space.scores(w)).value for each in (whole, sample)]
    assert values[1] == pytest.approx(values[0], rel=0.05)
    assert whole.sample(150, np.random.default_rng(0)) is None


def separable(seed):
    """Comparisons by true scores, with nothing near the threshold."""
    items, left, right, _ = make(n=60, seed=seed, noise=0.0)
    z = (items[right] - items[left]) @ [1.0, -1.0, 0.3]
    clear = np.abs(np.abs(z) - 1.0) > 0.25
    y = np.where(np.abs(z) > 1, np.sign(z), 0).astype(int)
    return items, left[clear], right[clear], y[clear]


@pytest.mark.parametrize("seed", range(3))
def test_separable_comparisons_by_both_programmes(seed):
    items, left, right, y = separable(seed)
    pairs = wo.Pairs(items, left, right)
    lp = wo.CompareLP().fit(pairs, y)
    svm = wo.CompareSVM(1e7, tol=1e-6).fit(pairs, y)
    assert lp.separable_
    assert lp.margin_ == pytest.approx(reference.margin(lp.compare(pairs), y), abs=1e-9)
    # Venuto et al. (2014), Lemma 1: μ = −1/β and w = −u/β are feasible
    # for the programme (7), so that its best margin is no smaller
    assert reference.margin(svm.compare(pairs), y) == pytest.approx(-1 / svm.bias_, rel=1e-3)
    assert lp.margin_ >= -1 / svm.bias_ - 1e-6
    assert lp.score(pairs, y) == svm.score(pairs, y) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_in_one_dimension_both_programmes_are_one(seed):
    rng = np.random.default_rng(seed)
    items = rng.uniform(0, 10, (30, 1))
    left, right = np.arange(15), 15 + np.arange(15)
    z = (items[right] - items[left]).ravel()
    y = np.where(np.abs(z) > 3, np.sign(z), 0).astype(int)
    pairs = wo.Pairs(items, left, right)
    svm, lp = wo.CompareSVM(1e7, tol=1e-7).fit(pairs, y), wo.CompareLP().fit(pairs, y)
    assert -1 / svm.bias_ == pytest.approx(lp.margin_, rel=1e-4)
    np.testing.assert_allclose(svm.coef_, lp.coef_, rtol=1e-4)


def test_a_degenerate_model_says_so_and_still_predicts():
    items, left, right, y = make(n=60, threshold=0.3)
    assert np.count_nonzero(y) > 2 * np.count_nonzero(y == 0)
    pairs = wo.Pairs(items, left, right)
    with pytest.warns(UserWarning, match="degenerate.*Raise C"):
        model = wo.CompareSVM(1e-5).fit(pairs, y)
    assert model.bias_ == pytest.approx(1.0, abs=1e-2)
    assert model.threshold_ in (0.0, 1.0)
    d, told = model.compare(pairs), model.predict(pairs)
    errors = [reference.threshold_errors(d, y, np.ones(len(y)), tau) for tau in np.append(0.0, np.abs(d))]
    assert np.count_nonzero(told != y) == min(errors)


def test_without_ties_it_is_a_rank_svm():
    items, left, right, y = make()
    left, right, y = left[y != 0], right[y != 0], y[y != 0]
    for loss in ("hinge", "squared_hinge", "logistic"):
        ranker = wo.RankSVM(3.0, loss=loss, tol=1e-8).fit(items, wo.Comparisons(left, right, y))
        model = wo.CompareSVM(3.0, loss=loss, tol=1e-8).fit(wo.Pairs(items, left, right), y)
        np.testing.assert_allclose(model.coef_, ranker.coef_, rtol=1e-4)
        assert (model.bias_, model.threshold_) == (0.0, 0.0)


def test_scale_makes_units_irrelevant():
    items, left, right, y = make()
    units = np.array([1e3, 1e-2, 7.0])
    for kernel in ("linear", "rbf"):
        plain = wo.CompareSVM(kernel=kernel, scale=True, tol=1e-7).fit(wo.Pairs(items, left, right), y)
        other = wo.CompareSVM(kernel=kernel, scale=True, tol=1e-7).fit(wo.Pairs(items * units + 5, left, right), y)
        np.testing.assert_allclose(
            other.compare(wo.Pairs(items * units + 5, left, right)),
            plain.compare(wo.Pairs(items, left, right)),
            atol=1e-4,
        )


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-9, 1e6 + 0.1])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_a_constant_column_is_not_blown_up(value, form):
    items, left, right, y = make()
    more = np.column_stack([items, np.full(len(items), value)])
    model = wo.CompareSVM(loss="squared_hinge", scale=True).fit(wo.Pairs(form(more), left, right), y)
    assert model.item_scale_[3] == 1.0
    elsewhere = more.copy()
    elsewhere[:, 3] *= 1.001
    np.testing.assert_allclose(
        model.decision_function(form(elsewhere)), model.decision_function(form(more)), atol=1e-6 + 1e-6 * value
    )


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_items_of_any_kind_are_scaled(form, kernel):
    items, left, right, y = make()
    model = wo.CompareSVM(kernel=kernel, scale=True)
    expected = model.fit(wo.Pairs(sp.csr_array(items), left, right), y).compare(wo.Pairs(items, left, right))
    pairs = wo.Pairs(form(items), left, right)
    np.testing.assert_allclose(model.fit(pairs, y).compare(pairs), expected, atol=1e-9)


@pytest.mark.filterwarnings("ignore:stopped after:sklearn.exceptions.ConvergenceWarning")
def test_numbers_beyond_libsvm_are_solved_or_named():
    items, left, right, y = make()
    huge = wo.Pairs(1e100 * items, left, right)
    assert wo.CompareSVM(max_iter=3).fit(huge, y).score(huge, y) > 0.75
    with pytest.raises(ValueError, match=r"libsvm finds no finite solution.*scale=True"):
        wo.CompareSVM(kernel="poly", degree=1, gamma=1.0).fit(wo.Pairs(1e40 * items, left, right), y)
    for loss in ("hinge", "squared_hinge"):
        with pytest.raises(ValueError, match="divide the weights by a common factor"):
            wo.CompareSVM(loss=loss).fit(wo.Pairs(items, left, right), y, np.full(len(y), 1e300))


@pytest.mark.parametrize("model", [wo.CompareSVM(), wo.CompareLP(1.0, alpha=0.01)])
def test_a_precomputed_kernel_goes_through_cross_validation(model):
    items, left, right, y = make()
    K = rbf_kernel(items, gamma=0.3)
    found = cross_val_score(clone(model).set_params(kernel="precomputed"), wo.Pairs(K, left, right), y, cv=KFold(3))
    same = cross_val_score(
        clone(model).set_params(kernel="rbf", gamma=0.3), wo.Pairs(items, left, right), y, cv=KFold(3)
    )
    np.testing.assert_allclose(found, same, atol=0.08)


@pytest.mark.filterwarnings("ignore:the model is degenerate")
def test_columns_that_libsvm_cannot_end_with_are_solved_or_named(monkeypatch):
    items, left, right, y = make()
    large = wo.Pairs(1e3 * items, left, right)
    assert wo.CompareSVM().fit(large, y).score(large, y) > 0.8  # linear scores: by Newton's method
    monkeypatch.setattr("wellorder.estimators.compare_solving._MOST_LIBSVM_STEPS", 2_000)
    with pytest.warns(ConvergenceWarning, match="scale=True"):
        wo.CompareSVM(kernel="poly", gamma=1.0).fit(large, y)
    assert wo.CompareSVM(kernel="rbf", scale=True).fit(large, y).threshold_ == 1.0


def test_refit_with_other_parameters_leaves_nothing_behind():
    items, left, right, y = make()
    pairs = wo.Pairs(items, left, right)
    model = wo.CompareSVM(kernel="rbf", scale=True, probability=True).fit(pairs, y)
    model.set_params(kernel="linear", scale=False, probability=False).fit(pairs, y)
    fresh = wo.CompareSVM().fit(pairs, y)
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.compare(pairs), fresh.compare(pairs))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C must be"),
        ({"loss": "exponential"}, "loss='exponential' is not known"),
        ({"kernel": "cosine"}, "kernel='cosine' is not known"),
        ({"kernel": "precomputed", "scale": True}, "set scale=False"),
        ({"kernel": "rbf", "gamma": -1}, "gamma must be"),
        ({"n_components": 0}, "n_components must be"),
    ],
)
def test_bad_parameters_are_named(params, message):
    items, left, right, y = make()
    K = linear_kernel(items)
    with pytest.raises(ValueError, match=message):
        wo.CompareSVM(**params).fit(wo.Pairs(K, left, right), y)


def test_a_kernel_that_does_not_fit_into_memory_is_refused_with_advice(monkeypatch):
    monkeypatch.setattr("wellorder.estimators.compare_solving.available_bytes", lambda: 1e8)
    items, left, right, y = make()
    with pytest.raises(MemoryError, match="n_components=1000"):
        wo.CompareSVM(kernel="rbf").fit(wo.Pairs(items, left, right), y)


def test_probabilities_are_symmetric_calibrated_and_asked_for():
    rng = np.random.default_rng(3)
    items = rng.standard_normal((400, 2))
    left, right = rng.integers(0, 200, 4000), rng.integers(200, 400, 4000)
    noise = rng.logistic(size=4000)
    z = (items[right] - items[left]) @ [2.0, -1.0] + noise
    y = np.where(np.abs(z) > 1.5, np.sign(z), 0).astype(int)
    train, test = wo.Pairs(items, left, right)[:2000], wo.Pairs(items, left, right)[2000:]
    plain = wo.CompareSVM(loss="logistic").fit(train, y[:2000])
    assert not hasattr(plain, "predict_proba")
    assert not hasattr(clone(plain).fit(train, y[:2000]).set_params(probability=True), "predict_proba")
    assert hasattr(wo.CompareSVM(probability=True), "predict_proba")
    model = wo.CompareSVM(loss="logistic", probability=True).fit(train, y[:2000])
    np.testing.assert_array_equal(model.compare(test), plain.compare(test))
    P = model.predict_proba(test)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict_proba(wo.Pairs(items, test.right, test.left)), P[:, ::-1])
    for outcome in (-1, 0, 1):
        predicted, observed, weight = wo.metrics.comparison_reliability(y[2000:], P, outcome=outcome, n_bins=5)
        assert np.average(np.abs(predicted - observed), weights=weight) < 0.04
    shares = np.bincount(y[:2000] + 1) / 2000
    assert wo.metrics.comparison_log_loss(y[2000:], P) < 0.85 * wo.metrics.comparison_log_loss(
        y[2000:], np.tile(shares, (2000, 1))
    )
