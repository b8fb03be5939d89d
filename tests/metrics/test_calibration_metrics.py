"""Probabilities of comparisons: Brier score, log loss and the reliability curve."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss

from wellorder.metrics import comparison_brier, comparison_log_loss, comparison_reliability


def draw(n=200, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet([1.0, 2.0, 1.5], n)
    y = (rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1) - 1
    return y, P, rng.uniform(0.0, 2.0, n)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_sums_over_comparisons(weighted):
    y, P, weight = draw()
    weight = weight if weighted else np.ones(len(y))
    given = weight if weighted else None
    brier = sum(w * sum((p[k] - (o == k - 1)) ** 2 for k in range(3)) for o, p, w in zip(y, P, weight, strict=True))
    assert comparison_brier(y, P, given) == pytest.approx(brier / weight.sum())
    assert comparison_log_loss(y, P, given) == pytest.approx(log_loss(y, P, labels=[-1, 0, 1], sample_weight=given))


def test_known_values():
    thirds = np.full((3, 3), 1 / 3)
    assert comparison_brier([-1, 0, 1], thirds) == pytest.approx(2 / 3)
    assert comparison_log_loss([-1, 0, 1], thirds) == pytest.approx(np.log(3))
    sure = np.eye(3)
    assert comparison_brier([-1, 0, 1], sure) == 0.0
    assert comparison_log_loss([-1, 0, 1], sure) == 0.0
    assert comparison_brier([1, 1, 0], sure) == 2.0
    assert comparison_log_loss([1, 1, 0], sure) == np.inf


@pytest.mark.parametrize("outcome", [None, -1, 0, 1])
def test_reliability_counts_each_bin(outcome):
    y, P, weight = draw(60)
    predicted, observed, total = comparison_reliability(y, P, outcome=outcome, n_bins=4, sample_weight=weight)
    kinds = [-1, 0, 1] if outcome is None else [outcome]
    looks = [(p[k + 1], o == k, w) for o, p, w in zip(y, P, weight, strict=True) for k in kinds]
    bins = [[look for look in looks if int(look[0] * 4) == place] for place in range(4)]
    bins = [each for each in bins if each]
    np.testing.assert_allclose(total, [sum(w for _, _, w in each) for each in bins])
    np.testing.assert_allclose(predicted * total, [sum(w * p for p, _, w in each) for each in bins])
    np.testing.assert_allclose(observed * total, [sum(w * hit for _, hit, w in each) for each in bins])


def test_calibrated_probabilities_lie_on_the_diagonal():
    y, P, _ = draw(50_000)
    predicted, observed, _ = comparison_reliability(y, P)
    np.testing.assert_allclose(observed, predicted, atol=0.03)
    sharper = P**2 / (P**2).sum(axis=1, keepdims=True)
    predicted, observed, _ = comparison_reliability(y, sharper)
    assert observed[-1] < predicted[-1] - 0.05
    assert comparison_log_loss(y, sharper) > comparison_log_loss(y, P)
    assert comparison_brier(y, sharper) > comparison_brier(y, P)


def test_a_probability_of_one_has_a_bin():
    predicted, observed, weight = comparison_reliability([1, 0], [[0, 0, 1.0], [0, 0, 1.0]], n_bins=2)
    assert predicted.tolist() == [0.0, 1.0]
    assert observed.tolist() == [0.25, 0.5]
    assert weight.tolist() == [4.0, 2.0]


def test_bad_probabilities_are_named():
    for P, message in [
        ([[0.5, 0.5]], "three columns"),
        ([[0.5, 0.5, 0.5]], "row 0"),
        ([[1.5, -0.5, 0.0]], "row 0"),
        ([[np.nan, 0.5, 0.5]], "row 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            comparison_brier([1], P)
    with pytest.raises(ValueError, match="outcome 2"):
        comparison_log_loss([2], [[0, 0, 1]])
    with pytest.raises(ValueError, match="outcome must be"):
        comparison_reliability([1], [[0, 0, 1]], outcome=2)
    with pytest.raises(ValueError, match="n_bins"):
        comparison_reliability([1], [[0, 0, 1]], n_bins=0)


def test_no_comparison_has_no_score():
    for metric in (comparison_brier, comparison_log_loss):
        with pytest.warns(UserWarning, match=f"^{metric.__name__} is not defined: there is no comparison"):
            assert np.isnan(metric([], np.empty((0, 3))))
        with pytest.warns(UserWarning, match=f"^{metric.__name__} is not defined: there is no comparison"):
            assert np.isnan(metric([1], [[0, 0, 1]], [0.0]))
