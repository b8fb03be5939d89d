"""What follows from the edges of an order graph, and which edges follow from the others."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array
from .graph_checks import Labels, topological


def reachable(matrix: sp.csr_array, levels: Labels) -> Array:
    """Return above[a, b]: whether a path of edges leads from level a up to level b. O(r · edges)."""
    above = np.asarray(matrix.toarray() > 0)
    for level in reversed(topological(matrix, levels)):
        above[level] |= above[above[level]].any(axis=0)
    return above


def without_shortcuts(matrix: sp.csr_array, levels: Labels) -> sp.csr_array:
    """Return the edges that no path of other edges stands for, with their weights.

    Without a cycle they are the fewest that say the same, and no others do.
    """
    above = reachable(matrix, levels)
    entries = matrix.tocoo()
    kept = np.ones(len(entries.data), dtype=bool)
    by_lower = np.argsort(entries.row, kind="stable")
    for places in np.split(by_lower, np.flatnonzero(np.diff(entries.row[by_lower])) + 1):
        targets = entries.col[places]
        kept[places] = ~above[targets][:, targets].any(axis=0)  # reached through another target
    return sp.csr_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=matrix.shape)
