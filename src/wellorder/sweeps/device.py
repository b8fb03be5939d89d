"""The sums over pairs in steps over whole arrays (sort, search, running sums): their form for a GPU.

NumPy arrays and torch tensors go the same way, and stay where they are. No two threads ever add to one place, so
that the same input gives the same bits. Torch is never imported here: a tensor brings its own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array, Ints
from .sides import Edges

# --------------------------------------------------------------------------------------------------
# What NumPy and Torch spell differently.


_BLOCK = 1_024
"""Entries that are added up in one go, on a device."""


def is_tensor(values: Any) -> bool:
    """Say whether something is a torch tensor; where nobody has imported torch, nothing is."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def namespace(values: Any) -> Any:
    """Return the module whose functions work on these values: torch, or NumPy."""
    return sys.modules["torch"] if is_tensor(values) else np


def to_numpy(values: Any) -> Array:
    """Return values as a NumPy array, from wherever they lie."""
    if not is_tensor(values):
        return np.asarray(values)
    values = values.detach().cpu()
    return np.asarray(cast(values, "float32") if values.dtype == namespace(values).bfloat16 else values)


def beside(where: Any, values: Array) -> Any:
    """Put a NumPy array where ``where`` lies: on its device, or nowhere else than it is."""
    if not is_tensor(where):
        return values
    return namespace(where).from_numpy(np.require(values, requirements=("C", "W"))).to(where.device)


def cast(values: Any, dtype: Any) -> Any:
    """Return values in a dtype, or the one of this name; themselves where they have it."""
    if is_tensor(values):
        return values.to(getattr(namespace(values), dtype) if isinstance(dtype, str) else dtype)
    return values.astype(dtype, copy=False)


def all_finite(values: Any) -> bool:
    """Say whether there is neither NaN nor infinity; on a device, without a mask of all values if the sum tells."""
    if not is_tensor(values):
        return bool(np.isfinite(values).all())
    torch = namespace(values)
    return bool(torch.isfinite(values.sum(dtype=torch.float64))) or bool(torch.isfinite(values).all())


def take(values: Any, index: Any) -> Any:
    """Return the columns (or entries) that an index names."""
    return values.index_select(-1, index) if is_tensor(values) else np.take(values, index, axis=-1)


def search(ascending: Any, values: Any, side: str = "left") -> Any:
    """Find where values would have to stand in an ascending array; int32."""
    if is_tensor(ascending):
        return namespace(ascending).searchsorted(ascending, values, side=side, out_int32=True)
    return np.searchsorted(ascending, values, side=side).astype(np.int32)  # type: ignore[call-overload]


def running(values: Any) -> Any:
    """Return the sums of all entries before each place of the last axis, and of all: one longer than the values."""
    xp, n = namespace(values), values.shape[-1]
    if not is_tensor(values) or not values.is_floating_point() or n < _BLOCK:
        return xp.concatenate([xp.zeros_like(values[..., :1]), xp.cumsum(values, axis=-1)], -1)
    # block by block: a GPU's scan over one long line adds up in an order that changes from run to run
    blocks = xp.nn.functional.pad(values, (1, -(n + 1) % _BLOCK)).reshape(*values.shape[:-1], -1, _BLOCK)
    inside = xp.cumsum(blocks, -1)
    inside += running(inside[..., -1])[..., :-1, None]
    return inside.reshape(*values.shape[:-1], -1)[..., : n + 1]


def running_within(values: Any, start: Any) -> Any:
    """Sum the entries of each place's block up to it, on the last axis; ``start`` is where a place's block begins.

    Nothing is subtracted, so that a small entry keeps its digits wherever large ones stand. A scan by doubling:
    O(n log n), and the same sums in the same order on every run.
    """
    xp, n = namespace(values), values.shape[-1]
    place, step = xp.arange(n, device=values.device), 1
    longest = int((place - start).max()) + 1 if n else 0
    # invariant: each place holds the sum of the (at most) step entries of its block up to it
    while step < longest:
        earlier = xp.concatenate([xp.zeros_like(values[..., :step]), values[..., :-step]], -1)
        values = values + xp.where(place - step >= start, earlier, 0.0)
        step *= 2
    return values


