"""Columns as people give them (grades, group ids, weights), read into arrays of levels, codes and numbers."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

from ..sweeps import Array, Bools, Floats, Ints, argsort, is_tensor, rank_there, to_numpy, use_compiled
from .graph import Labels, shown
from .words import likely_order, look_like_votes

# --------------------------------------------------------------------------------------------------
# One column of values, from an array, a list, or a data frame's series.


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


_NEVER_MISSING = {str, bytes, bool, int, tuple}
"""Types none of whose values stands for 'not given'."""


def as_objects(entries: Iterable[Any]) -> Array:
    """Put entries into an array of objects, one each, whatever they are; missing ones become None."""
    listed = list(entries)
    if not set(map(type, listed)) <= _NEVER_MISSING:  # many entries, few types: most columns are not looked through
        listed = [None if is_missing(entry) else entry for entry in listed]
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
    listed = list(values)
    try:
        number = {value: code for code, value in enumerate(dict.fromkeys(listed))}
    except TypeError:
        row = next(row for row, value in enumerate(listed) if not has_hash(value))
        raise TypeError(f"row {row} has {listed[row]!r}, which is not hashable") from None
    return np.fromiter(map(number.__getitem__, listed), np.int32, len(listed)), list(number)


def has_hash(value: Any) -> bool:
    """Say whether a value may be an id: its own hash may fail though its class has one, as that of a tuple of lists."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


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
        return offset.astype(np.int64) if (values == np.rint(wide)).all() else None  # long doubles have more digits
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


# --------------------------------------------------------------------------------------------------
# Grades as people write them, turned into level numbers; group ids of any kind, turned into codes.


UNJUDGED = -1
"""The level number of a row whose grade is missing."""


def encode_grades(y: Any, levels: Iterable[Hashable] | None = None) -> tuple[Ints, Labels]:
    """Turn grades into level numbers, lowest first; missing grades become :data:`UNJUDGED`.

    Returns the level number of each row, and the levels' labels.
    """
    if levels is not None:
        declared = tuple(levels.tolist() if isinstance(levels, np.ndarray) else levels)
        return _by_declared_levels(read_column(y, "y"), declared), declared
    categories = own_order(y)
    if categories is not None:
        names, ordered = categories
        if not ordered:
            _refuse_unordered(f"y is a categorical column without an order ({shown(names)})", names)
        return _by_declared_levels(as_objects(y), names), names
    values = read_column(y, "y")
    if values.dtype.kind in "USO":
        return _rank_objects(values)
    if values.dtype.kind == "b":
        codes, distinct = rank_values(values.astype(np.int8))
        return codes, tuple(distinct.astype(bool).tolist())
    if values.dtype.kind not in "iufmM":
        raise ValueError(f"grades of type {values.dtype} have no order; give numbers, or text with levels=")
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise ValueError(
            f"Input y contains infinity or a value too large for {values.dtype!r}, first in row {row}; "
            "use NaN for a row without a grade"
        )
    missing = values != values  # NaN and NaT
    codes, distinct = rank_values(values[~missing] if missing.any() else values, where=y)
    return _spread(codes, missing), distinct


def encode_groups(groups: Any, n_rows: int) -> tuple[Ints | None, int]:
    """Turn group ids (any hashable, rows in any order) into codes 0, 1, …; None is one group.

    Returns the code of each row (None where all rows are one group) and the number of groups.
    """
    if groups is None:
        return None, 1
    if np.isscalar(groups):
        raise ValueError(
            f"groups should be a 1d array with one id a row, such as frame['query'], and is {groups!r}; other options "
            "go by their names, such as k=10"
        )
    ids = read_column(groups, "groups")
    if len(ids) != n_rows:
        advice = "give one id a row"
        if ids.dtype.kind in "iu" and ids.sum() == n_rows and (ids > 0).all():  # as LightGBM wants them
            advice = "they look like the sizes of lists: give one id a row, np.repeat(np.arange(len(groups)), groups)"
        raise ValueError(f"groups has {len(ids)} entries for {n_rows} rows; {advice}")
    if ids.dtype.kind == "O":
        ids = as_objects(ids)
        missing = np.array([value is None for value in ids], dtype=bool)
    else:
        missing = ids != ids
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(f"row {row} has no group id (missing value in groups); give it one, or drop the row")
    if ids.dtype.kind != "O":
        codes, distinct = rank_values(ids)
        return codes, len(distinct)
    try:
        codes, seen = number_objects(ids)
    except TypeError as error:
        raise TypeError(f"group ids must be hashable: {error}") from None
    return codes, len(seen)


def _spread(codes: Ints, missing: Bools) -> Ints:
    if not missing.any():
        return codes
    level = np.full(len(missing), UNJUDGED, np.int32)
    level[~missing] = codes
    return level


