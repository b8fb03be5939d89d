"""Tables and scores to files: the format follows from the name's suffix, gzipped if it ends in ``.gz``."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from ..order import check_scores, encode_groups
from ..sweeps import Array, Bools, Floats, Ints, to_numpy
from ..writing import counted
from .arff import arff_text
from .encode import dense
from .formats import FORMATS
from .letor import write_letor
from .lines import DataError, PathLike, open_bytes_for_writing, open_for_writing, shorten
from .roles import split_event
from .sheet import refuse_twice
from .spreadsheets import mark_formulas, quote_style
from .table import ComparisonTable, Table

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")


def write_table(path: PathLike, table: Table | ComparisonTable, *, raw_names: bool = False) -> None:
    r"""Write a table so that ``read`` gives it back.

    Parameters
    ----------
    path : path-like
        Where to: its suffix is .csv, .tsv, .parquet, .arff or .letor, perhaps with .gz.
    table : Table or ComparisonTable
        Items, groups, features, weights and grades become columns in this order, under the names they were read
        with. Comparisons become ``left``, ``right``, ``outcome`` (and ``weight``); their items are a table of
        their own, ``table.items``.
    raw_names : bool, default=False
        In CSV and TSV, write names that a spreadsheet would take for formulas as they are, and not after an apostrophe,
        which ``read`` leaves out again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from wellorder.data import read, write_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wines.csv"
    >>> _ = path.write_text("ph,quality,colour\n3.1,5,red\n,6,white\n")
    >>> write_table(path, read(path, target="quality"))
    >>> print(path.read_text())
    ph,colour,quality
    3.1,red,5.0
    ,white,6.0
    """
    if _suffix(path) in FORMATS["letor"].suffixes:
        if isinstance(table, ComparisonTable):
            raise DataError(os.fspath(path), "a LETOR file holds graded rows, no comparisons; write .csv")
        write_letor(path, table)
        return
    frame = _comparison_frame(table) if isinstance(table, ComparisonTable) else _table_frame(path, table)
    _write(path, frame, raw_names)


def write_scores(path: PathLike, table: Table, scores: Any, *, raw_names: bool = False) -> None:
    r"""Write what each row is called, its score, and its rank in its group.

    Parameters
    ----------
    path : path-like
        Where to: its suffix is .csv, .tsv or .parquet, perhaps with .gz.
    table : Table
        The rows that were scored. They stay in their order.
    scores : array of shape (n,)
        Higher stands above. The highest of a group has rank 1; equal scores share the better rank.
    raw_names : bool, default=False
        As in :func:`write_table`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from wellorder.data import read, write_scores
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wines.csv"
    >>> _ = path.write_text("name,ph\nPinot,3.1\nMerlot,3.4\n")
    >>> write_scores(path, read(path, item="name"), [0.5, 2.0])
    >>> print(path.read_text())
    name,score,rank
    Pinot,0.5,2
    Merlot,2.0,1
    """
    _write(path, score_frame(table, scores), raw_names)


def score_frame(table: Table, scores: Any) -> pl.DataFrame:
    """Return what :func:`write_scores` writes, as columns."""
    in_order = to_numpy(check_scores(scores, len(table)))
    columns: dict[str, Any] = {}
    if table.groups is not None:
        columns[table.group or "group"] = table.groups.tolist()
    names = np.arange(1, len(table) + 1) if table.ids is None else table.row_ids()
    columns[_free(table.item or "item", columns)] = names.tolist()
    columns[_free("score", columns)] = to_numpy(scores).reshape(len(table)).astype(np.float64)
    columns[_free("rank", columns)] = ranks(in_order, table.groups)
    return pl.DataFrame(columns)


def write_lines(path: PathLike, values: Any) -> None:
    """Write one number a line, in the order given, so that it is read back exactly."""
    with open_for_writing(path) as stream:
        stream.writelines(f"{value!r}\n" for value in np.asarray(values, dtype=np.float64).tolist())


def write_frame(path: PathLike, frame: pl.DataFrame, *, raw_names: bool = False) -> None:
    """Write columns under their names, in the format of the file name's suffix; ``-`` is CSV to the terminal."""
    _write(path, frame, raw_names)


def write_rows(
    path: PathLike, headers: Sequence[str], rows: Sequence[Sequence[Any]], *, raw_names: bool = False
) -> None:
    """Write rows under their headers, in the format of the name's suffix."""
    _write(path, pl.DataFrame(rows, schema=list(headers), orient="row"), raw_names)


