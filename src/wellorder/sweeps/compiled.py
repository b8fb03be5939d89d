"""The Numba form of the sweeps: single passes over sorted rows, for large data.

Import this module only where :func:`wellorder.sweeps.dispatch.use_compiled` says so: importing Numba
takes a while, and so does the first compilation. Every function here has a NumPy twin in ``plain.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

from .arrays import Array, Floats, Ints

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile on first use, keep the machine code on disk where a folder for it can be written."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no writable cache folder anywhere: compile once a process instead
        return cast(F, numba.njit(nogil=True)(function))


# --------------------------------------------------------------------------------------- sorting

_DIGIT_BITS = 11
_N_DIGITS = 6  # 6 digits of 11 bits cover the 64 bits of a float
_LEADING = 3  # digits that are sorted first: sign, exponent and 21 bits of the mantissa


@jit
def argsort(values: Floats) -> Ints:
    """Sort rows by value, ascending and stable; O(n) for all but contrived values. No NaN.

    A radix sort on the leading 33 bits leaves almost every row in place; an insertion sort finishes.
    Where it would have to move rows far (values that differ in their last bits only), the remaining
    digits are sorted first, which makes the order exact whatever the values are.
    """
    n = len(values)
    key = np.empty(n, np.uint64)
    row = np.empty(n, np.int32)
    sign = np.uint64(1) << np.uint64(63)
    bits = values.view(np.uint64)
    for i in range(n):
        # negative floats order backwards, and below the positive ones
        key[i] = ~bits[i] if bits[i] & sign else bits[i] | sign
        row[i] = i
    key, row = _radix_passes(key, row, _N_DIGITS - _LEADING)
    if not _insertion(key, row, 8 * n):
        for i in range(n):
            b = bits[i]
            key[i] = ~b if b & sign else b | sign
            row[i] = i
        key, row = _radix_passes(key, row, 0)
    return row


@jit
def _radix_passes(key: Array, row: Ints, first_digit: int) -> tuple[Array, Ints]:
    """Sort keys, and rows along with them, by the digits from ``first_digit`` up."""
    n = len(key)
    buckets = 1 << _DIGIT_BITS
    mask = np.uint64(buckets - 1)
    other_key = np.empty(n, np.uint64)
    other_row = np.empty(n, np.int32)
    for digit in range(first_digit, _N_DIGITS):
        shift = np.uint64(digit * _DIGIT_BITS)
        count = np.zeros(buckets, np.int64)
        for i in range(n):
            count[(key[i] >> shift) & mask] += 1
        start = 0
        for b in range(buckets):
            size = count[b]
            count[b] = start
            start += size
        for i in range(n):
            b = (key[i] >> shift) & mask
            place = count[b]
            count[b] = place + 1
            other_key[place] = key[i]
            other_row[place] = row[i]
        key, other_key = other_key, key
        row, other_row = other_row, row
    return key, row


@jit
def _insertion(key: Array, row: Ints, budget: int) -> bool:
    """Finish a nearly sorted array in place; give up (False) after ``budget`` moves."""
    # invariant: the first i keys are sorted
    for i in range(1, len(key)):
        k = key[i]
        j = i - 1
        if key[j] > k:
            r = row[i]
            while j >= 0 and key[j] > k:
                key[j + 1] = key[j]
                row[j + 1] = row[j]
                j -= 1
            key[j + 1] = k
            row[j + 1] = r
            budget -= i - 1 - j
            if budget < 0:
                return False
    return True


@jit
def bucket(rows: Ints, group: Ints, bounds: Ints) -> Ints:
    """Move sorted rows into their groups' blocks, keeping their order; rows of group −1 drop out."""
    place = bounds[:-1].copy()
    out = np.empty(bounds[-1], np.int32)
    for row in rows:
        g = group[row]
        if g >= 0:
            out[place[g]] = row
            place[g] += 1
    return out


# --------------------------------------------------------------------------------------- windows
#
# All arrays below are in sorted order: by group, then by ascending score. With ``mirror`` a sweep runs
# from the last position to the first, with the order reversed: what was below is then above. Step t
# of a sweep stands at position t, or n − 1 − t in the mirror; ``bounds`` and ``reach`` count steps.


@jit
def reach(ascending: Floats, bounds: Ints, margin: float, mirror: bool) -> Ints:
    """Find, for each step, the end of the steps of its group whose score is less than margin higher.

    In the mirror: less than margin lower. O(n): both ends of the window only move forward.
    """
    n = len(ascending)
    out = np.empty(n, np.int32)
    for g in range(len(bounds) - 1):
        end = bounds[g]
        for t in range(bounds[g], bounds[g + 1]):
            # invariant: every earlier step of this group than ``end`` is within the margin
            if mirror:
                while end < bounds[g + 1] and ascending[n - 1 - t] - ascending[n - 1 - end] < margin:
                    end += 1
            else:
                while end < bounds[g + 1] and ascending[end] - ascending[t] < margin:
                    end += 1
            out[t] = end
    return out


# ------------------------------------------------------------------------------------------ sums


@jit
def edge_sums(
    cell: Ints, reach: Ints, payload: Floats, indptr: Ints, indices: Ints, weights: Floats, mirror: bool
) -> Floats:
    """Sum payloads over the window and over the cells above: O(n + Σ_i degree of i's cell).

    out[k, i] = Σ_p weight(cell[i], cell[p]) · payload[k, p] over the window of i. A cell belongs to one
    group, so what earlier groups left behind is never read.
    """
    m, n = payload.shape
    seen = np.zeros((len(indptr) - 1, m))
    out = np.empty((m, n))
    end = 0
    for t in range(n):
        # invariant: seen[c] is the sum of payload over the steps before ``end`` in cell c
        while end < reach[t]:
            p = n - 1 - end if mirror else end
            for k in range(m):
                seen[cell[p], k] += payload[k, p]
            end += 1
        i = n - 1 - t if mirror else t
        for k in range(m):
            total = 0.0
            for e in range(indptr[cell[i]], indptr[cell[i] + 1]):
                total += weights[e] * seen[indices[e], k]
            out[k, i] = total
    return out


_CHUNK_BITS = 13
"""Ranks are swept over in chunks of this many bits: the Fenwick tree of a chunk stays in the processor's cache."""


@jit
def ladder_sums(rank: Ints, reach: Ints, payload: Floats, bounds: Ints, mirror: bool) -> Floats:
    """Sum payloads over the window and over all higher ranks of the group: O(n log n).

    ``rank`` counts from the top: a smaller number stands above. out[k, i] = Σ_p payload[k, p] over the
    window of i with rank[p] < rank[i]: those of higher chunks, and those of the same chunk, where every
    chunk of a group is a group of its own.
    """
    if len(rank) == 0 or rank.max() >> _CHUNK_BITS == 0:
        return _fenwick_sums(rank, reach, payload, bounds, mirror)
    out, steps, inner_rank, inner_reach, moved, inner_bounds = _part_chunks(rank, reach, payload, bounds, mirror)
    inner = _fenwick_sums(inner_rank, inner_reach, moved, inner_bounds, False)
    n = len(rank)
    for place in range(n):
        i = n - 1 - steps[place] if mirror else steps[place]
        for k in range(len(payload)):
            out[k, i] += inner[k, place]
    return out


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
def _fenwick_sums(rank: Ints, reach: Ints, payload: Floats, bounds: Ints, mirror: bool) -> Floats:
    """Do the same with one Fenwick tree over all ranks, which holds the payloads that have entered the window."""
    m, n = payload.shape
    out = np.zeros((m, n))
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
                    out[k, i] += tree[node, k]
                node -= node & -node
    return out
