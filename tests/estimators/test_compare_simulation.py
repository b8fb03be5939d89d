"""The paper's simulation, small: comparing beats ranking with ties as pairs, which beats ranking without them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import wellorder as wo

N, SEEDS, GRID = 100, 4, list(product([1.0, 10.0], [2**-4, 2**-2.5]))
NORMS = {
    "1": lambda X: np.abs(X).sum(axis=1) ** 2,
    "2": lambda X: (X**2).sum(axis=1),
    "inf": lambda X: np.abs(X).max(axis=1) ** 2,
}


def draw(r, n, rng):
    """Pairs in [−3, 3]², outcomes t_1[r(x') − r(x) + noise], half of them ties."""
    X = rng.uniform(-3, 3, (40 * n, 2, 2))
    z = r(X[:, 1]) - r(X[:, 0]) + rng.normal(0, 0.25, len(X))
    y = np.where(np.abs(z) > 1, np.sign(z), 0).astype(int)
    chosen = np.concatenate([np.flatnonzero(y == 0)[: n // 2], np.flatnonzero(y != 0)[: n - n // 2]])
    return X[chosen], y[chosen]


def rank(C, gamma):
    return wo.ThresholdCompare(wo.RankSVM(C, loss="hinge", kernel="rbf", gamma=gamma, tol=1e-2))


def rank2(C, gamma):
    return rank(C, gamma).set_params(ties="both")


def compare(C, gamma):
    return wo.CompareSVM(C, kernel="rbf", gamma=gamma)


@pytest.mark.parametrize("norm", list(NORMS))
@pytest.mark.filterwarnings("ignore:the model is degenerate")
def test_compare_beats_rank2_beats_rank(norm):
    errors = {rank: [], rank2: [], compare: []}
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, *norm.encode()])
        train, validation, test = draw(NORMS[norm], N, rng), draw(NORMS[norm], N, rng), draw(NORMS[norm], 1000, rng)
        for make, found in errors.items():
            fitted = [make(C, gamma).fit(*train) for C, gamma in GRID]
            best = max(fitted, key=lambda model: model.score(*validation))
            found.append(1 - best.score(*test))
    mean = {make.__name__: np.mean(found) for make, found in errors.items()}
    assert mean["compare"] < mean["rank2"] < mean["rank"], mean
