"""The kernel between pairs of items: that of their differences in the kernel's own space."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sweeps import Array, Floats
from .kernels import Kernel

_ROWS = 512
"""Lines of the kernel that are made at a time, so that little beside the result is in memory."""


class PairKernel:
    """k(x'_i, x'_j) − k(x'_i, x_j) − k(x_i, x'_j) + k(x_i, x_j) between pairs (x, x') = (low, high) of items.

    From the matrix between all items where that is given, else from the items themselves: four values of the kernel an
    entry then, which is the less work where most items are in one pair only.
    """

    def __init__(self, kernel: Kernel, items: Any, matrix: Array | None = None) -> None:
        self._kernel, self._items, self._matrix = kernel, items, matrix

    def fill(self, high: Array, low: Array, out: Floats) -> None:
        """Write the kernel between all pairs into ``out``."""
        for a in range(0, len(high), _ROWS):
            b = min(a + _ROWS, len(high))
            self._lines(high[a:b], low[a:b], high[a:], low[a:], out[a:b, a:])
            out[a:b, a:b] = 0.5 * (out[a:b, a:b] + out[a:b, a:b].T)  # symmetric to the last bit
            out[b:, a:b] = out[a:b, b:].T

    def scores(self, coef: Floats) -> Floats:
        """Return Σ_j coef_j k(item_j, ·) of all items."""
        if self._matrix is not None:
            return np.asarray(self._matrix @ coef)
        standing = np.flatnonzero(coef)
        return self._kernel.scores(self._items, self._items[standing], coef[standing])

    def _lines(self, high: Array, low: Array, high_to: Array, low_to: Array, out: Floats) -> None:
        if self._matrix is not None:
            difference = self._matrix[high] - self._matrix[low]
            np.subtract(difference[:, high_to], difference[:, low_to], out=out)
            return
        X, n, n_to = self._items, len(high), len(high_to)
        values = self._kernel.matrix(X[np.append(high, low)], X[np.append(high_to, low_to)], dtype=np.float64)
        np.subtract(values[:n, :n_to], values[:n, n_to:], out=out)
        out -= values[n:, :n_to]
        out += values[n:, n_to:]
