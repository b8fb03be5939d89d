"""Weights of rows and of comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sweeps import Floats, is_tensor, to_numpy

_LEAST, _MOST = 1e-100, 1e100
"""Between these weights can be added up, multiplied with each other and with C, and squared by solvers."""


def check_weights(weights: Any, n: int, *, of: str = "row") -> Floats | None:
    """Check weights: one each, finite, not negative. None and equal ones mean no weights."""
    if weights is None:
        return None
    try:
        values = np.array(to_numpy(weights) if is_tensor(weights) else weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"weights must be numbers, one a {of}") from None
    if values.ndim == 0:
        values = np.full(n, float(values))
    if values.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {values.ndim}D array of shape {values.shape}")
    if len(values) != n:
        raise ValueError(f"there are {n} {of}s and weights of shape {values.shape}; give one weight a {of}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise ValueError(f"{of} {bad[0]} has the weight {values[bad[0]]}; weights must be finite and not negative")
    return None if (values == 1).all() else values


def refuse_lost_weights(weights: Floats | None, *, of: str = "row") -> None:
    """Raise an error if weights to learn from are so extreme that what they add up to would overflow or vanish.

    They are not brought into bounds here: a weight of two is the same as listing a row twice, and weighs against the
    regulariser.
    """
    largest = 1.0 if weights is None else float(weights.max(initial=0.0))
    if largest > 0 and not _LEAST <= largest <= _MOST:
        raise ValueError(
            f"the {of} weights are too large or too small to add up (the largest is {largest:g}); divide them by a "
            "common factor"
        )