def _by_declared_levels(values: Array, levels: tuple[Hashable, ...]) -> Ints:
    if values.dtype.kind in "mM":
        times = read_column(levels, "levels")
        if times.dtype.kind == values.dtype.kind:  # days equal the hours that they have, but only in one unit
            unit = np.result_type(values, times)
            values, levels = values.astype(unit), tuple(times.astype(unit).tolist())
    place_of: dict[Hashable, int] = {}
    for place, level in enumerate(levels):
        if is_missing(level):
            raise ValueError(f"levels= lists {level!r}, which stands for a missing grade")
        if level in place_of:
            raise ValueError(f"levels= lists {level!r} twice")
        place_of[level] = place
    try:
        codes, distinct = number_objects(as_objects(values.tolist()))
    except TypeError as error:
        raise ValueError(f"grades must be numbers or text: {error}") from None
    number = np.empty(len(distinct), np.int32)
    for code, value in enumerate(distinct):
        if value is not None and value not in place_of:
            row = int(np.flatnonzero(codes == code)[0])
            raise ValueError(
                f"row {row} has the grade {value!r}, which is not among the levels {shown(levels)}; correct it, or "
                "add it to levels="
            )
        number[code] = UNJUDGED if value is None else place_of[value]
    return number[codes] if len(distinct) else np.empty(0, np.int32)


def _rank_objects(values: Array) -> tuple[Ints, Labels]:
    """Order objects that are all numbers; text has no order of its own."""
    entries = as_objects(values)
    missing = np.array([value is None for value in entries], dtype=bool)
    judged = entries[~missing]
    for row, value in enumerate(entries):
        if isinstance(value, str | bytes):
            texts = [value for value in judged if isinstance(value, str | bytes)]
            _refuse_unordered(
                f"the grades are text ({str(texts[0])!r} in row {row}), which has no order of its own", texts
            )
        if value is not None and (not isinstance(value, Real | np.bool_) or isinstance(value, np.timedelta64)):
            raise ValueError(
                f"Unknown label type: row {row} has {value!r} as its grade; the argument must be a string or a number"
            )
        if value is not None and not _fits_a_float(value):
            raise ValueError(
                f"Input y contains infinity or a value too large for a float: {str(value)[:40]} in row {row}"
            )
    if all(isinstance(value, bool | np.bool_) for value in judged):
        codes, distinct = rank_values(judged.astype(np.int8))
        return _spread(codes, missing), tuple(distinct.astype(bool).tolist())
    if all(isinstance(value, Integral) and -(2**63) <= int(value) < 2**63 for value in judged):
        codes, distinct = rank_values(judged.astype(np.int64))
        return _spread(codes, missing), distinct
    ordered = tuple(sorted(set(judged.tolist())))  # exact, however large the numbers
    place_of = {value: place for place, value in enumerate(ordered)}
    return _spread(np.array([place_of[value] for value in judged], np.int32), missing), ordered


def _fits_a_float(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def _refuse_unordered(what: str, values: Iterable[Hashable]) -> NoReturn:
    """Refuse levels that nobody has put in order; no order is named but one that a person would mean by these words.

    Least of all the alphabet's, which pandas gives to categories that are called ordered.
    """
    found = list(dict.fromkeys(map(str, values)))
    if look_like_votes(found):
        raise ValueError(
            f"the grades ({shown(tuple(found))}) look like the outcomes of votes, and these are no grades: pass "
            "wo.Comparisons(left, right, outcome) as y, with the two items' rows of X, and -1 (the left one is "
            "better), 0 (a tie) or 1 (the right one is better); or, for a list of items that have names and no X, "
            "wo.rate(wo.Comparisons.from_names(left, right, outcome)). If they are grades after all, levels= says "
            "which is worst and best"
        )
    order = likely_order(found)
    listed = f". Found, in no order: {shown(tuple(found))}" if order is None else f", perhaps levels={order}"
    raise ValueError(f"{what}; pass levels= with the levels from worst to best{listed}")


# --------------------------------------------------------------------------------------------------
# Weights of rows and of comparisons.


_LEAST, _MOST = 1e-100, 1e100
"""Between these weights can be added up, multiplied with each other and with C, and squared by solvers."""


def check_weights(weights: Any, n: int, *, of: str = "row") -> Floats | None:
    """Check weights: one each, finite, not negative. None and equal ones mean no weights."""
    if weights is None:
        return None
    try:
        values = np.array(to_numpy(weights) if is_tensor(weights) else weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"weights must be numbers, one a {of}") from None
    if values.ndim == 0:
        values = np.full(n, float(values))
    if values.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {values.ndim}D array of shape {values.shape}")
    if len(values) != n:
        raise ValueError(f"there are {n} {of}s and weights of shape {values.shape}; give one weight a {of}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise ValueError(f"{of} {bad[0]} has the weight {values[bad[0]]}; weights must be finite and not negative")
    return None if (values == 1).all() else values


def refuse_lost_weights(weights: Floats | None, *, of: str = "row") -> None:
    """Raise an error if weights to learn from are so extreme that what they add up to would overflow or vanish.

    They are not brought into bounds here: a weight of two is the same as listing a row twice, and weighs against the
    regulariser.
    """
    largest = 1.0 if weights is None else float(weights.max(initial=0.0))
    if largest > 0 and not _LEAST <= largest <= _MOST:
        raise ValueError(
            f"the {of} weights are too large or too small to add up (the largest is {largest:g}); divide them by a "
            "common factor"
        )
