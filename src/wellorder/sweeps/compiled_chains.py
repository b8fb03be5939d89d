"""Markov chains over short lists, many of them: majorities and where the walk rests, list by list."""

from __future__ import annotations

import numpy as np

from .arrays import Array, Floats, Ints
from .compiled import jit


@jit
def stationary(
    table: Floats, rows: Ints, bounds: Array, weights: Floats, least: float, teleport: float, change: float
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
        beats, lost = _majorities(table[rows[begin : begin + n]].T.copy(), weights, least)
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
def _majorities(columns: Floats, weights: Floats, least: float) -> tuple[Array, Array]:
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