def ranks(scores: Floats, groups: Array | None = None) -> Ints:
    """Return each row's rank in its group: 1 for the highest score, equal scores sharing the better rank."""
    codes, _ = encode_groups(groups, len(scores))
    group = np.zeros(len(scores), np.int32) if codes is None else codes
    order = np.lexsort((-scores, group))
    place = np.arange(len(scores))
    new_group = _changes(group[order])
    first_of_group = np.maximum.accumulate(np.where(new_group, place, 0))
    new_score = new_group | _changes(scores[order])
    first_of_score = np.maximum.accumulate(np.where(new_score, place, 0))
    out = np.empty(len(scores), np.int64)
    out[order] = first_of_score - first_of_group + 1
    return out


def _changes(values: Array) -> Bools:
    """Say where a value differs from the one before it; the first does."""
    return np.append(True, values[1:] != values[:-1])[: len(values)]


def _free(name: str, taken: dict[str, Any]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)


def _table_frame(path: PathLike, table: Table) -> pl.DataFrame:
    """Return everything that a table holds as columns."""
    features = table.X if isinstance(table.X, pl.DataFrame) else _numbered_frame(table)
    before = {table.item or "item": table.ids, table.group or "group": table.groups}
    after = {
        table.weight or "weight": table.weights,
        table.time or "time": table.times,
        split_event(table.event or "event")[0]: table.events,
        table.target or "target": table.y,
    }
    columns = [
        *(_series(name, values) for name, values in before.items() if values is not None),
        *features.get_columns(),
        *(_series(name, values) for name, values in after.items() if values is not None),
    ]
    if not columns:
        raise ValueError("the table has neither features nor anything else to write")
    refuse_twice(os.fspath(path), (column.name for column in columns))
    return pl.DataFrame(columns)


def _numbered_frame(table: Table) -> pl.DataFrame:
    return pl.DataFrame(dense(table.X), schema=list(table.feature_names)) if table.X.shape[1] else pl.DataFrame()


def _series(name: str, values: Array) -> pl.Series:
    if values.dtype.kind == "f":
        return pl.Series(name, values, nan_to_null=True)
    return pl.Series(name, values.tolist())


def _comparison_frame(table: ComparisonTable) -> pl.DataFrame:
    names, compared = table.items.names(), table.comparisons
    columns: dict[str, Any] = {
        "left": names[compared.left].tolist(),
        "right": names[compared.right].tolist(),
        "outcome": compared.outcome,
    }
    if compared.weight is not None:
        columns["weight"] = compared.weight
    if table.times is not None:
        columns[table.time or "time"] = table.times
    return pl.DataFrame(columns)


def _suffix(path: PathLike) -> str:
    name = Path(os.fspath(path))
    return (name.with_suffix("") if name.suffix.lower() == ".gz" else name).suffix.lower()


def _marked(source: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before names that a spreadsheet would compute instead of showing them, and say so."""
    marked, found = mark_formulas(frame)
    for column, (n_formulas, first) in found.items():
        where = "" if source == "-" else f"{source}: "
        warnings.warn(
            f"{where}{counted(n_formulas, 'name')} in column {column!r}, such as {shorten(first)}, would be formulas "
            "to a spreadsheet: they are written after an apostrophe, which is left out again where the file is read "
            "here; raw_names=True writes names as they are",
            stacklevel=4,
        )
    return marked


def _is_no_plain_file(path: Path) -> bool:
    """Say whether a file is a pipe or a device, such as /dev/stdout: they have no ending that says a format."""
    return path.exists() and not path.is_file()


def _write(path: PathLike, frame: pl.DataFrame, raw_names: bool) -> None:
    name, suffix = Path(os.fspath(path)), _suffix(path)
    if suffix in FORMATS["arff"].suffixes:
        with open_for_writing(path) as stream:
            stream.write(arff_text(frame, name.name.split(".")[0]))
        return
    separator = "," if os.fspath(path) == "-" or (not suffix and _is_no_plain_file(name)) else _SEPARATORS.get(suffix)
    if separator is not None:
        style: Literal["necessary", "non_numeric"] = "necessary"
        if not raw_names:
            frame, style = _marked(os.fspath(path), frame), quote_style(frame)
        with open_for_writing(path) as stream:
            stream.write(frame.write_csv(separator=separator, quote_style=style))
        return
    if suffix not in _PARQUET:
        raise DataError(
            str(name), "its ending says no format to write; use .csv, .tsv, .parquet or .arff, perhaps with .gz"
        )
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    with open_bytes_for_writing(path) as file:
        file.write(buffer.getvalue())
