"""What a fitted estimator says of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..order import Grades
from ..scoring import list_scores, warn_if_groups_are_lost
from ..sweeps import Floats


def scores_of(estimator: Any, X: Any, y: Any, groups: Any) -> Floats:
    """Return a score a row: the estimator's own, or its prediction where it is a regression.

    The groups are those of the grades, where these bring their own.
    """
    if not hasattr(estimator, "decision_function") and not hasattr(estimator, "predict"):
        raise ValueError(f"{type(estimator).__name__} has neither decision_function nor predict; give a fitted model")
    lists = y.group if isinstance(y, Grades) else groups
    warn_if_groups_are_lost(estimator, lists, "pass groups=, or wo.Grades(y, groups) as y", depth=2)
    scores = np.asarray(list_scores(estimator, X, lists), dtype=float)
    if scores.ndim != 1:
        raise ValueError(f"{type(estimator).__name__} gives {scores.shape} scores; an ordering needs one score a row")
    return scores
