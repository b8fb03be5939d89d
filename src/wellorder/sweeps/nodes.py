"""Sums over nodes: of the rows put on a column's nodes, and of the values where rows fall in trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints
from .dispatch import is_loaded, jit, use_compiled

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
# ``columns[feature[k]]`` is at most ``threshold[k]``, else to ``right[k]``; a leaf has the children −1 and adds its
# ``value``.
# Where ``size[k]`` is not zero, the value is a category's number, and those among ``member[begin[k] : begin[k] +
# size[k]]`` go left. A missing value, or the number of no category, goes to the left where ``missing_left[k]`` says so.
# Whoever calls has made sure that children stand after their parents and sets inside the array: then every walk ends.


_CHUNK = 1 << 18
"""Walks (a row in a tree) that the NumPy form makes at a time."""


class TreeNodes(NamedTuple):
    """The nodes of all trees, where each tree has its root, and which columns of X are the nodes' features."""

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    roots: Ints
    columns: Ints


class NodeHoles(NamedTuple):
    """What else the nodes know: where missing values go, and which have a set of categories in place of a threshold."""

    missing_left: Bools
    begin: Ints  # where the node's set begins in ``member``
    size: Ints  # how many categories its column has; 0: it has a threshold
    member: Bools


def tree_sums(nodes: TreeNodes, X: Floats, holes: NodeHoles) -> Floats:
    """Sum the leaf values that each row of a dense X falls into, tree after tree: the same bits in both forms.

    A float32 is compared as the float64 of the same value.
    """
    if not (use_compiled(len(X) * len(nodes.roots)) or is_loaded(_add_trees)):
        return _plain_tree_sums(nodes, X, holes)
    out = np.zeros(len(X))
    block, place = np.empty((len(nodes.columns), _ROWS + _APART)), np.empty(_ROWS, np.int64)
    _add_trees(np.ascontiguousarray(X), *nodes, *holes, block, place, out)
    return out


def goes_left(threshold: Floats, holes: NodeHoles, at: Ints, x: Floats) -> Bools:
    """Say at which of some nodes a value goes left; ``x`` has one value a node, ``threshold`` one for all nodes."""
    side = x <= threshold[at]
    size = holes.size[at]
    # never where the node has a threshold, or where the value is missing
    is_category = (x >= 0) & (x < size) & (x == np.floor(x))
    if is_category.any():
        place = holes.begin[at[is_category]] + x[is_category].astype(np.int64)
        side[is_category] = holes.member[place]
    return np.where(np.isnan(x) | ((size > 0) & ~is_category), holes.missing_left[at], side)


def _plain_tree_sums(nodes: TreeNodes, X: Floats, holes: NodeHoles) -> Floats:
    n, n_trees = len(X), len(nodes.roots)
    out = np.zeros(n)
    rows = max(1, _CHUNK // max(n_trees, 1))
    for a in range(0, n if n_trees else 0, rows):
        leaves = _walk(nodes, X[a : a + rows], holes)
        out[a : a + rows] = np.cumsum(nodes.value[leaves], axis=0)[-1]  # a plain sum would not add tree after tree
    return out


def _walk(nodes: TreeNodes, X: Floats, holes: NodeHoles) -> Ints:
    """Return the leaf of each tree that each row falls into, one line a tree."""
    place = np.repeat(nodes.roots, len(X))
    row = np.tile(np.arange(len(X)), len(nodes.roots))
    walking = np.flatnonzero(nodes.left[place] >= 0)
    # invariant: all walks but these have come to a leaf
    while walking.size:
        at = place[walking]
        side = goes_left(nodes.threshold, holes, at, X[row[walking], nodes.columns[nodes.feature[at]]])
        place[walking] = at = np.where(side, nodes.left[at], nodes.right[at])
        walking = walking[nodes.left[at] >= 0]
    return place.reshape(len(nodes.roots), len(X))


# --------------------------------------------------------------------------------------------------
# Compiled, for large data; the NumPy form above gives the same numbers.
#
# Of a block of rows the columns that the trees look at are laid side by side. Then a tree is swept, not walked: node
# after node, parents before children, the rows of the block that stand there move on. Most rows stand elsewhere; but
# without a branch the processor looks at several rows at a time and never guesses wrong, where a row that walks waits
# for a value, and guesses, at every node. Only down a very large tree it is quicker to walk.


_ROWS = 256
"""Rows that go through all trees together: few enough to stay near the processor."""

_APART = 8
"""Padding after each column of a block: columns a power of two apart would evict each other from the cache."""

_SWEPT = 1_023
"""Up to this many nodes a tree is swept node by node, all rows at once; in larger ones each row walks by itself."""


@jit
def _add_trees(
    X: Floats,
    feature: Ints,
    threshold: Floats,
    left: Ints,
    right: Ints,
    value: Floats,
    roots: Ints,
    columns: Ints,
    missing_left: Bools,
    set_begin: Ints,
    set_size: Ints,
    member: Bools,
    block: Floats,
    place: Ints,
    out: Floats,
) -> None:
    """Add up the trees, a block of rows at a time, and the block tree after tree; :func:`goes_left` has the rule."""
    for begin in range(0, len(X), _ROWS):
        n = _ROWS if begin + _ROWS < len(X) else len(X) - begin
        for i in range(n):
            for c in range(len(columns)):
                block[c, i] = X[begin + i, columns[c]]
        for tree in range(len(roots)):
            k = roots[tree]
            end = roots[tree + 1] if tree + 1 < len(roots) else len(left)
            for i in range(n):
                place[i] = k
            while k < end and end - roots[tree] <= _SWEPT:
                # invariant: every row stands at k or behind it, or at a leaf before it
                if left[k] >= 0:
                    here, low, high, x = np.int64(k), np.int64(left[k]), np.int64(right[k]), block[feature[k]]
                    if set_size[k] > 0:
                        for i in range(n):
                            if place[i] == here:
                                side = missing_left[k]
                                if 0 <= x[i] < set_size[k] and int(x[i]) == x[i]:
                                    side = member[set_begin[k] + int(x[i])]
                                place[i] = low if side else high
                    elif missing_left[k]:
                        for i in range(n):
                            to = high if x[i] > threshold[k] else low
                            place[i] = to if place[i] == here else place[i]
                    else:
                        for i in range(n):
                            to = low if x[i] <= threshold[k] else high
                            place[i] = to if place[i] == here else place[i]
                k += 1
            for i in range(n):
                at = place[i]
                # ends: children stand after their parents; after a sweep it has ended already
                while left[at] >= 0:
                    v = block[feature[at], i]
                    side = missing_left[at]
                    if set_size[at] > 0:
                        if 0 <= v < set_size[at] and int(v) == v:
                            side = member[set_begin[at] + int(v)]
                    elif v == v:
                        side = v <= threshold[at]
                    at = np.int64(left[at]) if side else np.int64(right[at])
                out[begin + i] += value[at]
