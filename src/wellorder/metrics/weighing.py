"""Orders that make every edge, or every cut of the grade scale, count the same whatever its number of pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ..order import GradedPairs, Grades, OrderGraph
from ..order.cells import CellPairs, Cells
from ..order.graph import Full, Scale, Table
from ..order.pairs import make_pairs
from ..sweeps import Array, Floats
from ..sweeps.scans import cover_sums, stretch_sums, sums_before

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
    pairs = grades.with_graph(OrderGraph(grades.levels, _edge_table(grades))).pairs
    cells = pairs.cells
    assert cells.pairs is not None
    low, high, _ = cells.pairs
    level = level_of_cell(cells, grades)
    edges, number = np.unique(level[low] * len(grades.levels) + level[high], return_inverse=True)
    share = product_shares(cells.weight[low], cells.weight[high], number, len(edges))
    if pairs.weight is None:
        share = share / (cells.weight[low] * cells.weight[high])
        return replace(pairs, cells=replace(cells, pairs=CellPairs(low, high, share)), total=float(len(edges)))
    # with the weights of each cell adding up to one, no product of them can overflow, or vanish beside others
    weight = np.zeros(len(grades))
    weight[pairs.active] = pairs.weight[pairs.active] / cells.weight[cells.of_row[pairs.active]]
    cells = replace(cells, weight=np.ones(cells.n), pairs=CellPairs(low, high, share))
    return replace(pairs, cells=cells, weight=weight, total=float(len(edges)))


def product_shares(one: Floats, other: Floats, key: Array, n_keys: int) -> Floats:
    """Return one · other, divided by its sum over the entries of its key; the products may lie beyond all range."""
    (mantissa, exponent), (more, higher) = np.frexp(one), np.frexp(other)
    mantissa, exponent = mantissa * more, exponent + higher
    highest = np.full(n_keys, np.iinfo(np.int32).min // 2, np.int32)
    np.maximum.at(highest, key[mantissa > 0], exponent[mantissa > 0])
    part = np.ldexp(mantissa, exponent - highest[key])
    total = np.bincount(key, part, minlength=n_keys)
    return np.asarray(part / np.where(total > 0, total, 1.0)[key])


def each_threshold_the_same(grades: Grades) -> GradedPairs:
    """Weigh pairs by Σ_l 1/M_l over the cuts l between their levels, M_l the weight of the pairs across cut l.

    These costs are differences of a scale, so that any number of levels costs one sweep. Needs the full order.
    """
    pairs, _ = grades.pairs.in_range
    step, cells = cut_steps(grades, pairs), pairs.cells
    level, total = level_of_cell(cells, grades), float(np.count_nonzero(step))
    # as sums of the steps in between: differences of their running sum would lose small ones
    if cells.pairs is not None:
        low, high, _ = cells.pairs
        between = stretch_sums(step, level[low] + 1, level[high] + 1)
        return replace(pairs, cells=replace(cells, pairs=CellPairs(low, high, between)), total=total)
    first = np.diff(cells.group, prepend=-1) > 0
    rises = np.where(first, 0.0, stretch_sums(step, np.concatenate([[0], level[:-1]]) + 1, level + 1))
    scale = sums_before(rises, cells.group_starts) + rises
    return replace(pairs, cells=replace(cells, scale=scale, rises=rises), total=total)


def edge_costs(grades: Grades) -> OrderGraph:
    """Return the costs W[a, b] = 1 / Σ ω_i ω_j over the pairs of each edge; a table over the levels."""
    matrix = _edge_table(grades)
    unit = grades.with_graph(OrderGraph(grades.levels, matrix)).pairs.cells
    assert unit.pairs is not None
    low, high, _ = unit.pairs
    level = level_of_cell(unit, grades)
    pairs = sp.coo_array((unit.weight[low] * unit.weight[high], (level[low], level[high])), shape=matrix.shape).tocsr()
    pairs.sum_duplicates()
    with np.errstate(over="ignore", divide="ignore"):  # OrderGraph refuses what is not finite
        pairs.data = 1.0 / pairs.data
    return OrderGraph(grades.levels, pairs)


def cut_steps(grades: Grades, pairs: GradedPairs) -> Floats:
    """Return 1/M_l for each level, M_l the weight of the pairs across the cut just below it; 0 where there is none.

    In group g that is c (n_g − c) with c the weight up to the cut: the same from one of the group's cells to the next.
    """
    cells = pairs.cells
    present, place = np.unique(level_of_cell(cells, grades), return_inverse=True)
    before = sums_before(cells.weight, cells.group_starts)
    after = sums_before(cells.weight[::-1], cells.n - cells.group_starts[::-1])[::-1]
    across = (before + cells.weight) * after
    if pairs.group_factor is not None:
        across = across * pairs.group_factor[cells.group]
    lower = np.flatnonzero(np.diff(cells.group) == 0)  # cells with another above them
    start, stop = place[lower], place[lower + 1]
    at_cut = cover_sums(start, stop, across[lower], len(present) - 1)
    exists = np.cumsum(np.bincount(start, minlength=len(present)) - np.bincount(stop, minlength=len(present)))[:-1] > 0
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.where(exists, 1.0 / np.where(exists, at_cut, 1.0), 0.0)
    if not np.isfinite(inverse).all():
        raise ValueError(
            "the weights of the pairs across one cut of the grades and across another lie too far apart for a mean "
            "over the cuts; give weights that lie closer together"
        )
    step = np.zeros(len(grades.levels))
    step[present[1:]] = inverse
    return step


def level_of_cell(cells: Cells, grades: Grades) -> Array:
    """Return the level number of each cell."""
    level = np.zeros(cells.n, np.int64)
    active = cells.of_row >= 0
    level[cells.of_row[active]] = grades.level[active]
    return level


def _edge_table(grades: Grades) -> sp.csr_array:
    """Return the edges with weight one; all of them as a table, where that is not too large."""
    matrix = _edges(grades.graph)
    if matrix is not None:
        return matrix
    n = len(grades.levels)
    if n > MOST_LEVELS:
        raise ValueError(
            f"costs of all pairs of {n:,} levels need a table over them, made for at most {MOST_LEVELS:,} levels; "
            "bin the grades, or average over pairs (auc_pairs)"
        )
    return sp.csr_array(np.triu(np.ones((n, n)), 1))


def _edges(graph: OrderGraph) -> sp.csr_array | None:
    """Return the edges with weight one; None for all of them."""
    match graph.structure:
        case Table(matrix):
            return (matrix > 0).astype(float)
        case Scale(weight, scale) if not ((weight > 0).all() and (np.diff(scale) > 0).all()):
            return sp.csr_array((graph.weights > 0).astype(float))
        case Full() | Scale():
            return None
