"""What pairs say at one vector of scores: sums over those within a margin, and how many stand the wrong way round."""

from __future__ import annotations

from copy import copy
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from ..sweeps import (
    FEW_ROWS,
    THREADS_FROM,
    Edges,
    EdgeSums,
    Floats,
    Ints,
    Ladder,
    Ladders,
    LadderSums,
    Layout,
    Side,
    argsort,
    beside,
    cast,
    dense_ranks,
    dot,
    is_tensor,
    make_ladders,
    make_slots,
    namespace,
    parallel_map,
    rising_sums,
    running,
    sort_and_reach,
    sort_rows,
    spread,
    swaps_around,
    take,
    to_numpy,
    use_compiled,
)
from .columns import exact_numbers, in_order
from .pairs import GradedPairs

# --------------------------------------------------------------------------------------------------
# Sorted once, summed over any number of times.


class Windows:
    """The pairs (i above j) with s_i − s_j < margin, for one vector of scores.

    Everything here is in sorted order: by group, then by ascending score, rows in no pair left out;
    ``rows`` says which row stands where. ``ranked``: the scores count by their ranks, so that no difference of them can
    overflow or vanish.
    """

    def __init__(self, pairs: GradedPairs, scores: Floats, margin: float, *, ranked: bool = False) -> None:
        self._n_rows = pairs.n_rows
        self.rows = _sorted_rows(pairs, scores)
        ascending = _ranks(scores[self.rows]) if ranked else scores[self.rows]
        self.scores = _centred(ascending, pairs.bounds)
        self._ends = pairs.ends.each(lambda part: part[self.rows])
        self._factors = self._ends if pairs.factors is pairs.ends else pairs.factors.each(lambda part: part[self.rows])
        cells, cell = pairs.cells, pairs.cells.of_row[self.rows]
        self._scale = None if cells.scale is None else cells.scale[cell]
        self._make_side = partial(Side, ascending, pairs.bounds, cell, compiled=_sweep_compiled(pairs))
        above: Edges | Ladder
        below: Edges | Ladder
        if cells.pairs is not None:
            above, below = cells.edges
        else:
            above, below = (Ladder(rank[cell]) for rank in cells.ranks)
        self._partners = above, below
        self._set_margin(margin)

    def with_margin(self, margin: float) -> Windows:
        """Return the windows of another margin at the same scores, without another sort."""
        other = copy(self)
        other._set_margin(margin)
        return other

    def _set_margin(self, margin: float) -> None:
        above, below = self._partners
        self.margin = margin
        self._sides = parallel_map(
            lambda mirror: self._make_side(below if mirror else above, margin=margin, mirror=mirror),
            (False, True),
            len(self.rows),
        )

    def sums(self, payload: Floats) -> tuple[Floats, Floats]:
        """Sum W·payload over the rows above each row, and over the rows below it.

        ``payload`` has one column a row and any number of lines; so have both results.
        """
        above, below = self._unfactored(payload)
        return scaled(above, self._factors.lower), scaled(below, self._factors.upper)

    def sums_around(self, payload: Floats) -> Floats:
        """Sum over the rows above and below each row together."""
        above, below = self._unfactored(payload) if self._ends.alike else self.sums(payload)
        above += below
        return scaled(above, self._factors.upper) if self._ends.alike else above

    def sums_below(self, payload: Floats) -> Floats:
        """Sum over the rows below each row only: for many lines, best the transpose of rows in memory."""
        payload = payload if self._ends.lower is None else payload * self._ends.lower
        below = self._sides[1].sums(payload)
        if self._scale is not None:
            below = self._scale * below - self._sides[1].sums(self._scale * payload)
        return scaled(below, self._factors.upper)

    def from_rows(self, values: Floats) -> Floats:
        """Put values of rows into sorted order."""
        return values[self.rows]

    def to_rows(self, values: Floats) -> Floats:
        """Put values in sorted order back to their rows; rows in no pair get zero."""
        out = np.zeros(self._n_rows) if len(self.rows) < self._n_rows else np.empty(self._n_rows)
        out[self.rows] = values
        return out

    def _unfactored(self, payload: Floats) -> tuple[Floats, Floats]:
        """Sum W·u·payload over the rows above each row, W·v·payload over those below: all but the row's own factor."""
        upper = payload if self._ends.upper is None else payload * self._ends.upper
        lower = upper if self._ends.alike else payload if self._ends.lower is None else payload * self._ends.lower
        if self._scale is None:
            return self._both(upper, lower)
        # Σ (σ_k − σ_i) p_k = Σ σ_k p_k − σ_i Σ p_k
        m = len(payload)
        moved = np.vstack([upper, self._scale * upper])
        above, below = self._both(moved, moved if lower is upper else np.vstack([lower, self._scale * lower]))
        return above[m:] - self._scale * above[:m], self._scale * below[:m] - below[m:]

    def _both(self, upper: Floats, lower: Floats) -> tuple[Floats, Floats]:
        up, down = self._sides
        if upper.shape[1] < THREADS_FROM:  # of few rows every call counts
            return up.sums(upper), down.sums(lower)
        above, below = parallel_map(lambda side: side[0].sums(side[1]), [(up, upper), (down, lower)], upper.shape[1])
        return above, below


