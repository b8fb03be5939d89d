"""One column of values, from an array, a list, or a data frame's series."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from ..sweeps import Array, Floats, Ints, argsort, is_tensor, to_numpy, use_compiled
from ..sweeps.device import rank_there

_FEW = 65_536
"""Whole numbers within this range are numbered by counting instead of sorting."""


def read_column(values: Any, name: str) -> Array:
    """Read one column as an array; ``name`` is how errors call it. Tuples in a list stay whole.

    A column with missing entries that are neither floats nor NumPy's times comes back as objects, with None for those.
    Times without a unit (NumPy's generic ``timedelta64``) are refused: three of them may be days or nanoseconds.
    """
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
    return _with_units(array, name) if array.dtype.kind in "OmM" else array


def own_order(values: Any) -> tuple[tuple[Hashable, ...], bool] | None:
    """Return the categories of a pandas Categorical or polars Enum, and whether they have an order."""
    dtype = getattr(values, "dtype", None)
    match type(dtype).__name__:
        case "CategoricalDtype":
            return tuple(dtype.categories.tolist()), bool(dtype.ordered)  # type: ignore[union-attr]
        case "Enum":
            return tuple(dtype.categories.to_list()), True  # type: ignore[union-attr]
        case "Categorical":
            return tuple(sorted(values.drop_nulls().unique().to_list())), False
    return None


def as_objects(entries: Iterable[Any]) -> Array:
    """Put entries into an array of objects, one each, whatever they are; missing ones become None."""
    listed = [None if is_missing(entry) else entry for entry in entries]
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def is_missing(value: Any) -> bool:
    """Say whether a value stands for 'not given': None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, numbers.Number | np.datetime64 | np.timedelta64) and bool(value != value)


_EXACT = 2**53
"""Whole numbers up to this, and their negatives, are floats as they are; beyond it two may become one."""


def exact_numbers(values: Any) -> Array:
    """Read an array of numbers: float64, unless some that differ would come out equal then.

    Large whole numbers stay as they are (Python's own as objects), and so do floats of more digits. Missing numbers
    are NaN.
    """
    array = np.asarray(values)
    kind = array.dtype.kind
    if kind == "f" and isinstance(values, list | tuple) and (np.abs(array) >= _EXACT).any():
        array = np.array(values, dtype=object)  # whole numbers among floats, or beyond 64 bits
        kind = "O"
    if kind == "O":
        entries = np.array([np.nan if is_missing(value) else value for value in array.flat], dtype=object)
        if all(isinstance(value, numbers.Real) for value in entries) and not all(_is_float(value) for value in entries):
            return entries.reshape(array.shape)
        return entries.astype(float).reshape(array.shape)
    large = kind in "iu" and array.size and (array.max() > _EXACT or array.min() < -_EXACT)
    return array if large or (kind == "f" and array.itemsize > 8) else array.astype(float, copy=False)


def _is_float(value: Any) -> bool:
    """Say whether a number is the same as a float."""
    return isinstance(value, float) or (-_EXACT <= value <= _EXACT and value == float(value))


def in_order(values: Array) -> Floats:
    """Replace numbers that are not float64 by their ranks, equal ones sharing theirs. No NaN."""
    if values.dtype == np.float64:
        return values
    if values.dtype.kind == "O":
        place_of = {value: place for place, value in enumerate(sorted(set(values.tolist())))}
        return np.array([place_of[value] for value in values.tolist()], dtype=float)
    return rank_values(values)[0].astype(float)


