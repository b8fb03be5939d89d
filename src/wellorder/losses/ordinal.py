"""The ordinal hinge: each row on the right side of thresholds between the levels, by a margin of one.

The thresholds are minimised out, so that the risk is a convex function of the scores alone, and every
solver that knows scores can minimise it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ..sweeps import Bools, Floats, Ints, dot, ranges, sort_rows, sums_at, use_compiled
from .risk import RiskAt

# --------------------------------------------------------------------------------------------------
# Rows with levels, sorted by score, and the thresholds between the levels that suit them best.
#
# A threshold is never compared with every row. Within a level the rows are sorted by score, so those that a
# threshold sees inside its margin stand side by side, and sums over them are differences of running sums.


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


class CornerWindows(NamedTuple):
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

    def windows(self, at: Floats, width: float) -> CornerWindows:
        """Find the rows that see a threshold inside the last ``width`` of their margin, or beyond it.

        ``at`` has the threshold of each look. A row of side t is wrong by 1 − t (s − b), inside where this is
        between 0 and ``width``.
        """
        above = self.rows.looks.side > 0
        near = at + np.where(above, 1.0 - width, -1.0)
        far = at + np.where(above, 1.0, width - 1.0)
        low, high = self._search(np.stack([near, far]))
        return CornerWindows(low, high, np.where(above, self._first, high), np.where(above, low, self._last))

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
            return sums_at(of_look, slope, n_blocks), sums_at(of_look, bend, n_blocks)

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
            slope = sums_at(block, weight * side * np.clip(wrong, 0.0, 1.0), n_blocks)
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
        # the slope in b starts at minus the weight of side −1 and rises by ω at each place: zero where that is made up
        half = np.append(0.0, running)[bounds[:-1]] + np.bincount(block, weight * (side < 0), n_blocks)
        slack = 1e-12 * float(self.mass[-1])
        left = np.searchsorted(running, half - slack)
        right = np.searchsorted(running, half + slack, side="right")
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


def _bisection(has_risen: Callable[[Floats], Bools], low: Floats, high: Floats) -> Floats:
    """Return where a condition becomes true and stays so, for many at once."""
    # invariant: the condition is false at low and true at high
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
    # invariant: each function is not above zero at low, nor below zero at high, and b lies between. Every fourth step
    # is a bisection, as Newton's alone may creep towards a kink from one side
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


# --------------------------------------------------------------------------------------------------
# The loss.


_MOST_AT_A_TIME = 1_000_000
"""Rows inside corners are visited so many at a time: with many levels, one row may be inside many."""


def ordinal_hinge(scores: Floats, rows: OrdinalRows) -> tuple[float, Floats]:
    r"""Return R(s) = min_b Σ_i ω_i Σ_j (1 − t_ij (s_i − b_j))_+ and the thresholds b that attain it.

    t_ij is +1 where row i's level is above threshold j, else −1. Each b_j is a weighted median of the places
    s_i − t_ij where a row's loss begins; the middle of them, where that is a range.
    """
    if not np.isfinite(scores).all():
        return np.inf, np.full(rows.n_levels - 1, np.nan)
    found = SortedRows(rows, scores)
    thresholds, _ = found.best_thresholds(0.0)
    at, side = thresholds[rows.looks.threshold], rows.looks.side
    _, _, low, high = found.windows(at, 0.0)
    mass, moment = found.mass[high] - found.mass[low], found.moment[high] - found.moment[low]
    return float(np.sum((1.0 + side * at) * mass - side * moment)), thresholds


def smooth_ordinal_hinge(scores: Floats, rows: OrdinalRows, width: float) -> RiskAt:
    r"""Return the same risk with each hinge's corner smoothed over the last ``width`` before it.

    .. math:: R_\delta(s) = \min_b \sum_i \omega_i \sum_j \max_{0 \le \theta \le 1}
              \theta (1 - t_{ij} (s_i - b_j)) - \tfrac{\delta}{2} \theta^2

    At the best thresholds Σ_i ω_i θ_ij t_ij = 0, so that the gradient is −Σ_j ω_i θ_ij t_ij, and
    R(s) ≥ Σ ω θ − Σ ω θ t s for all scores: a plane below the hinge's own risk, whatever the thresholds. (Those
    that must be ordered and are pooled add a term that is not negative.) The Hessian is the curvature of the
    rows inside corners, less what the thresholds give way: a diagonal minus one rank for each block of them.
    """
    if not np.isfinite(scores).all():
        nothing = np.zeros_like(scores)
        return RiskAt(np.inf, nothing, lambda: nothing, np.zeros_like)
    found = SortedRows(rows, scores)
    thresholds, block = found.best_thresholds(width)
    looks = rows.looks
    at, side = thresholds[looks.threshold], looks.side
    windows = found.windows(at, width)
    low, high = windows.beyond_low, windows.beyond_high
    # beyond its corner a hinge is straight, θ = 1: sums over these rows are differences of running sums
    mass = found.mass[high] - found.mass[low]
    moment = found.moment[high] - found.moment[low]
    value = float(np.sum((1.0 + side * at - 0.5 * width) * mass - side * moment))
    pull = _spread(low, high, -side, len(found.order))
    of_look = block[looks.threshold]
    squares, theta = _Corners(found, windows, at, width).add_up(mass, of_look, pull)
    gradient = np.zeros_like(scores)
    gradient[found.order] = found.weight * pull
    hessian = _CornerHessian(found, windows, of_look, width)
    return RiskAt(
        value=value + 0.5 * width * squares,
        gradient=gradient,
        slope=-float(mass.sum()) - theta,
        hessian_diagonal=lambda: hessian.diagonal(len(scores)),
        hessian_product=hessian.product,
    )


class _Corners:
    """The rows inside corners, with their θ; visited some at a time, since one row may be inside many."""

    def __init__(self, found: SortedRows, windows: CornerWindows, at: Floats, width: float) -> None:
        self._found, self._at, self._width = found, at, width
        self._low, self._lengths = windows.low, windows.high - windows.low
        cuts = np.flatnonzero(np.diff(np.cumsum(self._lengths) // _MOST_AT_A_TIME, prepend=0))
        self._parts = np.split(np.arange(len(self._lengths)), cuts)

    def visit(self) -> Iterator[tuple[Ints, Ints, Floats]]:
        """Yield the rows' places, their looks, and their θ."""
        found, side = self._found, self._found.rows.looks.side
        for part in self._parts:
            look = np.repeat(part, self._lengths[part])
            place = ranges(self._low[part], self._lengths[part])
            short = 1.0 - side[look] * (found.scores[place] - self._at[look])
            yield place, look, np.clip(short / self._width, 0.0, 1.0)

    def add_up(self, beyond: Floats, block: Ints, pull: Floats) -> tuple[float, float]:
        """Return Σ ω θ² and Σ ω θ, and add −θ t to what pulls at each row.

        ``beyond`` is each look's weight of rows beyond its corner. Rounding, of a threshold against a narrow corner
        above all, leaves Σ ω θ t a little off zero in each block; moving its θ makes it zero, as the plane needs it.
        """
        weight, side = self._found.weight, self._found.rows.looks.side
        excess, inside = np.bincount(block, side * beyond), np.zeros(int(block.max()) + 1)
        for place, look, theta in self.visit():
            excess += np.bincount(block[look], weight[place] * side[look] * theta, len(excess))
            inside += np.bincount(block[look], weight[place], len(inside))
        move = excess / np.where(inside > 0, inside, np.inf)
        squares = total = 0.0
        for place, look, raw in self.visit():
            theta = np.clip(raw - side[look] * move[block[look]], 0.0, 1.0)
            weighted = weight[place] * theta
            squares += dot(weighted, theta)
            total += float(weighted.sum())
            pull -= np.bincount(place, theta * side[look], len(pull))
        return squares, total


