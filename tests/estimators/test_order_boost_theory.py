"""What the risks lead to, against the theory of Uematsu and Lee (2013)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import wellorder as wo

GRID = np.linspace(-2.5, 2.5, 101)
P = np.array([norm.pdf(GRID, mean) for mean in (-2, 0, 2)])
P /= P.sum(axis=0)
F0 = (P[1] + P[2]) / (P[0] + P[1])


def draw(rng, per_class):
    """X | Y = k ~ N(−2, 0, 2; 1): the simulation of Uematsu and Lee."""
    y = np.repeat([0, 1, 2], per_class)
    return (rng.standard_normal(len(y)) + 2.0 * (y - 1))[:, None], y


def distance(scores, theory):
    """The largest difference, constants apart, as a share of the theory's range."""
    away = scores - theory
    return np.ptp(away) / 2 / np.ptp(theory)


def boosted(loss, per_class, seed, **options):
    rng = np.random.default_rng(seed)
    (X, y), (X_val, y_val) = draw(rng, per_class), draw(rng, per_class)
    return wo.OrderBoost(loss, **options).fit(X, y, X_val=X_val, y_val=y_val)


def orboost_theory(theta):
    above = P[1] * np.exp(theta[0]) + P[2] * np.exp(theta[1])
    return 0.5 * np.log(above / (P[0] * np.exp(-theta[0]) + P[1] * np.exp(-theta[1])))


def odds_theory(theta):
    return np.log((F0 - 1 + np.sqrt((F0 - 1) ** 2 + 4 * np.exp(theta[0] - theta[1]) * F0)) / 2)


def test_the_formula_of_the_simulation():
    np.testing.assert_allclose(F0, (np.exp(2 * GRID) + np.e**2) / (np.exp(-2 * GRID) + np.e**2))


@pytest.mark.parametrize("seed", [0, 1])
def test_consistent_pairs_tend_to_half_the_log_of_the_best_score(seed):
    model = boosted("pairs", 500, seed)
    assert model.consistent_
    assert distance(model.decision_function(GRID[:, None]), 0.5 * np.log(F0)) < 0.1


def test_more_rows_come_nearer():
    away = [distance(boosted("pairs", n, 0).decision_function(GRID[:, None]), 0.5 * np.log(F0)) for n in (500, 8_000)]
    assert away[1] < min(0.03, away[0])


@pytest.mark.parametrize(
    ("loss", "theory", "gap"), [("orboost", orboost_theory, 2.0), ("proportional_odds", odds_theory, 4.4)]
)
def test_ordinal_losses_tend_to_their_own_theory(loss, theory, gap):
    model = boosted(loss, 500, 0, n_estimators=150)
    assert distance(model.decision_function(GRID[:, None]), theory(model.thresholds_)) < 0.06
    assert np.diff(model.thresholds_)[0] == pytest.approx(gap, abs=0.3)  # Uematsu and Lee's: 2.06 and 4.37


def test_least_squares_tend_to_the_expected_grade():
    model = boosted("squared", 500, 0)
    np.testing.assert_allclose(model.predict(GRID[:, None]), P[1] + 2 * P[2], atol=0.1)


# Three items, their share of all rows, and how often each has the grades 0, 1, 2.
SHARE = np.array([0.52, 0.13, 0.35])
OFTEN = np.array([[0.0, 1.0, 0.0], [0.14, 0.0, 0.86], [0.0, 0.56, 0.44]])


def items_as_rows():
    item, grade = np.indices(OFTEN.shape).reshape(2, -1)
    weight = (SHARE[:, None] * OFTEN).ravel()
    return item[:, None].astype(float), grade, weight


def test_plain_pairs_misorder_where_consistent_ones_do_not():
    X, y, weight = items_as_rows()
    best = (OFTEN[:, 1] + OFTEN[:, 2]) / (OFTEN[:, 0] + OFTEN[:, 1])
    scores, errors = {}, {}
    for consistent in (True, False):
        model = wo.OrderBoost(consistent=consistent, n_estimators=200).fit(X, y, sample_weight=weight)
        scores[consistent] = model.decision_function(np.arange(3.0)[:, None])
        errors[consistent] = wo.metrics.swapped_pairs(y, model.decision_function(X), ties="half", sample_weight=weight)
    assert scores[True].argsort().tolist() == best.argsort().tolist() == [0, 2, 1]
    np.testing.assert_allclose(np.diff(scores[True]), 0.5 * np.diff(np.log(best)), atol=1e-3)
    assert scores[False].argsort().tolist() == [0, 1, 2]
    assert errors[False] > errors[True] + 0.07
