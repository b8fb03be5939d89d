"""Bytes and lines of a file that may be gzipped, damaged, enormous or not text at all.

A file is gzipped if it starts so, whatever its name. A UTF-8 byte order mark is dropped. Lines end with LF,
CRLF or a lone CR, as in Python's own text files; what leaves this module has LF alone, so line numbers here
are those that an editor shows. Whatever is wrong comes as a :class:`DataError` with the fix.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any, BinaryIO, TextIO, TypeAlias, cast

from ..memory import available_bytes
from ..sweeps import Array, Ints
from ..whole_files import whole_file
from ..writing import visible, write_bytes

# --------------------------------------------------------------------------------------------------
# What is wrong with a file: which file, which line, and what to do about it.


class DataError(ValueError):
    """A file that cannot be read as it stands.

    Prints as one line: ``wines.csv, line 7: 'abc' in column 'ph' is not a number; …``.

    Parameters
    ----------
    source : str
        The file, as the user named it.
    problem : str
        What is wrong and what to do, as one sentence.
    line : int, optional
        Line number in the (uncompressed) file, from 1.
    """

    def __init__(self, source: str, problem: str, line: int | None = None) -> None:
        self.source = source
        self.problem = problem
        self.line = line
        where = source if line is None else f"{source}, line {line:,}"
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[type[DataError], tuple[str, str, int | None]]:
        """Say how to make it again: an error on another machine has to come here."""
        return type(self), (self.source, self.problem, self.line)


@dataclass(frozen=True)
class Places:
    """Where rows stand in the files that they were read from.

    Attributes
    ----------
    sources : tuple of (str, int)
        Each file, as the user named it, and its first row.
    lines : array of shape (n,) or None
        The line in which each row starts; None where the format has no lines.
    rows : array or None
        Which rows of the files these are; None: all of them.
    """

    sources: tuple[tuple[str, int], ...]
    lines: Ints | None = None
    rows: Ints | None = None

    def find(self, row: int) -> tuple[str, int | None, str]:
        """Return a row's file, its line or None, and how to say where in the file it is: by line, else by number."""
        row = row if self.rows is None else int(self.rows[row])
        source, first = next(part for part in reversed(self.sources) if part[1] <= row)
        if self.lines is None:
            return source, None, f"row {row - first + 1:,}"
        return source, int(self.lines[row]), f"line {self.lines[row]:,}"

    def error(self, problem: str, row: int) -> DataError:
        """Return the error for a row, with its file and where it is there."""
        source, line, where = self.find(row)
        return DataError(source, problem if line is not None else f"{where}: {problem}", line)

    def take(self, rows: Array) -> Places:
        """Return the places of some of the rows, by number."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows])


def name_place(places: Places | None, row: int) -> str:
    """Say where a row is, in the middle of a sentence; one that is of no file goes by its number, from 0."""
    if places is None:
        return f"row {row}"
    source, _, where = places.find(row)
    return f"{where} of {source}"


def row_error(places: Places | None, problem: str, row: int) -> ValueError:
    """Return the error for a row of a file, or of something that was made in Python and is in no file."""
    return ValueError(f"row {row}: {problem}") if places is None else places.error(problem, row)


# --------------------------------------------------------------------------------------------------
# Reading.


PathLike: TypeAlias = "str | os.PathLike[str]"

BLOCK = 1 << 21
"""Bytes that are read at a time: large enough to cost nothing, small enough for the processor's cache."""

LONGEST_LINE = 1 << 26
"""Bytes in one line, at most: a longer one comes from a file that has no lines."""

LOOKED_AT = 1 << 16
"""Bytes at the start of a file by which its format is recognised."""

COPIES = 3
"""How many copies of a table are held at the worst moment between its file and a fitted model."""

_MEMORY_A_BYTE = 16
"""Memory per byte of text, as fields of columns, with everything that is held at the worst moment."""

_USUAL_MEMORY = 1 << 34
"""The free memory that is assumed if the system does not say."""

_ALWAYS_FREE = 1 << 28
"""Any file may take this much memory, however little seems to be free."""

