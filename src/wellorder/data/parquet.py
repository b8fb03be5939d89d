"""Parquet files, read by polars: first in a process of its own, because a damaged one can end the process.

A wrong number in a Parquet file makes polars ask for that much memory, and where there is not so much the
process is aborted, which no ``except`` catches. So another process tries first, and this one reads what that
one could.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import polars as pl

from ..memory import available_bytes
from .errors import DataError
from .lines import PathLike
from .sheet import Sheet, one_line, read_bytes, refuse_twice

_MAGIC = b"PAR1"
_SHORTEST = 12
_SPARE = 1 << 32
"""Address space that threads and libraries take before anything is read."""

_TRIAL = """
import io, json, sys
path, limit = json.loads(sys.argv[1])
sys.path[:] = path
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
import polars
try:
    polars.read_parquet(io.BytesIO(sys.stdin.buffer.read()))
except BaseException as error:
    print((str(error).strip().splitlines() or [type(error).__name__])[0][:120])
    sys.exit(1)
"""


def is_parquet(start: bytes) -> bool:
    """Say whether a file that starts like this is a Parquet file."""
    return start.startswith(_MAGIC)


def read_parquet(path: PathLike) -> Sheet:
    """Read a Parquet file, which may be gzipped as a whole."""
    source = os.fspath(path)
    content = read_bytes(path)
    if len(content) < _SHORTEST or not (content.startswith(_MAGIC) and content.endswith(_MAGIC)):
        raise DataError(source, "it cannot be read as Parquet: it does not start and end like one; is it complete?")
    problem = _try_apart(content)
    if problem is not None:
        raise DataError(source, f"it cannot be read as Parquet: {problem}")
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except (Exception, pl.exceptions.PanicException) as error:  # a damaged file can raise anything
        raise DataError(source, f"it cannot be read as Parquet: {one_line(error)}") from None
    refuse_twice(source, frame.columns)
    if frame.height == 0 or frame.width == 0:
        raise DataError(source, "it has no rows; check that it was written completely")
    return Sheet(((source, 0),), frame)


def _try_apart(content: bytes) -> str | None:
    """Read in another process; return what went wrong, or None. Where none can be started, there is no trial."""
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    free = available_bytes()
    limit = -1 if free is None else int(free) + _SPARE
    command = [sys.executable, "-c", _TRIAL, json.dumps([sys.path, limit])]
    try:
        trial = subprocess.run(command, input=content, capture_output=True, check=False)
    except OSError:
        return None
    if trial.returncode == 0:
        return None
    said = trial.stdout.decode(errors="replace").strip()
    return said or "it is damaged, or does not fit into the memory here"
