"""The Numba form of what stands at the top of lists: only the first k places are kept, and nothing is sorted.

Import this module only where :func:`wellorder.sweeps.dispatch.use_compiled` says so. Its NumPy twin sorts whole lists:
see :func:`wellorder.metrics.ndcg`.
"""

from __future__ import annotations

import numpy as np

from .arrays import Floats, Ints
from .compiled import jit


@jit
def top_gains(
    level: Ints, scores: Floats, rows: Ints, bounds: Ints, gains: Floats, discount: Floats
) -> tuple[Floats, Floats, Ints]:
    """Return Σ discount · gain over the first k = len(discount) places of each list: expected, and in the best order.

    Both are in units of the list's highest gain, so that none overflows; the best is 0 where there is no gain. Also
    returned: how many rows of each list have a level (others are −1). List g has rows[bounds[g]:bounds[g + 1]], or,
    where ``rows`` is empty, these rows themselves. Equal scores stand in any order alike. O(n + n_lists · k²) for rows
    in random order, O(n k) at most.
    """
    n_lists, k = len(bounds) - 1, len(discount)
    found, best, sizes = np.zeros(n_lists), np.zeros(n_lists), np.zeros(n_lists, np.int64)
    top_level, top_score, top_gain = np.empty(k, np.int64), np.empty(k), np.empty(k)
    in_place = len(rows) == 0
    for g in range(n_lists):
        start, stop = bounds[g], bounds[g + 1]
        size = 0
        # invariant: the first min(size, k) entries of top_level are the highest so far, falling
        for at in range(start, stop):
            here = level[at if in_place else rows[at]]
            if here < 0:
                continue
            j = min(size, k)
            size += 1
            if j == k:
                if here <= top_level[k - 1]:
                    continue
                j = k - 1
            while j > 0 and top_level[j - 1] < here:
                top_level[j] = top_level[j - 1]
                j -= 1
            top_level[j] = here
        sizes[g] = size
        kept = min(size, k)
        if kept == 0 or not gains[top_level[0]] > 0.0:
            continue
        unit = gains[top_level[0]]
        for j in range(kept):
            best[g] += gains[top_level[j]] / unit * discount[j]
        found[g] = _expected(level, scores, rows, start, stop, gains, unit, discount, top_score, top_gain)
    return found, best, sizes


@jit
def _expected(
    level: Ints,
    scores: Floats,
    rows: Ints,
    start: int,
    stop: int,
    gains: Floats,
    unit: float,
    discount: Floats,
    top_score: Floats,
    top_gain: Floats,
) -> float:
    """Return one list's sum, expected over all orders of equal scores; the last two arrays are room to work in."""
    k, size = len(discount), 0
    in_place = len(rows) == 0
    beyond, beyond_gain = 0, 0.0
    # invariant: the first min(size, k) entries are the highest scores so far, falling, with their gains; ``beyond``
    # rows more are as high as the last of k entries
    for at in range(start, stop):
        row = at if in_place else rows[at]
        if level[row] < 0:
            continue
        score, gain = scores[row], gains[level[row]] / unit
        j = min(size, k)
        size += 1
        if j == k:
            last, last_gain = top_score[k - 1], top_gain[k - 1]
            if score < last:
                continue
            if score == last:
                beyond, beyond_gain = beyond + 1, beyond_gain + gain
                continue
            if k > 1 and top_score[k - 2] == last:
                beyond, beyond_gain = beyond + 1, beyond_gain + last_gain
            else:
                beyond, beyond_gain = 0, 0.0
            j = k - 1
        while j > 0 and top_score[j - 1] < score:
            top_score[j], top_gain[j] = top_score[j - 1], top_gain[j - 1]
            j -= 1
        top_score[j], top_gain[j] = score, gain
    total, kept = 0.0, min(size, k)
    first = 0
    while first < kept:
        # places first, first + 1, … up to ``after`` are tied: each expects the mean gain of the run
        after, of_run, of_places = first, 0.0, 0.0
        while after < kept and top_score[after] == top_score[first]:
            of_run += top_gain[after]
            of_places += discount[after]
            after += 1
        count = after - first
        if after == k:
            count, of_run = count + beyond, of_run + beyond_gain
        total += of_run / count * of_places
        first = after
    return total
