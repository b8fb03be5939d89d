"""Files of comparisons: who was compared with whom, and what came of it."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import polars as pl
import scipy.sparse as sp

from ..order import POINTS, Comparisons, Outcomes, number_names, number_values, read_outcomes
from ..suggest import nearest
from ..sweeps import Array, Ints
from ..writing import counted
from .lines import DataError, shorten
from .roles import Roles, as_dates, holds_dates, make_table, read_times, read_weights
from .sheet import EXACT, Sheet, as_text, first_row, first_text, settle
from .table import (
    BY_SIDE,
    CONVENTIONS,
    OTHER_COLUMNS,
    PLAIN,
    ComparisonTable,
    PairTable,
    Signs,
    Table,
    name_some,
)
from .vote_columns import Way, find_comparisons, find_sides

NAME_COLUMNS = ("item", "id", "name")
"""Columns in which a file of items may have its names, unless told otherwise; if it has none of them, its first
column."""


def is_comparisons(sheet: Sheet, roles: Roles) -> bool:
    """Say whether a file has columns of comparisons: of two items, and of who won."""
    return find_comparisons(sheet, roles.votes, roles.drop) is not None


def is_pairs(sheet: Sheet, roles: Roles) -> bool:
    """Say whether a file has the columns of pairs of items, whether or not anybody has compared them."""
    return find_sides(sheet, roles.votes) is not None


def read_pairs(sheet: Sheet, roles: Roles, described: Sheet | None, signs: Signs = PLAIN) -> PairTable:
    """Read pairs of items by name, for a model to compare; outcomes, if there are any, only show how to write them."""
    way = find_sides(sheet, roles.votes)
    assert way is not None
    items, left, right = _read_sides(sheet, way, roles, described)
    understood = (
        f"{sheet.source}: {counted(len(left), 'pair')} of {counted(len(items), 'item')}: {way.left} against {way.right}"
    )
    verdicts = None if way.verdict is None else number_values(as_text(sheet, way.verdict))
    columns, _ = _read_spare(sheet, [name for name in sheet.frame.columns if name not in way.columns])
    return PairTable(
        sheet.source, items, left, right, _find_signs(verdicts, signs), understood, columns, places=sheet.places
    )


def read_comparisons(sheet: Sheet, roles: Roles, described: Sheet | None) -> ComparisonTable:
    """Read comparisons of items by name; their features are those of the file of items, if there is one."""
    if roles.group is not None or roles.levels is not None:
        option = "group" if roles.group is not None else "levels"
        raise sheet.error(f"{option}= goes with grades, and this file holds comparisons; leave it out, or name target=")
    way = find_comparisons(sheet, roles.votes, roles.drop)
    assert way is not None
    weight = roles.weight or ("weight" if "weight" in sheet.frame.columns else None)
    spare = [name for name in sheet.frame.columns if name not in (*way.columns, weight, roles.time)]
    in_items = () if described is None else described.frame.columns
    dropped = tuple(name for name in roles.drop if name in in_items or name not in spare)
    if described is None and (roles.item is not None or dropped):
        option = "item" if roles.item is not None else "drop"
        raise sheet.error(f"{option}= goes with the features of a file of items; name it with items=")
    items, left, right = _read_sides(sheet, way, replace(roles, drop=dropped), described)
    assert items.ids is not None
    verdicts = None if way.verdict is None else number_values(as_text(sheet, way.verdict))
    results = _read_results(sheet, way, verdicts, (left, right), items.ids)
    itself = (left == right) & (results.outcome != 0)
    if itself.any():
        row = int(np.argmax(itself))
        name = shorten(str(items.ids[left[row]]))
        raise sheet.error(f"{name} is compared with itself and found better; correct or remove it", row)
    if weight is not None:
        sheet.column(weight, "weight")
    comparisons = Comparisons(left, right, results.outcome, None if weight is None else read_weights(sheet, weight))
    comparisons.names = items.ids
    columns, left_out = _read_spare(sheet, [name for name in spare if name not in roles.drop])
    roles_said = "".join(f", {role} in {name}" for role, name in (("weight", weight), ("time", roles.time)) if name)
    other = "" if columns is None else f"{OTHER_COLUMNS}{name_some(columns.columns)}"
    other += f"; lists and objects, which are not read: {name_some(left_out)}" if left_out else ""
    found = ComparisonTable(
        sheet.source,
        items,
        comparisons,
        described is not None,
        signs=_find_signs(verdicts, BY_SIDE),
        columns=columns,
        both_bad=results.both_bad,
        sides=not way.first_wins,
        understood=f"{sheet.source}: {_understood(way, results, len(items))}{roles_said}{other}",
        places=sheet.places,
    )
    if roles.time is None:
        return found
    sheet.column(roles.time, "time")
    times = read_times(sheet, roles.time)
    # ratings go by the order of the comparisons
    dated = replace(found, times=times, time=roles.time, dated=holds_dates(sheet, roles.time))
    comparisons.times = as_dates(times) if dated.dated else times
    return dated.take(np.argsort(times, kind="stable"))


def _understood(way: Way, results: Outcomes, n_items: int) -> str:
    """Say in one line how comparisons were read."""
    outcome = results.outcome
    said = f"{counted(len(outcome), 'comparison')} of {counted(n_items, 'item')}: {way}"
    if way.first_wins:
        return f"{said}; the winner always stands first, so nothing can be said about sides"
    n_left, n_ties, n_right = (int(np.count_nonzero(outcome == sign)) for sign in (-1, 0, 1))
    by_name = ", by name" if results.by_name else f", points of {way.left}" if results.by_points else ""
    ties = f", tie {n_ties:,}" if n_ties else ", no ties"
    bad = 0 if results.both_bad is None else int(np.count_nonzero(results.both_bad))
    both_bad = f"; {bad:,} of the ties 'both bad'" if bad else ""
    return f"{said}{by_name} ({way.left} {n_left:,}, {way.right} {n_right:,}{ties}{both_bad})"


# --------------------------------------------------------------------------------------------------
# The two sides.


def _read_sides(sheet: Sheet, way: Way, roles: Roles, described: Sheet | None) -> tuple[Table, Ints, Ints]:
    """Return the items, and the numbers of the left and the right one of each line."""
    sides = [as_text(sheet, name) for name in (way.left, way.right)]
    for name, side in zip((way.left, way.right), sides, strict=True):
        if side.null_count():
            row = first_row(side.is_null())
            raise sheet.error(f"the name (column {name!r}) is missing; give the item one, or remove the row", row)
    left, right, names = number_names(*sides)
    if described is None:
        n = len(names)
        place = np.arange(n + 1, dtype=np.int32)
        identity = sp.csr_array((np.ones(n), place[:n], place), shape=(n, n))
        return Table(sheet.source, identity, ids=names), left, right
    items = _items_from(described, roles)
    row_of = _look_up(sheet, left, right, names, items)
    return items, row_of[left], row_of[right]


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


def _look_up(sheet: Sheet, left: Ints, right: Ints, names: Array, items: Table) -> Ints:
    """Return the row of each name in the file of items."""
    assert items.ids is not None
    row_of = {name: row for row, name in enumerate(items.ids)}
    rows = np.array([row_of.get(name, -1) for name in names], dtype=np.int64)
    unknown = (rows[left] < 0) | (rows[right] < 0)
    if unknown.any():
        line = int(np.argmax(unknown))
        name = str(names[left[line] if rows[left[line]] < 0 else right[line]])
        meant_name = nearest(name, list(row_of)[:100_000])
        meant = f"did you mean {meant_name!r}?" if meant_name else "add it there, or remove the comparison"
        raise sheet.error(f"the item {shorten(name)} is not in {items.source}; {meant}", line)
    return rows


# --------------------------------------------------------------------------------------------------
# Who won.


Verdicts: TypeAlias = tuple[Ints, list[Hashable]]
"""Which of the distinct words each line has (None: not given), and these words."""


def _read_results(
    sheet: Sheet, way: Way, verdicts: Verdicts | None, sides: tuple[Ints, Ints], names: Array
) -> Outcomes:
    if way.scores is not None:
        return Outcomes(_by_scores(sheet, way.scores), None)
    if way.flags is not None:
        return Outcomes(_by_flags(sheet, way.flags), None)
    if verdicts is None:
        return Outcomes(np.full(len(sides[0]), -1, np.int8), None)
    codes, distinct = verdicts
    said = {str(word) for word in distinct if word is not None}
    try:
        words = way.words(said)
    except ValueError as error:
        raise sheet.error(str(error)) from None

    def fail(problem: str, row: int) -> DataError:
        where = "" if way.verdict == "outcome" else f" (column {way.verdict!r})"
        return sheet.error(problem.replace("the outcome", f"the outcome{where}", 1), row)

    results = read_outcomes(codes, distinct, sides, names, words, fail)
    if words is POINTS:
        if (way.left, way.verdict) == ("left", "outcome"):  # where 1 otherwise says that the right one is better
            warnings.warn(
                f"{sheet.source}: its outcomes are 1, 0.5 and 0, read as points of the left one; if 1 says that the "
                "right one is better, write 0 for ties and -1 where the left one is",
                stacklevel=5,
            )
        return replace(results, by_points=True)
    if not results.by_name and said in ({"0", "1"}, {"0.0", "1.0"}):
        _doubt_wins_and_losses(sheet, results.outcome)
    return results


def _doubt_wins_and_losses(sheet: Sheet, outcome: Ints) -> None:
    """Warn where 1 and 0 may be meant as the left item's win and loss: nothing else says so."""
    n_right, n_ties = np.count_nonzero(outcome), np.count_nonzero(outcome == 0)
    warnings.warn(
        f"{sheet.source}: its outcomes are 1 and 0, read as 'right is better' ({n_right:,} times) and 'no "
        f"difference' ({n_ties:,} times); if they say whether the left one won, write > and < instead",
        stacklevel=6,
    )


