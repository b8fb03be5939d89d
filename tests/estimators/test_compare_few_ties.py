"""Comparisons with few ties beside noise: the two-class pairs are degenerate, and what is left must still be of use."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.estimators.compare_svm import unseen_differences
from wellorder.losses import TiedPairs

LOSSES = ("hinge", "squared_hinge", "logistic")


def make(n, threshold, seed=0, n_items=200):
    """Comparisons by scores and logistic noise; differences of less than the threshold are ties."""
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((n_items, 3))
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    z = (items[right] - items[left]) @ [2.0, -1.0, 0.5] + rng.logistic(size=n)
    return wo.Pairs(items, left, right), np.where(np.abs(z) > threshold, np.sign(z), 0).astype(int)


@pytest.mark.parametrize(("n", "kernel"), [(600, "linear"), (3000, "linear"), (400, "rbf")])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_a_degenerate_hinge_ranks_as_well_as_a_ranker(n, kernel, C):
    pairs, y = make(n + 1000, 0.2)
    train, test = slice(n), slice(n, None)
    assert 0 < np.count_nonzero(y[train] == 0) < 0.1 * n
    with pytest.warns(UserWarning, match="degenerate.*ThresholdCompare"):
        model = wo.CompareSVM(C, kernel=kernel, gamma=0.1).fit(pairs[train], y[train])
    ranker = wo.ThresholdCompare(wo.RankSVM(C, loss="hinge", kernel=kernel, gamma=0.1)).fit(pairs[train], y[train])
    assert model.bias_ > 0
    assert model.score(pairs[test], y[test]) > ranker.score(pairs[test], y[test]) - 0.02 > 0.7
    # at u = 0 and β = 1 each direction of a tie costs 2: the two-class pairs have no better solution
    assert model.objective_ == pytest.approx(4 * C * np.count_nonzero(y[train] == 0), rel=1e-2)


@pytest.mark.parametrize("scale", [False, True])
def test_nobody_is_told_to_scale_who_has_done_so(scale):
    pairs, y = make(600, 0.2)
    with pytest.warns(UserWarning, match="degenerate") as caught:
        wo.CompareSVM(scale=scale).fit(pairs, y)
    assert ["scale=True" in str(warning.message) for warning in caught] == [not scale]
    with pytest.warns(UserWarning, match="every training pair a tie") as caught:
        wo.CompareSVM(1e-7, loss="squared_hinge", scale=scale).fit(*make(600, 3.0))
    assert ["scale=True" in str(warning.message) for warning in caught] == [not scale]


@pytest.mark.filterwarnings("ignore:the model is degenerate")
@pytest.mark.parametrize("threshold", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("loss", LOSSES)
def test_probabilities_are_of_use_where_ties_are_few(loss, threshold):
    pairs, y = make(3000, threshold)
    train, test = slice(1000), slice(1000, None)
    assert 0 < np.count_nonzero(y[train] == 0) < 130
    P = wo.CompareSVM(loss=loss, probability=True).fit(pairs[train], y[train]).predict_proba(pairs[test])
    best = wo.CompareSVM(10.0, loss="logistic", probability=True).fit(pairs[test], y[test]).predict_proba(pairs[test])
    assert wo.metrics.comparison_log_loss(y[test], P) < wo.metrics.comparison_log_loss(y[test], best) + 0.03
    for outcome in (-1, 0, 1):
        predicted, observed, weight = wo.metrics.comparison_reliability(y[test], P, outcome=outcome, n_bins=5)
        assert np.average(np.abs(predicted - observed), weights=weight) < 0.04


class _Sized:
    """A model whose scores are right, and of a size that depends on how much it was fitted on."""

    def get_params(self, deep=True):
        return {}

    def fit(self, items, comparisons):
        self.factor = 10.0 ** (len(comparisons) % 4)
        return self

    def decision_function(self, items):
        return self.factor * items[:, 0]


def test_differences_of_all_folds_have_one_size():
    rng = np.random.default_rng(0)
    items = rng.standard_normal((30, 1))
    low, high = np.arange(0, 15), np.arange(15, 30)
    pairs = TiedPairs(high, low, np.ones(15), 11, 30)
    d, known = unseen_differences(_Sized(), items, pairs, 2.0)
    assert known.all()
    expected = pairs.differences(items[:, 0])
    np.testing.assert_allclose(d, 2.0 * expected / np.sqrt(np.mean(expected**2)))


@pytest.mark.filterwarnings("ignore:the model is degenerate")
def test_probabilities_do_not_depend_on_how_pairs_are_given():
    # every comparison three times: in an array, too, all three belong into one fold
    pairs, y = make(60, 0.5)
    pairs, y = pairs[np.tile(np.arange(60), 3)], np.tile(y, 3)
    model = wo.CompareSVM(loss="logistic", probability=True, tol=1e-9)
    by_view = model.fit(pairs, y).calibration_
    assert model.fit(np.asarray(pairs), y).calibration_ == pytest.approx(by_view, rel=1e-3)
    order = np.random.default_rng(1).permutation(len(y))
    assert model.fit(np.asarray(pairs[order]), y[order]).calibration_ == pytest.approx(by_view, rel=1e-3)
    moved = np.random.default_rng(2).permutation(len(pairs.items))
    place = np.argsort(moved)
    elsewhere = wo.Pairs(pairs.items[moved], place[pairs.left], place[pairs.right])
    assert model.fit(elsewhere, y).calibration_ == pytest.approx(by_view, rel=1e-3)


@pytest.mark.filterwarnings("ignore:the model is degenerate")
@pytest.mark.parametrize("outcomes", [[1, -1, 0, 0, 0], [1, 1, 1, 1, 0], [1, -1, 1, -1, 1], [1, -1]])
def test_a_handful_of_comparisons_has_probabilities(outcomes):
    n = len(outcomes)
    items = np.random.default_rng(0).standard_normal((2 * n, 2))
    pairs = wo.Pairs(items, np.arange(n), n + np.arange(n))
    model = wo.CompareSVM(probability=True).fit(pairs, outcomes)
    P = model.predict_proba(pairs)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P >= 0).all()
    np.testing.assert_array_equal(model.predict_proba(wo.Pairs(items, pairs.right, pairs.left)), P[:, ::-1])
    at_zero = model.predict_proba(wo.Pairs(items, [0], [0]))[0, 1]
    assert (P[:, 1] <= at_zero + 1e-12).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_a_model_that_calls_everything_a_tie_says_so_once(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2, 3))
    d = (X[:, 1] - X[:, 0]) @ [1.0, 2.0, -1.0]
    y = np.where(np.abs(d) > 3, np.sign(d), 0).astype(int)
    with pytest.warns(UserWarning, match=r"every training pair a tie, although 38 of 80 were decided") as caught:
        model = wo.CompareSVM(loss=loss, probability=True).fit(1e-6 * X, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert not model.predict(1e-6 * X).any()
    assert wo.CompareSVM(loss=loss, scale=True).fit(1e-6 * X, y).score(1e-6 * X, y) > 0.9  # as advised, and silently


@pytest.mark.filterwarnings("ignore:the model")
@pytest.mark.parametrize("rematches", [0, 2])
@pytest.mark.parametrize("n_ties", [0, 1, 10])
def test_probabilities_need_decided_comparisons_of_two_couples(n_ties, rematches):
    """The model that has not seen the only one knows no direction: ties alone would make every pair a sure tie."""
    items = np.random.default_rng(1).standard_normal((12, 2))
    couples = [(0, 1)] * (1 + rematches) + [(i, i + 1) for i in range(1, n_ties + 1)]
    left, right = np.array(couples).T
    with pytest.raises(ValueError, match="at least two decided comparisons, of different items"):
        wo.CompareSVM(probability=True).fit(wo.Pairs(items, left, right), [1] * (1 + rematches) + [0] * n_ties)
