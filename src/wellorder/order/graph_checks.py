"""What a graph over levels is checked for: distinct labels, weights that make sense, no cycle."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Floats

Labels: TypeAlias = tuple[Hashable, ...] | Array


def shown(levels: Labels) -> str:
    """Spell out the first few levels."""
    return ", ".join(map(repr, as_tuple(levels[:8]))) + (", ..." if len(levels) > 8 else "")


def as_tuple(levels: Labels) -> tuple[Hashable, ...]:
    """Return labels as plain Python values."""
    return tuple(levels.tolist() if isinstance(levels, np.ndarray) else levels)


def distinct(levels: Iterable[Hashable] | Array) -> Labels:
    """Keep an array of sorted numbers (perhaps as many as rows) as it is; check anything else."""
    if isinstance(levels, np.ndarray) and levels.dtype.kind in "iuf" and (levels[1:] > levels[:-1]).all():
        return levels.copy()
    labels = as_tuple(levels) if isinstance(levels, np.ndarray) else tuple(levels)
    if len(set(labels)) < len(labels):
        twice = next(label for place, label in enumerate(labels) if label in labels[:place])
        raise ValueError(f"the level {twice!r} is listed twice")
    return labels


def numeric(levels: Labels, *, relative: bool) -> Floats:
    """Return the levels as numbers (less the first, if ``relative``); their places where they are none."""
    if isinstance(levels, np.ndarray) and levels.dtype.kind == "f" and len(levels):  # perhaps as many as rows
        grades = levels.astype(float)
        return np.asarray(grades - grades[0] if relative else grades)
    labels = list(as_tuple(levels))
    if not all(isinstance(label, Real) for label in labels):
        return np.arange(len(labels), dtype=float)
    if falls := next((pair for pair in pairwise(labels) if pair[1] < pair[0]), None):  # type: ignore[operator]
        raise ValueError(
            f"the costs are differences of the grades, but levels= lists {falls[0]!r} below {falls[1]!r}; turn the "
            "grades round (y → −y), or let the levels' places count: "
            "order=wo.OrderGraph.from_scale(numpy.ones(r), range(r), levels)"
        )
    first = labels[0] if relative and labels else 0
    return np.array([float(label - first) for label in labels])  # type: ignore[operator]


def checked_table(levels: Labels, weights: Any) -> sp.csr_array:
    """Check a table of weights: square, finite, non-negative, without a cycle."""
    table = weights if sp.issparse(weights) else np.asarray(weights, dtype=float)
    if table.shape != (len(levels), len(levels)):
        raise ValueError(f"weights have shape {table.shape}, but there are {len(levels)} levels")
    matrix = sp.csr_array(table, dtype=float, copy=True)
    matrix.sum_duplicates()  # and sort the indices
    entries = matrix.tocoo()
    bad = np.flatnonzero(~(np.isfinite(entries.data) & (entries.data >= 0)))
    if bad.size:
        low, high = int(entries.row[bad[0]]), int(entries.col[bad[0]])
        raise ValueError(
            f"the weight of {as_tuple(levels)[low]!r} below {as_tuple(levels)[high]!r} is {entries.data[bad[0]]:g}; "
            "weights must be finite and not negative"
        )
    matrix.eliminate_zeros()
    if sp.tril(matrix).nnz:  # edges that only lead upwards cannot close a cycle
        topological(matrix, levels)
    return matrix


def topological(matrix: sp.csr_array, levels: Labels) -> list[int]:
    """Order the levels so that edges lead upwards, or name a cycle."""
    entries = matrix.tocoo()
    graph: dict[int, set[int]] = {level: set() for level in range(len(levels))}
    for low, high in zip(entries.row.tolist(), entries.col.tolist(), strict=True):
        graph[high].add(low)
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle: list[int] = error.args[1]
        names = " < ".join(repr(as_tuple(levels)[level]) for level in cycle)
        raise ValueError(f"the order runs in a circle: {names}; remove one of these edges") from None
