"""Numbered features (LETOR): sparse matrices, brought to the width and form that a model knows."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..memory import available_bytes
from ..spaces import each_entry_once
from ..sweeps import Array, Floats, Ints
from ..writing import counted
from .lines import COPIES

_ROUNDED = 4
"""Units in the last place by which rounding alone may part numbers that are the same."""


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
            f"{counted(len(beyond), 'feature')} beyond number {width:,} (first {beyond[0] + 1:,}), of which the "
            "training data had none: ignored",
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
    free, needed = available_bytes(), X.shape[0] * X.shape[1] * 8 * COPIES
    if free is not None and needed > free:
        raise MemoryError(
            f"{X.shape[0]:,} rows of {X.shape[1]:,} features need about {needed / 1e9:.1f} GB of memory, and "
            f"{free / 1e9:.1f} GB are free; use fewer rows or features"
        )
    return np.asarray(X.toarray(), dtype=np.float64)


def is_rounding(low: Any, high: Any) -> Any:
    """Say whether numbers lie so near each other that rounding can have parted them, as 0.1 + 0.2 and 0.3.

    Whole numbers are not rounded, however large: whether those differ, the caller has to look.
    """
    with np.errstate(over="ignore"):
        return high - low <= _ROUNDED * np.spacing(np.maximum(np.abs(low), np.abs(high)))


def unit_of(low: Any, high: Any) -> Any:
    """Return the power of two next below the largest number: in such units nothing is rounded, and no square overflows.

    Examples
    --------
    >>> from wellorder.data.numbered import unit_of
    >>> [float(unit_of(low, high)) for low, high in ((0.0, 5.0), (-100.0, 1.0), (0.0, 0.0))]
    [4.0, 64.0, 0.5]
    """
    return np.ldexp(0.5, np.frexp(np.maximum(np.abs(low), np.abs(high)))[1])


class _Spread(NamedTuple):
    """The columns of a sparse matrix that have an entry, and from where to where each reaches, its zeros included."""

    used: Ints
    place: Ints  # of each entry among these columns
    n_zero: Ints  # rows without an entry
    low: Floats
    high: Floats

    def varies(self, X: sp.csr_array) -> Array:
        """Say which columns are not constant, but for rounding."""
        varies = self.low < self.high
        near = varies & is_rounding(self.low, self.high)
        if near.any():
            entries = np.flatnonzero(near[self.place])
            is_broken = X.data[entries] != np.rint(X.data[entries])
            varies &= ~near | (np.bincount(self.place[entries], is_broken, len(varies)) == 0)
        return varies


def _spread_of(X: sp.csr_array) -> _Spread:
    """Look through all entries once; O(entries), or with few entries in a wide matrix O(entries log entries)."""
    n_rows, width = X.shape
    if width <= X.nnz:
        used, place = np.arange(width), X.indices
    else:
        used, place = np.unique(X.indices, return_inverse=True)
    n_zero = n_rows - np.bincount(place, minlength=len(used))
    low, high = np.where(n_zero > 0, 0.0, np.inf), np.where(n_zero > 0, 0.0, -np.inf)
    np.minimum.at(low, place, X.data)
    np.maximum.at(high, place, X.data)
    return _Spread(used, place, n_zero, low, high)


def varying_columns(X: sp.csr_array) -> tuple[Ints, Floats]:
    """Return the columns that are not constant, and their standard deviations, zeros included."""
    spread = _spread_of(X)
    n_rows, n, place = X.shape[0], len(spread.used), spread.place
    unit = unit_of(spread.low, spread.high)
    zero = -(spread.low / unit)  # above the lowest, in these units; numbers near each other lose nothing so
    above = X.data / unit[place] + zero[place]
    mean = (np.bincount(place, above, n) + spread.n_zero * zero) / n_rows
    squares = np.bincount(place, (above - mean[place]) ** 2, n) + spread.n_zero * (zero - mean) ** 2
    varies = spread.varies(X)
    return spread.used[varies].astype(np.int64), (np.sqrt(squares / n_rows) * unit)[varies]


def constant_columns(X: sp.csr_array, most: int) -> tuple[int, Ints]:
    """Count the columns that never change, those without an entry too, and return the first few of them.

    Takes time and memory by the entries, not by the width.
    """
    spread = _spread_of(X)
    varying = spread.used[spread.varies(X)]
    # so many numbers from 0 have at least as many among them that do not vary as are asked for, or as there are
    first = np.setdiff1d(np.arange(min(X.shape[1], len(varying) + most)), varying)[:most]
    return X.shape[1] - len(varying), first