A = TypeVar("A")


def scaled(sums: A, factor: Any) -> A:
    """Multiply sums, in place, by each row's own factor, if it has one: memory is what a pass costs."""
    if factor is not None:
        sums *= factor
    return sums


def _centred(ascending: Floats, bounds: Ints) -> Floats:
    """Shift the scores of each group to mean zero: no risk changes, and sums keep their digits."""
    if len(bounds) == 2:
        return np.asarray(ascending - ascending.mean())
    if len(ascending) == 0:
        return ascending
    sizes = np.diff(bounds)
    return ascending - np.repeat(np.add.reduceat(ascending, bounds[:-1]) / sizes, sizes)


# --------------------------------------------------------------------------------------------------
# The same where rows are so few that a table of all pairs costs less than a sort.


class TableWindows:
    """The pairs (i above j) with s_i − s_j < margin: as :class:`Windows`, and used in its place.

    The rows stay as they are, and their weights are those of the table.
    """

    def __init__(self, pairs: GradedPairs, scores: Floats, margin: float) -> None:
        self._n_rows = pairs.n_rows
        self.rows, self._weights = pairs.active, pairs.table
        with np.errstate(over="ignore", invalid="ignore"):
            self.scores = pairs.centred(scores)[self.rows]
            given = scores[self.rows]
            self._rises = given - given[:, None]
        self._set_margin(margin)

    def with_margin(self, margin: float) -> TableWindows:
        """Return the windows of another margin at the same scores."""
        other = copy(self)
        other._set_margin(margin)
        return other

    def _set_margin(self, margin: float) -> None:
        self.margin = margin
        self._seen = self._weights * (self._rises < margin)
        self._around: Floats | None = None

    def sums(self, payload: Floats) -> tuple[Floats, Floats]:
        """Sum W·payload over the rows above each row, and over the rows below it."""
        return payload @ self._seen.T, payload @ self._seen

    def sums_around(self, payload: Floats) -> Floats:
        """Sum over the rows above and below each row together."""
        if self._around is None:
            self._around = self._seen + self._seen.T
        return payload @ self._around

    def sums_below(self, payload: Floats) -> Floats:
        """Sum over the rows below each row only."""
        return payload @ self._seen

    def from_rows(self, values: Floats) -> Floats:
        """Leave out the values of rows in no pair."""
        return values if len(self.rows) == self._n_rows else values[self.rows]

    def to_rows(self, values: Floats) -> Floats:
        """Put values back to their rows; rows in no pair get zero."""
        if len(self.rows) == self._n_rows:
            return values
        out = np.zeros(self._n_rows)
        out[self.rows] = values
        return out


# --------------------------------------------------------------------------------------------------
# The pairs within a margin where scores are on a GPU, or anywhere else that works on whole arrays at a time.


