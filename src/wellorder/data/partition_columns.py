"""One partition of a table: what its columns hold, in numbers small enough to travel, and the partition encoded."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from ..sweeps import Floats, Ints
from .column_types import as_text, settle, settle_as_text
from .errors import DataError
from .numbered import is_rounding, unit_of
from .sheet import Sheet, one_line

if TYPE_CHECKING:
    from .encode import TableEncoder

_MOST_TEXTS = 10_000
"""Different texts of a column that a partition tells of; far beyond what is accepted as categories."""

_MOSTLY = 0.9
_AT_LEAST = 3
"""A column of text with so many numbers is refused, as in a file that is read whole."""


class Moments(NamedTuple):
    """What there is to know of numbers to standardise them."""

    n: int
    low: float
    high: float
    mean: float
    deviation: float
    are_whole: bool = True


class ColumnSummary(NamedTuple):
    """What one partition says of a column."""

    n_rows: int
    n_given: int
    n_numbers: int
    moments: Moments | None
    """None where some of it is no number."""
    texts: frozenset[str] | None
    """The different texts; None where the file itself says that these are numbers."""
    problem: DataError | None
    """Why it would be refused, were this all there is."""


def read_part(path: str, columns: Sequence[str], rows: Ints | None = None) -> Sheet:
    """Read some columns of a Parquet file, of all rows or some."""
    try:
        frame = pl.read_parquet(path, columns=list(columns))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(path, f"it cannot be read as Parquet: {one_line(error)}") from None
    return Sheet(((path, 0),), frame if rows is None else frame[rows])


def summarise_part(path: str, columns: Sequence[str], rows: Ints | None = None) -> dict[str, ColumnSummary]:
    """Say what the columns of one file hold."""
    sheet = read_part(path, columns, rows)
    return {name: _summarise(sheet, name) for name in columns}


def encode_part(
    encoder: TableEncoder, path: str, columns: Sequence[str], text: frozenset[str], rows: Ints | None = None
) -> Floats:
    """Return the numbers that an encoder makes of one file."""
    sheet = read_part(path, columns, rows)
    settled = [settle_as_text(sheet, name) if name in text else settle(sheet, name) for name in columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody hears what a worker says of a category that training has not seen
        return np.asarray(encoder.transform(pl.DataFrame(settled)), dtype=float)


def _summarise(sheet: Sheet, name: str) -> ColumnSummary:
    raw, problem = sheet.frame[name], None
    try:
        column = settle(sheet, name)
    except DataError as error:
        if raw.dtype != pl.String:
            raise
        column, problem = as_text(sheet, name), error
    given = column.drop_nulls()
    if column.dtype == pl.Float64:
        moments, n_numbers = moments_of(given.to_numpy()), len(given)
    else:
        moments, n_numbers = None, len(given.cast(pl.Float64, strict=False).drop_nulls())
    texts = None
    if raw.dtype == pl.String or column.dtype == pl.String:
        distinct = as_text(sheet, name).drop_nulls().unique()
        texts = frozenset(distinct.sort().head(_MOST_TEXTS).to_list())
    return ColumnSummary(len(column), len(given), n_numbers, moments, texts, problem)


def moments_of(values: Floats) -> Moments:
    """Return the moments of finite numbers."""
    if not len(values):
        return Moments(0, np.inf, -np.inf, 0.0, 0.0)
    low, high = float(values.min()), float(values.max())
    unit = float(unit_of(low, high))
    above = values / unit - low / unit  # numbers near each other lose nothing so, however large they are
    mean, deviation = (low / unit + float(above.mean())) * unit, float(above.std()) * unit
    return Moments(len(values), low, high, mean, deviation, bool((values == np.rint(values)).all()))


def merge(name: str, parts: Sequence[ColumnSummary], sources: Sequence[str]) -> ColumnSummary:
    """Say what a column holds in all partitions together."""
    n_rows, n_given = sum(part.n_rows for part in parts), sum(part.n_given for part in parts)
    n_numbers = sum(part.n_numbers for part in parts)
    numbers = [part.moments for part in parts if part.moments is not None]
    if len(numbers) == len(parts):
        return ColumnSummary(n_rows, n_given, n_numbers, _merged(numbers), None, None)
    if any(part.texts is None and part.n_given for part in parts):
        typed = next(k for k, part in enumerate(parts) if part.texts is None and part.n_given)
        written = next(k for k, part in enumerate(parts) if part.moments is None)
        raise DataError(sources[written], f"column {name!r} holds text, and numbers in {sources[typed]}; make it one")
    problem = next((part.problem for part in parts if part.problem is not None), None)
    if problem is not None and n_numbers >= max(_AT_LEAST, _MOSTLY * n_given):
        raise problem
    texts = frozenset[str]().union(*(part.texts or () for part in parts))
    return ColumnSummary(n_rows, n_given, n_numbers, None, texts, None)


def _merged(parts: Sequence[Moments]) -> Moments:
    """Return the moments of all: the variance is that within the parts, and that between their means."""
    n = sum(part.n for part in parts)
    filled = [part for part in parts if part.n]
    if not filled:
        return parts[0]
    low, high = min(part.low for part in filled), max(part.high for part in filled)
    unit = float(unit_of(low, high))
    share = np.array([part.n / n for part in filled])
    above = np.array([part.mean for part in filled]) / unit - low / unit
    deviations = np.array([part.deviation for part in filled]) / unit
    mean = float(share @ above)
    deviation = float(np.sqrt(share @ (deviations**2 + (above - mean) ** 2)))
    are_whole = all(part.are_whole for part in filled)
    return Moments(n, low, high, (low / unit + mean) * unit, deviation * unit, are_whole)


def center_and_scale(moments: Moments) -> tuple[float, float]:
    """Return mean and standard deviation; scale 0 for a constant column."""
    if moments.n == 0 or moments.low == moments.high:
        return (moments.low if moments.n else 0.0), 0.0
    # 0.1 + 0.2 among 0.3 is no feature
    is_constant = not moments.are_whole and bool(is_rounding(moments.low, moments.high))
    return moments.mean, 0.0 if is_constant else moments.deviation
