"""Running weighted means within blocks, in log space: for risks that factorise."""

from __future__ import annotations

import numpy as np

from .arrays import Array, Floats


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
