"""TREC's two files: runs (what a system ranked) and qrels (what the judges said)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ..sweeps import Array, Floats
from .letor_plain import read_number, text_array
from .lines import COPIES, DataError, PathLike, blocks, decode, open_for_writing, room, shorten, too_large

_RUN_FORM = "a run's line reads: query Q0 item rank score tag"
_QRELS_FORM = "a qrels line reads: query 0 item grade"

_ROW_BYTES = 400
"""Bytes that a row takes in memory while a file is read, beside the letters of its query and item."""


@dataclass(frozen=True)
class Run:
    """What a system ranked, a row an item of a query, in the order of the file.

    Attributes
    ----------
    query, item : object arrays of str
        Text even where they look like numbers, so that runs and qrels always fit together.
    score : float64 array
        A higher one stands above. The file's ranks are not kept: as in TREC's own evaluation, scores decide.
    tag : str
        The name of the run, from its first line.
    """

    query: Array
    item: Array
    score: Floats
    tag: str

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True)
class Qrels:
    """What the judges said, a row an item of a query, in the order of the file.

    Attributes
    ----------
    query, item : object arrays of str
        Text even where they look like numbers.
    grade : float64 array
        A higher one is better.
    """

    query: Array
    item: Array
    grade: Floats

    def __len__(self) -> int:
        return len(self.grade)


def read_run(path: PathLike) -> Run:
    r"""Read a TREC run, ``query Q0 item rank score tag``, which may be gzipped.

    Parameters
    ----------
    path : path-like
        The file. Empty lines are skipped; the second and fourth field are not looked at.

    Returns
    -------
    Run
        Its rows in the order of the file.

    Raises
    ------
    DataError
        With the line: fields missing or too many, a score that is no finite number, an item twice in a query.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from wellorder.data.trec import read_run
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.txt"
    >>> _ = path.write_text("7 Q0 b 1 2.5 mine\n7 Q0 a 2 1 mine\n")
    >>> run = read_run(path)
    >>> run.query.tolist(), run.item.tolist(), run.score.tolist(), run.tag
    (['7', '7'], ['b', 'a'], [2.5, 1.0], 'mine')
    """
    query, item, score, tag = _read(path, 6, 4, "score", _RUN_FORM)
    return Run(query, item, score, tag)


def read_qrels(path: PathLike) -> Qrels:
    r"""Read TREC judgements, ``query 0 item grade``, which may be gzipped.

    Parameters
    ----------
    path : path-like
        The file. Empty lines are skipped; the second field is not looked at.

    Returns
    -------
    Qrels
        Its rows in the order of the file.

    Raises
    ------
    DataError
        With the line: fields missing or too many, a grade that is no finite number, an item twice in a query.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from wellorder.data.trec import read_qrels
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("7 0 a 2\n7 0 b 0\n")
    >>> read_qrels(path).grade.tolist()
    [2.0, 0.0]
    """
    query, item, grade, _ = _read(path, 4, 3, "grade", _QRELS_FORM)
    return Qrels(query, item, grade)


def write_run(path: PathLike, ids: Any, groups: Any, scores: Any, tag: str = "wellorder") -> None:
    """Write scores as a TREC run, gzipped if the name ends in ``.gz``.

    Queries come in the order of their first rows; in a query the highest score comes first, with rank 1. Rows with
    equal scores keep the order they are given in (TREC's own evaluation orders them by item, whatever their ranks
    say).

    Parameters
    ----------
    path : path-like
        The file; one that is there is replaced.
    ids : array of shape (n,)
        The items. An item, query or tag is one word: a blank in it is an error.
    groups : array of shape (n,) or None
        The query of each row; None if all rows are one list, which is then query 1.
    scores : array of shape (n,)
        Finite numbers; a higher one stands above. They are read back exactly.
    tag : str
        The name of the run.

    Raises
    ------
    ValueError
        If an id, query, tag or score cannot stand in such a file, with its row.
    DataError
        If the file cannot be written.
    """
    queries, items, numbers = _check(ids, groups, scores, "score")
    tag = _word(tag, "the tag")
    place: dict[str, list[int]] = {}
    for row, query in enumerate(queries):
        place.setdefault(query, []).append(row)
    with open_for_writing(path) as file:
        for query, rows in place.items():
            rows.sort(key=lambda row: -numbers[row])  # stable: ties keep their order
            for rank, row in enumerate(rows, 1):
                file.write(f"{query} Q0 {items[row]} {rank} {numbers[row]!r} {tag}\n")


def write_qrels(path: PathLike, ids: Any, groups: Any, grades: Any) -> None:
    """Write grades as TREC judgements, gzipped if the name ends in ``.gz``, in the order given.

    Parameters
    ----------
    path : path-like
        The file; one that is there is replaced.
    ids : array of shape (n,)
        The items. An item or query is one word: a blank in it is an error.
    groups : array of shape (n,) or None
        The query of each row; None if all rows are one list, which is then query 1.
    grades : array of shape (n,)
        Numbers. Rows without one (NaN) are left out: to TREC, what has no line is not judged.

    Raises
    ------
    ValueError
        If an id, query or grade cannot stand in such a file, with its row.
    DataError
        If the file cannot be written.
    """
    values = np.asarray(grades, np.float64)
    judged = ~np.isnan(values)
    values = np.where(judged, values, 0.0)
    queries, items, numbers = _check(ids, groups, values, "grade")
    with open_for_writing(path) as file:
        for row in np.flatnonzero(judged).tolist():
            file.write(f"{queries[row]} 0 {items[row]} {repr(numbers[row]).removesuffix('.0')}\n")


def _read(path: PathLike, n_fields: int, column: int, what: str, form: str) -> tuple[Array, Array, Floats, str]:
    """Return queries, items and the numbers of a column, and the last word of the first line."""
    source = os.fspath(path)
    seen: set[tuple[bytes, bytes]] = set()
    queries: list[str] = []
    items: list[str] = []
    numbers: list[float] = []
    tag = ""
    held, most = 0, room() // COPIES
    with closing(blocks(path)) as content:
        for line, fields in _lines(content):
            if len(fields) != n_fields:
                raise DataError(source, f"{len(fields)} fields instead of {n_fields}; {form}", line)
            queries.append(decode(source, fields[0], line))
            items.append(decode(source, fields[2], line))
            tag = tag or fields[-1].decode("utf-8", "replace")  # a mere name: not worth refusing the file
            number = read_number(fields[column])
            if number is None or not isfinite(number):
                problem = f"{_quote(fields[column])} is no finite number, but should be a {what}; {form}"
                raise DataError(source, problem, line)
            numbers.append(number)
            pair = (fields[0], fields[2])
            if pair in seen:
                problem = f"item {_quote(fields[2])} is there twice in query {_quote(fields[0])}; keep one of them"
                raise DataError(source, problem, line)
            seen.add(pair)
            held += _ROW_BYTES + 2 * (len(fields[0]) + len(fields[2]))
            if held > most:
                raise too_large(source, held, f"its first {len(numbers):,} rows")
    if not numbers:
        raise DataError(source, f"it has no line with fields in it; {form}")
    return text_array(queries), text_array(items), np.array(numbers, np.float64), tag


def _lines(content: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the fields of each line that has any."""
    line = 0
    for block in content:
        for text in block.split(b"\n")[:-1]:
            line += 1
            fields = text.split()
            if fields:
                yield line, fields


