"""A ranker for tables: the encoding of the columns and the ranker that was fitted on it, as one model."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..order.columns import own_order
from ..suggest import suggest
from ..sweeps import Array, Ints
from .encode import TableEncoder
from .frames import column_names, is_frame, to_polars
from .roles import Roles, make_table, read_groups, read_names
from .sheet import Sheet
from .table import ComparisonTable, Table

_ROUNDING = 1e-9
"""How far beyond 0 and 1 interpolation may have put a share."""


class TableRanker(BaseEstimator):
    r"""A ranker that takes tables as they were read, and remembers how their columns became numbers.

    Fitting equals encoding the table with :class:`TableEncoder` and fitting the ranker on the result, with the
    table's groups, weights and levels.

    Parameters
    ----------
    ranker : estimator
        Any ranker, such as ``RankSVM()``. It is cloned.
    target, group, item, weight : str, optional
        The columns of a data frame with grades, groups, names and weights. A table that was read from a file has
        them already.
    levels : sequence, optional
        The grades from worst to best, where they are text.

    Attributes
    ----------
    ranker_ : estimator
        The fitted ranker.
    encoder_ : TableEncoder or None
        How columns become numbers; None for comparisons of items without features.
    supervision_ : {"grades", "comparisons"}
    items_ : list of str or None
        The items' names, where each has a rating of its own: such a model scores by name.
    target_, group_, item_, weight_ : str or None
        The columns in the training data.
    levels_ : list or None
        The declared levels.
    spread_ : float
        Standard deviation of the training scores.
    resolution_ : None or a pair of arrays
        What score differences mean, where it was estimated.

    Examples
    --------
    >>> import polars as pl
    >>> import wellorder as wo
    >>> from wellorder.data import TableRanker
    >>> wines = pl.DataFrame({"ph": [3.0, 3.1, 3.4], "colour": ["red", "white", "red"], "quality": [4, 5, 6]})
    >>> model = TableRanker(wo.RankSVM(), target="quality").fit(wines)
    >>> model.decision_function(wines).argsort().tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        ranker: Any,
        target: str | None = None,
        group: str | None = None,
        item: str | None = None,
        weight: str | None = None,
        levels: Iterable[Hashable] | None = None,
    ) -> None:
        self.ranker = ranker
        self.target = target
        self.group = group
        self.item = item
        self.weight = weight
        self.levels = levels

    def fit(self, X: Any, y: Any = None) -> TableRanker:
        """Fit the encoder and the ranker.

        Parameters
        ----------
        X : Table, ComparisonTable or data frame
            A data frame needs ``target``.
        y : ignored
            The grades are in the table.
        """
        if isinstance(X, ComparisonTable):
            scores = self._fit_comparisons(X)
            table = X.items
        else:
            table = X if isinstance(X, Table) else self._from_frame(X)
            scores = self._fit_grades(table)
        self.target_ = self.target or table.target
        self.group_ = self.group or table.group
        self.item_ = self.item or table.item
        self.weight_ = self.weight or table.weight
        self.spread_ = float(np.std(scores))
        self.resolution_: tuple[Array, Array] | None = None
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the score of each row; a higher score stands above.

        Parameters
        ----------
        X : Table, ComparisonTable (its items), data frame, or array
            A model of comparisons without features takes names: a table with ids, a frame with the column of
            names, or a list of names.
        """
        check_is_fitted(self)
        if isinstance(X, ComparisonTable):
            X = X.items
        encoded = self._identity(self._numbers_of(X)) if self.encoder_ is None else self.encoder_.transform(X)
        function = (
            self.ranker_.decision_function if hasattr(self.ranker_, "decision_function") else self.ranker_.predict
        )
        groups = self._groups_of(X) if "groups" in signature(function).parameters else None
        return np.asarray(function(encoded) if groups is None else function(encoded, groups=groups))

    def predict(self, X: Any) -> Array:
        """Return what the ranker predicts for each row: scores, or grades for an ordinal model."""
        check_is_fitted(self)
        if isinstance(X, ComparisonTable):
            X = X.items
        encoded = self._identity(self._numbers_of(X)) if self.encoder_ is None else self.encoder_.transform(X)
        return np.asarray(self.ranker_.predict(encoded))

    def describe(self) -> str:
        """Say in a few lines what was fitted on what."""
        check_is_fitted(self)
        lines = [f"{type(self.ranker_).__name__} fitted on {self.supervision_}"]
        if self.encoder_ is None:
            lines.append(f"items: {len(self.items_ or []):,}, each with a rating of its own")
        else:
            n_out = len(self.encoder_.get_feature_names_out())
            lines.append(f"features: {n_out:,} from {self.encoder_.n_features_in_:,} columns")
        named = {"target": self.target_, "group": self.group_, "item": self.item_, "weight": self.weight_}
        lines += [f"{role}: {name}" for role, name in named.items() if name is not None]
        if self.levels_ is not None:
            lines.append(f"levels: {' < '.join(map(str, self.levels_))}")
        if getattr(self.ranker_, "n_pairs_", None) is not None:
            lines.append(f"pairs: {self.ranker_.n_pairs_:,}")
        return "\n".join(lines)

    def _fit_grades(self, table: Table) -> Array:
        if table.y is None:
            raise ValueError(f"{table.source} was read without grades; name their column with target=")
        ranker = clone(self.ranker)
        levels = table.levels if table.levels is not None else self.levels
        self.levels_ = None if levels is None else list(levels)
        if self.levels_ is not None and "levels" in ranker.get_params():
            own = ranker.get_params()["levels"]
            if own is not None and list(own) != self.levels_:
                raise ValueError(f"the ranker has levels={list(own)}, and the table {self.levels_}; declare them once")
            ranker.set_params(levels=self.levels_)
        self.supervision_ = "grades"
        self.items_: list[str] | None = None
        self.encoder_: TableEncoder | None = TableEncoder()
        encoded = self.encoder_.fit_transform(table)
        self.ranker_ = ranker.fit(encoded, table.y, **_fit_options(ranker, table))
        return self.decision_function(table)

    def _fit_comparisons(self, table: ComparisonTable) -> Array:
        ranker = clone(self.ranker)
        self.supervision_, self.levels_ = "comparisons", None
        if table.described:
            self.encoder_, self.items_ = TableEncoder(), None
            encoded = self.encoder_.fit_transform(table.items)
        else:
            self.encoder_, self.items_ = None, [str(name) for name in table.items.names()]
            encoded = table.items.X
        self.ranker_ = ranker.fit(encoded, table.comparisons)
        return self.decision_function(table)

    def _from_frame(self, X: Any) -> Table:
        """Give the columns of a data frame their roles."""
        if not is_frame(X):
            raise TypeError(
                f"fit takes a table or a data frame, got {type(X).__name__}; read files with wellorder.read"
            )
        if self.target is None:
            raise ValueError("name the column of grades: TableRanker(ranker, target=…)")
        levels = self.levels
        if levels is None and self.target in column_names(X):
            own = own_order(X[self.target])
            levels = own[0] if own is not None and own[1] else None
        roles = Roles(self.target, self.group, self.item, self.weight, None if levels is None else tuple(levels))
        return make_table(_sheet(X), roles)

    def _numbers_of(self, X: Any) -> Ints:
        """Return the number of each row's item, by its name."""
        known = self.items_ or []
        number_of = {name: number for number, name in enumerate(known)}
        names = [str(name) for name in self._item_names(X)]
        for row, name in enumerate(names):
            if name not in number_of:
                found = suggest(name, known, "the model was fitted on")
                raise ValueError(f"the item {name!r} (row {row}) is not among those that were compared; {found}")
        return np.array([number_of[name] for name in names], dtype=np.int64)

    def _item_names(self, X: Any) -> Iterable[Any]:
        if isinstance(X, Table):
            if X.ids is None:
                raise ValueError("this model scores items by name; name their column with item=")
            return X.ids
        if not is_frame(X):
            return [X] if isinstance(X, str) else X
        columns = column_names(X)
        name = self.item_ or next((each for each in ("item", "id", "name") if each in columns), columns[0])
        return read_names(_sheet(X), name)

    def _identity(self, numbers: Ints) -> sp.csr_array:
        """Return one row an item, with a 1 in the item's own column."""
        n = len(numbers)
        return sp.csr_array((np.ones(n), numbers, np.arange(n + 1)), shape=(n, len(self.items_ or [])))

    def _groups_of(self, X: Any) -> Array | None:
        if isinstance(X, Table):
            return X.groups
        if self.group_ is not None and is_frame(X) and self.group_ in column_names(X):
            return read_groups(_sheet(X), self.group_)
        return None

    def _check_loaded(self) -> None:
        """Check what a model file has brought: its parts must be what they are called."""
        if self.supervision_ not in ("grades", "comparisons"):
            raise ValueError(f"supervision_ is {self.supervision_!r}")
        if not isinstance(self.ranker_, BaseEstimator) or not hasattr(self.ranker_, "predict"):
            raise ValueError("ranker_ is not a ranker")
        if self.encoder_ is None:
            if not isinstance(self.items_, list) or not all(isinstance(name, str) for name in self.items_):
                raise ValueError("there is neither an encoder nor a list of items")
            if len(set(self.items_)) < len(self.items_):
                raise ValueError("two items have the same name")
        elif not isinstance(self.encoder_, TableEncoder):
            raise ValueError("encoder_ is not a TableEncoder")
        for name in ("target_", "group_", "item_", "weight_"):
            if not isinstance(getattr(self, name), str | None):
                raise ValueError(f"{name} is not a column's name")
        if not isinstance(self.levels_, list | None) or not isinstance(self.spread_, float):
            raise ValueError("levels_ or spread_ is of the wrong kind")
        if not 0 <= self.spread_ < np.inf:
            raise ValueError(f"spread_ is {self.spread_}, which is no standard deviation")
        if self.resolution_ is not None:
            _check_curve(self.resolution_)


