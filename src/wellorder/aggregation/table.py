"""The scores of several rankers: rows × rankers, in lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..order.columns import exact_numbers, in_order
from ..order.labels import encode_groups
from ..sweeps import Array, Floats, Ints


def read_scores(scores: Any, groups: Any) -> tuple[Floats, Ints | None, Array]:
    """Check the scores; return them, the list of each row (None for one list) and the lists' lengths.

    Only their order counts: whole numbers that floats cannot tell apart come back as ranks.
    """
    table = exact_numbers(scores)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"scores have shape {table.shape}; give one row an item and one column a ranker")
    bad = np.argwhere(table != table)
    if len(bad):
        raise ValueError(
            f"the score of row {bad[0, 0]} by ranker {bad[0, 1]} is NaN; every ranker must score every row"
        )
    if table.dtype != np.float64:
        table = np.column_stack([in_order(column) for column in table.T])
    group, n_groups = encode_groups(groups, len(table))
    sizes = np.array([len(table)]) if group is None else np.bincount(group, minlength=n_groups)
    return table, group, sizes


def read_ranker_weights(weights: Any, n_rankers: int) -> Floats:
    """Check the weights of the rankers: one each, finite, not negative, not all zero."""
    if weights is None:
        return np.ones(n_rankers)
    try:
        values = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"weights={weights!r} are no numbers; give one for each of the {n_rankers} rankers") from None
    if values.shape != (n_rankers,):
        raise ValueError(f"weights have shape {values.shape}, but there are {n_rankers} rankers; give one weight each")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise ValueError(f"ranker {bad[0]} has the weight {values[bad[0]]}; weights must be finite and not negative")
    if not values.any():
        raise ValueError("all rankers have the weight zero")
    return values
