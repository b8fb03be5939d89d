"""Aggregation by places in the lists: Borda counts and median ranks, in O(rankers · n log n)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..order import encode_groups, exact_numbers, in_order
from ..sweeps import Array, Floats, Ints, sort_rows, use_compiled

# --------------------------------------------------------------------------------------------------
# The scores of several rankers: rows × rankers, in lists.


def read_scores(scores: Any, groups: Any) -> tuple[Floats, Ints | None, Ints]:
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


# --------------------------------------------------------------------------------------------------
# Borda counts and median ranks.


def borda(scores: Any, groups: Any = None, weights: Any = None) -> Floats:
    r"""Borda score: how many items of its list a row is scored strictly above, summed over the rankers.

    B(x) = Σ_t α_t · #{x' in the list of x : s_t(x') < s_t(x)}. Items that a ranker ties get no point from
    each other. Scores are compared inside a list only.

    Parameters
    ----------
    scores : array of shape (n, rankers)
        One column a ranker; a higher score stands above. Infinite scores are fine, NaN is refused.
    groups : array of shape (n,), optional
        The list (query) of each row, any hashable ids in any order; one list without.
    weights : array of shape (rankers,), optional
        The weights α of the rankers.

    Returns
    -------
    array of shape (n,)
        Aggregate scores; higher stands above.

    References
    ----------
    Qin, Liu, Lai, Zhang, Wang and Li (2007), Ranking with multiple hyperplanes.

    Examples
    --------
    >>> from wellorder.aggregation import borda
    >>> borda([[0.1, 3.0], [0.7, 1.0], [0.9, 2.0]])
    array([2., 1., 3.])
    """
    table, group, sizes = read_scores(scores, groups)
    out = np.zeros(len(table))
    for column, weight in zip(table.T, read_ranker_weights(weights, table.shape[1]), strict=True):
        below, _ = _places(column, group, sizes)
        out += weight * below
    return out


def median_rank(scores: Any, groups: Any = None) -> Floats:
    r"""Median rank: less the median, over the rankers, of a row's position in its list.

    Positions count from 1 at the top; tied items share the mean of their positions, and with an even
    number of rankers the median is the mean of the middle two.

    Parameters
    ----------
    scores : array of shape (n, rankers)
        One column a ranker; a higher score stands above. Infinite scores are fine, NaN is refused.
    groups : array of shape (n,), optional
        The list (query) of each row, any hashable ids in any order; one list without.

    Returns
    -------
    array of shape (n,)
        −median position; higher stands above.

    References
    ----------
    Fagin, Kumar and Sivakumar (2003), Efficient similarity search and classification via rank aggregation.

    Examples
    --------
    >>> from wellorder.aggregation import median_rank
    >>> median_rank([[0.1, 3.0, 0.0], [0.7, 1.0, 0.0], [0.9, 2.0, 5.0]])
    array([-2.5, -2.5, -1. ])
    """
    table, group, sizes = read_scores(scores, groups)
    size = np.full(len(table), len(table)) if group is None else sizes[group]
    positions = np.empty(table.shape)
    for ranker, column in enumerate(table.T):
        below, tied = _places(column, group, sizes)
        positions[:, ranker] = size - below - (tied - 1) / 2  # the mean of size − below − tied + 1, …, size − below
    return -np.median(positions, axis=1)


def _places(column: Floats, group: Ints | None, sizes: Ints) -> tuple[Array, Array]:
    """Count, for each row, the items of its list scored strictly lower, and those scored the same (itself too)."""
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    rows = sort_rows(column, group, bounds, compiled=use_compiled(len(column)))
    ascending = column[rows]
    opens = np.ones(len(rows), bool)
    opens[1:] = ascending[1:] != ascending[:-1]
    opens[bounds[:-1][sizes > 0]] = True
    first = np.flatnonzero(opens)
    tied = np.diff(first, append=len(rows))
    begin = np.repeat(bounds[:-1], sizes)[first] if len(rows) else first
    out = np.empty((2, len(column)), np.int64)
    out[:, rows] = np.repeat([first - begin, tied], tied, axis=1)
    return out[0], out[1]
