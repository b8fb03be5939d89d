"""Means and variances of columns, rows weighed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Floats
from .function import PartedSpace
from .linear import LinearSpace
from .rows import linear_space


def column_moments(X: Any, share: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of each column, the rows counted by shares that add up to 1."""
    space = linear_space(X)
    mean = space.adjoint(share)
    if isinstance(space, PartedSpace):
        variance = np.sum(space.each(partial(_about, mean), space.cut(share)), axis=0)
    else:
        assert isinstance(space, LinearSpace)
        variance = _about(mean, space, share)
    return mean if space.origin is None else mean + space.origin, np.maximum(variance, 0.0)


def _about(mean: Floats, part: LinearSpace, share: Floats) -> Floats:
    """Return Σ share (x − mean)² of each column; of sparse rows, without filling them in."""
    if sp.issparse(part.matrix):
        return np.asarray(part.weighted_squares(share) + mean * (mean * share.sum() - 2.0 * part.adjoint(share)))
    return LinearSpace(part.matrix - mean).weighted_squares(share)