def repeat(values: Any, counts: Any) -> Any:
    """Repeat each value so many times."""
    return values.repeat_interleave(counts) if is_tensor(values) else np.repeat(values, counts)


def spread(index: Any, values: Any) -> Any:
    """Put values at the places that an index names, each once: the inverse of a permutation of them."""
    out = namespace(values).empty_like(values)
    out[..., index] = values
    return out


# --------------------------------------------------------------------------------------------------
# The sums.
#
# Rows that take part are *arranged* once and for all by cell (a group's levels, lowest first): cell c has the places
# ``begin[c]:begin[c + 1]``. Only which of its rows stands where inside a cell depends on the scores.


class Layout(NamedTuple):
    """Where cells and groups stand; NumPy, as all of it follows from the labels."""

    begin: Ints  # of each cell, and the end
    first_cell: Ints  # of each group, and the end


class Sorted(NamedTuple):
    """Rows by (group, score), and how far each one's pairs reach."""

    order: Any  # which of the given rows stands where
    scores: Any
    upto: Any  # the end of the places of its group whose score is less than the margin higher
    since: Any  # the first place of its group whose score is less than the margin lower


def sort_by_score(scores: Any, group: Any) -> Any:
    """Return the order by (group, score), ascending and stable; ``group`` is None where there is one."""
    xp = namespace(scores)
    order = xp.argsort(scores, stable=True)
    if group is not None:
        order = take(order, xp.argsort(take(group, order), stable=True))
    return order


def dense_ranks(values: Any) -> Any:
    """Give numbers to values in ascending order, the same to equal ones: float64."""
    order = namespace(values).argsort(values, stable=True)
    ascending = take(values, order)
    rises = cast(ascending[1:] != ascending[:-1], "float64")
    return spread(order, running(rises)) if len(values) else values


def run_weights(values: Any, group: Any, weight: Any) -> tuple[Array, Array]:
    """Sum the weights of the rows of one group and value: the groups of such runs, ascending, and the sums; NumPy."""
    order = sort_by_score(values, group)
    values, group, weight = take(values, order), take(group, order), take(weight, order)
    opens = (values[1:] != values[:-1]) | (group[1:] != group[:-1])
    run = running(cast(opens, "int32"))
    last = search(run, namespace(run).unique(run), "right") - 1
    summed = running_within(weight, search(run, run))
    return to_numpy(take(group, last)), to_numpy(take(summed, last))


def rank_there(values: Array, where: Any) -> tuple[Array, Array]:
    """Give numbers to the distinct values in ascending order, on the device of a tensor: int32, and the values."""
    distinct, number = namespace(where).unique(beside(where, values), return_inverse=True)
    return to_numpy(cast(number, "int32")), to_numpy(distinct)


def sort_and_reach(scores: Any, group: Any, bounds: Any, margin: float) -> Sorted:
    """Sort rows and find the ends of their windows: O(n log n). ``bounds`` are the ends of the groups' blocks."""
    order = sort_by_score(scores, group)
    ascending = take(scores, order)
    if group is None:
        return Sorted(order, ascending, *_reach_in_one_list(ascending, margin))
    block = take(group, order)
    low, high = take(bounds, block), take(bounds, block + 1)
    longest = int((bounds[1:] - bounds[:-1]).max()) if len(bounds) > 1 else 0
    upto, since = (_search_within(ascending, ascending, low, high, margin, longest, up) for up in (True, False))
    return Sorted(order, ascending, upto, since)


