"""Aggregation by a Markov chain that moves towards better items."""

from __future__ import annotations

from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from ..sweeps import Array, Floats, Ints, jit, parallel_map, use_compiled
from .positions import read_ranker_weights, read_scores

MOST_BYTES = 1 << 30
"""A list may take this much memory: one bit for each two of its items, so 92,681 items."""

_HEIGHT = 64
"""Items solved for at a time: few enough that BLAS wakes no threads for them."""

_BLOCK = 1 << 22
"""Pairs of items that are compared at a time."""

_SHORT = 2_000
"""Lists up to this long are walked in compiled code, where there are rows enough in all."""

_PARTS = 8
"""The lists are walked in this many parts, whatever the number of threads."""

_SETTLED = 1e-13
"""The walk rests where no probability changes by more than this part of it."""

_LEAST_LEAD = 1e-12
"""A lead below this part of all weights is rounding, and no majority."""


def markov_chain(scores: Any, groups: Any = None, weights: Any = None, teleport: float = 0.15) -> Floats:
    r"""Stationary distribution of a walk that moves to better items (MC4, with teleport).

    From item x the walk draws an item x' of the same list, each with probability 1/n, and moves there if
    the rankers that put x' strictly above x outnumber (outweigh) those that put it strictly below;
    otherwise it stays. With probability ``teleport`` it instead jumps to an item of the list at random,
    which makes the distribution unique. Each list's probabilities sum to one; they are rounded to
    eleven digits, so that items in the same position get the same score.

    Parameters
    ----------
    scores : array of shape (n, rankers)
        One column a ranker; a higher score stands above. Infinite scores are fine, NaN is refused.
    groups : array of shape (n,), optional
        The list (query) of each row, any hashable ids in any order; one list without.
    weights : array of shape (rankers,), optional
        The weights of the rankers in the majority.
    teleport : float
        Between 0 and 1, both excluded.

    Returns
    -------
    array of shape (n,)
        Probabilities; higher stands above.

    Notes
    -----
    Majorities are between every two items of a list, so a list of n items takes O(n² · rankers) time and
    n²/8 bytes (and some 200 MB beside), compared in blocks. Lists over 92,681 items (1 GiB) are refused:
    use :func:`borda`.

    References
    ----------
    Dwork, Kumar, Naor and Sivakumar (2001), Rank aggregation methods for the web.

    Examples
    --------
    >>> from wellorder.aggregation import markov_chain
    >>> markov_chain([[0.1, 3.0], [0.7, 1.0], [0.9, 2.0]]).round(3)
    array([0.333, 0.115, 0.551])
    """
    if isinstance(teleport, bool) or not isinstance(teleport, Real) or not 0 < teleport < 1:
        raise ValueError(f"teleport={teleport!r} must lie between 0 and 1")
    table, group, sizes = read_scores(scores, groups)
    alpha = read_ranker_weights(weights, table.shape[1])
    longest = int(sizes.max(initial=0))
    if longest**2 // 8 > MOST_BYTES:
        raise ValueError(
            f"a list of {longest:,} items has {longest**2:.1e} pairs, too many for a Markov chain; use borda or "
            "median_rank"
        )
    order = np.arange(len(table)) if group is None else np.argsort(group, kind="stable")
    ends = np.cumsum(sizes)
    if 0 < longest <= _SHORT and use_compiled(len(table)):
        return _short_lists(table, order, np.concatenate([[0], ends]), alpha, float(teleport))
    out = np.empty(len(table))
    for begin, end in zip(ends - sizes, ends, strict=True):
        rows = order[begin:end]
        out[rows] = _stationary(table[rows], alpha, float(teleport))
    return out


def _short_lists(table: Floats, order: Ints, bounds: Ints, weights: Floats, teleport: float) -> Floats:
    """Walk many short lists in compiled code, blocks of lists side by side; the blocks do not hang on the threads."""
    least = _LEAST_LEAD * float(weights.sum())
    cuts = np.unique(np.searchsorted(bounds, np.linspace(0, bounds[-1], _PARTS + 1)))
    parts = [(bounds[a], bounds[a : b + 1] - bounds[a]) for a, b in pairwise(cuts.tolist())]
    rows = [order[begin : begin + inside[-1]] for begin, inside in parts]

    def walk(number: int) -> Floats:
        some = table[rows[number]]
        return stationary(some, np.arange(len(some)), parts[number][1], weights, least, teleport, _SETTLED)

    out = np.empty(len(table))
    for place, found in zip(rows, parallel_map(walk, range(len(parts)), len(table)), strict=True):
        out[place] = _to_digits(found)
    return out


