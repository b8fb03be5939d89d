"""Running sums within blocks that subtract nothing; running means in log space, for risks that factorise."""

from __future__ import annotations

import numpy as np

from .arrays import Array, Floats
from .dispatch import use_compiled


def sums_before(values: Array, starts: Array) -> Array:
    """Sum, for each entry, the entries before it in its block; the blocks begin at ``starts``, which has the end too.

    Nothing is subtracted, as a difference of two running sums over all blocks would: a small entry behind a large one,
    or in a block after that of a large one, keeps its digits. O(n) in one block, for whole numbers, and compiled;
    otherwise a scan by doubling, O(n log n).
    """
    shifted = np.concatenate([np.zeros_like(values[:1]), values[:-1]])
    if len(starts) <= 2:
        return np.cumsum(shifted)
    first = starts[:-1][np.diff(starts) > 0]
    shifted[first] = 0
    if values.dtype.kind in "iu":  # exact, whatever is subtracted
        running = np.cumsum(shifted)
        return np.asarray(running - np.repeat(running[first], np.diff(np.append(first, len(values)))))
    if use_compiled(len(values)):
        from .compiled import sums_until

        return sums_until(shifted, first)
    begin = np.repeat(first, np.diff(np.append(first, len(values))))
    place, step = np.arange(len(values)), 1
    # invariant: entry k is the sum of the (at most) step entries of its block up to it
    while (reaches := np.flatnonzero(place - step >= begin)).size:
        shifted[reaches] += shifted[reaches - step]
        step *= 2
    return shifted


def cover_sums(start: Array, stop: Array, values: Floats, n: int) -> Floats:
    """Sum, for each of n places, the values whose stretch start, …, stop − 1 covers it: O(values · log n).

    By a tree over the places: a stretch is a few whole nodes, and a place's sum is that of the nodes above it. Adding
    a value where its stretch starts and subtracting it where it stops would leave nothing of a small one.
    """
    size = 1 << max(n - 1, 0).bit_length()
    tree = np.zeros(2 * size)
    low, high = start + size, stop + size
    # invariant: what of each stretch is not yet in the tree is the nodes low, …, high − 1 of this floor
    while (left := low < high).any():
        for node, chosen in ((low, left & (low % 2 == 1)), (high - 1, left & (high % 2 == 1))):
            tree += np.bincount(node[chosen], values[chosen], minlength=2 * size)
        low, high = (low + 1) // 2, high // 2
    floor = 1
    while floor < size:
        tree[2 * floor : 4 * floor] += np.repeat(tree[floor : 2 * floor], 2)
        floor *= 2
    return tree[size : size + n]


def stretch_sums(values: Floats, start: Array, stop: Array) -> Floats:
    """Sum the values at start, …, stop − 1, for each stretch, without a subtraction: O(n + stretches · log n)."""
    size = 1 << max(len(values) - 1, 0).bit_length()
    tree = np.zeros(2 * size)  # a node is the sum of the two below it
    tree[size : size + len(values)] = values
    floor = size
    while floor > 1:
        tree[floor // 2 : floor] = tree[floor : 2 * floor : 2] + tree[floor + 1 : 2 * floor : 2]
        floor //= 2
    out, low, high = np.zeros(len(start)), start + size, stop + size
    # invariant: what of each stretch is not yet summed up is the nodes low, …, high − 1 of this floor
    while (left := low < high).any():
        out += np.where(left & (low % 2 == 1), tree[np.minimum(low, 2 * size - 1)], 0.0)
        out += np.where(left & (high % 2 == 1), tree[high - 1], 0.0)
        low, high = (low + 1) // 2, high // 2
    return out


def means_before(log_mass: Floats, columns: Floats, starts: Array) -> tuple[Floats, Floats]:
    """Average the columns over the entries before each entry of its block, weighted by exp(log_mass).

    Returns the log of the summed weights (−inf for a block's first entry) and the means (0 there).
    The weights may span any range of magnitudes. O(c log c) for c entries: a scan by doubling.
    """
    begin = np.repeat(starts[:-1], np.diff(starts))
    place = np.arange(len(log_mass))
    # shift by one: entry k starts with what stands just before it
    log_total = np.where(place > begin, np.concatenate([[-np.inf], log_mass[:-1]]), -np.inf)
    means = np.where((place > begin)[:, None], np.concatenate([np.zeros_like(columns[:1]), columns[:-1]]), 0.0)
    step = 1
    # invariant: entry k covers the (at most) step entries before it in its block
    while step < np.max(np.diff(starts), initial=0):
        reaches = np.flatnonzero(place - step > begin)
        earlier = reaches - step
        total = np.logaddexp(log_total[reaches], log_total[earlier])
        finite = np.where(np.isfinite(total), total, 0.0)
        means[reaches] = (
            np.exp(log_total[reaches] - finite)[:, None] * means[reaches]
            + np.exp(log_total[earlier] - finite)[:, None] * means[earlier]
        )
        log_total[reaches] = total
        step *= 2
    return log_total, means


def block_log_sums(values: Floats, block: Array, n_blocks: int) -> Floats:
    """Log of the sum of exp(values) in each block."""
    largest = np.full(n_blocks, -np.inf)
    np.maximum.at(largest, block, values)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.bincount(block, np.exp(values - safe[block]), minlength=n_blocks))
