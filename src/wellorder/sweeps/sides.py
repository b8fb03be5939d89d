"""Window sums over pairs: what each row sees above itself, within a margin.

A pair (i above j) is seen twice: j sees i above, and in the mirror (order and scores reversed) i sees
j above. So every sweep is written for one direction, and a :class:`Side` is one of the two views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from . import plain
from .arrays import Array, Floats, Ints

_FEW_LINES = 4
"""Up to so many lines are swept over one by one, more of them side by side."""


FEW_ROWS = 300
"""Up to so many rows a table of all pairs costs less than a plan for sums without it."""


class EdgeTable(NamedTuple):
    """Edges again, where groups have few cells: for each cell, its weight for every cell of its group."""

    weights: Floats  # weights[c, k]: of cell c, for the k-th cell of its group to look up at
    first_cell: Ints  # of each group


class Edges(NamedTuple):
    """For each cell, the cells above it and their weights (compressed sparse rows)."""

    indptr: Ints
    indices: Ints
    weights: Floats
    table: EdgeTable | None = None


class Ladder(NamedTuple):
    """For each row, its rank from the top of its group: all ranks above count, with weight one."""

    rank: Ints


def argsort(values: Floats, *, compiled: bool) -> Ints:
    """Sort rows by value, ascending; equal values keep their order. No NaN."""
    if not compiled:
        return np.argsort(values, kind="stable").astype(np.int32)
    from . import compiled as form

    return form.argsort(np.ascontiguousarray(values))


def sort_rows(scores: Floats, group: Ints | None, bounds: Ints, *, compiled: bool) -> Ints:
    """Sort rows by (group, score), ascending; O(n log n) or better.

    ``group`` is None when all rows are in the one group; rows of group −1 drop out. ``bounds`` are
    the ends of the groups' blocks: the rows of group g stand at positions bounds[g]:bounds[g + 1].
    """
    if group is None:
        return argsort(scores, compiled=compiled)
    if not compiled:
        return plain.sort_within_groups(scores, group, int(bounds[-1]))
    from . import compiled as form

    return form.bucket(form.argsort(np.ascontiguousarray(scores)), group, bounds)


class Side:
    """One view of the pairs: each row looks up at the rows above it, out to a margin.

    All arrays are in sorted order: by group, then by ascending score.

    Parameters
    ----------
    ascending, bounds
        The scores, and the ends of the groups' blocks.
    cell, above
        What stands above what: the rows' cells with :class:`Edges`, or a :class:`Ladder`.
    margin
        A pair counts while (score of the higher) − (score of the lower) < margin.
    mirror
        Look down instead: ``above`` then says what stands below.
    compiled
        Which form of the sweep to use.
    """

    def __init__(
        self,
        ascending: Floats,
        bounds: Ints,
        cell: Ints,
        above: Edges | Ladder,
        *,
        margin: float,
        mirror: bool,
        compiled: bool,
    ) -> None:
        steps = bounds[-1] - bounds[::-1] if mirror else bounds
        make = _compiled_sweep if compiled else _plain_sweep
        self.sums = make(ascending, steps, cell, above, margin, mirror)
        """Sum each line of a payload over the rows above each row, within the margin, weighted."""


def rising_sums(
    ascending: Floats, bounds: Ints, cell: Ints, first_cell: Array, rises: Floats, payload: Floats, margin: float
) -> Floats:
    """Sum payloads over the higher cells of a ladder, times how far they lie above, within the margin.

    The compiled form only: steps over whole arrays are in :meth:`wellorder.sweeps.device.LadderSums.weighted_above`.
    """
    from . import compiled
    from . import compiled_sums as form

    reach = compiled.reach(ascending, bounds, margin, False)
    return form.rising_sums(cell, first_cell, rises, reach, payload, bounds)


def _compiled_sweep(
    ascending: Floats, bounds: Ints, cell: Ints, above: Edges | Ladder, margin: float, mirror: bool
) -> Callable[[Floats], Floats]:
    from . import compiled
    from . import compiled_sums as form

    reach = compiled.reach(ascending, bounds, margin, mirror)
    if isinstance(above, Ladder):
        rank = above.rank
        return lambda payload: (
            form.ladder_sums(rank, reach, payload, bounds, mirror)
            if len(payload) <= _FEW_LINES
            else form.fenwick_sums(rank, reach, payload, bounds, mirror)
        )
    indptr, indices, weights, table = above
    return lambda payload: (
        form.edge_sums(cell, reach, payload, indptr, indices, weights, mirror)
        if table is None or len(payload) > _FEW_LINES
        else form.dense_sums(cell, reach, payload, *table, bounds, mirror)
    )


def _plain_sweep(
    ascending: Floats, bounds: Ints, cell: Ints, above: Edges | Ladder, margin: float, mirror: bool
) -> Callable[[Floats], Floats]:
    step = slice(None, None, -1 if mirror else 1)
    if isinstance(above, Ladder) and len(ascending) <= FEW_ROWS:
        table = plain.ladder_pairs(ascending, above.rank[step], bounds, margin, mirror)
        return lambda payload: (payload[:, step] @ table.T)[:, step]
    reach = plain.reach(ascending, bounds, margin, mirror)
    group = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    if isinstance(above, Ladder):
        plan = plain.ladder_plan(above.rank[step], group, reach)
    else:
        plan = plain.edge_plan(cell[step], group, reach, *above[:3])
    return lambda payload: plain.planned_sums(plan, payload[:, step])[:, step]
