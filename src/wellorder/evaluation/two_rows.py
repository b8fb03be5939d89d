"""Two items to be compared, however they are named: by their values, by row number or by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Integral
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
import scipy.sparse as sp

from ..data import ComparisonTable, PairTable, Table
from ..data.frames import from_objects, is_frame, to_series
from ..order.columns import as_objects, is_missing
from ..suggest import suggest

_NAMES = ("a", "b")

_NUMBERED = re.compile(r"row ([0-9]{1,15})")
"""What a row is called that has no name, as in ranked lists; such rows are counted from 1."""


class TwoRows(NamedTuple):
    """Two rows, as the model takes them, and what they are called."""

    rows: Any
    names: tuple[str, str]


def take_two(items: Any, a: Any, b: Any, item: str | None = None) -> TwoRows:
    """Take two rows of a table, by row number (from 0) or by name.

    Parameters
    ----------
    items : Table, ComparisonTable or PairTable (their items), data frame, array or sparse matrix
    a, b : int or str
    item : str, optional
        The column of a data frame that holds names.
    """
    items = items.items if isinstance(items, ComparisonTable | PairTable) else items
    if not isinstance(items, Table) and not is_frame(items) and not sp.issparse(items):
        items = np.asarray(items)
        if items.ndim != 2:
            raise ValueError(f"items must be a table with one row an item, got shape {items.shape}")
    names = _names(items, item)
    n = len(items) if isinstance(items, Table) else int(items.shape[0])
    found = [_row(each, n, names, getattr(items, "source", "items")) for each in (a, b)]
    called = [f"items[{row}]" if names is None else str(names[row]) for row in found]
    if isinstance(items, Table):
        return TwoRows(items.take(np.array(found)), (called[0], called[1]))
    if is_frame(items):
        return TwoRows(nw.from_native(items, eager_only=True)[found].to_native(), (called[0], called[1]))
    return TwoRows(items.tocsr()[found] if sp.issparse(items) else items[found], (called[0], called[1]))


def join_two(a: Any, b: Any) -> TwoRows:
    """Put two rows below each other: arrays, mappings from column to value, data frames or tables of one row."""
    columns = [_as_columns(each, name) for each, name in zip((a, b), _NAMES, strict=True)]
    if columns[0] is not None and columns[1] is not None:
        return TwoRows(_frame_of(columns[0], columns[1]), (_called(a, "a"), _called(b, "b")))
    if columns[0] is not None or columns[1] is not None:
        raise ValueError("one of a and b has named columns and the other has none; give both the same way")
    rows = [_as_row(each, name) for each, name in zip((a, b), _NAMES, strict=True)]
    if rows[0].shape != rows[1].shape:
        raise ValueError(f"a has {rows[0].shape[1]} values and b has {rows[1].shape[1]}; give both the same features")
    if any(map(sp.issparse, rows)):
        return TwoRows(sp.csr_array(sp.vstack([sp.csr_array(row) for row in rows])), (_called(a, "a"), _called(b, "b")))
    return TwoRows(np.concatenate(rows), ("a", "b"))


def _names(items: Any, item: str | None) -> Any:
    """Return what rows are called, or None."""
    if isinstance(items, Table):
        return items.names()
    if item is not None and is_frame(items):
        frame = nw.from_native(items, eager_only=True)
        return frame[item].to_list() if item in frame.columns else None
    return None


def _row(which: Any, n: int, names: Any, source: str) -> int:
    """Return the number of the row that is meant."""
    if isinstance(which, Integral) and not isinstance(which, bool):
        number = int(which)
        if not -n <= number < n:
            raise IndexError(f"there is no row {number}: {source} has {n:,} of them, numbered from 0")
        return number % n
    if not isinstance(which, str):
        raise TypeError(f"with items=, name a and b by row number or by name, not by {type(which).__name__}")
    if names is None:
        raise ValueError(f"the items have no names to look {which!r} up in; give row numbers, or a table with names")
    found = [row for row, name in enumerate(names) if str(name) == which]
    numbered = _NUMBERED.fullmatch(which)
    if not found and numbered is not None and 1 <= int(numbered[1]) <= n:
        return int(numbered[1]) - 1
    if not found:
        known = list(dict.fromkeys(map(str, names)))
        raise ValueError(f"there is no item {which!r} in {source}; {suggest(which, known, 'its items are')}")
    if len(found) > 1:
        rows = ", ".join(f"'row {row + 1}'" for row in found[:3]) + (", …" if len(found) > 3 else "")
        raise ValueError(f"{source} has {len(found):,} rows called {which!r}; give one list, or name one of {rows}")
    return found[0]


def _as_columns(row: Any, name: str) -> dict[str, Any] | None:
    """Return one row's values by column; None for one without names of columns."""
    if isinstance(row, Table):
        if not isinstance(row.X, pl.DataFrame):
            return None
        row = row.X
    if isinstance(row, Mapping):
        return {str(key): value for key, value in row.items()}
    if is_frame(row):
        frame = nw.from_native(row, eager_only=True)
        _refuse_many(len(frame), name)
        return {str(key): frame[key].to_list()[0] for key in frame.columns}
    if hasattr(row, "index") and hasattr(row, "to_dict"):  # a row of pandas
        return {str(key): value for key, value in row.to_dict().items()}
    return None


def _frame_of(a: dict[str, Any], b: dict[str, Any]) -> pl.DataFrame:
    lacking = [key for key in (*a, *b) if key not in a or key not in b]
    if lacking:
        with_it, without = ("a", "b") if lacking[0] in a else ("b", "a")
        raise ValueError(f"{with_it} has a column {lacking[0]!r} and {without} has none; give both the same columns")
    columns = {}
    for key in a:
        entries = as_objects(None if is_missing(value) else value for value in (a[key], b[key]))
        columns[key] = to_series(key, from_objects(entries))
    return pl.DataFrame(list(columns.values()))


def _as_row(row: Any, name: str) -> Any:
    """Return one row of numbers as an array of shape (1, d)."""
    row = row.X if isinstance(row, Table) else row
    if not sp.issparse(row):
        row = np.asarray(row)
        if row.ndim == 0:
            what = f"{row.item()!r}"
            raise ValueError(f"{name} is {what}: give the values of one row, or items= to look {what} up in")
        if row.dtype.kind in "biu":
            row = row.astype(float)
    row = row.reshape(1, -1) if row.ndim == 1 else row
    if row.ndim != 2:
        raise ValueError(f"{name} must be one row, got shape {row.shape}")
    _refuse_many(row.shape[0], name)
    return row


def _refuse_many(n_rows: int, name: str) -> None:
    if n_rows != 1:
        raise ValueError(
            f"{name} must be one row, got {n_rows:,}; give items= and the row's number to take one of many"
        )


def _called(row: Any, name: str) -> str:
    return str(row.ids[0]) if isinstance(row, Table) and row.ids is not None else name
