"""From columns to numbers, the same way at training and ever after."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Sequence
from itertools import pairwise, repeat
from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
import scipy.sparse as sp
from narwhals.dependencies import is_pandas_dataframe, is_polars_dataframe
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..memory import available_bytes
from ..order import own_order
from ..spaces import each_entry_once
from ..state import (
    ANY,
    Part,
    Stored,
    absent_or,
    both,
    checked,
    flags,
    floats,
    list_of,
    none_or,
    of,
    one_of,
    refuse_twice,
    text,
)
from ..suggest import suggest
from ..sweeps import Array, Bools, Floats, Ints
from ..writing import counted
from .lines import COPIES, DataError, Places, name_place, row_error
from .rows import ArrayRows, FrameRows, Records, Rows, is_records, read_values
from .sheet import Sheet, as_text, nearly_numbers, one_line, settle, settle_as_text
from .table import FeatureParts, Table

# --------------------------------------------------------------------------------------------------
# Tables with named columns, read the same way: numbers with NaN, or text with None, where missing.


def is_frame(X: Any) -> bool:
    """Say whether this is a table with named columns: ours, of polars, of pandas or the like."""
    if isinstance(X, Table):
        return isinstance(X.X, pl.DataFrame)
    if is_pandas_dataframe(X) or is_polars_dataframe(X):
        return True
    return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame)


def names_columns(X: Any) -> bool:
    """Say whether this is a table with named columns, or a list of dicts, which is read as one."""
    return is_records(X) or is_frame(X)


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a frame, or of a list of dicts, as text."""
    return Records(X).columns if is_records(X) else FrameRows(X.X if isinstance(X, Table) else X).columns


def read_columns_of(X: Any, names: list[str]) -> dict[str, Array]:
    """Read some columns of a frame: float64 arrays (numbers), or arrays of str and None (categories)."""
    rows = FrameRows(X.X if isinstance(X, Table) else X)
    return {name: rows.column(name) for name in names}


def to_polars(X: Any) -> pl.DataFrame:
    """Return any frame, or list of dicts, as polars holds it: Float64 and String columns."""
    if is_records(X):
        rows = Records(X)
        return pl.DataFrame([to_series(name, rows.column(name)) for name in rows.columns])
    frame = _frame(X)
    return pl.DataFrame([_to_polars(str(name), frame[name]) for name in frame.columns])


def _to_polars(name: str, series: nw.Series[Any]) -> pl.Series:
    native = series.to_native()
    if isinstance(native, pl.Series) and native.dtype == pl.String and native.null_count() < len(native):
        return native  # text is there already
    return to_series(name, read_values(series))


def sheet_of(X: Any) -> Sheet:
    """Return a frame as a file that was read."""
    return Sheet((("the data frame", 0),), to_polars(X))


def own_levels(X: Any, target: str | None) -> tuple[Hashable, ...] | None:
    """Return the levels of a frame's column, from worst to best, where it has an order of its own; else None."""
    own = own_order(X[target]) if is_frame(X) and target in column_names(X) else None
    return own[0] if own is not None and own[1] else None


def to_series(name: str, values: Array) -> pl.Series:
    """Return one column as polars holds it."""
    if values.dtype.kind == "f":
        return pl.Series(name, values, dtype=pl.Float64, nan_to_null=True)
    return pl.Series(name, values.tolist(), dtype=pl.String)


def _frame(X: Any) -> nw.DataFrame[Any]:
    return nw.from_native(X.X if isinstance(X, Table) else X, eager_only=True)


# --------------------------------------------------------------------------------------------------
# Numbered features (LETOR): sparse matrices, brought to the width and form that a model knows.


_ROUNDED = 4
"""Numbers that differ by no more units in the last place may be the same number, rounded differently."""


def as_rows(X: Any) -> sp.csr_array:
    """Return numbered features as a CSR array of finite numbers, each entry once."""
    if not sp.issparse(X) and not (isinstance(X, np.ndarray) and X.ndim == 2):
        raise ValueError("the model was fitted on numbered features (LETOR); give a CSR matrix or a LETOR file")
    matrix = sp.csr_array(X, dtype=np.float64)
    if not np.isfinite(matrix.data).all():
        raise ValueError("a feature is infinite or not a number; give finite numbers")
    return each_entry_once(matrix)


