"""What a fitted model says of rows: one score each; models whose scores depend on the list are handed the groups."""

from __future__ import annotations

import warnings
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from .order import Kind
from .sweeps import is_tensor


def list_scores(model: Any, X: Any, groups: Any = None) -> npt.NDArray[Any]:
    """Return a score a row: the decision function, or predictions where there is none.

    Most models score a row by itself, and take no groups. One that ranks whole lists does, be it the last step of a
    pipeline or what a search has found best: without them all rows would be one list.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array, sparse matrix or data frame of shape (n, d)
    groups : array of shape (n,), optional
        The list of each row.

    Examples
    --------
    >>> import wellorder as wo
    >>> from wellorder.scoring import list_scores
    >>> model = wo.MultipleHyperplaneRanker().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> list_scores(model, [[0.0], [1.0], [5.0], [6.0]], groups=["a", "a", "b", "b"])
    array([0., 1., 0., 1.])
    """
    if groups is not None:
        X, model = _last(X, model)
    function = _function(model)
    if groups is None or "groups" not in signature(function).parameters:
        return _as_array(function(X))
    return _as_array(function(X, groups=groups))


def advantage_of(model: Any) -> float:
    """Return what it is worth to stand on the left of a comparison, in points of the score; 0 for most models.

    It is taken off the right score less the left one before anybody says who is better.
    """
    inner = getattr(model, "ranker_", model)  # a model of a table holds one of rows
    return float(getattr(inner, "advantage_", 0.0))


def _as_array(scores: Any) -> npt.NDArray[Any]:
    """Return scores as an array; those of a tensor stay where they are."""
    return scores if is_tensor(scores) else np.asarray(scores)


def gives_probabilities(model: Any, of: Kind) -> bool:
    """Say whether a model, fitted or not, has probabilities: of grades, or of the outcomes of comparisons."""
    if of == "grades":
        return hasattr(model, "predict_proba") and not hasattr(model, "compare")
    return hasattr(model, "probabilities_between") or (hasattr(model, "compare") and hasattr(model, "predict_proba"))


WHO_GIVES_PROBABILITIES: dict[Kind, str] = {
    "grades": "ProportionalOdds, OrderBoost(loss='proportional_odds'), PlugInRanker and classifiers do",
    "comparisons": "CompareSVM(probability=True) and ratings do",
}
"""For an error about a model that gives none."""


def ranks_lists(model: Any) -> bool:
    """Say whether a row's score depends on the rows of its list, so that the model has to be told the groups."""
    return "groups" in signature(_function(_last(None, model)[1])).parameters


def count_fitted_groups(model: Any) -> int:
    """Return how many groups a model was fitted on; 1 where it does not say."""
    found = getattr(_last(None, model)[1], "n_groups_", 1)
    return int(found) if isinstance(found, Integral) else 1


def warn_if_groups_are_lost(model: Any, groups: Any, way_out: str, *, depth: int = 1) -> None:
    """Warn where a model that was fitted on several groups is judged without any: rows of different groups then count.

    Parameters
    ----------
    model : estimator
        Fitted.
    groups : array of shape (n,) or None
        Those of the rows that it is judged by.
    way_out : str
        How the caller takes groups.
    depth : int, default=1
        How many calls away the one is that could have passed them.
    """
    if groups is None and (n_groups := count_fitted_groups(model)) > 1:
        warnings.warn(
            f"{type(_last(None, model)[1]).__name__} was fitted on {n_groups:,} groups, and is judged without any, as "
            f"if all rows were one list; {way_out}",
            stacklevel=depth + 2,
        )


def last_step(model: Any) -> tuple[str, Any]:
    """Return what a pipeline ends with, be it in another pipeline, and the path of its options: "outer__inner__"."""
    path = ""
    while hasattr(model, "steps"):
        name, model = model.steps[-1]
        path += f"{name}__"
    return path, model


def levels_of(model: Any) -> Any:
    """Return the order of text grades that a model was given, be it in pipelines or searches, fitted or not."""
    while model is not None:
        if getattr(model, "levels", None) is not None:
            return model.levels
        inner = getattr(model, "best_estimator_", getattr(model, "estimator", None))
        model = last_step(model)[1] if hasattr(model, "steps") else inner
    return None


def _function(model: Any) -> Any:
    return model.decision_function if hasattr(model, "decision_function") else model.predict


def _last(X: Any, model: Any) -> tuple[Any, Any]:
    """Step through searches and pipelines to the model that gives the scores; rows may be None."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "steps") and model.steps[-1][1] not in (None, "passthrough"):
            X = X if X is None or len(model.steps) == 1 else model[:-1].transform(X)
            model = model.steps[-1][1]
        else:
            return X, model
