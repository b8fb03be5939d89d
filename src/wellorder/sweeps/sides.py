"""Window sums over pairs: what each row sees above itself, within a margin.

A pair (i above j) is seen twice: j sees i above, and in the mirror (order and scores reversed) i sees
j above. So every sweep is written for one direction, and a :class:`Side` is one of the two views.
Its sums come in two forms that agree: NumPy for small data, and Numba, which takes a while to come to life.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints, ranges
from .dispatch import jit

_FEW_LINES = 4
_FEW_NUMBERS = 100_000
"""Up to so many lines, or numbers in all of them, are swept over one by one, more of them side by side."""


FEW_ROWS = 300
"""Up to so many rows a table of all pairs costs less than a plan for sums without it."""


class EdgeTable(NamedTuple):
    """Edges again, where groups have few cells: for each cell, its weight for every cell of its group."""

    weights: Floats  # weights[c, k]: of cell c, for the k-th cell of its group to look up at
    first_cell: Ints  # of each group


class Edges(NamedTuple):
    """For each cell, the cells above it and their weights (compressed sparse rows)."""

    indptr: Ints
    indices: Ints
    weights: Floats
    table: EdgeTable | None = None


class Ladder(NamedTuple):
    """For each row, its rank from the top of its group: all ranks above count, with weight one."""

    rank: Ints


def argsort(values: Floats, *, compiled: bool) -> Ints:
    """Sort rows by value, ascending; equal values keep their order. No NaN."""
    if not compiled:
        return np.argsort(values, kind="stable").astype(np.int32)

    return radix_argsort(np.ascontiguousarray(values))


def sort_rows(scores: Floats, group: Ints | None, bounds: Ints, *, compiled: bool) -> Ints:
    """Sort rows by (group, score), ascending; O(n log n) or better.

    ``group`` is None when all rows are in the one group; rows of group −1 drop out. ``bounds`` are
    the ends of the groups' blocks: the rows of group g stand at positions bounds[g]:bounds[g + 1].
    """
    if group is None:
        return argsort(scores, compiled=compiled)
    if not compiled:
        return sort_within_groups(scores, group, int(bounds[-1]))

    return bucket_rows(radix_argsort(np.ascontiguousarray(scores)), group, bounds)


class Side:
    """One view of the pairs: each row looks up at the rows above it, out to a margin.

    All arrays are in sorted order: by group, then by ascending score.

    Parameters
    ----------
    ascending, bounds
        The scores, and the ends of the groups' blocks.
    cell, above
        What stands above what: the rows' cells with :class:`Edges`, or a :class:`Ladder`.
    margin
        A pair counts while (score of the higher) − (score of the lower) < margin.
    mirror
        Look down instead: ``above`` then says what stands below.
    compiled
        Which form of the sweep to use.
    """

    def __init__(
        self,
        ascending: Floats,
        bounds: Ints,
        cell: Ints,
        above: Edges | Ladder,
        *,
        margin: float,
        mirror: bool,
        compiled: bool,
    ) -> None:
        steps = bounds[-1] - bounds[::-1] if mirror else bounds
        make = _compiled_sweep if compiled else _plain_sweep
        self.sums = make(ascending, steps, cell, above, margin, mirror)
        """Sum each line of a payload over the rows above each row, within the margin, weighted."""


def rising_sums(
    ascending: Floats, bounds: Ints, cell: Ints, first_cell: Ints, rises: Floats, payload: Floats, margin: float
) -> Floats:
    """Sum payloads over the higher cells of a ladder, times how far they lie above, within the margin.

    The compiled form only: steps over whole arrays are in :meth:`wellorder.sweeps.device.LadderSums.weighted_above`.
    """
    reach = compiled_reach(ascending, bounds, margin, False)
    return compiled_rising_sums(cell, first_cell, rises, reach, payload, bounds)


def swaps_around(rows: Ints, cell: Ints, begins: Ints, *, compiled: bool) -> Floats:
    """Count the rows that stand on the wrong side of each: those that are better and before it, or worse and after.

    ``rows`` come from the bottom of the ranking to its top; a cell is all rows of one grade, ``begins`` how many are
    worse. Let r rows be worse than a row, and p before it: L that are better, E of its own grade, and p − L − E that
    are worse. So r − (p − L − E) that are worse come after it: 2 L + E + r − p in all. O(n log n).
    """
    if not compiled:
        return _plain_swaps_around(rows, cell, begins)
    first, tree = _plant(len(begins), 1)
    cell, better, out = cell[rows], np.empty(len(rows), np.int32), np.empty(len(rows))
    _fill_better(cell, len(begins) - 1, first, tree.astype(np.int32), better)
    _fill_swaps_around(rows, cell, better, begins.copy(), out)
    return out


def _compiled_sweep(
    ascending: Floats, bounds: Ints, cell: Ints, above: Edges | Ladder, margin: float, mirror: bool
) -> Callable[[Floats], Floats]:

    reach = compiled_reach(ascending, bounds, margin, mirror)

    def sums(payload: Floats) -> Floats:
        together = len(payload) > _FEW_LINES and payload.size > _FEW_NUMBERS
        if not together:
            payload = np.ascontiguousarray(payload)  # another layout would be compiled for
        if isinstance(above, Ladder):
            ladder = fenwick_sums if together else ladder_sums
            return ladder(above.rank, reach, payload, bounds, mirror)
        if together or above.table is None:
            return edge_sums(cell, reach, payload, above.indptr, above.indices, above.weights, mirror)
        return dense_sums(cell, reach, payload, *above.table, bounds, mirror)

    return sums


def _plain_sweep(
    ascending: Floats, bounds: Ints, cell: Ints, above: Edges | Ladder, margin: float, mirror: bool
) -> Callable[[Floats], Floats]:
    step = slice(None, None, -1 if mirror else 1)
    if isinstance(above, Ladder) and len(ascending) <= FEW_ROWS:
        table = ladder_pairs(ascending, above.rank[step], bounds, margin, mirror)
        return lambda payload: (payload[:, step] @ table.T)[:, step]
    reach = plain_reach(ascending, bounds, margin, mirror)
    group = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    if isinstance(above, Ladder):
        plan = ladder_plan(above.rank[step], group, reach)
    else:
        plan = edge_plan(cell[step], group, reach, *above[:3])
    return lambda payload: planned_sums(plan, payload[:, step])[:, step]


# --------------------------------------------------------------------------------------------------
# The NumPy form of the sweeps: the same sums without a compiler, for small data.
#
# A window sum over one cell is a difference of two running sums, once the positions are arranged cell
# by cell. A *plan* lists those differences for every row; it depends on the order of the scores only,
# so that all products of one Newton step share it.


def sort_within_groups(scores: Floats, group: Ints, n_active: int) -> Ints:
    """Sort rows by (group, score); rows of group −1 drop out."""
    rows = np.lexsort((scores, group))
    return rows[len(rows) - n_active :].astype(np.int32)


def plain_reach(ascending: Floats, bounds: Ints, margin: float, mirror: bool) -> Ints:
    """Find, for each step, the end of the steps of its group whose score is less than margin higher.

    A binary search for all steps at once, with the very expression that defines a pair.
    """
    climbing = -ascending[::-1] if mirror else ascending
    sizes = np.diff(bounds)
    low = np.repeat(bounds[:-1], sizes)
    high = np.repeat(bounds[1:], sizes)
    # invariant: the end sought lies in [low, high]
    while (unsure := np.flatnonzero(low < high)).size:
        middle = (low[unsure] + high[unsure]) // 2
        inside = climbing[middle] - climbing[unsure] < margin
        low[unsure[inside]] = middle[inside] + 1
        high[unsure[~inside]] = middle[~inside]
    return low


class SumPlan(NamedTuple):
    """Window sums as differences of running sums: arrays only."""

    group: Ints  # the group of each step
    arranged: Ints  # steps, cell by cell (several such arrangements for a ladder)
    target: Ints  # the step that a difference adds to
    start: Ints  # where in ``arranged`` its cell begins
    stop: Ints  # where its window ends
    weight: Floats | None


def edge_plan(cell: Ints, group: Ints, plain_reach: Ints, indptr: Ints, indices: Ints, weights: Floats) -> SumPlan:
    """Plan ``edge_sums``: one difference for each step and each cell above its own."""
    n = len(cell)
    arranged = np.argsort(cell, kind="stable")
    key = cell[arranged].astype(np.int64) * (n + 1) + arranged
    degree = np.diff(indptr)[cell]
    target = np.repeat(np.arange(n), degree)
    edge = ranges(indptr[cell], degree)
    above = indices[edge].astype(np.int64) * (n + 1)
    start = np.searchsorted(key, above)
    stop = np.searchsorted(key, above + plain_reach[target])
    return SumPlan(group, arranged, target, start, stop, weights[edge])


def ladder_plan(rank: Ints, group: Ints, plain_reach: Ints) -> SumPlan:
    """Plan ``ladder_sums``, with one difference for each step and each bit of a rank.

    rank[p] < rank[i] exactly when, at some bit, p has a 0, i has a 1 and all higher bits agree. So
    each bit splits the steps into blocks (group, higher bits) with the zeros of a block side by side.
    """
    n = len(rank)
    n_bits = int(rank.max(initial=0)).bit_length()
    none = np.empty(0, np.intp)
    plan = SumPlan(group, none, none, none, none, None)
    for bit in range(n_bits):
        higher = (group.astype(np.int64) << n_bits) | (rank >> (bit + 1))
        _, block = np.unique(higher, return_inverse=True)
        ones = np.flatnonzero((rank >> bit) & 1)
        zeros = np.flatnonzero(~(rank >> bit) & 1)
        zeros = zeros[np.argsort(block[zeros], kind="stable")]
        # (block, step) as one number, ascending: a block's zeros up to a step's reach are found by bisection
        key = block[zeros] * (n + 1) + zeros
        begin = block[ones] * (n + 1)
        offset = len(plan.arranged)
        plan = plan._replace(
            arranged=np.append(plan.arranged, zeros),
            target=np.append(plan.target, ones),
            start=np.append(plan.start, offset + np.searchsorted(key, begin)),
            stop=np.append(plan.stop, offset + np.searchsorted(key, begin + plain_reach[ones])),
        )
    return plan


def ladder_pairs(ascending: Floats, rank: Ints, bounds: Ints, margin: float, mirror: bool) -> Floats:
    """Mark the pairs of a small ladder in a table: which steps each step sees above itself. O(n²)."""
    climbing = -ascending[::-1] if mirror else ascending
    with np.errstate(over="ignore", invalid="ignore"):
        within = climbing[None, :] - climbing[:, None] < margin
    within &= rank[None, :] < rank[:, None]
    if len(bounds) > 2:
        group = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        within &= group[None, :] == group[:, None]
    return within.astype(float)


def planned_sums(plan: SumPlan, payload: Floats) -> Floats:
    """Carry out a plan: O(size of the plan) for each line of the payload."""
    m, n = payload.shape
    out = np.empty((m, n))
    for k in range(m):
        # a group with huge values must not swallow the digits of the others in the running sum
        scale = np.zeros(int(plan.group.max(initial=-1)) + 1)
        np.maximum.at(scale, plan.group, np.abs(payload[k]))
        unit = np.where(scale > 0, scale, 1.0)[plan.group]
        running = np.concatenate([[0.0], np.cumsum((payload[k] / unit)[plan.arranged])])
        part = running[plan.stop] - running[plan.start]
        if plan.weight is not None:
            part *= plan.weight
        out[k] = np.bincount(plan.target, part, minlength=n) * unit
    return out


def _plain_swaps_around(rows: Ints, cell: Ints, begins: Ints) -> Floats:
    n, cell = len(rows), cell[rows]
    plan = ladder_plan(len(begins) - 1 - cell, np.zeros(n, np.int32), np.arange(1, n + 1))
    better = planned_sums(plan, np.ones((1, n)))[0]
    by_cell = np.argsort(cell, kind="stable")
    out = np.empty(n)
    out[rows[by_cell]] = 2.0 * better[by_cell] + np.arange(n) - by_cell  # E + r is a row's place among those by cell
    return out


# --------------------------------------------------------------------------------------------------
# Compiled: single passes over sorted rows, for large data. Every function here has a NumPy twin above.


# --------------------------------------------------------------------------------------- sorting

# A function of NumPy's costs a tenth of a second when a compiled function that calls it is compiled, and a first fit
# waits for that. So arrays are made outside, and what is inside are loops.

_FEW_KEYS = 20_000
"""Below so many rows digits of 8 bits are sorted by, above of 11: counting buckets must cost less than moving rows."""


def radix_argsort(values: Floats) -> Ints:
    """Sort rows by value, ascending and stable; O(n) for all but contrived values. No NaN."""
    n = len(values)
    digit_bits = 8 if n < _FEW_KEYS else 11
    rows, count = np.empty((2, n), np.int32), np.empty(1 << digit_bits, np.int64)
    line = radix_sort(values.view(np.uint64), np.empty((2, n), np.uint64), rows, count, digit_bits)
    return np.array(rows[line])  # without the other line beside it


@jit
def radix_sort(bits: Ints, key: Ints, row: Ints, count: Ints, digit_bits: int) -> int:
    """Sort rows into one of two lines of ``row``, and say which.

    A radix sort on the three leading digits, which hold sign, exponent and some of the mantissa, leaves almost every
    row in place; an insertion sort finishes. Where it would have to move rows far (values that differ in their last
    bits only), all digits are sorted by, which makes the order exact whatever the values are.
    """
    n, n_buckets = len(bits), len(count)
    sign, mask = np.uint64(1) << np.uint64(63), np.uint64(n_buckets - 1)
    shift, at = 64 - 3 * digit_bits, 0
    while True:
        for i in range(n):
            # negative floats order backwards, and below the positive ones
            key[0, i] = ~bits[i] if bits[i] & sign else bits[i] | sign
            row[0, i] = i
        at, certain = 0, shift == 0
        while shift < 64:
            for b in range(n_buckets):
                count[b] = 0
            for i in range(n):
                count[(key[at, i] >> np.uint64(shift)) & mask] += 1
            start = 0
            for b in range(n_buckets):
                size = count[b]
                count[b] = start
                start += size
            for i in range(n):
                bucket = (key[at, i] >> np.uint64(shift)) & mask
                place = count[bucket]
                count[bucket] = place + 1
                key[1 - at, place] = key[at, i]
                row[1 - at, place] = row[at, i]
            at = 1 - at
            shift += digit_bits
        budget = 8 * n
        # invariant: the first i keys are sorted
        for i in range(1, n):
            k, r, j = key[at, i], row[at, i], i - 1
            while j >= 0 and key[at, j] > k and budget > 0:
                key[at, j + 1] = key[at, j]
                row[at, j + 1] = row[at, j]
                j -= 1
                budget -= 1
            key[at, j + 1] = k
            row[at, j + 1] = r
        if budget > 0 or certain:
            return at
        shift = 0


def bucket_rows(rows: Ints, group: Ints, bounds: Ints) -> Ints:
    """Move sorted rows into their groups' blocks, keeping their order; rows of group −1 drop out."""
    out = np.empty(bounds[-1], np.int32)
    _fill_buckets(rows, group, bounds[:-1].copy(), out)
    return out


