"""The regression sets of Torgo's collection, read for the order of their targets."""

from __future__ import annotations

from pathlib import Path

from ..data import DataError, Table, read


def read_set(folder: Path, name: str, where: str, target: str) -> Table:
    """Read one data set from its file below a folder."""
    path = folder / where
    if not path.exists():
        raise DataError(str(path), f"the data of {name} are not there; name the folder they lie in with --data")
    table = read(path, target=target)
    assert isinstance(table, Table)
    return table
