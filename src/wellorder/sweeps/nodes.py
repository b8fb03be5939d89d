"""Rows put on a column's nodes, and sums over the rows of each node. O(listed rows)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Array, Floats
from .dispatch import use_compiled


class Nodes(NamedTuple):
    """Where the rows of one column stand.

    Row ``rows[p]`` stands on node ``code[p]``; with shares, a part ``share[p]`` of it on the next node.
    """

    rows: Array  # empty: all rows, in order
    code: Array
    share: Floats  # empty: every row stands on one node
    rest: int  # the node of the rows that are not listed; −1: they count nowhere
    size: int


def node_sums(nodes: Nodes, payload: Floats, totals: Floats) -> Floats:
    """Add up two payloads over the rows of each node; ``payload`` has two lines, ``totals`` their sums."""
    if use_compiled(len(nodes.code)):
        from . import compiled_nodes as form

        sums = form.node_sums(nodes.rows, nodes.code, nodes.share, payload, nodes.size)
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
