"""Rows and what must stand above what, as one value: it can be cut, fitted on and scored.

Whatever holds something out (searches, cross-validation, comparisons of methods, ensembles) does it here. What a part
of an order is, the order knows: some of the graded rows, or some of the comparisons of all items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from .frames import labelled_as, naming_columns, warn_of_other_rows
from .order import Comparisons, Grades, OrderSum, Times, refuse_beside
from .scoring import last_step, levels_of, list_scores
from .spaces import Pairs
from .sweeps import Floats, Ints


@dataclass(frozen=True)
class Given:
    """Grades, groups and weights as somebody has passed them, for models that know nothing of :class:`Grades`."""

    y: Any
    groups: Any = None
    sample_weight: Any = None
    levels: Any = None
    """The order of text grades, from the model that will learn from them."""

    keeps_rows = False

    def take(self, rows: Ints) -> Given:
        """Return some of the rows."""
        y, groups, sample_weight = (take(part, rows) for part in (self.y, self.groups, self.sample_weight))
        return Given(y, groups, sample_weight, self.levels)


@dataclass(frozen=True)
class Sample:
    """Rows, or items that were compared, and what there is to learn about their order.

    Parameters
    ----------
    X : array, sparse matrix, data frame or Pairs
        Rows, items, or pairs of items with one outcome each.
    target : Grades, Comparisons or Given
        What is handed to ``fit``.
    pairwise : bool
        Whether X holds a kernel between its rows: parts of it are cut both ways.

    Examples
    --------
    >>> import wellorder as wo
    >>> from wellorder.samples import Sample
    >>> wines = Sample([[1.0], [2.0], [3.0]], wo.Grades([0, 1, 1]))
    >>> wines.take([0, 2]).X, wines.take([0, 2]).order.level.tolist()
    ([[1.0], [3.0]], [0, 1])
    >>> games = Sample([[1.0], [2.0], [3.0]], wo.Comparisons([0, 1], [1, 2], [1, -1]))
    >>> len(games.take([1]).X), len(games.take([1]))
    (3, 1)
    """

    X: Any
    target: Grades | Comparisons | Given
    pairwise: bool = False

    @cached_property
    def order(self) -> Grades | Comparisons:
        """What must stand above what."""
        if not isinstance(self.target, Given):
            return self.target
        if self.holds_pairs:
            return _compared(self.X, self.target.y)
        return Grades(self.target.y, self.target.groups, levels=self.target.levels)

    @property
    def holds_pairs(self) -> bool:
        """Whether each row of X is two items."""
        return isinstance(self.X, Pairs) or np.ndim(self.X) == 3

    def __len__(self) -> int:
        """Return how many can be taken: rows, or comparisons."""
        return len(self.order)

    def take(self, places: Ints, columns: Ints | None = None) -> Sample:
        """Return a part: some of the rows, or some of the comparisons over all items.

        ``columns`` are the rows that a model has learned from, the same as these unless given: of a kernel matrix they
        are the columns, and of Uno's weights of times they say how rows are censored.
        """
        target = self.target.take(places)
        if columns is not None and isinstance(target, Times) and isinstance(self.target, Times):
            target = target.with_censoring(self.target.take(columns))
        if target.keeps_rows:
            return Sample(self.X, target, self.pairwise)
        if self.pairwise:
            return Sample(_take_both(self.X, places, places if columns is None else columns), target, True)
        return Sample(take(self.X, places), target)

    def n_fitted(self, places: Ints) -> int:
        """Count the rows of X that a fit on a part sees: with comparisons, all items."""
        return int(self.X.shape[0]) if self.target.keeps_rows else len(places)

    def fit(self, model: Any) -> Any:
        """Fit a model, with the groups and row weights that it asks for."""
        with naming_columns(model, self.X):
            if not isinstance(self.target, Given):
                return model.fit(self.X, self.target)
            asked = {name: getattr(self.target, name) for name in self._asked_for(model)}
            return model.fit(self.X, self.target.y, **asked)

    def scores(self, model: Any) -> Floats:
        """Return a fitted model's score of each row or item; of pairs, the difference of the two."""
        if self.holds_pairs:
            return np.asarray(model.compare(self.X))
        return list_scores(model, self.X, self.order.group)

    def _asked_for(self, model: Any) -> list[str]:
        """Return which of ``groups`` and ``sample_weight`` go to ``fit``.

        Groups go where they are requested. Row weights were given to be used: where they would be dropped,
        silently, it is an error.
        """
        routing = get_routing_for_object(model)
        asked = []
        for name in ("groups", "sample_weight"):
            if getattr(self.target, name) is None:
                continue
            if isinstance(routing, MetadataRouter):
                is_asked = name in routing.consumes("fit", [name])
            else:
                is_asked = has_fit_parameter(model, name) and routing.fit.requests.get(name) is not False
            if is_asked:
                asked.append(name)
            elif name == "sample_weight":
                raise ValueError(
                    f"sample_weight would not reach {type(model).__name__}.fit: no step of it requests row weights; "
                    "call .set_fit_request(sample_weight=True) on the step that should have them"
                )
        return asked


# --------------------------------------------------------------------------------------------------
# Under which names groups and weights reach a fit. `Sample.fit` goes by what each model requests, as scikit-learn's
# own searches do; `fit_with` is for whoever was given groups and weights for the one model inside, and asks nobody
# for a request: its result does not depend on whether metadata routing is on.


