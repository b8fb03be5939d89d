"""Linear scores f(x) = wᵀx over dense or sparse rows: the only place that multiplies by X."""

from __future__ import annotations

import sys
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import (
    ALONE,
    COMPILED_OFTEN_FROM,
    Bools,
    Floats,
    Ints,
    add_rows,
    beside,
    cast,
    dot,
    is_tensor,
    multiplied_alone,
    multiply,
    parallel_map,
    to_numpy,
)
from .function import Function, PartedSpace, RowSpace

_BLOCKS = 4
"""Sparse rows are multiplied in this many blocks, whatever the number of threads: the same bits."""

_LOOKED_AT = 1_000
"""Rows that show where a column lies."""

_FAR = {4: 30.0, 8: 1e3}
"""A column lies far from zero where its middle is more than this many times its range, by the bytes of a number;
squares lose twice as many digits as the values do."""


class LinearSpace:
    """Scores that are linear in the columns of X, with ‖f‖² = ‖w‖².

    X is a dense array or a SciPy CSR array, float64 or float32, and is never copied; coefficients and
    scores are float64 throughout. Where X holds rows less an ``origin``, so do the scores: see :func:`near_zero`.
    """

    def __init__(self, X: Any, origin: Floats | None = None) -> None:
        self._X, self.origin = X, origin
        self.n_rows, self.n_coef = X.shape
        self._blocks = _row_blocks(X) if sp.issparse(X) else _dense_blocks(X)
        self._by_sweeps = multiplied_alone(X)

    def scores(self, coef: Floats) -> Floats:
        """Return s = X w."""
        if self._by_sweeps:
            return multiply(self._X, coef)
        w = coef.astype(self._X.dtype, copy=False)
        if len(self._blocks) == 1:
            return np.asarray(self._X @ w, dtype=float)
        parts = parallel_map(lambda block: block[2] @ w, self._blocks, self.n_rows)
        return np.concatenate(parts).astype(float, copy=False)

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return Xᵀ g: the gradient in w of a function with gradient g in the scores."""
        if self._by_sweeps:
            return add_rows(self._X, scores_gradient)
        g = scores_gradient.astype(self._X.dtype, copy=False)
        if len(self._blocks) == 1:
            return np.asarray(self._X.T @ g, dtype=float)
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

    def columns(self) -> Floats:
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


def _dense_blocks(X: Any) -> list[tuple[int, int, Any]]:
    """Cut a few rows into blocks that BLAS multiplies on the calling thread; leave many whole."""
    step = max(1, ALONE // max(1, X.shape[1]))
    if len(X) >= COMPILED_OFTEN_FROM or len(X) <= step:
        return [(0, len(X), X)]
    return [(a, min(a + step, len(X)), X[a : a + step]) for a in range(0, len(X), step)]


def _row_blocks(X: Any) -> list[tuple[int, int, Any]]:
    """Cut CSR rows into blocks that share X's memory."""
    cuts = np.linspace(0, X.shape[0], _BLOCKS + 1).astype(int).tolist()
    blocks = []
    for a, b in pairwise(cuts):
        start, stop = X.indptr[a], X.indptr[b]
        parts = (X.data[start:stop], X.indices[start:stop], X.indptr[a : b + 1] - start)
        blocks.append((a, b, sp.csr_array(parts, shape=(b - a, X.shape[1]))))
    return blocks


def near_zero(X: Any, beyond: float | None = None) -> tuple[Any, Floats | None]:
    """Return rows with the columns that lie far from zero moved there, and the origin: what was subtracted.

    Differences of scores do not depend on it, and thresholds move along. But X is rounded to its own size, and sums of
    squares of a column with mean 10⁸ and deviation 1 hold nothing of the deviation. Such columns show in a few rows,
    spread over X; only where there are some is X copied. (x − origin is exact.) A sparse column can only lie far
    from zero if it has an entry in every row, so sparse rows stay as sparse as they are. ``beyond`` so many times its
    range is far; unless told, what costs digits.
    """
    origin = find_origin(*column_ranges(X), X.dtype.itemsize, beyond)
    if origin is None:
        return X, None
    if not sp.issparse(X):
        return X - cast(beside(X, origin), X.dtype), origin
    origin = np.where(_is_full(X), origin, 0.0)
    return (_less(X, origin), origin) if origin.any() else (X, None)


def near_each_other(X: Any, Z: Any) -> tuple[Any, Any]:
    """Return sparse rows X and Z, moved to zero by the same origin: that of Z, if X has entries there, too."""
    moved, origin = near_zero(Z)
    if origin is None or not _is_full(X)[origin != 0].all():
        return X, Z
    return _less(X, origin), moved


def _is_full(X: Any) -> Bools:
    """Say of each column of sparse rows whether every row has an entry."""
    return np.asarray(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0])


def _less(X: Any, origin: Floats) -> Any:
    """Subtract an origin from the entries of sparse rows."""
    return sp.csr_array((X.data - origin[X.indices].astype(X.dtype), X.indices, X.indptr), X.shape)