class DevicePairs:
    """What graded pairs hold a row, put where the scores are; once, as nothing of it depends on them."""

    def __init__(self, pairs: GradedPairs, where: Any) -> None:
        cells = pairs.cells
        self.n_rows = pairs.n_rows
        everything = len(pairs.active) == pairs.n_rows
        rows = slice(None) if everything else pairs.active
        self.active = None if everything else beside(where, pairs.active.astype(np.int64))
        self.cell = beside(where, cells.of_row[rows])
        self.group = None if cells.n_groups == 1 else beside(where, cells.group[cells.of_row[rows]])
        self.bounds = beside(where, pairs.bounds)
        self.ends = pairs.ends.each(lambda part: beside(where, part[rows]))
        self.factors = pairs.factors.each(lambda part: beside(where, part[rows]))
        self.scale = None if cells.scale is None else beside(where, cells.scale[cells.of_row[rows]])
        self.rises = None if cells.rises is None else beside(where, cells.rises)
        self.layout = Layout(np.concatenate([[0], cells.ends]), cells.group_starts)
        self._pairs, self._where = pairs, where[:0]

    @cached_property
    def slots(self) -> Any:
        """The cells above and the cells below each place; for orders that are no ladder."""
        above, below = self._pairs.cells.edges
        return (
            make_slots(above, self.layout, self._where, up=True),
            make_slots(below, self.layout, self._where, up=False),
        )

    @cached_property
    def ladders(self) -> Ladders:
        """The levels of each group; for full orders of many levels."""
        return make_ladders(self.layout, self._where)

    @property
    def is_ladder(self) -> bool:
        """Whether all higher levels count, and are too many to go through."""
        return self._pairs.cells.pairs is None


class DeviceWindows:
    """The pairs (i above j) with s_i − s_j < margin: as :class:`Windows`, and used in its place.

    Everything here is in an order of its own; ``rows`` says which row stands where.
    """

    def __init__(self, pairs: DevicePairs, scores: Any, margin: float) -> None:
        self._pairs, self._given, self.margin = pairs, scores, margin
        scores = cast(scores, "float64")
        if pairs.active is not None:
            scores = take(scores, pairs.active)
        found = sort_and_reach(scores, pairs.group, pairs.bounds, margin)
        self._sweep: EdgeSums | LadderSums
        if pairs.is_ladder:
            self._sweep = LadderSums(found, pairs.cell, pairs.ladders)
        else:
            self._sweep = EdgeSums(found, pairs.cell, pairs.slots)
        order = self._sweep.order
        self.rows = order if pairs.active is None else take(pairs.active, order)
        self.scores = _centred_there(
            self._sweep.scores, None if pairs.group is None else take(pairs.group, order), pairs
        )
        self._ends, self.factors = (both.each(lambda part: take(part, order)) for both in (pairs.ends, pairs.factors))
        self._scale = None if pairs.scale is None else take(pairs.scale, order)

    def with_margin(self, margin: float) -> DeviceWindows:
        """Return the windows of another margin at the same scores."""
        return DeviceWindows(self._pairs, self._given, margin)

    def sums(self, payload: Any) -> tuple[Any, Any]:
        """Sum W·payload over the rows above each row, and over the rows below it."""
        above, below = self._unfactored(payload)
        return scaled(above, self.factors.lower), scaled(below, self.factors.upper)

    def sums_around(self, payload: Any) -> Any:
        """Sum over the rows above and below each row together."""
        above, below = self._unfactored(payload) if self._ends.alike else self.sums(payload)
        above += below
        return scaled(above, self.factors.upper) if self._ends.alike else above

    def _unfactored(self, payload: Any) -> tuple[Any, Any]:
        """Sum W·u·payload over the rows above each row, W·v·payload over those below: all but the row's own factor."""
        if self._ends.alike:
            return self._swept(payload if self._ends.upper is None else payload * self._ends.upper)
        upper, lower = (payload if part is None else payload * part for part in self._ends)
        return self._swept(upper)[0], self._swept(lower)[1]

    def _swept(self, payload: Any) -> tuple[Any, Any]:
        if self._scale is None:
            return self._sweep.sums(payload)
        m = len(payload)
        above, below = self._sweep.sums(namespace(payload).concatenate([payload, self._scale * payload]))
        return above[m:] - self._scale * above[:m], self._scale * below[:m] - below[m:]

    def weighted_above(self) -> Any:
        """Sum W·u over the rows above each row without a subtraction, whatever the sizes of the weights u."""
        if isinstance(self._sweep, LadderSums):
            return self._sweep.weighted_above(self._ends.upper, self._pairs.rises)
        return self._sweep.weighted_above(self._ends.upper)

    def from_rows(self, values: Any) -> Any:
        """Put values of rows, or lines of them, into the windows' order."""
        return values[..., self.rows]

    def to_rows(self, values: Any) -> Any:
        """Put values, or lines of them, in the windows' order back to their rows; rows in no pair get zero."""
        if self._pairs.active is None:
            return spread(self.rows, values)
        xp, lines = namespace(values), values.reshape(-1, values.shape[-1])
        out = xp.stack([xp.zeros_like(self._given, dtype=values.dtype)] * len(lines))
        out[:, self.rows] = lines
        return out.reshape(*values.shape[:-1], -1)


