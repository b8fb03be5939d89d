"""X, checked before anything is done with it: here or, where its rows lie in Dask's partitions, there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import validation

from ..order import GradedPairs
from ..spaces import each_entry_once, is_dask
from ..sweeps import Array, is_tensor, to_numpy

_FLOATS = (np.float64, np.float32)

_TAKE_DASK = ("RankSVM", "SwapSVM", "ProportionalOdds", "CompareSVM", "ConvexHullRanker")
"""The estimators that leave the rows of a Dask array where they lie."""


def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Check X as scikit-learn's function of this name does; refuse Dask's collections, of which all would come.

    A tensor comes here as an array, from wherever it lies, and a sparse matrix with every entry once.
    """
    if is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__} needs all rows in one place, and takes no Dask arrays; these do: "
            f"{', '.join(_TAKE_DASK)}. If X fits into memory, give X.compute()"
        )
    X = to_numpy(X) if is_tensor(X) else each_entry_once(X)
    return validation.validate_data(estimator, X, **options)


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check X, for an estimator that also takes Dask arrays and data frames: of these, all but their values."""
    if not is_dask(X) or not getattr(estimator, "takes_dask", False):
        return validate_data(estimator, X, accept_sparse="csr", dtype=_FLOATS, reset=reset)
    is_frame = hasattr(type(X), "to_dask_array")  # a Delayed itself has whatever attribute it is asked for
    if not is_frame and not hasattr(type(X), "chunks"):
        raise TypeError(f"X is a Dask {type(X).__name__}, which is no table; give a Dask array or data frame")
    header, X = (_empty_frame(X), X.to_dask_array()) if is_frame else (X, X)
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got a Dask array of shape {X.shape} instead: one row an item")
    validation.validate_data(estimator, header, skip_check_array=True, reset=reset)
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X holds {X.dtype}, not numbers; encode its columns first, each partition the same way")
    X = X if X.dtype in _FLOATS else X.astype(np.float64)
    if reset and np.isnan(X.shape[0]):  # how many rows a partition has turns out when it is computed
        X = X.persist().compute_chunk_sizes()
    for size, what in zip(X.shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
    return X


def keep_groups_whole(X: Any, pairs: Any) -> Any:
    """Move the borders between a Dask array's partitions to where groups end, if groups stand together."""
    if not is_dask(X) or not isinstance(pairs, GradedPairs) or pairs.group is None:
        return X
    from ..spaces.dask import align

    return align(X, pairs.group)


def hold_rows(X: Any) -> Any:
    """Have the partitions of a Dask array computed, looked through for NaN, and kept; an array is as it is."""
    if not is_dask(X):
        return X
    from ..spaces.dask import hold

    return hold(X)


def by_rows(function: Callable[[Any], Array], X: Any) -> Any:
    """Apply a function of rows; to a Dask array, when somebody computes the result, partition by partition."""
    if not is_dask(X):
        return function(X)
    from ..spaces.dask import map_rows

    return map_rows(function, X)


def _empty_frame(X: Any) -> Any:
    """Return a data frame with the columns' names and no rows."""
    import pandas as pd

    return pd.DataFrame(columns=list(X.columns))
