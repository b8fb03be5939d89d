"""Comma-, semicolon- and tab-separated files: polars parses, but only after every row was counted here.

polars fills short rows with missing values and says nothing. So the places of separators, line ends and
quotes are found first, in a few passes over the bytes; they also give every row the line it starts in.
"""

from __future__ import annotations

import csv
import io
import os
import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..sweeps import Array, Ints
from .errors import DataError
from .lines import PathLike, empty_file, read_text, shorten
from .sheet import Sheet, one_line, refuse_twice

_NEWLINE, _QUOTE = ord("\n"), ord('"')
_NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")


def read_csv(path: PathLike) -> Sheet:
    """Read a file with a header line, separated by commas or, if the header says so, semicolons or tabs."""
    text = read_text(path)
    return _read(os.fspath(path), text, _separator_of(text))


def read_tsv(path: PathLike) -> Sheet:
    """Read a file with a header line, separated by tabs."""
    text = read_text(path)
    header = _first_line(text)
    other = _separator_of(text)
    if "\t" not in header and other in header:
        name = _NAMES[other]
        raise DataError(os.fspath(path), f"its first line has no tab but a {name}; read it with format='csv'", 1)
    return _read(os.fspath(path), text, "\t")


def _first_line(text: str) -> str:
    return text.lstrip("\n").partition("\n")[0]


def _separator_of(text: str) -> str:
    """Return the separator that the header has most of, quoted parts aside."""
    header = re.sub(r'"[^"]*"', "", _first_line(text))
    return max(_NAMES, key=header.count)


