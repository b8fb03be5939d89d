"""Means and variances of columns, rows weighed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Floats
from .linear import LinearSpace


def column_moments(X: Any, share: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of each column, the rows counted by shares that add up to 1."""
    mean = LinearSpace(X).adjoint(share)
    if sp.issparse(X):
        return mean, np.maximum(LinearSpace(X).weighted_squares(share) - mean**2, 0.0)
    return mean, LinearSpace(X - mean).weighted_squares(share)
