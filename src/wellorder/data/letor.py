"""SVMlight and LETOR files: ``grade [qid:ID] index:value … [# comment]``, read and written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from ..sweeps import Array
from . import letor_plain
from .letor_plain import LetorRows, Limits, read_name, text_array
from .lines import COPIES, DataError, PathLike, Places, blocks, open_for_writing, room, shorten, too_large
from .table import Table

MOST_FEATURES = 2**31 - 1
"""The highest feature that a file may name: what a 32-bit index holds."""

COMPILED_FROM = 1 << 23
"""Files of at least this many bytes are read by the compiled form; for smaller ones, loading it takes longer than
reading."""

_ROW_BYTES, _ENTRY_BYTES, _TEXT_BYTES = 40, 12, 64
"""Bytes that a row, one of its features and a comment take in memory; a comment's letters come on top."""

_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_START = re.compile(
    rb"(?:\s*+(?:#[^\r\n]*+[\r\n])?+)*+"  # empty lines and comments
    rb"(?:\?|[+-]?(?i:nan)|" + _NUMBER + rb")[^\S\r\n]+(?:qid:|\d+:" + _NUMBER + rb"(?:\s|$))"
)


def is_letor(start: bytes) -> bool:
    """Say whether a file that starts like this is a LETOR file: a grade, then a qid or a feature."""
    return _START.match(start) is not None


def read_letor(path: PathLike, *, n_features: int | None = None) -> Table:
    r"""Read an SVMlight or LETOR file, which may be gzipped.

    Memory is bounded by the result and one block of the file, and the result by the memory that is free: a small
    gzipped file may hold more. Values are exactly those of Python's ``float``.

    Parameters
    ----------
    path : path-like
        The file: a row a line, as ``grade qid:ID index:value … # comment``. The qid and the comment may be missing;
        the indices count from 1 and may stand in any order. Empty lines and lines with only a comment are skipped.
    n_features : int, optional
        The number of columns, to make files fit together; an index beyond it is an error. By default the
        highest index in the file.

    Returns
    -------
    Table
        ``X`` is a CSR array (float64, sorted, zeros not stored) whose column j is the file's feature j + 1. ``y`` is
        NaN where the grade is ``?`` or ``nan``. ``groups`` are integers if every qid is written as one (up to 18
        digits, no leading zeros), else text; None if there is no qid. ``ids`` are the comments (of LETOR's own
        comments ``docid = …`` the docid alone), ``""`` where there is none; None if no row has one.

    Raises
    ------
    DataError
        With the file, the line, the field and what to do, for whatever is wrong.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from wellorder.data.letor import read_letor
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.txt"
    >>> _ = path.write_text("2 qid:7 1:0.5 3:1 # first\n0 qid:7 2:1.5 # second\n")
    >>> table = read_letor(path)
    >>> table.X.toarray().tolist(), table.y.tolist(), table.groups.tolist(), table.ids.tolist()
    ([[0.5, 0.0, 1.0], [0.0, 1.5, 0.0]], [2.0, 0.0], [7, 7], ['first', 'second'])
    """
    source = os.fspath(path)
    if n_features is not None and not (isinstance(n_features, Integral) and 1 <= n_features <= MOST_FEATURES):
        raise ValueError(f"n_features is {n_features!r}; give a number from 1 to {MOST_FEATURES:,}, or None")
    limits = Limits(source, MOST_FEATURES if n_features is None else int(n_features), n_features is not None)
    collected, most = _Collected(), room() // COPIES
    with closing(blocks(path)) as content:
        for rows in _rows(content, limits):
            collected.add(rows)
            if collected.n_bytes > most:
                raise too_large(source, collected.n_bytes, f"its first {collected.n_rows:,} rows")
    if not collected.n_rows:
        raise DataError(source, "it holds comments and empty lines only; is it the right file?")
    return collected.table(source, n_features)


def _rows(content: Iterator[bytes], limits: Limits) -> Iterator[LetorRows]:
    """Read block after block, compiled if there is enough to read."""
    start: list[bytes] = []
    while sum(map(len, start)) < COMPILED_FROM:
        block = next(content, None)
        if block is None:
            return letor_plain.parse_blocks(start, limits)
        start.append(block)
    from . import letor_compiled

    return letor_compiled.parse_blocks(chain(start, content), limits)