def warn_beyond(X: sp.csr_array, width: int) -> None:
    """Warn of features that the training data did not reach: they are ignored."""
    if X.shape[1] <= width:
        return
    beyond = np.unique(X.indices[(X.indices >= width) & (X.data != 0)])
    if len(beyond):
        warnings.warn(
            f"{counted(len(beyond), 'feature')} beyond number {width:,} (first {beyond[0] + 1:,}), of which the "
            "training data had none: ignored",
            stacklevel=4,
        )


def pick_columns(X: sp.csr_array, columns: Ints) -> sp.csr_array:
    """Return some columns (ascending numbers); those that X does not reach are zero.

    Takes time and memory by the entries, not by the width: a file can name feature 2,000,000,000.
    """
    if not len(columns):
        return sp.csr_array((X.shape[0], 0))
    place = np.minimum(np.searchsorted(columns, X.indices), len(columns) - 1)
    kept = columns[place] == X.indices
    counts = np.append(0, np.cumsum(kept))[X.indptr]
    return sp.csr_array((X.data[kept], place[kept], counts), shape=(X.shape[0], len(columns)))


def dense(X: sp.csr_array) -> Floats:
    """Return a sparse matrix as an array, if it fits into memory."""
    free, needed = available_bytes(), X.shape[0] * X.shape[1] * 8 * COPIES
    if free is not None and needed > free:
        raise MemoryError(
            f"{X.shape[0]:,} rows of {X.shape[1]:,} features need about {needed / 1e9:.1f} GB of memory, and "
            f"{free / 1e9:.1f} GB are free; use fewer rows or features"
        )
    return np.asarray(X.toarray(), dtype=np.float64)


def is_rounding(low: Any, high: Any) -> Any:
    """Say whether numbers lie so near each other that rounding can have parted them, as 0.1 + 0.2 and 0.3.

    Whole numbers are not rounded, however large: whether those differ, the caller has to look.
    """
    with np.errstate(over="ignore"):
        return high - low <= _ROUNDED * np.spacing(np.maximum(np.abs(low), np.abs(high)))


def unit_of(low: Any, high: Any) -> Any:
    """Return the power of two next below the largest number: in such units nothing is rounded, and no square overflows.

    Examples
    --------
    >>> from wellorder.data.encode import unit_of
    >>> [float(unit_of(low, high)) for low, high in ((0.0, 5.0), (-100.0, 1.0), (0.0, 0.0))]
    [4.0, 64.0, 0.5]
    """
    return np.ldexp(0.5, np.frexp(np.maximum(np.abs(low), np.abs(high)))[1])


class _Spread(NamedTuple):
    """The columns of a sparse matrix that have an entry, and from where to where each reaches, its zeros included."""

    used: Ints
    place: Ints  # of each entry among these columns
    n_zero: Ints  # rows without an entry
    low: Floats
    high: Floats

    def varies(self, X: sp.csr_array) -> Bools:
        """Say which columns are not constant, but for rounding."""
        varies = self.low < self.high
        near = varies & is_rounding(self.low, self.high)
        if near.any():
            entries = np.flatnonzero(near[self.place])
            is_broken = X.data[entries] != np.rint(X.data[entries])
            varies &= ~near | (np.bincount(self.place[entries], is_broken, len(varies)) == 0)
        return varies


def _spread_of(X: sp.csr_array) -> _Spread:
    """Look through all entries once; O(entries), or with few entries in a wide matrix O(entries log entries)."""
    n_rows, width = X.shape
    if width <= X.nnz:
        used, place = np.arange(width), X.indices
    else:
        used, place = np.unique(X.indices, return_inverse=True)
    n_zero = n_rows - np.bincount(place, minlength=len(used))
    low, high = np.where(n_zero > 0, 0.0, np.inf), np.where(n_zero > 0, 0.0, -np.inf)
    np.minimum.at(low, place, X.data)
    np.maximum.at(high, place, X.data)
    return _Spread(used, place, n_zero, low, high)


