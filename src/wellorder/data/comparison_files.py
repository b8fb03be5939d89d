"""Files of comparisons: who was compared with whom, and what came of it."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import scipy.sparse as sp

from ..order import Comparisons, as_objects, number_objects
from ..suggest import nearest
from ..sweeps import Array
from .lines import shorten
from .roles import Roles, make_table, read_names, read_times, read_weights
from .sheet import Sheet, as_text, first_row
from .table import CONVENTIONS, HOW_TO_WRITE, PLAIN, ComparisonTable, PairTable, Signs, Table

_COLUMNS = ("left", "right", "outcome")
NAME_COLUMNS = ("item", "id", "name")
"""Where a file of items has its names, unless somebody says otherwise; else in its first column."""

_OUTCOMES = {sign: value for signs in CONVENTIONS for sign, value in zip(signs, (-1, 0, 1), strict=True)}
"""``<`` reads 'left is worse than right': the right one is better, which is 1."""


_SHOWN = 10


def is_comparisons(sheet: Sheet) -> bool:
    """Say whether a file has the columns of comparisons."""
    return all(name in sheet.frame.columns for name in _COLUMNS)


def is_pairs(sheet: Sheet) -> bool:
    """Say whether a file has the columns of pairs of items, whether or not anybody has compared them."""
    return all(name in sheet.frame.columns for name in ("left", "right"))


def read_pairs(sheet: Sheet, roles: Roles, described: Sheet | None, signs: Signs = PLAIN) -> PairTable:
    """Read pairs of items by name, for a model to compare; outcomes, if there are any, only show how to write them."""
    items, numbers, _ = _read_sides(sheet, roles, described)
    return PairTable(sheet.source, items, numbers[0], numbers[1], _find_signs(sheet, signs))


def read_comparisons(sheet: Sheet, roles: Roles, described: Sheet | None) -> ComparisonTable:
    """Read comparisons of items by name; their features are those of the file of items, if there is one."""
    if roles.group is not None or roles.levels is not None:
        option = "group" if roles.group is not None else "levels"
        raise sheet.error(f"{option}= goes with grades, and this file holds comparisons; leave it out, or name target=")
    weight = roles.weight or ("weight" if "weight" in sheet.frame.columns else None)
    spare = [name for name in sheet.frame.columns if name not in (*_COLUMNS, weight, roles.time)]
    unused = [name for name in spare if name not in roles.drop]
    in_items = () if described is None else described.frame.columns
    roles = replace(roles, drop=tuple(name for name in roles.drop if name in in_items or name not in spare))
    if described is None and (roles.item is not None or roles.drop):
        option = "item" if roles.item is not None else "drop"
        raise sheet.error(f"{option}= goes with the features of a file of items; name it with items=")
    items, numbers, names = _read_sides(sheet, roles, described)
    outcome = _read_outcomes(sheet)
    itself = (numbers[0] == numbers[1]) & (outcome != 0)
    if itself.any():
        row = int(np.argmax(itself))
        raise sheet.error(
            f"{shorten(names[0][row])} is compared with itself and found better; correct or remove it", row
        )
    if weight is not None:
        sheet.column(weight, "weight")
    weights = None if weight is None else read_weights(sheet, weight)
    _say_what_is_unused(sheet, unused)
    _doubt_wins_and_losses(sheet, outcome)
    comparisons = Comparisons(numbers[0], numbers[1], outcome, weights)
    found = ComparisonTable(sheet.source, items, comparisons, described is not None, signs=_find_signs(sheet, PLAIN))
    if roles.time is None:
        return found
    sheet.column(roles.time, "time")
    times = read_times(sheet, roles.time)
    # ratings go by the order of the comparisons
    return replace(found, times=times, time=roles.time).take(np.argsort(times, kind="stable"))


def _say_what_is_unused(sheet: Sheet, columns: list[str]) -> None:
    """Warn of columns that nobody looks at; whoever drops them knows."""
    if columns:
        shown = ", ".join(map(repr, columns[:_SHOWN])) + ", …" * (len(columns) > _SHOWN)
        what = f"the column {shown} is" if len(columns) == 1 else f"the columns {shown} are"
        warnings.warn(
            f"{sheet.source}: {what} not used: of comparisons, left, right, outcome, the weight and the time are",
            stacklevel=5,
        )


def _doubt_wins_and_losses(sheet: Sheet, outcome: Array) -> None:
    """Warn where 1 and 0 may be meant as the left item's win and loss: nothing else says so."""
    if set(as_text(sheet, "outcome").to_list()) in ({"0", "1"}, {"0.0", "1.0"}):
        n_right, n_ties = np.count_nonzero(outcome), np.count_nonzero(outcome == 0)
        warnings.warn(
            f"{sheet.source}: its outcomes are 1 and 0, read as 'right is better' ({n_right:,} times) and 'no "
            f"difference' ({n_ties:,} times); if they say whether the left one won, write > and < instead",
            stacklevel=5,
        )


