"""Functions f = Σ β_i k(x_i, ·) over a kernel matrix, in functional form: no product with K is wasted."""

from __future__ import annotations

import numpy as np

from ..sweeps import Array, Floats, Ints, dot
from .function import Function


class KernelSpace:
    """Scores s = Kβ with ‖f‖² = βᵀKβ.

    A gradient g in the scores is the function with coefficients g: the adjoint costs nothing, and
    every inner product with a function whose scores are known costs O(n).
    """

    def __init__(self, K: Array) -> None:
        self._K = K
        self.n_rows = self.n_coef = K.shape[0]

    def scores(self, coef: Floats) -> Floats:
        """Return s = Kβ."""
        return np.asarray(self._K @ coef.astype(self._K.dtype, copy=False), dtype=float)

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return the coefficients of the gradient: g itself."""
        return scores_gradient

    def inner(self, a: Floats, b: Function) -> float:
        """Return aᵀKb, from b's scores."""
        return dot(a, b.scores)

    def lines(self, rows: Ints) -> Array:
        """Return the kernel between some of the rows and all."""
        return self._K[rows]
