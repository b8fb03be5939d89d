"""How much of an order scores get right or wrong, in one sort and one sweep."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..sweeps import Edges, Floats, Ints, Ladder, Side, dot, is_tensor, sort_rows
from ..sweeps.device import dense_ranks
from ..sweeps.sides import FEW_ROWS, rising_sums
from ..sweeps.tensors import cast, namespace
from .columns import exact_numbers, in_order
from .device_windows import DeviceWindows, on_device
from .pairs import GradedPairs

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


def _weight_below(pairs: GradedPairs, scores: Floats, margins: tuple[float, ...]) -> float:
    """Sum W over the pairs (i above j) whose ranks have r_i − r_j < margin; the mean over some margins.

    On whole ranks, r_i − r_j < 1 says s_i ≤ s_j, and r_i − r_j < 0 says s_i < s_j.
    """
    if pairs.n_pairs == 0:
        return 0.0
    if is_tensor(scores):
        return _with_arrays(pairs, dense_ranks(scores), margins)
    rows = sort_rows(scores, pairs.block, pairs.bounds, compiled=pairs.compiled)
    ascending = scores[rows]
    rank = np.concatenate([[0.0], np.cumsum(ascending[1:] != ascending[:-1])])
    by_table = pairs.cells.pairs is None and pairs.cells.scale is None and len(rows) <= FEW_ROWS
    if not (pairs.weight is None or pairs.compiled or by_table):
        by_row = np.zeros(len(scores))
        by_row[rows] = rank
        return _with_arrays(pairs, by_row, margins)
    total = 0.0
    for margin in margins:
        seen = _seen_above(pairs, rows, rank, margin)
        total += float(seen.sum()) if pairs.factor is None else dot(pairs.factor[rows], seen)
    return max(total / len(margins), 0.0)


def _seen_above(pairs: GradedPairs, rows: Ints, rank: Floats, margin: float) -> Floats:
    """Sum W·ω over the rows above each row, within the margin, in sweeps over sorted rows."""
    cells, cell = pairs.cells, pairs.cells.of_row[rows]
    if pairs.weight is not None and cells.rises is not None:
        first, weight = cells.group_starts, pairs.weight[rows]
        return rising_sums(rank, pairs.bounds, cell, first, cells.rises, weight, margin)
    above: Edges | Ladder = Ladder(cells.ranks()[0][cell]) if cells.pairs is None else cells.edges[0]
    side = Side(rank, pairs.bounds, cell, above, margin=margin, mirror=False, compiled=pairs.compiled)
    weight = np.ones(len(rows)) if pairs.weight is None else pairs.weight[rows]
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
        if pairs.weight is None:
            above = windows.sums(namespace(rank).ones_like(windows.scores)[None, :])[0][0]
        else:
            above = windows.weighted_above()
        total += float(above.sum()) if windows.factor is None else dot(windows.factor, above)
    return max(total / len(margins), 0.0)
