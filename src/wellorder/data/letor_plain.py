"""The grammar of a LETOR line, in plain Python: the small files, and every error message.

``grade [qid:ID] index:value … [# comment]``. The compiled form leaves each line that it cannot take to this
one, so that both accept the same files, with the same values and the same errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, isnan, nan
from typing import NamedTuple

import numpy as np

from ..sweeps import Array, Floats, Ints
from .lines import DataError, decode, shorten

# --------------------------------------------------------------------------------------------------
# Query ids as files spell them: whole numbers where every one is written as such, else text.


PLAIN_DIGITS = 18
"""Digits that an id may have to count as a whole number: any such number fits in 64 bits."""

_PLAIN = re.compile(rf"0|-?[1-9][0-9]{{0,{PLAIN_DIGITS - 1}}}", re.ASCII)


def is_plain(text: str) -> bool:
    """Say whether an id is the one spelling of a whole number, so that nothing is lost in making it one."""
    return _PLAIN.fullmatch(text) is not None


def query_array(texts: Sequence[str]) -> Array:
    """Return ids as integers if all of them are plain, else as an object array of text.

    Examples
    --------
    >>> from wellorder.data.letor_plain import query_array
    >>> query_array(["12", "-3"])
    array([12, -3])
    >>> query_array(["12", "007"])
    array(['12', '007'], dtype=object)
    """
    if all(map(is_plain, texts)):
        return np.array([int(text) for text in texts], np.int64)
    return text_array(texts)


def text_array(texts: Sequence[str]) -> Array:
    """Return text as an object array of one dimension, each different text held once."""
    held: dict[str, str] = {}
    out = np.empty(len(texts), dtype=object)
    out[:] = [held.setdefault(text, text) for text in texts]
    return out


# --------------------------------------------------------------------------------------------------
# Lines.


_FORM = "a line reads: grade qid:ID index:value … # comment"
_DOCID = re.compile(rb"docid[ \t\v\f]*=[ \t\v\f]*([^ \t\v\f]+)")
_SEPARATORS = b": \t\v\f\r"
_NO_SEPARATORS = bytes(set(range(256)) - set(_SEPARATORS))
_BLANKS = b" \t\v\f"
_MOST_DIGITS = 10


@dataclass(frozen=True)
class Limits:
    """What holds for every line of a file: its name, the highest feature, and whether that was asked for."""

    source: str
    n_features: int
    declared: bool


@dataclass
class LetorRows:
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


def parse_blocks(content: Iterable[bytes], limits: Limits) -> Iterator[LetorRows]:
    """Read a file's blocks of whole lines, in order."""
    line = 1
    with_query: bool | None = None
    for block in content:
        rows, with_query = parse_lines(block, line, with_query, limits)
        line += block.count(b"\n")
        yield rows


def parse_lines(block: bytes, line: int, with_query: bool | None, limits: Limits) -> tuple[LetorRows, bool | None]:
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
    rows : LetorRows
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
    index: list[Ints] = []
    value: list[float] = []
    queries: list[str] = []
    ids: list[str] = []
    width = 0
    usual = _UsualRows(limits)
    for number, content in enumerate(block.split(b"\n")[:-1], line):
        head, _, comment = content.partition(b"#")
        row = usual.read(head)
        try:
            if row is None or (with_query is not None and with_query != (row.query is not None)):
                row = _read_row(head, with_query, limits)
            if row is None:
                continue
            grades.append(_grade(row.grade))
        except _FieldError as error:
            raise DataError(limits.source, str(error), number) from None
        with_query = row.query is not None
        if row.query is not None:
            queries.append(decode(limits.source, row.query, number))
        places, numbers = row.places, row.numbers
        if 0.0 in numbers:
            places, numbers = places[np.array(numbers) != 0.0], [x for x in numbers if x]
        index.append(places)
        value += numbers
        counts.append(len(places))
        width = max(width, int(row.places[-1]) + 1 if len(row.places) else 0)
        ids.append(decode(limits.source, read_name(comment), number))
    return (
        LetorRows(
            np.array(grades, np.float64),
            np.array(counts, np.int64),
            np.concatenate(index) if index else np.empty(0, np.int32),
            np.array(value, np.float64),
            query_array(queries) if queries else None,
            ids if any(ids) else None,
            width,
        ),
        with_query,
    )


class _Row(NamedTuple):
    """A line in parts: the features by ascending place, counted from 0, zeros included."""

    grade: bytes
    query: bytes | None
    places: Ints
    numbers: list[float]


class _UsualRows:
    """Reads lines of the usual form at several times the speed: single blanks, and features in ascending order.

    What is left of such a line without all that separates nothing is " : : :", one of them for each name:value. Most
    lines of a file name the same features: these are looked at once.
    """

    def __init__(self, limits: Limits) -> None:
        self._most = limits.n_features
        self._names: list[bytes] = []
        self._places = np.empty(0, np.int32)

    def read(self, head: bytes) -> _Row | None:
        """Return the parts of a line without its comment; None where it has another form, or something is wrong."""
        head = head.rstrip()
        words = head.replace(b":", b" ").split()
        skeleton = head.translate(None, _NO_SEPARATORS)
        if len(words) % 2 == 0 or skeleton != b" :" * (len(words) // 2) or b"_" in head:
            return None
        with_query = len(words) > 1 and words[1] == b"qid"
        names = words[3 if with_query else 1 :: 2]
        if names != self._names and not self._know(names):
            return None
        try:
            numbers = list(map(float, words[4 if with_query else 2 :: 2]))
        except ValueError:
            return None
        if not isfinite(sum(numbers)):
            return None  # one of them is not, or they are large: it takes a closer look
        return _Row(words[0], words[2] if with_query else None, self._places, numbers)

    def _know(self, names: list[bytes]) -> bool:
        """Keep the features of a row, if they ascend within the limits."""
        if names and not (b"".join(names).isdigit() and max(map(len, names)) <= _MOST_DIGITS):
            return False
        features = list(map(int, names))
        if features and (features[0] < 1 or features[-1] > self._most):
            return False
        if any(a >= b for a, b in pairwise(features)):
            return False
        self._names, self._places = names, np.array([feature - 1 for feature in features], np.int32)
        return True


def _read_row(head: bytes, with_query: bool | None, limits: Limits) -> _Row | None:
    """Read a line of any form, or say what is wrong with it; None if it is empty."""
    fields = head.split()
    if not fields:
        return None
    _grade(fields[0])
    query = _query(fields, with_query)
    features = _features(fields[1 if query is None else 2 :], limits)
    places = np.array([j - 1 for j, _ in features], np.int32)
    return _Row(fields[0], query, places, [x for _, x in features])


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
