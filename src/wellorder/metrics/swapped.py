"""Swapped pairs: the share of pairs that stand in the wrong order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..order import GradedPairs, Ties, check_scores, right_weight, swapped_weight
from .inputs import check_ties, read_grades, undefined


def swapped_pairs(
    y: Any,
    scores: Any,
    groups: Any = None,
    order: Any = "full",
    ties: Ties = "error",
    sample_weight: Any = None,
) -> float:
    r"""Share of the pairs that the scores put in the wrong order: Σ_swapped W_ij / Σ W_ij.

    A pair is two rows of one group with different grades. The lower the better.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, higher is better; rows without a grade (NaN) are left out. A ``Grades`` brings its own
        groups and weights, and its own order unless ``order`` says otherwise.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        One id a row: only rows of one group are compared.
    order : str, OrderGraph or array
        Which levels are compared and what a swap weighs.
    ties : {"error", "half"}
        What a pair of equal scores counts as: a swap, or half of one. With two levels and "half" this
        is 1 − AUC.
    sample_weight : array of shape (n,), optional
        Row weights ω; a pair weighs ω_i · ω_j.

    Returns
    -------
    float
        In [0, 1]; NaN, with a warning, if there is no pair. O(n log n).

    Examples
    --------
    >>> from wellorder.metrics import swapped_pairs
    >>> swapped_pairs([0, 1, 2], [0.1, 0.9, 0.5])
    0.3333333333333333
    """
    check_ties(ties)
    grades = read_grades(y, groups, order, sample_weight)
    values = check_scores(scores, len(grades))
    if grades.pairs.n_pairs == 0:
        return undefined("swapped_pairs", f"there is no pair ({grades.describe()})")
    return swapped_share(grades.pairs, values, ties)


def swapped_share(pairs: GradedPairs, scores: Any, ties: Ties) -> float:
    """Σ_swapped W_ij / Σ W_ij, for checked scores and at least one pair."""
    return _share(swapped_weight, pairs, scores, ties)


def right_share(pairs: GradedPairs, scores: Any, ties: Ties) -> float:
    """1 − :func:`swapped_share`, without the subtraction."""
    return _share(right_weight, pairs, scores, ties)


def _share(weight: Callable[..., float], pairs: GradedPairs, scores: Any, ties: Ties) -> float:
    pairs, _ = pairs.in_range
    pairs.refuse_lost_weights()
    return min(weight(pairs, scores, ties) / pairs.total, 1.0)  # rounding may go beyond