def _stationary(table: Floats, weights: Floats, teleport: float) -> Floats:
    """Solve π = (1 − teleport) Pᵀπ + teleport/n for one list; P[x, x'] = 1/n where x' beats x.

    With B[x, x'] = 1 where x beats x', and L_x the items that beat x, that is
    (n · teleport + (1 − teleport) L_x) π_x − (1 − teleport) Σ_x' B[x, x'] π_x' = teleport. Every column of
    this system sums to n · teleport > 0, so Gauss–Seidel by blocks converges; from the most beaten item up
    it is exact in one pass where the majorities run in no circle. A short list is one block.
    """
    n = len(table)
    height = max(min(_HEIGHT, _BLOCK // max(n, 1)), 1)
    lost = _losses(table, weights, height)
    worst_first = np.argsort(-lost, kind="stable")
    table, lost = table[worst_first], lost[worst_first]
    blocks = [slice(start, min(start + height, n)) for start in range(0, n, height)]
    beats = [np.packbits(_majorities(table[block], table, weights), axis=1) for block in blocks]
    diagonal = n * teleport + (1 - teleport) * lost
    pi = np.full(n, 1.0 / max(n, 1))
    change = 1.0
    while change > _SETTLED:
        change = 0.0
        for block, bits in zip(blocks, beats, strict=True):
            won = np.unpackbits(bits, axis=1, count=n).astype(float)
            inside = won[:, block].copy()
            won[:, block] = 0.0
            inflow = teleport + (1 - teleport) * (won @ pi)
            found = np.linalg.solve(np.diag(diagonal[block]) - (1 - teleport) * inside, inflow)
            change = max(change, float(np.max(np.abs(found - pi[block]) / found))) if len(blocks) > 1 else 0.0
            pi[block] = found
    out = np.empty(n)
    out[worst_first] = _to_digits(pi / pi.sum())
    return out


def _losses(table: Floats, weights: Floats, height: int) -> Array:
    """Count the items that beat each item."""
    lost = np.zeros(len(table), np.int64)
    for start in range(0, len(table), height):
        lost += _majorities(table[start : start + height], table, weights).sum(axis=0)
    return lost


def _to_digits(values: Floats) -> Floats:
    """Round to eleven significant digits."""
    unit = 10.0 ** (np.floor(np.log10(values)) - 10)
    return np.asarray(np.round(values / unit) * unit)


def _majorities(some: Floats, others: Floats, weights: Floats) -> Array:
    """Say of each of some items and each other one whether the rankers put the first above, by majority."""
    lead = np.zeros((len(some), len(others)))
    for ranker, weight in enumerate(weights):
        one, other = some[:, ranker, None], others[None, :, ranker]
        lead += weight * ((one > other).astype(np.int8) - (one < other).astype(np.int8))
    return np.asarray(lead > _LEAST_LEAD * weights.sum())


# --------------------------------------------------------------------------------------------------
# Many short lists at once, compiled: majorities and where the walk rests, list by list.


@jit
def stationary(
    table: Floats, rows: Ints, bounds: Ints, weights: Floats, least: float, teleport: float, change: float
) -> Floats:
    """Return the stationary distribution of each list, by row; see :mod:`wellorder.aggregation.markov`.

    ``rows[bounds[l]:bounds[l + 1]]`` are the rows of list l; a majority is a lead above ``least``. Gauss–Seidel from
    the most beaten item up, until no probability changes by more than ``change`` of itself. O(n² · rankers) a list and
    O(n²) a pass.
    """
    out = np.empty(len(table))
    longest = 0
    for number in range(len(bounds) - 1):
        longest = max(longest, bounds[number + 1] - bounds[number])
    won = np.empty((longest, longest), np.int32)  # the places of those that each item beats
    n_won = np.empty(longest, np.int64)
    place = np.empty(longest, np.int32)
    pi = np.empty(longest)
    for number in range(len(bounds) - 1):
        begin, n = bounds[number], bounds[number + 1] - bounds[number]
        beats, lost = _compiled_majorities(table[rows[begin : begin + n]].T.copy(), weights, least)
        ranked = np.argsort(-lost, kind="mergesort")
        for x in range(n):
            place[ranked[x]] = x
        for x in range(n):
            count, line = 0, beats[ranked[x]]
            for other in range(n):  # written whether it counts or not: a branch would cost more
                won[x, min(count, n - 1)] = place[other]
                count += line[other]
            n_won[x] = count
        pi[:n] = 1.0 / n
        moved = 1.0
        while moved > change:
            moved = 0.0
            for x in range(n):
                inflow = 0.0
                for k in range(n_won[x]):
                    inflow += pi[won[x, k]]
                found = (teleport + (1.0 - teleport) * inflow) / (n * teleport + (1.0 - teleport) * lost[ranked[x]])
                moved = max(moved, abs(found - pi[x]) / found)
                pi[x] = found
        total = pi[:n].sum()
        for x in range(n):
            out[rows[begin + ranked[x]]] = pi[x] / total
    return out


@jit
def _compiled_majorities(columns: Floats, weights: Floats, least: float) -> tuple[Array, Array]:
    """Say of each two items whether the first beats the second, and count by how many each is beaten."""
    n = columns.shape[1]
    beats = np.empty((n, n), np.uint8)
    lost = np.zeros(n, np.int64)
    lead = np.empty(n)
    for x in range(n):
        lead[:] = 0.0
        for ranker in range(len(weights)):
            own, weight, column = columns[ranker, x], weights[ranker], columns[ranker]
            for other in range(n):
                lead[other] += weight * ((1.0 if own > column[other] else 0.0) - (1.0 if own < column[other] else 0.0))
        for other in range(n):
            beats[x, other] = lead[other] > least
            lost[other] += lead[other] > least
    return beats, lost
