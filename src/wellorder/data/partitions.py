"""Parquet files in partitions, read on Dask's workers: grades, groups and weights come here, features never do."""

from __future__ import annotations

import glob
import os
from collections.abc import Hashable, Iterable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from ..sweeps import Array, Ints
from .encode import TableEncoder, encode_part, merge, read_part, summarise_part
from .lines import DataError
from .model_input import roles_for
from .roles import Roles, check_levels, read_events, read_groups, read_names, read_target, read_weights
from .sheet import Sheet, join_sheets, one_line, refuse_twice
from .table import Table
from .table_ranker import TableRanker

dask: Any = import_module("dask")  # its own annotations export nothing


Header: TypeAlias = tuple[list[str], int]
"""The names of a file's columns, and how many rows it has."""


class ParquetParts:
    """The features of rows in Parquet files: one partition a file, read where the workers are, whenever needed.

    ``rows`` are those of each file that take part, by rising number; None: all of them.
    """

    def __init__(
        self, files: Sequence[str], columns: Sequence[str], sizes: Sequence[int], rows: Sequence[Ints | None]
    ) -> None:
        self.files, self.columns, self.sizes, self.rows = list(files), list(columns), list(sizes), list(rows)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return sum(self.sizes), len(self.columns)

    def __getitem__(self, rows: Array) -> ParquetParts:
        """Return some of the rows, given by rising number."""
        if (np.diff(rows) <= 0).any():
            raise IndexError("rows of partitions can only be taken in their order")
        bounds = np.concatenate([[0], np.cumsum(self.sizes)])
        ends = np.searchsorted(rows, bounds)
        chosen = [rows[a:b] - start for (a, b), start in zip(pairwise(ends.tolist()), bounds[:-1], strict=True)]
        chosen = [new if old is None else old[new] for old, new in zip(self.rows, chosen, strict=True)]
        return ParquetParts(self.files, self.columns, [len(each) for each in chosen], chosen)

    def teach(self, encoder: TableEncoder) -> None:
        """Fit an encoder on what all partitions say of their columns."""
        found = self._each(summarise_part)
        files = [file for file, size in zip(self.files, self.sizes, strict=True) if size]
        encoder.learn({name: merge(name, [part[name] for part in found], files) for name in self.columns})

    def encoded(self, encoder: TableEncoder) -> Any:
        """Return the Dask array that an encoder makes of the rows, once somebody computes it."""
        array = import_module("dask.array")
        pairs = zip(encoder.columns_, encoder.categories_, strict=True)
        text = frozenset(name for name, categories in pairs if categories is not None)
        encode, width = dask.delayed(encode_part, pure=False), len(encoder.get_feature_names_out())
        learned = dask.delayed(encoder, pure=False, traverse=False)
        blocks = [
            array.from_delayed(encode(learned, file, encoder.columns_, text, rows), shape=(size, width), dtype=float)
            for file, rows, size in zip(self.files, self.rows, self.sizes, strict=True)
            if size
        ]
        return array.concatenate(blocks)

    def _each(self, function: Any) -> list[Any]:
        """Call a function where the files are read; those without a row that takes part are passed over."""
        task = dask.delayed(function, pure=False)
        parts = zip(self.files, self.rows, self.sizes, strict=True)
        return list(dask.compute(*(task(file, self.columns, rows) for file, rows, size in parts if size)))


def read_partitions(
    paths: Sequence[str],
    *,
    target: str | None = None,
    group: str | None = None,
    item: str | None = None,
    weight: str | None = None,
    event: str | None = None,
    levels: Iterable[Hashable] | None = None,
    drop: str | Iterable[str] = (),
) -> Table:
    """Read Parquet files whose features stay where Dask's workers read them.

    Parameters
    ----------
    paths : list of str
        Files, or patterns such as ``part-*.parquet``; this process and all workers must see them under these names.
    target, group, item, weight, event, levels, drop
        As in :func:`wellorder.read`. Grades, groups and weights come here, 8 bytes a row each; names do not.

    Returns
    -------
    Table
        ``table.X`` holds no features, but knows where they are.
    """
    files, headers = _look_into(paths)
    dropped = (drop,) if isinstance(drop, str) else tuple(drop)
    roles = Roles(target, group, item, weight, check_levels(files[0], levels), dropped, event=event)
    roles.check(_header(files, headers))
    return _table(files, headers, roles)


