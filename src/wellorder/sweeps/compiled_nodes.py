"""The Numba form of :mod:`wellorder.sweeps.nodes`."""

from __future__ import annotations

import numpy as np

from .arrays import Array, Floats
from .compiled import jit


@jit
def node_sums(rows: Array, code: Array, share: Floats, payload: Floats, size: int) -> Floats:
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
