"""Probabilities of the three outcomes by Davidson's form, and their calibration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from wellorder.losses import Calibration, calibrate


def drawn(n, slope=1.7, ties=0.8, side=0.0, seed=0):
    rng = np.random.default_rng(seed)
    d = 2 * rng.standard_normal(n)
    sides = rng.choice([0.5, 1.0], n)
    P = Calibration(slope, ties, side).probabilities(d, sides)
    return d, sides, (rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1) - 1


def test_calibration_finds_what_it_was_drawn_from():
    d, _, outcome = drawn(50_000)
    found = calibrate(d, outcome, np.ones(50_000))
    assert found == pytest.approx((1.7, 0.8, 0.0), rel=0.03)
    weight = np.random.default_rng(1).integers(1, 3, 300).astype(float)
    listed = np.repeat(np.arange(300), weight.astype(int))
    by_weight = calibrate(d[:300], outcome[:300], weight)
    assert by_weight == pytest.approx(calibrate(d[listed], outcome[listed], np.ones(len(listed))))
    turned = np.where(outcome < 0, -d, d)
    assert calibrate(turned, np.abs(outcome), np.ones(50_000)) == pytest.approx(found)


def test_a_side_is_found_beside_the_slope():
    d, sides, outcome = drawn(20_000, side=-0.6)
    found = calibrate(d, outcome, np.ones(20_000), sides=sides)
    assert found == pytest.approx((1.7, 0.8, -0.6), rel=0.06)

    def loss(at):
        P = Calibration(at[0], np.exp(at[1]), at[2]).probabilities(d, sides)
        return -np.log(P[np.arange(len(d)), outcome + 1]).mean()

    best = minimize(loss, [1.0, 0.0, 0.0], method="BFGS").x  # Platt's targets hardly differ from the outcomes here
    assert found == pytest.approx((best[0], np.exp(best[1]), best[2]), abs=2e-3)
    other_way = calibrate(-d, -outcome, np.ones(20_000), sides=-sides)
    assert other_way == pytest.approx(found)


def test_a_rein_holds_the_slope_where_outcomes_are_few():
    d, outcome = np.array([0.1, -0.2, 0.05, 0.3]), np.array([1, -1, 1, 1])
    loose = calibrate(d, outcome, np.ones(4)).slope
    held = [calibrate(d, outcome, np.ones(4), rein=rein).slope for rein in (0.01, 1.0, 100.0)]
    assert loose > held[0] > held[1] > held[2] > 1.0
    assert held[2] == pytest.approx(1.0, abs=0.01)
    many, _, came = drawn(20_000)
    assert calibrate(many, came, np.ones(20_000), rein=1.0).slope == pytest.approx(1.7, rel=0.04)


@pytest.mark.parametrize("n", [4, 40])
def test_without_ties_it_is_platts(n):
    """Each outcome counts as (n + 1)/(n + 2) of itself, and the rest of the other."""
    rng = np.random.default_rng(n)
    d = rng.standard_normal(n)
    outcome = np.where(rng.random(n) < 1 / (1 + np.exp(-d)), 1, -1)
    sure = np.where(outcome > 0, n + 1, 1) / (n + 2)

    def loss(slope):
        return -np.sum(sure * np.log(expit(slope * d)) + (1 - sure) * np.log(expit(-slope * d)))

    best = minimize_scalar(loss, bounds=(0, 50), method="bounded", options={"xatol": 1e-10}).x
    assert calibrate(d, outcome, np.ones(n)) == pytest.approx((best, 0.0, 0.0), rel=1e-5, abs=1e-5)


def test_calibration_of_extreme_differences_stays_finite():
    ones = np.ones(6)
    slope, ties, _ = calibrate(np.array([5.0, 6, 7, 0.1, 0.2, 0.1]), np.array([1, 1, 1, 0, 0, 0]), ones)  # all told
    assert 0 < slope < 100
    assert 0 < ties < 1e6
    assert calibrate(-ones, np.ones(6, int), ones) == (0.0, 0.0, 0.0)  # all the wrong way round, and no tie
    assert calibrate(0 * ones, np.array([1, 1, 1, 0, 0, 0]), ones).ties == pytest.approx(10 / 7)
    assert np.isfinite(Calibration(2.0, 1.0).probabilities(np.array([1e300, -1e300]))).all()
