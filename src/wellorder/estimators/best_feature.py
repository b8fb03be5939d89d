"""BestFeature: the baseline that every model has to beat, the best single column."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..losses import LOSSES, risk_at
from ..order import GradedPairs, ListedPairs, OrderSum, swapped_weight
from ..state import Part, figure, place
from ..sweeps import Floats
from .linear_ranker import LinearRanker
from .rows import validate_data
from .validation import as_order, refuse_no_pairs


class BestFeature(LinearRanker):
    r"""The one column, upright or upside down, that swaps the fewest training pairs.

    .. math:: f(x) = \pm x_j, \quad (j, \pm) = \arg\min \sum_{(i, k)} W_{ik} \, [f(x_i) \le f(x_k)]

    A tie is a swap. Of several columns that are equally good, the first is taken.

    Parameters
    ----------
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.

    Attributes
    ----------
    coef_ : array of shape (d,)
        1 or −1 for the column taken, 0 elsewhere.
    feature_ : int
        The number of that column.
    swapped_pairs_ : float
        Its share of swapped training pairs.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import wellorder as wo
    >>> ranker = wo.BestFeature().fit([[3, 1], [2, 9], [1, 2]], [0, 1, 2])
    >>> ranker.feature_, ranker.coef_.tolist()
    (0, [-1.0, 0.0])
    """

    def __init__(self, *, levels: Any = None) -> None:
        self.levels = levels

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> BestFeature:
        """Choose the column; y is grades, Grades or Comparisons."""
        X = validate_data(self, X, accept_sparse="csc", dtype=np.float64)
        order = as_order(y, groups, sample_weight, "full", self.levels)
        if isinstance(order, OrderSum):
            raise ValueError("BestFeature takes grades or comparisons, not their sum")
        pairs = order.to_pairs(X.shape[0])
        refuse_no_pairs(order, pairs.n_pairs)
        least = _least_swapped(pairs, X)
        # invariant: `best` is the first of the columns, upright and turned, seen so far with the fewest swaps
        best = (np.inf, 0, False)
        for feature in range(X.shape[1]) if least is None else np.argsort(least, kind="stable").tolist():
            if least is not None and least[feature] > best[0]:
                break
            column = X[:, feature] if least is None else X[:, [feature]].toarray().ravel()
            for turned in (False, True):
                best = min(best, (_swapped(pairs, -column if turned else column), feature, turned))
        self.n_groups_ = order.n_groups
        swapped, self.feature_, turned = best
        self.swapped_pairs_ = float(swapped / pairs.total)
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[self.feature_] = -1.0 if turned else 1.0
        return self

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"feature_": place(below="d"), "swapped_pairs_": figure()}


def _least_swapped(pairs: GradedPairs | ListedPairs, X: Any) -> Floats | None:
    """Bound from below what each sparse column swaps, in O(entries): pairs of rows that have no entry in it are ties.

    None for dense rows. Of a million columns a few have to be looked at then: those whose entries are in many pairs.
    """
    if not sp.issparse(X):
        return None
    pairs_of_row = 0.5 * risk_at(LOSSES["squared_hinge"], np.zeros(X.shape[0]), pairs).hessian_diagonal()
    stored = sp.csc_array((np.where(X.data != 0, pairs_of_row[X.indices], 0.0), X.indices, X.indptr), X.shape)
    covered = np.asarray(stored.sum(axis=0)).ravel()
    least = pairs.total - covered - 1e-9 * pairs.total  # less what rounding may add
    constant = np.flatnonzero(covered == 0)  # every pair is a tie, and one such column is as good as another
    least[constant[:1]], least[constant[1:]] = pairs.total, np.inf
    return np.asarray(least)


def _swapped(pairs: GradedPairs | ListedPairs, scores: Floats) -> float:
    if isinstance(pairs, GradedPairs):
        return float(swapped_weight(pairs, scores, "error"))
    return float(pairs.weight[scores[pairs.high] <= scores[pairs.low]].sum())
