"""Rows put on a column's nodes, and sums over the rows of each node. O(listed rows)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints
from .dispatch import jit, use_compiled


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
        sums = _compiled_sums(nodes.rows, nodes.code, nodes.share, payload, nodes.size)
    else:
        sums = _plain_sums(nodes, payload)
    if nodes.rest >= 0:
        sums[:, nodes.rest] += totals - sums.sum(axis=1)
    return sums


def _plain_sums(nodes: Nodes, payload: Floats) -> Floats:
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
# Compiled, for large data; the NumPy form above gives the same numbers.


@jit
def _compiled_sums(rows: Ints, code: Ints, share: Floats, payload: Floats, size: int) -> Floats:
    """Add up two payloads over the listed rows of each node; see :class:`wellorder.sweeps.nodes.Nodes`."""
    sums = np.zeros((2, size))
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
    return sums