@jit
def _fill_buckets(rows: Ints, group: Ints, place: Ints, out: Ints) -> None:
    for i in range(len(rows)):
        g = group[rows[i]]
        if g >= 0:
            out[place[g]] = rows[i]
            place[g] += 1


def sums_until(values: Floats, first: Ints) -> Floats:
    """Sum, for each entry, the entries of its block up to it; blocks begin at ``first``."""
    out = values.copy()
    _run_up(out, first)
    return out


@jit
def _run_up(out: Floats, first: Ints) -> None:
    for b in range(len(first)):
        for place in range(first[b] + 1, first[b + 1] if b + 1 < len(first) else len(out)):
            out[place] += out[place - 1]


# --------------------------------------------------------------------------------------- windows
#
# All arrays below are in sorted order: by group, then by ascending score. With ``mirror`` a sweep runs
# from the last position to the first, with the order reversed: what was below is then above. Step t
# of a sweep stands at position t, or n − 1 − t in the mirror; ``bounds`` and ``reach`` count steps.


def compiled_reach(ascending: Floats, bounds: Ints, margin: float, mirror: bool) -> Ints:
    """Find, for each step, the end of the steps of its group whose score is less than margin higher.

    In the mirror: less than margin lower. O(n): both ends of the window only move forward.
    """
    out = np.empty(len(ascending), np.int32)
    _fill_reach(ascending, bounds, margin, mirror, out)
    return out


