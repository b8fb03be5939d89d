"""Columns as they stand in a file, before anybody has said what they mean: numbers, or text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from ..suggest import suggest
from ..sweeps import Ints
from .lines import DataError, Places, shorten


@dataclass(frozen=True)
class Sheet:
    """The columns of one file, or of several with the same columns.

    Attributes
    ----------
    sources : tuple of (str, int)
        Each file, as the user named it, and its first row.
    frame : polars DataFrame
        The columns: text as it was written, or typed where the format has types.
    lines : array of shape (n,) or None
        The line in which each row starts; None where the format has no lines.
    numeric : frozenset of str
        Columns that the file itself declares to be numbers.
    nominal : dict of str to tuple
        Columns that the file itself declares to be categories, with their values in the declared order.
    decimal_comma : bool
        Whether 3,14 may stand for a number.
    """

    sources: tuple[tuple[str, int], ...]
    frame: pl.DataFrame
    lines: Ints | None = None
    numeric: frozenset[str] = frozenset()
    nominal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decimal_comma: bool = False

    @property
    def source(self) -> str:
        """The file, or the first of several and how many follow."""
        more = len(self.sources) - 1
        return self.sources[0][0] + (f" and {more} more" if more else "")

    @property
    def places(self) -> Places:
        """Where the rows stand."""
        return Places(self.sources, self.lines)

    def error(self, problem: str, row: int | None = None) -> DataError:
        """Return the error for a row: with its file, and its line or, without lines, its number."""
        return DataError(self.source, problem) if row is None else self.places.error(problem, row)

    def place(self, row: int) -> str:
        """Say where a row stands, to be named beside another one."""
        source, _, where = self.places.find(row)
        return where if len(self.sources) == 1 else f"{where} of {source}"

    def column(self, name: str, option: str) -> pl.Series:
        """Return a column by name; where there is none, say which one may have been meant."""
        if name not in self.frame.columns:
            raise self.error(
                f"there is no column {name!r} (from {option}=); {suggest(name, self.frame.columns, 'its columns are')}"
            )
        return self.frame[name]


def join_sheets(sheets: Sequence[Sheet]) -> Sheet:
    """Put files with the same columns one after the other."""
    first = sheets[0]
    if len(sheets) == 1:
        return first
    sources: list[tuple[str, int]] = []
    n_rows = 0
    for sheet in sheets:
        _refuse_other_columns(first, sheet)
        sources += [(source, n_rows + row) for source, row in sheet.sources]
        n_rows += sheet.frame.height
    lines = [sheet.lines for sheet in sheets if sheet.lines is not None]
    try:
        frame = pl.concat([sheet.frame.select(first.frame.columns) for sheet in sheets], how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise first.error(
            f"its columns have other types than those of the files beside it ({one_line(error)})"
        ) from None
    return Sheet(
        tuple(sources),
        frame,
        np.concatenate(lines) if len(lines) == len(sheets) else None,
        first.numeric,
        first.nominal,
        any(sheet.decimal_comma for sheet in sheets),
    )


def _refuse_other_columns(first: Sheet, sheet: Sheet) -> None:
    missing = [name for name in first.frame.columns if name not in sheet.frame.columns]
    extra = [name for name in sheet.frame.columns if name not in first.frame.columns]
    if missing or extra:
        what = f"has no column {missing[0]!r}" if missing else f"has a column {extra[0]!r}"
        raise sheet.error(f"it {what}, unlike {first.source}; files that are read together need the same columns")


def refuse_twice(source: str, names: Iterable[str], line: int | None = None) -> None:
    """Refuse column names that occur twice."""
    place: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in place:
            raise DataError(source, f"columns {place[name]} and {number} are both called {name!r}; rename one", line)
        place[name] = number


def one_line(error: BaseException) -> str:
    """Return the first line of an error's text, shortened: other libraries' errors run over many."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:120]


# --------------------------------------------------------------------------------------------------
# What a column holds: numbers, or text. Decided over all rows, never by the first few.
#
# A column is numbers if every field that is not missing is a number, or every one is true or false. A column
# that is numbers but for a few fields is refused: a typo would otherwise turn it into categories, silently.


MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-")
"""What stands for 'not given', in any column."""

_TRUTH = {"true": 1.0, "false": 0.0}
_COMMA_NUMBER = r"^[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?$"
_GROUPED = r"^[+-]?(\d{1,3}([.,' ]\d{3})+([.,]\d+)?|\d+,\d+)$"


def nearly_numbers(n_numbers: int, n_given: int) -> bool:
    """Say whether a column of text holds so many numbers that the others must be mistakes."""
    return n_numbers >= max(3, 0.9 * n_given)


EXACT = 2.0**53
"""From here on, not every whole number is a float."""


def settle(sheet: Sheet, name: str) -> pl.Series:
    """Return a column as Float64 or String, null where missing.

    Raises
    ------
    DataError
        For a number that is infinite, and for text among numbers: with its line and the fix.
    """
    column = sheet.frame[name]
    if name in sheet.nominal:
        return column
    if column.dtype == pl.String:
        return _from_text(sheet, name, column)
    if column.dtype.is_float() or column.dtype.is_integer() or column.dtype.is_decimal():
        return _finite(sheet, name, column.cast(pl.Float64))
    if column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64)
    return as_text(sheet, name)


