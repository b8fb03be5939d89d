"""The three shapes that weights over levels come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from ..sweeps import Floats


@dataclass(frozen=True)
class Full:
    """Every higher level stands above every lower one, with weight one."""


@dataclass(frozen=True)
class Scale:
    """W[a, b] = weight_a · weight_b · (scale_b − scale_a) for a < b: the *separable* costs."""

    weight: Floats
    scale: Floats


@dataclass(frozen=True)
class Table:
    """Any weights: W[lower, higher], sparse."""

    matrix: sp.csr_array


Structure: TypeAlias = Full | Scale | Table


DENSE_LEVELS = 5_000
"""Up to this many levels a whole table of weights may be made (200 MB)."""


def whole_table(structure: Structure, n_levels: int) -> Floats:
    """Return the whole table W[lower, higher]."""
    if n_levels > DENSE_LEVELS:
        raise ValueError(
            f"a table of {n_levels} x {n_levels} weights would take {n_levels**2 * 8 / 1e9:.1f} GB; ask for "
            "`structure` instead"
        )
    match structure:
        case Full():
            return np.triu(np.ones((n_levels, n_levels)), 1)
        case Scale(weight, scale):
            return np.triu(np.outer(weight, weight) * (scale[None, :] - scale[:, None]), 1)
        case Table(matrix):
            return np.asarray(matrix.toarray(), dtype=float)
