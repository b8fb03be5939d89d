"""Rows of one group and value, added up by weight."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wellorder.sweeps.device import dense_ranks, run_weights


@pytest.mark.parametrize("n_groups", [1, 5])
def test_weights_of_rows_of_one_group_and_value(n_groups):
    rng = np.random.default_rng(n_groups)
    n = 60
    values, group, weight = rng.integers(0, 8, n) * 1.0, rng.integers(0, n_groups, n).astype(np.int32), rng.random(n)
    values[:2] = np.inf, -np.inf
    weight *= 10.0 ** rng.integers(-300, 300, n)
    runs = sorted(set(zip(group.tolist(), values.tolist(), strict=True)))
    of_group, found = run_weights(values, group, weight)
    assert of_group.tolist() == [g for g, _ in runs]
    expected = [math.fsum(weight[(group == g) & (values == value)]) for g, value in runs]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_ranks_are_dense_and_shared_by_equal_values():
    np.testing.assert_array_equal(dense_ranks(np.array([5.0, -np.inf, 5.0, np.inf, 0.0])), [2, 0, 2, 3, 1])
