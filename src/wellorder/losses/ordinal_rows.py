"""Rows with levels, sorted by score, and the thresholds between the levels that suit them best.

A threshold is never compared with every row. Within a level the rows are sorted by score, so those that a
threshold sees inside its margin stand side by side, and sums over them are differences of running sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ..sweeps import Floats, Ints, ranges, sort_rows, use_compiled

Thresholds: TypeAlias = Literal["all", "immediate", "explicit"]


_LISTED_PER_LEVEL = 8_000
_MOST_LISTED = 2_000_000
"""Thresholds are found by sorting the looks of single rows while they are so few, by bisection where they are more."""

_MOST_ONE_BY_ONE = 30_000
"""Up to so many looks of single rows, visiting each costs less than searching for those inside a margin."""

_ROWS_PER_LEVEL = 50
"""Up to so many rows a level on average, levels are searched all at once, else one after the other."""


class Looks(NamedTuple):
    """Which level's rows look at which threshold, and on which side of it they belong (+1: above)."""

    level: Ints
    threshold: Ints
    side: Floats
    bounds: Ints
    """The looks of level l stand at bounds[l]:bounds[l + 1]."""


class Windows(NamedTuple):
    """For each look, the places of the rows inside the rounded corner (low:high) and beyond it."""

    low: Ints
    high: Ints
    beyond_low: Ints
    beyond_high: Ints


