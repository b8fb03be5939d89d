"""The line search of boosting, and when boosting ends."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.losses import LOSSES, RiskAt, SlopesAt, risk_at
from wellorder.solvers.boosting import Proposal, Rounds, Validation, best_step, boost, diagonal_step, is_enough


def pair_risk(seed=0, loss="exponential", n=60):
    rng = np.random.default_rng(seed)
    pairs = wo.Grades(rng.integers(0, 3, n), order="linear").pairs
    return (lambda s: risk_at(LOSSES[loss], s, pairs)), rng.standard_normal(n), rng.standard_normal(n)


@pytest.mark.parametrize("loss", ["exponential", "squared_hinge", "logistic"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_it_ends_at_the_minimum_along_the_line(loss, size):
    risk, s, h = pair_risk(loss=loss)
    h = size * h
    here = risk(s)
    t, moved, at = best_step(risk, s, here, h)
    np.testing.assert_allclose(moved, s + t * h, rtol=1e-12, atol=1e-12)
    assert at.value == risk(moved).value < here.value
    assert abs(at.gradient @ h) <= 1e-5 * abs(here.gradient @ h)
    for nearby in (0.99 * t, 1.01 * t):
        assert risk(s + nearby * h).value > at.value


def test_a_start_so_far_off_that_newton_leaps():
    risk, s, _ = pair_risk(1, "logistic")
    here = risk(30 * s)
    t, _, at = best_step(risk, 30 * s, here, s)
    assert t == pytest.approx(-30, abs=2)
    assert abs(at.gradient @ s) <= 1e-5 * abs(here.gradient @ s)


def test_a_separating_piece_does_not_go_on_for_ever():
    pairs = wo.Grades([0, 0, 1, 1]).pairs
    risk = lambda s: risk_at(LOSSES["exponential"], s, pairs)  # noqa: E731
    t, _, at = best_step(risk, np.zeros(4), risk(np.zeros(4)), np.array([0.0, 0, 1, 1]))
    assert 0 < at.value <= 0.01 * 4
    assert t < 10


def test_a_piece_that_is_constant_gains_nothing():
    risk, s, _ = pair_risk(2)
    assert best_step(risk, s, risk(s), np.ones(len(s)))[0] == 0.0


def quadratic(target):
    def risk(s):
        return RiskAt(float(np.sum((s - target) ** 2)), 2 * (s - target), lambda: np.full(len(s), 2.0), lambda u: 2 * u)

    return risk


def test_the_best_validation_round_is_kept():
    target, wanted = np.arange(1.0, 6.0), np.array([1.0, 2.0, 0.0, 0.0, 0.0])
    units = iter(np.eye(5))
    held = Validation(None, lambda beside, scores: float(np.sum((beside - wanted) ** 2)))

    def propose(here):
        unit = next(units, None)
        return None if unit is None else Proposal(int(unit.argmax()), unit, unit)

    found = boost(propose, quadratic(target), (5, 5), held, Rounds(10, 1.0, patience=2))
    assert found.pieces == [0, 1]
    np.testing.assert_allclose(found.weights, [1.0, 2.0])
    assert len(found.train_risk) == 4  # two rounds of patience
    assert np.argmin(found.validation_risk) == 1


def test_the_learning_rate_shortens_each_step():
    target = np.array([4.0])
    found = boost(lambda here: Proposal(0, np.ones(1), None), quadratic(target), (1, 0), None, Rounds(3, 0.5))
    np.testing.assert_allclose(found.weights, [2.0, 1.0, 0.5])
    np.testing.assert_allclose(found.train_risk, [4.0, 1.0, 0.25])


def test_a_learning_rate_beyond_one_steps_further():
    target = np.array([4.0])
    found = boost(lambda here: Proposal(0, np.ones(1), None), quadratic(target), (1, 0), None, Rounds(2, 1.5))
    np.testing.assert_allclose(found.weights, [6.0, -3.0])
    np.testing.assert_allclose(found.train_risk, [4.0, 1.0])
    there_and_back = boost(lambda here: Proposal(0, np.ones(1), None), quadratic(target), (1, 0), None, Rounds(2, 2.0))
    np.testing.assert_allclose(there_and_back.train_risk, [16.0, 16.0])


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_it_ends_where_next_to_no_risk_is_left_whatever_its_size(size):
    risk = quadratic(np.array([size]))
    found = boost(lambda here: Proposal(0, np.ones(1), None), risk, (1, 0), None, Rounds(50, 0.95))
    assert found.train_risk[-1] <= 1e-10 * size**2 < found.train_risk[-2]
    assert len(found.pieces) == 4  # each leaves a four-hundredth


def test_a_step_by_the_diagonal():
    rng = np.random.default_rng(0)
    risk, s, h = pair_risk()
    here = risk(s)
    bend = here.hessian_diagonal()
    expected = -(here.gradient @ h) / np.sum(bend * (h - np.average(h, weights=bend)) ** 2)
    step, moved, at = diagonal_step(risk, s, here, h)
    assert step == pytest.approx(expected)
    np.testing.assert_allclose(moved, s + expected * h)
    assert at.value == risk(moved).value < here.value
    for nothing in (np.zeros(60), np.ones(60)):
        step, moved, at = diagonal_step(risk, s, here, nothing)
        assert (step, moved is s, at is here) == (0.0, True, True)
    straight = SlopesAt(1.0, rng.standard_normal(60), lambda: np.zeros(60))
    assert diagonal_step(risk, s, straight, h)[0] == 0.0


def test_nothing_is_left_to_gain():
    found = boost(lambda here: Proposal(0, np.ones(1), None), quadratic(np.ones(1)), (1, 0), None, Rounds(50, 1.0))
    assert len(found.pieces) == 1


def test_patience():
    assert not is_enough([3.0, 2.0, 2.5], 2)
    assert is_enough([3.0, 2.0, 2.5, 2.4], 2)
    assert not is_enough([3.0, 2.0, 2.5, 2.4], None)


def test_a_risk_without_products_of_its_hessian_needs_a_rule():
    risk, s, h = pair_risk()
    here = risk(s)
    slopes = SlopesAt(here.value, here.gradient, here.hessian_diagonal)
    with pytest.raises(TypeError, match="give another rule"):
        best_step(lambda scores: slopes, s, slopes, h)
