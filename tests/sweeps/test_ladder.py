"""Many levels: ranks swept over in chunks give what one tree over all ranks gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from wellorder.sweeps import sides


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("bounds", [[0, 70_000], [0, 30_000, 70_000], [0, 1, 1_000, 1_000, 1_007, 69_999, 70_000]])
def test_chunks_of_ranks_are_one_tree(bounds, mirror, monkeypatch):
    monkeypatch.setattr(sides, "_ONE_TREE", 1 << sides._CHUNK_BITS)  # a chunk is a tree, and these rows are several
    rng = np.random.default_rng(0)
    n, bounds = 70_000, np.array(bounds)
    rank = np.empty(n, np.int32)
    ascending = np.empty(n)
    for first, last in pairwise(bounds):
        ascending[first:last] = np.sort(rng.normal(size=last - first)).round(3)
        rank[first:last] = rng.integers(0, max(last - first, 1), last - first)  # ties, and ranks that nobody has
    steps = n - bounds[::-1] if mirror else bounds
    reach = sides.compiled_reach(ascending, steps, 0.7, mirror)
    payload = np.vstack([np.ones(n), ascending])
    found = sides.ladder_sums(rank, reach, payload, steps, mirror)
    expected = sides.fenwick_sums(rank, reach, payload, steps, mirror)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], atol=1e-8)
    assert found[0].any()
    for line in range(2):  # one by one they go another way, to the same bits
        np.testing.assert_array_equal(
            found[line : line + 1], sides.ladder_sums(rank, reach, payload[line : line + 1], steps, mirror)
        )
