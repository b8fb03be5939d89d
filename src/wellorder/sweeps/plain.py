"""The NumPy form of the sweeps: the same sums without a compiler, for small data.

A window sum over one cell is a difference of two running sums, once the positions are arranged cell
by cell. A *plan* lists those differences for every row; it depends on the order of the scores only,
so that all products of one Newton step share it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Array, Floats, Ints, ranges


def sort_within_groups(scores: Floats, group: Ints, n_active: int) -> Ints:
    """Sort rows by (group, score); rows of group −1 drop out."""
    rows = np.lexsort((scores, group))
    return rows[len(rows) - n_active :].astype(np.int32)


def reach(ascending: Floats, bounds: Ints, margin: float, mirror: bool) -> Ints:
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


class Plan(NamedTuple):
    """Window sums as differences of running sums: arrays only."""

    group: Ints  # the group of each step
    arranged: Array  # steps, cell by cell (several such arrangements for a ladder)
    target: Array  # the step that a difference adds to
    start: Array  # where in ``arranged`` its cell begins
    stop: Array  # where its window ends
    weight: Floats | None


def edge_plan(cell: Ints, group: Ints, reach: Ints, indptr: Ints, indices: Ints, weights: Floats) -> Plan:
    """Plan ``edge_sums``: one difference for each step and each cell above its own."""
    n = len(cell)
    arranged = np.argsort(cell, kind="stable")
    key = cell[arranged].astype(np.int64) * (n + 1) + arranged
    degree = np.diff(indptr)[cell]
    target = np.repeat(np.arange(n), degree)
    edge = ranges(indptr[cell], degree)
    above = indices[edge].astype(np.int64) * (n + 1)
    start = np.searchsorted(key, above)
    stop = np.searchsorted(key, above + reach[target])
    return Plan(group, arranged, target, start, stop, weights[edge])


def ladder_plan(rank: Ints, group: Ints, reach: Ints) -> Plan:
    """Plan ``ladder_sums``, with one difference for each step and each bit of a rank.

    rank[p] < rank[i] exactly when, at some bit, p has a 0, i has a 1 and all higher bits agree. So
    each bit splits the steps into blocks (group, higher bits) with the zeros of a block side by side.
    """
    n = len(rank)
    n_bits = int(rank.max(initial=0)).bit_length()
    none = np.empty(0, np.intp)
    plan = Plan(group, none, none, none, none, None)
    for bit in range(n_bits):
        _, block = np.unique((group.astype(np.int64) << n_bits) | (rank >> (bit + 1)), return_inverse=True)
        ones, zeros = np.flatnonzero((rank >> bit) & 1), np.flatnonzero(~(rank >> bit) & 1)
        zeros = zeros[np.argsort(block[zeros], kind="stable")]
        key = block[zeros] * (n + 1) + zeros
        offset = len(plan.arranged)
        plan = plan._replace(
            arranged=np.append(plan.arranged, zeros),
            target=np.append(plan.target, ones),
            start=np.append(plan.start, offset + np.searchsorted(key, block[ones] * (n + 1))),
            stop=np.append(plan.stop, offset + np.searchsorted(key, block[ones] * (n + 1) + reach[ones])),
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


def planned_sums(plan: Plan, payload: Floats) -> Floats:
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