def read_partitions_for(model: TableRanker, paths: Sequence[str]) -> Table:
    """Read Parquet files in partitions for a model that knows its columns; names come here too, to be written out."""
    if model.encoder_ is None or model.encoder_.layout_ != "columns":
        raise ValueError("only a model that was fitted on named columns scores files in partitions")
    files, headers = _look_into(paths)
    return _table(files, headers, roles_for(model, _header(files, headers), judged=False), with_names=True)


def _look_into(paths: Sequence[str]) -> tuple[list[str], list[Header]]:
    """Return the files, and of each the names of its columns and how many rows it has."""
    files = [file for path in paths for file in _matching(path)]
    look = dask.delayed(_look, pure=False)
    headers = list(dask.compute(*(look(file) for file in files)))
    for file, (names, _) in zip(files, headers, strict=True):
        _refuse_other_columns(file, names, files[0], headers[0][0])
    return files, headers


def _header(files: Sequence[str], headers: Sequence[Header]) -> Sheet:
    """Return the columns without their rows."""
    return Sheet(((files[0], 0),), pl.DataFrame(schema=dict.fromkeys(headers[0][0], pl.String)))


def _table(files: Sequence[str], headers: Sequence[Header], roles: Roles, *, with_names: bool = False) -> Table:
    """Fetch the columns that are not features, and leave the others where they are."""
    named = roles.named()
    wanted = [name for option, name in named.items() if with_names or option != "item"]
    sheet = _bring(files, wanted) if wanted else None
    taken = {*named.values(), *roles.drop}
    features: Any = ParquetParts(
        files, [name for name in headers[0][0] if name not in taken], [n for _, n in headers], [None] * len(files)
    )
    y = levels = groups = ids = weights = events = None
    if sheet is not None:
        y, levels = (None, None) if roles.target is None else read_target(sheet, roles.target, roles.levels)
        groups = None if roles.group is None else read_groups(sheet, roles.group)
        ids = None if roles.item is None or not with_names else read_names(sheet, roles.item)
        weights = None if roles.weight is None else read_weights(sheet, roles.weight)
        events = None if roles.event is None else read_events(sheet, roles.event)
    source = files[0] + (f" and {len(files) - 1} more" if len(files) > 1 else "")
    return Table(
        source,
        features,
        y,
        groups,
        ids,
        weights,
        events=events,
        target=roles.target,
        group=roles.group,
        item=roles.item,
        weight=roles.weight,
        event=roles.event,
        levels=levels,
    )


def _matching(path: str) -> list[str]:
    """Return the files that a pattern names, in the order of their names."""
    found = sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
    if not found:
        raise DataError(path, "no file has such a name")
    return [os.path.abspath(each) if "://" not in each else each for each in found]


def _look(path: str) -> Header:
    """Return the names of the columns, and how many rows there are."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise DataError(path, "--engine dask reads a file again and again, and this is a pipe or a folder; name a file")
    try:
        names = list(pl.read_parquet_schema(path))
        n_rows = int(pl.scan_parquet(path).select(pl.len()).collect().item())
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(path, f"it cannot be read as Parquet, which --engine dask needs: {one_line(error)}") from None
    refuse_twice(path, names)
    if not n_rows:
        raise DataError(path, "it has no rows; check that it was written completely")
    return names, n_rows


def _refuse_other_columns(file: str, names: list[str], first_file: str, first: list[str]) -> None:
    missing = [name for name in first if name not in names]
    extra = [name for name in names if name not in first]
    if missing or extra:
        what = f"has no column {missing[0]!r}" if missing else f"has a column {extra[0]!r}"
        raise DataError(file, f"it {what}, unlike {first_file}; files that are read together need the same columns")


def _bring(files: Sequence[str], columns: Sequence[str]) -> Sheet:
    """Fetch the columns that are not features from all files."""
    read = dask.delayed(read_part, pure=False)
    return join_sheets(list(dask.compute(*(read(file, columns) for file in files))))
