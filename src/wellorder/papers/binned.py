"""Grades cut into a few bins of equally many training rows: what the paper does for ordinal regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..order import Grades
from ..sweeps import Array, Floats, Ints


def equal_bins(y: Floats, n_bins: int = 5) -> Ints:
    """Return each row's bin, numbered from 0: of about equally many rows each; equal values share one."""
    cuts = np.unique(np.quantile(y, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
    return np.searchsorted(cuts, y, side="left")


class Binned(BaseEstimator):
    """A ranker that is taught bins of the grades instead of the grades themselves.

    Parameters
    ----------
    ranker : estimator
        It is cloned.
    n_bins : int, default=5
        Bins of about equally many training rows; equal grades share one.
    """

    def __init__(self, ranker: Any, n_bins: int = 5) -> None:
        self.ranker = ranker
        self.n_bins = n_bins

    def fit(self, X: Any, y: Any) -> Binned:
        """Cut the grades at the quantiles of this training part, and fit the ranker."""
        grades = np.array(y.levels, dtype=float)[y.level] if isinstance(y, Grades) else np.asarray(y, dtype=float)
        self.ranker_ = clone(self.ranker).fit(X, equal_bins(grades, self.n_bins))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the ranker's scores."""
        return np.asarray(self.ranker_.decision_function(X))
