"""ThresholdCompare: any ranker, and a threshold below which its scores count as equal."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..losses import TiedPairs, best_threshold
from ..memory import Held
from ..methods import Method, inner_costs
from ..order import Comparisons
from ..state import Part, fitted, none_or, template
from ..sweeps import Floats
from .base import check_option
from .compare_model import CompareModel, refuse_only_ties
from .rank_svm import RankSVM


class ThresholdCompare(CompareModel):
    r"""A ranker made to predict ties: the baselines 'rank' and 'rank2' of support vector comparison machines.

    The ranker learns from comparisons; then τ is chosen on all training pairs so that 'different where
    abs(r(x') − r(x)) > τ' has the lowest zero-one loss. It is found exactly, by sorting the differences. Of several
    best ranges of τ the lowest is taken: 0 where it is in that range, else the range's middle.

    Parameters
    ----------
    estimator : ranker, default=None
        Any ranker that takes ``Comparisons`` in ``fit`` and has a ``decision_function``; None is ``RankSVM()``. It is
        cloned.
    ties : {"drop", "both"}, default="drop"
        What the ranker learns from ties: nothing ("rank"), or two opposite pairs each, with every decided comparison
        counted twice ("rank2").

    Attributes
    ----------
    estimator_ : ranker
        The fitted ranker.
    threshold_ : float
        τ.
    n_features_in_, feature_names_in_
        As in scikit-learn, of the items.

    References
    ----------
    Venuto, Hocking, Spanurattana and Sugiyama (2014), Support vector comparison machines, sections 2.2 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> wines = np.array([[0.0], [1.0], [5.0], [9.0]])
    >>> pairs = wo.Pairs(wines, left=[0, 1, 3, 0], right=[1, 2, 2, 3])
    >>> model = wo.ThresholdCompare(wo.RankSVM(C=10.0)).fit(pairs, [0, 1, -1, 1])
    >>> model.predict(pairs)
    array([ 0,  1, -1,  1])
    """

    _held: ClassVar[Held] = Held(26.0)

    estimator_: Any

    def __init__(self, estimator: Any = None, *, ties: str = "drop") -> None:
        self.estimator = estimator
        self.ties = ties

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ThresholdCompare:
        """Fit the ranker, then choose the threshold.

        Parameters
        ----------
        X : Pairs, or array of shape (n, 2, d); items of shape (n_items, d) where y holds Comparisons
        y : array of shape (n,) with outcomes −1, 0 and 1, or Comparisons
        sample_weight : array of shape (n,), optional
            Weights of the comparisons.
        """
        self._check_parameters()
        items, pairs = self._read_comparisons(X, y, sample_weight)
        refuse_only_ties(pairs)
        ranker = RankSVM() if self.estimator is None else clone(self.estimator)
        self.estimator_ = ranker.fit(items, _for_ranker(pairs, self.ties))
        d = pairs.differences(np.asarray(self.estimator_.decision_function(items), dtype=float))
        self.threshold_ = best_threshold(d, pairs.outcome, pairs.weight)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the ranker's score of each item; a higher score stands above."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(self._check_rows(X, reset=False)))

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"estimator": none_or(template()), "estimator_": fitted("decision_function")}

    def _check_parameters(self) -> None:
        check_option(self.ties, "ties", ("drop", "both"))


def _for_ranker(pairs: TiedPairs, ties: str) -> Comparisons:
    """Return comparisons without ties, for a ranker to learn from."""
    n = pairs.n_decided
    low, high, weight = pairs.low[:n], pairs.high[:n], pairs.weight[:n]
    if ties == "both":
        one, other, tie_weight = pairs.low[n:], pairs.high[n:], pairs.weight[n:]
        apart = one != other  # an item that ties with itself says nothing
        one, other, tie_weight = one[apart], other[apart], tie_weight[apart]
        low, high = np.concatenate([low, one, other]), np.concatenate([high, other, one])
        weight = np.concatenate([2.0 * weight, tie_weight, tie_weight])
    return Comparisons(low, high, np.ones(len(low), np.int8), weight)


METHODS = {
    "rank-threshold": Method(
        "rank-svm, ties where scores are near",
        lambda: ThresholdCompare(RankSVM()),
        inner_costs,
        takes=("comparisons",),
        predicts_ties=True,
    ),
    "rank-threshold-both": Method(
        "rank-threshold, learning from ties as two opposite pairs",
        lambda: ThresholdCompare(RankSVM(), ties="both"),
        inner_costs,
        takes=("comparisons",),
        predicts_ties=True,
    ),
}
