"""Pairs with different values, counted by weight in each group."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.sweeps.device import dense_ranks, untied_weight


@pytest.mark.parametrize("n_groups", [1, 5])
def test_pairs_of_different_values_one_by_one(n_groups):
    rng = np.random.default_rng(n_groups)
    n = 60
    values, group, weight = rng.integers(0, 8, n) * 1.0, rng.integers(0, n_groups, n).astype(np.int32), rng.random(n)
    values[:2] = np.inf, -np.inf
    expected = np.zeros(n_groups)
    for i in range(n):
        for j in range(i):
            if group[i] == group[j] and values[i] != values[j]:
                expected[group[i]] += weight[i] * weight[j]
    np.testing.assert_allclose(untied_weight(values, group, weight, n_groups), expected)


def test_groups_without_a_row():
    found = untied_weight(np.array([1.0, 2.0]), np.array([2, 2], np.int32), np.ones(2), 4)
    np.testing.assert_array_equal(found, [0, 0, 1, 0])


def test_ranks_are_dense_and_shared_by_equal_values():
    np.testing.assert_array_equal(dense_ranks(np.array([5.0, -np.inf, 5.0, np.inf, 0.0])), [2, 0, 2, 3, 1])
