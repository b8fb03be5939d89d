"""What a convex-hull ranker learns from: rows of levels, and the edges between those levels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..losses import EdgeSlacks, GradedRows, LevelEdges
from ..order import Comparisons, Grades, OrderGraph, OrderSum, refuse_beside
from ..order.graph import Full, Table, shown
from ..sweeps import Array, Ints
from .ordinal_model import level_labels
from .validation import read_order, refuse_no_pairs

_MOST_LEVELS = 1_000


class HullTask(NamedTuple):
    """Rows with the levels that have an edge numbered, and one threshold to find for each edge."""

    rows: GradedRows
    slacks: EdgeSlacks
    edge_labels: Array
    """(lower, higher) of each edge, in the user's own labels."""
    weighed: Ints
    """The rows that have a positive weight, graded or not."""
    n_groups: int

    @property
    def weights_edges(self) -> bool:
        """Whether some edge counts otherwise than once."""
        return bool((self.slacks.edges.weight != 1.0).any())


def read_hulls(
    y: Any, groups: Any, sample_weight: Any, order: Any, levels: Iterable[Hashable] | None, n_rows: int
) -> HullTask:
    """Read grades and their order graph; ``Grades`` with an order of their own go before the default chain."""
    if isinstance(y, Comparisons | OrderSum):
        raise ValueError(f"ConvexHullRanker takes grades, one a row, not {type(y).__name__}; RankSVM takes comparisons")
    has_own = isinstance(y, Grades) and not isinstance(y.graph.structure, Full)
    by_default = isinstance(order, str) and order == "chain"
    if has_own and isinstance(order, str) and order == "full":
        refuse_beside(y, order=order)
    grades = read_order(y, groups, sample_weight, "full" if has_own and by_default else order, levels, "pairs")
    assert isinstance(grades, Grades)
    if len(grades) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(grades)}"
        )
    weight = np.ones(n_rows) if grades.weight is None else grades.weight
    active = (grades.level >= 0) & (weight > 0)
    present = np.unique(grades.level[active])
    if len(present) < 2:
        refuse_no_pairs(grades, 0)
    if len(present) > _MOST_LEVELS:
        raise ValueError(
            f"y has {len(present):,} levels, and ConvexHullRanker keeps a threshold for each edge between them; bin "
            f"the grades (at most {_MOST_LEVELS:,} levels, better ten), or use RankSVM, which takes any number"
        )
    low, high, edge_weight = _edges(grades, present, is_chain=by_default and not has_own)
    if not len(low):
        refuse_no_pairs(grades.in_one_group(), 0)
    joined = np.unique(np.concatenate([low, high]))
    number = np.full(len(level_labels(grades)) + 1, -1, np.int32)
    number[joined] = np.arange(len(joined))
    level = np.where(active, number[grades.level], np.int32(-1))  # a level of −1 reads the last entry
    edges = LevelEdges(number[low].astype(np.int64), number[high].astype(np.int64), edge_weight)
    return HullTask(
        GradedRows(level, weight, len(joined)),
        EdgeSlacks(edges, len(joined)),
        level_labels(grades)[np.column_stack([low, high])],
        np.flatnonzero(weight > 0),
        grades.n_groups,
    )


def _edges(grades: Grades, present: Ints, *, is_chain: bool) -> tuple[Ints, Ints, Array]:
    """Return the edges between levels, all of which have rows, by the levels' places.

    Orders by name are orders of the levels that are there: a declared level without rows leaves no gap in a chain.
    """
    graph = grades.graph
    if is_chain:
        return present[:-1], present[1:], np.ones(len(present) - 1)
    if isinstance(graph.structure, Table):
        _refuse_empty_levels(graph, present)
    weights = graph.take(present).weights
    low, high = np.nonzero(weights)
    return present[low], present[high], weights[low, high]


def _refuse_empty_levels(graph: OrderGraph, present: Ints) -> None:
    """Refuse a graph with an edge to a level that no row has: what follows through it would be lost without a word."""
    assert isinstance(graph.structure, Table)
    entries = graph.structure.matrix.tocoo()
    empty = np.setdiff1d(np.union1d(entries.row, entries.col), present)
    if len(empty):
        name = graph.levels[int(empty[0])]
        raise ValueError(
            f"the order graph has an edge to the level {name!r}, which no row with a positive weight has (there are "
            f"rows of {shown(graph.take(present).labels)}); leave it out: graph.restrict(levels), or, to keep what "
            "follows through it, graph.transitive_closure().restrict(levels).transitive_reduction()"
        )
