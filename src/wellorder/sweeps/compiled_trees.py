"""The Numba form of :mod:`wellorder.sweeps.trees`."""

from __future__ import annotations

import numpy as np

from .arrays import Array, Floats, Ints
from .compiled import jit

_ROWS = 256
"""Rows that go through all trees together: few enough to stay near the processor."""


@jit
def tree_sums(
    X: Array, feature: Ints, threshold: Floats, left: Ints, right: Ints, value: Floats, roots: Ints
) -> Floats:
    """Walk every row down every tree; a block of rows at a time, and the block tree after tree."""
    n = len(X)
    out = np.zeros(n)
    for begin in range(0, n, _ROWS):
        for root in roots:
            for i in range(begin, min(begin + _ROWS, n)):
                k = root
                # ends: children stand after their parents
                while left[k] >= 0:
                    k = left[k] if X[i, feature[k]] <= threshold[k] else right[k]
                out[i] += value[k]
    return out
