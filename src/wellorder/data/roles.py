"""From columns to a table: which one is the grade, the group, the name, the weight, the time; the rest are features."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from ..order import HOW_TO_WRITE, as_objects, likely_order, look_like_votes
from ..sweeps import Array, Bools, Floats
from ..writing import visible
from .lines import DataError, shorten
from .sheet import EXACT, Sheet, as_text, first_row, first_text, settle, settle_as_text
from .table import Table
from .vote_columns import VoteColumns, refuse_as_grades


@dataclass(frozen=True)
class Roles:
    """The roles that the user has given to columns."""

    target: str | None = None
    group: str | None = None
    item: str | None = None
    weight: str | None = None
    levels: tuple[Hashable, ...] | None = None
    drop: tuple[str, ...] = field(default=())
    text: frozenset[str] = frozenset()
    """Features that are known to be text: numbers among them are categories like the others."""
    time: str | None = None
    event: str | None = None
    """The column that says whether a time (the target) ended with an event, or ``column=value`` for the value that says
    so."""
    votes: VoteColumns = field(default_factory=VoteColumns)
    """The columns of comparisons."""

    def named(self) -> dict[str, str]:
        """Return the columns that are named, each with the option that names it."""
        given = {name: getattr(self, name) for name in ("target", "group", "item", "weight", "time")}
        named = {option: name for option, name in given.items() if name is not None}
        return named if self.event is None else {**named, "event": split_event(self.event)[0]}

    def given(self) -> dict[str, str]:
        """Return the options that are given, as they are written."""
        return self.named() | ({} if self.event is None else {"event": self.event})

    def check(self, sheet: Sheet) -> None:
        """Refuse names that the file does not have, and columns that are named twice."""
        option_of: dict[str, str] = {}
        for option, name in [*self.named().items(), *(("drop", name) for name in self.drop)]:
            sheet.column(name, option)
            if name in option_of and (option, option_of[name]) != ("drop", "drop"):
                raise sheet.error(f"the column {name!r} is named twice, by {option_of[name]}= and by {option}=")
            option_of[name] = option
        if self.levels is not None and self.target is None:
            raise sheet.error("levels= orders the grades; name their column with target=")
        if self.event is not None and self.target is None:
            raise sheet.error("event= says how times ended; name the column of the times with target=")
        if self.event is not None and self.levels is not None:
            raise sheet.error("levels= orders grades, and with event= the target holds times; leave one of them out")
        if self.target is not None and self.votes.given():
            option = next(iter(self.votes.given()))
            raise sheet.error(f"target= is of grades and {option}= of comparisons; leave one of them out")


def check_levels(source: str, levels: Iterable[Hashable] | None) -> tuple[Hashable, ...] | None:
    """Return declared levels as a tuple of plain values, each once."""
    if levels is None:
        return None
    if isinstance(levels, str):
        raise DataError(source, f"levels={levels!r} is one text; give a list of the levels, from worst to best")
    listed = tuple(level.strip() if isinstance(level, str) else level for level in levels)
    twice = next((level for place, level in enumerate(listed) if level in listed[:place]), None)
    if twice is not None:
        raise DataError(source, f"levels= lists {twice!r} twice")
    if not listed:
        raise DataError(source, "levels= is empty; list the levels from worst to best")
    return listed


def make_table(sheet: Sheet, roles: Roles) -> Table:
    """Give the columns their roles; everything that has none is a feature."""
    roles.check(sheet)
    if roles.target is not None:
        refuse_as_grades(sheet, roles.target)
    taken = {*roles.named().values(), *roles.drop}
    features = [
        settle_as_text(sheet, name) if name in roles.text else settle(sheet, name)
        for name in sheet.frame.columns
        if name not in taken
    ]
    y, levels = (None, None) if roles.target is None else read_target(sheet, roles.target, roles.levels)
    events = None
    if roles.event is not None and roles.target is not None:
        events = read_events(sheet, roles.event)
        refuse_no_times(sheet, roles.target, y)
    return Table(
        source=sheet.source,
        X=pl.DataFrame(features)
        if features
        else sp.csr_array((sheet.frame.height, 0)),  # a frame without columns has no rows
        y=y,
        groups=None if roles.group is None else read_groups(sheet, roles.group),
        ids=None if roles.item is None else read_names(sheet, roles.item),
        weights=None if roles.weight is None else read_weights(sheet, roles.weight),
        times=None if roles.time is None else read_times(sheet, roles.time),
        events=events,
        target=roles.target,
        group=roles.group,
        item=roles.item,
        weight=roles.weight,
        time=roles.time,
        event=roles.event,
        levels=levels,
        places=sheet.places,
    )


def read_target(sheet: Sheet, name: str, levels: Sequence[Hashable] | None) -> tuple[Array, tuple[Any, ...] | None]:
    """Return the grades, float64 with NaN or objects with None where missing, and the levels that go with them."""
    if levels is not None and _numbers(levels) is None:
        return _by_text_levels(sheet, name, tuple(str(level) for level in levels))
    column = settle(sheet, name)
    if name in sheet.nominal:  # {1, 2, 3} are good grades, whatever the file calls them
        number = column.cast(pl.Float64, strict=False)
        column = number if number.null_count() == column.null_count() and number.is_finite().all() else column
    if column.dtype == pl.String:
        if levels is None:
            raise _unordered(sheet, name, column)
        raise sheet.error(f"the levels {_shown(levels)} are numbers, and column {name!r} holds text")
    y = column.fill_null(float("nan")).to_numpy().astype(np.float64)
    _refuse_rounding(sheet, name, y)
    if levels is None:
        return y, None
    numbers = _numbers(levels) or ()
    unknown = ~np.isnan(y) & ~np.isin(y, numbers)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise _not_a_level(sheet, name, f"{y[row]:g}", levels, row)
    return y, tuple(numbers)


def _refuse_rounding(sheet: Sheet, name: str, y: Floats) -> None:
    """Refuse whole numbers that differ in the file and are one number in double precision: they would be ties."""
    if not (np.abs(y) >= EXACT).any():
        return
    written = sheet.frame[name].cast(pl.Int64, strict=False)
    whole = written.drop_nulls().unique(maintain_order=True)
    tied = whole.filter(whole.cast(pl.Float64).is_duplicated())
    if len(tied):
        one = tied[0]
        raise sheet.error(
            f"the grade {one} (column {name!r}) is so large that others near it are the same number in double "
            "precision; take off what all have in common, or give ranks",
            first_row(written == one),
        )


def _by_text_levels(sheet: Sheet, name: str, levels: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    column = as_text(sheet, name)
    unknown = column.is_not_null() & ~column.is_in(list(levels)).fill_null(False)
    if unknown.any():
        row = first_row(unknown)
        raise _not_a_level(sheet, name, column[row], levels, row)
    return as_objects(column.to_list()), levels


def _numbers(levels: Sequence[Hashable]) -> tuple[float, ...] | None:
    """Return the levels as numbers, if all of them are."""
    try:
        numbers = tuple(float(level) for level in levels)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _not_a_level(sheet: Sheet, name: str, value: str, levels: Sequence[Hashable], row: int) -> DataError:
    return sheet.error(
        f"{shorten(value)} in column {name!r} is not among the levels {_shown(levels)}; correct it, or add it to "
        "levels=",
        row,
    )


def _unordered(sheet: Sheet, name: str, column: pl.Series) -> DataError:
    """Return the error for text grades without an order, with the one that may be meant."""
    found = column.drop_nulls().unique(maintain_order=True).to_list()
    if len(found) > 50:
        return sheet.error(
            f"the target {name!r} is text with {len(found):,} different values, such as {shorten(found[0])}; name a "
            "column of grades"
        )
    declared = [value for value in sheet.nominal.get(name, ()) if value in found]
    order = likely_order(found)
    if order is None and declared != sorted(declared):  # the alphabet's order is nobody's scale
        order = declared
    if look_like_votes(found):
        return sheet.error(
            f"the target {name!r} ({_values(found)}) looks like the outcomes of votes, and these are no grades. Leave "
            f"target= out, and name the columns of the two items with left= and right=, and this one with "
            f"outcome={name!r}: 'wellorder rate' makes a list of the items, and 'compare' and 'fit' learn from "
            f"comparisons; {HOW_TO_WRITE}. If they are grades after all, levels= says which is worst and best"
        )
    how = (
        f"list its values with levels=, the worst first and the best last; they are, in no order: {_values(found)}"
        if order is None
        else f"give its values from worst to best, perhaps levels={_shown(order)}"
    )
    return sheet.error(f"the target {name!r} is text, which has no order of its own; {how}")


def _shown(levels: Iterable[Hashable]) -> str:
    return f"[{_values(levels)}]"


def _values(levels: Iterable[Hashable]) -> str:
    listed = list(levels)
    return ", ".join(visible(str(level)) for level in listed[:50]) + ", …" * (len(listed) > 50)


def read_groups(sheet: Sheet, name: str) -> Array:
    """Return group ids: whole numbers if all are written as such, otherwise text."""
    column = as_text(sheet, name)
    if column.null_count():
        row = first_row(column.is_null())
        raise sheet.error(f"the group (column {name!r}) is missing; give the row one, or remove it", row)
    whole = column.cast(pl.Int64, strict=False)
    # "007" and "7" may be two groups: only what is written the one way is a number
    if whole.null_count() == 0 and (whole.cast(pl.String) == column).all():
        return whole.to_numpy()
    return as_objects(column.to_list())


def read_names(sheet: Sheet, name: str) -> Array:
    """Return what rows are called, as text."""
    column = as_text(sheet, name)
    if column.null_count():
        row = first_row(column.is_null())
        raise sheet.error(f"the name (column {name!r}) is missing; give the item one, or remove the row", row)
    return as_objects(column.to_list())


def read_weights(sheet: Sheet, name: str) -> Floats:
    """Return weights: positive numbers."""
    column = settle(sheet, name)
    if column.dtype == pl.String:
        row = first_text(column)
        raise sheet.error(f"the weight {shorten(column[row])} (column {name!r}) is not a number", row)
    bad = column.is_null() | (column <= 0)
    if bad.any():
        row = first_row(bad)
        found = "is missing" if column[row] is None else f"is {column[row]:g}"
        raise sheet.error(f"the weight (column {name!r}) {found}; weights are positive numbers", row)
    return column.to_numpy().astype(np.float64)


def split_event(event: str) -> tuple[str, str | None]:
    """Return the column that ``event=`` names, and the value that stands for an event; None: 1, or true."""
    column, sign, value = event.rpartition("=")
    return (column, value) if sign and column else (event, None)


def read_events(sheet: Sheet, event: str) -> Bools:
    """Return whether each row's event was seen: 1 or true, or the value that was named."""
    name, value = split_event(event)
    column = as_text(sheet, name) if value is not None else settle(sheet, name)
    if column.null_count():
        row = first_row(column.is_null())
        raise sheet.error(f"the event (column {name!r}) is missing; give it, or remove the row", row)
    if value is not None:
        found = column.unique(maintain_order=True).to_list()
        meant = [each for each in found if each == value] or [each for each in found if _reads_as(each, value)]
        if len(meant) != 1:
            raise sheet.error(f"no row has {shorten(value)} in the column {name!r}; its values are {_values(found)}")
        return np.asarray((column == meant[0]).to_numpy(), dtype=bool)
    number = column.cast(pl.Float64, strict=False)  # {0, 1} are numbers, whatever the file calls them
    bad = number.is_null() | ~number.is_in([0.0, 1.0])
    if bad.any():
        row = first_row(bad)
        written = str(as_text(sheet, name)[row])
        raise sheet.error(
            f"the event (column {name!r}) is {shorten(written)}; 1 (or true) is an event that was seen and 0 "
            f"a time that was censored. Where it is written otherwise, say which value is the event: "
            f"event={name + '=' + written!r}",
            row,
        )
    return number.to_numpy().astype(bool)


