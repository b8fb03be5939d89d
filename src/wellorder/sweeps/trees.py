"""Sums of binary trees over rows: O(rows × depth) a tree, in memory that does not grow with the trees.

A forest is plain arrays, one entry a node. A row at node k goes to ``left[k]`` if its value of column
``feature[k]`` is at most ``threshold[k]``, else to ``right[k]``; a leaf has the children −1 and adds its ``value``.
Whoever calls has made sure that children stand after their parents and inside the arrays: then every walk ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints
from .dispatch import jit, use_compiled

_CHUNK = 1 << 18
"""Walks (a row in a tree) that the NumPy form makes at a time."""


class TreeNodes(NamedTuple):
    """The nodes of all trees, and where each tree has its root."""

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    roots: Ints


def tree_sums(nodes: TreeNodes, X: Floats) -> Floats:
    """Sum the leaf values that each row of a dense X falls into, tree after tree: the same bits in both forms.

    A float32 is compared as the float64 of the same value.
    """
    if not use_compiled(len(X) * len(nodes.roots)):
        return _plain_sums(nodes, X)

    return _compiled_sums(np.ascontiguousarray(X), *nodes)


def _plain_sums(nodes: TreeNodes, X: Floats) -> Floats:
    n, n_trees = len(X), len(nodes.roots)
    out = np.zeros(n)
    rows = max(1, _CHUNK // max(n_trees, 1))
    for a in range(0, n if n_trees else 0, rows):
        leaves = _walk(nodes, X[a : a + rows])
        out[a : a + rows] = np.cumsum(nodes.value[leaves], axis=0)[-1]  # a plain sum would not add tree after tree
    return out


def _walk(nodes: TreeNodes, X: Floats) -> Ints:
    """Return the leaf of each tree that each row falls into, one line a tree."""
    place = np.repeat(nodes.roots, len(X))
    row = np.tile(np.arange(len(X)), len(nodes.roots))
    walking = np.flatnonzero(nodes.left[place] >= 0)
    # invariant: all walks but these have come to a leaf
    while walking.size:
        at = place[walking]
        goes_left = X[row[walking], nodes.feature[at]] <= nodes.threshold[at]
        place[walking] = at = np.where(goes_left, nodes.left[at], nodes.right[at])
        walking = walking[nodes.left[at] >= 0]
    return place.reshape(len(nodes.roots), len(X))


# --------------------------------------------------------------------------------------------------
# Compiled, for large data; the NumPy form above gives the same numbers.


_ROWS = 256
"""Rows that go through all trees together: few enough to stay near the processor."""


@jit
def _compiled_sums(
    X: Floats, feature: Ints, threshold: Floats, left: Ints, right: Ints, value: Floats, roots: Ints
) -> Floats:
    """Walk every row down every tree; a block of rows at a time, and the block tree after tree."""
    n = len(X)
    out = np.zeros(n)
    for begin in range(0, n, _ROWS):
        for root in roots:
            for i in range(begin, min(begin + _ROWS, n)):
                k = root
                # ends: children stand after their parents
                while left[k] >= 0:
                    k = left[k] if X[i, feature[k]] <= threshold[k] else right[k]
                out[i] += value[k]
    return out
