"""The proportional odds risk: against its definition, and its thresholds against a general minimiser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.reference import proportional_odds as reference

from wellorder.losses import ROW_LOSSES, GradedRows, proportional_odds as module
from wellorder.losses.proportional_odds import ProfileHessian, level_probabilities, likelihood, most_likely

LOSS = ROW_LOSSES["proportional_odds"]


def make_rows(seed, n=30, n_levels=4, spread=1.0):
    rng = np.random.default_rng(seed)
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n - n_levels)]).astype(np.int32)
    scores = spread * (0.4 * level + rng.standard_normal(n))
    return scores, GradedRows(level, rng.integers(1, 4, n).astype(float), n_levels), rng


@pytest.mark.parametrize("n_levels", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_thresholds_are_a_general_minimisers(n_levels, seed):
    scores, rows, _ = make_rows(seed, n_levels=n_levels)
    risk, thresholds = LOSS.at(scores, rows)
    best, at = reference.least_risk(scores, rows.level, rows.weight)
    assert risk.value == pytest.approx(best, rel=1e-10)
    assert risk.value == pytest.approx(reference.risk(scores, thresholds, rows.level, rows.weight), rel=1e-13)
    np.testing.assert_allclose(thresholds, at, atol=1e-4)
    assert LOSS.value(scores, rows, thresholds) == pytest.approx(risk.value, rel=1e-13)


def test_without_scores_the_thresholds_are_the_levels_own_log_odds():
    _, rows, _ = make_rows(0)
    below = np.cumsum(rows.mass)[:-1]
    np.testing.assert_allclose(LOSS.at(np.zeros(30), rows)[1], np.log(below / (rows.mass.sum() - below)), atol=1e-12)


@pytest.mark.parametrize("n_levels", [2, 3, 6])
@pytest.mark.parametrize("spread", [1.0, 10.0])
def test_gradient_and_hessian_are_derivatives_of_the_minimum(n_levels, spread):
    scores, rows, rng = make_rows(1, n_levels=n_levels, spread=spread)
    here, u, h = LOSS.at(scores, rows)[0], rng.standard_normal(30), 1e-5
    ahead, behind = (LOSS.at(scores + sign * h * u, rows)[0] for sign in (1, -1))
    assert (ahead.value - behind.value) / (2 * h) == pytest.approx(here.gradient @ u, rel=1e-6)
    product = here.hessian_product(u)
    np.testing.assert_allclose((ahead.gradient - behind.gradient) / (2 * h), product, atol=1e-6 * np.abs(product).max())
    columns = np.array([here.hessian_product(unit) for unit in np.eye(30)])
    np.testing.assert_allclose(columns, columns.T, atol=1e-12)
    np.testing.assert_allclose(here.hessian_diagonal(), columns.diagonal(), atol=1e-12)
    np.testing.assert_allclose(columns.sum(axis=0), 0.0, atol=1e-12)  # a shift is the thresholds' own


def test_at_given_thresholds_all_derivatives_are_right():
    scores, rows, rng = make_rows(2)
    at, h = likelihood(scores, rows, np.array([-0.7, 0.1, 1.9])), 1e-6
    u, v = rng.standard_normal(30), rng.standard_normal(3)
    for ds, dt, gradient in ((u, 0 * v, at.gradient @ u), (0 * u, v, at.pull @ v)):
        ahead, behind = (likelihood(scores + e * ds, rows, at.thresholds + e * dt) for e in (h, -h))
        assert (ahead.value - behind.value) / (2 * h) == pytest.approx(gradient, rel=1e-6)
        mixed = (ahead.pull - behind.pull) / (2 * h)
        stiff = np.diag(at.stiffness[1]) + np.diag(at.stiffness[0, 1:], 1) + np.diag(at.stiffness[0, 1:], -1)
        np.testing.assert_allclose(mixed, at.cross.T @ ds + stiff @ dt, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ProfileHessian(at).solve(stiff @ v), v, rtol=1e-10)


def test_weights_are_repetitions_and_rows_without_level_are_absent():
    scores, rows, _ = make_rows(3)
    times = rows.weight.astype(int)
    many, t_many = LOSS.at(
        np.repeat(scores, times), GradedRows(np.repeat(rows.level, times), np.ones(times.sum()), rows.n_levels)
    )
    some = GradedRows(np.append(rows.level, np.int32(-1)), np.append(rows.weight, 5.0), rows.n_levels)
    here, t_some = LOSS.at(np.append(scores, 17.0), some)
    assert here.value == pytest.approx(many.value, rel=1e-13)
    np.testing.assert_allclose(t_some, t_many, atol=1e-10)
    by_row = np.bincount(np.repeat(np.arange(30), times), many.gradient)
    np.testing.assert_allclose(here.gradient, np.append(by_row, 0.0), atol=1e-10)
    u = np.cos(np.arange(31.0))
    by_row = np.bincount(np.repeat(np.arange(30), times), many.hessian_product(np.repeat(u[:30], times)))
    np.testing.assert_allclose(here.hessian_product(u), np.append(by_row, 0.0), atol=1e-10)
    assert LOSS.value(np.append(scores, 17.0), some, t_some) == pytest.approx(here.value, rel=1e-13)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(-20, 20), st.integers(1, 3)), min_size=2, max_size=40).filter(
        lambda rows: len({level for level, _, _ in rows}) > 1
    ),
    st.sampled_from([0.0, 0.1, 1.0, 30.0]),
)
@settings(max_examples=60)
def test_thresholds_are_ordered_and_nothing_pulls_at_them(rows, spread):
    level, scores, weight = (np.array(column) for column in zip(*rows, strict=True))
    present, number = np.unique(level, return_inverse=True)
    graded = GradedRows(number.astype(np.int32), weight.astype(float), len(present))
    risk, thresholds = LOSS.at(spread * scores, graded)
    assert (np.diff(thresholds) > 0).all()
    assert np.abs(likelihood(spread * scores, graded, thresholds).pull).max() <= 1e-7 * graded.mass.sum()
    assert np.isfinite(risk.gradient).all()


def test_rounded_scores_only_guess_the_thresholds(monkeypatch):
    scores, rows, _ = make_rows(4, n=40_000, spread=2.0)
    passes = []
    monkeypatch.setattr(module, "likelihood", lambda s, *rest: passes.append(len(s)) or likelihood(s, *rest))
    guessed = most_likely(scores, rows)
    assert passes.count(40_000) <= 3  # that is what the guess is for
    monkeypatch.setattr(module, "_ROWS_PER_BIN", 10**9)
    plain = most_likely(scores, rows)
    assert guessed.value == pytest.approx(plain.value, rel=1e-13)
    np.testing.assert_allclose(guessed.thresholds, plain.thresholds, atol=1e-9)
    np.testing.assert_allclose(guessed.gradient, plain.gradient, atol=1e-9)


@pytest.mark.parametrize("n", [500, 40_000])
def test_thresholds_of_other_scores_save_passes_and_change_nothing(monkeypatch, n):
    scores, rows, rng = make_rows(4, n=n, spread=2.0)
    passes = []
    monkeypatch.setattr(module, "likelihood", lambda s, *rest: passes.append(1) or likelihood(s, *rest))
    (plain, thresholds), alone = LOSS.at(scores, rows), len(passes)
    near = LOSS.at(scores + 0.05 * rng.standard_normal(n), rows)[1]
    passes.clear()
    helped, found = LOSS.at(scores, rows, near)
    assert len(passes) <= alone - 2
    np.testing.assert_allclose(found, thresholds, rtol=1e-9)
    assert helped.value == pytest.approx(plain.value, rel=1e-13)
    np.testing.assert_allclose(helped.gradient, plain.gradient, atol=1e-9)
    for useless in (near[::-1], np.full_like(near, np.nan), near * 0.0, near + 500.0):
        np.testing.assert_allclose(LOSS.at(scores, rows, useless)[1], thresholds, rtol=1e-9)


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    from wellorder.sweeps import dispatch

    scores, rows, _ = make_rows(5, n=60_000)
    found = []
    for cpus in (1, 2):
        monkeypatch.setattr(dispatch, "available_cpus", lambda: cpus)
        found.append(likelihood(scores, rows, np.array([-1.0, 0.0, 1.0])))
    assert found[0].value == found[1].value
    assert (found[0].pull == found[1].pull).all()


def test_far_scores_and_close_thresholds():
    level, weight = np.array([0, 1, 2], dtype=np.int32), np.ones(3)
    rows = GradedRows(level, weight, 3)
    right, thresholds = LOSS.at(np.array([-1e5, 0.0, 1e5]), rows)
    assert right.value < 1e-10
    assert -1e5 < thresholds[0] < 0.0 < thresholds[1] < 1e5
    wrong, _ = LOSS.at(np.array([1e5, 0.0, -1e5]), rows)
    assert 2e5 < wrong.value < np.inf
    close = LOSS.value(np.zeros(3), rows, np.array([0.0, 1e-12]))
    assert close == pytest.approx(2 * np.log(2) - np.log(0.25e-12), rel=1e-9)
    assert LOSS.value(np.zeros(3), rows, np.array([0.0, 0.0])) == np.inf
    for scores in (np.array([0.0, np.inf, 1.0]), np.array([0.0, np.nan, 1.0])):
        risk, thresholds = LOSS.at(scores, rows)
        assert risk.value == np.inf
        assert np.isnan(thresholds).all()
        assert LOSS.value(scores, rows, np.array([0.0, 1.0])) == np.inf
    assert LOSS.at(np.array([1e300, 0.0, -1e300]), rows)[0].value >= 1e300


def test_a_sample_keeps_rare_levels_and_every_row_its_weight():
    level = np.zeros(40_000, dtype=np.int32)
    level[:30], level[30:5_000], level[5_000:6_000] = 2, 1, -1
    rows = GradedRows(level, np.linspace(1.0, 2.0, 40_000), 3)
    shares = []
    for seed in range(20):
        drawn, sample = rows.sample(5_000, np.random.default_rng(seed))
        assert (sample.level == level[drawn]).all()
        assert sample.level.min() == 0
        assert 4_500 < len(drawn) < 5_500
        assert np.count_nonzero(sample.level == 2) == 30
        shares.append(sample.mass / sample.mass.sum())
    np.testing.assert_allclose(np.mean(shares, axis=0), rows.mass / rows.mass.sum(), rtol=0.02)
    assert rows.sample(149, np.random.default_rng(0)) is None


def test_probabilities_are_those_of_the_definition():
    rng = np.random.default_rng(6)
    scores, thresholds = 3 * rng.standard_normal(50), np.array([-1.0, -0.2, 0.0, 2.5])
    found = level_probabilities(scores, thresholds)
    np.testing.assert_allclose(found, reference.probabilities(scores, thresholds), atol=1e-14)
    far = level_probabilities(np.array([-800.0, 40.0, 800.0, 1e300]), np.array([-1.0, -1.0 + 1e-13, 2.0]))
    assert (far >= 0).all()
    np.testing.assert_allclose(far.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert far[1, 2] == pytest.approx(np.exp(-38.0), rel=1e-6)  # where a difference would cancel
