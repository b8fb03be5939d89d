"""Columns of any kind of table, read the same way: numbers with NaN, or text with None, where missing."""

from __future__ import annotations

from numbers import Real
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import polars as pl

from ..order.columns import as_objects, is_missing
from ..sweeps import Array
from .table import Table

Columns: TypeAlias = dict[str, Array]
"""Float64 arrays (numbers), or arrays of str and None (categories)."""


def is_frame(X: Any) -> bool:
    """Say whether this is a table with named columns: ours, of polars, of pandas or the like."""
    if isinstance(X, Table):
        return isinstance(X.X, pl.DataFrame)
    return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame)


def column_names(X: Any) -> list[str]:
    """Return the names of a frame's columns, as text."""
    return [str(name) for name in _frame(X).columns]


def read_columns_of(X: Any, names: list[str]) -> Columns:
    """Read some columns of a frame."""
    frame = _frame(X)
    native = {str(name): name for name in frame.columns}
    return {name: read_values(frame[native[name]]) for name in names}


def read_values(series: nw.Series[Any]) -> Array:
    """Read one column: numbers and truth values as float64, everything else as text."""
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return _numbers(series)
    if series.dtype == nw.String and not series.null_count():
        out = np.empty(len(series), dtype=object)
        out[:] = series.to_list()
        return out
    return from_objects(as_objects(series.to_list()))


def from_objects(entries: Array) -> Array:
    """Return objects (None where missing) as numbers if all are such, otherwise as text."""
    if all(entry is None or isinstance(entry, Real | np.bool_) for entry in entries):
        return np.array([np.nan if entry is None else float(entry) for entry in entries])
    return as_objects(None if entry is None else str(entry) for entry in entries)


def to_polars(X: Any) -> pl.DataFrame:
    """Return any frame as polars holds it: Float64 and String columns."""
    columns = read_columns_of(X, column_names(X))
    return pl.DataFrame([to_series(name, values) for name, values in columns.items()])


def to_series(name: str, values: Array) -> pl.Series:
    """Return one column as polars holds it."""
    if values.dtype.kind == "f":
        return pl.Series(name, values, dtype=pl.Float64, nan_to_null=True)
    return pl.Series(name, values.tolist(), dtype=pl.String)


def _frame(X: Any) -> nw.DataFrame[Any]:
    return nw.from_native(X.X if isinstance(X, Table) else X, eager_only=True)


def _numbers(series: nw.Series[Any]) -> Array:
    if series.null_count() and not series.dtype.is_float():
        return np.array([np.nan if is_missing(entry) else float(entry) for entry in series.to_list()])
    return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
