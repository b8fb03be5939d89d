"""Curves of a test part, small enough to be kept in a record: NDCG over k, and the ROC of comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..metrics import comparison_roc, ndcg
from ..order import Grades, refuse_beside
from .records import Curve

MOST_POINTS = 200
"""More points of a curve than this cannot be seen in a figure."""


def ndcg_curve(y: Any, scores: Any, groups: Any = None, k: int = 10) -> Curve:
    """Return NDCG@1, NDCG@2, …, NDCG@k; shorter where no list has k judged rows.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, not negative; rows without one (NaN) are left out.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        The query of each row.
    k : int, default=10
        The last cut-off.

    Examples
    --------
    >>> from wellorder.evaluation.curves import ndcg_curve
    >>> curve = ndcg_curve([0, 1, 2], [0.1, 0.9, 0.5], k=10)
    >>> curve.x, [round(value, 3) for value in curve.y]
    ((1.0, 2.0, 3.0), [0.333, 0.797, 0.797])
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k={k!r} is no cut-off; give a whole number, at least 1")
    if isinstance(y, Grades):
        refuse_beside(y, groups=groups)
    grades = y if isinstance(y, Grades) else Grades(y, groups)
    judged = grades.level >= 0
    length = np.bincount(grades.group[judged]) if grades.group is not None else np.array([np.count_nonzero(judged)])
    cutoffs = range(1, max(1, min(int(k), int(length.max(initial=0)))) + 1)
    return Curve("ndcg", tuple(map(float, cutoffs)), tuple(ndcg(grades, scores, k=cutoff) for cutoff in cutoffs))


def comparison_roc_curve(y: Any, differences: Any) -> Curve:
    """Return the ROC curve of comparisons, thinned to at most 200 points along its length.

    Parameters
    ----------
    y : array of shape (n,)
        Outcomes in {−1, 0, 1}; 1: the right item is better. At least one 0 and one other.
    differences : array of shape (n,)
        Score of the right item less that of the left one.

    Examples
    --------
    >>> from wellorder.evaluation.curves import comparison_roc_curve
    >>> curve = comparison_roc_curve([1, 0, -1, 0], [2.0, 0.5, 1.0, 0.0])
    >>> curve.x, curve.y
    ((0.0, 0.0, 0.0, 0.5, 1.0), (0.0, 0.5, 0.5, 0.5, 0.5))
    """
    roc = comparison_roc(y, differences)
    x, height = roc.fpr, roc.tpr
    if len(x) > MOST_POINTS:
        along = x + height  # both only rise, so this is the length of the staircase so far
        kept = np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], MOST_POINTS)))
        x, height = x[kept], height[kept]
    return Curve("comparison_roc", tuple(x.tolist()), tuple(height.tolist()))
