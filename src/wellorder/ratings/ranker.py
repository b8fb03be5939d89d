"""A rating system as a ranker: items are the players, by row number, and their features are not looked at."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..order import Comparisons, direction_share
from ..sweeps import Floats
from .davidson import Davidson
from .system import RatingSystem


class RatingRanker(BaseEstimator):
    """Scores items by rating them as players: the baseline for models that look at the items' features.

    It knows only the rows that it was fitted with, in the same order; comparisons count as played one after another.

    Parameters
    ----------
    system : RatingSystem, default=None
        ``Elo()``, ``Glicko()``, …; ``Davidson()`` without.

    Attributes
    ----------
    system_ : RatingSystem
        The fitted system; its players are row numbers.
    ratings_ : array of shape (n_items,)
        The rating of each row; rows in no comparison have the rating that all start with.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> items = np.zeros((3, 5))
    >>> games = wo.Comparisons(left=[0, 1, 2], right=[1, 2, 0], outcome=[1, 0, -1])
    >>> ranker = wo.ratings.RatingRanker(wo.ratings.Elo()).fit(items, games)
    >>> ranker.decision_function(items).round(1).tolist()
    [1468.8, 1515.3, 1516.0]
    """

    def __init__(self, system: RatingSystem | None = None) -> None:
        self.system = system

    def fit(self, X: Any, y: Any) -> RatingRanker:
        """Rate the rows of X by Comparisons y of them."""
        if not isinstance(y, Comparisons):
            raise ValueError(f"RatingRanker learns from comparisons; give wo.Comparisons as y, not {type(y).__name__}")
        n_rows, self.n_features_in_ = _shape(X)
        y.to_pairs(n_rows)  # refuses rows that are not there
        self.system_ = (Davidson() if self.system is None else clone(self.system)).fit(y)
        self.ratings_ = self.system_.rating(np.arange(n_rows))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the ratings of the rows; X must have the rows of ``fit``."""
        check_is_fitted(self)
        n_rows, _ = _shape(X)
        if n_rows != len(self.ratings_):
            raise ValueError(
                f"X has {n_rows} rows, but {len(self.ratings_)} were rated: a rating says nothing of new items; give "
                "the same rows in the same order, or use a model that looks at features"
            )
        return self.ratings_.copy()

    def predict(self, X: Any) -> Floats:
        """Return the ratings of the rows: the same as ``decision_function``."""
        return self.decision_function(X)

    def score(self, X: Any, y: Any) -> float:
        """Return the share of the decided comparisons that the ratings put in the right direction."""
        scores = self.decision_function(X)
        if not isinstance(y, Comparisons):
            raise ValueError(f"score takes wo.Comparisons, not {type(y).__name__}")
        pairs = y.to_pairs(len(scores))
        if pairs.n_pairs == 0:
            warnings.warn(f"score is not defined: there is no decided comparison ({y.describe()})", stacklevel=2)
            return float("nan")
        return direction_share(pairs, scores)


def _shape(X: Any) -> tuple[int, int]:
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    if len(shape) != 2:
        raise ValueError(f"X should be a table of items, got shape {shape}")
    return int(shape[0]), int(shape[1])
