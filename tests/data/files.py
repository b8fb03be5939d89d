"""Small files for the tests of reading."""

from __future__ import annotations

import gzip
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from wellorder.data import ComparisonTable, DataError, Table, read


def put(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


@contextmanager
def pipe(content: bytes) -> Iterator[Path]:
    """A path that gives these bytes once: whoever opens it again gets what the first has left."""
    if not os.path.exists("/dev/fd"):
        pytest.skip("needs /dev/fd")
    end, start = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), os.fdopen(start, "wb") as stream:
            stream.write(content)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield Path(f"/dev/fd/{end}")
    finally:
        os.close(end)
        writer.join()


def table(folder: Path, content: str | bytes, name: str = "t.csv", **options: Any) -> Table:
    found = read(put(folder, content, name), **options)
    assert isinstance(found, Table)
    return found


def games(folder: Path, content: str, name: str = "games.csv", **options: Any) -> ComparisonTable:
    found = read(put(folder, content, name), **options)
    assert isinstance(found, ComparisonTable)
    return found


def refuses(
    folder: Path, content: str | bytes, *parts: str, line: int | None = None, name: str = "t.csv", **options: Any
) -> None:
    """Reading must fail with one line that holds all these parts and names this line of the file."""
    path = put(folder, content, name)
    with pytest.raises(DataError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(folder))
    for part in parts:
        assert re.search(re.escape(part), message), message
    assert caught.value.line == line, message
