"""One column of values, from an array, a list, or a data frame's series."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..sweeps import Array, Ints, argsort, use_compiled

_PLAIN = (int, float, bool, np.number, np.bool_)


def read_column(values: Any, name: str) -> Array:
    """Read one column as an array; ``name`` is how errors call it. Tuples in a list stay whole."""
    array = _to_array(values)
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            f"A column-vector {name} was passed when a 1d array was expected: use {name}.ravel()",
            DataConversionWarning,
            stacklevel=2,
        )
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {array.shape} instead.")
    return array


def read_series(values: Any) -> Any:
    """View a pandas or polars series (or a frame of one column) through narwhals; None if it is neither."""
    if isinstance(values, np.ndarray | list | tuple) or not hasattr(values, "__len__"):
        return None
    import narwhals as nw

    native = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame) and native.shape[1] == 1:
        return native[native.columns[0]]
    return native if isinstance(native, nw.Series) else None


def as_objects(entries: Any) -> Array:
    """Put entries into an array of objects, one each, whatever they are."""
    listed = list(entries)
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def is_missing(value: Any) -> bool:
    """Say whether a value stands for 'not given': None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, numbers.Real) and value != value


def rank_values(values: Array) -> tuple[Ints, Array]:
    """Give numbers to the distinct values, in ascending order; one pass where they are few whole numbers.

    Returns the number of each row's value, and the distinct values. No NaN.
    """
    if len(values) and values.dtype.kind in "iuf":
        low, high = values.min(), values.max()
        if float(high) - float(low) < 65_536:
            offset = (values - low).astype(np.int64) if values.dtype.kind != "i" else values.astype(np.int64) - int(low)
            if values.dtype.kind != "f" or (offset == values - low).all():
                present = np.bincount(offset) > 0
                numbered = (np.cumsum(present) - 1).astype(np.int32)
                return numbered[offset], (low + np.flatnonzero(present)).astype(values.dtype)
    compiled = values.dtype == np.float64 and use_compiled(len(values))
    order = argsort(values, compiled=compiled)
    ascending = values[order]
    first = np.append(True, ascending[1:] != ascending[:-1])[: len(values)]
    codes = np.empty(len(values), np.int32)
    codes[order] = np.cumsum(first) - 1
    return codes, ascending[first]


def number_objects(values: Array) -> tuple[Ints, list[Hashable]]:
    """Give numbers to the distinct objects, in the order of their first appearance."""
    seen: dict[Hashable, int] = {}
    codes = np.fromiter((seen.setdefault(value, len(seen)) for value in values), np.int32, len(values))
    return codes, list(seen)


def _to_array(values: Any) -> Array:
    if isinstance(values, np.ndarray):
        return values
    series = read_series(values)
    if series is not None:
        if series.null_count() and not series.dtype.is_numeric():
            return as_objects(series.to_list())
        array = series.to_numpy()
        return array if array.dtype.kind in "biufUSmMO" else as_objects(series.to_list())
    if hasattr(values, "__array__"):
        return np.asarray(values)
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        return np.asarray(values)
    entries = list(values)
    if all(isinstance(e, str) for e in entries) or all(isinstance(e, _PLAIN) for e in entries):
        return np.asarray(entries)
    return as_objects(entries)
