"""Swapped pairs: the share of pairs that stand in the wrong order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..order import Grades, Ties, check_scores, swapped_weight


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
        groups, order and weights.
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
    if ties not in ("error", "half"):
        raise ValueError(f"ties={ties!r} is not known; use 'error' or 'half'")
    grades = y if isinstance(y, Grades) else Grades(y, groups, order, sample_weight)
    pairs = grades.pairs
    values = check_scores(scores, len(grades))
    if pairs.n_pairs == 0:
        warnings.warn(f"swapped_pairs is not defined: there is no pair ({grades.describe()})", stacklevel=2)
        return float(np.nan)
    pairs.refuse_lost_weights()
    return swapped_weight(pairs, values, ties) / pairs.total
