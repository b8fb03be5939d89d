"""The Numba form of :mod:`wellorder.sweeps.factors`."""

from __future__ import annotations

import numpy as np

from .arrays import Array, Floats
from .compiled import jit


@jit
def centre(scores: Floats, block: Array, n_blocks: int) -> tuple[Floats, float]:
    """Shift the scores of each block to mean zero; rows of block −1 get zero. Returns the largest size too."""
    total = np.zeros(n_blocks)
    count = np.zeros(n_blocks)
    for i in range(len(scores)):
        b = block[i]
        if b >= 0:
            total[b] += scores[i]
            count[b] += 1.0
    for b in range(n_blocks):
        total[b] /= max(count[b], 1.0)
    out = np.zeros(len(scores))
    largest = 0.0
    for i in range(len(scores)):
        b = block[i]
        if b >= 0:
            out[i] = scores[i] - total[b]
            largest = max(largest, abs(out[i]))
    return out, largest


@jit
def cell_sums(cell: Array, growth: Floats, upper: Floats, lower: Floats, u: Floats, n_cells: int) -> Floats:
    """Add up p and q (times u, if there is one) of each cell's rows."""
    out = np.zeros((n_cells, 2))
    for i in range(len(cell)):
        c = cell[i]
        if c < 0:
            continue
        p = (upper[i] if len(upper) else 1.0) / growth[i]
        q = (lower[i] if len(lower) else 1.0) * growth[i]
        out[c, 0] += p * u[i] if len(u) else p
        out[c, 1] += q * u[i] if len(u) else q
    return out


@jit
def joined_sums(low: Array, high: Array, weight: Floats, of_cell: Floats) -> Floats:
    """Sum, for each cell, q over the cells below it and p over the cells above it."""
    out = np.zeros_like(of_cell)
    for edge in range(len(low)):
        out[high[edge], 0] += weight[edge] * of_cell[low[edge], 1]
        out[low[edge], 1] += weight[edge] * of_cell[high[edge], 0]
    return out


@jit
def rung_sums(starts: Array, step: Floats, of_cell: Floats) -> Floats:
    """Do the same where every cell of a group stands above all earlier ones."""
    out = np.zeros_like(of_cell)
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


@jit
def row_sums(cell: Array, growth: Floats, upper: Floats, lower: Floats, seen: Floats) -> tuple[float, Floats, Floats]:
    """Σ over all pairs; by row the sum as the lower end less that as the higher, and both added."""
    value = 0.0
    difference = np.zeros(len(cell))
    both = np.zeros(len(cell))
    for i in range(len(cell)):
        c = cell[i]
        if c < 0:
            continue
        as_high = (upper[i] if len(upper) else 1.0) / growth[i] * seen[c, 0]
        as_low = (lower[i] if len(lower) else 1.0) * growth[i] * seen[c, 1]
        value += as_high
        difference[i] = as_low - as_high
        both[i] = as_low + as_high
    return value, difference, both


@jit
def partner_sums(cell: Array, growth: Floats, upper: Floats, lower: Floats, seen: Floats) -> Floats:
    """By row, its sum over all its partners."""
    out = np.zeros(len(cell))
    for i in range(len(cell)):
        c = cell[i]
        if c >= 0:
            p = (upper[i] if len(upper) else 1.0) / growth[i]
            q = (lower[i] if len(lower) else 1.0) * growth[i]
            out[i] = p * seen[c, 0] + q * seen[c, 1]
    return out
