"""Parquet files, read by polars: first in a process of its own, because a damaged one can end the process.

A wrong number in a Parquet file makes polars ask for that much memory, and where there is not so much the
process is aborted, which no ``except`` catches. So another process tries first, and this one reads what that
one could. It also says how much a file holds: a few bytes can stand for a million equal rows.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import polars as pl

from .errors import DataError
from .lines import COPIES, PathLike, read_bytes, room, too_large
from .sheet import Sheet, one_line, refuse_twice

_MAGIC = b"PAR1"
_SHORTEST = 12
_HELD = 4
"""How often a file's bytes are held: here, on their way to the other process, there, and as the table they become."""
_SPARE = 1 << 32
"""Address space that threads and libraries take before anything is read."""

_TRIAL = """
import io, json, sys
path, limit, most = json.loads(sys.argv[1])
sys.path[:] = path
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
    print(json.dumps(said))
    sys.exit(code)
try:
    content = io.BytesIO(sys.stdin.buffer.read())
    scan = polars.scan_parquet(content)
    n_rows, columns = scan.select(polars.len()).collect().item(), scan.collect_schema().names()
    size = 8 * n_rows * len(columns)  # each becomes a number, or more
    if size <= most:
        content.seek(0)
        frame = polars.read_parquet(content)
        size = max(size, sum(map(held, frame)))
except BaseException as error:
    leave(1, (str(error).strip().splitlines() or [type(error).__name__])[0][:120])
leave(0, [n_rows, size])
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
    command = [sys.executable, "-c", _TRIAL, json.dumps([sys.path, free + _SPARE, most])]
    try:
        trial = subprocess.run(command, input=content, capture_output=True, check=False)
    except OSError:
        return
    try:
        said = json.loads(trial.stdout)
    except ValueError:  # it was aborted, and said nothing
        said = "it is damaged, or does not fit into the memory here"
    if isinstance(said, str):
        raise DataError(source, f"it cannot be read as Parquet: {said}")
    n_rows, size = said
    if size > most:
        raise too_large(source, size, f"its {n_rows:,} rows")