class _CornerHessian:
    """The Hessian in the scores, from the windows of rows inside corners."""

    def __init__(self, found: SortedRows, windows: CornerWindows, block: Ints, width: float) -> None:
        some = windows.high > windows.low
        self._low, self._high = windows.low[some], windows.high[some]
        self._block = block[some]
        self._order = found.order
        self._weight = found.weight / width  # the curvature of each row inside a corner
        inside = (found.mass[self._high] - found.mass[self._low]) / width
        total = np.bincount(self._block, inside, minlength=1)
        self._share = 1.0 / np.where(total > 0, total, np.inf)
        n = len(found.order)
        self._own = self._weight * _spread(self._low, self._high, np.ones(len(self._low)), n)

    def product(self, u: Floats) -> Floats:
        """Return H u."""
        v = u[self._order]
        running = np.concatenate([[0.0], np.cumsum(self._weight * v)])
        moved = np.bincount(self._block, running[self._high] - running[self._low], len(self._share)) * self._share
        out = np.zeros_like(u)
        out[self._order] = self._own * v - self._weight * _spread(self._low, self._high, moved[self._block], len(v))
        return out

    def diagonal(self, n_rows: int) -> Floats:
        """Return H's diagonal."""
        out = np.zeros(n_rows)
        given = _spread(self._low, self._high, self._share[self._block], len(self._order))
        out[self._order] = self._own - self._weight**2 * given
        return out


def _spread(low: Ints, high: Ints, amount: Floats, n: int) -> Floats:
    """Add an amount to all places low:high, for many such ranges at once."""
    return np.cumsum(np.bincount(low, amount, n + 1) - np.bincount(high, amount, n + 1))[:n]


# --------------------------------------------------------------------------------------------------
# The ordinal hinge with smoothed corners around given multipliers: corners may stay wide, and the answer exact.
#
# Every row has a corner of its own here, so that nothing can be summed up by sorting: each look of a row at a
# threshold is an entry of a list.


