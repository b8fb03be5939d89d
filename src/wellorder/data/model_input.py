"""Files for a model that knows its columns: nothing has to be said about them again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from ..suggest import suggest
from .comparison_files import NAME_COLUMNS, is_comparisons
from .errors import DataError
from .lines import PathLike
from .readers import read, read_columns
from .sheet import Sheet
from .table import ComparisonTable, Table
from .table_ranker import TableRanker


def load_table_model(path: PathLike) -> TableRanker:
    """Load a model that knows its columns; any other model is refused, with what to do instead."""
    from ..persistence import load

    model = load(path)
    if not isinstance(model, TableRanker):
        raise DataError(
            os.fspath(path),
            f"it holds a {type(model).__name__} that was saved from Python and knows no file's columns; use "
            "wellorder.load there, or make one with 'wellorder fit'",
        )
    return model


def items_of(table: Table | ComparisonTable) -> Table:
    """Return the rows that get scores: those of the table, or the items that were compared."""
    return table.items if isinstance(table, ComparisonTable) else table


def read_for(
    model: TableRanker, path: PathLike | Sequence[PathLike], *, judged: bool = False, items: PathLike | None = None
) -> Table | ComparisonTable:
    """Read a file for a model, with the target, the group and the names as stored in it.

    Parameters
    ----------
    model : TableRanker
    path : path-like, or a list of them
    judged : bool, default=False
        Whether grades or outcomes are needed. Otherwise a column of grades is left aside if there is one.
    items : path-like, optional
        For comparisons: the file of their items.
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    sheet = read_columns(paths[0])
    if isinstance(sheet, Table):
        table = read(paths)
        assert isinstance(table, Table)
        return table if judged or model.supervision_ == "comparisons" else replace(table, y=None)
    if model.supervision_ == "comparisons" and is_comparisons(sheet):
        return read(paths, items=items, item=None if items is None else model.item_)
    if judged and model.supervision_ == "comparisons":
        raise sheet.error(
            "the model was learned from comparisons; give a file with the columns left, right and outcome"
        )
    return read(paths, **_roles(model, sheet, judged))  # type: ignore[arg-type]


def _roles(model: TableRanker, sheet: Sheet, judged: bool) -> dict[str, object]:
    """Return the roles of the columns: those of the model, as far as the file has them."""
    columns = sheet.frame.columns
    roles: dict[str, object] = {
        role: name
        for role in ("group", "item", "weight")
        if (name := getattr(model, f"{role}_")) is not None and name in columns
    }
    if judged:
        if model.target_ is None:
            raise DataError(sheet.source, "the model was fitted on a LETOR file, and this one has named columns")
        roles |= {"target": model.target_, "levels": model.levels_}
    elif model.supervision_ == "comparisons" and "item" not in roles:
        roles["item"] = next((name for name in NAME_COLUMNS if name in columns), columns[0])
    known = [] if model.encoder_ is None else model.encoder_.columns_
    absent = [name for name in known if name not in columns]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        found = suggest(absent[0], columns, "its columns are")
        raise sheet.error(f"it has no column {absent[0]!r}{more}, which the model needs; {found}")
    spare = [name for name in columns if name not in known and name not in roles.values()]
    return {**roles, "drop": spare}