def varying_columns(X: sp.csr_array) -> tuple[Ints, Floats, Floats, Floats]:
    """Return the columns that are not constant: their standard deviations, lowest and highest, zeros included."""
    spread = _spread_of(X)
    n_rows, n, place = X.shape[0], len(spread.used), spread.place
    unit = unit_of(spread.low, spread.high)
    zero = -(spread.low / unit)  # above the lowest, in these units; numbers near each other lose nothing so
    above = X.data / unit[place] + zero[place]
    mean = (np.bincount(place, above, n) + spread.n_zero * zero) / n_rows
    squares = np.bincount(place, (above - mean[place]) ** 2, n) + spread.n_zero * (zero - mean) ** 2
    varies = spread.varies(X)
    deviation = np.sqrt(squares / n_rows) * unit
    return spread.used[varies].astype(np.int64), deviation[varies], spread.low[varies], spread.high[varies]


def constant_columns(X: sp.csr_array, most: int) -> tuple[int, Ints]:
    """Count the columns that never change, those without an entry too, and return the first few of them.

    Takes time and memory by the entries, not by the width.
    """
    spread = _spread_of(X)
    varying = spread.used[spread.varies(X)]
    # so many numbers from 0 have at least as many among them that do not vary as are asked for, or as there are
    first = np.setdiff1d(np.arange(min(X.shape[1], len(varying) + most)), varying)[:most]
    return X.shape[1] - len(varying), first


# --------------------------------------------------------------------------------------------------
# Categories as numbers, and columns that were numbers in training as such again.


def category_codes(
    name: str,
    values: Array,
    categories: list[str | None],
    places: Places | None = None,
    *,
    otherwise: str = "none of its categories fits",
) -> Ints:
    """Return the number of each row's category; −1, with one warning, for one that training has not seen."""
    code_of: dict[Any, int] = {value: code for code, value in enumerate(categories)}
    if values.dtype.kind == "f":  # 4 and 5 of {4, 5, more}: a data frame without 'more' holds numbers
        code_of = _codes_by_number(name, values, categories)
        entries = [None if value != value else value for value in values.tolist()]
    else:
        entries = values.tolist()
    codes = np.fromiter(map(code_of.get, entries, repeat(-1)), np.int64, len(entries))
    if categories and (codes < 0).any():
        row = int(np.argmax(codes < 0))
        shown = "a missing value" if entries[row] is None else f"the value {entries[row]!r}"
        n_rows = int(np.count_nonzero(codes < 0))
        warnings.warn(
            f"column {name!r} has {shown} (first in {name_place(places, row)}) that the training data did not have: "
            f"{otherwise} in {n_rows:,} row{'s' * (n_rows != 1)}",
            stacklevel=4,
        )
    return codes


def _codes_by_number(name: str, values: Floats, categories: list[str | None]) -> dict[Any, int]:
    """Return the codes of categories, by number where they are such; a number that may be either of two is refused."""
    code_of: dict[Any, int] = {}
    for code, value in enumerate(categories):
        number = _number_or_itself(value)
        if number in code_of and (values == number).any():
            raise ValueError(
                f"column {name!r} held text in the training data, and its number {number:g} may be the category "
                f"{categories[code_of[number]]!r} or {value!r}; give the column as text"
            )
        code_of[number] = code
    return code_of


def _number_or_itself(value: str | None) -> Any:
    try:
        return None if value is None else float(value)
    except ValueError:
        return value


def as_numbers(name: str, values: Array, places: Places | None = None) -> Floats:
    """Return a column that was numbers in training as numbers."""
    if values.dtype.kind == "f":
        return values
    numbers = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        try:
            numbers[row] = np.nan if value is None else float(value)
        except ValueError:
            problem = f"column {name!r} held numbers in the training data, and has {value!r} here; correct it"
            raise row_error(places, problem, row) from None
    return numbers


# --------------------------------------------------------------------------------------------------
# One partition of a table: what its columns hold, in numbers small enough to travel, and the partition encoded.


