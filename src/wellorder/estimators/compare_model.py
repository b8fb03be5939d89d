"""What all models of comparisons share: pairs in, outcomes out, ties among them."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..losses import TiedPairs, best_threshold
from ..metrics import comparison_error
from ..order import Comparisons, outcomes_told, refuse_beside
from ..spaces import Pairs, column_moments
from ..state import Part, Stored, number
from ..sweeps import Array, Bools, Floats, Ints
from .base import check_rows, refuse_without_room

_NO_BIAS = 1e-8
"""A threshold −β below this, against margins of 1, is none."""

_ROUNDING = 1e-12
"""How far from constant, as a share of its mean, a column must be to have a scale."""

_MOST_WEIGHT = 1e100
"""Sums of losses, and products of them, stay finite up to this, and above zero down to its inverse."""


class CompareModel(Stored, BaseEstimator):
    """A model that scores items, and takes two of them for equal where their scores differ by ``threshold_`` or less.

    Pairs of items come as ``Pairs(items, left, right)`` or as an array of shape (n, 2, d); outcomes are −1 (the left
    item is better), 0 (no difference) and 1 (the right one is). ``n_features_in_`` is d.
    """

    threshold_: float

    @abstractmethod
    def decision_function(self, X: Any) -> Floats:
        """Return a real score for each item, a row of X; a higher score stands above."""

    def compare(self, X: Any) -> Floats:
        """Return the score of the right item less that of the left one, for each pair.

        Parameters
        ----------
        X : Pairs, or array of shape (n, 2, d)
        """
        check_is_fitted(self)
        if isinstance(X, Pairs):
            return self._compare_view(X)
        pairs = _as_array(X)
        # each side by itself: a row's score may depend, in its last bit, on its place among the rows
        return np.asarray(self.decision_function(pairs[:, 1]) - self.decision_function(pairs[:, 0]))

    def predict(self, X: Any) -> Ints:
        """Return the outcome of each pair: −1, 0 or 1; scores of items are what ``decision_function`` gives.

        Parameters
        ----------
        X : Pairs, or array of shape (n, 2, d)
        """
        return outcomes_told(self.compare(X), self.threshold_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return 1 − comparison_error: the share of comparisons whose outcome is predicted rightly.

        Parameters
        ----------
        X : Pairs, or array of shape (n, 2, d); items of shape (n_items, d) where y holds Comparisons
        y : array of shape (n,) with outcomes −1, 0 and 1, or Comparisons
        sample_weight : array of shape (n,), optional
        """
        if isinstance(y, Comparisons):
            refuse_beside(y, sample_weight=sample_weight)
            X, y, sample_weight = Pairs(X, y.left, y.right), y.outcome, y.weight
        return 1.0 - comparison_error(y, self.predict(X), sample_weight)

    def _compare_view(self, pairs: Pairs) -> Floats:
        left, right, items = pairs.left, pairs.right, pairs.items
        if 4 * len(pairs) < items.shape[0] and (sp.issparse(items) or isinstance(items, np.ndarray)):
            rows, number = np.unique(np.concatenate([left, right]), return_inverse=True)
            if len(rows) == 0:
                return np.zeros(0)
            items = items.tocsr()[rows] if sp.issparse(items) else items[rows]
            left, right = number[: len(pairs)], number[len(pairs) :]
        scores = np.asarray(self.decision_function(items))
        return np.asarray(scores[right] - scores[left])

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check items: rows of features."""
        return check_rows(self, X, reset=reset)

    _holds_comparisons: ClassVar[bool] = True
    """What a fit holds goes by the comparisons, not by the items."""

    def _read_comparisons(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, TiedPairs]:
        """Check what ``fit`` takes; return items and comparisons, each turned so that a mirrored one is the same."""
        items, pairs = self._turned_comparisons(X, y, sample_weight)
        refuse_without_room(self, len(pairs), len(pairs) * items.shape[1], "comparison")
        return items, pairs

    def _turned_comparisons(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, TiedPairs]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None: give the outcome of each comparison")
        if isinstance(y, Comparisons):
            refuse_beside(y, sample_weight=sample_weight)
            if isinstance(X, Pairs) or np.ndim(X) == 3:
                raise ValueError("Comparisons name rows of items: give X of shape (n_items, d), not pairs")
            items, given = self._check_rows(X, reset=True), y
            given.to_pairs(items.shape[0])  # an item that is not there is an error
            return items, _turn(given, items.shape[0], np.minimum(y.left, y.right) == y.left)
        if isinstance(X, Pairs):
            given = Comparisons(X.left, X.right, _one_each(y, len(X)), sample_weight)
            items = self._check_rows(X.items, reset=True)
            return items, _turn(given, items.shape[0], X.left <= X.right)
        pairs = _as_array(X)
        n = len(pairs)
        given = Comparisons(np.arange(n), n + np.arange(n), _one_each(y, n), sample_weight)
        items = self._check_rows(np.concatenate([pairs[:, 0], pairs[:, 1]]), reset=True)
        turned = _turn(given, 2 * n, _is_rising(items[n:] - items[:n]))
        rows = np.concatenate([turned.low, turned.high])
        n = len(turned)
        return items[rows], TiedPairs(n + np.arange(n), np.arange(n), turned.weight, turned.n_decided, 2 * n)

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"threshold_": number(low=0.0)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.three_d_array = True  # rows of X are pairs
        tags.target_tags.required = True
        return tags


def refuse_only_ties(pairs: TiedPairs) -> None:
    """Raise an error where no comparison was decided."""
    if pairs.n_decided == 0:
        what = f"all {len(pairs):,} comparisons that count are ties" if len(pairs) else "no comparison has a weight"
        raise ValueError(f"there is nothing to learn a direction from: {what}; at least one must be decided (1 or -1)")


def refuse_large_weights(pairs: TiedPairs, C: float) -> None:
    """Raise an error where the losses of comparisons could not be added up, or would vanish."""
    total = C * float(pairs.weight.sum())
    if not total < _MOST_WEIGHT:
        raise ValueError(
            f"C times the weights of the comparisons adds up to {total:.3g}, which is too large to compute with; "
            "divide the weights by a common factor, or lower C"
        )
    if not total > 1.0 / _MOST_WEIGHT:
        raise ValueError(
            f"C times the weights of the comparisons adds up to {total:.3g}, which is too small to compute with; "
            "multiply the weights by a common factor, or raise C"
        )


def is_degenerate(bias: float) -> bool:
    """Say whether the bias β leaves no threshold −β for ties."""
    return not bias < -_NO_BIAS


SCALING = "scale the columns of the items (scale=True)"
"""What helps where columns are of very different size: advice for a model that has not done so."""


def scale_to_threshold(bias: float, pairs: TiedPairs, scores: Floats, *, scaled: bool) -> tuple[float, float]:
    """Return what to multiply scores by, and the threshold that they have then.

    ``scaled`` says that the columns were standardised, or cannot be, so that nobody is told to do it.
    """
    if pairs.n_ties == 0:
        return 1.0, 0.0
    if not is_degenerate(bias):
        _warn_if_all_tie(bias, pairs, scores, scaled)
        return -1.0 / bias, 1.0
    threshold = best_threshold(pairs.differences(scores), pairs.outcome, pairs.weight)
    warnings.warn(
        f"the model is degenerate: its threshold for ties would be {-bias:.3g}, which should be above 0; the one that "
        f"fits the training pairs best is taken instead. Raise C{'' if scaled else f', or {SCALING}'}; where ties are "
        "few, ThresholdCompare does as well",
        stacklevel=4,
    )
    return (1.0 / threshold, 1.0) if threshold > 0 else (1.0, 0.0)


def _warn_if_all_tie(bias: float, pairs: TiedPairs, scores: Floats, scaled: bool) -> None:
    """Say where no training pair is called different, although some are."""
    if np.abs(pairs.differences(scores)).max() > -bias:
        return
    warnings.warn(
        f"the model calls every training pair a tie, although {pairs.n_decided:,} of {len(pairs):,} were decided: its "
        "scores order the items, but are nowhere further apart than its threshold. Raise C, take another loss "
        f"(loss='squared_hinge'){'' if scaled else f', or {SCALING}'}",
        stacklevel=5,
    )


def learn_scale(X: Any, pairs: TiedPairs) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the columns, each item taken as often as it is compared.

    Constant columns have a deviation of 1; what rounding leaves of theirs would blow up any other value. Sparse items
    are not centred: their means are 0.
    """
    mean, variance = column_moments(X, pairs.row_shares)
    # the variance of sparse columns is a difference of squares
    rounding = _ROUNDING * mean**2 if sp.issparse(X) else (_ROUNDING * mean) ** 2
    scale = np.where(variance > rounding, np.sqrt(variance), 1.0)
    return np.zeros_like(mean) if sp.issparse(X) else mean, scale


