"""Theorems 3 and 4 of Uematsu and Lee (2013) on problems that can be solved exactly: few items, three grades."""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np

from ...sweeps import Bools, Floats

_GAIN = 1e-12
"""Newton's method ends where a step would gain less than this part of the risk."""

_RIDGE = 1e-10
"""What keeps items apart by no more than some twenty, where counts of zero would let them drift for ever."""

_WORSE = 1e-9
"""A share of swapped pairs that is larger by more than this is another order's, not rounding's."""


class Problems(NamedTuple):
    """Many problems of the same number of items; unit costs."""

    mass: Floats
    """Of shape (problems, items, 3): the share of all rows that are of an item and have a grade."""

    @property
    def pairs(self) -> Floats:
        """How often item a stands, by its grade, above item b: of shape (problems, items, items)."""
        low, middle, high = np.moveaxis(self.mass, 2, 0)
        return np.asarray(_outer(middle, low) + _outer(high, low) + _outer(high, middle))

    @property
    def consistent_pairs(self) -> Floats:
        """The same with Theorem 4's pairs within the middle grade."""
        middle = self.mass[:, :, 1]
        return self.pairs + _outer(middle, middle)

    @property
    def best(self) -> Floats:
        """Theorem 3's score of each item."""
        low, middle, high = np.moveaxis(self.mass, 2, 0)
        return np.asarray((middle + high) / (low + middle))

    def swapped(self, scores: Floats) -> Floats:
        """Return the share of pairs that scores swap; a tie is half a swap."""
        behind = scores[:, :, None] - scores[:, None, :]
        lost = np.where(np.abs(behind) < 1e-12, 0.5, behind < 0)
        pairs = self.pairs
        return np.asarray((pairs * lost).sum(axis=(1, 2)) / pairs.sum(axis=(1, 2)))

    def least_swapped(self) -> Floats:
        """Return what the best of all orders swaps, found by trying each."""
        n, m = self.mass.shape[:2]
        tried = (self.swapped(np.tile(np.array(order, dtype=float), (n, 1))) for order in permutations(range(m)))
        return np.asarray(np.min(list(tried), axis=0))

    def misordered(self, scores: Floats) -> Bools:
        """Say where scores swap more pairs than the best order."""
        return np.asarray(self.swapped(scores) > self.swapped(self.best) + _WORSE)


def draw_problems(rng: np.random.Generator, n: int, n_items: int) -> Problems:
    """Draw items' shares, and how often each has the three grades, evenly over all there are."""
    share = rng.dirichlet(np.ones(n_items), n)
    often = rng.dirichlet(np.ones(3), (n, n_items))
    return Problems(share[:, :, None] * often)


def sample_problem(rng: np.random.Generator, mass: Floats, n_rows: int, n_times: int) -> Problems:
    """Draw rows of one problem, some times over."""
    counts = rng.multinomial(n_rows, mass.ravel() / mass.sum(), n_times)
    return Problems(counts.reshape(n_times, *mass.shape) / n_rows)


def minimise_exponential(pairs: Floats) -> Floats:
    """Return the scores that minimise Σ pairs_ab e^{−(s_a − s_b)} of each problem, the first item's at zero.

    Newton's method on the logarithm of the sum, which is convex as well and flatter.
    """
    n, m = pairs.shape[:2]
    with np.errstate(divide="ignore"):
        log_pairs = np.log(pairs)
    scores = np.zeros((n, m))

    def risk(scores: Floats) -> tuple[Floats, Floats]:
        """Return the logarithm of the sum, with a ridge, and the pairs' shares of the sum."""
        log = log_pairs - scores[:, :, None] + scores[:, None, :]
        top = log.max(axis=(1, 2))
        share = np.exp(log - top[:, None, None])
        total = share.sum(axis=(1, 2))
        return top + np.log(total) + 0.5 * _RIDGE * (scores**2).sum(axis=1), share / total[:, None, None]

    value, share = risk(scores)
    for _ in range(200):
        out, in_ = share.sum(axis=2), share.sum(axis=1)
        gradient = in_ - out + _RIDGE * scores
        bend = -share - share.transpose(0, 2, 1) - (in_ - out)[:, :, None] * (in_ - out)[:, None, :]
        bend[:, range(m), range(m)] += out + in_ + _RIDGE
        step = np.zeros_like(scores)
        step[:, 1:] = np.linalg.solve(bend[:, 1:, 1:], -gradient[:, 1:, None])[:, :, 0]
        slope = (gradient * step).sum(axis=1)
        if (-slope <= _GAIN).all():
            break
        length = np.ones(n)
        for _ in range(40):
            tried, _ = risk(scores + length[:, None] * step)
            short = tried > value + 1e-4 * length * slope + 1e-15
            if not short.any():
                break
            length[short] *= 0.5
        scores = scores + length[:, None] * step
        value, share = risk(scores)
    return scores


def _outer(above: Floats, below: Floats) -> Floats:
    return np.asarray(above[:, :, None] * below[:, None, :])