_MOST_TEXTS = 10_000
"""A partition tells of at most this many different texts of a column, far more than are accepted as categories."""


class Moments(NamedTuple):
    """What must be known of numbers to standardise them."""

    n: int
    low: float
    high: float
    mean: float
    deviation: float
    are_whole: bool = True


class ColumnSummary(NamedTuple):
    """What a column holds in one partition."""

    n_rows: int
    n_given: int
    n_numbers: int
    moments: Moments | None
    """None if some of the column is not a number."""
    texts: frozenset[str] | None
    """The different texts; None where the file itself says that these are numbers."""
    problem: DataError | None
    """Why the column would be refused if this partition were all there is."""


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
    if problem is not None and nearly_numbers(n_numbers, n_given):
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


# --------------------------------------------------------------------------------------------------
# What of a table a model was never taught.


class Unfamiliar(NamedTuple):
    """Rows of which one column holds what training has not seen."""

    column: str
    kind: Literal["missing", "unseen", "beyond"]
    """A missing value, a category that training did not have, or a number outside the training range."""
    rows: Ints
    detail: str
    """The categories, or the training range; empty for missing values."""


_NAMED = 3
"""At most this many categories are named."""


def _some(column: str, kind: Literal["missing", "unseen", "beyond"], mask: Bools, detail: str) -> list[Unfamiliar]:
    return [Unfamiliar(column, kind, np.flatnonzero(mask), detail)] if mask.any() else []


def _unseen(name: str, values: Array, categories: list[str | None]) -> list[Unfamiliar]:
    """Find categories of a text column that training did not have; a column that was constant there is skipped."""
    if not categories:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # who asks is told
        codes = category_codes(name, values, categories)
    missing = np.array([value is None or value != value for value in values.tolist()], dtype=bool)
    strange = (codes < 0) & ~missing
    named = list(dict.fromkeys(str(value) for value in values[strange].tolist()))
    detail = ", ".join(named[:_NAMED]) + (", …" if len(named) > _NAMED else "")
    return _some(name, "missing", missing, "") + _some(name, "unseen", strange, detail)


# --------------------------------------------------------------------------------------------------
# The encoder.


_FEW = 10
_NEARLY_ALL = 0.9
_DATE = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}\b")
_DENSE_FROM = 0.25


