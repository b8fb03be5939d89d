"""Which space the rows of X make: by where they lie, in this process's memory or in parts elsewhere."""

from __future__ import annotations

import sys
from typing import Any

import scipy.sparse as sp

from ..sweeps import Ints
from .function import RowSpace
from .linear import LinearSpace, near_zero


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
