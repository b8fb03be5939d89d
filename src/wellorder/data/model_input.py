"""Files for a model that knows its columns: nothing has to be said about them again."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace

from ..suggest import suggest
from .comparison_files import NAME_COLUMNS, is_comparisons
from .errors import DataError
from .lines import PathLike
from .readers import as_paths, give_roles, read_files
from .roles import Roles, check_levels, make_table
from .sheet import Sheet
from .table import ComparisonTable, Table
from .table_ranker import TableRanker

_ROLES = ("group", "item", "weight")
_ADVICE = {
    "group": "add it, the same in all rows if they are one list",
    "weight": "add it, 1 in all rows if they count the same",
}


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

    Raises
    ------
    DataError
        Where the file lacks a column that the model needs. The group and the weight are needed to judge; without
        its group a file is otherwise read as one list, with a warning.
    """
    found = read_files(as_paths(path))
    if isinstance(found, Table):
        if model.group_ is not None and found.groups is None:
            _lack(found.source, "its lines have no qid", "group", judged)
        return found if judged or model.supervision_ == "comparisons" else replace(found, y=None)
    if model.supervision_ == "comparisons" and is_comparisons(found):
        if model.encoder_ is not None and items is None:
            raise found.error(
                "the model scores items by their features; name their file with items="
                if judged
                else "these are comparisons, and it is items that get a score; give the file of items"
            )
        return give_roles(found, Roles(item=None if items is None else model.item_, text=_text_columns(model)), items)
    if judged and model.supervision_ == "comparisons":
        raise found.error(
            "the model was learned from comparisons; give a file with the columns left, right and outcome"
        )
    return make_table(found, _roles(model, found, judged))


def _roles(model: TableRanker, sheet: Sheet, judged: bool) -> Roles:
    """Return the roles of the columns: those of the model, as far as the file has them."""
    columns = sheet.frame.columns
    known = [] if model.encoder_ is None else model.encoder_.columns_
    absent = [name for name in known if name not in columns]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        found = suggest(absent[0], columns, "its columns are")
        raise sheet.error(f"it has no column {absent[0]!r}{more}, which the model needs; {found}")
    named = {role: name for role in _ROLES if (name := getattr(model, f"{role}_")) is not None}
    for role, name in named.items():
        if name not in columns:
            _lack(sheet.source, f"it has no column {name!r}", role, judged)
    given = {role: name for role, name in named.items() if name in columns}
    levels = None
    if judged:
        if model.target_ is None:
            raise DataError(sheet.source, "the model was fitted on a LETOR file, and this one has named columns")
        given["target"], levels = model.target_, check_levels(sheet.source, model.levels_)
    elif model.supervision_ == "comparisons" and "item" not in given:
        given["item"] = next((name for name in NAME_COLUMNS if name in columns), columns[0])
    spare = tuple(name for name in columns if name not in known and name not in given.values())
    return Roles(**given, levels=levels, drop=spare, text=_text_columns(model))


def _text_columns(model: TableRanker) -> frozenset[str]:
    """Return the columns that held text in training: a file in which one looks like numbers must not change it."""
    encoder = model.encoder_
    if encoder is None:
        return frozenset()
    pairs = zip(encoder.columns_, encoder.categories_, strict=True)
    return frozenset(name for name, categories in pairs if categories is not None)


def _lack(source: str, what: str, role: str, judged: bool) -> None:
    """Say that a file lacks what the model knows of: an error where a judgement would change with it."""
    if role == "group" and not judged:
        warnings.warn(f"{source}: {what}, the model's group: all rows are put in one list", stacklevel=4)
    elif role in _ADVICE and judged:
        why = f"{what}, the model's {role}, without which a judgement means something else"
        raise DataError(source, f"{why}; {_ADVICE[role]}")
