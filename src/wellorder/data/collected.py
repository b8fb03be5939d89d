"""Votes that ``wellorder collect`` keeps: an SQLite database, read as it stands, also while votes come in."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl

from .lines import DataError, PathLike
from .sheet import Sheet, one_line

APPLICATION = 0x776F766F
"""The mark of such a database (``PRAGMA application_id``): "wovo"."""
VERSION = 1
"""The version of its tables (``PRAGMA user_version``)."""
BALLOTS = "ballots"
"""The view of the votes that count, one row each, which is all that is read here. Whoever writes the tables declares
it."""


def is_sqlite(start: bytes) -> bool:
    """Say whether a file that starts like this is an SQLite database."""
    return start.startswith(b"SQLite format 3\0")


def read_collected(path: PathLike) -> Sheet:
    """Read the votes of a database of ``wellorder collect``."""
    source = os.fspath(path)
    try:
        columns, rows = _ballots(source)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        what = "give the whole file itself, unpacked and not through a pipe"
        raise DataError(source, f"it cannot be read as an SQLite database ({one_line(error)}); {what}") from None
    if not rows:
        raise DataError(source, "there are no votes in it yet; open the links of 'wellorder collect', and judge")
    try:
        frame = pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise DataError(source, f"its votes hold what no vote holds ({one_line(error)}); is it damaged?") from None
    return Sheet(((source, 0),), frame)


def _ballots(source: str) -> tuple[list[str], list[tuple[object, ...]]]:
    with closing(_open(source)) as connection:
        marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if marks[0] != APPLICATION:
            raise DataError(
                source, "it is an SQLite database, but not one of 'wellorder collect'; write its table to a CSV file"
            )
        if marks[1] > VERSION:
            raise DataError(source, f"a newer wellorder has written it (version {marks[1]}); update wellorder")
        cursor = connection.execute(f"SELECT * FROM {BALLOTS}")
        return [column[0] for column in cursor.description], cursor.fetchall()


def _open(source: str) -> sqlite3.Connection:
    """Open the database for reading; in a read-only folder as it stands, if no votes are still on their way into it."""
    address = Path(source).absolute().as_uri()
    try:
        connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=30.0)
        try:
            connection.execute("PRAGMA user_version")
        except BaseException:
            connection.close()
            raise
    except sqlite3.OperationalError:
        log = Path(f"{source}-wal")
        if log.exists() and log.stat().st_size:
            raise  # votes are in it: without them the answer would be wrong
        return sqlite3.connect(f"{address}?immutable=1", uri=True)
    return connection
