"""Linear scores f(x) = wᵀx over dense or sparse rows: the only place that multiplies by X."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Floats, Ints, dot, parallel_map
from .function import Function

_BLOCKS = 4
"""Sparse rows are multiplied in this many blocks, whatever the number of threads: the same bits."""


class LinearSpace:
    """Scores that are linear in the columns of X, with ‖f‖² = ‖w‖².

    X is a dense array or a SciPy CSR array, float64 or float32, and is never copied; coefficients and
    scores are float64 throughout.
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self.n_rows, self.n_coef = X.shape
        self._blocks = _row_blocks(X) if sp.issparse(X) else [(0, self.n_rows, X)]

    def scores(self, coef: Floats) -> Floats:
        """Return s = X w."""
        w = coef.astype(self._X.dtype, copy=False)
        parts = parallel_map(lambda block: block[2] @ w, self._blocks, self.n_rows)
        return np.concatenate(parts).astype(float, copy=False)

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return Xᵀ g: the gradient in w of a function with gradient g in the scores."""
        g = scores_gradient.astype(self._X.dtype, copy=False)
        parts = parallel_map(lambda block: block[2].T @ g[block[0] : block[1]], self._blocks, self.n_rows)
        return np.asarray(np.sum(parts, axis=0), dtype=float)

    def inner(self, a: Floats, b: Function) -> float:
        """Return the inner product of the function with coefficients ``a`` and ``b``."""
        return dot(a, b.coef)

    @property
    def matrix(self) -> Any:
        """X itself."""
        return self._X

    def take(self, rows: Ints) -> LinearSpace:
        """Return the space over some of the rows."""
        return LinearSpace(self._X[rows])

    def columns(self) -> Array:
        """Return X as a dense matrix, for small pieces of it."""
        return np.asarray(self._X.toarray() if sp.issparse(self._X) else self._X, dtype=float)

    def weighted_squares(self, weight: Floats) -> Floats:
        """Return Σ_i weight_i x_ik² for each column k."""
        if sp.issparse(self._X):
            squares = sp.csr_array((self._X.data**2, self._X.indices, self._X.indptr), shape=self._X.shape)
            return np.asarray(squares.T @ weight.astype(self._X.dtype, copy=False), dtype=float)
        out = np.zeros(self.n_coef)
        for a in range(0, self.n_rows, 16_384):  # no second X in memory
            block = self._X[a : a + 16_384]
            out += np.einsum("ij,ij,i->j", block, block, weight[a : a + 16_384])
        return out


def _row_blocks(X: Any) -> list[tuple[int, int, Any]]:
    """Cut CSR rows into blocks that share X's memory."""
    cuts = np.linspace(0, X.shape[0], _BLOCKS + 1).astype(int).tolist()
    blocks = []
    for a, b in pairwise(cuts):
        start, stop = X.indptr[a], X.indptr[b]
        parts = (X.data[start:stop], X.indices[start:stop], X.indptr[a : b + 1] - start)
        blocks.append((a, b, sp.csr_array(parts, shape=(b - a, X.shape[1]))))
    return blocks
