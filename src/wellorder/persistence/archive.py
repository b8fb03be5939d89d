"""The container: a zip file of one manifest and numbered arrays, nothing compressed.

Nothing compressed means that nothing can swell: what is read is never more than the file is long.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from .errors import ModelFileError
from .limits import LARGEST_MANIFEST

_MANIFEST = "manifest.json"
_ENCRYPTED = 0x1
_COMPRESSED = (
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"\x5d\x00",
    *(bytes([0x78, level]) for level in (0x01, 0x5E, 0x9C, 0xDA)),
)
"""How gzip, bzip2, xz, lzma and zlib files start."""


def write_archive(stream: BinaryIO, manifest: dict[str, Any], members: Iterable[bytes]) -> None:
    """Write the file; the same content gives the same bytes, whenever and wherever it is written."""
    text = json.dumps(manifest, sort_keys=True, ensure_ascii=True, allow_nan=False, indent=None).encode("ascii")
    if len(text) > LARGEST_MANIFEST:
        raise ValueError(f"the model's text takes {len(text)} bytes; a model file holds {LARGEST_MANIFEST}")
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_entry(_MANIFEST), text)
        for number, content in enumerate(members):
            archive.writestr(_entry(array_name(number)), content)


def array_name(number: int) -> str:
    """Return the name of an array's member."""
    return f"arrays/{number}.npy"


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


class Archive:
    """An opened model file: every member's name, size and form is checked before one is read."""

    def __init__(self, stream: BinaryIO) -> None:
        self.size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        _recognise(stream.read(8), self.size)
        stream.seek(0)
        try:
            self._zip = zipfile.ZipFile(stream)
            entries = self._zip.infolist()
        except Exception as error:  # zipfile raises what comes, from struct.error to UnicodeDecodeError
            raise ModelFileError(f"it is cut short or damaged ({error})") from None
        self._entries = {entry.filename: entry for entry in entries}
        self._check(entries)
        self.n_arrays = len(entries) - 1

    def manifest(self) -> Any:
        """Return the parsed manifest."""
        entry = self._entries[_MANIFEST]
        if entry.file_size > LARGEST_MANIFEST:
            raise ModelFileError(f"its manifest of {entry.file_size} bytes is larger than a model's may be")
        try:
            return json.loads(self._read(entry), object_pairs_hook=_unique, parse_constant=_no_constant)
        except RecursionError:
            raise ModelFileError("its manifest is nested too deep") from None
        except ModelFileError:
            raise
        except ValueError as error:
            raise ModelFileError(f"its manifest is not JSON ({error})") from None

    def reader(self) -> Callable[[int], bytes]:
        """Return a function that reads an array's bytes."""
        return lambda number: self._read(self._entries[array_name(number)])

    def _read(self, entry: zipfile.ZipInfo) -> bytes:
        try:
            content = self._zip.read(entry)
        except Exception as error:
            raise ModelFileError(f"its member {entry.filename} is damaged ({error})") from None
        if len(content) != entry.file_size:
            raise ModelFileError(f"its member {entry.filename} is cut short")
        return content

    def _check(self, entries: list[zipfile.ZipInfo]) -> None:
        if _MANIFEST not in self._entries:
            raise ModelFileError("it is a zip file of something else: there is no manifest.json in it")
        expected = {_MANIFEST, *(array_name(number) for number in range(len(entries) - 1))}
        odd = [entry.filename for entry in entries if entry.filename not in expected]
        if odd or len(self._entries) != len(entries):
            name = odd[0] if odd else "one of its members, which is there twice"
            raise ModelFileError(f"it holds {name[:60]!r}, which has no place in a model file")
        for entry in entries:
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
                raise ModelFileError(f"its member {entry.filename} is compressed; model files are not")
            if entry.flag_bits & _ENCRYPTED:
                raise ModelFileError(f"its member {entry.filename} is encrypted; model files are not")
        if sum(entry.file_size for entry in entries) > self.size:
            raise ModelFileError("its members are larger than the file")


def _recognise(start: bytes, size: int) -> None:
    """Refuse what is no zip file, naming what it looks like."""
    if not size:
        raise ModelFileError("it is empty")
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return
    if start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05" and len(start) > 1:
        raise ModelFileError("it is a pickle (or joblib) file, which runs code when it is opened; wellorder reads none")
    if start.startswith(_COMPRESSED):
        raise ModelFileError("it is a compressed file, perhaps of joblib or gzip, not a model file")
    raise ModelFileError("it is not a model file: it does not start like one")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ModelFileError("its manifest has a key twice")
    return table


def _no_constant(name: str) -> Any:
    raise ModelFileError(f"its manifest holds {name}, which is not JSON")
