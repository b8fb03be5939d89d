"""Several linear functions side by side, each over its own two parts of the rows; X is read once for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sweeps import Array, Floats, dot
from .function import Function


class StackedSpace:
    """Scores f_r(x) = scale_r · v_rᵀx of the rows of two parts, for each function r, one below the other.

    ``parts`` are dense or CSR blocks of rows; ``ends[r]`` are the two parts whose rows function r scores. The scores
    are those of function 0 on its first part, on its second, those of function 1, and so on; coefficients are
    v_0, v_1, …, and ‖f‖² = Σ ‖v_r‖². One product with a part serves all functions that score it.
    """

    def __init__(self, parts: list[Any], ends: list[tuple[int, int]], scale: Floats) -> None:
        self._parts, self.scale = parts, scale
        self.width = int(parts[0].shape[1])
        self.n_coef = self.width * len(ends)
        sizes = [[parts[end].shape[0] for end in pair] for pair in ends]
        stops = np.cumsum(np.ravel(sizes))
        self.n_rows = int(stops[-1])
        self._places: list[list[tuple[int, slice]]] = [[] for _ in parts]
        for number, (pair, stop, size) in enumerate(zip(ends, stops.reshape(-1, 2), sizes, strict=True)):
            for end, last, length in zip(pair, stop.tolist(), size, strict=True):
                self._places[end].append((number, slice(last - length, last)))

    def scores(self, coef: Floats) -> Floats:
        """Return the scores of all functions."""
        w = self._weights(coef)
        out = np.empty(self.n_rows)
        for part, places in zip(self._parts, self._places, strict=True):
            if places:
                wanted = w[[number for number, _ in places]]
                for line, (_, place) in zip((part @ wanted.T.astype(part.dtype)).T, places, strict=True):
                    out[place] = line
        return out

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return the coefficients of the gradient of a function of the scores."""
        out = np.zeros((len(self.scale), self.width))
        for part, places in zip(self._parts, self._places, strict=True):
            if places:
                lines = np.stack([scores_gradient[place] for _, place in places]).astype(part.dtype, copy=False)
                out[[number for number, _ in places]] += (part.T @ lines.T).T
        return np.asarray(self.scale[:, None] * out).ravel()

    def inner(self, a: Floats, b: Function) -> float:
        """Return the inner product of the functions with coefficients ``a`` and ``b``."""
        return dot(a, b.coef)

    def column(self, k: int) -> Floats:
        """Return column k of the rows of every function, one below the other, without scales."""
        out = np.empty(self.n_rows)
        for part, places in zip(self._parts, self._places, strict=True):
            values = part[:, [k]].toarray().ravel() if hasattr(part, "toarray") else part[:, k]
            for _, place in places:
                out[place] = values
        return out

    def blocks(self, columns: list[Floats]) -> Array:
        """Return X_rᵀ C_r of each function: C has one line a row of the stack, given by its columns."""
        out = np.zeros((len(self.scale), self.width, len(columns)))
        for part, places in zip(self._parts, self._places, strict=True):
            for number, place in places:
                lines = np.stack([column[place] for column in columns])
                out[number] += np.asarray(part.T @ lines.T, dtype=float)
        return out

    def _weights(self, coef: Floats) -> Floats:
        return np.asarray(self.scale[:, None] * coef.reshape(len(self.scale), self.width))
