"""ARFF files: Weka's tables, with types declared above the rows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..suggest import suggest
from .lines import DataError, PathLike, read_text, shorten
from .sheet import Sheet, refuse_twice

# every repetition is possessive: a hostile line must not make the search go back and forth
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_ATTRIBUTE = re.compile(rf"@attribute\s++({_QUOTED}|[^\s'\"{{][^\s{{]*+)\s*+(.+)", re.IGNORECASE)
_FIELD = re.compile(rf"\s*+(?:({_QUOTED})\s*+|([^,'\"]*+))(,|$)")
_NUMBERS = ("numeric", "real", "integer")
_TEXTS = ("string", "date")


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: str
    values: tuple[str, ...] = ()


_START = re.compile(rb"\s*+(?:%[^\n]*+\n\s*+)*+@relation\b", re.IGNORECASE)


def is_arff(start: bytes) -> bool:
    """Say whether a file that starts like this is an ARFF file."""
    return _START.match(start) is not None


def read_arff(path: PathLike) -> Sheet:
    """Read an ARFF file: numeric, nominal, string and date attributes; ``?`` is missing."""
    source = os.fspath(path)
    lines = _numbered(read_text(path))
    attributes = _read_header(source, lines)
    columns: list[list[str | None]] = [[] for _ in attributes]
    numbers: list[int] = []
    for number, line in lines:
        fields = _split(source, line, number)
        if len(fields) == len(attributes) + 1 and line.endswith(","):  # Weka reads these
            fields.pop()
        if len(fields) != len(attributes):
            raise DataError(source, f"{len(fields):,} values for {len(attributes):,} attributes", number)
        for column, field in zip(columns, fields, strict=True):
            column.append(field)
        numbers.append(number)
    if not numbers:
        raise DataError(source, "it has no rows after @data; check that it was written completely")
    names = [attribute.name for attribute in attributes]
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)), schema=dict.fromkeys(names, pl.String))
    sheet = Sheet(
        ((source, 0),),
        frame,
        np.array(numbers),
        numeric=frozenset(attribute.name for attribute in attributes if attribute.kind in _NUMBERS),
        nominal={attribute.name: attribute.values for attribute in attributes if attribute.kind == "nominal"},
    )
    _refuse_undeclared(sheet)
    return sheet


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    """Go through the lines that hold something, with their numbers."""
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if line and not line.startswith("%"):
            yield number, line


def _read_header(source: str, lines: Iterator[tuple[int, str]]) -> list[_Attribute]:
    """Read up to ``@data``; the rows are left in ``lines``."""
    attributes: list[_Attribute] = []
    number = 0
    for number, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@attribute":
            attributes.append(_read_attribute(source, line, number))
        elif word == "@data":
            refuse_twice(source, (attribute.name for attribute in attributes), number)
            if not attributes:
                raise DataError(source, "there is no @attribute before @data; declare the columns", number)
            return attributes
        elif word != "@relation":
            raise DataError(
                source,
                f"{shorten(line)} stands where @relation, @attribute or @data is expected; is it an ARFF file?",
                number,
            )
    raise DataError(source, "it ends before its @data line; check that it was written completely", number or None)


def _read_attribute(source: str, line: str, number: int) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise DataError(source, f"{shorten(line)} is not '@attribute name type'; quote a name with spaces", number)
    name, declared = " ".join(_unquoted(match[1]).split()), match[2].strip()
    if not name:
        raise DataError(source, "an attribute without a name; give it one", number)
    if declared.startswith("{"):
        if not declared.endswith("}"):
            raise DataError(source, f"the values of attribute {name!r} are not closed with }}", number)
        listed = _split(source, declared[1:-1], number)
        return _Attribute(name, "nominal", tuple(value for value in listed if value is not None))
    kind = declared.split(None, 1)[0].lower()
    if kind not in (*_NUMBERS, *_TEXTS):
        known = ", ".join((*_NUMBERS, *_TEXTS))
        raise DataError(
            source, f"attribute {name!r} is of type {shorten(kind)}; known are {known} and {{a, b}}", number
        )
    return _Attribute(name, kind)


def _split(source: str, line: str, number: int) -> list[str | None]:
    """Return the fields of a row; None for a missing one."""
    if "'" not in line and '"' not in line:
        if line.startswith("{"):
            raise DataError(
                source,
                "sparse rows ({index value, …}) are not read; write full rows, or save the data as SVMlight",
                number,
            )
        return [None if (field := part.strip()) == "?" or not field else field for part in line.split(",")]
    fields: list[str | None] = []
    place = 0
    while True:
        match = _FIELD.match(line, place)
        if match is None:
            raise DataError(
                source, f"{shorten(line[place:])} has a quote that is not closed, or text beside it", number
            )
        plain = (match[2] or "").strip()
        fields.append(_unquoted(match[1]) if match[1] else None if plain in ("?", "") else plain)
        place = match.end()
        if not match[3]:
            return fields


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _refuse_undeclared(sheet: Sheet) -> None:
    """Refuse values that are not among those declared for their attribute."""
    for name, values in sheet.nominal.items():
        column = sheet.frame[name]
        unknown = column.is_not_null() & ~column.is_in(list(values)).fill_null(False)
        row = unknown.arg_max()
        if row is not None and unknown[row]:
            found = suggest(column[row], values, "its declared values are")
            raise sheet.error(f"{shorten(column[row])} is not a value of attribute {name!r}; {found}", row)


# --------------------------------------------------------------------------------------------------
# Writing.


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
