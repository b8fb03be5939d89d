"""What swapping two rows of a list changes in a metric: its terms, as :mod:`wellorder.sweeps.places` has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..order import Grades
from ..sweeps import Floats, SwapTerms
from .cascade import stopping_chances
from .inputs import relevant_levels
from .retrieval import Gain, discount, gains_of


def swaps_in_ndcg(
    grades: Grades, length: int, k: int | None = None, gain: Gain = "exp2", empty: Any = None
) -> SwapTerms:
    """|2^{y_i} − 2^{y_j}| · |D_i − D_j|."""
    gains = gains_of(grades, gain)[:-1]
    if not np.isfinite(gains).all():
        raise ValueError(
            f"a grade of {grades.level_values.max():g} gains 2^{grades.level_values.max():g} − 1, more than any number "
            "holds; use ndcg(gain=linear), or fewer levels"
        )
    return SwapTerms("discounts", gains, _drops(discount(_places(length, k), None)))


def swaps_in_precision(grades: Grades, length: int, k: int, positive: Any = 1, empty: Any = None) -> SwapTerms:
    """One, where one row is relevant and the other not, one in the first k places and the other not."""
    return SwapTerms("discounts", relevant_levels(grades, positive).astype(float), _drops(np.ones(min(k, length))))


def swaps_in_average_precision(
    grades: Grades, length: int, k: int | None = None, positive: Any = 1, empty: Any = None
) -> SwapTerms:
    """Σ δ_p (1 + relevant rows among the others of the first p), over the places p between the two."""
    return SwapTerms("precisions", relevant_levels(grades, positive).astype(float), _drops(1.0 / _places(length, k)))


def swaps_in_reciprocal_rank(
    grades: Grades, length: int, k: int | None = None, positive: Any = 1, empty: Any = None
) -> SwapTerms:
    """Σ δ_p over the places p between the two, as long as no other of the first p is relevant."""
    return SwapTerms("cascade", relevant_levels(grades, positive).astype(float), _drops(1.0 / _places(length, k)))


def swaps_in_expected_reciprocal_rank(
    grades: Grades, length: int, k: int | None = None, highest: float | None = None, empty: Any = None
) -> SwapTerms:
    """|R_i − R_j| Σ δ_p Π (1 − R) over the others of the first p, over the places p between the two."""
    return SwapTerms("cascade", stopping_chances(grades, highest)[:-1], _drops(1.0 / _places(length, k)))


def _places(length: int, k: int | None) -> Floats:
    return np.arange(1.0, 1.0 + (length if k is None else min(k, length)))


def _drops(worth: Floats) -> Floats:
    """Return how much less each place is worth than the one before it; nothing is, beyond the last."""
    return np.asarray(worth - np.append(worth[1:], 0.0))