def _by_scores(sheet: Sheet, columns: tuple[str, str]) -> Ints:
    """Return outcomes by what the two sides scored: more is better."""
    scores = []
    for name in columns:
        column = settle(sheet, name)
        if column.dtype == pl.String:
            row = first_text(column)
            raise sheet.error(f"the score {shorten(column[row])} (column {name!r}) is not a number", row)
        scores.append(column)
    unplayed = scores[0].is_null() & scores[1].is_null()
    if unplayed.any():
        raise sheet.error(
            f"there are no scores (columns {columns[0]!r} and {columns[1]!r}), as of a match that is yet to be played; "
            "remove the row to learn from the others, and give it to 'wellorder predict'",
            first_row(unplayed),
        )
    for name, column in zip(columns, scores, strict=True):
        if column.null_count():
            raise sheet.error(
                f"the score (column {name!r}) is missing; give it, or remove the row", first_row(column.is_null())
            )
        if (column < 0).any():
            row = first_row(column < 0)
            raise sheet.error(
                f"the score {column[row]:g} (column {name!r}) is below 0; correct it, or, of a match that was not "
                "played, remove the row",
                row,
            )
    return (scores[1] - scores[0]).sign().cast(pl.Int8).to_numpy()


def _by_flags(sheet: Sheet, columns: tuple[str, str, str]) -> Ints:
    """Return outcomes by columns of ones and zeros: of the left one, of the right one, and of ties."""
    flags = []
    for name in columns:
        column = settle(sheet, name).cast(pl.Float64, strict=False)
        wrong = column.is_null() | ~column.is_in([0.0, 1.0])
        if wrong.any():
            row = first_row(wrong)
            raise sheet.error(f"{shorten(str(sheet.frame[name][row]))} in column {name!r} is neither 1 nor 0", row)
        flags.append(column)
    several = (flags[0] + flags[1] + flags[2]) != 1.0
    if several.any():
        row = first_row(several)
        raise sheet.error(f"{', '.join(columns[:2])} and {columns[2]} should have one 1 among them, and have not", row)
    return (flags[1] - flags[0]).cast(pl.Int8).to_numpy()