def standardised(X: Any, mean: Floats, scale: Floats) -> Any:
    """Return items with columns that were learnt to be standardised so."""
    if sp.issparse(X):
        return sp.csr_array(X).multiply((1.0 / scale).astype(X.dtype)).tocsr()
    return ((X - mean) / scale).astype(X.dtype)


def _as_array(X: Any) -> Array:
    if sp.issparse(X) or np.ndim(X) == 2:
        raise ValueError(
            f"X of shape {X.shape if hasattr(X, 'shape') else np.shape(X)} holds items, and this takes pairs: give "
            "wellorder.Pairs(items, left, right) or an array of shape (n, 2, d); decision_function gives item scores"
        )
    pairs = np.asarray(X)
    if pairs.ndim != 3 or pairs.shape[1] != 2:
        raise ValueError(f"pairs must have the shape (n, 2, d), got {pairs.shape}")
    return pairs


def _one_each(y: Any, n: int) -> Array:
    values = np.asarray(y)
    if values.shape[:1] != (n,):
        raise ValueError(f"there are {n} pairs and outcomes of shape {values.shape}; give one outcome a pair")
    return values


def _is_rising(difference: Floats) -> Bools:
    """Say of each row whether its first number other than zero is positive: so for one of x and −x."""
    first = np.argmax(difference != 0, axis=1)
    return np.asarray(difference[np.arange(len(difference)), first] >= 0)


def _turn(given: Comparisons, n_rows: int, forward: Bools) -> TiedPairs:
    """Put decided comparisons first, the better item high; ties as ``forward`` says; those without weight nowhere."""
    weight = np.ones(len(given)) if given.weight is None else given.weight
    upward = np.where(given.outcome == 0, forward, given.outcome > 0)
    decided = np.flatnonzero((given.outcome != 0) & (weight > 0))
    order = np.concatenate([decided, np.flatnonzero((given.outcome == 0) & (weight > 0))])
    low, high = np.where(upward, given.left, given.right), np.where(upward, given.right, given.left)
    return TiedPairs(high[order], low[order], weight[order], len(decided), n_rows)
