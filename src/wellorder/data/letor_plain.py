"""The grammar of a LETOR line, in plain Python: the small files, and every error message.

``grade [qid:ID] index:value … [# comment]``. The compiled form leaves each line that it cannot take to this
one, so that both accept the same files, with the same values and the same errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, isnan, nan

import numpy as np

from ..sweeps import Array, Floats, Ints
from .errors import DataError
from .lines import decode, shorten
from .queries import query_array

_FORM = "a line reads: grade qid:ID index:value … # comment"
_DOCID = re.compile(rb"docid[ \t\v\f]*=[ \t\v\f]*([^ \t\v\f]+)")
_PLAIN_FEATURES = re.compile(rb"(?:[0-9]{1,10}:-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?(?: |$))*+")
_BLANKS = b" \t\v\f"


@dataclass(frozen=True)
class Limits:
    """What holds for every line of a file: its name, the highest feature, and whether that was asked for."""

    source: str
    n_features: int
    declared: bool


@dataclass
class Rows:
    """Some rows of a file.

    Attributes
    ----------
    grade : float64 array
        NaN for unjudged rows.
    count : int64 array
        Features of each row that are not 0.
    index, value : int32 and float64 arrays
        These features, row by row, ascending; the index counts from 0.
    query : array or None
        int64 if all are plain numbers, else objects (str).
    ids : list of str, or None
        What the comments say; None if there is none.
    width : int
        The highest feature, zeros included.
    """

    grade: Floats
    count: Ints
    index: Ints
    value: Floats
    query: Array | None
    ids: list[str] | None
    width: int


def parse_blocks(content: Iterable[bytes], limits: Limits) -> Iterator[Rows]:
    """Read a file's blocks of whole lines, in order."""
    line = 1
    with_query: bool | None = None
    for block in content:
        rows, with_query = parse_lines(block, line, with_query, limits)
        line += block.count(b"\n")
        yield rows


def parse_lines(block: bytes, line: int, with_query: bool | None, limits: Limits) -> tuple[Rows, bool | None]:
    """Read a block of whole lines.

    Parameters
    ----------
    block : bytes
        The lines, each with LF at its end.
    line : int
        The number of the first one.
    with_query : bool or None
        Whether the rows so far have a qid; None if there was no row.
    limits : Limits
        The file's name and its highest feature.

    Returns
    -------
    rows : Rows
        The rows, without empty lines and mere comments.
    with_query : bool or None
        As before, these rows included.

    Raises
    ------
    DataError
        For the first line that is wrong.
    """
    grades: list[float] = []
    counts: list[int] = []
    index: list[int] = []
    value: list[float] = []
    queries: list[str] = []
    ids: list[str] = []
    width = 0
    for number, content in enumerate(block.split(b"\n")[:-1], line):
        head, _, comment = content.partition(b"#")
        fields = head.split()
        if not fields:
            continue
        try:
            grades.append(_grade(fields[0]))
            query = _query(fields, with_query)
            with_query = query is not None
            if query is not None:
                queries.append(decode(limits.source, query, number))
            features = _features(fields[2 if with_query else 1 :], limits)
        except _FieldError as error:
            raise DataError(limits.source, str(error), number) from None
        kept = len(index)
        index += [j - 1 for j, x in features if x]
        value += [x for _, x in features if x]
        counts.append(len(index) - kept)
        width = max(width, features[-1][0] if features else 0)
        ids.append(decode(limits.source, read_name(comment), number))
    return (
        Rows(
            np.array(grades, np.float64),
            np.array(counts, np.int64),
            np.array(index, np.int32),
            np.array(value, np.float64),
            query_array(queries) if queries else None,
            ids if any(ids) else None,
            width,
        ),
        with_query,
    )


class _FieldError(Exception):
    """What is wrong with a line, as text: the caller knows the file and the line."""


def _grade(field: bytes) -> float:
    if field == b"?":
        return nan
    grade = read_number(field)
    if grade is None:
        text = _quote(field)
        if b":" in field:
            raise _FieldError(f"the grade is missing before {text}; {_FORM} (grade ? where there is none)")
        raise _FieldError(f"{text} is not a grade; {_FORM}, with a number as grade, or ? where there is none")
    if not isfinite(grade) and not isnan(grade):
        raise _FieldError(f"{_quote(field)} is no finite number; give a grade, or ? where there is none")
    return grade


def _query(fields: list[bytes], expected: bool | None) -> bytes | None:
    """Return the id of a row's query, as every row or none has one."""
    has_one = len(fields) > 1 and fields[1].startswith(b"qid:")
    if expected is not None and has_one != expected:
        problem = "a row with qid, where those before have none" if has_one else "a row without qid after rows with one"
        raise _FieldError(f"{problem}; give each row its qid, or none")
    if not has_one:
        return None
    query = fields[1][4:]
    if not query:
        raise _FieldError("'qid:' names no query; write qid:ID without a blank")
    return query


def _features(fields: list[bytes], limits: Limits) -> list[tuple[int, float]]:
    """Return the features of a row, ascending, counted from 1."""
    plain = b" ".join(fields)
    if _PLAIN_FEATURES.fullmatch(plain):  # the usual case, at several times the speed
        words = plain.replace(b":", b" ").split()
        indices, values = list(map(int, words[::2])), list(map(float, words[1::2]))
        within = not indices or (indices[0] >= 1 and indices[-1] <= limits.n_features)
        if within and indices == sorted(set(indices)) and all(map(isfinite, values)):
            return list(zip(indices, values, strict=True))
    features = [_feature(field, limits) for field in fields]
    if any(a[0] >= b[0] for a, b in pairwise(features)):
        features.sort(key=lambda feature: feature[0])
        for a, b in pairwise(features):
            if a[0] == b[0]:
                raise _FieldError(f"feature {a[0]} is there twice; a row has each feature once")
    return features


def _feature(field: bytes, limits: Limits) -> tuple[int, float]:
    name, colon, number = field.partition(b":")
    if name == b"qid" and colon:
        raise _FieldError(f"{_quote(field)} is out of place; a row has one qid, right after the grade")
    if not colon or not name.removeprefix(b"-").isdigit():
        raise _FieldError(f"{_quote(field)} is not index:value; {_FORM}")
    digits = name.lstrip(b"0")
    if not digits:
        raise _FieldError(f"{_quote(field)} is feature 0, but LETOR counts from 1; add 1 to each index of the file")
    if digits.startswith(b"-"):
        raise _FieldError(f"{_quote(field)} has a negative index; features count from 1")
    # the length first: Python refuses to read numbers of thousands of digits
    if len(digits) > 10 or int(digits) > limits.n_features:
        most = f"n_features={limits.n_features}" if limits.declared else f"{limits.n_features:,}, the most there can be"
        raise _FieldError(f"{_quote(field)} is beyond feature {most}; is its index right?")
    value = read_number(number)
    if value is None:
        raise _FieldError(f"{_quote(field)} has no number as its value; {_FORM}")
    if not isfinite(value):
        raise _FieldError(f"{_quote(field)} is no finite number; leave the feature out where its value is not known")
    return int(digits), value


def read_number(field: bytes) -> float | None:
    """Return what Python takes as a float, but for underscores; None for anything else."""
    if b"_" in field:
        return None
    try:
        return float(field)
    except ValueError:
        return None


def read_name(comment: bytes) -> bytes:
    """Return what a comment calls its row: the docid of LETOR's own comments, else all of it."""
    comment = comment.strip(_BLANKS)
    docid = _DOCID.match(comment)
    return docid[1] if docid else comment


def _quote(field: bytes) -> str:
    return shorten(field.decode("utf-8", "replace"))