def _read(source: str, text: str, separator: str) -> Sheet:
    body = text.encode() if text.endswith("\n") else text.encode() + b"\n"
    if not body.strip():
        raise empty_file(source)
    layout = _lay_out(source, body, ord(separator))
    header = body[layout.starts[0] : layout.ends[0]].decode()
    names = _header_names(source, header, separator, int(layout.lines[0]))
    _refuse_ragged(source, layout, len(names), separator)
    if len(layout.starts) == 1:
        raise DataError(source, "it has a header line but no rows; check that it was written completely")
    schema = dict.fromkeys(names, pl.String)
    try:
        frame = pl.read_csv(
            layout.body_without_header(body),
            has_header=False,
            schema=schema,
            separator=separator,
            quote_char='"' if layout.quoted else None,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise DataError(source, f"it cannot be read as {_NAMES[separator]}-separated text: {one_line(error)}") from None
    if frame.height != len(layout.starts) - 1:
        raise DataError(source, f"{frame.height:,} rows were found in {len(layout.starts) - 1:,}; check its quotes")
    return Sheet(((source, 0),), frame, layout.lines[1:], decimal_comma=separator == ";")


@dataclass(frozen=True)
class _Layout:
    """Where the records of a file are: its header is the first; blank lines are left out."""

    starts: Ints
    ends: Ints
    lines: Ints
    n_fields: Ints
    quoted: bool
    gaps: bool

    def body_without_header(self, body: bytes) -> bytes:
        """Return the rows' bytes, blank lines cut out."""
        if not self.gaps:
            return body[self.starts[1] :]
        pieces = zip(self.starts[1:].tolist(), self.ends[1:].tolist(), strict=True)
        return b"".join(body[start : end + 1] for start, end in pieces)


def _lay_out(source: str, body: bytes, separator: int) -> _Layout:
    """Find the records, the line each starts in and the number of its fields."""
    buffer = np.frombuffer(body, np.uint8)
    all_ends = np.flatnonzero(buffer == _NEWLINE)
    ends, separators = all_ends, np.flatnonzero(buffer == separator)
    quotes = np.flatnonzero(buffer == _QUOTE) if b'"' in body else np.empty(0, np.int64)
    quoted = len(quotes) > 0 and _starts_a_field(buffer, quotes, separator)
    if quoted:
        _refuse_stray_quotes(source, buffer, quotes, all_ends, separator)
        # within a quoted field as many quotes have opened as closed, and one more
        ends = all_ends[np.searchsorted(quotes, all_ends) % 2 == 0]
        separators = separators[np.searchsorted(quotes, separators) % 2 == 0]
    starts = np.append(0, ends[:-1] + 1)
    n_fields = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    lines = np.arange(1, len(starts) + 1) if ends is all_ends else np.searchsorted(all_ends, starts) + 1
    blank = _only_spaces(buffer, body, starts, ends, n_fields)
    gaps = bool(blank.any())
    if gaps:
        starts, ends, lines, n_fields = (part[~blank] for part in (starts, ends, lines, n_fields))
    return _Layout(starts, ends, lines, n_fields, quoted, gaps)


def _only_spaces(buffer: Array, body: bytes, starts: Ints, ends: Ints, n_fields: Ints) -> Array:
    """Say which records hold nothing but spaces; few have one field that starts so, and only these are looked at."""
    blank = starts == ends
    for row in np.flatnonzero((n_fields == 1) & ~blank & np.isin(buffer[starts], (ord(" "), ord("\t")))):
        blank[row] = not body[starts[row] : ends[row]].strip()
    return np.asarray(blank)


def _starts_a_field(buffer: Array, quotes: Ints, separator: int) -> bool:
    """Say whether some field starts with a quote: otherwise quotes are characters like others (5" pipes)."""
    before = buffer[np.maximum(quotes - 1, 0)]
    if quotes[0] == 0 or np.isin(before, (separator, _NEWLINE)).any():
        return True
    for quote in quotes[before == ord(" ")][:1000]:
        lead = buffer[max(0, quote - 64) : quote].tobytes().rstrip(b" ")
        if not lead or lead[-1] in (separator, _NEWLINE):
            return True
    return False


def _refuse_stray_quotes(source: str, buffer: Array, quotes: Ints, newlines: Ints, separator: int) -> None:
    """Refuse quotes that neither open nor close a field: readers disagree on what they mean."""
    opening, closing = quotes[0::2], quotes[1::2]
    may_stand_beside = (separator, _NEWLINE, _QUOTE)
    opens_well = np.isin(buffer[np.maximum(opening - 1, 0)], may_stand_beside) | (opening == 0)
    closes_well = np.isin(buffer[closing + 1], may_stand_beside)
    bad = np.sort(np.concatenate([opening[~opens_well], closing[~closes_well]]))
    if not len(bad) and len(opening) == len(closing):
        return
    place = int(bad[0]) if len(bad) else int(opening[-1])
    line = int(np.searchsorted(newlines, place)) + 1
    if not len(bad):
        raise DataError(source, 'a quoted field starts here and never ends; add its closing "', line)
    if buffer[place - 1] == ord(" "):
        raise DataError(source, "spaces before a quoted field; remove them", line)
    raise DataError(
        source, 'a " inside a field, or one that is missing before; write fields with quotes as "say ""so"""', line
    )


def _header_names(source: str, header: str, separator: str, line: int) -> list[str]:
    """Return the columns' names; a column without one is called by its number."""
    try:
        # lines as the file has them: str.splitlines would also cut names at U+2028, VT and others
        fields = next(csv.reader(io.StringIO(header, newline="\n"), delimiter=separator))
    except (csv.Error, StopIteration) as error:
        raise DataError(source, f"its header line cannot be read: {error}", line) from None
    if all(_NUMBER.fullmatch(field) for field in fields):
        raise DataError(
            source,
            f"the header line holds numbers ({shorten(header)}); add a first line with the column names",
            line,
        )
    names = [" ".join(field.split()) or f"column {number}" for number, field in enumerate(fields, start=1)]
    refuse_twice(source, names, line)
    return names


def _refuse_ragged(source: str, layout: _Layout, n_columns: int, separator: str) -> None:
    ragged = np.flatnonzero(layout.n_fields != n_columns)
    if not len(ragged):
        return
    row = int(ragged[0])
    found = int(layout.n_fields[row])
    fields = f"{found:,} field" + "s" * (found != 1)
    why = "add the missing ones" if found < n_columns else "put fields that hold a separator in quotes"
    raise DataError(
        source,
        f"{fields} where the header has {n_columns:,} ({_NAMES[separator]}-separated); {why}",
        int(layout.lines[row]),
    )
