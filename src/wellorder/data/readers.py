"""``read``: any file of rows or comparisons in, a table out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array
from .arff import read_arff
from .comparison_files import is_comparisons, read_comparisons
from .delimited import read_csv, read_tsv
from .errors import DataError
from .letor import read_letor
from .lines import PathLike, empty_file, open_bytes
from .parquet import read_parquet
from .roles import Roles, check_levels, make_table
from .sheet import Sheet, join_sheets
from .table import ComparisonTable, Table

Reader: TypeAlias = Callable[[PathLike], "Sheet | Table"]

FORMATS: dict[str, Reader] = {
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "arff": read_arff,
    "letor": read_letor,
}
"""Every format and what reads it. A new one is one file, a line here, and its endings below."""

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arff": "arff",
    ".letor": "letor",
    ".svmlight": "letor",
    ".libsvm": "letor",
}
_LOOKED_AT = 1 << 16
_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_LETOR_LINE = re.compile(rb"\s*" + _NUMBER + rb"\s+(?:qid:|\d+:" + _NUMBER + rb"(?:\s|$))")


def read(
    path: PathLike | Sequence[PathLike],
    *,
    target: str | None = None,
    group: str | None = None,
    item: str | None = None,
    weight: str | None = None,
    items: PathLike | None = None,
    levels: Iterable[Hashable] | None = None,
    drop: str | Iterable[str] = (),
    format: str | None = None,  # noqa: A002 (the user's word for it)
) -> Table | ComparisonTable:
    r"""Read a file of graded rows, or of comparisons.

    CSV (also with semicolons or tabs), TSV, Parquet, ARFF and LETOR (SVMlight, ``qid:``), each also gzipped. The
    format follows from the content and the name.

    A column is numbers if every field that is given is one (or is true or false, read as 1 and 0); otherwise
    text. Empty, ``NA``, ``NaN``, ``null``, ``None``, ``?`` and ``-`` stand for missing values. In files with
    semicolons 3,14 is a number too. A column of numbers with a few fields that are none is refused: those are
    more likely typos than categories.

    A file with the columns ``left``, ``right`` and ``outcome``, read without ``target``, is one of comparisons.
    The outcome is 1 or ``<`` (the left item is worse, the right one better), −1 or ``>`` (the left one is
    better), 0 or ``=`` (no difference); a column ``weight`` is optional.

    Parameters
    ----------
    path : path-like, or a list of them
        The file. Several with the same columns are read as one.
    target : str, optional
        The column of grades, higher is better. Without it there are none; LETOR files always have them.
    group : str, optional
        The column that says which rows may be compared.
    item : str, optional
        The column with what each row is called. With ``items``, the column of that file (default: the one called
        item, id or name, or else the first).
    weight : str, optional
        The column of weights, positive numbers.
    items : path-like, optional
        With comparisons: a file with the features of the items.
    levels : sequence, optional
        The grades from worst to best; needed where they are text.
    drop : str or list of str, default=()
        Columns to leave out.
    format : {"csv", "tsv", "parquet", "arff", "letor"}, optional
        The format, where content and name do not tell.

    Returns
    -------
    Table or ComparisonTable

    Raises
    ------
    DataError
        A ValueError in one line: the file, the line, what is wrong and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from wellorder.data import read
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wines.csv"
    >>> _ = path.write_text("ph,colour,quality\n3.1,red,5\n3.4,white,6\n")
    >>> wines = read(path, target="quality")
    >>> wines.feature_names, wines.y.tolist()
    (('ph', 'colour'), [5.0, 6.0])

    >>> games = path.with_name("games.csv")
    >>> _ = games.write_text("left,right,outcome\nAnna,Ben,>\nBen,Carl,=\n")
    >>> print(read(games).comparisons.describe())
    2 comparisons of 3 items, 1 of them ties
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths:
        raise ValueError("there is no file to read: the list of paths is empty")
    dropped = (drop,) if isinstance(drop, str) else tuple(drop)
    roles = Roles(target, group, item, weight, check_levels(os.fspath(paths[0]), levels), dropped)
    return replace(_read(paths, roles, items, format), recipe=_recipe(paths, roles, items, format))


def _read(
    paths: Sequence[PathLike], roles: Roles, items: PathLike | None, format_name: str | None
) -> Table | ComparisonTable:
    source = os.fspath(paths[0])
    found = [read_columns(each, format_name) for each in paths]
    tables = [part for part in found if isinstance(part, Table)]
    if tables:
        if len(tables) < len(found):
            raise DataError(source, "files that are read together need one format; some of these are LETOR, some not")
        if items is not None:
            raise DataError(source, "items= goes with comparisons, and this file holds graded rows; leave it out")
        return _with_levels(_join_tables(tables), roles)
    sheet = join_sheets([part for part in found if isinstance(part, Sheet)])
    if roles.target is None and is_comparisons(sheet):
        described = None if items is None else _one_sheet(items)
        return read_comparisons(sheet, roles, described)
    if items is not None:
        raise sheet.error("items= goes with comparisons, and this file has no columns left, right and outcome")
    return make_table(sheet, roles)


