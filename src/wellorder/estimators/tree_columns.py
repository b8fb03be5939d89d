"""What trees take: missing values, and columns of categories, whose values they see as 0, 1, 2 and so on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..spaces import is_dask
from ..state import Part, absent_or, both, checked
from ..sweeps import Floats, Ints
from .base import FLOATS, by_rows, check_dask, validate_data
from .column_places import column_places
from .monotone import read_signs, refuse_monotone

# --------------------------------------------------------------------------------------------------
# Columns of categories: their values are names, whatever numbers they are. Trees see them as 0, 1, 2, …


def learn_categories(X: Any, columns: Ints) -> dict[int, Floats]:
    """Return the values that each column of categories has, ascending; NaN is none of them."""
    if len(columns) and sp.issparse(X):
        raise ValueError("categories= needs a dense X: of a sparse one, zeros would be a category; give X.toarray()")
    return {k: _values(X[:, k]) for k in columns.tolist()}


def _values(column: Floats) -> Floats:
    return np.unique(column[~np.isnan(column)]).astype(np.float64)


def number_categories(X: Any, categories: Mapping[int, Floats], names: Any = None) -> Any:
    """Return X with its categories numbered; one that training has not seen is missing (NaN), with a warning."""
    if not categories:
        return X
    if sp.issparse(X):
        raise ValueError("the model was fitted on columns of categories, and takes no sparse X; give X.toarray()")
    out = np.array(X, order="K")
    for k, values in categories.items():
        place = np.searchsorted(values, X[:, k])
        known = place < len(values)
        known[known] = values[place[known]] == X[known, k]
        out[:, k] = np.where(known, place, np.nan)
        strange = np.flatnonzero(~known)
        strange = strange[~np.isnan(X[strange, k])]
        if len(strange):
            column, n_rows = k if names is None else names[k], len(strange)
            warnings.warn(
                f"column {column!r} has the category {X[strange[0], k]:g} (first in row {strange[0]}) that the "
                f"training data did not have: it counts as missing in {n_rows:,} row{'s' * (n_rows != 1)}",
                stacklevel=4,
            )
    return out


def categories_part() -> Part:
    """Expect what :func:`learn_categories` returns."""

    def look(given: Any) -> None:
        if type(given) is not dict or not all(type(k) is int and k >= 0 for k in given):
            raise ValueError("it is no table of columns")
        for values in given.values():
            plain = type(values) is np.ndarray and values.ndim == 1 and values.dtype == np.float64
            if not plain or not np.isfinite(values).all() or (np.diff(values) <= 0).any():
                raise ValueError("the categories of a column are not ascending numbers")

    return checked(look)


# --------------------------------------------------------------------------------------------------
# What models that may be made of trees do with X.


class TreeInput:
    """An estimator that takes missing values, and columns of categories, where it is made of trees."""

    categories: Any
    monotone: Any
    categories_: dict[int, Floats]
    n_features_in_: int

    @property
    def _is_trees(self) -> bool:
        return True

    @property
    def _takes_missing(self) -> bool:
        return self._is_trees

    @property
    def _known_categories(self) -> dict[int, Floats]:
        """The columns of categories and their values; models of older files have none."""
        return getattr(self, "categories_", {})

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check X; where trees are the model it may hold NaN."""
        finite = "allow-nan" if self._takes_missing else True
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=reset, ensure_all_finite=finite)

    def _read_columns(self, X: Any) -> Any:
        """Learn the categories of the training rows, and number them."""
        if not self._is_trees:
            if self.categories is not None:
                raise ValueError("categories= is for trees, which split such a column into two sets; leave it out")
            return X
        named = getattr(self, "feature_names_in_", None)
        columns = column_places(self.categories, "categories", X.shape[1], named)
        self.categories_ = learn_categories(X, columns)
        return number_categories(X, self.categories_)

    def _can_be_monotone(self) -> bool:
        return self._is_trees

    def _read_signs(self, X: Any) -> Ints | None:
        """Return the columns in which more must never be worse, or better; None where there are none."""
        signs = read_signs(self.monotone, X.shape[1], getattr(self, "feature_names_in_", None))
        if signs is None:
            return None
        if not self._can_be_monotone():
            raise refuse_monotone("a learner of your own")
        both = [k for k in self._known_categories if signs[k]]
        if both:
            named = getattr(self, "feature_names_in_", range(X.shape[1]))[both[0]]
            raise ValueError(f"column {named!r} is named in monotone= and in categories=: of names there is no more")
        return signs

    def _tree_scores(self, X: Any, scores: Callable[[Any], Floats]) -> Floats:
        """Apply a function of rows with their categories numbered; to a Dask array partition by partition."""
        if self._is_trees and is_dask(X):
            X = check_dask(self, X, reset=False)
            lazy: Floats = by_rows(lambda rows: self._tree_scores(rows, scores), X, holes=True)
            return lazy
        return scores(self._numbered_rows(X))

    def _numbered_rows(self, X: Any) -> Any:
        """Check rows that are not those of training, and number their categories."""
        names = getattr(self, "feature_names_in_", None)
        return number_categories(self._check_rows(X, reset=False), self._known_categories, names)

    def _tag_trees(self, tags: Any) -> Any:
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing
        tags.input_tags.categorical = self._is_trees
        return tags

    def _format_version(self) -> int:
        """Trees that were read from a file of version 1 stay what they were; rises beside bumps are of version 3."""
        held = getattr(self, "pieces_", {})
        return 3 if "sign" in held else 2 if "missing_left" in held else 1

    def _tree_state(self) -> dict[str, Part]:
        return {"categories_": absent_or(both(categories_part(), checked(self._check_categories)))}

    def _check_categories(self, given: dict[int, Floats]) -> None:
        if any(k >= self.n_features_in_ for k in given):
            raise ValueError("it names a column that is not there")
