"""Sums over pairs that factorise: Σ W_ij · p_i · q_j, with the p and q of each cell added up first.

Rows lie in cells; a row of cell a is paired with all rows of the cells that a is joined to. ``p`` is the
row's part as the higher end of a pair, ``q`` as the lower. For e^{−(s_i − s_j)} they are ω e^{−s} and ω e^{s}.
All terms are positive and nothing is subtracted, so that the sums keep their digits whatever the sizes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, overload

import numpy as np

from .arrays import Array, Floats, Ints, sums_at
from .dispatch import jit, use_compiled


class Joined(NamedTuple):
    """Pairs of cells, listed: the rows of cell ``high`` stand above those of cell ``low``."""

    low: Ints
    high: Ints
    weight: Floats


class Rungs(NamedTuple):
    """All cells of a group (they begin at ``starts``) stand above the earlier ones, by one or by the ``step``s between.

    ``step[c]`` is how far cell c lies above the one before it; empty if every pair of cells weighs one.
    """

    starts: Ints
    step: Floats


def centre(scores: Floats, block: Ints | None, n_blocks: int, *, compiled: bool) -> tuple[Floats, float]:
    """Shift the scores of each block to mean zero, and return how large they are then.

    ``block`` is None when all rows are in the one; rows of block −1 get zero.
    """
    if block is None:
        out = np.asarray(scores - scores.mean()) if len(scores) else scores
    elif compiled:
        return compiled_centre(scores, block, n_blocks)
    else:
        inside = block >= 0
        within = block[inside]
        size = np.bincount(within, minlength=n_blocks)
        mean = np.bincount(within, scores[inside], minlength=n_blocks) / np.maximum(size, 1)
        out = np.zeros(len(scores))
        out[inside] = scores[inside] - mean[within]
    return out, float(max(out.max(initial=0.0), -out.min(initial=0.0)))


class Factors:
    """p = upper / e and q = lower · e of each row, and the cells they lie in.

    Parameters
    ----------
    cell
        Of each row; −1 for a row that takes no part.
    growth
        e of each row, positive.
    upper, lower
        What a row weighs as the higher end of a pair, and as the lower; None if all weigh one.
    joined
        Which cells stand above which.
    factor
        What all sums over a cell's partners are multiplied by; None if by one.
    compiled
        Which form to use.
    """

    def __init__(
        self,
        cell: Ints,
        growth: Floats,
        upper: Floats | None,
        lower: Floats | None,
        joined: Joined | Rungs,
        n_cells: int,
        factor: Floats | None,
        *,
        compiled: bool,
    ) -> None:
        self._joined, self._n_cells, self._factor, self._compiled = joined, n_cells, factor, compiled
        if compiled:
            none = np.empty(0)
            self._rows = cell, growth, none if upper is None else upper, none if lower is None else lower
            return
        self._cell = np.where(cell < 0, n_cells, cell)  # a cell beyond the last, which sees nothing
        self._p = 1.0 / growth if upper is None else upper / growth
        self._q = growth if lower is None else lower * growth

    def sums(self) -> tuple[float, Floats, Floats]:
        """Return Σ over all pairs, and by row: the sum as the lower end less that as the higher, and both added."""
        if self._compiled:
            return row_sums(*self._rows, self._seen(cell_sums(*self._rows, np.empty(0), self._n_cells)))
        below, above = self._plain_seen(self._p, self._q)
        as_high, as_low = self._p * below, self._q * above
        return float(as_high.sum()), as_low - as_high, as_low + as_high

    def weighted(self, u: Floats) -> Floats:
        """Return, by row, the sum over all its partners with each pair multiplied by the partner's u."""
        if self._compiled:
            of_cell = cell_sums(*self._rows, np.ascontiguousarray(u), self._n_cells)
            return partner_sums(*self._rows, self._seen(of_cell))
        below, above = self._plain_seen(self._p * u, self._q * u)
        return np.asarray(self._p * below + self._q * above)

    def _seen(self, of_cell: Floats) -> Floats:
        """Turn the sums (p, q) of each cell into what it sees: q below it, p above it."""
        if isinstance(self._joined, Joined):
            seen = joined_sums(*self._joined, of_cell)
        else:
            seen = rung_sums(*self._joined, of_cell)
        if self._factor is not None:
            seen *= self._factor[:, None]
        return seen

    def _plain_seen(self, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        p, q = (sums_at(self._cell, part, minlength=self._n_cells + 1)[:-1] for part in (p, q))
        below, above = np.zeros(self._n_cells), np.zeros(self._n_cells)
        if isinstance(self._joined, Joined):
            low, high, weight = self._joined
            below += np.bincount(high, weight * q[low], minlength=self._n_cells)
            above += np.bincount(low, weight * p[high], minlength=self._n_cells)
        else:
            starts, step = self._joined
            for begin, end in pairwise(starts):
                below[begin:end] = _sums_before(q[begin:end], step[begin:end])
                above[begin:end] = _sums_before(p[begin:end][::-1], np.roll(step[begin:end], -1)[::-1])[::-1]
        if self._factor is not None:
            below, above = below * self._factor, above * self._factor
        return np.append(below, 0.0)[self._cell], np.append(above, 0.0)[self._cell]


def _sums_before(values: Floats, step: Floats) -> Floats:
    """Σ of the values before each entry, each times the steps from there to here (by one, without steps).

    The first step is not looked at.
    """
    before = np.concatenate([[0.0], np.cumsum(values)[:-1]])
    # with T_c the sum wanted: T_c = T_{c−1} + step_c · Σ_{k<c} values_k
    return np.cumsum(step * before) if len(step) else before


# --------------------------------------------------------------------------------------------------
# Compiled, for large data; the NumPy form above gives the same numbers. Arrays are made outside: a function of NumPy's
# costs a tenth of a second where it is compiled, and whoever fits first waits for that.


def compiled_centre(scores: Floats, block: Ints, n_blocks: int) -> tuple[Floats, float]:
    """Shift the scores of each block to mean zero; rows of block −1 get zero. Returns the largest size too."""
    out = np.zeros(len(scores))
    return out, _fill_centred(scores, block, np.zeros(n_blocks), np.zeros(n_blocks), out)


@jit
def _fill_centred(scores: Floats, block: Ints, total: Floats, count: Floats, out: Floats) -> float:
    for i in range(len(scores)):
        b = block[i]
        if b >= 0:
            total[b] += scores[i]
            count[b] += 1.0
    for b in range(len(total)):
        if count[b] > 1.0:
            total[b] /= count[b]
    largest = 0.0
    for i in range(len(scores)):
        b = block[i]
        if b >= 0:
            out[i] = scores[i] - total[b]
            largest = max(largest, abs(out[i]))
    return largest


def cell_sums(cell: Ints, growth: Floats, upper: Floats, lower: Floats, u: Floats, n_cells: int) -> Floats:
    """Add up p and q (times u, if there is one) of each cell's rows."""
    out = np.zeros((n_cells, 2))
    _add_to_cells(cell, growth, upper, lower, u, out)
    return out


@jit
def _add_to_cells(cell: Ints, growth: Floats, upper: Floats, lower: Floats, u: Floats, out: Floats) -> None:
    for i in range(len(cell)):
        c = cell[i]
        if c < 0:
            continue
        p = (upper[i] if len(upper) else 1.0) / growth[i]
        q = (lower[i] if len(lower) else 1.0) * growth[i]
        out[c, 0] += p * u[i] if len(u) else p
        out[c, 1] += q * u[i] if len(u) else q


def joined_sums(low: Ints, high: Ints, weight: Floats, of_cell: Floats) -> Floats:
    """Sum, for each cell, q over the cells below it and p over the cells above it."""
    out = np.zeros(of_cell.shape)
    _add_joined(low, high, weight, of_cell, out)
    return out


@jit
def _add_joined(low: Ints, high: Ints, weight: Floats, of_cell: Floats, out: Floats) -> None:
    for edge in range(len(low)):
        out[high[edge], 0] += weight[edge] * of_cell[low[edge], 1]
        out[low[edge], 1] += weight[edge] * of_cell[high[edge], 0]


@jit
def rung_sums(starts: Ints, step: Floats, of_cell: Floats) -> Floats:
    """Do the same where every cell of a group stands above all earlier ones."""
    out = np.zeros_like(of_cell)  # made here: the loops are a third faster where it is known to overlap with nothing
    for g in range(len(starts) - 1):
        # invariant: `plain` sums the cells passed, `risen` sums them times their distance from the last one passed
        plain = risen = 0.0
        for c in range(starts[g], starts[g + 1]):
            if len(step):
                risen += step[c] * plain
            out[c, 0] = risen if len(step) else plain
            plain += of_cell[c, 1]
        plain = risen = 0.0
        for c in range(starts[g + 1] - 1, starts[g] - 1, -1):
            if len(step) and c + 1 < starts[g + 1]:
                risen += step[c + 1] * plain
            out[c, 1] = risen if len(step) else plain
            plain += of_cell[c, 0]
    return out


def row_sums(cell: Ints, growth: Floats, upper: Floats, lower: Floats, seen: Floats) -> tuple[float, Floats, Floats]:
    """Σ over all pairs; by row the sum as the lower end less that as the higher, and both added."""
    difference, both = np.zeros(len(cell)), np.zeros(len(cell))
    return _fill_row_sums(cell, growth, upper, lower, seen, difference, both), difference, both


@jit
def _fill_row_sums(
    cell: Ints, growth: Floats, upper: Floats, lower: Floats, seen: Floats, difference: Floats, both: Floats
) -> float:
    value = 0.0
    for i in range(len(cell)):
        c = cell[i]
        if c < 0:
            continue
        as_high = (upper[i] if len(upper) else 1.0) / growth[i] * seen[c, 0]
        as_low = (lower[i] if len(lower) else 1.0) * growth[i] * seen[c, 1]
        value += as_high
        difference[i] = as_low - as_high
        both[i] = as_low + as_high
    return value


def partner_sums(cell: Ints, growth: Floats, upper: Floats, lower: Floats, seen: Floats) -> Floats:
    """By row, its sum over all its partners."""
    out = np.zeros(len(cell))
    _fill_partner_sums(cell, growth, upper, lower, seen, out)
    return out


@jit
def _fill_partner_sums(cell: Ints, growth: Floats, upper: Floats, lower: Floats, seen: Floats, out: Floats) -> None:
    for i in range(len(cell)):
        c = cell[i]
        if c >= 0:
            p = (upper[i] if len(upper) else 1.0) / growth[i]
            q = (lower[i] if len(lower) else 1.0) * growth[i]
            out[i] = p * seen[c, 0] + q * seen[c, 1]


# --------------------------------------------------------------------------------------------------
# Running sums within blocks that subtract nothing; running means in log space, for risks that factorise.


@overload
def sums_before(values: Floats, starts: Ints) -> Floats: ...
@overload
def sums_before(values: Ints, starts: Ints) -> Ints: ...
def sums_before(values: Array, starts: Ints) -> Array:
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
        from .sides import sums_until

        return sums_until(shifted, first)
    begin = np.repeat(first, np.diff(np.append(first, len(values))))
    place, step = np.arange(len(values)), 1
    # invariant: entry k is the sum of the (at most) step entries of its block up to it
    while (reaches := np.flatnonzero(place - step >= begin)).size:
        shifted[reaches] += shifted[reaches - step]
        step *= 2
    return shifted


def cover_sums(start: Ints, stop: Ints, values: Floats, n: int) -> Floats:
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


def stretch_sums(values: Floats, start: Ints, stop: Ints) -> Floats:
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


def means_before(log_mass: Floats, columns: Floats, starts: Ints) -> tuple[Floats, Floats]:
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


def block_log_sums(values: Floats, block: Ints, n_blocks: int) -> Floats:
    """Log of the sum of exp(values) in each block."""
    largest = np.full(n_blocks, -np.inf)
    np.maximum.at(largest, block, values)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.bincount(block, np.exp(values - safe[block]), minlength=n_blocks))
