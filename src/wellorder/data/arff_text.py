"""ARFF text for a frame of columns."""

from __future__ import annotations

import re

import polars as pl

_PLAIN = re.compile(r"[^\s,'\"%{}\\?][^\s,'\"{}\\]*")


def arff_text(frame: pl.DataFrame, relation: str = "table") -> str:
    """Write columns as ARFF: numbers as numeric, text as nominal with its values in alphabetical order."""
    lines = [f"@relation {_quoted(relation)}"]
    for column in frame.iter_columns():
        if column.dtype.is_numeric():
            lines.append(f"@attribute {_quoted(column.name)} numeric")
        else:
            values = sorted(column.cast(pl.String).drop_nulls().unique().to_list())
            lines.append(f"@attribute {_quoted(column.name)} {{{','.join(map(_quoted, values))}}}")
    lines.append("@data")
    texts = [_spelled(column) for column in frame.iter_columns()]
    lines += [",".join(row) for row in zip(*texts, strict=True)]
    return "\n".join(lines) + "\n"


def _spelled(column: pl.Series) -> list[str]:
    if column.dtype.is_numeric():
        return ["?" if value is None or value != value else repr(value) for value in column.to_list()]
    return ["?" if value is None else _quoted(value) for value in column.cast(pl.String).to_list()]


def _quoted(text: str) -> str:
    """Quote text that would not be read back as it stands."""
    if "\n" in text or "\r" in text:
        raise ValueError(f"{text!r} has a line end in it, which no ARFF value may")
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
