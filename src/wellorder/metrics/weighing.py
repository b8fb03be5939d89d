"""Orders that make every edge, or every cut of the grade scale, count the same whatever its number of pairs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..order import GradedPairs, Grades, OrderGraph
from ..order.cells import Cells, exclusive_sums
from ..order.graph import Full, Scale, Table
from ..order.pairs import make_pairs
from ..sweeps import Array, Floats

MOST_LEVELS = 2_000
"""Up to this many levels a table over all pairs of levels is made."""


def each_edge_the_same(grades: Grades) -> GradedPairs:
    """Weigh pairs so that each edge (pair of levels) with a pair weighs one: W[a, b] = 1 / Σ ω_i ω_j.

    In one list and the full order W[a, b] = 1/(Ω_a Ω_b) splits into row weights, for any number of levels.
    """
    if grades.group is None and _edges(grades.graph) is None:
        weight = np.ones(len(grades)) if grades.weight is None else grades.weight
        judged = grades.level >= 0
        of_level = np.bincount(grades.level[judged], weight[judged], minlength=1)
        share = np.zeros(len(grades))
        share[judged] = weight[judged] / np.where(of_level > 0, of_level, 1.0)[grades.level[judged]]
        return make_pairs(grades.level, None, share, OrderGraph.full(grades.levels), "pairs")
    return grades.with_graph(edge_costs(grades)).pairs


def each_threshold_the_same(grades: Grades) -> GradedPairs:
    """Weigh pairs by Σ_l 1/M_l over the cuts l between their levels, M_l the weight of the pairs across cut l.

    These costs are differences of a scale, so that any number of levels costs one sweep. Needs the full order.
    """
    step = cut_steps(grades)
    return grades.with_graph(OrderGraph.from_scale(np.ones(len(step)), np.cumsum(step), grades.levels)).pairs


def edge_costs(grades: Grades) -> OrderGraph:
    """Return the costs W[a, b] = 1 / Σ ω_i ω_j over the pairs of each edge; a table over the levels."""
    matrix = _edges(grades.graph)
    if matrix is None:
        n = len(grades.levels)
        if n > MOST_LEVELS:
            raise ValueError(
                f"costs of all pairs of {n:,} levels need a table over them, made for at most {MOST_LEVELS:,} levels; "
                "bin the grades, or average over pairs (auc_pairs)"
            )
        matrix = sp.csr_array(np.triu(np.ones((n, n)), 1))
    unit = grades.with_graph(OrderGraph(grades.levels, matrix)).pairs.cells
    assert unit.pairs is not None
    low, high, _ = unit.pairs
    level = level_of_cell(unit, grades)
    pairs = sp.coo_array((unit.weight[low] * unit.weight[high], (level[low], level[high])), shape=matrix.shape).tocsr()
    pairs.sum_duplicates()
    with np.errstate(over="ignore", divide="ignore"):  # OrderGraph refuses what is not finite
        pairs.data = 1.0 / pairs.data
    return OrderGraph(grades.levels, pairs)


def cut_steps(grades: Grades) -> Floats:
    """Return 1/M_l for each level, M_l the weight of the pairs across the cut just below it; 0 where there is none."""
    cells = grades.pairs.cells
    level = level_of_cell(cells, grades)
    present, place = np.unique(level, return_inverse=True)
    across = _pairs_across(cells, cells.weight, place, len(present))
    exists = _pairs_across(cells, cells.count, place, len(present)) > 0  # exact, in whole numbers
    step = np.zeros(len(grades.levels))
    step[present[1:]] = np.where(exists, 1.0 / np.where(exists, across, 1.0), 0.0)
    return step


def level_of_cell(cells: Cells, grades: Grades) -> Array:
    """Return the level number of each cell."""
    level = np.zeros(cells.n, np.int64)
    active = cells.of_row >= 0
    level[cells.of_row[active]] = grades.level[active]
    return level


def _edges(graph: OrderGraph) -> sp.csr_array | None:
    """Return the edges with weight one; None for all of them."""
    match graph.structure:
        case Table(matrix):
            return (matrix > 0).astype(float)
        case Scale(weight, scale) if not ((weight > 0).all() and (np.diff(scale) > 0).all()):
            return sp.csr_array((graph.weights > 0).astype(float))
        case Full() | Scale():
            return None


def _pairs_across(cells: Cells, weight: Array, place: Array, n_places: int) -> Floats:
    """Sum, for each cut between places l and l + 1, the weight of the pairs that it separates.

    In group g that is c (n_g − c) with c the weight up to the cut: it changes at the group's cells only.
    """
    before = exclusive_sums(weight, cells.group_starts)
    after = exclusive_sums(weight[::-1], len(weight) - cells.group_starts[::-1])[::-1]
    across = (before + weight) * after
    opens = np.diff(cells.group, prepend=-1) > 0
    change = across - np.where(opens, 0, np.concatenate([[0], across[:-1]]))
    return np.cumsum(np.bincount(place, change, minlength=n_places))[:-1]
