"""From columns to numbers, the same way at training and ever after."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..suggest import suggest
from ..sweeps import Array, Floats
from ..whole_fits import WholeFit
from .codes import as_numbers, category_codes
from .frames import Columns, column_names, from_objects, is_frame, read_columns_of
from .numbered import ROUNDING, as_rows, dense, pick_columns, varying_columns, warn_beyond
from .partition_columns import ColumnSummary, center_and_scale
from .table import FeatureParts, Table

_FEW = 10
_NEARLY_ALL = 0.9
_DENSE_FROM = 0.25


class TableEncoder(TransformerMixin, WholeFit, BaseEstimator):
    r"""Turns tables into numbers that linear and kernel models can use.

    * Numbers are standardised: mean 0, standard deviation 1. A missing one becomes the training mean; a column
      with missing values in training gets a second one, ``age is missing``, of 0 and 1.
    * Text becomes one column of 0 and 1 a category (``colour=red``), categories in alphabetical order; missing is
      a category of its own (``colour is missing``) where training has seen it. A category that training has not seen
      gives zeros, and one warning a column.
    * Columns that are constant in training are left out: they cannot put one row above another.
    * Sparse input (LETOR) with less than a quarter of its entries filled stays sparse: scaled to standard deviation
      1, not centred. Denser input is treated like a table of numbers.

    Parameters
    ----------
    max_categories : int, default=100
        Most categories of a text column. One with more, or with a different value in nearly every row, is refused:
        it names the rows rather than describing them.

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

    def __init__(self, max_categories: int = 100) -> None:
        self.max_categories = max_categories

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn means, scales and categories.

        Parameters
        ----------
        X : Table, data frame, array or CSR matrix
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
        self._fit_columns(names, _read(X, names, self.layout_))
        return self

    def transform(self, X: Any) -> Any:
        """Return the numbers: float64, CSR if the training data was sparse.

        Columns that training did not have are ignored; missing ones are an error.

        Parameters
        ----------
        X : Table, data frame, array or CSR matrix
        """
        check_is_fitted(self)
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
        else:
            self._refuse_missing_columns(X)
        return self._transform_columns(_read(X, self.columns_, self.layout_))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return a name for each column of the output, such as ``ph``, ``ph is missing`` or ``colour=red``."""
        check_is_fitted(self)
        out: list[str] = []
        for column, name in enumerate(self.columns_):
            categories = self.categories_[column]
            if categories is not None:
                out += [f"{name} is missing" if value is None else f"{name}={value}" for value in categories]
                continue
            out += [name] * bool(self.scales_[column] > 0) + [f"{name} is missing"] * bool(self.flagged_[column])
        return np.array(out, dtype=object)

    def learn(self, columns: dict[str, ColumnSummary]) -> None:
        """Learn from what partitions say of their columns, merged: the same as from the columns themselves."""
        self.layout_ = "columns"
        self._begin(list(columns))
        for column, (name, found) in enumerate(columns.items()):
            n_missing = found.n_rows - found.n_given
            if found.moments is not None:
                self.centers_[column], self.scales_[column] = center_and_scale(found.moments)
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
        self.categories_: list[list[str | None] | None] = [None] * len(names)

    def _refuse_nothing(self) -> None:
        if not len(self.get_feature_names_out()):
            raise _nothing_to_learn_from(len(self.columns_))

    def _fit_columns(self, names: list[str], columns: Columns) -> None:
        self._begin(names)
        for column, (name, values) in enumerate(columns.items()):
            if values.dtype.kind == "f":
                self.centers_[column], self.scales_[column] = _center_and_scale(name, values)
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
            raise ValueError(
                f"the text column {name!r} has {len(given):,} different values in {n_given:,} rows, such as "
                f"{given[0]!r}: it names the rows rather than describing them; say item={name!r}, or leave it out with "
                f"drop={name!r} (or raise max_categories={self.max_categories})"
            )
        categories: list[str | None] = [*given, *([None] if None in distinct else [])]
        return categories if len(categories) > 1 else []

    def _transform_columns(self, columns: Columns) -> Floats:
        n_rows = len(next(iter(columns.values()))) if columns else 0
        out = np.zeros((n_rows, len(self.get_feature_names_out())))
        place = 0
        for column, (name, values) in enumerate(columns.items()):
            categories = self.categories_[column]
            if categories is not None:
                codes = category_codes(name, values, categories)
                rows = np.flatnonzero(codes >= 0)
                out[rows, place + codes[rows]] = 1.0
                place += len(categories)
                continue
            numbers = as_numbers(name, values)
            missing = np.isnan(numbers)
            if self.scales_[column] > 0:
                out[:, place] = np.where(missing, 0.0, (numbers - self.centers_[column]) / self.scales_[column])
                place += 1
            if self.flagged_[column]:
                out[:, place] = missing
                place += 1
        return out

    def _refuse_missing_columns(self, X: Any) -> None:
        if self.layout_ != "columns":
            width = X.shape[1] if getattr(X, "ndim", 0) == 2 or is_frame(X) else -1
            if width != self.n_features_in_:
                raise ValueError(f"X has {width} features, but the encoder was fitted on {self.n_features_in_}")
            return
        if not is_frame(X):
            raise ValueError("the model was fitted on named columns; give a table or a data frame with the same ones")
        present = column_names(X)
        absent = [name for name in self.columns_ if name not in set(present)]
        if absent:
            shown = ", ".join(map(repr, absent[:10])) + (", …" if len(absent) > 10 else "")
            plural = "s" * (len(absent) != 1)
            found = suggest(absent[0], present, "its columns are")
            raise ValueError(f"missing column{plural} {shown}, which the model needs; {found}")

    def _fit_sparse(self, X: sp.csr_array) -> None:
        varying, self.scales_ = varying_columns(X)
        if not len(varying):
            raise _nothing_to_learn_from(X.shape[1])
        self.columns_ = [str(number + 1) for number in varying.tolist()]
        self.n_features_in_ = int(X.shape[1])
        self.centers_ = np.zeros(len(varying))
        self.flagged_ = np.zeros(len(varying), dtype=bool)
        self.categories_ = [None] * len(varying)

    def _check_loaded(self) -> None:
        """Check what a model file has brought: every column needs its part of each list."""
        if self.layout_ not in ("columns", "array", "numbered", "sparse") or type(self.n_features_in_) is not int:
            raise ValueError(f"layout_ is {self.layout_!r}")
        if not isinstance(self.columns_, list) or not all(isinstance(name, str) for name in self.columns_):
            raise ValueError("the columns' names are not text")
        n = len(self.columns_)
        if len(set(self.columns_)) < n:  # columns are read by name: those behind the second would take its place
            raise ValueError("two columns have the same name")
        if self.layout_ in ("numbered", "sparse"):
            bounds = [0, *map(int, self.columns_), min(self.n_features_in_, 2**62) + 1]  # 64 bits hold them
            if any(after <= before for before, after in pairwise(bounds)):
                raise ValueError("the numbers of the features do not ascend from 1")
        for name, kind in (("centers_", "f"), ("scales_", "f"), ("flagged_", "b")):
            part = getattr(self, name)
            if not isinstance(part, np.ndarray) or part.shape != (n,) or part.dtype.kind != kind:
                raise ValueError(f"{name} does not have one entry a column")
        if not np.isfinite(self.centers_).all() or not (np.isfinite(self.scales_) & (self.scales_ >= 0)).all():
            raise ValueError("the means or scales are not finite")
        if not isinstance(self.categories_, list) or len(self.categories_) != n:
            raise ValueError("categories_ does not have one entry a column")
        for categories in self.categories_:
            if categories is None:
                continue
            if not isinstance(categories, list) or not all(isinstance(value, str | None) for value in categories):
                raise ValueError("the categories of a column are not text")
            if len(set(categories)) < len(categories):
                raise ValueError("a column has the same category twice")


def _nothing_to_learn_from(n_features: int) -> ValueError:
    what = "every feature is constant" if n_features else "there is no feature"
    return ValueError(f"{what}: there is nothing to put rows in order by")


def _features(X: Any) -> Any:
    return X.X if isinstance(X, Table) else X


def _layout_of(X: Any) -> str:
    if sp.issparse(X):
        filled = X.nnz / max(1, X.shape[0] * X.shape[1])
        return "sparse" if filled < _DENSE_FROM else "numbered"
    return "columns" if is_frame(X) else "array"


def _names(X: Any, layout: str) -> list[str]:
    if layout == "columns":
        return column_names(X)
    X = np.asarray(X) if layout == "array" else X
    if X.ndim != 2:
        raise ValueError(f"expected a table or a 2d array, got an array of shape {X.shape}")
    return [f"x{number}" if layout == "array" else str(number + 1) for number in range(X.shape[1])]


def _read(X: Any, names: list[str], layout: str) -> Columns:
    """Return the columns under their names."""
    if is_frame(X):
        return read_columns_of(X, names if layout == "columns" else column_names(X))
    array = np.asarray(X)
    if array.dtype.kind in "biuf":
        return dict(zip(names, np.asarray(array, dtype=np.float64).T, strict=True))
    objects = np.asarray(X, dtype=object)
    return {name: from_objects(objects[:, column]) for column, name in enumerate(names)}


def _center_and_scale(name: str, values: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of what is given; scale 0 for a constant column."""
    given = values[~np.isnan(values)]
    if np.isinf(given).any():
        row = int(np.argmax(np.isinf(values)))
        raise ValueError(f"column {name!r} is infinite in row {row}; give a finite number, or leave it missing")
    if not len(given) or given.min() == given.max():
        return (float(given[0]) if len(given) else 0.0), 0.0
    largest = float(np.abs(given).max())
    shares = given / largest  # squares of 1e200 do not overflow
    deviation = float(shares.std())
    # 0.1 + 0.2 among 0.3 is no feature
    return float(shares.mean()) * largest, deviation * largest if deviation > ROUNDING else 0.0
