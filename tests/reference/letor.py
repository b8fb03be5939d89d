"""LETOR and TREC files, read line by line with regular expressions and Python's own float()."""

from __future__ import annotations

import math
import re

_BLANK = rb"[ \t\v\f]"
_WORD = rb"[^ \t\v\f#]+"
_ROW = re.compile(
    rb"%b*(?P<grade>%b)(%b+qid:(?P<qid>%b))?(?P<features>(%b+%b)*)%b*(#(?P<comment>.*))?"
    % (_BLANK, _WORD, _BLANK, _WORD, _BLANK, _WORD, _BLANK)
)
_NOTHING = re.compile(rb"%b*(#.*)?" % _BLANK)
_DOCID = re.compile(rb"docid%b*=%b*(%b)(%b.*)?" % (_BLANK, _BLANK, rb"[^ \t\v\f]+", _BLANK))


class RefusedError(Exception):
    """The file is not one that may be accepted."""


def lines_ref(content: bytes) -> list[bytes]:
    """Return the lines of a file that is not compressed."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff", b"PK\3\4", b"BZh91AY&SY", b"\xfd7zXZ\0")):
        raise RefusedError
    if b"\0" in content or content.startswith(b"\x28\xb5\x2f\xfd"):
        raise RefusedError
    content = content.removeprefix(b"\xef\xbb\xbf")
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return lines if lines[-1] else lines[:-1]


def number_ref(field: bytes) -> float:
    """Return a number as Python reads it, but for underscores."""
    try:
        return float(field.replace(b"_", b"?"))
    except ValueError:
        raise RefusedError from None


def text_ref(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise RefusedError from None


def letor_ref(content: bytes, most: int = 2**31 - 1):
    """Return (grade, qid or None, {feature: value}, name) for each row, zeros included."""
    rows = []
    for line in lines_ref(content):
        if _NOTHING.fullmatch(line):
            continue
        row = _ROW.fullmatch(line)
        if row is None:
            raise RefusedError
        grade = math.nan if row["grade"] == b"?" else number_ref(row["grade"])
        if math.isinf(grade):
            raise RefusedError
        features = {}
        for field in row["features"].split():
            match = re.fullmatch(rb"0*([1-9][0-9]*):(.*)", field)
            if match is None or len(match[1]) > 12 or int(match[1]) > most or int(match[1]) in features:
                raise RefusedError
            features[int(match[1])] = number_ref(match[2])
        if not all(map(math.isfinite, features.values())):
            raise RefusedError
        comment = (row["comment"] or b"").strip(b" \t\v\f")
        docid = _DOCID.fullmatch(comment)
        qid = None if row["qid"] is None else text_ref(row["qid"])
        rows.append((grade, qid, features, text_ref(docid[1] if docid else comment)))
    if not rows or len({qid is None for _, qid, _, _ in rows}) == 2:
        raise RefusedError
    return rows


def trec_ref(content: bytes, n_fields: int, column: int):
    """Return (query, item, number) for each row of a run (6 fields, number in 4) or of qrels (4, 3)."""
    rows = []
    for line in lines_ref(content):
        fields = line.split()
        if fields:
            if len(fields) != n_fields or not math.isfinite(number_ref(fields[column])):
                raise RefusedError
            rows.append((text_ref(fields[0]), text_ref(fields[2]), number_ref(fields[column])))
    if not rows or len({row[:2] for row in rows}) < len(rows):
        raise RefusedError
    return rows