class TableEncoder(Stored, TransformerMixin, BaseEstimator):
    r"""Turns tables into numbers that linear and kernel models can use.

    * Numbers are standardised: mean 0, standard deviation 1. A missing one becomes the training mean; a column
      with missing values in training gets a second one, ``age is missing``, of 0 and 1.
    * Text becomes one column of 0 and 1 a category (``colour=red``), categories in alphabetical order; missing is
      a category of its own (``colour is missing``) where training has seen it. A category that training has not seen
      gives zeros, and one warning a column.
    * Columns that are constant in training are left out: they cannot put one row above another.
    * Sparse input (LETOR) with less than a quarter of its entries filled stays sparse: scaled to standard deviation
      1, not centred. Denser input is treated like a table of numbers.

    Trees need none of this: for them numbers stay as they are, missing ones are NaN, and a column of text becomes one
    of the numbers of its categories, 0, 1, …, where a category that training has not seen is NaN as well.

    Parameters
    ----------
    max_categories : int, default=100
        Most categories of a text column. One with more, or with a different value in nearly every row, is refused:
        it names the rows rather than describing them.
    for_trees : bool, default=False
        Whether to make what trees take.

    Attributes
    ----------
    layout_ : {"columns", "array", "numbered", "sparse"}
        What was learned from: named columns, an array, or numbered features (made dense, or kept sparse).
    n_features_in_ : int
        How many columns there were.
    columns_ : list of str
        Their names: "1", "2", … for numbered features (if sparse, only those that are not constant), "x0",
        "x1", … for an array.
    centers_, scales_ : arrays, one entry a name
        Mean and standard deviation; 0 and 1 for text, scale 0 for a constant column.
    flagged_ : array of bool
        Which columns have an ``is missing`` beside them.
    categories_ : list
        For each column its categories (None: missing), or None for numbers.
    lows_, highs_ : arrays, one entry a name
        The lowest and the highest number that training had; 0 for text. Files of older versions have none.

    Examples
    --------
    >>> import polars as pl
    >>> from wellorder.data import TableEncoder
    >>> wines = pl.DataFrame({"ph": [3.0, None, 3.4], "colour": ["red", "white", "red"]})
    >>> encoder = TableEncoder().fit(wines)
    >>> encoder.get_feature_names_out().tolist()
    ['ph', 'ph is missing', 'colour=red', 'colour=white']
    >>> encoder.transform(wines).round(1).tolist()
    [[-1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]]
    """

    layout_: str
    columns_: list[str]
    centers_: Floats
    scales_: Floats
    flagged_: Bools
    categories_: list[list[str | None] | None]
    lows_: Floats
    highs_: Floats

    def __init__(self, max_categories: int = 100, *, for_trees: bool = False) -> None:
        self.max_categories = max_categories
        self.for_trees = for_trees

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn means, scales and categories.

        Parameters
        ----------
        X : Table, data frame, list of dicts, array or CSR matrix
        y : ignored
        """
        X = _features(X)
        if isinstance(X, FeatureParts):
            X.teach(self)
            return self
        self.layout_ = _layout_of(X)
        if self.layout_ == "sparse":
            self._fit_sparse(as_rows(X))
            return self
        if self.layout_ == "numbered":
            X = dense(as_rows(X))
        names = _names(X, self.layout_)
        self._fit_columns(names, _rows_of(X, names))
        return self

    def transform(self, X: Any) -> Any:
        """Return the numbers: float64, CSR if the training data was sparse.

        Columns that training did not have are ignored; missing ones are an error.

        Parameters
        ----------
        X : Table, data frame, list of dicts, array or CSR matrix
        """
        check_is_fitted(self)
        places = X.places if isinstance(X, Table) else None
        X = _features(X)
        if isinstance(X, FeatureParts):
            return X.encoded(self)
        if self.layout_ in ("sparse", "numbered"):
            rows = as_rows(X)
            warn_beyond(rows, self.n_features_in_)
            picked = pick_columns(rows, np.array(self.columns_, dtype=np.int64) - 1)
            if self.layout_ == "sparse":
                return sp.csr_array(
                    (picked.data / self.scales_[picked.indices], picked.indices, picked.indptr), picked.shape
                )
            X = dense(picked)
        elif sp.issparse(X):
            raise ValueError("the model was fitted on named columns, and these are numbered features (LETOR)")
        return self._transform_rows(self._familiar(X), places)

    def unfamiliar(self, X: Any) -> list[Unfamiliar]:
        """Say what of a table training has not seen: missing values, other categories, numbers beyond its range.

        Columns that are constant in training are not looked at: the model does not look at them either. Of numbered
        features, a sparse file gives no missing ones.

        Parameters
        ----------
        X : Table, data frame, list of dicts, array or CSR matrix
        """
        check_is_fitted(self)
        X = _features(X)
        if self.layout_ in ("sparse", "numbered"):
            picked = pick_columns(as_rows(X), np.array(self.columns_, dtype=np.int64) - 1).tocsc()
            columns: Any = ((name, picked[:, [k]].toarray().ravel()) for k, name in enumerate(self.columns_))
        else:
            rows = self._familiar(X)
            columns = ((name, rows.column(name)) for name in self._names_in(rows))
        lows, highs = getattr(self, "lows_", None), getattr(self, "highs_", None)
        found: list[Unfamiliar] = []
        for column, ((_, values), name) in enumerate(zip(columns, self.columns_, strict=True)):
            categories = self.categories_[column]
            if categories is not None:
                found += _unseen(name, values, categories)
            elif self.scales_[column] > 0 or self.flagged_[column]:
                numbers = as_numbers(name, values)
                found += _some(name, "missing", np.isnan(numbers), "")
                if lows is not None and highs is not None:
                    low, high = float(lows[column]), float(highs[column])
                    within = f"{low:.4g} to {high:.4g}"
                    with np.errstate(invalid="ignore"):
                        found += _some(name, "beyond", (numbers < low) | (numbers > high), within)
        return found

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return a name for each column of the output, such as ``ph``, ``ph is missing`` or ``colour=red``."""
        check_is_fitted(self)
        if self.for_trees:
            return np.array([name for name, width in zip(self.columns_, self.widths(), strict=True) if width], object)
        out: list[str] = []
        for column, name in enumerate(self.columns_):
            categories = self.categories_[column]
            if categories is not None:
                out += [f"{name} is missing" if value is None else f"{name}={value}" for value in categories]
                continue
            out += [name] * bool(self.scales_[column] > 0) + [f"{name} is missing"] * bool(self.flagged_[column])
        return np.array(out, dtype=object)

    def widths(self) -> list[int]:
        """Return how many columns of the output each column of the table becomes."""
        columns = zip(self.scales_.tolist(), self.flagged_.tolist(), self.categories_, strict=True)
        widths = [
            int(scale > 0) + int(flagged) if categories is None else len(categories)
            for scale, flagged, categories in columns
        ]
        return [min(width, 1) for width in widths] if self.for_trees else widths

    def category_places(self) -> list[int]:
        """Return which columns of the output hold the numbers of categories; only trees take such."""
        widths, columns = self.widths(), enumerate(self.categories_)
        return [sum(widths[:k]) for k, categories in columns if self.for_trees and categories]

    def learn(self, columns: dict[str, ColumnSummary]) -> None:
        """Learn from the merged summaries of all partitions, which gives the same as learning from the columns."""
        self.layout_ = "columns"
        self._begin(list(columns))
        for column, (name, found) in enumerate(columns.items()):
            n_missing = found.n_rows - found.n_given
            if found.moments is not None:
                self._learn_numbers(column, found.moments)
                self.flagged_[column] = 0 < n_missing < found.n_rows
            else:
                distinct = {*(found.texts or ()), *([None] if n_missing else [])}
                self.categories_[column] = self._find_categories(name, distinct, found.n_given)
        self._refuse_nothing()

    def _begin(self, names: list[str]) -> None:
        self.columns_ = names
        self.n_features_in_ = len(names)
        self.centers_ = np.zeros(len(names))
        self.scales_ = np.ones(len(names))
        self.flagged_ = np.zeros(len(names), dtype=bool)
        self.categories_ = [None] * len(names)
        self.lows_, self.highs_ = np.zeros((2, len(names)))

    def _learn_numbers(self, column: int, moments: Moments) -> None:
        self.centers_[column], self.scales_[column] = center_and_scale(moments)
        if moments.n:
            self.lows_[column], self.highs_[column] = moments.low, moments.high

    def _refuse_nothing(self) -> None:
        if not len(self.get_feature_names_out()):
            raise _nothing_to_learn_from(len(self.columns_))

    def _fit_columns(self, names: list[str], rows: Rows) -> None:
        self._begin(names)
        for column, name in enumerate(names):
            values = rows.column(name)
            if values.dtype.kind == "f":
                self._learn_numbers(column, _moments(name, values))
                missing = np.isnan(values)
                self.flagged_[column] = missing.any() and not missing.all()
            else:
                n_given = sum(value is not None for value in values)
                self.categories_[column] = self._find_categories(name, set(values), n_given)
        self._refuse_nothing()

    def _find_categories(self, name: str, distinct: set[str | None], n_given: int) -> list[str | None]:
        """Return the categories of a text column, or refuse one that names its rows; none if it is constant."""
        given = sorted(value for value in distinct if value is not None)
        if len(given) > self.max_categories or len(given) > max(_FEW, _NEARLY_ALL * n_given):
            if all(_DATE.match(value) for value in given):
                raise ValueError(
                    f"the column {name!r} holds {len(given):,} dates, such as {given[0]!r}, which are no categories: "
                    f"put numbers in their place (the month, days since some day), or leave it out with drop={name!r}"
                )
            raise ValueError(
                f"the text column {name!r} has {len(given):,} different values in {n_given:,} rows, such as "
                f"{given[0]!r}: it names the rows rather than describing them; say item={name!r}, or leave it out with "
                f"drop={name!r} (or raise max_categories={self.max_categories})"
            )
        categories: list[str | None] = [*given, *([None] if None in distinct else [])]
        return categories if len(categories) > 1 else []

    def _transform_rows(self, rows: Rows, places: Places | None) -> Floats:
        """Encode rows: plain numbers all at once, and what needs a closer look column by column."""
        names, widths = self._names_in(rows), self.widths()
        used = [column for column, width in enumerate(widths) if width or not self.for_trees]
        held = [column for column in used if self.categories_[column] is None]
        numbers, unread = rows.numbers([names[column] for column in held])
        codes, place_of = dict[int, Ints](), dict(zip(held, range(len(held)), strict=True))
        for column in sorted({*used} - {*held} | {held[place] for place in unread}):
            values, categories = rows.column(names[column]), self.categories_[column]
            if categories is None:
                numbers[:, place_of[column]] = as_numbers(names[column], values, places)
            elif not self.for_trees:
                codes[column] = category_codes(names[column], values, categories, places)
            else:  # a missing one is no category
                given = [value for value in categories if value is not None]
                found = category_codes(names[column], values, [*given, None], places, otherwise="it counts as missing")
                codes[column] = np.where(found == len(given), -1, found)
        out, starts = np.zeros((len(rows), sum(widths))), np.cumsum([0, *widths])[:-1]
        fill = self._fill_for_trees if self.for_trees else self._fill_standardised
        fill(out, starts, np.array(held, dtype=int), numbers, codes)
        self._refuse_infinite(out, rows, places)
        return out

    def _fill_standardised(
        self, out: Floats, starts: Ints, held: Ints, numbers: Floats, codes: dict[int, Ints]
    ) -> None:
        """Put standardised numbers, where they are missing, and zeros and ones for categories into ``out``."""
        missing, varying, flagged = np.isnan(numbers), self.scales_[held] > 0, self.flagged_[held]
        with np.errstate(over="ignore"):  # refused below
            scaled = (numbers - self.centers_[held])[:, varying] / self.scales_[held[varying]]
        out[:, starts[held[varying]]] = np.where(missing[:, varying], 0.0, scaled)
        out[:, (starts[held] + varying)[flagged]] = missing[:, flagged]
        for column, code in codes.items():
            known = np.flatnonzero(code >= 0)
            out[known, starts[column] + code[known]] = 1.0

    def _fill_for_trees(self, out: Floats, starts: Ints, held: Ints, numbers: Floats, codes: dict[int, Ints]) -> None:
        """Put numbers as they are, and numbers of categories, into ``out``; NaN where missing."""
        out[:, starts[held]] = numbers
        for column, code in codes.items():
            out[:, starts[column]] = np.where(code < 0, np.nan, code)

    def _refuse_infinite(self, out: Floats, rows: Rows, places: Places | None) -> None:
        """Refuse numbers that are infinite, or become so; for trees a missing one is NaN."""
        bad = np.isinf(out) if self.for_trees else ~np.isfinite(out)
        if not bad.any():
            return
        # trees are told of the first column that has some, other models of the first row
        row, place = np.argwhere(bad.T)[0][::-1].tolist() if self.for_trees else np.argwhere(bad)[0].tolist()
        name = self._names_in(rows)[int(np.searchsorted(np.cumsum(self.widths()), place, side="right"))]
        value = rows.column(name)[row]
        problem = f"is {value} here, which is too large beside the training data"
        if self.for_trees:
            problem = f"is {float(value)} here; give a finite number"
        raise row_error(places, f"column {name!r} {problem}", row)

    def _names_in(self, rows: Rows) -> list[str]:
        """Return the names of the columns that were learned, as they are called in a table."""
        return self.columns_ if self.layout_ == "columns" else rows.columns

    def _familiar(self, X: Any) -> Rows:
        """Return rows that have the columns that training had, or say what they lack."""
        if self.layout_ != "columns":
            width = X.shape[1] if getattr(X, "ndim", 0) == 2 or is_frame(X) else -1
            if width != self.n_features_in_:
                raise ValueError(f"X has {width} features, but the encoder was fitted on {self.n_features_in_}")
            return _rows_of(X, self.columns_)
        if not names_columns(X):
            raise ValueError(
                "the model was fitted on named columns; give a table, a data frame or a list of dicts with the same "
                "ones"
            )
        rows = _rows_of(X, self.columns_)
        if not rows.has(self.columns_):
            present = rows.columns
            absent = [name for name in self.columns_ if name not in {*present}]
            shown = ", ".join(map(repr, absent[:10])) + (", …" if len(absent) > 10 else "")
            plural = "s" * (len(absent) != 1)
            found = suggest(absent[0], present, "its columns are")
            raise ValueError(f"missing column{plural} {shown}, which the model needs; {found}")
        return rows

    def _fit_sparse(self, X: sp.csr_array) -> None:
        varying, self.scales_, self.lows_, self.highs_ = varying_columns(X)
        if not len(varying):
            raise _nothing_to_learn_from(X.shape[1])
        self.columns_ = [str(number + 1) for number in varying.tolist()]
        self.n_features_in_ = int(X.shape[1])
        self.centers_ = np.zeros(len(varying))
        self.flagged_ = np.zeros(len(varying), dtype=bool)
        self.categories_ = [None] * len(varying)

    def _check_parameters(self) -> None:
        if not isinstance(self.for_trees, bool):
            raise ValueError(f"for_trees must be True or False, got {self.for_trees!r}")

    def _format_version(self) -> int:
        return 2 if self.for_trees else 1

    def _fitted_state(self) -> dict[str, Part]:
        wide = getattr(self, "layout_", None) == "sparse"  # names only the columns that are not constant
        n = "c" if wide else "d"
        categories = both(list_of(none_or(of(str, "text")), ANY), checked(refuse_twice))
        return super()._fitted_state() | {
            "layout_": one_of("columns", "array", "numbered", "sparse"),
            "columns_": both(list_of(text(), n), checked(self._check_columns)),
            "centers_": floats(n),
            "scales_": floats(n, low=0.0),
            "flagged_": flags(n),
            "categories_": list_of(none_or(categories), n),
            "lows_": absent_or(floats(n)),  # files of older versions have none
            "highs_": absent_or(floats(n)),
        }

    def _check_columns(self, names: list[str]) -> None:
        refuse_twice(names)  # columns are read by name: those behind the second would take its place
        if self.layout_ in ("numbered", "sparse"):
            bounds = [0, *map(int, names), min(self.n_features_in_, 2**62) + 1]  # 64 bits hold them
            if any(after <= before for before, after in pairwise(bounds)):
                raise ValueError("the numbers of the features do not ascend from 1")