def _find_signs(verdicts: Verdicts | None, otherwise: Signs) -> Signs:
    """Return how the file writes its outcomes: the convention that most of them keep to, the first of equals."""
    if verdicts is None:
        return otherwise
    codes, distinct = verdicts
    count = dict(zip(distinct, np.bincount(codes, minlength=len(distinct)).tolist(), strict=True))
    kept = [sum(count.get(sign, 0) for sign in signs) for signs in CONVENTIONS]
    return CONVENTIONS[int(np.argmax(kept))] if any(kept) else otherwise


# --------------------------------------------------------------------------------------------------
# The columns that say neither who was compared nor who won.


def _read_spare(sheet: Sheet, names: list[str]) -> tuple[pl.DataFrame | None, list[str]]:
    """Return columns as numbers or text, and the names of those that hold neither.

    Nobody may ever look at them: a few typos among numbers make a column text here, and are no error.
    """
    settled, left_out = [], []
    for name in names:
        try:
            column = settle(sheet, name)
            if column.dtype == pl.Float64 and (column.abs() >= EXACT).any():
                column = as_text(sheet, name)  # ids, of which two might become one number
        except DataError:
            try:
                column = as_text(sheet, name)
            except DataError:
                left_out.append(name)
                continue
        settled.append(column)
    return (pl.DataFrame(settled) if settled else None), left_out