def _reach_in_one_list(ascending: Any, margin: float) -> tuple[Any, Any]:
    """Guess by a library's search, check each guess by the very expression that defines a pair, mend what is wrong."""
    xp, n = namespace(ascending), len(ascending)
    out = []
    for up, edge, side in ((True, ascending + margin, "left"), (False, ascending - margin, "right")):
        guess = search(ascending, edge, side)
        if n:
            here = _is_before(ascending, take(ascending, guess.clip(0, n - 1)), margin, up)
            before = _is_before(ascending, take(ascending, (guess - 1).clip(0, n - 1)), margin, up)
            wrong = (here & (guess < n)) | (~before & (guess > 0))
            if bool(wrong.any()):
                place = xp.argwhere(wrong)[:, 0]
                low, high = xp.zeros_like(guess[place]), xp.zeros_like(guess[place]) + n
                guess[place] = _search_within(ascending, ascending[place], low, high, margin, n, up)
        out.append(guess)
    return out[0], out[1]


def _is_before(own: Any, other: Any, margin: float, up: bool) -> Any:
    """Say whether another score lies before the end of one's window (looking up), or before its beginning."""
    return other - own < margin if up else ~(own - other < margin)


def _search_within(ascending: Any, own: Any, low: Any, high: Any, margin: float, longest: int, up: bool) -> Any:
    """Find, for each score, the first place in [low, high) that is not before the end (or beginning) of its window."""
    xp, last = namespace(ascending), len(ascending) - 1
    for _ in range(longest.bit_length()):
        # invariant: the place sought lies in [low, high]
        middle = (low + high) // 2
        unsure = low < high
        before = _is_before(own, take(ascending, middle.clip(0, last)), margin, up)
        low, high = xp.where(unsure & before, middle + 1, low), xp.where(unsure & ~before, middle, high)
    return low


# ------------------------------------------------------------------------------------------ pairs of cells


class Slot(NamedTuple):
    """One partner cell for each of some places: all that follows from the labels alone."""

    places: slice | Any
    cell: Any
    edge: Any  # where the partner cell begins (looking up) or ends (looking down)
    weight: Any  # None: all one


def make_slots(edges: Edges, layout: Layout, where: Any, *, up: bool) -> list[Slot]:
    """Deal the cells above (or below) each cell into slots, so that no place is twice in one."""
    degree, begin = np.diff(edges.indptr), layout.begin
    slots = []
    for k in range(int(degree.max(initial=0))):
        own = np.flatnonzero(degree > k)
        other, weight = edges.indices[edges.indptr[own] + k], edges.weights[edges.indptr[own] + k]
        edge = begin[other if up else other + 1].astype(np.int32)
        size = beside(where, begin[own + 1] - begin[own])
        places: Any = slice(int(begin[own[0]]), int(begin[own[-1] + 1]))
        if own[-1] - own[0] + 1 != len(own):
            skipped = begin[own] - np.append(0, np.cumsum(begin[own + 1] - begin[own]))[:-1]
            skipped = repeat(beside(where, skipped), size)
            places = skipped + namespace(skipped).cumsum(namespace(skipped).ones_like(skipped), 0) - 1
        slots.append(
            Slot(
                places,
                repeat(beside(where, other.astype(np.int32)), size),
                repeat(beside(where, edge), size),
                None if (weight == 1.0).all() else repeat(beside(where, weight), size),
            )
        )
    return slots


