"""The formats of files: what reads each, and how it is recognised."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .arff import is_arff, read_arff
from .delimited import read_csv, read_tsv
from .errors import DataError
from .letor import is_letor, read_letor
from .lines import OpenFile, PathLike, empty_file
from .parquet import is_parquet, read_parquet
from .sheet import Sheet
from .table import Table


@dataclass(frozen=True)
class Format:
    """What reads a format, and how one knows it.

    Attributes
    ----------
    read : function
        From a path to a Sheet (named columns), or to a Table where the format itself says what each part is. It opens
        the path once, and reads it through: what the path names may be a pipe, or a file that is open already.
    endings : tuple of str
        How names of such files end, in small letters; ``.gz`` aside.
    is_start : function or None
        Says of a file's first bytes whether they can only be of this format: content goes before endings.
    """

    read: Callable[[PathLike], Sheet | Table]
    endings: tuple[str, ...]
    is_start: Callable[[bytes], bool] | None = None


FORMATS = {
    "csv": Format(read_csv, (".csv",)),
    "tsv": Format(read_tsv, (".tsv", ".tab")),
    "parquet": Format(read_parquet, (".parquet", ".pq"), is_parquet),
    "arff": Format(read_arff, (".arff",), is_arff),
    "letor": Format(read_letor, (".letor", ".svmlight", ".libsvm"), is_letor),
}
"""Every format by its name. A new one is one file and a line here."""


def read_file(path: PathLike, format_name: str | None = None) -> Sheet | Table:
    """Read one file as it stands: its columns, or the finished table of a format that has no named columns."""
    if format_name is not None and format_name not in FORMATS:
        raise DataError(os.fspath(path), f"format={format_name!r} is not known; use one of {', '.join(FORMATS)}")
    with OpenFile(path) as file:
        return FORMATS[format_name or _recognise(file)].read(file)


def _recognise(file: OpenFile) -> str:
    """Return the name of a file's format, by its first bytes and its ending."""
    source, start = os.fspath(file), file.start()
    if not start:
        raise empty_file(source)
    for name, each in FORMATS.items():
        if each.is_start is not None and each.is_start(start):
            return name
    path = Path(source)
    ending = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    for name, each in FORMATS.items():
        if ending in each.endings:
            return name
    first = next((line for line in start.splitlines() if line.strip() and not line.lstrip().startswith(b"#")), b"")
    if any(separator in first for separator in b",;\t"):
        return "csv"
    raise DataError(source, f"its format is not recognised; say which it is with format= ({', '.join(FORMATS)})")
