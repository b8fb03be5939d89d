"""Rows with named columns, however they come: each column as numbers or text, and plain numbers all at once.

Whoever asks for the scores of a hundred rows waits for every column that is looked at by itself. So columns that are
numbers beyond doubt are read together; what is left is looked at column by column, and becomes the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from numbers import Real
from operator import itemgetter
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe, is_polars_dataframe

from ..order import as_objects, is_missing
from ..sweeps import Array, Floats

_PLAIN = "biuf"
"""Kinds of NumPy's types that are numbers beyond doubt: truth values, whole numbers, floats."""

_NUMBERS = {float, int, bool, type(None), np.float64, np.float32, np.int64, np.int32, np.bool_}
"""Types whose values NumPy converts to the same numbers as Python's ``float`` does; None becomes NaN."""


class Rows(Protocol):
    """A table of which columns are read by name."""

    def __len__(self) -> int:
        """How many rows there are."""
        ...

    @property
    def columns(self) -> list[str]:
        """The names of the columns, as text."""
        ...

    def has(self, names: Sequence[str]) -> bool:
        """Say whether there are columns of these names."""
        ...

    def column(self, name: str) -> Array:
        """Return one column: numbers with NaN where missing, or text with None."""
        ...

    def numbers(self, names: Sequence[str]) -> tuple[Floats, list[int]]:
        """Return columns as the columns of a matrix, and the places of those that need a closer look: not filled."""
        ...


def is_records(X: Any) -> bool:
    """Say whether these are rows that name their columns themselves: a list of dicts."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


class Records:
    """Rows that are dicts: a key that a row lacks is missing there, and so are None and NaN."""

    def __init__(self, rows: Sequence[Mapping[Any, Any]]) -> None:
        strange = None
        if set(map(type, rows)) != {dict}:
            strange = next((row for row, each in enumerate(rows) if not isinstance(each, Mapping)), None)
        if strange is not None:
            raise ValueError(
                f"row {strange} (from 0) is {type(rows[strange]).__name__}, and row 0 is a dict; give a dict a row"
            )
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def columns(self) -> list[str]:
        """The keys of all rows, as text."""
        return list(dict.fromkeys(key for row in self._by_text for key in row))

    def has(self, names: Sequence[str]) -> bool:
        """Say whether there are columns of these names: mostly the first row has them all."""
        return all(name in self._rows[0] for name in names) or {*names} <= {*self.columns}

    def column(self, name: str) -> Array:
        """Return the entries under one key."""
        try:
            entries = [row[name] for row in self._rows]
        except KeyError:
            entries = [row.get(name) for row in self._by_text]
        return from_objects(as_objects(entries))

    def numbers(self, names: Sequence[str]) -> tuple[Floats, list[int]]:
        """Read all entries at once where every row has every key, and none holds text."""
        shape = (len(self._rows), len(names))
        try:
            found = np.array(list(map(itemgetter(*names), self._rows)) if names else []).reshape(shape)
            if found.dtype == object and set(map(type, found.ravel().tolist())) <= _NUMBERS:
                found = found.astype(np.float64)
        except (KeyError, TypeError, ValueError, OverflowError):
            found = np.empty(shape, dtype=object)
        if found.dtype.kind in _PLAIN:
            return found.astype(np.float64, copy=False), []
        return np.empty(shape), list(range(len(names)))

    @cached_property
    def _by_text(self) -> Sequence[Mapping[Any, Any]]:
        """The rows with text for keys, as other tables have text for the names of columns."""
        return [{str(key): entry for key, entry in row.items()} for row in self._rows]


class FrameRows:
    """A data frame of polars, of pandas, or of what else narwhals knows."""

    def __init__(self, X: Any) -> None:
        self._native = X
        self._is_pandas, self._is_polars = is_pandas_dataframe(X), is_polars_dataframe(X)
        columns = list(X.columns) if self._is_pandas or self._is_polars else self._frame.columns
        self._name = {str(name): name for name in columns}
        if len(self._name) < len(columns):
            self._name = {str(name): name for name in self._frame.columns}  # narwhals refuses what is there twice

    def __len__(self) -> int:
        return len(self._native if self._is_pandas or self._is_polars else self._frame)

    @cached_property
    def _frame(self) -> nw.DataFrame[Any]:
        return nw.from_native(self._native, eager_only=True)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, as text."""
        return list(self._name)

    def has(self, names: Sequence[str]) -> bool:
        """Say whether there are columns of these names."""
        return {*names} <= self._name.keys()

    def column(self, name: str) -> Array:
        """Return one column."""
        if self._is_pandas or self._is_polars:
            listed = self._native[self._name[name]].to_list()
            if _are_text(listed):
                return _objects(listed)
        return read_values(self._frame.get_column(self._name[name]))

    def numbers(self, names: Sequence[str]) -> tuple[Floats, list[int]]:
        """Read the columns of plain types at once; those of other libraries' frames have to be looked at."""
        given = [self._name[name] for name in names]
        plain: list[int] = []
        if self._is_pandas:
            part = self._native[given]
            plain = [k for k, kind in enumerate(part.dtypes) if isinstance(kind, np.dtype) and kind.kind in _PLAIN]
            if len(plain) == len(names):
                return part.to_numpy(dtype=np.float64), []
            found = part.iloc[:, plain].to_numpy(dtype=np.float64).T
        elif self._is_polars:
            columns = [self._native.get_column(name).to_numpy() for name in given]
            plain = [k for k, column in enumerate(columns) if column.dtype.kind in _PLAIN]
            found = np.array([columns[k] for k in plain], dtype=np.float64)
        out = np.empty((len(names), len(self)))
        if plain:
            out[plain] = found
        return out.T, sorted({*range(len(names))} - {*plain})