class EdgeSums:
    """Sums over the cells above and below each row, within a margin: O(n + Σ degrees) each.

    Everything here is arranged by cell, and by score within a cell: a window over a cell is a stretch of it, and its
    sum a difference of two running sums.
    """

    def __init__(self, found: Sorted, cell: Any, slots: tuple[Sequence[Slot], Sequence[Slot]]) -> None:
        xp, n = namespace(found.scores), len(found.scores)
        arranged = xp.argsort(take(cell, found.order), stable=True)
        self.order = take(found.order, arranged)
        self.scores = take(found.scores, arranged)
        self._cell = take(cell, self.order)
        key = cast(self._cell, "int64") * (n + 1) + arranged
        self._slots = slots
        reaches = (take(reach, arranged) for reach in (found.upto, found.since))
        self._ends = [
            [search(key, cast(slot.cell, "int64") * (n + 1) + reach[slot.places]) for slot in side]
            for side, reach in zip(slots, reaches, strict=True)
        ]

    def sums(self, payload: Any) -> tuple[Any, Any]:
        """Sum each line of a payload over the rows above each row, and over the rows below it."""
        total = running(payload)
        out = []
        for slots, ends, sign in zip(self._slots, self._ends, (1.0, -1.0), strict=True):
            side = namespace(payload).zeros_like(payload)
            for slot, end in zip(slots, ends, strict=True):
                part = take(total, end) - take(total, slot.edge)
                if slot.weight is not None:
                    part = part * slot.weight
                side[:, slot.places] += sign * part
            out.append(side)
        return out[0], out[1]

    def weighted_above(self, weight: Any) -> Any:
        """Sum the weights of the rows above each row, each cell from its own beginning, so that nothing is subtracted.

        That takes O(log n) passes where ``sums`` takes one: for weights of any sizes, of which only sums are wanted.
        """
        xp = namespace(weight)
        seen = running_within(weight, search(self._cell, self._cell))
        above = xp.zeros_like(weight)
        for slot, end in zip(self._slots[0], self._ends[0], strict=True):
            part = xp.where(end > slot.edge, take(seen, (end - 1).clip(0)), 0.0)
            above[slot.places] += part if slot.weight is None else part * slot.weight
        return above


# ------------------------------------------------------------------------------------------------ ladders


class Rung(NamedTuple):
    """One bit of the levels' numbers: rows whose higher bits agree are in one node, zeros below ones."""

    order: Any  # rows by (node, bit), then by score
    low: Any  # the stretch of the other half of a row's node that is in its window
    high: Any
    is_one: Any


class Ladders(NamedTuple):
    """The levels of each group, numbered from the lowest; one entry a cell, but for ``begin``."""

    number: Any
    floor: Any  # the group's first cell
    ceiling: Any  # and the end of its cells
    begin: Any  # the place where each cell begins, and the end
    n_bits: int


def make_ladders(layout: Layout, where: Any) -> Ladders:
    """Give numbers to the levels of each group, and put them where the scores are."""
    first, size = layout.first_cell, np.diff(layout.first_cell)
    floor = np.repeat(first[:-1], size)
    number = np.arange(len(floor)) - floor
    number, floor, ceiling, begin = (
        beside(where, column.astype(np.int32)) for column in (number, floor, np.repeat(first[1:], size), layout.begin)
    )
    return Ladders(number, floor, ceiling, begin, n_bits=int(size.max(initial=1) - 1).bit_length())


