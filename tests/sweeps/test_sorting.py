from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from wellorder.sweeps import sides

floats = st.floats(allow_nan=False, allow_infinity=True, width=64)


@given(arrays(np.float64, st.integers(0, 60), elements=floats))
def test_argsort_equals_numpy(values):
    rows = sides.radix_argsort(values)
    np.testing.assert_array_equal(values[rows], np.sort(values))
    assert sorted(rows.tolist()) == list(range(len(values)))


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).standard_normal(70_000),
        np.zeros(70_000),
        1.0 + np.random.default_rng(1).permutation(70_000) * 1e-15,  # differ in their last bits only
        np.random.default_rng(2).permutation(70_000) * 1e-300,
        np.random.default_rng(3).standard_cauchy(70_000) * 1e300,
    ],
    ids=["normal", "constant", "last bits", "tiny", "enormous"],
)
def test_argsort_is_exact_and_stable_on_hard_values(values):
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(sides.radix_argsort(values), np.argsort(values, kind="stable"))


@given(arrays(np.float64, st.integers(1, 40), elements=st.floats(-5, 5)), st.sampled_from([0.0, 0.5, 1.0]))
def test_reach_is_the_same_in_both_forms_and_both_directions(scores, margin):
    half = len(scores) // 2
    bounds = np.array([0, half, len(scores)], np.int32)
    ascending = np.concatenate([np.sort(scores[:half]), np.sort(scores[half:])])
    for mirror in (False, True):
        steps = bounds[-1] - bounds[::-1] if mirror else bounds
        climbing = -ascending[::-1] if mirror else ascending
        expected = [
            start + sum(climbing[p] - climbing[i] < margin for p in range(start, stop))
            for start, stop in pairwise(steps)
            for i in range(start, stop)
        ]
        np.testing.assert_array_equal(sides.plain_reach(ascending, steps, margin, mirror), expected)
        np.testing.assert_array_equal(sides.compiled_reach(ascending, steps, margin, mirror), expected)


def test_reach_agrees_on_pairs_exactly_one_apart():
    # 0.1 steps do not add up to 1 in binary: both directions must decide each pair alike
    ascending = np.cumsum(np.full(3_000, 0.1))
    n = len(ascending)
    bounds = np.array([0, n], np.int32)
    up = sides.compiled_reach(ascending, bounds, 1.0, False)
    down = sides.compiled_reach(ascending, bounds, 1.0, True)
    seen_from_below = {(i, p) for i in range(n) for p in range(i, up[i])}
    seen_from_above = {(n - 1 - p, n - 1 - i) for i in range(n) for p in range(i, down[i])}
    assert seen_from_below == seen_from_above