def settle_as_text(sheet: Sheet, name: str) -> pl.Series:
    """Return a column that held text in the training data: as it is written, whatever it looks like here.

    Only what the file itself declares to be a number stays one: 4 and 4.0 are then the same.
    """
    column = sheet.frame[name]
    if column.dtype == pl.Boolean or (column.dtype == pl.String and name not in {*sheet.numeric, *sheet.nominal}):
        return as_text(sheet, name)
    return settle(sheet, name)


def trim(text: pl.Series) -> pl.Series:
    """Return text without spaces around it, null where it stands for a missing value."""
    text = text.str.strip_chars()
    return text.set(text.is_in(MISSING).fill_null(False), None)


def as_text(sheet: Sheet, name: str) -> pl.Series:
    """Return any column as trimmed text; whole numbers without a decimal point."""
    column = sheet.frame[name]
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise sheet.error(
            f"column {name!r} holds {column.dtype}, not one number or text a row; split it into columns, or leave it "
            f"out with drop={name!r}"
        )
    column = column.fill_nan(None) if column.dtype.is_float() else column
    if column.dtype.is_float() and (column.drop_nulls() == column.drop_nulls().round()).all():
        whole = column.cast(pl.Int64, strict=False)
        column = whole if whole.null_count() == column.null_count() else column
    return trim(column.cast(pl.String))


def first_row(mask: pl.Series) -> int:
    """Return the first row for which this holds."""
    row = mask.fill_null(False).arg_max()
    return 0 if row is None else row


def first_text(column: pl.Series) -> int:
    """Return the first row of a column of text whose text is no number."""
    return first_row(column.is_not_null() & column.cast(pl.Float64, strict=False).is_null())


def _from_text(sheet: Sheet, name: str, text: pl.Series) -> pl.Series:
    number = text.cast(pl.Float64, strict=False)
    if number.null_count() == text.null_count():  # the common case: nothing but numbers and empty fields
        return _finite(sheet, name, number)
    text = trim(text)
    number = text.cast(pl.Float64, strict=False)
    if sheet.decimal_comma:
        number = _with_decimal_comma(sheet, name, text, number)
    bad = text.is_not_null() & number.is_null()
    n_bad, n_given = int(bad.sum()), len(text) - text.null_count()
    if n_bad == 0:
        return _finite(sheet, name, number)
    if name in sheet.numeric:
        row = first_row(bad)
        raise sheet.error(f"{shorten(text[row])} in column {name!r} is not a number, as the file declares it", row)
    if n_bad == n_given:
        lower = text.str.to_lowercase()
        if (lower.is_in(list(_TRUTH)) | lower.is_null()).all():
            return lower.replace_strict(_TRUTH, return_dtype=pl.Float64)
    n_good = n_given - n_bad
    if nearly_numbers(n_good, n_given):
        row = first_row(bad)
        raise sheet.error(
            f"{shorten(text[row])} in column {name!r} is not a number, but {n_good:,} of its {n_given:,} values are; "
            f"correct it, leave the field empty if it is missing, or leave the column out with drop={name!r}",
            row,
        )
    _refuse_grouped(sheet, name, text, bad)
    return text


def _with_decimal_comma(sheet: Sheet, name: str, text: pl.Series, number: pl.Series) -> pl.Series:
    """Read 3,14 as a number; with a point elsewhere in the column nobody can tell what either means."""
    comma = text.str.contains(_COMMA_NUMBER).fill_null(False)
    if not comma.any():
        return number
    point = number.is_not_null() & text.str.contains(".", literal=True).fill_null(False)
    if point.any():
        row = first_row(point)
        raise sheet.error(
            f"column {name!r} has {shorten(text[row])} here and {shorten(text[first_row(comma)])} elsewhere; write all "
            "its numbers with a decimal point, or all with a decimal comma",
            row,
        )
    converted = text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return converted.zip_with(comma, number)


def _refuse_grouped(sheet: Sheet, name: str, text: pl.Series, bad: pl.Series) -> None:
    """Refuse 1,234 and 3,14 where a comma is no part of a number: they are no categories."""
    given = text.drop_nulls()
    if given.str.contains(_GROUPED).all() or text.filter(bad).str.contains(_GROUPED).all():
        row = first_row(bad)
        raise sheet.error(
            f"{shorten(text[row])} in column {name!r} looks like a number with a comma or separated thousands; write "
            "it with a decimal point and nothing else (1234.5)",
            row,
        )


def _finite(sheet: Sheet, name: str, number: pl.Series) -> pl.Series:
    number = number.fill_nan(None)
    infinite = number.is_infinite()
    if infinite.any():
        row = first_row(infinite)
        raise sheet.error(
            f"column {name!r} is infinite here; give a finite number, or leave the field empty if it is missing", row
        )
    return number
