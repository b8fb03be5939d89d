"""Columns as they stand in a file, before anybody has said what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from ..suggest import suggest
from ..sweeps import Ints
from .errors import DataError, Places


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