def _nothing_to_learn_from(n_features: int) -> ValueError:
    what = "every feature is constant" if n_features else "there is no feature"
    return ValueError(f"{what}: there is nothing to put rows in order by")


def _features(X: Any) -> Any:
    return X.X if isinstance(X, Table) else X


def _layout_of(X: Any) -> str:
    if sp.issparse(X):
        filled = X.nnz / max(1, X.shape[0] * X.shape[1])
        return "sparse" if filled < _DENSE_FROM else "numbered"
    return "columns" if names_columns(X) else "array"


def _names(X: Any, layout: str) -> list[str]:
    if layout == "columns":
        return column_names(X)
    X = np.asarray(X) if layout == "array" else X
    if X.ndim != 2:
        raise ValueError(f"expected a table or a 2d array, got an array of shape {X.shape}")
    return [f"x{number}" if layout == "array" else str(number + 1) for number in range(X.shape[1])]


def _rows_of(X: Any, names: list[str]) -> Rows:
    """Return rows, however they come; the columns of an array are given names."""
    if is_records(X):
        return Records(X)
    return FrameRows(X) if is_frame(X) else ArrayRows(X, names)


def _moments(name: str, values: Floats) -> Moments:
    """Return the moments of the numbers that are not missing."""
    given = values[~np.isnan(values)]
    if np.isinf(given).any():
        row = int(np.argmax(np.isinf(values)))
        raise ValueError(f"column {name!r} is infinite in row {row}; give a finite number, or leave it missing")
    return moments_of(given)