@jit
def _fill_reach(ascending: Floats, bounds: Ints, margin: float, mirror: bool, out: Ints) -> None:
    n = len(ascending)
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


# --------------------------------------------------------------------------------------------------
# Compiled sums over windows; the NumPy twin is ``planned_sums``.
#
# All arrays are in sorted order: by group, then by ascending score. With ``mirror`` a sweep runs from the
# last position to the first, with the order reversed: what was below is then above. Step t of a sweep
# stands at position t, or n − 1 − t in the mirror; ``bounds`` and ``reach`` count steps.
#
# What a sweep costs is branches that nobody can foresee, and cache misses: hence blocks and small fixed nodes.


_BLOCK = 128
"""Steps that enter the window before the rows that see them are served: their states fit into the nearest cache."""


def dense_sums(
    cell: Ints, reach: Ints, payload: Floats, table: Floats, first_cell: Ints, bounds: Ints, mirror: bool
) -> Floats:
    """Sum payloads over the window and over the cells above: O(n · w) with w columns of ``table``.

    out[k, i] = Σ_p table[cell[p], cell[i] − first_cell[group]] · payload[k, p] over the window of i. The sums for all
    cells of the group are kept up at each step that enters, for a block of steps at a time; a row then reads one of
    them. No branch depends on the data.
    """
    out = np.empty(payload.shape)
    seen = np.empty((_BLOCK + 1, table.shape[1]))
    _fill_dense(cell, reach, payload, table, first_cell, bounds, mirror, seen, out)
    return out


