"""How much of an order scores get wrong, in one sort and one sweep."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..sweeps import Edges, Floats, Ladder, Side, dot, is_tensor, sort_rows
from ..sweeps.device import dense_ranks
from ..sweeps.tensors import cast, namespace
from .device_windows import make_windows
from .pairs import GradedPairs

Ties = Literal["error", "half"]


def check_scores(scores: Any, n_rows: int) -> Floats:
    """Check scores: one a row, none missing; infinite ones are fine. A tensor stays where it is."""
    values = cast(scores.detach(), "float64") if is_tensor(scores) else np.asarray(scores, dtype=float)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if tuple(values.shape) != (n_rows,):
        raise ValueError(f"scores have shape {tuple(values.shape)}, but there are {n_rows} rows; give one score a row")
    missing = namespace(values).isnan(values)
    if missing.any():
        raise ValueError(f"the score of row {int(namespace(values).argwhere(missing)[0, 0])} is NaN")
    return values


def swapped_weight(pairs: GradedPairs, scores: Floats, ties: Ties) -> float:
    """Sum W over the pairs (i above j) with s_i < s_j, and with s_i = s_j: wholly, or by half.

    Only the order of the scores counts, so they are replaced by their ranks: no difference of scores
    can overflow or vanish. O(n log n) at most, in exact whole numbers for unit weights.
    """
    if pairs.n_pairs == 0:
        return 0.0
    if is_tensor(scores):
        return _swapped_there(pairs, scores, ties)
    rows = sort_rows(scores, pairs.block, pairs.bounds, compiled=pairs.compiled)
    ascending = scores[rows]
    rank = np.concatenate([[0.0], np.cumsum(ascending[1:] != ascending[:-1])])
    cells, cell = pairs.cells, pairs.cells.of_row[rows]
    above: Edges | Ladder = Ladder(cells.ranks()[0][cell]) if cells.pairs is None else cells.edges[0]
    weight = np.ones(len(rows)) if pairs.weight is None else pairs.weight[rows]
    payload = weight[None, :] if cells.scale is None else np.vstack([weight, cells.scale[cell] * weight])
    factor = weight if pairs.factor is None else pairs.factor[rows]
    total = 0.0
    # on whole ranks, r_i − r_j < 1 says s_i ≤ s_j, and r_i − r_j < 0 says s_i < s_j
    for margin in (1.0,) if ties == "error" else (1.0, 0.0):
        side = Side(rank, pairs.bounds, cell, above, margin=margin, mirror=False, compiled=pairs.compiled)
        sums = side.sums(payload)
        seen = sums[0] if cells.scale is None else sums[1] - cells.scale[cell] * sums[0]
        total += dot(factor, seen)
    return total if ties == "error" else 0.5 * total


def _swapped_there(pairs: GradedPairs, scores: Any, ties: Ties) -> float:
    """Do the same where the scores are."""
    rank, total = dense_ranks(scores), 0.0
    for margin in (1.0,) if ties == "error" else (1.0, 0.0):
        windows = make_windows(pairs, rank, margin)
        above = windows.sums(namespace(scores).ones_like(windows.scores)[None, :])[0][0]
        total += float(above.sum()) if windows.factor is None else dot(windows.factor, above)
    return total if ties == "error" else 0.5 * total