class LadderSums:
    """Sums over all higher and all lower levels of each row's group, within a margin: O(n log levels) each.

    Row p stands on a higher level than row i exactly when, at one bit of the levels' numbers, p has a one and i a zero
    and all higher bits agree. So at each bit a row looks at the other half of its node, where the rows of its window
    are a stretch (a wavelet tree over levels, with running sums in place of counts). Building it costs one pass a bit;
    it holds 13 bytes a row and bit until the scores change.

    Everything here is in sorted order: by group, then by ascending score.
    """

    def __init__(self, found: Sorted, cell: Any, ladders: Ladders) -> None:
        self.order, self.scores = found.order, found.scores
        xp = namespace(found.scores)
        self._cell = cell = take(cell, found.order)
        self._ladders = ladders
        number, floor, ceiling = (take(column, cell) for column in ladders[:3])
        rows = cast(xp.cumsum(xp.ones_like(number), 0) - 1, "int32")
        place, order, upto, since = rows, rows, found.upto, found.since
        self._rungs: list[Rung] = []
        for bit in reversed(range(ladders.n_bits)):
            # invariant: rows are ordered by (node, score); place is a row's own there, upto and since its window's ends
            node = floor + ((number >> (bit + 1)) << (bit + 1))
            zeros, ones = take(ladders.begin, node), take(ladders.begin, xp.minimum(node + (1 << bit), ceiling))
            is_one = ((number >> bit) & 1) == 1
            seen = cast(running(cast(take(is_one, order), "int32")), "int32")
            before = take(seen, zeros)

            def inside(at: Any, zeros: Any = zeros, ones: Any = ones, seen: Any = seen, before: Any = before) -> Any:
                """Return where places of a node come to lie among its zeros, and among its ones."""
                n_ones = take(seen, at) - before
                return at - n_ones, ones + n_ones

            (place_0, place_1), (upto_0, upto_1), (since_0, since_1) = map(inside, (place, upto, since))
            place = xp.where(is_one, place_1, place_0)
            order = spread(place, rows)
            self._rungs.append(Rung(order, xp.where(is_one, since_0, ones), xp.where(is_one, ones, upto_1), is_one))
            upto, since = xp.where(is_one, upto_1, upto_0), xp.where(is_one, since_1, since_0)

    def sums(self, payload: Any) -> tuple[Any, Any]:
        """Sum each line of a payload over the rows above each row, and over the rows below it."""
        xp = namespace(payload)
        above, below = xp.zeros_like(payload), xp.zeros_like(payload)
        for rung in self._rungs:
            total = running(take(payload, rung.order))
            part = take(total, rung.high) - take(total, rung.low)
            above += xp.where(rung.is_one, 0.0, part)
            below += xp.where(rung.is_one, part, 0.0)
        return above, below

    def weighted_above(self, weight: Any, rises: Any = None) -> Any:
        """Sum the weights of the rows above each row, times how far they lie above, if cells rise.

        Nothing is subtracted: each half of a node is summed from its own beginning, and a row lies above another by its
        own height over the lowest of its node's ones, and that one's over the other.
        """
        xp = namespace(weight)
        above, place = xp.zeros_like(weight), xp.arange(len(weight), device=weight.device)
        for bit, rung in zip(reversed(range(self._ladders.n_bits)), self._rungs, strict=True):
            ones = xp.where(rung.is_one, rung.high, rung.low)  # where those of its node begin
            begin = xp.minimum(take(ones, rung.order), place)  # a zero stands before them, and sums up nothing
            lines, height = xp.where(rung.is_one, weight, 0.0)[None, :], None
            if rises is not None:
                height = take(_heights(self._ladders, rises, bit), self._cell)
                lines = xp.concatenate([lines, lines * height])
            seen = take(running_within(take(lines, rung.order), begin), (rung.high - 1).clip(0))
            part = seen[0] if height is None else seen[1] + height * seen[0]
            above += xp.where(rung.is_one | (rung.high <= rung.low), 0.0, part)
        return above


def _heights(ladders: Ladders, rises: Any, bit: int) -> Any:
    """Find how far each cell lies above the lowest of its node's ones, or below it; a bit says which are ones."""
    xp, n = namespace(rises), len(rises)
    cell = xp.arange(n, device=rises.device)
    is_one = ((ladders.number >> bit) & 1) == 1
    ones = ladders.floor + (((ladders.number >> bit) | 1) << bit)  # where those of the node begin, if there are any
    up = running_within(xp.where(cell > ones, rises, 0.0), xp.where(is_one, ones, cell))
    # downwards: from the lowest of the ones, which is the next node's beginning, to each zero
    next_rise = xp.where(cell + 1 < ladders.ceiling, xp.concatenate([rises[1:], rises[:1]]), 0.0)
    last = xp.where(is_one, cell, xp.minimum(ones, ladders.ceiling) - 1)  # of the node's zeros
    down = running_within(_turned(next_rise), n - 1 - _turned(last))
    return xp.where(is_one, up, _turned(down))


def _turned(values: Any) -> Any:
    """Return values from the last to the first."""
    return values.flip(0) if is_tensor(values) else values[::-1]