def _check(ids: Any, groups: Any, values: Any, what: str) -> tuple[list[str], list[str], list[float]]:
    """Return queries and items as words and finite numbers, or say which row has another."""
    numbers = np.asarray(values, np.float64)
    n = len(numbers)
    groups = ["1"] * n if groups is None else groups
    if numbers.ndim != 1 or len(ids) != n or len(groups) != n:
        raise ValueError(f"{len(ids)} ids and {len(groups)} groups do not fit {what}s of shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"{what} {numbers[row]} of row {row + 1} is not finite, which TREC files cannot hold")
    queries = [_word(group, f"group of row {row}") for row, group in enumerate(groups, 1)]
    items = [_word(item, f"id of row {row}") for row, item in enumerate(ids, 1)]
    seen: set[tuple[str, str]] = set()
    for row, pair in enumerate(zip(queries, items, strict=True), 1):
        if pair in seen:
            raise ValueError(f"id {shorten(pair[1])} of row {row} is there twice in group {shorten(pair[0])}")
        seen.add(pair)
    return queries, items, numbers.tolist()


def _word(value: Any, what: str) -> str:
    """Return a value as one word, or say that it is none."""
    word = str(value)
    # U+FEFF at the start of a file would be read as its byte order mark
    if not word or word.startswith("\ufeff") or any(letter.isspace() or letter < " " for letter in word):
        raise ValueError(
            f"{what}, {shorten(word)}, is empty or has a blank in it; TREC files separate fields by blanks"
        )
    return word


def _quote(field: bytes) -> str:
    return shorten(field.decode("utf-8", "replace"))