def fit_with(model: Any, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Any:
    """Fit a model, or the last step of a pipeline, with groups and row weights; return it.

    Weights that would not reach it are an error, and groups are, where rows of different groups would be compared;
    a model that learns from single rows needs none, and is fitted without.
    """
    both = {"groups": groups, "sample_weight": sample_weight}
    given = {name: values for name, values in both.items() if values is not None}
    path, last = last_step(model)
    taken = signature(last.fit).parameters
    if not given.keys() <= taken.keys():
        if _hands_on(taken):
            return _fit_routed(model, X, y, given)
        if "sample_weight" in given and "sample_weight" not in taken:
            raise ValueError(f"{type(last).__name__} takes no sample_weight; leave the weights out, or take another")
        if "groups" in given and "groups" not in taken and _compares(last):
            raise ValueError(
                f"{type(last).__name__} hands no groups on to the ranker inside; take another, or leave it out"
            )
    options = {f"{path}{name}": values for name, values in given.items() if name in taken}
    with config_context(enable_metadata_routing=False):  # what is passed has found its way already
        return model.fit(X, y, **options)


def takes_groups(model: Any) -> bool:
    """Say whether groups reach what learns in a model, when it is fitted with them."""
    taken = signature(last_step(model)[1].fit).parameters
    if "groups" in taken or not _hands_on(taken):
        return "groups" in taken
    with config_context(enable_metadata_routing=True):
        return "groups" in _consumed(model, ["groups"])


def _hands_on(taken: Mapping[str, Parameter]) -> bool:
    """Say whether a fit takes whatever it is given, by its parameters."""
    return any(each.kind is Parameter.VAR_KEYWORD for each in taken.values())


def _consumed(model: Any, names: Iterable[str]) -> set[str]:
    """Return which arguments of fit somebody inside a model asks for, by scikit-learn's routing."""
    try:
        return set(get_routing_for_object(model).consumes("fit", names))
    except NotImplementedError:  # how scikit-learn says that a model hands nothing on to those inside
        return set()


def _fit_routed(model: Any, X: Any, y: Any, given: dict[str, Any]) -> Any:
    """Fit a search, or what else hands on whatever it is given: scikit-learn's routing knows to whom."""
    name = type(model).__name__
    with config_context(enable_metadata_routing=True):
        consumed = _consumed(model, given)
        if "sample_weight" in given and "sample_weight" not in consumed:
            raise ValueError(
                f"{name} hands no sample_weight on; leave the weights out, or ask for them inside it with "
                "set_fit_request(sample_weight=True) and set_score_request(sample_weight=True)"
            )
        if "groups" in given and "groups" not in consumed and _compares(model):
            raise ValueError(f"{name} hands no groups on to the ranker inside; take another, or leave it out")
        return model.fit(X, y, **{key: given[key] for key in consumed})


def _compares(model: Any) -> bool:
    """Say whether something inside a model would compare rows of different groups, were it not told the groups."""
    inside = [part for part in model.get_params(deep=True).values() if hasattr(part, "fit")]
    return any("groups" in signature(part.fit).parameters for part in inside if not isinstance(part, type))


# --------------------------------------------------------------------------------------------------
# Reading and cutting.


def pair_probabilities(model: Any, X: Any, left: Any, right: Any, *, first_move: bool = True) -> Floats:
    """Return P(left better), P(tie) and P(right better) of pairs of rows of X, by number.

    A model that rates rows by name (``probabilities_between``) does not look at X, and takes −1 for a stranger; all
    others are handed the two rows. ``first_move=False``: as if standing on the left were worth nothing.
    """
    if hasattr(model, "probabilities_between"):
        return np.asarray(model.probabilities_between(left, right, first_move=first_move))
    return np.asarray(model.predict_proba(Pairs(X, left, right)))


def read_sample(estimator: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> Sample:
    """See what an estimator is to learn from: graded rows, items with comparisons, or pairs with outcomes."""
    if isinstance(y, OrderSum):
        raise ValueError("grades and comparisons cannot be split as one; give one of them, or fit on their sum")
    if y is None:
        raise ValueError("the target y is None: give one grade a row")
    pairwise = bool(get_tags(estimator).input_tags.pairwise)
    if isinstance(y, Grades | Comparisons):
        refuse_beside(y, groups=groups, sample_weight=sample_weight)
        return Sample(X, y, pairwise)
    warn_of_other_rows(X, y=y, groups=groups, stacklevel=3)
    y, groups = labelled_as(X, y), labelled_as(X, groups)  # said once, and not for every part of them
    if isinstance(X, Pairs) or np.ndim(X) == 3:
        refuse_beside(X, groups=groups)
        return Sample(X, Given(y, None, sample_weight))
    return Sample(X, Given(y, groups, sample_weight, levels_of(estimator)), pairwise)


def take(values: Any, rows: Ints) -> Any:
    """Return some rows of an array, a sparse matrix, a frame, a list or pairs; None stays None."""
    if values is None:
        return None
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if sp.issparse(values) and not hasattr(values, "indptr"):
        return values.tocsr()[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[row] for row in rows]


def _take_both(K: Any, rows: Ints, columns: Ints) -> Any:
    """Return some rows and columns of a kernel matrix."""
    if isinstance(K, np.ndarray):
        return K[np.ix_(rows, columns)]  # row by row in memory; one cut after the other would not leave it so
    return K.iloc[rows, columns] if hasattr(K, "iloc") else take(K, rows)[:, columns]


def _compared(X: Any, outcome: Any) -> Comparisons:
    """See pairs as comparisons of numbered items; in a plain array, equal rows are the same item."""
    if isinstance(X, Pairs):
        return Comparisons(X.left, X.right, outcome)
    X = np.asarray(X)
    item = np.unique(X.reshape(-1, X.shape[-1]), axis=0, return_inverse=True)[1].reshape(-1)
    return Comparisons(item[0::2], item[1::2], outcome)
