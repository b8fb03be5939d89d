"""Sums over nodes: of the rows put on a column's nodes, and of the values where rows fall in trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints
from .dispatch import jit, use_compiled

# --------------------------------------------------------------------------------------------------
# Rows put on a column's nodes, and sums over the rows of each node. O(listed rows).


class Nodes(NamedTuple):
    """Where the rows of one column stand.

    Row ``rows[p]`` stands on node ``code[p]``; with shares, a part ``share[p]`` of it on the next node.
    """

    rows: Ints  # empty: all rows, in order
    code: Ints
    share: Floats  # empty: every row stands on one node
    rest: int  # the node of the rows that are not listed; −1: they count nowhere
    size: int


def node_sums(nodes: Nodes, payload: Floats, totals: Floats) -> Floats:
    """Add up two payloads over the rows of each node; ``payload`` has two lines, ``totals`` their sums."""
    if use_compiled(len(nodes.code)):
        sums: Floats = np.zeros((2, nodes.size))
        _add_to_nodes(nodes.rows, nodes.code, nodes.share, payload, sums)
    else:
        sums = _plain_node_sums(nodes, payload)
    if nodes.rest >= 0:
        sums[:, nodes.rest] += totals - sums.sum(axis=1)
    return sums


def _plain_node_sums(nodes: Nodes, payload: Floats) -> Floats:
    here = payload[:, nodes.rows] if len(nodes.rows) else payload[:, : len(nodes.code)]
    code = nodes.code.astype(np.intp)
    if not len(nodes.share):
        return np.stack([np.bincount(code, line, nodes.size) for line in here])
    later = here * nodes.share
    return np.stack(
        [
            np.bincount(code, line, nodes.size) + np.bincount(code + 1, part, nodes.size)
            for line, part in zip(here - later, later, strict=True)
        ]
    )


# --------------------------------------------------------------------------------------------------
# Compiled, for large data; the NumPy form above gives the same numbers. Arrays are made outside: a function of NumPy's
# costs a tenth of a second where it is compiled, and whoever fits first waits for that.


@jit
def _add_to_nodes(rows: Ints, code: Ints, share: Floats, payload: Floats, sums: Floats) -> None:
    """Add up two payloads over the listed rows of each node; see :class:`wellorder.sweeps.nodes.Nodes`."""
    listed = len(rows) > 0
    shared = len(share) > 0
    for p in range(len(code)):
        i = rows[p] if listed else p
        node = code[p]
        one, two = payload[0, i], payload[1, i]
        if shared:
            part = share[p]
            sums[0, node + 1] += part * one
            sums[1, node + 1] += part * two
            one -= part * one
            two -= part * two
        sums[0, node] += one
        sums[1, node] += two


# --------------------------------------------------------------------------------------------------
# Sums of binary trees over rows: O(rows × depth) a tree, in memory that does not grow with the trees.
#
# A forest is plain arrays, one entry a node. A row at node k goes to ``left[k]`` if its value of column
# ``feature[k]`` is at most ``threshold[k]``, else to ``right[k]``; a leaf has the children −1 and adds its ``value``.
# Where ``size[k]`` is not zero, the value is a category's number, and those among ``member[begin[k] : begin[k] +
# size[k]]`` go left. A missing value, or the number of no category, goes to the left where ``missing_left[k]`` says so.
# Whoever calls has made sure that children stand after their parents and sets inside the array: then every walk ends.


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


class NodeHoles(NamedTuple):
    """What else the nodes know: where missing values go, and which have a set of categories in place of a threshold."""

    missing_left: Bools
    begin: Ints  # where the node's set begins in ``member``
    size: Ints  # how many categories its column has; 0: it has a threshold
    member: Bools


def tree_sums(nodes: TreeNodes, X: Floats, holes: NodeHoles | None = None) -> Floats:
    """Sum the leaf values that each row of a dense X falls into, tree after tree: the same bits in both forms.

    A float32 is compared as the float64 of the same value. Without ``holes`` X is without NaN.
    """
    if not use_compiled(len(X) * len(nodes.roots)):
        return _plain_tree_sums(nodes, X, holes)

    out = np.zeros(len(X))
    if holes is None:
        _add_trees(np.ascontiguousarray(X), *nodes, out)
    else:
        _add_trees_with_holes(np.ascontiguousarray(X), *nodes, *holes, out)
    return out


def goes_left(nodes: TreeNodes, holes: NodeHoles | None, at: Ints, x: Floats) -> Bools:
    """Say at which of some nodes a value goes left; ``x`` has one value a node."""
    side = x <= nodes.threshold[at]
    if holes is None:
        return np.asarray(side)
    size = holes.size[at]
    is_category = (
        (x >= 0) & (x < size) & (x == np.floor(x))
    )  # never where the node has a threshold, or where the value is missing
    if is_category.any():
        place = holes.begin[at[is_category]] + x[is_category].astype(np.int64)
        side[is_category] = holes.member[place]
    return np.where(np.isnan(x) | ((size > 0) & ~is_category), holes.missing_left[at], side)


def _plain_tree_sums(nodes: TreeNodes, X: Floats, holes: NodeHoles | None) -> Floats:
    n, n_trees = len(X), len(nodes.roots)
    out = np.zeros(n)
    rows = max(1, _CHUNK // max(n_trees, 1))
    for a in range(0, n if n_trees else 0, rows):
        leaves = _walk(nodes, X[a : a + rows], holes)
        out[a : a + rows] = np.cumsum(nodes.value[leaves], axis=0)[-1]  # a plain sum would not add tree after tree
    return out


def _walk(nodes: TreeNodes, X: Floats, holes: NodeHoles | None) -> Ints:
    """Return the leaf of each tree that each row falls into, one line a tree."""
    place = np.repeat(nodes.roots, len(X))
    row = np.tile(np.arange(len(X)), len(nodes.roots))
    walking = np.flatnonzero(nodes.left[place] >= 0)
    # invariant: all walks but these have come to a leaf
    while walking.size:
        at = place[walking]
        side = goes_left(nodes, holes, at, X[row[walking], nodes.feature[at]])
        place[walking] = at = np.where(side, nodes.left[at], nodes.right[at])
        walking = walking[nodes.left[at] >= 0]
    return place.reshape(len(nodes.roots), len(X))


# --------------------------------------------------------------------------------------------------
# Compiled, for large data; the NumPy form above gives the same numbers.


_ROWS = 256
"""Rows that go through all trees together: few enough to stay near the processor."""


@jit
def _add_trees(
    X: Floats, feature: Ints, threshold: Floats, left: Ints, right: Ints, value: Floats, roots: Ints, out: Floats
) -> None:
    """Walk every row down every tree; a block of rows at a time, and the block tree after tree."""
    n = len(X)
    for begin in range(0, n, _ROWS):
        end = begin + _ROWS if begin + _ROWS < n else n
        for tree in range(len(roots)):
            for i in range(begin, end):
                k = roots[tree]
                # ends: children stand after their parents
                while left[k] >= 0:
                    k = left[k] if X[i, feature[k]] <= threshold[k] else right[k]
                out[i] += value[k]


@jit
def _add_trees_with_holes(
    X: Floats,
    feature: Ints,
    threshold: Floats,
    left: Ints,
    right: Ints,
    value: Floats,
    roots: Ints,
    missing_left: Bools,
    set_begin: Ints,
    set_size: Ints,
    member: Bools,
    out: Floats,
) -> None:
    """Do the same where values are missing, or are categories: :func:`goes_left` has the rule."""
    n = len(X)
    for begin in range(0, n, _ROWS):
        end = begin + _ROWS if begin + _ROWS < n else n
        for tree in range(len(roots)):
            for i in range(begin, end):
                k = roots[tree]
                # ends: children stand after their parents
                while left[k] >= 0:
                    x = X[i, feature[k]]
                    if x != x:
                        side = missing_left[k]
                    elif set_size[k] == 0:
                        side = x <= threshold[k]
                    elif 0 <= x < set_size[k] and int(x) == x:
                        side = member[set_begin[k] + int(x)]
                    else:
                        side = missing_left[k]
                    k = left[k] if side else right[k]
                out[i] += value[k]
