"""One suite over the registry of losses: a new loss joins by entering it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.optimize import minimize
from sklearn.base import clone
from tests.reference import pairs as reference
from tests.strategies import cases

import wellorder as wo
from wellorder.losses import LOSSES, PairLoss, dense_hessian, risk_at
from wellorder.order import ListedPairs

both_forms = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def close(actual, expected, scale):
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9 * max(1.0, scale))


def random_grades(rng, n=40, **options):
    return wo.Grades(rng.integers(0, 4, n), rng.integers(0, 3, n), **options)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_has_its_obvious_formula(name):
    for table in (reference.LOSSES, reference.SLOPES, reference.CURVATURES):
        assert name in table, "write the slow, obvious loss, slope and curvature into tests/reference/pairs.py first"


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("balance", ["pairs", "groups"])
@given(case=cases(two_weights=True))
@both_forms
def test_equals_the_sum_over_every_pair(name, balance, form, cell_form, case):
    pairs = case.grades.balanced(balance)
    listed = case.listed
    if balance == "groups":
        listed = reference.balance(listed, case.group)
    risk = risk_at(LOSSES[name], case.scores, pairs)
    hessian = reference.hessian(name, listed, case.scores)
    direction = np.cos(np.arange(len(case.scores)))
    size = np.abs(hessian).sum()
    if name == "smooth_hinge":  # the difference of two sums, each as large as the squared hinge's
        size += np.abs(reference.hessian("squared_hinge", listed, case.scores)).sum()
    assert pairs.n_pairs == len(listed)
    close(pairs.total, sum(w for _, _, w in listed), 1.0)
    close(risk.value, reference.risk(name, listed, case.scores), size)
    close(risk.gradient, reference.gradient(name, listed, case.scores), size)
    close(risk.hessian_diagonal(), hessian.diagonal(), size)
    close(risk.hessian_product(direction), hessian @ direction, size)
    if not np.isnan(risk.slope):
        close(risk.slope, sum(w * reference.SLOPES[name](case.scores[i] - case.scores[j]) for i, j, w in listed), size)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_a_difference_of_exactly_the_margin_is_enough(name, seed, form):
    """Scores in quarters meet every corner of a loss exactly; a row on it is outside, as the obvious formula says."""
    rng = np.random.default_rng(seed)
    y, s, u = rng.integers(0, 3, 30), rng.integers(0, 9, 30) / 4.0, rng.standard_normal(30)
    pairs = wo.Grades(y).pairs
    listed = reference.list_pairs(y, np.zeros(30), np.ones(30), np.triu(np.ones((3, 3)), 1))
    assert any(s[i] - s[j] == 1.0 for i, j, _ in listed)
    high, low, weight = map(np.array, zip(*listed, strict=True))
    hessian, slope = reference.hessian(name, listed, s), reference.gradient(name, listed, s)
    for each in (pairs, ListedPairs(high, low, weight, 30, 30.0)):
        risk = risk_at(LOSSES[name], s, each)
        close(risk.value, reference.risk(name, listed, s), 100.0)
        close(risk.gradient, slope, 100.0)
        close(risk.hessian_product(u), hessian @ u, 100.0)
        close(risk.hessian_diagonal(), hessian.diagonal(), 100.0)


@pytest.mark.parametrize("name", LOSSES)
def test_a_ranker_with_the_loss_finds_its_minimum(name):
    """The solver that is chosen for a loss is one that can minimise it."""
    rng = np.random.default_rng(10)
    X = rng.standard_normal((40, 3))
    y = np.digitize(X @ [1.0, -0.5, 0.2] + 0.5 * rng.standard_normal(40), [-0.7, 0.7])
    model = wo.RankSVM(loss=name, tol=1e-8).fit(X, y)
    listed = reference.list_pairs(y, np.zeros(40), np.ones(40), np.triu(np.ones((3, 3)), 1))
    share = 40 / len(listed)

    def objective(w):
        return 0.5 * w @ w + share * reference.risk(name, listed, X @ w)

    assert model.objective_ == pytest.approx(objective(model.coef_), rel=1e-9)
    found = minimize(objective, model.coef_, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10})
    assert objective(model.coef_) <= found.fun * (1 + 1e-7)


@pytest.mark.parametrize("name", LOSSES)
def test_visiting_every_pair_is_what_a_loss_with_a_shortcut_equals(name):
    """``derivatives`` alone makes a loss: the way around the pairs changes nothing."""
    rng = np.random.default_rng(11)
    s, u, grades = rng.standard_normal(40), rng.standard_normal(40), random_grades(rng, order="linear")
    quick, slow = risk_at(LOSSES[name], s, grades.pairs), PairLoss.graded(LOSSES[name], s, grades.pairs)
    assert slow.value == pytest.approx(quick.value)
    np.testing.assert_allclose(slow.gradient, quick.gradient, atol=1e-9)
    np.testing.assert_allclose(slow.hessian_diagonal(), quick.hessian_diagonal(), atol=1e-9)
    np.testing.assert_allclose(slow.hessian_product(u), quick.hessian_product(u), atol=1e-9)
    high, low, weight = map(
        np.array, zip(*reference.list_pairs(grades.level, grades.group, np.ones(40), grades.graph.weights), strict=True)
    )
    slopes = float(weight @ LOSSES[name].derivatives(s[high] - s[low])[1])
    assert slow.slope == pytest.approx(slopes)
    assert np.isnan(quick.slope) or quick.slope == pytest.approx(slopes)  # a shortcut need not know it


class Own:
    """log(1 + e^{−d}), as somebody else would write it."""

    def derivatives(self, d):
        wrong = 1.0 / (1.0 + np.exp(d))
        return np.log1p(np.exp(-d)), -wrong, wrong * (1.0 - wrong)


@pytest.mark.parametrize("model", [wo.RankSVM(), wo.RankSVM(kernel="rbf"), wo.OrderBoost(n_estimators=5)], ids=repr)
def test_a_loss_of_ones_own(model):
    rng = np.random.default_rng(12)
    X = rng.standard_normal((50, 3))
    y = np.round(X[:, 0] + 0.3 * rng.standard_normal(50))
    own, known = (clone(model).set_params(loss=loss).fit(X, y).decision_function(X) for loss in (Own(), "logistic"))
    np.testing.assert_allclose(own, known, rtol=1e-6)
    assert clone(clone(model).set_params(loss=Own())).fit(X, y).score(X, y) > 0.8


def own(derivatives):
    return type("Mine", (), {"derivatives": staticmethod(derivatives)})()


@pytest.mark.parametrize(
    ("derivatives", "message"),
    [
        (lambda d: (d, d), "must return three arrays"),
        (lambda d: (0.0, -1.0, 0.0), "arrays of the shapes"),
        (lambda d: (np.log(1 - d), -1 / (1 - d), d * 0), "is not finite between -3 and 3"),
        (lambda d: ((1 - d) ** 2, 2 * (d - 1) - 1, 2 + 0 * d), "is not that of its loss"),
        (lambda d: (np.logaddexp(0, d), 1 / (1 + np.exp(-d)), 0 * d), "turn it round"),
        (lambda d: (1 / (1 + np.exp(d)), -np.exp(d) / (1 + np.exp(d)) ** 2, 0 * d), "is not convex"),
    ],
    ids=["two parts", "numbers", "not finite", "slope", "upside down", "not convex"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_loss_is_blamed_and_not_the_data(derivatives, message):
    with pytest.raises(ValueError, match=message):
        wo.RankSVM(loss=own(derivatives)).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("loss", ["hings", Own, object(), 3], ids=["name", "class", "object", "number"])
@pytest.mark.parametrize("cls", [wo.RankSVM, wo.OrderBoost])
def test_what_is_no_loss_is_refused_with_what_would_be_one(cls, loss):
    with pytest.raises(ValueError, match=r"is not known; use one of .*squared_hinge"):
        cls(loss=loss).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_and_hessian_are_derivatives(name, form):
    rng = np.random.default_rng(1)
    pairs = random_grades(rng, order="linear").pairs
    s, u, step = rng.standard_normal(40), rng.standard_normal(40), 1e-6
    ahead, behind = (risk_at(LOSSES[name], s + sign * step * u, pairs) for sign in (1, -1))
    here = risk_at(LOSSES[name], s, pairs)
    assert (ahead.value - behind.value) / (2 * step) == pytest.approx(here.gradient @ u, rel=1e-6)
    np.testing.assert_allclose(
        (ahead.gradient - behind.gradient) / (2 * step), here.hessian_product(u), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("name", LOSSES)
def test_weight_two_is_the_row_twice(name, form):
    rng = np.random.default_rng(2)
    y, g, s = rng.integers(0, 4, 30), rng.integers(0, 3, 30), rng.standard_normal(30)
    times = rng.integers(0, 4, 30)
    weighted = wo.Grades(y, g, weights=times.astype(float)).pairs
    repeated = wo.Grades(np.repeat(y, times), np.repeat(g, times)).pairs
    assert weighted.mass == repeated.mass
    assert weighted.total == repeated.total
    a = risk_at(LOSSES[name], s, weighted)
    b = risk_at(LOSSES[name], np.repeat(s, times), repeated)
    assert a.value == pytest.approx(b.value, rel=1e-12)
    by_row = np.bincount(np.repeat(np.arange(30), times), b.gradient, minlength=30)
    np.testing.assert_allclose(a.gradient, by_row, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("shift", [1e3, -1e8])
def test_a_shift_of_a_group_changes_nothing(name, shift, form):
    rng = np.random.default_rng(3)
    grades = random_grades(rng)
    s = np.round(rng.standard_normal(40), 6)
    shifted = s + np.where(grades.group == 1, shift, 0.0)
    a, b = (risk_at(LOSSES[name], scores, grades.pairs) for scores in (s, shifted))
    assert b.value == pytest.approx(a.value, rel=1e-7)
    np.testing.assert_allclose(b.gradient, a.gradient, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_permuting_rows_permutes_the_gradient(name, form):
    rng = np.random.default_rng(4)
    y, g, s = rng.integers(0, 4, 50), rng.integers(0, 3, 50), rng.standard_normal(50)
    place = rng.permutation(50)
    a = risk_at(LOSSES[name], s, wo.Grades(y, g).pairs)
    b = risk_at(LOSSES[name], s[place], wo.Grades(y[place], g[place]).pairs)
    assert b.value == pytest.approx(a.value, rel=1e-12)
    np.testing.assert_allclose(b.gradient, a.gradient[place], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_listed_pairs_give_the_same(name):
    rng = np.random.default_rng(5)
    grades = random_grades(rng)
    s, u = rng.standard_normal(40), rng.standard_normal(40)
    listed = reference.list_pairs(grades.level, grades.group, np.ones(40), grades.graph.weights)
    high, low, weight = map(np.array, zip(*listed, strict=True))
    a = risk_at(LOSSES[name], s, grades.pairs)
    b = risk_at(LOSSES[name], s, ListedPairs(high, low, weight, 40, 40.0))
    assert b.value == pytest.approx(a.value)
    np.testing.assert_allclose(b.gradient, a.gradient, atol=1e-9)
    np.testing.assert_allclose(b.hessian_diagonal(), a.hessian_diagonal(), atol=1e-9)
    np.testing.assert_allclose(b.hessian_product(u), a.hessian_product(u), atol=1e-9)
    assert b.slope == pytest.approx(float(weight @ LOSSES[name].derivatives(s[high] - s[low])[1]))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("options", [{}, {"order": "dcg", "weights": np.arange(40.0)}])
def test_the_dense_hessian_is_the_matrix_of_its_products(name, options, cell_form):
    rng = np.random.default_rng(8)
    s, pairs = rng.standard_normal(40), random_grades(rng, **options).pairs
    risk = risk_at(LOSSES[name], s, pairs)
    columns = [risk.hessian_product(unit) for unit in np.eye(40)]
    dense = dense_hessian(LOSSES[name], s, pairs)
    np.testing.assert_allclose(dense, np.column_stack(columns), rtol=1e-9, atol=1e-9 * np.abs(dense).max())


@pytest.mark.parametrize("name", ["squared_hinge", "exponential"])
@pytest.mark.parametrize("n_levels", [5, 100_000])
def test_both_forms_agree_on_large_data(name, n_levels, monkeypatch):
    from wellorder.sweeps import dispatch

    rng = np.random.default_rng(6)
    n = 100_000  # 5·10⁹ pairs
    y, s, u = rng.integers(0, n_levels, n), 2 * rng.standard_normal(n), rng.standard_normal(n)
    risks = []
    for first_compiled in (0, 10**12):
        monkeypatch.setattr(dispatch, "COMPILED_FROM", first_compiled)
        risks.append(risk_at(LOSSES[name], s, wo.Grades(y).pairs))
    assert risks[0].value == pytest.approx(risks[1].value, rel=1e-12)
    for part in ("gradient",):
        a, b = (getattr(risk, part) for risk in risks)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(a).max())
    a, b = (risk.hessian_product(u) for risk in risks)
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(a).max())


def test_huge_scores_of_one_group_leave_the_others_alone(form):
    y, group = np.array([0, 1, 2, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
    calm = np.array([0.0, 0.1, 0.2, 0.3, 0.55, 0.1])
    wild = calm + np.array([-1e15, 3e15, 1e17, 0.0, 0.0, 0.0])
    pairs = wo.Grades(y, group, weights=[3, 1, 2, 1, 1, 1]).pairs
    a, b = (risk_at(LOSSES["squared_hinge"], s, pairs) for s in (calm, wild))
    np.testing.assert_allclose(b.gradient[3:], a.gradient[3:], rtol=1e-12)
    assert not b.gradient[:3].any()  # far beyond the margin, in the right order


@pytest.mark.parametrize("name", LOSSES)
def test_costs_of_a_group_far_up_the_scale_keep_their_digits(name, form, cell_form):
    rng = np.random.default_rng(9)
    low, group, s = rng.integers(0, 4, 40), np.arange(40) % 2, rng.standard_normal(40)
    near = risk_at(LOSSES[name], s, wo.Grades(low, group, "linear").pairs)
    far = risk_at(LOSSES[name], s, wo.Grades(low + group * 10.0**14, group, "linear").pairs)
    assert far.value == pytest.approx(near.value, rel=1e-12)
    np.testing.assert_allclose(far.gradient, near.gradient, rtol=1e-9, atol=1e-9)


def test_exponential_survives_any_score():
    pairs = wo.Grades([0, 1, 2]).pairs
    right = risk_at(LOSSES["exponential"], np.array([-1e300, 0.0, 1e300]), pairs)
    assert right.value == 0.0
    assert np.isfinite(right.gradient).all()
    wrong = risk_at(LOSSES["exponential"], np.array([2e3, 0.0, -2e3]), pairs)
    assert wrong.value == np.inf


def test_logistic_refuses_large_groups_with_advice():
    y = np.arange(20_001) % 2
    with pytest.raises(ValueError, match=r"20,001 rows.*squared_hinge"):
        risk_at(LOSSES["logistic"], np.zeros(len(y)), wo.Grades(y).pairs)


def test_logistic_compiled_equals_plain_over_many_links(monkeypatch):
    from wellorder.sweeps import dispatch

    rng = np.random.default_rng(7)
    n = 2_000
    y, s, u = rng.standard_normal(n), rng.standard_normal(n), rng.standard_normal(n)
    pairs = wo.Grades(y, rng.integers(0, 2, n), "linear").pairs
    results = []
    for first_compiled in (0, 10**12):
        monkeypatch.setattr(dispatch, "COMPILED_FROM", first_compiled)
        risk = risk_at(LOSSES["logistic"], s, pairs)
        results.append((risk.value, risk.gradient, risk.hessian_product(u)))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-7)