def _reads_as(written: str, value: str) -> bool:
    """Say whether a field and a value are one but for capitals, or are the same number; true is 1."""
    one, other = ({"true": "1", "false": "0"}.get(each, each) for each in (written.casefold(), value.casefold()))
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


def refuse_no_times(sheet: Sheet, name: str, y: Array | None) -> None:
    """Refuse a column of times with a row that has none, or a negative one."""
    values = np.asarray(y)
    bad = np.flatnonzero(~(values >= 0)) if values.dtype.kind == "f" else np.zeros(0, np.int64)
    if bad.size:
        row = int(bad[0])
        found = "is missing" if np.isnan(values[row]) else f"is {values[row]:g}"
        raise sheet.error(f"the time (column {name!r}) {found}; times are numbers from 0 on", row)


def holds_dates(sheet: Sheet, name: str) -> bool:
    """Say whether a column of times holds dates, whose unit is a day, rather than numbers."""
    return sheet.frame[name].dtype.is_temporal() or settle(sheet, name).dtype == pl.String


def read_times(sheet: Sheet, name: str) -> Floats:
    """Return times as numbers: as they are, or days since 1970 where they are dates, with or without a time of day."""
    column = sheet.frame[name]
    if not column.dtype.is_temporal():
        column = settle(sheet, name)
    if column.dtype == pl.String:
        column = _dates(sheet, name, column)
    if column.dtype.is_temporal():
        column = column.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64) / _MICROSECONDS_A_DAY
    if column.null_count():
        row = first_row(column.is_null())
        raise sheet.error(f"the time (column {name!r}) is missing; give one, or remove the row", row)
    return column.cast(pl.Float64).to_numpy().astype(np.float64)


_MICROSECONDS_A_DAY = 86_400e6


def as_dates(days: Floats) -> Array:
    """Return days since 1970 as dates."""
    return np.asarray(np.rint(days * _MICROSECONDS_A_DAY).astype("datetime64[us]"))


def _dates(sheet: Sheet, name: str, column: pl.Series) -> pl.Series:
    """Read dates as ISO 8601 has them, with a dot or a slash for the dash as well; what is none is an error."""
    written = column.str.replace_all(r"^(\d{4})[./](\d{1,2})[./](\d{1,2})", "${1}-${2}-${3}")
    found = written.str.to_datetime(strict=False, time_unit="us", format="%Y-%m-%d")
    for pattern in (
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%dT%H:%M:%S%.fZ",
    ):
        found = found.fill_null(written.str.to_datetime(strict=False, time_unit="us", format=pattern))
    bad = found.is_null() & column.is_not_null()
    if bad.any():
        row = first_row(bad)
        raise sheet.error(
            f"the time {shorten(column[row])} (column {name!r}) is neither a number nor a date such as 2024-05-31 or "
            "2024-05-31 18:30; write it so",
            row,
        )
    return found
