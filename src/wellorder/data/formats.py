"""The formats of files: what reads each, and how it is recognised."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ..processes import python_command
from ..sweeps import Array, Ints
from .arff import is_arff, read_arff
from .collected import is_sqlite, read_collected
from .jsonl import is_jsonl, read_jsonl
from .letor import is_letor, read_letor
from .lines import (
    COPIES,
    UTF8_MARK,
    DataError,
    OpenFile,
    PathLike,
    empty_file,
    read_bytes,
    read_text,
    room,
    shorten,
    too_large,
)
from .sheet import Sheet, one_line, refuse_twice
from .spreadsheets import unmark_formulas, unmarked_name
from .table import Table

# --------------------------------------------------------------------------------------------------
# Comma-, semicolon- and tab-separated files: polars parses, but only after every row was counted here.
#
# polars fills short rows with missing values and says nothing. So the places of separators, line ends and
# quotes are found first, in a few passes over the bytes; they also give every row the line it starts in.


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


_FIRST_LINE = re.compile(r"\n*([^\n]*)")


def _first_line(text: str) -> str:
    """Return the first line that has anything in it, without a copy of what follows."""
    found = _FIRST_LINE.match(text)
    return "" if found is None else found[1]


def _separator_of(text: str) -> str:
    """Return the separator that the header has most of, quoted parts aside."""
    header = re.sub(r'"[^"]*"', "", _first_line(text))
    return max(_NAMES, key=header.count)


def _read(source: str, text: str, separator: str) -> Sheet:
    body = text.encode() if text.endswith("\n") else text.encode() + b"\n"
    if body.isspace():
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
    if b"'" in body:
        frame = unmark_formulas(frame)
    return Sheet(((source, 0),), frame, layout.lines[1:], decimal_comma=separator == ";")


@dataclass(frozen=True)
class _TextLayout:
    """Where the records of a file are: its header is the first; blank lines are left out."""

    starts: Ints
    ends: Ints
    lines: Ints
    n_fields: Ints
    quoted: bool
    gaps: bool

    def body_without_header(self, body: bytes) -> bytes:
        """Return the rows' bytes, blank lines cut out.

        Polars takes a mark of byte order before them for the file's own, which is gone by now: it is given another.
        """
        if not self.gaps:
            rows = body[self.starts[1] :]
        else:
            pieces = zip(self.starts[1:].tolist(), self.ends[1:].tolist(), strict=True)
            rows = b"".join(body[start : end + 1] for start, end in pieces)
        return UTF8_MARK + rows if rows.startswith(UTF8_MARK) else rows


def _lay_out(source: str, body: bytes, separator: int) -> _TextLayout:
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
    return _TextLayout(starts, ends, lines, n_fields, quoted, gaps)


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
    names = [
        unmarked_name(" ".join(field.split())) or f"column {number}" for number, field in enumerate(fields, start=1)
    ]
    refuse_twice(source, names, line)
    return names


def _refuse_ragged(source: str, layout: _TextLayout, n_columns: int, separator: str) -> None:
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


# --------------------------------------------------------------------------------------------------
# Parquet files, read by polars: first in a process of its own, because a damaged one can end the process.
#
# A wrong number in a Parquet file makes polars ask for that much memory, and where there is not so much the
# process is aborted, which no ``except`` catches. So another process tries first, and this one reads what that
# one could. It also says how much a file holds: a few bytes can stand for a million equal rows.
#
# The other process could hand over the table that it has read, but that costs as much as to read it again: more for
# text. So it does as little as shows what it must, a few columns at a time in the memory of those before.


_MAGIC = b"PAR1"
_SHORTEST = 12
_HELD = 4
"""How many copies of a file's bytes are held: here, on their way to the other process, there, and as a table."""
_SPARE = 1 << 32
"""Address space that threads and libraries take before anything is read."""
_COLUMNS = 4
"""Columns tried at a time: enough for the threads that read them."""

_TRIAL = """
import io, json, os
limit, most, some = json.loads(sys.argv[1])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
import polars
def held(column):
    if column.dtype not in (polars.Categorical, polars.Enum):
        return column.estimated_size()
    counts = column.rename("text").value_counts(name="n")  # the text of each row, without writing it out
    return (counts["text"].cast(polars.String).str.len_bytes().fill_null(0).cast(polars.Int64) * counts["n"]).sum()
def leave(code, said):
    print(json.dumps(said), flush=True)
    os._exit(code)  # nothing is left to do, and to take a table apart costs as much as to read it
try:
    content = io.BytesIO(sys.stdin.buffer.read())
    scan = polars.scan_parquet(content)
    n_rows, columns = scan.select(polars.len()).collect().item(), scan.collect_schema().names()
    least, found = 8 * n_rows * len(columns), 0  # each becomes a number, or more
    for start in range(0, len(columns), some):
        if max(least, found) > most:
            break
        content.seek(0)
        found += sum(map(held, polars.read_parquet(content, columns=columns[start : start + some])))
except BaseException as error:
    leave(1, (str(error).strip().splitlines() or [type(error).__name__])[0][:120])
leave(0, [n_rows, max(least, found)])
"""