def column_ranges(X: Any) -> tuple[Floats, Floats]:
    """Return the least and the greatest value of each column, over some rows; infinite for a sparse one with zeros."""
    some = X[:: max(1, X.shape[0] // _LOOKED_AT)]
    if not sp.issparse(X):
        some = to_numpy(some) if is_tensor(some) else some
        return some.min(axis=0).astype(float), some.max(axis=0).astype(float)
    low, high = np.full(X.shape[1], -np.inf), np.full(X.shape[1], np.inf)
    full = np.flatnonzero(_is_full(some))
    if len(full):
        values = some[:, full].toarray()
        low[full], high[full] = values.min(axis=0), values.max(axis=0)
    return low, high


def find_origin(low: Floats, high: Floats, itemsize: int, beyond: float | None = None) -> Floats | None:
    """Return the middle of each column that lies far from zero, and zero for the others; None where none does.

    A constant column is measured by the range of the widest one.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        spread, middle = high - low, 0.5 * low + 0.5 * high
        least = np.abs(middle) / (beyond or _FAR[itemsize])
        far = spread < least
        if not far.any():
            return None
        far &= (spread > 0) | (spread.max(where=np.isfinite(spread), initial=0.0) < least)
    if not far.any():
        return None
    return np.where(far, middle.astype(f"f{itemsize}"), 0.0)


def row_scores(X: Any, coef: Floats) -> Floats:
    """Return X w for rows that have come to be scored: of each the same bits, whatever rows stand beside it.

    BLAS sums a row up one way or another by its place in X, and by the number of its threads; and on a busy machine
    waking these takes longer than the product.
    """
    if type(X) is not np.ndarray:
        return np.asarray(X @ coef)
    dtype = np.result_type(X, coef)
    X, coef = X.astype(dtype, copy=False), coef.astype(dtype, copy=False)
    if X.shape[1] > ALONE:  # of such rows einsum makes pieces, others of one row than of many
        return np.array([dot(row, coef) for row in X], dtype=dtype)
    return np.asarray(np.einsum("ij,j->i", X, coef))


# --------------------------------------------------------------------------------------------------
# Which space the rows of X make: by where they lie, in this process's memory or in parts elsewhere.


def linear_space(X: Any) -> RowSpace:
    """Return the space of scores that are linear in the columns of X, those far from zero moved there."""
    if is_dask(X):
        from .dask import DaskSpace, rows_near_zero

        return DaskSpace.over(*rows_near_zero(X))
    return LinearSpace(*near_zero(X))


def take_rows(X: Any, rows: Ints) -> Any:
    """Return a few rows of X, given by rising number, here."""
    if is_dask(X):
        from .dask import DaskSpace

        return DaskSpace.over(X).bring(rows)
    return X[rows]


def each_entry_once(X: Any) -> Any:
    """Return X with the parts of entries that a CSR or CSC matrix holds in parts added up; X itself is left alone.

    SciPy allows such parts, and products with X add them up; squares, kernels and whoever reads a column do not.
    O(entries) to find out, and a copy only where there are some, or where the entries of a row are not sorted.
    """
    if not sp.issparse(X) or X.format not in ("csr", "csc") or X.has_canonical_format:
        return X
    whole = X.copy()
    whole.sum_duplicates()
    return whole


def is_dask(X: Any) -> bool:
    """Say whether this is one of Dask's collections; nobody can have made one without having imported Dask."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


# --------------------------------------------------------------------------------------------------
# Means and variances of columns, rows weighed.


def column_moments(X: Any, share: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of each column, the rows counted by shares that add up to 1."""
    space = linear_space(X)
    mean = space.adjoint(share)
    if isinstance(space, PartedSpace):
        variance = np.sum(space.each(partial(_about, mean), space.cut(share)), axis=0)
    else:
        assert isinstance(space, LinearSpace)
        variance = _about(mean, space, share)
    return mean if space.origin is None else mean + space.origin, np.maximum(variance, 0.0)


def _about(mean: Floats, part: LinearSpace, share: Floats) -> Floats:
    """Return Σ share (x − mean)² of each column; of sparse rows, without filling them in."""
    if sp.issparse(part.matrix):
        return np.asarray(part.weighted_squares(share) + mean * (mean * share.sum() - 2.0 * part.adjoint(share)))
    return LinearSpace(part.matrix - mean).weighted_squares(share)


# --------------------------------------------------------------------------------------------------
# Coefficients as their own scores: for risks that are evaluated elsewhere, and come back as functions of them.


class CoefficientSpace:
    """R^d: the scores of a function are its coefficients, and ‖f‖² = ‖w‖².

    A risk R(X w) whose rows lie elsewhere is, seen from here, a risk of w alone, with the gradient Xᵀ g and the
    Hessian Xᵀ H X. A solver that knows neither X nor its rows minimises it all the same.
    """

    def __init__(self, n_coef: int) -> None:
        self.n_rows = self.n_coef = n_coef

    def scores(self, coef: Floats) -> Floats:
        """Return the coefficients."""
        return coef

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return the gradient itself."""
        return scores_gradient

    def inner(self, a: Floats, b: Function) -> float:
        """Return aᵀb."""
        return dot(a, b.coef)
