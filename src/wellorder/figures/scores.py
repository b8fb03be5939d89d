"""What a fitted estimator says of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sweeps import Floats


def scores_of(estimator: Any, X: Any) -> Floats:
    """Return a score a row: the estimator's own, or its prediction where it is a regression."""
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=float)
    elif hasattr(estimator, "predict"):
        scores = np.asarray(estimator.predict(X), dtype=float)
    else:
        raise ValueError(f"{type(estimator).__name__} has neither decision_function nor predict; give a fitted model")
    if scores.ndim != 1:
        raise ValueError(f"{type(estimator).__name__} gives {scores.shape} scores; an ordering needs one score a row")
    return scores