def _read_sides(sheet: Sheet, roles: Roles, described: Sheet | None) -> tuple[Table, list[Array], list[Array]]:
    """Return the items, and the left and the right one of each line, by number and by name."""
    names = [read_names(sheet, side) for side in ("left", "right")]
    if described is None:
        return *_items_by_name(sheet, names), names
    items = _items_from(described, roles)
    return items, _look_up(sheet, names, items), names


def _items_by_name(sheet: Sheet, names: list[Array]) -> tuple[Table, list[Array]]:
    """Give numbers to the names as they come; each item is a feature of its own."""
    together = np.stack(names, axis=1).ravel()
    codes, distinct = number_objects(together)
    n = len(distinct)
    place = np.arange(n + 1, dtype=np.int32)
    identity = sp.csr_array((np.ones(n), place[:n], place), shape=(n, n))
    numbers = codes.reshape(-1, 2).astype(np.int64)
    return Table(sheet.source, identity, ids=as_objects(distinct)), [numbers[:, 0], numbers[:, 1]]


def _items_from(sheet: Sheet, roles: Roles) -> Table:
    """Read the file of items; a name that stands there twice is refused."""
    columns = sheet.frame.columns
    item = roles.item or next((name for name in NAME_COLUMNS if name in columns), columns[0])
    items = make_table(sheet, Roles(item=item, drop=roles.drop, text=roles.text))
    assert items.ids is not None
    first: dict[str, int] = {}
    for row, name in enumerate(items.ids):
        if name in first:
            place = sheet.place(first[name])
            raise sheet.error(f"the item {shorten(name)} (column {item!r}) is already in {place}; remove one", row)
        first[name] = row
    return items


def _look_up(sheet: Sheet, names: list[Array], items: Table) -> list[Array]:
    """Return the row of each name in the file of items."""
    assert items.ids is not None
    row_of = {name: row for row, name in enumerate(items.ids)}
    numbers = [np.fromiter((row_of.get(name, -1) for name in side), np.int64, len(side)) for side in names]
    unknown = (numbers[0] < 0) | (numbers[1] < 0)
    if unknown.any():
        row = int(np.argmax(unknown))
        name = str(names[0][row] if numbers[0][row] < 0 else names[1][row])
        meant_name = nearest(name, list(row_of)[:100_000])
        meant = f"did you mean {meant_name!r}?" if meant_name else "add it there, or remove the comparison"
        raise sheet.error(f"the item {shorten(name)} is not in {items.source}; {meant}", row)
    return numbers


def _read_outcomes(sheet: Sheet) -> Array:
    written = as_text(sheet, "outcome").fill_null("")
    outcome = written.replace_strict(_OUTCOMES, default=None, return_dtype=pl.Int8)
    if outcome.null_count():
        row = first_row(outcome.is_null())
        found = f"is {shorten(written[row])}" if written[row] else "is missing"
        raise sheet.error(f"the outcome {found}; {HOW_TO_WRITE}", row)
    return outcome.to_numpy()


def _find_signs(sheet: Sheet, otherwise: Signs) -> Signs:
    """Return how the file writes its outcomes: the convention that most of them keep to, the first of equals."""
    if "outcome" not in sheet.frame.columns:
        return otherwise
    count = dict(as_text(sheet, "outcome").drop_nulls().value_counts().iter_rows())
    kept = [sum(count.get(sign, 0) for sign in signs) for signs in CONVENTIONS]
    return CONVENTIONS[int(np.argmax(kept))] if any(kept) else otherwise
