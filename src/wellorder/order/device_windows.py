"""The pairs within a margin where scores are on a GPU, or anywhere else that works on whole arrays at a time."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..sweeps.device import EdgeSums, Ladders, LadderSums, Layout, make_ladders, make_slots, sort_and_reach
from ..sweeps.tensors import beside, cast, is_tensor, namespace, running, spread, take
from .pairs import GradedPairs
from .windows import Windows


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
        self.weight = None if pairs.weight is None else beside(where, pairs.weight[rows])
        self.factor = None if pairs.factor is None else beside(where, pairs.factor[rows])
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
        self.scores = _centred(self._sweep.scores, None if pairs.group is None else take(pairs.group, order), pairs)
        self.weight = None if pairs.weight is None else take(pairs.weight, order)
        self.factor = None if pairs.factor is None else take(pairs.factor, order)
        self._scale = None if pairs.scale is None else take(pairs.scale, order)

    def with_margin(self, margin: float) -> DeviceWindows:
        """Return the windows of another margin at the same scores."""
        return DeviceWindows(self._pairs, self._given, margin)

    def sums(self, payload: Any) -> tuple[Any, Any]:
        """Sum W·ω·payload over the rows above each row, and over the rows below it."""
        if self.weight is not None:
            payload = payload * self.weight
        if self._scale is None:
            return self._sweep.sums(payload)
        m = len(payload)
        above, below = self._sweep.sums(namespace(payload).concatenate([payload, self._scale * payload]))
        return above[m:] - self._scale * above[:m], self._scale * below[:m] - below[m:]

    def weighted_above(self) -> Any:
        """Sum W·ω over the rows above each row without a subtraction, whatever the sizes of the weights ω."""
        if isinstance(self._sweep, LadderSums):
            return self._sweep.weighted_above(self.weight, self._pairs.rises)
        return self._sweep.weighted_above(self.weight)

    def to_rows(self, values: Any) -> Any:
        """Put values, or lines of them, in the windows' order back to their rows; rows in no pair get zero."""
        if self._pairs.active is None:
            return spread(self.rows, values)
        xp, lines = namespace(values), values.reshape(-1, values.shape[-1])
        out = xp.stack([xp.zeros_like(self._given, dtype=values.dtype)] * len(lines))
        out[:, self.rows] = lines
        return out.reshape(*values.shape[:-1], -1)


def _centred(scores: Any, group: Any, pairs: DevicePairs) -> Any:
    """Shift the scores of each group, which stand together, to mean zero, so that sums keep their digits."""
    if group is None:
        return scores - scores.mean() if len(scores) else scores
    total = take(running(scores), pairs.bounds)
    mean = (total[1:] - total[:-1]) / (pairs.bounds[1:] - pairs.bounds[:-1])
    return scores - take(mean, group)


def make_windows(pairs: GradedPairs, scores: Any, margin: float) -> Windows | DeviceWindows:
    """Sort scores and find the pairs within a margin, where the scores are."""
    if is_tensor(scores):
        return DeviceWindows(on_device(pairs, scores), scores, margin)
    return Windows(pairs, scores, margin)


def on_device(pairs: GradedPairs, scores: Any) -> DevicePairs:
    """Return the pairs where the scores are: put there when first asked for, and kept with the pairs."""
    key = (type(scores).__name__, str(scores.device))
    if key not in pairs.kept:
        pairs.kept[key] = DevicePairs(pairs, scores)
    found = pairs.kept[key]
    assert isinstance(found, DevicePairs)
    return found