@jit
def _fill_dense(
    cell: Ints,
    reach: Ints,
    payload: Floats,
    table: Floats,
    first_cell: Ints,
    bounds: Ints,
    mirror: bool,
    seen: Floats,
    out: Floats,
) -> None:
    m, n = payload.shape
    width = table.shape[1]
    for k in range(m):
        for g in range(len(bounds) - 1):
            for there in range(width):
                seen[0, there] = 0.0
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
                for there in range(width):
                    seen[0, there] = seen[stop - start, there]
                start = stop


def edge_sums(
    cell: Ints, reach: Ints, payload: Floats, indptr: Ints, indices: Ints, weights: Floats, mirror: bool
) -> Floats:
    """Sum payloads over the window and over the cells above: O(n + Σ_i degree of i's cell).

    out[k, i] = Σ_p weight(cell[i], cell[p]) · payload[k, p] over the window of i. A cell belongs to one
    group, so what earlier groups left behind is never read. Many lines should be payload.T of rows in memory.
    """
    m, n = payload.shape
    out = np.zeros((n, m))
    _fill_edges(cell, reach, payload, indptr, indices, weights, mirror, np.zeros((len(indptr) - 1, m)), out)
    return out.T


@jit
def _fill_edges(
    cell: Ints,
    reach: Ints,
    payload: Floats,
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    mirror: bool,
    seen: Floats,
    out: Floats,
) -> None:
    m, n = payload.shape
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


