"""What all rankers share: a score a row, and how well the scores order."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from ..metrics import swapped_pairs
from ..order import Grades, ListedPairs, OrderSum, check_scores, direction_share
from ..scoring import list_scores
from ..sweeps import Array, to_numpy
from ..whole_fits import WholeFit
from .validation import as_order

__all__ = ["Ranker", "list_scores"]


class Ranker(WholeFit, BaseEstimator):
    """A model that gives each row a score; the row with the higher score stands above."""

    # requested by default, so that with metadata routing one `groups` feeds the splitter, fit and score
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True}

    order: Any
    levels: Any

    @abstractmethod
    def decision_function(self, X: Any) -> Array:
        """Return a real score for each row."""

    def predict(self, X: Any) -> Array:
        """Return a real score for each row: the same as ``decision_function``."""
        return self.decision_function(X)

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Return 1 − swapped pairs: the share of pairs in the right order, a tied pair being an error.

        With comparisons, the share of the decided ones that the scores put in the right direction.
        All pairs of different grades count the same, whatever order the model was trained with (for an
        order graph: all pairs that follow from its edges). NaN, with a warning, where there is no pair.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,), Grades, or Comparisons
        groups : array of shape (n,), optional
            One id a row: only rows of one group are compared.
        sample_weight : array of shape (n,), optional
        """
        order = as_order(y, groups, sample_weight, self.order, self.levels)
        scores = list_scores(self, X, order.group if isinstance(order, Grades) else None)
        if isinstance(order, OrderSum):
            raise ValueError("score takes grades or comparisons, not their sum; score each part on its own")
        pairs = order.to_pairs(len(scores))
        if isinstance(order, Grades):
            return 1.0 - swapped_pairs(order.with_graph(order.graph.closure()), scores)
        assert isinstance(pairs, ListedPairs)
        if pairs.n_pairs == 0:
            warnings.warn(f"score is not defined: there is no decided comparison ({order.describe()})", stacklevel=2)
            return float("nan")
        return direction_share(pairs, to_numpy(check_scores(scores, len(scores))))
