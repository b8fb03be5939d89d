"""The Numba form of the sums over windows; its NumPy twin is ``planned_sums`` in ``plain.py``.

All arrays are in sorted order: by group, then by ascending score. With ``mirror`` a sweep runs from the
last position to the first, with the order reversed: what was below is then above. Step t of a sweep
stands at position t, or n − 1 − t in the mirror; ``bounds`` and ``reach`` count steps.

What a sweep costs is branches that nobody can foresee, and cache misses: hence blocks and small fixed nodes.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, Floats, Ints
from .compiled import jit

_BLOCK = 128
"""Steps that enter the window before the rows that see them are served: their states fit into the nearest cache."""


@jit
def dense_sums(
    cell: Ints, reach: Ints, payload: Floats, table: Floats, first_cell: Ints, bounds: Ints, mirror: bool
) -> Floats:
    """Sum payloads over the window and over the cells above: O(n · w) with w columns of ``table``.

    out[k, i] = Σ_p table[cell[p], cell[i] − first_cell[group]] · payload[k, p] over the window of i. The sums for all
    cells of the group are kept up at each step that enters, for a block of steps at a time; a row then reads one of
    them. No branch depends on the data.
    """
    m, n = payload.shape
    width = table.shape[1]
    seen = np.zeros((_BLOCK + 1, width))
    out = np.empty((m, n))
    for k in range(m):
        for g in range(len(bounds) - 1):
            seen[0] = 0.0
            lowest = first_cell[len(bounds) - 2 - g if mirror else g]
            t, start = bounds[g], bounds[g]
            while t < bounds[g + 1]:
                stop = min(start + _BLOCK, bounds[g + 1])
                for entering in range(start, stop):
                    # invariant: seen[j, c] is the sum for the group's cell c over the first start + j steps
                    p = n - 1 - entering if mirror else entering
                    j, c, value = entering - start, cell[p], payload[k, p]
                    for there in range(width):
                        seen[j + 1, there] = seen[j, there] + table[c, there] * value
                while t < bounds[g + 1] and reach[t] <= stop:
                    i = n - 1 - t if mirror else t
                    out[k, i] = seen[reach[t] - start, cell[i] - lowest]
                    t += 1
                seen[0] = seen[stop - start]
                start = stop
    return out


@jit
def edge_sums(
    cell: Ints, reach: Ints, payload: Floats, indptr: Ints, indices: Ints, weights: Floats, mirror: bool
) -> Floats:
    """Sum payloads over the window and over the cells above: O(n + Σ_i degree of i's cell).

    out[k, i] = Σ_p weight(cell[i], cell[p]) · payload[k, p] over the window of i. A cell belongs to one
    group, so what earlier groups left behind is never read. Many lines should be payload.T of rows in memory.
    """
    m, n = payload.shape
    seen = np.zeros((len(indptr) - 1, m))
    out = np.zeros((n, m))
    end = 0
    for t in range(n):
        # invariant: seen[c] is the sum of payload over the steps before ``end`` in cell c
        while end < reach[t]:
            p = n - 1 - end if mirror else end
            for k in range(m):
                seen[cell[p], k] += payload[k, p]
            end += 1
        i = n - 1 - t if mirror else t
        for e in range(indptr[cell[i]], indptr[cell[i] + 1]):
            for k in range(m):
                out[i, k] += weights[e] * seen[indices[e], k]
    return out.T


# ---------------------------------------------------------------------------------------- ladders

_ONE_TREE = 1 << 16
"""Below so many ranks, one tree over all of them fits into the processor's cache."""

_CHUNK_BITS = 13
"""Else ranks are swept over in chunks of this many bits."""

_FAN_BITS = 3
_FAN = 1 << _FAN_BITS


@jit
def ladder_sums(rank: Ints, reach: Ints, payload: Floats, bounds: Ints, mirror: bool) -> Floats:
    """Sum payloads over the window and over all higher ranks of the group: O(n log n).

    ``rank`` counts from the top: a smaller number stands above. out[k, i] = Σ_p payload[k, p] over the
    window of i with rank[p] < rank[i]: of many ranks, those of higher chunks, and those of the same chunk, where
    every chunk of a group is a group of its own.
    """
    m, n = payload.shape
    if n == 0 or rank.max() < _ONE_TREE:
        return _wide_tree_sums(rank, reach, payload, bounds, mirror)
    out, steps, inner_rank, inner_reach, moved, inner_bounds = _part_chunks(rank, reach, payload, bounds, mirror)
    inner = fenwick_sums(inner_rank, inner_reach, moved, inner_bounds, False)
    for place in range(n):
        i = n - 1 - steps[place] if mirror else steps[place]
        for k in range(m):
            out[k, i] += inner[k, place]
    return out


@jit
def _wide_tree_sums(rank: Ints, reach: Ints, payload: Floats, bounds: Ints, mirror: bool) -> Floats:
    """Do the same with a tree that holds, for each of a node's children, what has entered under those before it.

    A step that enters adds to one node on each floor, a row that looks reads one; neither branches on data.
    """
    m, n = payload.shape
    out = np.empty((m, n))
    size = rank.max() + 1 if n else 1
    floors = 1
    while size > 1 << (_FAN_BITS * floors):
        floors += 1
    first = np.zeros(floors + 1, np.uint64)  # of the nodes on each floor
    for f in range(floors):
        first[f + 1] = first[f] + np.uint64(((size - 1) >> (_FAN_BITS * (f + 1))) + 1)
    tree = np.zeros((int(first[floors]), _FAN))
    bits, low = np.uint64(_FAN_BITS), np.uint64(_FAN - 1)  # unsigned: no index wraps round
    for k in range(m):
        for g in range(len(bounds) - 1):
            end = bounds[g]
            for t in range(bounds[g], bounds[g + 1]):
                # invariant: the tree holds the steps of this group before ``end``
                while end < reach[t]:
                    p = n - 1 - end if mirror else end
                    above, value = np.uint64(rank[p]), payload[k, p]
                    for f in range(floors):
                        child = above & low
                        above >>= bits
                        node = first[f] + above
                        for c in range(_FAN):
                            tree[node, c] += value if np.uint64(c) > child else 0.0
                    end += 1
                i = n - 1 - t if mirror else t
                above, total = np.uint64(rank[i]), 0.0
                for f in range(floors):
                    child = above & low
                    above >>= bits
                    total += tree[first[f] + above, child]
                out[k, i] = total
            _clear(tree, first, rank, bounds[g], bounds[g + 1], mirror)
    return out


@jit
def _clear(tree: Floats, first: Array, rank: Ints, start: int, stop: int, mirror: bool) -> None:
    """Empty the nodes that the steps of a group have touched; all of them, where that is less work."""
    n = len(rank)
    if (stop - start) * (len(first) - 1) > len(tree):
        tree[:] = 0.0
        return
    for t in range(start, stop):
        above = np.uint64(rank[n - 1 - t if mirror else t])
        for f in range(len(first) - 1):
            above >>= np.uint64(_FAN_BITS)
            tree[first[f] + above] = 0.0


@jit
def rising_sums(cell: Ints, first_cell: Array, rises: Floats, reach: Ints, payload: Floats, bounds: Ints) -> Floats:
    """Sum h · payload[p] over the window of i and the higher cells of its group, h how far p lies above i: O(n log n).

    ``rises`` is how far each cell lies above the one before it. Of two numbers of cells in a group, that of p is higher
    exactly when, at some bit, p has a 1, i has a 0 and all higher bits agree. So p lies above i by its own height over
    the lowest of such a node's ones, and that one's over i: sums of rises, and nothing is ever subtracted.
    """
    n, n_groups = len(cell), len(bounds) - 1
    out, height = np.zeros(n), np.zeros(len(rises))
    size = np.max(first_cell[1:] - first_cell[:-1]) if n_groups else 1
    plain, rising = np.zeros(size), np.zeros(size)
    bit = 0
    while size > 1 << bit:
        _heights(height, first_cell, rises, bit)
        for g in range(n_groups):
            lowest, end = first_cell[g], bounds[g]
            plain[: ((first_cell[g + 1] - 1 - lowest) >> (bit + 1)) + 1] = 0.0
            rising[: ((first_cell[g + 1] - 1 - lowest) >> (bit + 1)) + 1] = 0.0
            for i in range(bounds[g], bounds[g + 1]):
                # invariant: each node holds those of its ones among the steps of this group before ``end``
                while end < reach[i]:
                    number = cell[end] - lowest
                    if (number >> bit) & 1:
                        plain[number >> (bit + 1)] += payload[end]
                        rising[number >> (bit + 1)] += height[cell[end]] * payload[end]
                    end += 1
                number = cell[i] - lowest
                if not (number >> bit) & 1:
                    out[i] += rising[number >> (bit + 1)] + height[cell[i]] * plain[number >> (bit + 1)]
        bit += 1
    return out


@jit
def _heights(height: Floats, first_cell: Array, rises: Floats, bit: int) -> None:
    """Find how far each cell lies above the lowest of its node's ones, or below it."""
    mask = (1 << bit) - 1
    for g in range(len(first_cell) - 1):
        begin, stop = first_cell[g], first_cell[g + 1]
        for c in range(begin, stop):
            if ((c - begin) >> bit) & 1:
                height[c] = height[c - 1] + rises[c] if (c - begin) & mask else 0.0
        for c in range(stop - 2, begin - 1, -1):
            if not ((c - begin) >> bit) & 1:
                height[c] = rises[c + 1] + (0.0 if (c - begin) & mask == mask else height[c + 1])


@jit
def _part_chunks(
    rank: Ints, reach: Ints, payload: Floats, bounds: Ints, mirror: bool
) -> tuple[Floats, Ints, Ints, Ints, Floats, Ints]:
    """Sum over the higher chunks, and gather the steps of each chunk in their order, with rank and reach inside it."""
    m, n = payload.shape
    out = np.zeros((m, n))
    steps, inner_rank, inner_reach = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    moved = np.empty((m, n))
    n_chunks = (rank.max() >> _CHUNK_BITS) + 1
    cuts = np.empty(len(bounds) + n, np.int64)  # at most one chunk a row, and one for each group
    n_cuts = 0
    tree, start = np.zeros((n_chunks + 1, m)), np.zeros(n_chunks + 1, np.int64)
    for g in range(len(bounds) - 1):
        tree[:], start[:] = 0.0, 0
        for t in range(bounds[g], bounds[g + 1]):
            start[(rank[n - 1 - t if mirror else t] >> _CHUNK_BITS) + 1] += 1
        start[0] = bounds[g]
        for c in range(n_chunks):
            if start[c + 1] > 0 or c == 0:
                cuts[n_cuts] = start[c]
                n_cuts += 1
            start[c + 1] += start[c]
        place, entered = start.copy(), start.copy()
        end = bounds[g]
        for t in range(bounds[g], bounds[g + 1]):
            # invariant: the tree holds the steps of this group before ``end``, ``entered`` how far each chunk has got
            while end < reach[t]:
                p = n - 1 - end if mirror else end
                node = (rank[p] >> _CHUNK_BITS) + 1
                entered[node - 1] += 1
                while node <= n_chunks:
                    for k in range(m):
                        tree[node, k] += payload[k, p]
                    node += node & -node
                end += 1
            i = n - 1 - t if mirror else t
            chunk = rank[i] >> _CHUNK_BITS
            q = place[chunk]
            place[chunk] = q + 1
            steps[q], inner_rank[q], inner_reach[q] = t, rank[i] - (chunk << _CHUNK_BITS), entered[chunk]
            node = chunk
            for k in range(m):
                moved[k, q] = payload[k, i]
            while node > 0:
                for k in range(m):
                    out[k, i] += tree[node, k]
                node -= node & -node
    cuts[n_cuts] = n
    return out, steps, inner_rank, inner_reach, moved, cuts[: n_cuts + 1]


@jit
def fenwick_sums(rank: Ints, reach: Ints, payload: Floats, bounds: Ints, mirror: bool) -> Floats:
    """Do the same for many lines at once, which should be payload.T of rows in memory: one tree over all ranks."""
    m, n = payload.shape
    out = np.zeros((n, m))
    tree = np.zeros((rank.max() + 2 if n else 1, m))
    for g in range(len(bounds) - 1):
        size = 0
        for t in range(bounds[g], bounds[g + 1]):
            size = max(size, rank[n - 1 - t if mirror else t] + 1)
        tree[: size + 1] = 0.0
        end = bounds[g]
        for t in range(bounds[g], bounds[g + 1]):
            # invariant: the tree holds the steps of this group before ``end``
            while end < reach[t]:
                p = n - 1 - end if mirror else end
                node = rank[p] + 1
                while node <= size:
                    for k in range(m):
                        tree[node, k] += payload[k, p]
                    node += node & -node
                end += 1
            i = n - 1 - t if mirror else t
            node = rank[i]
            while node > 0:
                for k in range(m):
                    out[i, k] += tree[node, k]
                node -= node & -node
    return out.T
