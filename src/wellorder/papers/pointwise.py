"""What a user would pick instead of a ranker: a regression on the grades, judged by the order of its predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..order import Grades
from ..sweeps import Array


class Pointwise(BaseEstimator):
    """A regressor on the grades, standardised, as a ranker.

    Parameters
    ----------
    regressor : estimator
        Any scikit-learn regressor. It is cloned.
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: Any, y: Any) -> Pointwise:
        """Fit the regressor; y is ``Grades`` with numbers, or an array."""
        target = np.array(y.levels, dtype=float)[y.level] if isinstance(y, Grades) else np.asarray(y, dtype=float)
        spread = target.std()
        self.regressor_ = clone(self.regressor).fit(X, (target - target.mean()) / (spread if spread > 0 else 1.0))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the predictions."""
        return np.asarray(self.regressor_.predict(X))