# ---------------------------------------------------------------------------------------- ladders

_ONE_TREE = 1 << 18
"""Up to so many ranks, one tree over all of them fits into the processor's cache."""

_CHUNK_BITS = 15
"""Else ranks are swept over in chunks of this many bits."""

_FAN_BITS = 3
_FAN = 1 << _FAN_BITS


def ladder_sums(rank: Ints, reach: Ints, payload: Floats, bounds: Ints, mirror: bool) -> Floats:
    """Sum payloads over the window and over all higher ranks of the group: O(n log n).

    ``rank`` counts from the top: a smaller number stands above. out[k, i] = Σ_p payload[k, p] over the
    window of i with rank[p] < rank[i]: of many ranks, those of higher chunks, and those of the same chunk, where
    every chunk of a group is a group of its own.
    """
    size = int(rank.max(initial=0)) + 1
    if size <= _ONE_TREE:
        sums: Floats = np.empty(payload.shape)
        fill = _fill_ladder_twice if len(payload) == 2 else _fill_ladder
        fill(rank, reach, payload, bounds, mirror, *_plant(size, len(payload)), sums)
        return sums
    out, steps, inner_rank, inner_reach, moved, inner_bounds = _part_chunks(rank, reach, payload, bounds, mirror)
    _add_back(out, steps, ladder_sums(inner_rank, inner_reach, moved, inner_bounds, False), mirror)
    return out


@jit
def _add_back(out: Floats, steps: Ints, inner: Floats, mirror: bool) -> None:
    """Add to each row what was summed at its place in its chunk."""
    m, n = out.shape
    for place in range(n):
        i = n - 1 - steps[place] if mirror else steps[place]
        for k in range(m):
            out[k, i] += inner[k, place]


def _plant(size: int, n_lines: int) -> tuple[Ints, Floats]:
    """Return the first node on each floor, and the end, of a tree over so many ranks; and the tree, or two of them."""
    first, nodes = [0], size
    while nodes > 1 or len(first) == 1:
        nodes = (nodes - 1) // _FAN + 1
        first.append(first[-1] + nodes)
    return np.array(first, np.uint64), np.zeros((first[-1], _FAN if n_lines != 2 else 2 * _FAN))


