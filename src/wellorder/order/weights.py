"""Weights of rows and of comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sweeps import Floats, is_tensor, to_numpy


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