def is_parquet(start: bytes) -> bool:
    """Say whether a file that starts like this is a Parquet file."""
    return start.startswith(_MAGIC)


def read_parquet(path: PathLike) -> Sheet:
    """Read a Parquet file, which may be gzipped as a whole."""
    source = os.fspath(path)
    content = read_bytes(path, room() // _HELD)
    if len(content) < _SHORTEST or not (content.startswith(_MAGIC) and content.endswith(_MAGIC)):
        raise DataError(source, "it cannot be read as Parquet: it does not start and end like one; is it complete?")
    _try_apart(source, content)
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except (Exception, pl.exceptions.PanicException) as error:  # a damaged file can raise anything
        raise DataError(source, f"it cannot be read as Parquet: {one_line(error)}") from None
    refuse_twice(source, frame.columns)
    if frame.height == 0 or frame.width == 0:
        raise DataError(source, "it has no rows; check that it was written completely")
    return Sheet(((source, 0),), frame)


def _try_apart(source: str, content: bytes) -> None:
    """Read in another process, and refuse what that could not, or what is too large; where none can be, try nothing."""
    if not sys.executable or getattr(sys, "frozen", False):
        return
    free = room()
    most = free // COPIES
    command = python_command(_TRIAL, json.dumps([free + _SPARE, most, _COLUMNS]))
    try:
        trial = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return
    assert trial.stdin is not None
    assert trial.stdout is not None
    with trial:
        # at once, where ``communicate`` would cut it into pieces of 512 bytes: the other process says nothing before it
        # has read all of it, so that neither waits for the other
        with contextlib.suppress(OSError), trial.stdin:
            trial.stdin.write(content)
        answer = trial.stdout.read()
    try:
        said = json.loads(answer)
    except ValueError:  # it was aborted, and said nothing
        said = "it is damaged, or does not fit into the memory here"
    if isinstance(said, str):
        raise DataError(source, f"it cannot be read as Parquet: {said}")
    n_rows, size = said
    if size > most:
        raise too_large(source, size, f"its {n_rows:,} rows")


# --------------------------------------------------------------------------------------------------
# Which format a file has.


@dataclass(frozen=True)
class Format:
    """What reads a format, and how one knows it.

    Attributes
    ----------
    read : function
        From a path to a Sheet (named columns), or to a Table where the format itself says what each part is. It opens
        the path once, and reads it through: what the path names may be a pipe, or a file that is open already.
    suffixes : tuple of str
        How names of such files end, in small letters; ``.gz`` aside.
    is_start : function or None
        Says of a file's first bytes whether they can only be of this format: content goes before suffixes.
    """

    read: Callable[[PathLike], Sheet | Table]
    suffixes: tuple[str, ...]
    is_start: Callable[[bytes], bool] | None = None


FORMATS = {
    "csv": Format(read_csv, (".csv",)),
    "tsv": Format(read_tsv, (".tsv", ".tab")),
    "jsonl": Format(read_jsonl, (".jsonl", ".ndjson", ".json"), is_jsonl),
    "parquet": Format(read_parquet, (".parquet", ".pq"), is_parquet),
    "arff": Format(read_arff, (".arff",), is_arff),
    "letor": Format(read_letor, (".letor", ".svmlight", ".libsvm"), is_letor),
    "sqlite": Format(read_collected, (".db", ".sqlite"), is_sqlite),
}
"""Every format by its name. A new one is one file and a line here."""


def read_file(path: PathLike, format_name: str | None = None) -> Sheet | Table:
    """Read one file as it stands: its columns, or the finished table of a format that has no named columns."""
    if format_name is not None and format_name not in FORMATS:
        raise DataError(os.fspath(path), f"format={format_name!r} is not known; use one of {', '.join(FORMATS)}")
    with OpenFile(path) as file:
        return FORMATS[format_name or _recognise(file)].read(file)


def _recognise(file: OpenFile) -> str:
    """Return the name of a file's format, by its first bytes and its suffix."""
    source, start = os.fspath(file), file.start()
    if not start:
        raise empty_file(source)
    for name, each in FORMATS.items():
        if each.is_start is not None and each.is_start(start):
            return name
    path = Path(source)
    suffix = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    for name, each in FORMATS.items():
        if suffix in each.suffixes:
            return name
    first = next((line for line in start.splitlines() if line.strip() and not line.lstrip().startswith(b"#")), b"")
    if any(separator in first for separator in b",;\t"):
        return "csv"
    raise DataError(source, f"its format is not recognised; say which it is with format= ({', '.join(FORMATS)})")
