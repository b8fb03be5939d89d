"""RankSVM the naive way: every pair written out as a row of its own, for LIBLINEAR."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import LinearSVC

from ..order import Grades
from ..sweeps import Floats

MOST_NUMBERS = 2e7
"""Of the table of pairs, pairs times features: 160 MB."""


class ExplicitPairs(BaseEstimator):
    """A linear SVM without intercept on x_i − x_j for every pair of rows with y_i > y_j, squared hinge.

    Parameters
    ----------
    C : float, default=1.0
        As RankSVM's: n times the mean over pairs.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any) -> ExplicitPairs:
        """List the pairs, and fit; refuses where the table of pairs is too large to try."""
        grade = np.asarray(y.level if isinstance(y, Grades) else y)
        rows = np.asarray(X, dtype=float)
        n_pairs = (len(grade) ** 2 - int((np.unique(grade, return_counts=True)[1].astype(np.int64) ** 2).sum())) // 2
        if n_pairs * rows.shape[1] > MOST_NUMBERS:
            raise ValueError(f"{n_pairs:,} pairs of {rows.shape[1]} features are too many to write out")
        high, low = np.nonzero(grade[:, None] > grade[None, :])
        turned = np.where(np.arange(len(high)) % 2 == 0, 1.0, -1.0)  # LIBLINEAR wants rows of both classes
        solver = LinearSVC(C=self.C * len(grade) / len(high), fit_intercept=False, dual=False)
        self.coef_: Floats = solver.fit(turned[:, None] * (rows[high] - rows[low]), turned).coef_.ravel()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores."""
        return np.asarray(np.asarray(X, dtype=float) @ self.coef_)