def _check_curve(curve: Any) -> None:
    """Check what a model file calls a curve: rising distances, and shares of pairs in order."""
    if not (
        isinstance(curve, tuple)
        and len(curve) == 2
        and all(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind == "f" for part in curve)
        and len(curve[0]) == len(curve[1])
    ):
        raise ValueError("resolution_ is not a pair of arrays")
    distance, share = curve
    # written so that NaN fails each of them
    if not ((distance >= 0) & (distance < np.inf)).all() or not (distance[1:] > distance[:-1]).all():
        raise ValueError("the distances of resolution_ do not rise from 0")
    if not (np.abs(share - 0.5) <= 0.5 + _ROUNDING).all():
        raise ValueError("the shares of resolution_ are not between 0 and 1")


def _sheet(X: Any) -> Sheet:
    return Sheet((("the data frame", 0),), to_polars(X))


def _fit_options(ranker: Any, table: Table) -> dict[str, Any]:
    """Return groups and weights under the names that the ranker's ``fit`` takes."""
    steps = getattr(ranker, "steps", None)
    prefix, last = ("", ranker) if steps is None else (f"{steps[-1][0]}__", steps[-1][1])
    taken = signature(last.fit).parameters
    name = type(last).__name__
    options: dict[str, Any] = {}
    if table.groups is not None:
        if "groups" in taken:
            options[f"{prefix}groups"] = table.groups
        else:
            warnings.warn(f"{name} takes no groups: it learns from all rows as if they were one list", stacklevel=4)
    if table.weights is not None:
        if "sample_weight" not in taken:
            raise ValueError(f"{name} takes no weights; leave weight= out, or use another ranker")
        options[f"{prefix}sample_weight"] = table.weights
    return options
