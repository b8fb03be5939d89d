"""The default tolerance holds everywhere, not only where samples and preconditioners are good."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.losses import LOSSES
from wellorder.solvers import Problem, make_problem, newton_cg
from wellorder.solvers.newton import Preconditioner
from wellorder.spaces import LinearSpace


def gap(X, y, groups=None, **parameters):
    quick = wo.RankSVM(**parameters).fit(X, y, groups=groups)
    exact = wo.RankSVM(**parameters, tol=1e-9).fit(X, y, groups=groups)
    return quick.objective_ / exact.objective_ - 1


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6])
def test_separable_data(loss, C):
    X = np.random.default_rng(0).standard_normal((300, 10))
    assert gap(X, X @ np.ones(10), C=C, loss=loss) < 1e-4


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_more_columns_than_rows(C):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 1_000))
    assert gap(X, np.digitize(X[:, 0] + rng.standard_normal(200), [-1, 0, 1]), C=C) < 1e-4


@pytest.mark.parametrize("scale", [0.01, 0.1, 100.0])
def test_a_giant_group_among_small_ones(scale):
    rng = np.random.default_rng(0)
    group = np.concatenate([np.repeat(np.arange(200), 40), np.full(20_000, 200)])
    giant = group == 200
    X = rng.standard_normal((len(group), 10)) * np.where(giant, scale, 1.0)[:, None]
    direction = np.where(giant[:, None], *(rng.standard_normal((2, 1, 10)) / [[[scale]], [[1.0]]]))
    y = np.digitize((X * direction).sum(axis=1) + rng.standard_normal(len(group)), [-2, 0, 2])
    assert gap(X, y, group) < 1e-4


def test_few_good_rows_among_many():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40_000, 10))
    y = np.zeros(40_000)
    y[:25] = 1
    X[:25] += 0.5
    assert gap(X, y) < 1e-4


@pytest.mark.parametrize("C", [1.0, 1e6])
def test_columns_of_very_different_size_with_offsets(C):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((2_000, 10))
    y = X @ np.ones(10) + rng.standard_normal(2_000)
    assert gap(X * np.logspace(-4, 4, 10) + 100, y, C=C) < 1e-3


def test_a_preconditioner_that_lies_cannot_end_the_fit():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((500, 5))
    problem = make_problem(LinearSpace(X), wo.Grades(X[:, 0].round()).pairs, LOSSES["squared_hinge"], 10.0)
    honest = newton_cg(problem, tol=1e-9)
    for factor in (1e-6, 1.0, 1e6):
        liar = Preconditioner(lambda residual, factor=factor: factor * residual, resembles=True)
        result = newton_cg(problem, preconditioner=liar, tol=1e-4)
        assert result.converged
        assert result.objective <= honest.objective * (1 + 1e-4)


def test_a_sample_shows_every_group_its_part():
    rng = np.random.default_rng(4)
    group = np.concatenate([np.repeat(np.arange(500), 20), np.full(10_000, 500)])
    pairs = wo.Grades(rng.integers(0, 3, len(group)), group).pairs
    shares = []
    for seed in range(5):
        rows, sample = pairs.sample(2_500, np.random.default_rng(seed))
        assert 1_500 < len(rows) < 3_500
        totals, _ = sample.cells.group_totals()
        shares.append(totals[-1] / totals.sum())
    whole, _ = pairs.cells.group_totals()
    assert np.mean(shares) == pytest.approx(whole[-1] / whole.sum(), rel=0.02)


def test_a_problem_over_a_sample_has_the_same_weight_on_the_mean_loss():
    from wellorder.solvers.stages import _smaller_linear

    X = np.random.default_rng(5).standard_normal((20_000, 4))
    problem = make_problem(LinearSpace(X), wo.Grades(X[:, 0].round()).pairs, LOSSES["squared_hinge"], 2.0)
    smaller = _smaller_linear(problem, np.random.default_rng(0))
    assert isinstance(smaller, Problem)
    assert smaller.strength * smaller.pairs.total == pytest.approx(problem.strength * problem.pairs.total)


def test_a_sample_keeps_rare_levels_and_every_pair_its_weight():
    y = np.zeros(40_000)
    y[:30] = 2
    y[30:5_000] = 1
    pairs = wo.Grades(y).pairs
    shares = []
    for seed in range(20):
        rows, sample = pairs.sample(5_000, np.random.default_rng(seed))
        assert np.count_nonzero(y[rows] == 2) == 30
        low, high, _ = sample.cells.pairs
        weight = sample.cells.lower[low] * sample.cells.upper[high]
        shares.append(weight / weight.sum())
    low, high, _ = pairs.cells.pairs
    weight = pairs.cells.lower[low] * pairs.cells.upper[high]
    np.testing.assert_allclose(np.mean(shares, axis=0), weight / weight.sum(), rtol=0.05)