_GZIP = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (  # UTF-32 first: its little-endian mark starts with that of UTF-16
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_ARCHIVES = (
    (b"PK\x03\x04", "a zip archive (or a spreadsheet)"),
    (b"BZh91AY&SY", "compressed with bzip2"),
    (b"\xfd7zXZ\x00", "compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
)


def open_bytes(path: PathLike) -> BinaryIO:
    """Open a file for reading bytes: decompressed if it is gzipped, without a UTF-8 byte order mark.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    binary stream
        To be closed, or used in a ``with``. Reading raises DataError where the gzip stream is damaged.

    Raises
    ------
    DataError
        If there is no such file, it may not be read, or it starts like something that is no plain text.
    """
    if isinstance(path, OpenFile):
        return cast(BinaryIO, path.stream)
    source = os.fspath(path)
    stream = io.BufferedReader(_Bytes(source, *_open(source)), LOOKED_AT)
    try:
        _skip_mark(source, stream)
    except BaseException:
        stream.close()
        raise
    return cast(BinaryIO, stream)


class OpenFile(os.PathLike[str]):
    """A file that was opened to see how it starts, in place of its path: whoever reads it has all of its bytes.

    A pipe gives its bytes once. Opened again it goes on where the first reader stopped, and nothing says so.
    """

    def __init__(self, path: PathLike) -> None:
        self._name = os.fspath(path)
        self.stream = cast("io.BufferedReader[_Bytes]", open_bytes(path))

    def __fspath__(self) -> str:
        return self._name

    __str__ = __fspath__

    def start(self) -> bytes:
        """Return the first bytes, and leave them where they are."""
        return self.stream.peek(LOOKED_AT)

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()


def blocks(path: PathLike, size: int = BLOCK, longest_line: int = LONGEST_LINE) -> Generator[bytes, None, None]:
    """Read a text file as blocks of whole lines, in memory bounded by one block and one line.

    Parameters
    ----------
    path : path-like
        The file, which may be gzipped.
    size : int
        Bytes to read at a time; a block has at most these and the start of a line before them.
    longest_line : int
        Bytes that a line may have.

    Yields
    ------
    bytes
        One or more lines. Every line ends with LF, the last one too; there is no CR and no NUL. The file is closed at
        the end, or with the generator: use ``contextlib.closing``, so that an error leaves no file open.

    Raises
    ------
    DataError
        If the file cannot be opened, is empty, damaged or binary, or has a line that is too long.
    """
    source = os.fspath(path)
    line = 1
    started: list[bytes] = []  # the pieces of the last line so far, and their length
    length = 0
    held = b""
    with open_bytes(path) as stream:
        chunk = stream.read(size)
        if not chunk:
            raise empty_file(source)
        while chunk:
            chunk, held = _unify(held + chunk)
            if b"\0" in chunk:
                raise _binary(source, line + chunk.count(b"\n", 0, chunk.index(b"\0")))
            end = chunk.rfind(b"\n") + 1
            first = chunk.find(b"\n") if end else len(chunk)
            if length + first > longest_line:
                raise _too_long(source, line, longest_line)
            if end:
                block = b"".join((*started, chunk[:end])) if started else chunk[:end]
                line += block.count(b"\n")
                yield block
                started, length = [], 0
                chunk = chunk[end:]
            # invariant: what was yielded and what has started are together all that was read but ``held``
            if chunk:
                started.append(chunk)
                length += len(chunk)
            chunk = stream.read(size)
    if length > longest_line:
        raise _too_long(source, line, longest_line)
    if started or held:
        yield b"".join((*started, b"\n"))


def room() -> int:
    """Return how much memory a file may take, with everything made from it: what is free now."""
    free = available_bytes()
    return max(_ALWAYS_FREE, int(_USUAL_MEMORY if free is None else free))


def too_large(source: str, held: float, what: str) -> DataError:
    """Return the error for a file of which so much is held already that its copies would not fit into memory."""
    needed, free = write_bytes(COPIES * held), write_bytes(room())
    return DataError(source, f"{what} take about {needed} of memory, and {free} are free; split it, or read fewer rows")


def read_bytes(path: PathLike, most: int) -> bytes:
    """Read a whole file, decompressed, if it has no more bytes than this."""
    with open_bytes(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        problem = f"it has more than {most:,} bytes (decompressed), too many to hold at once; split it"
        raise DataError(os.fspath(path), problem)
    return content


def read_text(path: PathLike, largest: int | None = None) -> str:
    """Read a whole text file, with LF for every line end.

    Parameters
    ----------
    path : path-like
        The file, which may be gzipped.
    largest : int, optional
        Bytes that it may have once decompressed; as many as the memory here allows unless given.

    Returns
    -------
    str
        The text; empty for an empty file.

    Raises
    ------
    DataError
        If the file cannot be opened, is damaged, binary or too large, or is not UTF-8: with the line.
    """
    source = os.fspath(path)
    content, held = _unify(read_bytes(path, room() // _MEMORY_A_BYTE if largest is None else largest))
    if held:
        content += b"\n"
    if b"\0" in content:
        raise _binary(source, 1 + content.count(b"\n", 0, content.index(b"\0")))
    return decode(source, content, 1)


def decode(source: str, content: bytes, line: int) -> str:
    """Return bytes as text, or raise DataError with the line of the first that is not UTF-8.

    Parameters
    ----------
    source : str
        The file, for the error.
    content : bytes
        The bytes, with LF for line ends.
    line : int
        The number of their first line.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line += content.count(b"\n", 0, error.start)
        byte = content[error.start]
        raise DataError(
            source,
            f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8 (if it is Latin-1: iconv -f latin1 -t utf-8)",
            line,
        ) from None


def empty_file(source: str) -> DataError:
    """Return the error for a file in which there is nothing to read."""
    return DataError(source, "it is empty; check that it was written or downloaded completely")


def shorten(field: str, most: int = 40) -> str:
    """Quote a field for an error message, on one line and not too long."""
    return repr(field) if len(field) <= most else repr(field[:most]) + "…"


@contextmanager
def open_for_writing(path: PathLike) -> Iterator[TextIO]:
    """Open a text file for writing: UTF-8, LF for line ends, gzipped if its name ends in ``.gz``.

    It takes its place once it is complete, and not at all if the block fails (see :mod:`wellorder.whole_files`). The
    same text gives the same bytes, whenever it is written. ``-`` is standard output; a terminal is shown what it would
    obey. Raises DataError if it cannot be
    written.
    """
    source = os.fspath(path)
    if source == "-":
        text = io.StringIO()
        yield text
        content = text.getvalue()
        sys.stdout.write(visible(content, keep="\n\t") if sys.stdout.isatty() else content)  # a file gets all bytes
        return
    with open_bytes_for_writing(source) as file:
        stream = io.TextIOWrapper(cast(BinaryIO, file), encoding="utf-8", newline="\n")
        try:
            yield stream
        finally:
            stream.detach()  # writes what is left, and leaves the file open


@contextmanager
def open_bytes_for_writing(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes as :func:`open_for_writing` does for text."""
    source = os.fspath(path)
    try:
        with whole_file(source) as file:
            if not source.lower().endswith(".gz"):
                yield file
                return
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:  # neither name nor time in it
                yield cast(IO[bytes], packed)
    except BrokenPipeError:
        raise  # whoever read it has gone, which is no fault of the file
    except OSError as error:
        raise DataError(source, f"it cannot be written ({error.strerror or error}); check its folder") from None


class _Bytes(io.RawIOBase):
    """The bytes of an open file, decompressed, with every error of reading as a DataError."""

    def __init__(self, source: str, file: IO[bytes], gzipped: bool) -> None:
        super().__init__()
        self._source = source
        self._file = file
        self._reader: Any = gzip.GzipFile(fileobj=file, mode="rb") if gzipped else file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self._reader.readinto(buffer))
        except EOFError:
            problem = "it ends before its gzip stream does; copy or download it again"
        except (gzip.BadGzipFile, zlib.error) as error:
            problem = f"its gzip stream is damaged or followed by other bytes ({error}); copy or download it again"
        except OSError as error:
            problem = f"it cannot be read ({error.strerror or error})"
        raise DataError(self._source, problem)

    def close(self) -> None:
        if not self.closed:
            self._reader.close()
            self._file.close()
        super().close()


_IS_FOLDER = "it is a folder; name a file in it"


def _open(source: str) -> tuple[IO[bytes], bool]:
    """Open a file, and say whether it starts as gzip does."""
    try:
        file = open(source, "rb")  # noqa: SIM115 (the caller closes it)
        try:
            return file, file.peek(2).startswith(_GZIP)
        except BaseException:
            file.close()
            raise
    except FileNotFoundError:
        problem = "there is no such file; check its name and folder"
    except IsADirectoryError:
        problem = _IS_FOLDER
    except PermissionError:
        problem = "it may not be read; ask for the permission, or copy it to where you have it"
        if os.path.isdir(source):  # Windows says so of a folder, too
            problem = _IS_FOLDER
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        problem = f"it cannot be opened ({getattr(error, 'strerror', None) or error})"
    raise DataError(source, problem)


def _skip_mark(source: str, stream: io.BufferedReader[_Bytes]) -> None:
    """Drop a UTF-8 byte order mark; refuse what is no plain text by how it starts."""
    start = stream.peek(16)
    if start.startswith(UTF8_MARK):
        stream.read(len(UTF8_MARK))
    for mark, name in _WIDE_MARKS:
        if start.startswith(mark):
            low = name.lower()
            raise DataError(source, f"it is {name} text; save it as UTF-8 (for example: iconv -f {low} -t utf-8)")
    for mark, name in _ARCHIVES:
        if start.startswith(mark):
            raise DataError(source, f"it is {name}; unpack it, or save it as text or with gzip")


def _unify(chunk: bytes) -> tuple[bytes, bytes]:
    """Return the bytes with LF for every line end, and a last CR apart: an LF may follow it."""
    if b"\r" not in chunk:
        return chunk, b""
    held = b"\r" if chunk.endswith(b"\r") else b""
    chunk = chunk[: len(chunk) - len(held)]
    return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), held


def _binary(source: str, line: int) -> DataError:
    problem = "a NUL byte: this is a binary file, or UTF-16 text; give a text file, saved as UTF-8"
    return DataError(source, problem, line)


def _too_long(source: str, line: int, longest: int) -> DataError:
    return DataError(source, f"more than {longest:,} bytes without a line end; is this a text file?", line)
