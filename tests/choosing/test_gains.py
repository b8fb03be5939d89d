"""What an answer is expected to teach is what numerical integration says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import choosing as slow
from wellorder.choosing.gains import OrderGains, answer_table, sign_gains


@pytest.mark.parametrize("log_nu", [-20.0, -1.0, 0.5])
def test_information_is_that_of_numerical_integration(log_nu):
    table = answer_table(log_nu)
    for mean in (0.0, 0.37, 2.1, 5.3):
        for variance in (0.02, 0.3, 1.7, 8.0, 40.0):
            expected = slow.information_gain(mean, variance, log_nu)
            found = table.gains(np.array([mean]), np.array([variance]))[0]
            assert found == pytest.approx(expected, rel=0.015, abs=2e-5)
            assert table.gains(np.array([-mean]), np.array([variance]))[0] == found


def test_a_weight_of_ties_between_two_tables_is_near_both():
    for log_nu in (-0.97, -0.22):
        found = answer_table(log_nu).gains(np.array([0.8]), np.array([1.3]))[0]
        assert found == pytest.approx(slow.information_gain(0.8, 1.3, log_nu), rel=0.015)


def test_an_answer_tells_the_expected_curvature():
    rng = np.random.default_rng(0)
    d = 0.7 + 1.5 * rng.standard_normal(200_000)
    p = np.stack([np.exp(-d / 2), np.full(len(d), np.exp(-1.0)), np.exp(d / 2)])
    p /= p.sum(axis=0)
    expected = np.mean(0.25 * (p[0] + p[2] - (p[2] - p[0]) ** 2))
    assert answer_table(-1.0).told(np.array([0.7]), np.array([2.25]))[0] == pytest.approx(expected, rel=0.01)


def test_the_sign_of_a_rating_is_told_as_numerical_integration_says():
    for z in (0.0, 0.5, -1.4, 3.0):
        for lost in (0.01, 0.2, 0.7):
            found = sign_gains(np.array([z]), np.array([lost]))[0]
            assert found == pytest.approx(slow.sign_gain(z, lost), rel=0.03, abs=2e-4)


def beliefs_of_six():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((6, 9)) / 3
    return rng.standard_normal(6), root @ root.T


def test_of_the_whole_order_an_answer_tells_what_integration_over_every_pair_says():
    mean, cov = beliefs_of_six()
    a, b = np.triu_indices(6, 1)
    gains = OrderGains(mean, cov, answer_table(-1.0))
    told = answer_table(-1.0).told(mean[b] - mean[a], cov[a, a] + cov[b, b] - 2 * cov[a, b])
    expected = [slow.order_gain(mean, cov, *pair, each) for *pair, each in zip(a, b, told, strict=True)]
    assert gains.gains(a, b) == pytest.approx(expected, rel=0.01)
    assert gains.gains(b, a) == pytest.approx(gains.gains(a, b))


def test_after_supposed_answers_it_is_that_of_the_covariance_that_they_leave():
    mean, cov = beliefs_of_six()
    a, b = np.array([0, 1, 2]), np.array([3, 3, 5])  # two share an item
    table = answer_table(-1.0)
    gains = OrderGains(mean, cov, table)
    gains.suppose(a, b)
    way = np.zeros((3, 6))
    way[np.arange(3), a], way[np.arange(3), b] = 1.0, -1.0
    told = table.told(mean[b] - mean[a], cov[a, a] + cov[b, b] - 2 * cov[a, b])
    left = np.linalg.inv(np.linalg.inv(cov) + way.T @ (told[:, None] * way))
    every = np.triu_indices(6, 1)
    assert gains.gains(*every) == pytest.approx(OrderGains(mean, left, table).gains(*every), rel=1e-9)


def test_far_beyond_the_tables_nothing_breaks():
    far = np.array([0.0, 1e3, 1e9])
    assert np.isfinite(answer_table(-1.0).gains(far, far + 1e-12)).all()
    assert (answer_table(-np.inf).gains(far, np.ones(3)) >= 0).all()
    assert np.isfinite(sign_gains(far, np.array([0.0, 1.0, 2.0]))).all()