def _centred_there(scores: Any, group: Any, pairs: DevicePairs) -> Any:
    """Shift the scores of each group, which stand together, to mean zero, so that sums keep their digits."""
    if group is None:
        return scores - scores.mean() if len(scores) else scores
    total = take(running(scores), pairs.bounds)
    mean = (total[1:] - total[:-1]) / (pairs.bounds[1:] - pairs.bounds[:-1])
    return scores - take(mean, group)


AnyWindows: TypeAlias = Windows | TableWindows | DeviceWindows


def make_windows(pairs: GradedPairs, scores: Any, margin: float) -> AnyWindows:
    """Find the pairs within a margin, where the scores are."""
    if is_tensor(scores):
        return DeviceWindows(on_device(pairs, scores), scores, margin)
    if _is_table(pairs):
        return TableWindows(pairs, scores, margin)
    return Windows(pairs, scores, margin)


def _sweep_compiled(pairs: GradedPairs) -> bool:
    return pairs.compiled or use_compiled(pairs.n_rows, often=True)


def _is_table(pairs: GradedPairs) -> bool:
    return len(pairs.active) <= FEW_ROWS and not _sweep_compiled(pairs)


def _sorted_rows(pairs: GradedPairs, scores: Floats) -> Ints:
    return sort_rows(scores, pairs.block, pairs.bounds, compiled=_sweep_compiled(pairs))


def on_device(pairs: GradedPairs, scores: Any) -> DevicePairs:
    """Return the pairs where the scores are: put there when first asked for, and kept with the pairs."""
    key = (type(scores).__name__, str(scores.device))
    if key not in pairs.kept:
        pairs.kept[key] = DevicePairs(pairs, scores)
    found = pairs.kept[key]
    assert isinstance(found, DevicePairs)
    return found


# --------------------------------------------------------------------------------------------------
# How much of an order scores get right or wrong, in one sort and one sweep.


Ties = Literal["error", "half"]


def check_scores(scores: Any, n_rows: int) -> Floats:
    """Check scores: one a row, none missing; infinite ones are fine. A tensor stays where it is.

    Of what is returned the order counts, not the values: whole numbers that floats cannot tell apart become ranks.
    """
    values: Any = scores.detach() if is_tensor(scores) else exact_numbers(scores)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if tuple(values.shape) != (n_rows,):
        raise ValueError(f"scores have shape {tuple(values.shape)}, but there are {n_rows} rows; give one score a row")
    missing = values != values
    if missing.any():
        raise ValueError(f"the score of row {int(namespace(values).argwhere(missing)[0, 0])} is NaN")
    if not is_tensor(values):
        return in_order(values)
    floats: Floats = cast(values, "float64")
    ranks: Floats = floats if bool((cast(floats, values.dtype) == values).all()) else dense_ranks(values)
    return ranks