@dataclass(frozen=True)
class ShiftedAt:
    """The risk at one vector of scores."""

    looks: ListedLooks
    thresholds: Floats
    multipliers: Floats
    """θ of each look, between 0 and 1."""
    width: float
    block: Ints
    """The block of pooled thresholds that each threshold is in."""
    value: float
    bent: Bools
    """Whether each look is inside its corner."""

    @cached_property
    def gradient(self) -> Floats:
        """−Σ_j ω_i θ_ij t_ij."""
        return -self.looks.add_to_rows(self.looks.signed_weight * self.multipliers)

    @cached_property
    def plane(self) -> float:
        """Σ ω θ: R(s) ≥ Σ ω θ + ⟨gradient, s⟩ for all scores, with R the hinge's own risk."""
        return dot(self.looks.weight, self.multipliers)

    def bending(self) -> tuple[Ints, Floats]:
        """Return the numbers of the rows inside corners, and ω/δ for each of them and each block of thresholds.

        The Hessian is the diagonal of their sums over blocks, less d dᵀ / Σd for each block's column d.
        """
        at = np.flatnonzero(self.bent)
        rows, place = np.unique(self.looks.row[at], return_inverse=True)
        n_blocks = int(self.block[-1]) + 1
        column = self.block[self.looks.threshold[at]]
        weight = self.looks.weight[at] / self.width
        columns = sums_at(place * n_blocks + column, weight, len(rows) * n_blocks)
        return rows, columns.reshape(len(rows), n_blocks)


class ListedLooks:
    """Every look of a row at a threshold, by thresholds."""

    def __init__(self, rows: OrdinalRows) -> None:
        self.rows = rows
        looks, bounds = rows.looks, rows.bounds.astype(np.int64)
        by_threshold = np.argsort(looks.threshold, kind="stable")
        level = looks.level[by_threshold]
        lengths = bounds[level + 1] - bounds[level]
        order = np.argsort(rows.level, kind="stable")[np.count_nonzero(rows.level < 0) :]
        self.row = order[ranges(bounds[level], lengths)]
        self.threshold = np.repeat(looks.threshold[by_threshold], lengths)
        self.side = np.repeat(looks.side[by_threshold], lengths)
        self.weight = rows.weight[self.row]
        self.signed_weight = self.side * self.weight
        self._mass = float(self.weight.sum())

    def __len__(self) -> int:
        return len(self.row)

    def add_to_rows(self, values: Floats) -> Floats:
        """Add up what a row's looks have."""
        return sums_at(self.row, values, len(self.rows.level))

    def hinge(self, scores: Floats, thresholds: Floats) -> float:
        """Return Σ ω (1 − t (s − b))_+ at given thresholds: at least the least risk."""
        short = 1.0 - self.side * (scores[self.row] - thresholds[self.threshold])
        return dot(self.weight, np.maximum(short, 0.0))

    def at(self, scores: Floats, centre: Floats, width: float, near: Floats) -> ShiftedAt:
        r"""Evaluate the risk, its thresholds minimised out; ``near`` are thresholds to begin the search with.

        .. math:: R(s; \hat\theta) = \min_b \sum_{ij} \omega_i \max_{0 \le \theta \le 1}
                  \theta (1 - t_{ij} (s_i - b_j)) - \tfrac{\delta}{2} (\theta - \hat\theta_{ij})^2
        """
        without = centre + (1.0 - self.side * scores[self.row]) / width
        slant = self.side / width
        far = 1.0 + width + np.abs(scores).max()

        def zeros(block: Ints) -> Floats:
            n_blocks = int(block[-1]) + 1
            of_look = block[self.threshold]
            starts = np.searchsorted(of_look, np.arange(n_blocks))

            def slopes(b: Floats) -> tuple[Floats, Floats]:
                raw = without + slant * b[of_look]
                theta = np.clip(raw, 0.0, 1.0)
                bent = self.weight * (raw == theta)
                return np.add.reduceat(self.signed_weight * theta, starts), np.add.reduceat(bent, starts) / width

            begin = np.add.reduceat(near, np.searchsorted(block, np.arange(n_blocks))) / np.bincount(block)
            low, high = np.full(n_blocks, -far), np.full(n_blocks, far)
            return rising_zeros(slopes, low, high, 1e-12 * self._mass, np.clip(begin, low, high))

        thresholds, block = pooled(self.rows, zeros)
        raw = without + slant * thresholds[self.threshold]
        bent = (raw > 0.0) & (raw < 1.0)
        theta = self._balanced(np.clip(raw, 0.0, 1.0), bent, block)
        value = width * dot(self.weight, theta * (raw - centre) - 0.5 * (theta - centre) ** 2)
        return ShiftedAt(self, thresholds, theta, width, block, value, bent)

    def _balanced(self, theta: Floats, bent: Bools, block: Ints) -> Floats:
        """Move the θ inside corners so that Σ ω θ t is zero in each block, as the plane needs it, to the last bits."""
        of_look, n_blocks = block[self.threshold], int(block[-1]) + 1
        excess = np.bincount(of_look, self.signed_weight * theta, n_blocks)
        inside = np.bincount(of_look, self.weight * bent, n_blocks)
        move = excess / np.where(inside > 0, inside, np.inf)
        return np.where(bent, np.clip(theta - self.side * move[of_look], 0.0, 1.0), theta)
