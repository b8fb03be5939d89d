"""Which space the rows of X make: by where they lie, in this process's memory or in parts elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from ..sweeps import Ints
from .function import RowSpace
from .linear import LinearSpace


def linear_space(X: Any) -> RowSpace:
    """Return the space of scores that are linear in the columns of X."""
    if is_dask(X):
        from .dask import DaskSpace

        return DaskSpace.over(X)
    return LinearSpace(X)


def take_rows(X: Any, rows: Ints) -> Any:
    """Return a few rows of X, given by rising number, here."""
    if is_dask(X):
        from .dask import DaskSpace

        return DaskSpace.over(X).bring(rows)
    return X[rows]


def is_dask(X: Any) -> bool:
    """Say whether this is one of Dask's collections; nobody can have made one without having imported Dask."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))
