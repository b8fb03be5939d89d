"""Rankers solved side by side are those solved one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import wellorder as wo
from wellorder.estimators import base_rankers
from wellorder.estimators.base_rankers import LevelledRows, solve_side_by_side


def sides_of(ends):
    """One level below and one above, for each ranker."""
    return [((low,), (high,)) for low, high in ends]


def data(n=400, seed=0, n_levels=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)) * [1, 3, 0.1, 1, 1]
    y = np.digitize(X[:, 0] + X[:, 1] / 3 + rng.standard_normal(n), np.linspace(-0.8, 1.2, n_levels - 1))
    return X, y, rng.integers(0, n // 20, n), rng.integers(0, 3, n).astype(float)


@pytest.mark.parametrize("balance", ["pairs", "groups"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_each_is_what_its_own_fit_gives(form, balance, weighted, grouped):
    X, y, query, weight = data()
    grades = wo.Grades(y, query if grouped else None, weights=weight if weighted else None)
    ends = list(combinations(range(3), 2))
    rows = LevelledRows(X, grades.level, grades.group, grades.weight, balance, sides_of(ends))
    results, n_pairs = solve_side_by_side(rows, 0.7, tol=1e-9, max_iter=1000)
    for (low, high), result, count in zip(ends, results, n_pairs, strict=True):
        mine = (y == low) | (y == high)
        one = wo.RankSVM(0.7, balance=balance, tol=1e-9).fit(
            X[mine], y[mine], groups=query[mine] if grouped else None, sample_weight=weight[mine] if weighted else None
        )
        assert count == one.n_pairs_
        assert result.objective == pytest.approx(one.objective_, rel=1e-7)
        np.testing.assert_allclose(result.coef, one.coef_, rtol=1e-3, atol=1e-4)


def test_from_samples_to_all_rows_and_sparse(monkeypatch):
    monkeypatch.setattr(base_rankers, "_FEWEST_ROWS", 40)
    X, y, query, _ = data(6_000, n_levels=4)
    X[np.abs(X) < 0.5] = 0
    grades = wo.Grades(y, query)
    ends = [(0, 3), (1, 2), (0, 1)]
    by_form = [
        solve_side_by_side(
            LevelledRows(rows, grades.level, grades.group, None, "pairs", sides_of(ends)), 1.0, tol=1e-4, max_iter=100
        )[0]
        for rows in (X, sp.csr_array(X), X.astype(np.float32))
    ]
    for place, (low, high) in enumerate(ends):
        mine = (y == low) | (y == high)
        best = wo.RankSVM(tol=1e-9).fit(X[mine], y[mine], groups=query[mine]).objective_
        for results in by_form:
            assert best * (1 - 1e-6) <= results[place].objective <= best * (1 + 2e-4)


def test_a_sample_without_some_rankers_pairs_is_left_out(monkeypatch):
    monkeypatch.setattr(base_rankers, "_FEWEST_ROWS", 20)
    X, y, _, _ = data(2_000)
    query = np.arange(2_000) // 10
    y[:] = 0
    y[::10] = 1
    y[5] = 2  # in one list of 200
    level = wo.Grades(y, query).level
    results, n_pairs = solve_side_by_side(
        LevelledRows(X, level, query.astype(np.int32), None, "pairs", sides_of([(0, 1), (1, 2)])),
        1.0,
        tol=1e-6,
        max_iter=100,
    )
    assert n_pairs.tolist() == [200 * 9 - 1, 1]
    mine = y > 0
    one = wo.RankSVM(tol=1e-8).fit(X[mine], y[mine], groups=query[mine])
    assert results[1].objective == pytest.approx(one.objective_, rel=1e-5)
