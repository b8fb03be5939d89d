"""Numbered features (LETOR): sparse matrices, brought to the width and form that a model knows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..memory import available_bytes
from ..spaces import each_entry_once
from ..sweeps import Floats, Ints

_COPIES = 3
ROUNDING = 1e-14
"""Standard deviation, as a share of the largest entry, that rounding alone can give a constant column."""


def as_rows(X: Any) -> sp.csr_array:
    """Return numbered features as a CSR array of finite numbers, each entry once."""
    if not sp.issparse(X) and not (isinstance(X, np.ndarray) and X.ndim == 2):
        raise ValueError("the model was fitted on numbered features (LETOR); give a CSR matrix or a LETOR file")
    matrix = sp.csr_array(X, dtype=np.float64)
    if not np.isfinite(matrix.data).all():
        raise ValueError("a feature is infinite or not a number; give finite numbers")
    return each_entry_once(matrix)


def warn_beyond(X: sp.csr_array, width: int) -> None:
    """Warn of features that the training data did not reach: they are ignored."""
    if X.shape[1] <= width:
        return
    beyond = np.unique(X.indices[(X.indices >= width) & (X.data != 0)])
    if len(beyond):
        warnings.warn(
            f"{len(beyond):,} features beyond number {width:,} (first {beyond[0] + 1:,}) are ignored: the training "
            "data had none of them",
            stacklevel=4,
        )


def pick_columns(X: sp.csr_array, columns: Ints) -> sp.csr_array:
    """Return some columns (ascending numbers); those that X does not reach are zero.

    Takes time and memory by the entries, not by the width: a file can name feature 2,000,000,000.
    """
    if not len(columns):
        return sp.csr_array((X.shape[0], 0))
    place = np.minimum(np.searchsorted(columns, X.indices), len(columns) - 1)
    kept = columns[place] == X.indices
    counts = np.append(0, np.cumsum(kept))[X.indptr]
    return sp.csr_array((X.data[kept], place[kept], counts), shape=(X.shape[0], len(columns)))


def dense(X: sp.csr_array) -> Floats:
    """Return a sparse matrix as an array, if it fits into memory."""
    free, needed = available_bytes(), X.shape[0] * X.shape[1] * 8 * _COPIES
    if free is not None and needed > free:
        raise MemoryError(
            f"{X.shape[0]:,} rows of {X.shape[1]:,} features need about {needed / 1e9:.1f} GB of memory, and "
            f"{free / 1e9:.1f} GB are free; use fewer rows or features"
        )
    return np.asarray(X.toarray(), dtype=np.float64)


def varying_columns(X: sp.csr_array) -> tuple[Ints, Floats]:
    """Return the columns that are not constant, and their standard deviations, zeros included."""
    n_rows = X.shape[0]
    used, place = np.unique(X.indices, return_inverse=True)
    n = len(used)
    largest = np.zeros(n)
    np.maximum.at(largest, place, np.abs(X.data))
    share = X.data / np.where(largest > 0, largest, 1.0)[place]  # squares of 1e200 do not overflow
    mean = np.bincount(place, share, n) / n_rows
    squares = np.bincount(place, (share - mean[place]) ** 2, n)
    n_zero = n_rows - np.bincount(place, minlength=n)
    deviation = np.sqrt((squares + n_zero * mean**2) / n_rows)
    varies = (deviation > ROUNDING) & (largest > 0)
    return used[varies].astype(np.int64), (deviation * largest)[varies]