def swapped_weight(pairs: GradedPairs, scores: Floats, ties: Ties) -> float:
    """Sum W over the pairs (i above j) with s_i < s_j, and with s_i = s_j: wholly, or by half.

    Only the order of the scores counts, so they are replaced by their ranks: no difference of scores
    can overflow or vanish. O(n log n) at most, in exact whole numbers for unit weights; with row weights nothing is
    subtracted, so that the sum has all its digits however far they lie apart.
    """
    return _weight_below(pairs, scores, (1.0,) if ties == "error" else (1.0, 0.0))


def right_weight(pairs: GradedPairs, scores: Floats, ties: Ties) -> float:
    """Sum W over the pairs that are not swapped: all of W less :func:`swapped_weight`, without the subtraction."""
    return _weight_below(pairs, -scores, (0.0,) if ties == "error" else (1.0, 0.0))


def swapped_by_row(pairs: GradedPairs, scores: Floats, ties: Ties) -> tuple[Floats, Floats]:
    """Sum W over the swapped pairs that each row is the lower end of, and over those that it is the upper end of.

    What counts as swapped is what :func:`swapped_weight` counts. O(n log n).
    """
    windows, lower, upper = _swapped(pairs, scores, ties)
    return _by_row(windows, lower), _by_row(windows, upper)


def swapped_around_row(pairs: GradedPairs, scores: Floats, ties: Ties) -> Floats:
    """Sum W over the swapped pairs of each row, whichever end of them it is: :func:`swapped_by_row`, added up."""
    if _all_alike(pairs, scores):
        return _around_alike(pairs, scores, ties)
    windows, lower, upper = _swapped(pairs, scores, ties)
    return _by_row(windows, lower + upper)


def _all_alike(pairs: GradedPairs, scores: Floats) -> bool:
    """Say whether all rows are in one list of many levels, and all pairs of different grades weigh one."""
    weighted = any(part is not None for part in (*pairs.factors, pairs.cells.scale, pairs.cells.pairs))
    in_one = len(pairs.bounds) == 2 and len(pairs.active) == pairs.n_rows
    return in_one and not (weighted or is_tensor(scores) or _is_table(pairs))


def _around_alike(pairs: GradedPairs, scores: Floats, ties: Ties) -> Floats:
    """Count the swapped pairs of each row where all pairs weigh one, by one sweep.

    Of equal scores the better row is put first, as a pair of them is swapped; with the worse one first it is not.
    """
    cells, compiled = pairs.cells, _sweep_compiled(pairs)

    def counted(falling: Ints) -> tuple[Floats, bool]:
        given = scores[falling] + 0.0  # not -0.0, which is equal but would be sorted below
        order = argsort(given, compiled=compiled)
        ascending = given[order]
        any_tied = ties == "half" and bool((ascending[1:] == ascending[:-1]).any())
        return swaps_around(falling[order], cells.of_row, cells.ends - cells.count, compiled=compiled), any_tied

    swapped, any_tied = counted(pairs.arranged[::-1])
    return 0.5 * (swapped + counted(pairs.arranged)[0]) if any_tied else swapped


def _by_row(windows: AnyWindows, sums: Any) -> Floats:
    return np.asarray(to_numpy(windows.to_rows(sums)), dtype=float)


def _swapped(pairs: GradedPairs, scores: Floats, ties: Ties) -> tuple[AnyWindows, Any, Any]:
    """Sum W over the swapped pairs, by their lower and by their upper ends, in the windows' order."""
    windows, any_tied = _rank_windows(pairs, scores)
    ones = namespace(windows.scores).ones_like(windows.scores)[None, :]
    lower, upper = (end[0] for end in windows.sums(ones))
    if ties == "half" and any_tied:
        apart = windows.with_margin(0.0).sums(ones)
        lower, upper = (0.5 * (end + more[0]) for end, more in zip((lower, upper), apart, strict=True))
    return windows, lower, upper