@jit
def _fill_ladder(
    rank: Ints, reach: Ints, payload: Floats, bounds: Ints, mirror: bool, first: Ints, tree: Floats, out: Floats
) -> None:
    """Do the same with a tree that holds, for each of a node's children, what has entered under those before it.

    A step that enters adds to one node on each floor, a row that looks reads one; neither branches on data.
    """
    m, n = payload.shape
    floors = len(first) - 1
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
            _clear(rank, bounds[g], bounds[g + 1], mirror, first, tree)


@jit
def _fill_ladder_twice(
    rank: Ints, reach: Ints, payload: Floats, bounds: Ints, mirror: bool, first: Ints, tree: Floats, out: Floats
) -> None:
    """Do the same for two lines at once, to the same bits: a node holds both, and the way to it is gone once."""
    n, floors = len(rank), len(first) - 1
    bits, low, fan = np.uint64(_FAN_BITS), np.uint64(_FAN - 1), np.uint64(_FAN)
    for g in range(len(bounds) - 1):
        end = bounds[g]
        for t in range(bounds[g], bounds[g + 1]):
            # invariant: the tree holds the steps of this group before ``end``
            while end < reach[t]:
                p = n - 1 - end if mirror else end
                above, value, other = np.uint64(rank[p]), payload[0, p], payload[1, p]
                for f in range(floors):
                    child = above & low
                    above >>= bits
                    node = first[f] + above
                    for c in range(_FAN):
                        tree[node, c] += value if np.uint64(c) > child else 0.0
                    for c in range(_FAN):
                        tree[node, _FAN + c] += other if np.uint64(c) > child else 0.0
                end += 1
            i = n - 1 - t if mirror else t
            above, total, total_other = np.uint64(rank[i]), 0.0, 0.0
            for f in range(floors):
                child = above & low
                above >>= bits
                node = first[f] + above
                total += tree[node, child]
                total_other += tree[node, child + fan]
            out[0, i], out[1, i] = total, total_other
        _clear(rank, bounds[g], bounds[g + 1], mirror, first, tree)


@jit
def _fill_better(cell: Ints, top: int, first: Ints, tree: Ints, better: Ints) -> None:
    """Count the steps before each that have a higher cell: as above, in whole numbers, each entering as it looks."""
    floors, bits, low = len(first) - 1, np.uint64(_FAN_BITS), np.uint64(_FAN - 1)
    for p in range(len(cell)):
        # invariant: the tree holds the steps before this one
        above, total = np.uint64(top - cell[p]), np.int32(0)
        for f in range(floors):
            child = np.int32(above & low)
            above >>= bits
            node = first[f] + above
            total += tree[node, child]
            for c in range(_FAN):
                tree[node, c] += np.int32(np.int32(c) > child)
        better[p] = total


@jit
def _fill_swaps_around(rows: Ints, cell: Ints, better: Ints, place: Ints, out: Floats) -> None:
    """Add the rest up. Apart from the loop above: what each step reads at random then waits for nothing before it."""
    for p in range(len(rows)):
        # invariant: ``place`` is E + r of the next row of each cell
        out[rows[p]] = 2.0 * better[p] + (place[cell[p]] - p)
        place[cell[p]] += 1


@jit
def _clear(rank: Ints, start: int, stop: int, mirror: bool, first: Ints, tree: Floats) -> None:
    """Empty a tree for the next group: what its steps have touched, or all, where that is less work."""
    n, floors, bits = len(rank), len(first) - 1, np.uint64(_FAN_BITS)
    if (stop - start) * floors > len(tree):
        for node in range(len(tree)):
            for c in range(tree.shape[1]):
                tree[node, c] = 0.0
        return
    for t in range(start, stop):
        above = np.uint64(rank[n - 1 - t if mirror else t])
        for f in range(floors):
            above >>= bits
            for c in range(tree.shape[1]):
                tree[first[f] + above, c] = 0.0


@jit
def compiled_rising_sums(
    cell: Ints, first_cell: Ints, rises: Floats, reach: Ints, payload: Floats, bounds: Ints
) -> Floats:
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
def _heights(height: Floats, first_cell: Ints, rises: Floats, bit: int) -> None:
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
