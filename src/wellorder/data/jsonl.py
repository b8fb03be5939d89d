"""JSON lines: one object a line, its keys the columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from .lines import COPIES, DataError, PathLike, empty_file, read_text, room, shorten, too_large
from .sheet import Sheet, one_line


def is_jsonl(start: bytes) -> bool:
    """Say whether a file that starts like this has one JSON object a line."""
    return start.lstrip()[:1] == b"{"


def read_jsonl(path: PathLike) -> Sheet:
    """Read one JSON object a line; a key that a line lacks is missing there, and so is null."""
    source, text = os.fspath(path), read_text(path)
    if not text or text.isspace():
        raise empty_file(source)
    n_lines = text.count("\n") + (not text.endswith("\n"))
    lines = np.arange(1, n_lines + 1)
    frame = _at_once(source, text.encode(), n_lines)
    if frame is None or frame.height != n_lines:  # it has blank lines, or what polars does not take
        written = text.split("\n")
        lines = np.array([number for number, line in enumerate(written, start=1) if line.strip()], dtype=np.int64)
        if frame is None or frame.height != len(lines):
            frame = _by_line(source, lines.tolist(), written)
    if not frame.width:
        raise DataError(source, "its objects have no keys, and so it has no columns")
    return Sheet(((source, 0),), frame, lines)


def _at_once(source: str, content: bytes, n_lines: int) -> pl.DataFrame | None:
    """Read all lines by polars; None if it does not take them."""
    try:
        columns = pl.scan_ndjson(content, infer_schema_length=None).collect_schema()  # the last may have a new key
        _refuse_wide(source, n_lines, len(columns))
        return pl.read_ndjson(content, schema=columns)
    except DataError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        return None


def _refuse_wide(source: str, n_lines: int, n_columns: int) -> None:
    """Refuse lines with ever new keys: each is a column, of as many fields as there are lines."""
    if 8 * n_lines * n_columns > room() // COPIES:
        raise too_large(source, 8 * n_lines * n_columns, f"{n_lines:,} lines with {n_columns:,} keys in all")


def _by_line(source: str, lines: list[int], written: list[str]) -> pl.DataFrame:
    """Read line by line what polars does not take: to name the line that is wrong, or to take values of mixed types."""
    rows = [_one_object(source, number, written[number - 1]) for number in lines]
    columns = dict.fromkeys(key for row in rows for key in row)
    _refuse_wide(source, len(rows), len(columns))
    try:
        return pl.DataFrame([_column(key, [row.get(key) for row in rows]) for key in columns])
    except (pl.exceptions.PolarsError, OverflowError, TypeError) as error:
        raise DataError(source, f"it cannot be read as JSON lines: {one_line(error)}") from None


def _one_object(source: str, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except RecursionError:
        raise DataError(source, "its JSON is nested too deeply", number) from None
    except json.JSONDecodeError as error:
        what = f"{shorten(line.strip())} is not valid JSON ({error.msg}, at character {error.colno})"
        raise DataError(source, f"{what}; each line is one whole object", number) from None
    except ValueError:
        raise DataError(source, "it has a number of thousands of digits; write it as text", number) from None
    if isinstance(found, dict):
        return found
    advice = "write one object a line (jq -c '.[]')" if isinstance(found, list) else 'write {"name": value, …}'
    raise DataError(source, f"{shorten(line.strip())} is valid JSON, but no object; {advice}", number)


def _column(name: str, values: list[Any]) -> pl.Series:
    """Return the values of a key: numbers, or text; lists and objects in their JSON."""
    if all(value is None or isinstance(value, int | float) for value in values):
        return pl.Series(name, [None if value is None else float(value) for value in values], dtype=pl.Float64)
    return pl.Series(name, list(_as_text(values)), dtype=pl.String)


def _as_text(values: list[Any]) -> Iterator[str | None]:
    for value in values:
        yield value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