def _rank_windows(pairs: GradedPairs, scores: Floats) -> tuple[AnyWindows, bool]:
    """Find the pairs (i above j) with s_i ≤ s_j: ranks less than one apart; and say whether any scores are equal."""
    if is_tensor(scores):
        rank = dense_ranks(scores)
        return make_windows(pairs, rank, 1.0), float(rank.max()) + 1.0 < len(rank)
    if not _is_table(pairs):
        windows = Windows(pairs, scores, 1.0, ranked=True)
        return windows, bool(np.any(windows.scores[1:] == windows.scores[:-1]))
    rows, rank = _sorted_rows(pairs, scores), np.zeros(len(scores))
    rank[rows] = _ranks(scores[rows])
    return TableWindows(pairs, rank, 1.0), float(rank.max(initial=0.0)) + 1.0 < len(rows)


def _ranks(ascending: Floats) -> Floats:
    """Return ranks of the scores of sorted rows: rising within each group, equal ones alike."""
    return np.concatenate([[0.0], np.cumsum(ascending[1:] != ascending[:-1])])[: len(ascending)]


def _weight_below(pairs: GradedPairs, scores: Floats, margins: tuple[float, ...]) -> float:
    """Sum W over the pairs (i above j) whose ranks have r_i − r_j < margin; the mean over some margins.

    On whole ranks, r_i − r_j < 1 says s_i ≤ s_j, and r_i − r_j < 0 says s_i < s_j.
    """
    if pairs.n_pairs == 0:
        return 0.0
    if is_tensor(scores):
        return _with_arrays(pairs, dense_ranks(scores), margins)
    rows = sort_rows(scores, pairs.block, pairs.bounds, compiled=pairs.compiled)
    rank = _ranks(scores[rows])
    by_table = pairs.cells.pairs is None and pairs.cells.scale is None and len(rows) <= FEW_ROWS
    if not (pairs.ends.upper is None or pairs.compiled or by_table):
        by_row = np.zeros(len(scores))
        by_row[rows] = rank
        return _with_arrays(pairs, by_row, margins)
    total, own = 0.0, pairs.factors.lower
    for margin in margins:
        seen = _seen_above(pairs, rows, rank, margin)
        total += float(seen.sum()) if own is None else dot(own[rows], seen)
    return max(total / len(margins), 0.0)


def _seen_above(pairs: GradedPairs, rows: Ints, rank: Floats, margin: float) -> Floats:
    """Sum W·u over the rows above each row, within the margin, in sweeps over sorted rows."""
    cells, cell, upper = pairs.cells, pairs.cells.of_row[rows], pairs.ends.upper
    if upper is not None and cells.rises is not None:
        first, weight = cells.group_starts, upper[rows]
        return rising_sums(rank, pairs.bounds, cell, first, cells.rises, weight, margin)
    above: Edges | Ladder = Ladder(cells.ranks[0][cell]) if cells.pairs is None else cells.edges[0]
    side = Side(rank, pairs.bounds, cell, above, margin=margin, mirror=False, compiled=pairs.compiled)
    weight = np.ones(len(rows)) if upper is None else upper[rows]
    if cells.scale is None:
        return np.asarray(side.sums(weight[None, :])[0])
    # of ones: there are as many digits to lose as differences of the scale have
    sums = side.sums(np.vstack([weight, cells.scale[cell]]))
    return np.asarray(sums[1] - cells.scale[cell] * sums[0])


def _with_arrays(pairs: GradedPairs, rank: Any, margins: tuple[float, ...]) -> float:
    """Do the same in steps over whole arrays, where the ranks are."""
    total = 0.0
    for margin in margins:
        windows = DeviceWindows(on_device(pairs, rank), rank, margin)
        if pairs.ends.upper is None:
            total += float(windows.sums(namespace(rank).ones_like(windows.scores)[None, :])[0][0].sum())
        else:
            own, above = windows.factors.lower, windows.weighted_above()
            total += float(above.sum()) if own is None else dot(own, above)
    return max(total / len(margins), 0.0)
