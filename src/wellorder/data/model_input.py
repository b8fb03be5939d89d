"""Files for a model that knows its columns: nothing has to be said about them again."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np

from ..suggest import nearest, suggest
from .comparison_files import NAME_COLUMNS, is_comparisons, read_comparisons, read_pairs
from .lines import DataError, PathLike, shorten
from .readers import as_paths, one_sheet, read_files
from .roles import Roles, check_levels, make_table
from .sheet import Sheet
from .table import PLAIN, ComparisonTable, PairTable, Table, pairs_of
from .table_ranker import TableRanker
from .vote_columns import VoteColumns, as_scores, find_sides

_ROLES = ("group", "item", "weight")
_ADVICE = {
    "group": "add it, the same in all rows if they are one list",
    "weight": "add it, 1 in all rows if they count the same",
}


def load_table_model(path: PathLike) -> TableRanker:
    """Load a model that knows its columns; any other model is refused, with what to do instead."""
    from ..persistence import load

    return as_table_model(load(path), path)


def as_table_model(model: Any, path: PathLike) -> TableRanker:
    """Return a model that was loaded from a file if it knows its columns; refuse any other."""
    if type(model).__name__ == "Standings":
        raise DataError(
            os.fspath(path),
            "it holds standings, which 'wellorder predict' and 'wellorder evaluate' take, and wellorder.load in Python",
        )
    if not isinstance(model, TableRanker):
        raise DataError(
            os.fspath(path),
            f"it holds a {type(model).__name__} that was saved from Python and knows no file's columns; use "
            "wellorder.load there, or make one with 'wellorder fit'",
        )
    return model


def read_pairs_to_come(path: PathLike | Sequence[PathLike], **named: Any) -> PairTable:
    """Read pairs of items to be predicted, by name; ``named`` columns as :func:`read` takes them."""
    found = read_files(as_paths(path))
    votes = VoteColumns(**{**named, "scores": as_scores(named.get("scores"))})
    if isinstance(found, Table) or find_sides(found, votes) is None:
        raise DataError(
            found.source,
            "it names no two items to compare; give columns left and right, or name them with left= and right=",
        )
    return read_pairs(found, Roles(votes=votes), None)


def items_of(table: Table | ComparisonTable | PairTable) -> Table:
    """Return the rows that get scores: those of the table, or the items that were compared."""
    return table if isinstance(table, Table) else table.items


@overload
def read_for(
    model: TableRanker,
    path: PathLike | Sequence[PathLike],
    *,
    judged: Literal[True],
    items: PathLike | None = None,
    item: str | None = None,
    find_item: bool = False,
    **named: Any,
) -> Table | ComparisonTable: ...


@overload
def read_for(
    model: TableRanker,
    path: PathLike | Sequence[PathLike],
    *,
    judged: Literal[False] = False,
    items: PathLike | None = None,
    item: str | None = None,
    find_item: bool = False,
    **named: Any,
) -> Table | PairTable: ...


def read_for(
    model: TableRanker,
    path: PathLike | Sequence[PathLike],
    *,
    judged: bool = False,
    items: PathLike | None = None,
    item: str | None = None,
    find_item: bool = False,
    **named: Any,
) -> Table | ComparisonTable | PairTable:
    """Read a file for a model, with the target, the group and the names as stored in it.

    Parameters
    ----------
    model : TableRanker
    path : path-like, or a list of them
    judged : bool, default=False
        Whether grades or outcomes are needed. Otherwise a column of them is left aside if there is one.
    items : path-like, optional
        For comparisons: the file of their items.
    item : str, optional
        The column with the rows' names, in place of the model's own.
    find_item : bool, default=False
        Whether a column ``item``, ``id`` or ``name`` that is no feature holds their names, where nobody has said.
    **named : str
        For comparisons: their columns, as :func:`read` takes them (``left``, ``right``, ``outcome``, ``winner``,
        ``loser``, ``scores``), where they are not recognised.

    Returns
    -------
    Table, ComparisonTable or PairTable
        For a model of comparisons, a file with the columns of two items gives pairs: with their outcomes if they are
        to judge by.

    Raises
    ------
    DataError
        Where the file lacks a column that the model needs. The group and the weight are needed to judge; without
        its group a file is otherwise read as one list, with a warning.
    """
    found = read_files(as_paths(path))
    votes = VoteColumns(**{**named, "scores": as_scores(named.get("scores"))})
    if model.supervision_ == "comparisons" and not isinstance(found, Table) and _holds_pairs(model, found, votes):
        return _pairs(model, found, judged, items, votes)
    option = "items" if items is not None else next(iter(votes.given()), None)
    if option is not None:
        why = "this file has no columns left and right"
        if model.supervision_ == "grades":
            why = "the model was learned from grades"
        raise DataError(found.source, f"{option}= goes with comparisons, and {why}; leave it out")
    if isinstance(found, Table):
        if model.group_ is not None and found.groups is None:
            _lack(found.source, "its lines have no qid", "group", judged)
        return found if judged or model.supervision_ == "comparisons" else replace(found, y=None)
    if judged and model.supervision_ == "comparisons":
        raise found.error(
            "the model was learned from comparisons; give a file with the columns left, right and outcome, or name "
            "them with left=, right= and outcome="
        )
    roles = _called(roles_for(model, found, judged), found, item, find_item)
    return replace(make_table(found, roles), spare=tuple(name for name in roles.drop if name != model.target_))


def _holds_pairs(model: TableRanker, sheet: Sheet, votes: VoteColumns) -> bool:
    """Say whether a file holds pairs of items; features may be called left and right, too."""
    known = () if model.encoder_ is None else model.encoder_.columns_
    way = find_sides(sheet, votes)
    return way is not None and (bool(votes.given()) or not {way.left, way.right}.issubset(known))


def _pairs(
    model: TableRanker, sheet: Sheet, judged: bool, items: PathLike | None, votes: VoteColumns
) -> ComparisonTable | PairTable:
    """Read pairs of items; those of a model that knows items by name only must be among its own."""
    if model.encoder_ is not None and items is None:
        raise sheet.error(
            "these are comparisons, and the model scores items by their features; give the file of items, or, to "
            "predict or to judge by comparisons, name it with items="
        )
    # a model that goes by names alone has no use for a file about the items
    described = None if items is None or model.encoder_ is None else one_sheet(items)
    roles = replace(Roles() if described is None else roles_for(model, described, judged=False), votes=votes)
    found: ComparisonTable | PairTable
    if not judged:
        found = read_pairs(sheet, roles, described, getattr(model, "signs_", None) or PLAIN)
    elif is_comparisons(sheet, roles):
        found = read_comparisons(sheet, roles, described)
    else:
        raise sheet.error(
            "it has no column 'outcome', and there is nothing to judge by without; outcome= names another"
        )
    if model.encoder_ is None and not model.takes_strangers:
        _refuse_strangers(model, sheet, pairs_of(found))
    return found


def _refuse_strangers(model: TableRanker, sheet: Sheet, pairs: PairTable) -> None:
    """Refuse items that the model has no rating of, by the line in which the first of them stands."""
    known = set(model.items_ or ())
    names = pairs.items.names()
    strange = np.array([str(name) not in known for name in names], dtype=bool)
    lines = strange[pairs.left] | strange[pairs.right]
    if lines.any():
        row = int(np.argmax(lines))
        name = str(names[pairs.left[row] if strange[pairs.left[row]] else pairs.right[row]])
        meant_name = nearest(name, list(known)[:100_000])
        meant = f"did you mean {meant_name!r}? if not, " if meant_name else ""
        raise sheet.error(
            f"the item {shorten(name)} was in no comparison that the model learned from, and has no rating; {meant}fit "
            "anew with comparisons of it, or with the items' features (items=)",
            row,
        )


def roles_for(model: TableRanker, sheet: Sheet, judged: bool) -> Roles:
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
        if (event := getattr(model, "event_", None)) is not None:
            given["event"] = event
    elif model.supervision_ == "comparisons" and "item" not in given:
        given["item"] = next((name for name in NAME_COLUMNS if name in columns), columns[0])
    taken = Roles(**given).named().values()
    spare = tuple(name for name in columns if name not in known and name not in taken)
    return Roles(**given, levels=levels, drop=spare, text=_text_columns(model))


def _called(roles: Roles, sheet: Sheet, item: str | None, find_item: bool) -> Roles:
    """Name rows by a column that the model does not know of."""
    if item is not None:
        sheet.column(item, "item")
        if item != roles.item and item not in roles.drop:
            raise sheet.error(f"item={item!r} is a column that the model looks at; name another")
    elif find_item and roles.item is None:
        item = next((name for name in NAME_COLUMNS if name in roles.drop), None)
    if item is None or item == roles.item:
        return roles
    return replace(roles, item=item, drop=tuple(name for name in roles.drop if name != item))


def _text_columns(model: TableRanker) -> frozenset[str]:
    """Return the columns that held text in training: a file in which one looks like numbers must not change it."""
    encoder = model.encoder_
    if encoder is None:
        return frozenset()
    pairs = zip(encoder.columns_, encoder.categories_, strict=True)
    return frozenset(name for name, categories in pairs if categories is not None)


def _lack(source: str, what: str, role: str, judged: bool) -> None:
    """Say that a file lacks a column that the model knows: an error if a judgement would depend on it."""
    if role == "group" and not judged:
        warnings.warn(f"{source}: {what}, the model's group: all rows are put in one list", stacklevel=4)
    elif role in _ADVICE and judged:
        why = f"{what}, the model's {role}, without which a judgement means something else"
        raise DataError(source, f"{why}; {_ADVICE[role]}")