class ArrayRows:
    """A 2d array, whose columns go by their places."""

    def __init__(self, X: Any, names: Sequence[str]) -> None:
        array = np.asarray(X)
        self._array = array if array.dtype.kind in _PLAIN else np.asarray(X, dtype=object)
        self._place = {name: place for place, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._array)

    @property
    def columns(self) -> list[str]:
        """The names that the columns were given."""
        return list(self._place)

    def has(self, names: Sequence[str]) -> bool:
        """Say whether there are columns of these names."""
        return {*names} <= self._place.keys()

    def column(self, name: str) -> Array:
        """Return one column."""
        column = self._array[:, self._place[name]]
        if column.dtype.kind in _PLAIN:
            return np.asarray(column, dtype=np.float64)
        return from_objects(column)

    def numbers(self, names: Sequence[str]) -> tuple[Floats, list[int]]:
        """Return all columns at once where the array holds numbers."""
        if self._array.dtype.kind not in _PLAIN:
            return np.empty((len(self._array), len(names))), list(range(len(names)))
        places = [self._place[name] for name in names]
        return np.asarray(
            self._array if places == [*range(self._array.shape[1])] else self._array[:, places], float
        ), []


def read_values(series: nw.Series[Any]) -> Array:
    """Read one column: numbers and truth values as float64, everything else as text."""
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return _numbers(series)
    if series.dtype == nw.String and not series.null_count():
        return _objects(series.to_list())
    return from_objects(as_objects(series.to_list()))


def from_objects(entries: Array) -> Array:
    """Return objects (None where missing) as numbers if all are such, otherwise as text."""
    if _are_text(entries.tolist()):
        return entries
    if all(entry is None or isinstance(entry, Real | np.bool_) for entry in entries):
        return np.array([np.nan if entry is None else float(entry) for entry in entries])
    return as_objects(None if entry is None else str(entry) for entry in entries)


def _are_text(entries: list[Any]) -> bool:
    """Say whether all entries that are not missing are text, and there are some."""
    kinds = set(map(type, entries))
    return str in kinds and kinds <= {str, type(None)}


def _objects(entries: list[Any]) -> Array:
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out


def _numbers(series: nw.Series[Any]) -> Array:
    if series.null_count() and not series.dtype.is_float():
        return np.array([np.nan if is_missing(entry) else float(entry) for entry in series.to_list()])
    return np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