@dataclass(frozen=True)
class OrdinalRows:
    """Rows of the levels 0, …, n_levels − 1; a row of level −1 takes no part."""

    level: Ints
    weight: Floats
    n_levels: int
    thresholds: Thresholds

    @cached_property
    def bounds(self) -> Ints:
        """Where each level begins, among the rows sorted by level."""
        counts = np.bincount(self.level[self.level >= 0], minlength=self.n_levels)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    @cached_property
    def looks(self) -> Looks:
        """All levels look at all thresholds, or at the ones next to them."""
        n = self.n_levels
        if self.thresholds == "all":
            level, threshold = np.divmod(np.arange(n * (n - 1)), n - 1)
        else:
            level = np.repeat(np.arange(n), 2)[1:-1]
            threshold = np.repeat(np.arange(n - 1), 2)
        side = np.where(level > threshold, 1.0, -1.0)
        bounds = np.searchsorted(level, np.arange(n + 1))
        return Looks(level, threshold, side, bounds)

    @property
    def n_looks(self) -> int:
        """How many looks of single rows at thresholds there are."""
        return int(np.diff(self.bounds)[self.looks.level].sum())

    def sample(self, coarser: int, rng: np.random.Generator) -> Ints:
        """Draw the numbers of so many times fewer rows, of every level at least one."""
        some = [np.flatnonzero(self.level == level) for level in range(self.n_levels)]
        return np.sort(np.concatenate([rng.choice(mine, -(-len(mine) // coarser), replace=False) for mine in some]))

    def take(self, rows: Ints) -> OrdinalRows:
        """Return some of the rows."""
        return OrdinalRows(self.level[rows], self.weight[rows], self.n_levels, self.thresholds)


class SortedRows:
    """Rows sorted by level, then by score, with running sums of their weights and weighted scores."""

    def __init__(self, rows: OrdinalRows, scores: Floats) -> None:
        self.rows = rows
        bounds = rows.bounds
        self.order = sort_rows(scores, rows.level, bounds, compiled=use_compiled(len(scores)))
        self.scores = scores[self.order]
        self.weight = rows.weight[self.order]
        self.mass = _running(self.weight)
        self.moment = _running(self.weight * self.scores)
        looks = rows.looks
        self._first, self._last = bounds[looks.level], bounds[looks.level + 1]
        self._outermost = float(self.scores.min()) - 1.0, float(self.scores.max()) + 1.0

    def windows(self, at: Floats, width: float) -> Windows:
        """Find the rows that see a threshold inside the last ``width`` of their margin, or beyond it.

        ``at`` has the threshold of each look. A row of side t is wrong by 1 − t (s − b), inside where this is
        between 0 and ``width``.
        """
        above = self.rows.looks.side > 0
        near = at + np.where(above, 1.0 - width, -1.0)
        far = at + np.where(above, 1.0, width - 1.0)
        low, high = self._search(np.stack([near, far]))
        return Windows(low, high, np.where(above, self._first, high), np.where(above, low, self._last))

    def _search(self, limits: Floats) -> Ints:
        """Find for each look the first row of its level that a limit does not exceed; several limits a look."""
        looks, bounds = self.rows.looks, self.rows.bounds
        places = np.empty(limits.shape, np.int64)
        if len(self.scores) > _ROWS_PER_LEVEL * self.rows.n_levels:
            for level in range(self.rows.n_levels):
                mine = slice(looks.bounds[level], looks.bounds[level + 1])
                here = self.scores[bounds[level] : bounds[level + 1]]
                places[:, mine] = bounds[level] + np.searchsorted(here, limits[:, mine])
            return places
        places[:], end = self._first, np.broadcast_to(self._last, limits.shape)
        padded = np.append(self.scores, np.inf)
        # invariant: the place sought lies in [places, end]; halved for all at once, as a level has few rows
        for _ in range(int(np.diff(bounds).max()).bit_length()):
            middle = (places + end) // 2
            beyond = (middle < end) & (padded[middle] < limits)
            places, end = np.where(beyond, middle + 1, places), np.where(beyond, end, middle)
        return places

    def slopes(self, at: Floats, width: float) -> tuple[Floats, Floats]:
        """Return each look's slope Σ ω θ t of the loss in its threshold, and its curvature there."""
        side = self.rows.looks.side
        low, high, beyond_low, beyond_high = self.windows(at, width)
        beyond = self.mass[beyond_high] - self.mass[beyond_low]
        if width == 0.0:
            return side * beyond, np.zeros_like(at)
        inside = self.mass[high] - self.mass[low]
        theta = ((1.0 + side * at) * inside - side * (self.moment[high] - self.moment[low])) / width
        return side * (beyond + theta), inside / width

    def best_thresholds(self, width: float) -> tuple[Floats, Ints]:
        """Return the thresholds that minimise the loss, and the number of the block that each is in."""
        looks = self.rows.looks
        return pooled(self.rows, lambda block: self._zero_slopes(block[looks.threshold], int(block[-1]) + 1, width))

    def _zero_slopes(self, of_look: Ints, n_blocks: int, width: float) -> Floats:
        """Return for each block of thresholds where its loss is smallest; the middle, where that is a range."""
        smallest = 1e-14 * float(self.mass[-1])

        def slopes(b: Floats) -> tuple[Floats, Floats]:
            slope, bend = self.slopes(b[of_look], width)
            return np.bincount(of_look, slope, n_blocks), np.bincount(of_look, bend, n_blocks)

        low, high = (np.full(n_blocks, end) for end in self._outermost)
        if width > 0.0:
            listed = self.rows.n_looks <= _MOST_ONE_BY_ONE
            rising = self._listed_slopes(of_look, n_blocks, width) if listed else slopes
            return rising_zeros(rising, low, high, smallest, 0.5 * (low + high))
        if self.rows.n_looks <= min(_LISTED_PER_LEVEL * self.rows.n_levels, _MOST_LISTED):
            return self._medians(of_look, n_blocks)
        left = _bisection(lambda b: slopes(b)[0] >= -smallest, low, high)
        right = _bisection(lambda b: slopes(b)[0] > smallest, low, high)
        return 0.5 * (left + right)

    def _listed_slopes(self, of_look: Ints, n_blocks: int, width: float) -> Callable[[Floats], tuple[Floats, Floats]]:
        """Return the function that adds up slope and curvature of each block over the looks of single rows."""
        row, look = self._single_looks()
        side, block, weight = self.rows.looks.side[look], of_look[look], self.weight[row]
        without, steep = (1.0 - side * self.scores[row]) / width, side / width

        def slopes(b: Floats) -> tuple[Floats, Floats]:
            wrong = without + steep * b[block]
            inside = (wrong > 0.0) & (wrong < 1.0)
            slope = np.bincount(block, weight * side * np.clip(wrong, 0.0, 1.0), n_blocks)
            return slope, np.bincount(block, weight * inside, n_blocks) / width

        return slopes

    def _single_looks(self) -> tuple[Ints, Ints]:
        """List the looks of single rows: the row's place, and which look of its level it is."""
        lengths = self._last - self._first
        return ranges(self._first, lengths), np.repeat(np.arange(len(lengths)), lengths)

    def _medians(self, of_look: Ints, n_blocks: int) -> Floats:
        """Return for each block the weighted median of the places s − t, where a row's loss begins or ends."""
        row, look = self._single_looks()
        side, block = self.rows.looks.side[look], of_look[look]
        place, weight = self.scores[row] - side, self.weight[row]
        order = np.lexsort((place, block))
        place, running = place[order], np.cumsum(weight[order])
        bounds = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=n_blocks))])
        half = np.append(0.0, running)[bounds[:-1]] + np.bincount(block, weight * (side < 0), n_blocks)
        slack = 1e-12 * float(self.mass[-1])
        left, right = np.searchsorted(running, half - slack), np.searchsorted(running, half + slack, side="right")
        left, right = (np.clip(at, bounds[:-1], bounds[1:] - 1) for at in (left, right))
        return np.asarray(0.5 * (place[left] + place[right]))


def pooled(rows: OrdinalRows, zeros: Callable[[Ints], Floats]) -> tuple[Floats, Ints]:
    """Return the thresholds that minimise a loss, and the number of the block that each is in.

    ``zeros`` gives for blocks of thresholds (the number of each threshold's) where their losses are smallest.
    Thresholds that must be ordered and would cross are pooled: they share one value. Pooling
    adjacent violators in any order ends in the minimum, since each threshold's loss is convex.
    """
    block = np.arange(rows.n_levels - 1)
    while True:
        best = zeros(block)
        crossed = best[:-1] > best[1:]
        if rows.thresholds != "explicit" or not crossed.any():
            return best[block], block
        block = np.concatenate([[0], np.cumsum(~crossed)])[block]


def _running(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])


def _bisection(has_risen: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Return where a condition becomes true and stays so, for many at once."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        if ((middle <= low) | (middle >= high)).all():
            break
        risen = has_risen(middle)
        low, high = np.where(risen, low, middle), np.where(risen, middle, high)
    return high


def rising_zeros(
    slopes: Callable[[Floats], tuple[Floats, Floats]], low: Floats, high: Floats, smallest: float, b: Floats
) -> Floats:
    """Return where rising, piecewise linear functions are zero: Newton's steps from b, kept between two ends."""
    for step in range(200):
        slope, bend = slopes(b)
        low, high = np.where(slope < 0, b, low), np.where(slope > 0, b, high)
        middle = 0.5 * (low + high)
        done = (np.abs(slope) <= smallest) | (middle <= low) | (middle >= high)
        if done.all():
            break
        newton = b - slope / np.where(bend > 0, bend, 1.0)
        usable = (bend > 0) & (newton > low) & (newton < high) & (step % 4 != 3)
        b = np.where(done, b, np.where(usable, newton, middle))
    return b
