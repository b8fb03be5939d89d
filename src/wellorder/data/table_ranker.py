"""A ranker for tables: the encoding of the columns and the ranker that was fitted on it, as one model."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..order import outcomes_told
from ..samples import fit_with, pair_probabilities, takes_groups
from ..scoring import (
    WHO_GIVES_PROBABILITIES,
    advantage_of,
    count_fitted_groups,
    gives_probabilities,
    last_step,
    list_scores,
    ranks_lists,
)
from ..state import (
    ANY,
    Part,
    Stored,
    absent_or,
    both,
    checked,
    count,
    fitted,
    floats,
    label,
    list_of,
    none_or,
    number,
    of,
    one_of,
    refuse_twice,
    text,
    tuple_of,
)
from ..suggest import suggest
from ..sweeps import Array, Floats, Ints, to_numpy
from .comparison_files import is_pairs, read_pairs
from .encode import TableEncoder, column_names, names_columns, own_levels, sheet_of
from .lines import row_error
from .roles import Roles, make_table, read_groups, read_names
from .table import CONVENTIONS, PLAIN, ComparisonTable, PairTable, Signs, Table, pairs_of
from .told_columns import encoder_for, tell_columns

if TYPE_CHECKING:
    from ..ratings import Uncertainty

_ROUNDING = 1e-9
"""Interpolation may put a share this far below 0 or above 1."""


def _has_probabilities(model: TableRanker) -> bool:
    ranker = getattr(model, "ranker_", model.ranker)
    if gives_probabilities(ranker, "comparisons"):
        return True
    raise AttributeError(
        f"{type(ranker).__name__} gives no probabilities of outcomes; {WHO_GIVES_PROBABILITIES['comparisons']}"
    )


class TableRanker(Stored, BaseEstimator):
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
    event : str, optional
        Where the target holds times: the column that says whether they ended with an event, as
        :func:`wellorder.read` takes it.
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
    target_, group_, item_, weight_, event_ : str or None
        The columns in the training data.
    levels_ : list or None
        The declared levels.
    spread_ : float
        Standard deviation of the training scores.
    resolution_ : None or a pair of arrays
        What score differences mean, where it was estimated.
    signs_ : tuple of three str or None
        How the file of comparisons wrote 'the left one is better', 'no difference' and 'the right one is better'.
    n_learned_ : int
        How many rows with a grade, or comparisons, it was fitted on; a model of an older file has none.

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

    target_: str | None
    group_: str | None
    item_: str | None
    weight_: str | None
    event_: str | None
    levels_: list[Any] | None
    supervision_: str
    encoder_: TableEncoder | None
    items_: list[str] | None
    ranker_: Any
    spread_: float
    resolution_: tuple[Floats, Floats] | None
    signs_: Signs | None
    n_learned_: int

    def __init__(
        self,
        ranker: Any,
        target: str | None = None,
        group: str | None = None,
        item: str | None = None,
        weight: str | None = None,
        levels: Iterable[Hashable] | None = None,
        event: str | None = None,
    ) -> None:
        self.ranker = ranker
        self.target = target
        self.group = group
        self.item = item
        self.weight = weight
        self.levels = levels
        self.event = event

    def fit(self, X: Any, y: Any = None) -> TableRanker:
        """Fit the encoder and the ranker.

        Parameters
        ----------
        X : Table, ComparisonTable, data frame or list of dicts
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
        self.event_ = self.event or table.event
        self.spread_ = float(np.std(scores))
        self.resolution_ = None
        self.signs_ = X.signs if isinstance(X, ComparisonTable) else None
        self.n_learned_ = int(np.count_nonzero((X if isinstance(X, ComparisonTable) else table).order().is_judged))
        return self

    def learned_from(self, n_judged: int, scores: Floats) -> bool:
        """Say whether rows are, by all that is known of them, those that it learned from: as many, scored as wide.

        Parameters
        ----------
        n_judged : int
            How many of the rows have grades, or how many comparisons there are.
        scores : array
            The model's scores of all rows.
        """
        as_many = n_judged == getattr(self, "n_learned_", None)  # files of older versions have none
        return as_many and bool(np.isclose(np.std(scores), self.spread_, rtol=1e-9, atol=0.0))

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row; a higher score stands above.

        Parameters
        ----------
        X : Table, ComparisonTable or PairTable (their items), data frame, list of dicts, or array
            Of a dict a key is a column; one that a row lacks is missing there.
            A model of comparisons without features takes names: a table with ids, a frame with the column of
            names, or a list of names.

        Raises
        ------
        ValueError
            If a score is NaN, as it may be of numbers that are far too large: nothing can be ordered by it.
        """
        check_is_fitted(self)
        if isinstance(X, ComparisonTable | PairTable):
            X = X.items
        if self.encoder_ is None:
            own = list_scores(self.ranker_, _identity(len(self.items_ or [])))
            scores = np.append(own, getattr(self.ranker_, "unseen_", np.nan))[self._numbers_of(X)]
        else:
            groups = self._groups_of(X) if ranks_lists(self.ranker_) else None
            scores = list_scores(self.ranker_, self.encoder_.transform(X), groups)
        bad = np.flatnonzero(np.isnan(to_numpy(scores)))
        if bad.size:
            places = X.places if isinstance(X, Table) else None
            raise row_error(places, "its score is NaN: its numbers are far too large to order by", int(bad[0]))
        return scores

    def predict(self, X: Any) -> Array:
        """Return what the model predicts: the outcome of each comparison, or a score or grade of each row.

        Parameters
        ----------
        X : ComparisonTable or PairTable
            Outcomes are −1 (the left item is better), 0 (no difference) and 1 (the right one is). Models without a
            threshold for ties find a difference wherever scores are not equal.
        X : anything else that ``decision_function`` takes
            Grades by an ordinal model, scores by all others.
        """
        check_is_fitted(self)
        if isinstance(X, ComparisonTable | PairTable):
            return outcomes_told(self.compare(X), getattr(self.ranker_, "threshold_", 0.0))
        if self.supervision_ == "comparisons" or self.encoder_ is None or ranks_lists(self.ranker_):
            return self.decision_function(X)
        return np.asarray(self.ranker_.predict(self.encoder_.transform(X)))

    def compare(self, X: Any) -> Floats:
        """Return how far the right item's score is above the left one's, for each pair.

        What the left place is worth, where the ranker has found that (``advantage_``), is taken off.

        Parameters
        ----------
        X : ComparisonTable, PairTable; or a data frame with the columns left and right, where items have no features
        """
        pairs = self._pairs_of(X)
        scores = self.decision_function(pairs.items)
        with np.errstate(invalid="ignore"):  # said below
            differences = np.asarray(scores[pairs.right] - scores[pairs.left] - advantage_of(self.ranker_))
        if np.isnan(differences).any():
            row = int(np.argmax(np.isnan(differences)))
            raise ValueError(
                f"the items of comparison {row} (from 0) both have infinite scores: they cannot be compared"
            )
        return differences

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, *, first_move: bool = True) -> Floats:
        """Return P(left better), P(tie) and P(right better) of each pair: columns for the outcomes −1, 0, 1.

        Parameters
        ----------
        X : ComparisonTable, PairTable; or a data frame with the columns left and right, where items have no features
        first_move : bool, default=True
            Whether it counts who stands on the left, where the ranker has found that this is worth something.
        """
        pairs = self._pairs_of(X)
        left, right = pairs.left, pairs.right
        if self.encoder_ is not None:
            rows = self.encoder_.transform(pairs.items)
        else:
            rows, number = _identity(len(self.items_ or [])), self._numbers_of(pairs.items)
            left, right = number[left], number[right]
        return pair_probabilities(self.ranker_, rows, left, right, first_move=first_move)

    def uncertainty(self, X: Any) -> Uncertainty | None:
        """Return how uncertain the scores of rows are, by row number; None where the ranker does not say.

        Parameters
        ----------
        X : Table, data frame or list of names, as ``decision_function`` takes them
        """
        check_is_fitted(self)
        if self.encoder_ is not None or not hasattr(self.ranker_, "uncertainty"):
            return None
        found: Uncertainty | None = self.ranker_.uncertainty()
        return None if found is None else found.take(self._numbers_of(X))

    @property
    def n_groups_(self) -> int:
        """How many groups the ranker was fitted on."""
        return count_fitted_groups(self.ranker_)

    def known_items(self, source: str = "the items that the model knows") -> Table:
        """Return the items that the model knows by name: those that it was fitted on. ``source``: what to call them.

        Raises
        ------
        ValueError
            Where it scores items by their features, and knows none by itself.
        """
        check_is_fitted(self)
        if self.encoder_ is not None:
            raise ValueError("the model scores items by their columns, and knows none by name; name the file of items")
        names = np.array(self.items_ or [], dtype=object)
        return Table(source, _identity(len(names)), ids=names, item=self.item_)

    @property
    def takes_strangers(self) -> bool:
        """Whether items that were never compared have a score: the rating that all start with."""
        return self.encoder_ is None and hasattr(self.ranker_, "unseen_")

    def describe(self) -> str:
        """Say in a few lines what was fitted on what."""
        check_is_fitted(self)
        what = self.supervision_ if getattr(self, "event_", None) is None else "censored times"
        lines = [f"{type(self.ranker_).__name__} fitted on {what}"]
        if self.encoder_ is None:
            lines.append(f"items: {len(self.items_ or []):,}, each with a rating of its own")
        else:
            n_out = len(self.encoder_.get_feature_names_out())
            lines.append(f"features: {n_out:,} from {self.encoder_.n_features_in_:,} columns")
        named = {"target": self.target_, "group": self.group_, "item": self.item_, "weight": self.weight_}
        named["event"] = getattr(self, "event_", None)
        lines += [f"{role}: {name}" for role, name in named.items() if name is not None]
        signs = self.ranker.get_params().get("monotone")
        if isinstance(signs, Mapping):
            told = (f"{column} {'up' if sign in (1, '+') else 'down'}" for column, sign in signs.items() if sign)
            lines.append(f"monotone: {', '.join(told)}")
        if self.levels_ is not None:
            lines.append(f"levels: {' < '.join(map(str, self.levels_))}")
        if self.supervision_ == "comparisons" and getattr(self.ranker_, "threshold_", 0.0) > 0:
            lines.append(f"ties: where scores differ by {self.ranker_.threshold_:.4g} or less")
        if hasattr(self, "n_learned_"):
            lines.append(f"{'comparisons' if self.supervision_ == 'comparisons' else 'rows'}: {self.n_learned_:,}")
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
        self.items_ = None
        self.encoder_ = encoder_for(ranker)
        encoded = self.encoder_.fit_transform(table)
        tell_columns(ranker, self.encoder_)
        if table.events is not None:
            self.ranker_ = ranker.fit(encoded, table.order())
        else:
            if table.groups is not None and not takes_groups(ranker):
                name = type(last_step(ranker)[1]).__name__
                warnings.warn(f"{name} takes no groups: it learns from all rows as if they were one list", stacklevel=4)
            self.ranker_ = fit_with(ranker, encoded, table.y, groups=table.groups, sample_weight=table.weights)
        return self.decision_function(table)

    def _fit_comparisons(self, table: ComparisonTable) -> Array:
        ranker = clone(self.ranker)
        self.supervision_, self.levels_ = "comparisons", None
        if not table.sides and (asked := _asks_for_sides(ranker)) is not None:
            raise ValueError(
                f"{asked} asks what the left place is worth, and in {table.source} the winner always stands there; "
                "leave it out"
            )
        if table.described and getattr(ranker, "looks_at_features", True):
            self.encoder_, self.items_ = encoder_for(ranker), None
            encoded = self.encoder_.fit_transform(table.items)
            tell_columns(ranker, self.encoder_)
        else:
            self.encoder_, self.items_ = None, [str(name) for name in table.items.names()]
            encoded = _identity(len(table.items))
        self.ranker_ = ranker.fit(encoded, table.comparisons)
        return self.decision_function(table)

    def _from_frame(self, X: Any) -> Table:
        """Give the columns of a data frame their roles."""
        if not names_columns(X):
            raise TypeError(
                f"fit takes a table, a data frame or a list of dicts, got {type(X).__name__}; read files with "
                "wellorder.read"
            )
        if self.target is None:
            raise ValueError("name the column of grades: TableRanker(ranker, target=…)")
        levels = own_levels(X, self.target) if self.levels is None else self.levels
        listed = None if levels is None else tuple(levels)
        roles = Roles(self.target, self.group, self.item, self.weight, listed, event=self.event)
        return make_table(sheet_of(X), roles)

    def _pairs_of(self, X: Any) -> PairTable:
        """Return pairs of items, however they come."""
        check_is_fitted(self)
        if isinstance(X, ComparisonTable | PairTable):
            return pairs_of(X)
        if self.encoder_ is None and names_columns(X) and is_pairs(sheet := sheet_of(X), Roles()):
            return read_pairs(sheet, Roles(), None, getattr(self, "signs_", None) or PLAIN)
        raise TypeError(
            f"this takes comparisons, got {type(X).__name__}; read them with wellorder.read, or, where they have no "
            "outcomes, with wellorder.data.read_for"
        )

    def _numbers_of(self, X: Any) -> Ints:
        """Return the number of each row's item, by its name; −1 for a stranger."""
        known = self.items_ or []
        number_of = {name: number for number, name in enumerate(known)}
        names = [str(name) for name in self._item_names(X)]
        strangers = [row for row, name in enumerate(names) if name not in number_of]
        if strangers:
            first, n = names[strangers[0]], len({names[row] for row in strangers})
            if not self.takes_strangers:
                found = suggest(first, known, "the model was fitted on")
                problem = f"the item {first!r} is not among those that were compared; {found}"
                raise row_error(X.places if isinstance(X, Table) else None, problem, strangers[0])
            # from one place, so that it is said once, whatever the model is asked about them
            what = f"{first!r} was" if n == 1 else f"{n:,} items ({first!r} is the first) were"
            warnings.warn(f"{what} never compared: the rating is the one that all start with", stacklevel=1)
        return np.array([number_of.get(name, -1) for name in names], dtype=np.int64)

    def _item_names(self, X: Any) -> Iterable[Any]:
        if isinstance(X, Table):
            if X.ids is None:
                raise ValueError("this model scores items by name; name their column with item=")
            return X.ids
        if not names_columns(X):
            return [X] if isinstance(X, str) else X
        columns = column_names(X)
        name = self.item_ or next((each for each in ("item", "id", "name") if each in columns), columns[0])
        return read_names(sheet_of(X), name)

    def _groups_of(self, X: Any) -> Array | None:
        if isinstance(X, Table):
            return X.groups
        if self.group_ is not None and names_columns(X) and self.group_ in column_names(X):
            return read_groups(sheet_of(X), self.group_)
        return None

    def _fitted_state(self) -> dict[str, Part]:
        column, by_name = none_or(text()), getattr(self, "encoder_", None) is None
        items = both(list_of(text(), "d"), checked(refuse_twice))
        state = {
            "supervision_": one_of("grades", "comparisons"),
            "encoder_": none_or(both(of(TableEncoder, "a TableEncoder"), fitted("transform", columns=None))),
            "items_": items if by_name else one_of(None),
            "ranker_": both(fitted("decision_function", "predict"), checked(self._check_width)),
            **dict.fromkeys(("target_", "group_", "item_", "weight_"), column),
            "event_": absent_or(column),  # files of older versions have none
            "levels_": none_or(list_of(label(), ANY)),
            "spread_": number(low=0.0),
            "resolution_": none_or(both(tuple_of(floats("t", low=0.0), floats("t")), checked(_check_curve))),
            "signs_": absent_or(none_or(one_of(*CONVENTIONS))),  # files of older versions have none
            "n_learned_": absent_or(count()),
        }
        return state

    def _check_width(self, ranker: Any) -> None:
        """Refuse a ranker of other columns than those that items are turned into."""
        n = len(self.items_ or []) if self.encoder_ is None else len(self.encoder_.get_feature_names_out())
        rated = getattr(ranker, "ratings_", None)
        for found in (getattr(ranker, "n_features_in_", None), None if rated is None else len(rated)):
            if found is not None and found != n:
                raise ValueError(f"it takes {found} columns, and the table's are turned into {n}")


def _asks_for_sides(ranker: Any) -> str | None:
    """Return the parameter by which a ranker is told to find what the left place is worth, if it is."""
    for path, value in ranker.get_params().items():
        name = path.rpartition("__")[2]
        if (name == "first_move" and value) or (name == "advantage" and isinstance(value, str)):
            return f"{name}={value!r}"
    return None


def _check_curve(curve: tuple[Floats, Floats]) -> None:
    """Refuse what is no curve of rising distances, with the shares of pairs in order."""
    distance, share = curve
    if not (distance[1:] > distance[:-1]).all():
        raise ValueError("its distances do not rise")
    if not (np.abs(share - 0.5) <= 0.5 + _ROUNDING).all():
        raise ValueError("its shares are not between 0 and 1")


def _identity(n: int) -> sp.csr_array:
    """Return one row an item, with a 1 in the item's own column."""
    return sp.csr_array((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, n))