class _Growing:
    """An array that grows in place: never held twice, as a concatenation would."""

    def __init__(self, dtype: Any) -> None:
        self._array = np.empty(0, dtype)
        self._size = 0

    def extend(self, values: Array) -> None:
        size = self._size + len(values)
        if size > len(self._array):
            self._array.resize(size + size // 8 + 1024, refcheck=False)  # no view of it leaves before finish()
        self._array[self._size : size] = values
        self._size = size

    def finish(self) -> Array:
        self._array.resize(self._size, refcheck=False)
        return self._array


class _Collected:
    """All rows so far, of any number of blocks."""

    def __init__(self) -> None:
        self._grade = _Growing(np.float64)
        self._count = _Growing(np.int64)
        self._index = _Growing(np.int32)
        self._value = _Growing(np.float64)
        self._queries: list[Array] = []
        self._ids: list[tuple[int, list[str]]] = []  # with the number of their first row
        self.n_rows = 0
        self.n_bytes = 0  # about, of everything here
        self._width = 0

    def add(self, rows: LetorRows) -> None:
        self._grade.extend(rows.grade)
        self._count.extend(rows.count)
        self._index.extend(rows.index)
        self._value.extend(rows.value)
        if rows.query is not None:
            self._queries.append(rows.query)
        if rows.ids is not None:
            self._ids.append((self.n_rows, rows.ids))
            self.n_bytes += sum(map(len, rows.ids)) + _TEXT_BYTES * len(rows.ids)
        self.n_rows += len(rows.grade)
        self.n_bytes += _ROW_BYTES * len(rows.grade) + _ENTRY_BYTES * len(rows.value)
        self._width = max(self._width, rows.width)

    def table(self, source: str, n_features: int | None) -> Table:
        count, index, value = self._count.finish(), self._index.finish(), self._value.finish()
        bounds = np.zeros(self.n_rows + 1, np.int64)
        np.cumsum(count, out=bounds[1:])
        if bounds[-1] < 2**31:
            bounds = bounds.astype(np.int32)
        X = sp.csr_array((value, index, bounds), shape=(self.n_rows, n_features or self._width))
        X.has_sorted_indices = X.has_canonical_format = True
        has_queries = bool(self._queries)
        return Table(
            source,
            X,
            self._grade.finish(),
            _join_queries(self._queries) if has_queries else None,
            self._names() if self._ids else None,
            target="grade",
            group="qid" if has_queries else None,
            places=Places(((source, 0),)),
        )

    def _names(self) -> Array:
        out = np.full(self.n_rows, "", dtype=object)
        for first, part in self._ids:
            out[first : first + len(part)] = part
        return out


def _join_queries(parts: list[Array]) -> Array:
    """Return all queries as integers, or as text if one of them is no integer."""
    if all(part.dtype == np.int64 for part in parts):
        return np.concatenate(parts)
    # a plain integer has one spelling, so this gives back what stood in the file
    return text_array([str(query) for part in parts for query in part])


def write_letor(path: PathLike, table: Table) -> None:
    r"""Write a table as a LETOR file, gzipped if the name ends in ``.gz``; what is read back is the same.

    Zeros are left out. If the last feature is 0 in all rows, the first row states it, to keep the number of columns.
    Groups come back as text or integers, by their spelling.

    Parameters
    ----------
    path : path-like
        The file; one that is there is replaced.
    table : Table
        Its features must be numbers, neither NaN nor infinite; its grades numbers, NaN for unjudged ones. An id stands
        in the comment of its row.

    Raises
    ------
    ValueError
        If something in the table has no place in such a file: the message names the row.
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from wellorder.data.letor import read_letor, write_letor
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.txt"
    >>> _ = path.write_text("2 qid:7 3:1 2:0.10 #docid = GX1 inc = 1\n")
    >>> write_letor(path, read_letor(path))
    >>> path.read_text()
    '2 qid:7 2:0.1 3:1 # GX1\n'
    """
    if table.weights is not None:
        raise ValueError("LETOR files have no place for weights; take them out of the table, or write a CSV file")
    X = _numbers(table)
    n_rows, width = X.shape
    grades = ["?"] * n_rows if table.y is None else [_spell_grade(y, row) for row, y in enumerate(table.y)]
    queries = None if table.groups is None else [_spell_query(group, row) for row, group in enumerate(table.groups)]
    names = None if table.ids is None else [_spell_name(name, row) for row, name in enumerate(table.ids)]
    widest = X.indices.max() + 1 if X.nnz else 0
    with open_for_writing(path) as file:
        for row in range(n_rows):
            entries = slice(X.indptr[row], X.indptr[row + 1])
            fields = [grades[row]] if queries is None else [grades[row], f"qid:{queries[row]}"]
            features = zip(X.indices[entries].tolist(), X.data[entries].tolist(), strict=True)
            fields += [f"{j + 1}:{_spell(x)}" for j, x in features]
            if row == 0 and widest < width:
                fields.append(f"{width}:0")
            if names is not None and names[row]:
                fields.append(f"# {names[row]}")
            file.write(" ".join(fields) + "\n")


def _numbers(table: Table) -> sp.csr_array:
    """Return the features as a CSR array without zeros, or say which are no numbers."""
    X = table.X
    if isinstance(X, pl.DataFrame):
        for name, kind in X.schema.items():
            if not kind.is_numeric() and kind != pl.Boolean:
                raise ValueError(f"column {name!r} holds {kind}, and LETOR files hold numbers only; encode it first")
        X = sp.csr_array(np.column_stack([X[name].cast(pl.Float64).to_numpy() for name in X.columns]))
    X = sp.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    if not np.isfinite(X.data).all():
        entry = int(np.flatnonzero(~np.isfinite(X.data))[0])
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        column = int(X.indices[entry])
        name = table.X.columns[column] if isinstance(table.X, pl.DataFrame) else str(column + 1)
        problem = f"feature {name} of row {row + 1} is not finite"
        raise ValueError(f"{problem}; LETOR files hold finite numbers only")
    return X


def _spell(number: float) -> str:
    """Return the shortest text that is read back as the same number."""
    return repr(number).removesuffix(".0")


def _spell_grade(grade: Any, row: int) -> str:
    if grade is None or grade != grade:
        return "?"
    try:
        number = float(grade)
    except (TypeError, ValueError):
        number = float("inf")
    if isinstance(grade, str) or abs(number) == float("inf"):
        raise ValueError(
            f"grade {shorten(str(grade))} of row {row + 1} is no finite number; LETOR files hold numbers only"
        )
    return _spell(number)


def _spell_query(group: Any, row: int) -> str:
    text = str(group)
    if len(text.encode().split()) != 1 or text != text.strip() or "#" in text or "\0" in text:
        raise ValueError(
            f"group {shorten(text)} of row {row + 1} is empty, or has a blank or # in it, which no qid may"
        )
    return text


def _spell_name(name: Any, row: int) -> str:
    text = str(name)
    content = text.encode()
    if read_name(content) != content or {*"\n\r\0"} & {*text}:
        raise ValueError(f"id {shorten(text)} of row {row + 1} would not be read back from a comment; rename it")
    return text
