"""Grades as people write them, turned into level numbers; group ids of any kind, turned into codes."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..sweeps import Array, Ints
from .columns import as_objects, is_missing, number_objects, rank_values, read_column, read_series
from .graph import Labels, shown

UNJUDGED = -1
"""The level number of a row whose grade is missing."""


def encode_grades(y: Any, levels: Iterable[Hashable] | None = None) -> tuple[Ints, Labels]:
    """Turn grades into level numbers, lowest first; missing grades become :data:`UNJUDGED`.

    Returns the level number of each row, and the levels' labels.
    """
    values, own_levels = _read_grades(y)
    declared = own_levels if levels is None else tuple(levels)
    if declared is not None:
        return _by_declared_levels(values, declared), declared
    if values.dtype.kind == "O":
        values = _as_numbers(values)
    if values.dtype.kind in "US":
        _refuse_unordered(values)
    if values.dtype.kind == "b":
        values = values.astype(np.int8)
    if values.dtype.kind not in "iufmM":
        raise ValueError(f"grades of type {values.dtype} have no order; give numbers, or text with levels=")
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise ValueError(
            f"Input y contains infinity or a value too large for {values.dtype!r}, first in row {row}; "
            "use NaN for a row without a grade"
        )
    missing = values != values  # NaN and NaT
    if not missing.any():
        return rank_values(values)
    level = np.full(len(values), UNJUDGED, np.int32)
    level[~missing], distinct = rank_values(values[~missing])
    return level, distinct


def encode_groups(groups: Any, n_rows: int) -> tuple[Ints | None, int]:
    """Turn group ids (any hashable, rows in any order) into codes 0, 1, …; None is one group.

    Returns the code of each row (None where all rows are one group) and the number of groups.
    """
    if groups is None:
        return None, 1
    ids = read_column(groups, "groups")
    if len(ids) != n_rows:
        raise ValueError(f"groups has {len(ids)} entries for {n_rows} rows; give one id a row")
    missing = [row for row, value in enumerate(ids) if is_missing(value)] if ids.dtype.kind == "O" else []
    if ids.dtype.kind in "fmM":
        missing = np.flatnonzero(ids != ids).tolist()
    if missing:
        raise ValueError(f"row {missing[0]} has no group id (missing value in groups); give it one, or drop the row")
    if ids.dtype.kind != "O":
        codes, distinct = rank_values(ids)
        return codes, len(distinct)
    try:
        codes, seen = number_objects(ids)
    except TypeError as error:
        raise TypeError(f"group ids must be hashable: {error}") from None
    return codes, len(seen)


def _read_grades(y: Any) -> tuple[Array, tuple[Hashable, ...] | None]:
    """Read grades, and the order of their categories where the column has one of its own."""
    series = read_series(y)
    if series is None:
        return read_column(y, "y"), None
    import narwhals as nw

    if series.dtype == nw.Enum:  # pandas' ordered Categorical and polars' Enum
        return as_objects(series.to_list()), tuple(series.cat.get_categories().to_list())
    if series.dtype == nw.Categorical:
        distinct = sorted(series.drop_nulls().cast(nw.String).unique().to_list())
        raise ValueError(
            f"y is a categorical column without an order ({shown(tuple(distinct))}); make it ordered "
            "(pandas: .cat.as_ordered(), polars: Enum), or pass levels= from worst to best"
        )
    return read_column(y, "y"), None


def _by_declared_levels(values: Array, levels: tuple[Hashable, ...]) -> Ints:
    place_of = {level: place for place, level in enumerate(levels)}
    if len(place_of) < len(levels):
        twice = next(level for place, level in enumerate(levels) if level in levels[:place])
        raise ValueError(f"levels= lists {twice!r} twice")
    codes, distinct = number_objects(as_objects(None if is_missing(value) else value for value in values.tolist()))
    level = np.empty(len(distinct), np.int32)
    for code, value in enumerate(distinct):
        if value is not None and value not in place_of:
            row = int(np.flatnonzero(codes == code)[0])
            raise ValueError(
                f"row {row} has the grade {value!r}, which is not among the levels {shown(levels)}; correct it, or "
                "add it to levels="
            )
        level[code] = UNJUDGED if value is None else place_of[value]
    return level[codes] if len(level) else np.empty(0, np.int32)


def _as_numbers(values: Array) -> Array:
    """Read objects as numbers, missing ones as NaN; text has no order of its own."""
    out = np.empty(len(values))
    for row, value in enumerate(values):
        if is_missing(value):
            out[row] = np.nan
        elif isinstance(value, numbers.Real | np.bool_):
            out[row] = float(value)
        elif isinstance(value, str):
            _refuse_unordered(values)
        else:
            raise ValueError(
                f"Unknown label type: row {row} has {value!r} as its grade; the argument must be a string or a number"
            )
    return out


def _refuse_unordered(values: Array) -> NoReturn:
    texts: Sequence[str] = [str(value) for value in values if isinstance(value, str | bytes)]
    row = next(row for row, value in enumerate(values) if isinstance(value, str | bytes))
    raise ValueError(
        f"the grades are text ({texts[0]!r} in row {row}), which has no order of its own; pass levels= with the levels "
        f"from worst to best. Found: {shown(tuple(sorted(set(texts))))}"
    )
