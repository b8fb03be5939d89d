from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from wellorder.sweeps.factors import block_log_sums, centre, means_before


def test_means_before_equals_a_loop():
    rng = np.random.default_rng(0)
    starts = np.array([0, 1, 8, 8, 30])
    log_mass, columns = 500 * rng.standard_normal(30), rng.standard_normal((30, 2))
    total, means = means_before(log_mass, columns, starts)
    for begin, end in pairwise(starts):
        assert total[begin:end][:1].tolist() in ([], [-np.inf])
        for k in range(begin + 1, end):
            share = np.exp(log_mass[begin:k] - log_mass[begin:k].max())
            np.testing.assert_allclose(means[k], share @ columns[begin:k] / share.sum(), rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(total[k], np.logaddexp.reduce(log_mass[begin:k]), rtol=1e-12)


def test_block_log_sums_of_huge_and_missing_values():
    values = np.array([1e3, 1e3, -1e3])
    np.testing.assert_allclose(block_log_sums(values, np.array([0, 0, 2]), 3), [1e3 + np.log(2), -np.inf, -1e3])


@pytest.mark.parametrize("compiled", [False, True])
def test_scores_of_each_block_have_the_mean_zero(compiled):
    scores, block = np.array([1e9, 1e9 + 4, 5.0, 7.0, -3.0, 8.0]), np.array([0, 0, 2, 2, -1, 1], np.int32)
    found, largest = centre(scores, block, 4, compiled=compiled)
    assert found.tolist() == [-2, 2, -1, 1, 0, 0]
    assert largest == 2
