"""Nyström features: a large kernel problem as a linear one over a few landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sweeps import Array, Ints
from .kernels import Kernel, block_rows
from .linear import near_zero
from .rows import take_rows

_LEAST_VALUE = {4: 1e-6, 8: 1e-12}
"""Eigenvalues below this part of the largest are rounding, by the bytes of a number."""


class NystroemMap:
    """φ(x) = K_zz^{−½} k(z, x) over landmarks z: inner products of features approximate the kernel.

    Exact on the span of the landmarks; with all rows as landmarks it is the kernel itself. Landmarks are
    rows of X, or the numbers of rows where X holds a precomputed kernel.
    """

    def __init__(self, kernel: Kernel, landmarks: Any, root: Array) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.root = root

    @classmethod
    def fit(
        cls, kernel: Kernel, X: Any, n_components: int, rng: np.random.Generator, among: Ints | None = None
    ) -> NystroemMap:
        """Draw landmarks from the rows of X, or from some of them, and take the inverse root of their kernel."""
        n_rows = X.shape[0] if among is None else len(among)
        chosen = np.sort(rng.choice(n_rows, min(n_components, n_rows), replace=False))
        chosen = chosen if among is None else among[chosen]
        drawn = take_rows(X, chosen)
        if kernel.name == "linear" and len(chosen) > 1:
            drawn, _ = near_zero(drawn)  # k(x, z − a) is k(x − a, z − a) plus a constant, which scores do not miss
        landmarks = chosen if kernel.name == "precomputed" else drawn
        value, vector = np.linalg.eigh(_against(kernel, drawn, landmarks).astype(float))
        # directions that floating point can still tell: features of rows are computed in X's own precision
        kept = value > value.max(initial=0.0) * _LEAST_VALUE[X.dtype.itemsize]
        root = vector[:, kept] / np.sqrt(value[kept])
        return cls(kernel, landmarks, root.astype(X.dtype))

    def transform(self, X: Any) -> Array:
        """Return the features of rows, one column a kept direction."""
        rows = block_rows(len(self.root))
        blocks = [
            _against(self.kernel, X[a : a + rows], self.landmarks) @ self.root for a in range(0, X.shape[0], rows)
        ]
        return np.concatenate(blocks)


def _against(kernel: Kernel, X: Any, landmarks: Any) -> Array:
    """Return the kernel between rows and landmarks."""
    if kernel.name != "precomputed":
        return kernel.matrix(X, landmarks)
    columns = X[:, landmarks]
    return np.asarray(columns.toarray() if hasattr(columns, "toarray") else columns)
