"""Grades as people write them, turned into level numbers; group ids of any kind, turned into codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

from ..sweeps import Array, Ints
from .columns import as_objects, is_missing, number_objects, own_order, rank_values, read_column
from .graph import Labels, shown

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
            raise ValueError(
                f"y is a categorical column without an order ({shown(names)}); make it ordered (pandas: "
                ".cat.as_ordered(), polars: Enum), or pass levels= from worst to best"
            )
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
    ids = read_column(groups, "groups")
    if len(ids) != n_rows:
        raise ValueError(f"groups has {len(ids)} entries for {n_rows} rows; give one id a row")
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


def _spread(codes: Ints, missing: Array) -> Ints:
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
            _refuse_unordered(row, judged)
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


def _refuse_unordered(row: int, values: Array) -> NoReturn:
    texts = [value for value in values if isinstance(value, str | bytes)]
    raise ValueError(
        f"the grades are text ({texts[0]!r} in row {row}), which has no order of its own; pass levels= with the levels "
        f"from worst to best. Found: {shown(tuple(sorted(set(map(str, texts)))))}"
    )
