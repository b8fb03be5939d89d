"""Any bytes at all: each reader gives what the reference gives, or a DataError, and nothing else."""

from __future__ import annotations

import gzip
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.reference.letor import RefusedError, letor_ref, trec_ref
from wellorder.data import DataError, letor, letor_compiled, letor_plain
from wellorder.data.letor import read_letor, write_letor
from wellorder.data.letor_plain import Limits
from wellorder.data.lines import blocks, read_text
from wellorder.data.trec import read_qrels, read_run

LETOR = b"""2 qid:10032 1:0.056537 2:0.000000 3:0.666667 46:0.076923 #docid = GX029-35 inc = 0.0119 prob = 0.139842
? qid:10032 3:1 1:-2.5e-3 2:0.30000000000000004 # plain words

0 qid:q7 12:1e22 13:123456789012345678 # \xc3\xa9
"""
RUN = b"7 Q0 a 1 3.5 tag\n7 Q0 b 2 -1e-3 tag\n8 Q0 a 1 0 tag\n"
QRELS = b"7 0 a 1\n7 0 b 0\n8 0 a 2.5\n"
WORDS = [
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"#",
    b":",
    b"qid:",
    b"qid:a",
    b" 1:2",
    b" 3:0",
    b"0",
    b"-",
    b"+",
    b".",
    b"e5",
]
WORDS += [
    b"nan",
    b"inf",
    b"?",
    b"_",
    b"\0",
    b"\xe9",
    b"\xc3\xa9",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"99999999999",
    b"docid =",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "file"


def mutated(valid):
    """Draw a valid file with a few stretches replaced by other words, or by any bytes."""
    change = st.tuples(st.integers(0, len(valid)), st.integers(0, 6), st.sampled_from(WORDS) | st.binary(max_size=4))

    def apply(changes):
        content = valid
        for start, length, word in changes:
            content = content[:start] + word + content[start + length :]
        return content

    return st.lists(change, max_size=4).map(apply)


ANYTHING = st.binary(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=15).map(b"".join)


def attempt(function, *arguments, refusal=DataError):
    """Return the result or the message of the refusal; anything else that is raised fails the test."""
    try:
        return function(*arguments)
    except refusal as error:
        return str(error)


def read_both(path):
    """Read with both forms, in blocks of a few lines."""
    out = []
    for start in (10**12, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(letor, "COMPILED_FROM", start)
            out.append(attempt(read_letor, path))
    return out


def check_letor(path, content):
    path.write_bytes(content)
    try:
        expected = letor_ref(content)
    except RefusedError:
        plain, compiled = read_both(path)
        assert isinstance(plain, str)
        assert plain == compiled
        return False
    queries = [qid for _, qid, _, _ in expected]
    names = [name for _, _, _, name in expected]
    for table in read_both(path):
        assert not isinstance(table, str), table
        for (grade, _, features, _), y, row in zip(expected, table.y, range(len(table)), strict=True):
            assert repr(float(y)) == repr(grade) or (math.isnan(y) and math.isnan(grade))
            entries = slice(table.X.indptr[row], table.X.indptr[row + 1])
            found = list(zip(table.X.indices[entries] + 1, table.X.data[entries], strict=True))
            assert found == sorted((j, x) for j, x in features.items() if x != 0)
        assert table.X.shape[1] == max((j for _, _, features, _ in expected for j in features), default=0)
        assert (table.groups is None) == (queries[0] is None)
        if table.groups is not None:
            assert list(map(str, table.groups)) == queries
        assert (table.ids is None) == (not any(names))
        if table.ids is not None:
            assert table.ids.tolist() == names
    return True


@given(ANYTHING | mutated(LETOR))
@settings(max_examples=500)
def test_letor(place, content):
    check_letor(place, content)


def test_many_small_changes_of_letor(place):
    source = random.Random(7)
    accepted = 0
    letters = b"0123456789:.#-+e qidnan?\t\n\r_"
    for _ in range(1500):
        content = bytearray(LETOR)
        for _ in range(source.choice((1, 1, 2, 3))):
            content[source.randrange(len(content))] = source.choice(letters)
        accepted += check_letor(place, bytes(content))
    assert 300 < accepted < 1200  # both outcomes are tried


@given(st.lists(mutated(LETOR), min_size=1, max_size=3), st.integers(1, 40))
def test_blocks_do_not_matter(place, contents, size):
    """However the lines are cut into blocks, both forms find the same rows or the same first error."""
    place.write_bytes(b"\n".join(contents))
    pieces = attempt(lambda: list(blocks(place, size)))
    if isinstance(pieces, str):
        return
    limits = Limits("file", 10**6, False)

    def all_of(parse, content):
        rows = []
        for part in parse(content, limits):
            queries = [None] * len(part.grade) if part.query is None else list(map(str, part.query))
            names = part.ids or [""] * len(part.grade)
            ends = np.cumsum(part.count)
            for k in range(len(part.grade)):
                entries = slice(ends[k] - part.count[k], ends[k])
                found = part.index[entries].tolist(), part.value[entries].tolist()
                rows.append((repr(part.grade[k]), queries[k], names[k], found))
        return rows

    whole = attempt(all_of, letor_plain.parse_blocks, [b"".join(pieces)])
    assert attempt(all_of, letor_plain.parse_blocks, pieces) == whole
    assert attempt(all_of, letor_compiled.parse_blocks, pieces) == whole
    assert attempt(all_of, letor_compiled.parse_blocks, [b"".join(pieces)]) == whole


@given(mutated(LETOR))
def test_what_was_read_can_be_written_and_read_again(place, content):
    place.write_bytes(content)
    table = attempt(read_letor, place)
    if isinstance(table, str):
        return
    # an id such as the "docid = b" of the comment "docid = docid=b" would be read back as "b"
    problem = attempt(write_letor, place, table, refusal=ValueError)
    if problem is not None:
        assert "would not be read back" in problem
        return
    again = read_letor(place)
    assert again.X.shape == table.X.shape
    assert (again.X != table.X).nnz == 0
    assert repr(again.y) == repr(table.y)
    for name in ("groups", "ids"):
        assert repr(getattr(again, name)) == repr(getattr(table, name))


@pytest.mark.parametrize(
    ("read", "valid", "n_fields", "column", "number"),
    [(read_run, RUN, 6, 4, "score"), (read_qrels, QRELS, 4, 3, "grade")],
    ids=["run", "qrels"],
)
def test_trec(place, read, valid, n_fields, column, number):
    @given(ANYTHING | mutated(valid))
    @settings(max_examples=200)
    def check(content):
        place.write_bytes(content)
        found = attempt(read, place)
        try:
            expected = trec_ref(content, n_fields, column)
        except RefusedError:
            assert isinstance(found, str)
            return
        assert list(zip(found.query, found.item, getattr(found, number), strict=True)) == expected

    check()


@given(st.sampled_from([LETOR, RUN, QRELS]), st.integers(0, 400), st.binary(max_size=3), st.integers(0, 400))
def test_damaged_gzips(place, valid, cut, stuffing, start):
    packed = gzip.compress(valid, mtime=0)
    place.write_bytes(packed[:start] + stuffing + packed[start : max(len(packed) - cut, 0)])
    for read in (read_letor, read_run, read_qrels, read_text):
        attempt(read, place)
