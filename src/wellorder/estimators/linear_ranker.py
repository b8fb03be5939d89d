"""What the baselines share: scores that are linear in the columns, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..state import Part, floats
from ..sweeps import Array
from .base import Ranker
from .rows import validate_data


class LinearRanker(Ranker):
    """A ranker whose scores are X @ coef_; every pair of different grades counts the same."""

    order = "full"

    def decision_function(self, X: Any) -> Array:
        """Return the score of each row; a higher score stands above."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_)

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"coef_": floats("d")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
