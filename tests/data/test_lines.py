from __future__ import annotations

import gzip
import os
import tracemalloc

import pytest
from hypothesis import given, strategies as st

import wellorder.data
from tests.reference.letor import RefusedError, lines_ref
from wellorder.data import DataError, lines
from wellorder.data.lines import blocks, open_bytes, open_for_writing, read_text


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("lines") / "file.txt"


def pack(content):
    return gzip.compress(content, mtime=0)


def written(place, content):
    place.write_bytes(content)
    return place


PIECES = st.lists(
    st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bc", b"\xef\xbb\xbf", b"\xc3\xa9", b"\0"]), max_size=12
)


@given(PIECES.map(b"".join), st.integers(1, 9), st.booleans())
def test_blocks_are_the_lines_of_the_file(place, content, size, compress):
    written(place, pack(content) if compress else content)
    try:
        expected = lines_ref(content)
    except RefusedError:
        with pytest.raises(DataError):
            list(blocks(place, size))
        return
    found = list(blocks(place, size)) if content.removeprefix(b"\xef\xbb\xbf") else []
    assert b"".join(found) == b"".join(line + b"\n" for line in expected)
    assert all(block.endswith(b"\n") for block in found)


@given(PIECES.map(b"".join))
def test_text_is_what_python_reads(place, content):
    if b"\0" not in content:
        written(place, content)
        assert read_text(place) == place.read_text(encoding="utf-8-sig")


def test_a_line_that_is_too_long_is_named(place):
    written(place, b"short\n" + b"x" * 100 + b"\nshort\n")
    assert b"".join(blocks(place, 10, longest_line=100)) == place.read_bytes()
    with pytest.raises(DataError, match=r"line 2: more than 99 bytes without a line end"):
        list(blocks(place, 10, longest_line=99))
    written(place, b"x" * 100)
    with pytest.raises(DataError, match="line 1: more than 99 bytes"):
        list(blocks(place, 10, longest_line=99))


def test_a_file_without_lines_is_given_up_early(place):
    written(place, pack(b"x" * 20_000_000))
    tracemalloc.start()
    with pytest.raises(DataError, match="without a line end"):
        list(blocks(place, 1 << 16, longest_line=1 << 20))
    with pytest.raises(DataError, match="more than 1,000,000 bytes"):
        read_text(place, largest=1_000_000)
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (pack(b"a\n" * 99)[:-5], "it ends before its gzip stream does; copy or download it again"),
        (pack(b"a\n" * 99)[:5], "it ends before its gzip stream does"),
        (pack(b"a\n") + b"more", "damaged or followed by other bytes"),
        (pack(b"abc")[:-8] + bytes(8), "damaged"),
        ("a".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
        ("a".encode("utf-32"), "UTF-32 text; save it as UTF-8"),
        (pack("a".encode("utf-16")), "UTF-16 text"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"a\nb\0", "line 2: a NUL byte"),
        (pack(b"\r\r\na\0"), "line 3: a NUL byte"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damaged_files(place, content, problem):
    written(place, content)
    with pytest.raises(DataError, match=problem):
        list(blocks(place))
    with pytest.raises(DataError, match=problem):
        read_text(place)


def test_every_truncation_of_a_gzip_is_noticed(place):
    content = pack(b"1 qid:2 3:4\n" * 9)
    for length in range(2, len(content)):
        written(place, content[:length])
        with pytest.raises(DataError, match="ends before its gzip stream does"):
            read_text(place)


def test_bytes_that_are_not_utf8(place):
    with pytest.raises(DataError, match=r"line 3: byte 0xe9 is not UTF-8; save the file as UTF-8"):
        read_text(written(place, b"a\r\nb\rcaf\xe9\n"))


def test_gzip_in_several_members_and_whatever_its_name(place):
    written(place, pack(b"a\n") + pack(b"b\n"))
    assert read_text(place) == "a\nb\n"


def test_files_that_cannot_be_opened(place, tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        open_bytes(tmp_path / "none")
    with pytest.raises(DataError, match="it is a folder"):
        open_bytes(tmp_path)
    with pytest.raises(DataError, match="cannot be opened"):
        open_bytes("a\0b")
    for unwritable in (tmp_path / "none" / "file", tmp_path, "a\0b"):
        with pytest.raises(DataError, match="cannot be written"), open_for_writing(unwritable):
            pass
    with pytest.raises(DataError, match="cannot be opened"):
        open_bytes("/proc/self/mem") if os.path.exists("/proc/self/mem") else open_bytes("a\0b")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the administrator may read anything")
def test_files_that_may_not_be_read(place):
    written(place, b"a").chmod(0)
    try:
        with pytest.raises(DataError, match="may not be read"):
            open_bytes(place)
    finally:
        place.chmod(0o600)


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", pack(b"")])
def test_empty_files(place, content):
    written(place, content)
    assert read_text(place) == ""
    with pytest.raises(DataError, match="it is empty"):
        list(blocks(place))


@pytest.mark.parametrize("name", ["plain.txt", "packed.txt.gz"])
def test_writing(tmp_path, name):
    for copy in ("one", "two"):
        (tmp_path / copy).mkdir()
        with open_for_writing(tmp_path / copy / name) as file:
            file.write("é\n")
    content = (tmp_path / "one" / name).read_bytes()
    assert content == (tmp_path / "two" / name).read_bytes()
    assert content.startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert read_text(tmp_path / "one" / name) == "é\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("read_letor", b"1 qid:1 1:1\n2 qid:1 1:bad\n"),
        ("read_run", b"q Q0 a 1 0.5 t\nq Q0 b\n"),
        ("read_qrels", b"q\n"),
    ],
)
@pytest.mark.parametrize("compiled_from", [0, 1 << 22])
def test_a_file_that_is_refused_is_closed(tmp_path, monkeypatch, name, content, compiled_from):
    opened = []

    def remember(*arguments):
        opened.append(real(*arguments))
        return opened[-1]

    real = lines.open_bytes
    monkeypatch.setattr(lines, "open_bytes", remember)
    monkeypatch.setattr("wellorder.data.letor.COMPILED_FROM", compiled_from)
    path = tmp_path / "rows.txt"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:  # whose traceback keeps everything alive that was open
        getattr(wellorder.data, name)(path)
    assert opened
    assert all(stream.closed for stream in opened), caught
