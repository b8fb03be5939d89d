"""CompareLP: separability as an answer, slack, and a kernel; and ThresholdCompare's two baselines."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from tests.reference import compare_svm as reference

import wellorder as wo
from wellorder.losses import best_threshold

LINE = np.array([[0.0], [1.0], [5.0], [9.0]])


def make(seed, n=40, noise=0.5):
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((20, 3))
    left = rng.integers(0, 20, n)
    right = (left + rng.integers(1, 20, n)) % 20
    z = (items[right] - items[left]) @ [1.0, -1.0, 0.3] + noise * rng.standard_normal(n)
    return items, left, right, np.where(np.abs(z) > 1, np.sign(z), 0).astype(int)


def by_cvxpy(D, y, weight=None, C=None, alpha=0.0):
    """The programme (7) of Venuto et al. (2014) as it is printed, with slack where C is given."""
    w, mu, slack = cp.Variable(D.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    tie = y == 0
    rules = [mu >= 0, mu <= 1]
    rules.append(mu <= 1 - cp.abs(D[tie] @ w) + slack[tie])
    rules.append(mu <= -1 + cp.multiply(D[~tie] @ w, y[~tie]) + slack[~tie])
    if C is None:
        rules.append(slack == 0)
    cost = (C or 0.0) * ((np.ones(len(y)) if weight is None else weight) @ slack) + alpha * cp.norm1(w)
    problem = cp.Problem(cp.Maximize(mu - cost), rules)
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("seed", range(4))
def test_the_margin_is_the_programmes(seed):
    items, left, right, y = make(seed, n=12, noise=0.0)
    D = items[right] - items[left]
    pairs = wo.Pairs(items * [1e4, 1.0, 1e-3], left, right)  # units do not matter
    model = wo.CompareLP().fit(pairs, y)
    expected = by_cvxpy(D, y)
    assert model.separable_
    assert (y == 0).any()
    assert model.margin_ == pytest.approx(expected, rel=1e-5)
    assert reference.margin(model.compare(pairs), y) == pytest.approx(model.margin_, rel=1e-6)


@pytest.mark.parametrize("C", [0.02, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_slack_is_the_programmes(C, alpha):
    items, left, right, y = make(0)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    model = wo.CompareLP(C, alpha=alpha).fit(wo.Pairs(items, left, right), y, weight)
    expected = by_cvxpy(items[right] - items[left], y, weight, C, alpha)
    assert model.objective_ == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert not model.separable_
    assert model.margin_ == 0.0


def test_not_separable_is_an_answer_and_then_there_is_no_direction():
    items, left, right, y = make(0)
    model = wo.CompareLP().fit(wo.Pairs(items, left, right), y)
    assert (model.separable_, model.margin_) == (False, 0.0)
    with pytest.raises(ValueError, match=r"not linearly separable.*C=1"):
        model.predict(wo.Pairs(items, left, right))
    again = model.set_params(C=1.0).fit(wo.Pairs(items, left, right), y)
    assert again.score(wo.Pairs(items, left, right), y) > 0.6


def test_a_margin_of_zero_is_not_separable():
    # a tie of size 1 and a difference of size 1: both on the threshold
    model = wo.CompareLP().fit(LINE, wo.Comparisons([0, 1], [1, 0], [0, -1]))
    assert (model.separable_, model.margin_) == (False, 0.0)


def test_contradictions_are_not_separable():
    for outcomes in ([1, -1], [1, -1, 0]):
        model = wo.CompareLP().fit(LINE, wo.Comparisons([0] * len(outcomes), [1] * len(outcomes), outcomes))
        assert not model.separable_


def test_without_ties_any_direction_that_fits_has_an_infinite_margin():
    model = wo.CompareLP().fit(LINE, wo.Comparisons([0, 3], [1, 2], [1, -1]))
    assert (model.separable_, model.margin_, model.threshold_) == (True, np.inf, 0.0)
    assert model.predict(wo.Pairs(LINE, [0, 1], [3, 0])).tolist() == [1, -1]
    assert not wo.CompareLP().fit(LINE, wo.Comparisons([0, 3], [1, 2], [1, 1])).separable_
    torn = wo.CompareLP(C=1.0).fit(LINE, wo.Comparisons([0, 0, 3], [1, 2, 2], [1, 1, 1]))
    assert torn.predict(wo.Pairs(LINE, [0], [1])).tolist() == [1]


def test_an_infinite_margin_goes_into_a_file(tmp_path):
    model = wo.CompareLP().fit(LINE, wo.Comparisons([0], [1], [1]))
    wo.save(model, tmp_path / "model.wo")
    assert wo.load(tmp_path / "model.wo").margin_ == np.inf
    wo.save(wo.CompareLP().fit(LINE, wo.Comparisons([0, 0], [1, 1], [1, -1])), tmp_path / "none.wo")
    with pytest.raises(ValueError, match="not linearly separable"):
        wo.load(tmp_path / "none.wo").decision_function(LINE)


def test_a_kernel_learns_what_no_line_can():
    rng = np.random.default_rng(0)
    items = rng.uniform(-2, 2, (60, 2))
    left, right = np.arange(30), 30 + np.arange(30)
    r = (items**2).sum(axis=1)
    z = r[right] - r[left]
    y = np.where(np.abs(z) > 1, np.sign(z), 0).astype(int)
    pairs = wo.Pairs(items, left, right)
    model = wo.CompareLP(C=1.0, alpha=0.01, kernel="rbf", gamma=0.3).fit(pairs, y)
    assert model.score(pairs, y) > 0.95 > wo.CompareLP(C=1.0).fit(pairs, y).score(pairs, y) + 0.2
    assert len(model.support_) < 30
    from sklearn.metrics.pairwise import rbf_kernel

    K = rbf_kernel(items, gamma=0.3)
    assert model.objective_ == pytest.approx(by_cvxpy(K[right] - K[left], y, None, 1.0, 0.01), rel=1e-4)
    same = wo.CompareLP(C=1.0, alpha=0.01, kernel="precomputed").fit(wo.Pairs(K, left, right), y)
    assert same.objective_ == pytest.approx(model.objective_, rel=1e-6)


@pytest.mark.parametrize("params", [{"kernel": "rbf"}, {"alpha": 0.1}, {"kernel": "rbf", "C": 1.0}])
def test_a_kernel_needs_slack_and_a_norm(params):
    with pytest.raises(ValueError, match=r"C=1\.0 and alpha=0\.01"):
        wo.CompareLP(**params).fit(LINE, wo.Comparisons([0], [1], [1]))


@pytest.mark.parametrize("ties", ["drop", "both"])
def test_baselines_are_a_ranker_on_the_pairs_of_table_2(ties):
    items, left, right, y = make(3)
    low = [a if o == 1 else b for a, b, o in zip(left, right, y, strict=True) if o]
    high = [b if o == 1 else a for a, b, o in zip(left, right, y, strict=True) if o]
    if ties == "both":
        low, high = 2 * low, 2 * high
        for a, b, outcome in zip(left, right, y, strict=True):
            if outcome == 0:
                low, high = [*low, a, b], [*high, b, a]
    ranker = wo.RankSVM(2.0, tol=1e-9).fit(items, wo.Comparisons(low, high, np.ones(len(low), int)))
    pairs = wo.Pairs(items, left, right)
    model = wo.ThresholdCompare(wo.RankSVM(2.0, tol=1e-9), ties=ties).fit(pairs, y)
    np.testing.assert_allclose(model.decision_function(items), ranker.decision_function(items), atol=1e-4)
    d = model.compare(pairs)
    errors = [reference.threshold_errors(d, y, np.ones(len(y)), tau) for tau in np.append(0, np.abs(d))]
    assert 1 - model.score(pairs, y) == pytest.approx(min(errors) / len(y))


def test_threshold_compare_refuses_unknown_ways_with_ties():
    with pytest.raises(ValueError, match="ties='half' is not known"):
        wo.ThresholdCompare(ties="half").fit(LINE, wo.Comparisons([0], [1], [1]))


@pytest.mark.parametrize("alpha", [0.0, 0.01])
@pytest.mark.parametrize("weight", [1e-300, 1e-12, 1e12, 1e300])
def test_weights_of_any_size_are_relative_to_the_cost(weight, alpha):
    items, left, right, y = make(0)
    pairs, apart = wo.Pairs(items, left, right), np.random.default_rng(1).uniform(0.5, 2, len(y))
    expected = wo.CompareLP(C=1.0, alpha=alpha).fit(pairs, y, apart)
    found = wo.CompareLP(C=1.0 / weight, alpha=alpha).fit(pairs, y, apart * weight)
    assert found.coef_ == pytest.approx(expected.coef_, rel=1e-6)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)


@pytest.mark.parametrize(("C", "margin"), [(1e-300, 1.0), (1e-12, 1.0), (1e12, 0.0), (1e300, 0.0)])
def test_slacks_that_cost_next_to_nothing_or_more_than_all_are_as_small_as_can_be(C, margin):
    # so small, the margin is 1 whatever it costs; so large, the slacks come first
    items, left, right, y = make(0)
    D, apart = items[right] - items[left], np.random.default_rng(1).uniform(0.5, 2, len(y))
    model = wo.CompareLP(C=C).fit(wo.Pairs(items, left, right), y, apart)
    d = D @ model.coef_
    slack = np.maximum(margin - np.where(y == 0, 1.0 - np.abs(d), y * d - 1.0), 0.0)
    w = cp.Variable(D.shape[1])
    room = cp.hstack([1 - cp.abs(D[y == 0] @ w), cp.multiply(D[y != 0] @ w, y[y != 0]) - 1])
    weight = np.concatenate([apart[y == 0], apart[y != 0]])
    least = cp.Problem(cp.Minimize(weight @ cp.pos(margin - room))).solve(solver=cp.CLARABEL)
    assert apart @ slack == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("weight", [1e-300, 1.0, 1e300, 1e308])
def test_the_threshold_does_not_hang_on_a_common_factor(weight):
    d, y = np.array([3.0, -1.0, 0.5, -2.0, 0.2]), np.array([1, 0, 0, -1, 1])
    assert best_threshold(d, y, np.full(5, weight)) == best_threshold(d, y) == 1.5