def rank_values(values: Array, where: Any = None) -> tuple[Ints, Array]:
    """Give numbers to the distinct values, in ascending order; by counting where they are few whole numbers.

    Returns the number of each row's value, and the distinct values. No NaN. If values came from ``where``, a tensor
    on a device, that device sorts them.
    """
    offset = _small_offsets(values)
    if offset is not None:
        present = np.bincount(offset) > 0
        number = (np.cumsum(present) - 1).astype(np.int32)
        low = values.min().astype(np.float64) if values.dtype.kind == "f" else values.min()
        return number[offset], (np.flatnonzero(present).astype(low.dtype) + low).astype(values.dtype)
    if is_tensor(where) and where.device.type != "cpu":
        return rank_there(values, where)
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
    codes = np.empty(len(values), np.int32)
    for row, value in enumerate(values):
        try:
            codes[row] = seen.setdefault(value, len(seen))
        except TypeError:
            raise TypeError(f"row {row} has {value!r}, which is not hashable") from None
    return codes, list(seen)


def _small_offsets(values: Array) -> Array | None:
    """Return the distance of each value from the smallest, if all are whole and close together."""
    if len(values) == 0 or values.dtype.kind not in "iuf":
        return None
    low, high = values.min(), values.max()
    if values.dtype.kind == "f":
        wide = values.astype(np.float64, copy=False)
        if max(abs(float(low)), abs(float(high))) >= 2**53 or float(high) - float(low) >= _FEW:
            return None
        offset = wide - float(low)
        return offset.astype(np.int64) if (wide == np.rint(wide)).all() else None
    if int(high) - int(low) >= _FEW:
        return None
    return np.asarray(
        (values - low).astype(np.int64) if values.dtype.kind == "u" else values.astype(np.int64) - int(low)
    )


def _with_units(values: Array, name: str) -> Array:
    """Return the column; objects that are all NumPy's times of one kind, or missing, become an array of times."""
    if values.dtype.kind != "O":
        if np.datetime_data(values.dtype)[0] == "generic":
            _check_unit(values, name)
        return values
    if not {np.datetime64, np.timedelta64} & set(map(type, values)):
        return values
    values = as_objects(values)  # NaT, which needs no unit, is None now
    _check_unit(values, name)
    kinds = {type(value) for value in values if value is not None}
    if kinds not in ({np.datetime64}, {np.timedelta64}):
        return values
    return np.array(values.tolist(), np.result_type(*{value.dtype for value in values if value is not None}))


def _check_unit(values: Array, name: str) -> None:
    for row, value in enumerate(values):
        if not isinstance(value, np.datetime64 | np.timedelta64) or np.isnat(value):
            continue
        if np.datetime_data(value.dtype)[0] == "generic":
            raise ValueError(
                f"{name}[{row}] is a {value.dtype.name} without a unit: {value.astype(np.int64)} of what? Give it one, "
                f"such as days with .astype('{value.dtype.name}[D]')"
            )


def _to_array(values: Any) -> Array:
    if is_tensor(values):
        return to_numpy(values)
    if isinstance(values, np.ma.MaskedArray):
        return as_objects(values.tolist())
    if isinstance(values, np.ndarray):
        return as_objects(values.tolist()) if values.dtype.kind == "T" else values
    series = _as_series(values)
    if series is not None:
        if series.null_count() and not series.dtype.is_float():
            return as_objects(series.to_list())
        array = series.to_numpy()
        return array if array.dtype.kind in "biufUSmMO" else as_objects(series.to_list())
    if hasattr(values, "__array__") or isinstance(values, str) or not hasattr(values, "__iter__"):
        return np.asarray(values)
    entries = list(values)
    kinds = {type(entry) for entry in entries}
    if kinds <= {float, np.float64} or kinds == {bool}:
        return np.asarray(entries)
    if kinds <= {int, np.int64} and all(-(2**63) <= entry < 2**63 for entry in entries):
        return np.asarray(entries)
    return as_objects(entries)


def _as_series(values: Any) -> Any:
    """View a pandas or polars series (or a frame of one column) through narwhals; None if it is neither."""
    if isinstance(values, list | tuple) or not hasattr(values, "__len__"):
        return None
    import narwhals as nw

    native = nw.from_native(values, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame) and native.shape[1] == 1:
        return native[native.columns[0]]
    return native if isinstance(native, nw.Series) else None