def _recipe(paths: Sequence[PathLike], roles: Roles, items: PathLike | None, format_name: str | None) -> str:
    """Write the call that reads the same again."""
    named = [os.fspath(path) for path in paths]
    options = {
        **roles.named(),
        "levels": None if roles.levels is None else list(roles.levels),
        "drop": list(roles.drop) or None,
        "items": None if items is None else os.fspath(items),
        "format": format_name,
    }
    given = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    return f"wo.read({', '.join([repr(named[0] if len(named) == 1 else named), *given])})"


def read_columns(path: PathLike, format_name: str | None = None) -> Sheet | Table:
    """Read one file as it stands: its columns, or the finished table of a format that has no named columns."""
    name = recognise(path) if format_name is None else format_name
    if name not in FORMATS:
        raise DataError(os.fspath(path), f"format={name!r} is not known; use one of {', '.join(FORMATS)}")
    return FORMATS[name](path)


def recognise(path: PathLike) -> str:
    """Return the name of a file's format, by its first bytes and its ending."""
    source = os.fspath(path)
    with open_bytes(path) as stream:
        start = stream.read(_LOOKED_AT)
    if not start:
        raise empty_file(source)
    if start.startswith(b"PAR1"):
        return "parquet"
    first = next((line for line in start.splitlines() if line.strip() and not line.lstrip().startswith(b"#")), b"")
    if _LETOR_LINE.match(first):
        return "letor"
    if re.match(rb"\s*(?:%[^\n]*\n\s*)*@relation\b", start, re.IGNORECASE):
        return "arff"
    name = Path(source)
    ending = name.with_suffix("").suffix if name.suffix.lower() == ".gz" else name.suffix
    if ending.lower() in _ENDINGS:
        return _ENDINGS[ending.lower()]
    if any(separator in first for separator in b",;\t"):
        return "csv"
    raise DataError(source, f"its format is not recognised; say which it is with format= ({', '.join(FORMATS)})")


def _one_sheet(path: PathLike) -> Sheet:
    sheet = read_columns(path)
    if isinstance(sheet, Table):
        raise DataError(sheet.source, "a file of items needs a column with their names; LETOR files have none")
    return sheet


def _join_tables(tables: list[Table]) -> Table:
    """Put tables of numbered features one below the other; the narrower ones lack only zeros."""
    first = tables[0]
    if len(tables) == 1:
        return first
    width = max(table.X.shape[1] for table in tables)
    wide = [_widened(table, width) for table in tables]
    return replace(
        first,
        source=f"{first.source} and {len(tables) - 1} more",
        X=sp.csr_array(sp.vstack(wide, format="csr")),
        y=_joined(tables, "y"),
        groups=_joined(tables, "groups"),
        ids=_joined(tables, "ids"),
    )


def _widened(table: Table, width: int) -> sp.csr_array:
    X: Any = table.X
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _joined(tables: list[Table], name: str) -> Array | None:
    parts = [getattr(table, name) for table in tables]
    if all(part is None for part in parts):
        return None
    if name == "ids":  # comments: those files that have none say nothing about the others
        parts = [np.full(len(t), "", object) if part is None else part for t, part in zip(tables, parts, strict=True)]
    for table, part in zip(tables, parts, strict=True):
        if part is None:
            raise DataError(table.source, f"it has no {name}, unlike the files beside it")
    if len({part.dtype.kind for part in parts}) > 1:
        parts = [part.astype(str).astype(object) for part in parts]
    return np.concatenate(parts)


def _with_levels(table: Table, roles: Roles) -> Table:
    """Check what was said about a file whose columns have no names."""
    for option, name in [*roles.named().items(), *(("drop", name) for name in roles.drop)]:
        if option in ("target", "group") and name == getattr(table, option):
            continue
        raise DataError(
            table.source,
            f"{option}={name!r} names a column, and the columns of a LETOR file have no names (grade, qid and numbered "
            f"features); leave {option}= out",
        )
    if roles.levels is None or table.y is None:
        return table
    try:
        levels = tuple(float(level) for level in roles.levels)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DataError(table.source, f"the levels {list(roles.levels)} are text, and its grades are numbers") from None
    unknown = ~np.isnan(table.y) & ~np.isin(table.y, levels)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise DataError(
            table.source,
            f"row {row + 1:,} has the grade {table.y[row]:g}, which is not among the levels {list(levels)}",
        )
    return replace(table, levels=levels)
