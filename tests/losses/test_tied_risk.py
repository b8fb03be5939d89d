"""The risk of comparisons with ties against the two-class pairs written out, and the exact threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.reference import compare_svm as reference

from wellorder.losses import LOSSES, TiedPairs, best_threshold, tied_risk, tied_value

NAMES = ["hinge", "squared_hinge", "logistic"]


def draw(seed, n_items=6, n=12):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    y = rng.integers(-1, 2, n)
    y[:2] = 0, 1
    weight = rng.uniform(0.2, 2.0, n)
    order = np.concatenate([np.flatnonzero(y != 0), np.flatnonzero(y == 0)])
    high, low = np.where(y >= 0, right, left)[order], np.where(y >= 0, left, right)[order]
    pairs = TiedPairs(high, low, weight[order], int(np.count_nonzero(y)), n_items)
    return pairs, (left, right, y, weight), rng.standard_normal(n_items)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_risk_is_the_least_over_the_bias(name, seed):
    pairs, listed, scores = draw(seed)
    risk, bias = tied_risk(LOSSES[name], scores, pairs)
    assert risk.value == pytest.approx(reference.risk(name, scores, *listed), rel=1e-8)
    assert risk.value == pytest.approx(reference.risk_at(name, scores, *listed, bias), rel=1e-12)
    assert tied_value(LOSSES[name], scores, pairs, 0.7) == pytest.approx(
        reference.risk_at(name, scores, *listed, 0.7), rel=1e-12
    )


@pytest.mark.parametrize("name", ["squared_hinge", "logistic", "smooth_hinge"])
@pytest.mark.parametrize("seed", range(4))
def test_derivatives_are_those_of_the_minimum(name, seed):
    pairs, _, scores = draw(seed)
    loss, step = LOSSES[name], 1e-6
    risk = tied_risk(loss, scores, pairs)[0]
    eye = np.eye(len(scores))
    ahead, behind = ([tied_risk(loss, scores + sign * step * e, pairs)[0] for e in eye] for sign in (1, -1))
    slope = [(a.value - b.value) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
    np.testing.assert_allclose(risk.gradient, slope, atol=1e-5)
    hessian = np.array([(a.gradient - b.gradient) / (2 * step) for a, b in zip(ahead, behind, strict=True)])
    ours = np.column_stack([risk.hessian_product(e) for e in eye])
    np.testing.assert_allclose(ours, hessian, atol=1e-4)
    np.testing.assert_allclose(ours, ours.T, atol=1e-12)
    assert np.linalg.eigvalsh(ours).min() > -1e-10
    assert (risk.hessian_diagonal() >= 0).all()


@pytest.mark.parametrize("name", ["squared_hinge", "logistic", "smooth_hinge"])
def test_the_diagonal_is_the_hessians_where_no_item_is_compared_twice(name):
    pairs = TiedPairs(np.array([0, 2, 4, 6]), np.array([1, 3, 5, 7]), np.array([1.0, 2.0, 0.5, 1.5]), 2, 8)
    risk, _ = tied_risk(LOSSES[name], np.random.default_rng(3).uniform(-1, 1, 8), pairs)
    ours = np.array([risk.hessian_product(e) @ e for e in np.eye(8)])
    assert ours.max() > 0.1
    np.testing.assert_allclose(risk.hessian_diagonal(), ours, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_scores_that_are_far_apart_or_separate_everything(name):
    pairs, listed, scores = draw(1)
    far, _ = tied_risk(LOSSES[name], 1e6 * scores, pairs)
    assert far.value == pytest.approx(reference.risk(name, 1e6 * scores, *listed), rel=1e-6)
    apart = TiedPairs(np.array([1, 3]), np.array([0, 2]), np.ones(2), 1, 4)
    risk, bias = tied_risk(LOSSES[name], np.array([0.0, 10.0, 0.0, 0.5]), apart)
    assert risk.value < 0.05
    assert -10 < bias < -0.4
    assert tied_risk(LOSSES[name], np.array([0.0, np.inf, 0.0, 0.5]), apart)[0].value == np.inf


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_repetitions(name):
    pairs, _, scores = draw(2)
    twice = TiedPairs(pairs.high, pairs.low, np.where(np.arange(12) % 2, 2.0, 1.0), pairs.n_decided, 6)
    listed = twice.take(np.sort(np.concatenate([np.arange(12), np.arange(1, 12, 2)])))
    listed = TiedPairs(listed.high, listed.low, np.ones(18), listed.n_decided, 6)
    one, other = (tied_risk(LOSSES[name], scores, each)[0] for each in (twice, listed))
    assert one.value == pytest.approx(other.value, rel=1e-12)
    if name != "hinge":
        np.testing.assert_allclose(one.gradient, other.gradient, atol=1e-10)


def test_compact_keeps_differences():
    pairs, _, scores = draw(3)
    some = pairs.take(np.array([0, 5, 11]))
    rows, small = some.compact()
    np.testing.assert_array_equal(small.differences(scores[rows]), some.differences(scores))
    assert small.n_decided == some.n_decided


numbers = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0, 3.5])


@given(st.lists(st.tuples(numbers, st.sampled_from([-1, 0, 1]), st.sampled_from([1.0, 1.0, 0.5, 3.0])), max_size=9))
def test_threshold_is_the_best_there_is(rows):
    d, y, weight = (np.array(part, dtype=float) for part in zip(*rows, strict=True)) if rows else [np.zeros(0)] * 3
    chosen = best_threshold(d, y, weight)
    candidates = np.concatenate([[0.0], np.abs(d), np.abs(d) + 0.01])
    losses = [reference.threshold_errors(d, y, weight, tau) for tau in candidates]
    assert reference.threshold_errors(d, y, weight, chosen) == pytest.approx(min(losses, default=0.0))
    if losses[0] == min(losses):
        assert chosen == 0.0
    lower = [tau for tau, loss in zip(candidates, losses, strict=True) if loss <= min(losses) + 1e-9]
    assert chosen <= min(lower) + 1.5  # in the lowest of the best ranges


def test_threshold_stands_in_the_middle_of_its_range():
    assert best_threshold([0.2, 0.4, 1.0], [0, 0, 1]) == pytest.approx(0.7)
    assert best_threshold([0.2, 0.4], [0, 0]) == pytest.approx(0.4)  # no end: all are ties
    assert best_threshold([0.2, -0.4], [1, -1]) == 0.0
