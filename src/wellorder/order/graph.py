"""What must stand above what, level by level, and how much it costs to get it wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.optimize import least_squares

from ..sweeps import Array, Bools, Floats

# --------------------------------------------------------------------------------------------------
# What a graph over levels is checked for: distinct labels, weights that make sense, no cycle.


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


def level_numbers(levels: Labels, *, relative: bool = False) -> Floats:
    """Return what each level counts where a number is asked for: its own value, or its place.

    Levels count themselves (less the first, if ``relative``) where they are numbers that rise, as grades without
    declared levels always do. Text is never read as a number, and numbers that somebody has declared in another order
    (3, 2, 1: the first class is the best) count their places 0, 1, …: a higher level never counts less.
    """
    if isinstance(levels, np.ndarray) and levels.dtype.kind == "f" and (np.diff(levels) >= 0).all():
        return np.asarray(levels.astype(float) - (levels[:1] if relative else 0.0))  # perhaps as many as rows
    labels: list[Any] = list(as_tuple(levels))
    if not all(isinstance(label, Real) for label in labels) or any(high < low for low, high in pairwise(labels)):
        return np.arange(len(labels), dtype=float)
    first = labels[0] if relative and labels else 0
    return np.array([float(label - first) for label in labels])


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


# --------------------------------------------------------------------------------------------------
# The three shapes that weights over levels come in.


@dataclass(frozen=True)
class Full:
    """Every higher level stands above every lower one, with weight one."""


@dataclass(frozen=True)
class Scale:
    """W[a, b] = weight_a · weight_b · (scale_b − scale_a) for a < b: the *separable* costs."""

    weight: Floats
    scale: Floats


@dataclass(frozen=True)
class CostTable:
    """Any weights: W[lower, higher], sparse."""

    matrix: sp.csr_array


Structure: TypeAlias = Full | Scale | CostTable


DENSE_LEVELS = 5_000
"""Up to this many levels a whole table of weights may be made (200 MB)."""


def whole_table(structure: Structure, n_levels: int) -> Floats:
    """Return the whole table W[lower, higher]."""
    if n_levels > DENSE_LEVELS:
        raise ValueError(
            f"a table of {n_levels} x {n_levels} weights would take {n_levels**2 * 8 / 1e9:.1f} GB; ask for "
            "`structure` instead"
        )
    match structure:
        case Full():
            return np.triu(np.ones((n_levels, n_levels)), 1)
        case Scale(weight, scale):
            return np.triu(np.outer(weight, weight) * (scale[None, :] - scale[:, None]), 1)
        case CostTable(matrix):
            return np.asarray(matrix.toarray(), dtype=float)


# --------------------------------------------------------------------------------------------------
# What follows from the edges of an order graph, and which edges follow from the others.


def reachable(matrix: sp.csr_array, levels: Labels) -> Bools:
    """Return above[a, b]: whether a path of edges leads from level a up to level b. O(r · edges)."""
    above = np.asarray(matrix.toarray() > 0)
    for level in reversed(topological(matrix, levels)):
        above[level] |= above[above[level]].any(axis=0)
    return above


def without_shortcuts(matrix: sp.csr_array, levels: Labels) -> sp.csr_array:
    """Return the edges that no path of other edges stands for, with their weights.

    Without a cycle they are the fewest that say the same, and no others do.
    """
    above = reachable(matrix, levels)
    entries = matrix.tocoo()
    kept = np.ones(len(entries.data), dtype=bool)
    by_lower = np.argsort(entries.row, kind="stable")
    for places in np.split(by_lower, np.flatnonzero(np.diff(entries.row[by_lower])) + 1):
        targets = entries.col[places]
        kept[places] = ~above[targets][:, targets].any(axis=0)  # reached through another target
    return sp.csr_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=matrix.shape)


# --------------------------------------------------------------------------------------------------
# Separable costs W[a,b] = w_a · w_b · (σ_b − σ_a): which costs are, where others fail, and the nearest that are.


_MOST_FITTED = 60
"""Up to this many levels the nearest separable costs are looked for: K²/2 residuals of 2K numbers."""

_GAUGE = 1e-4
"""Weight of a penalty that draws the weights to one: many of them give the same costs, and it picks one."""

_RTOL = 1e-9


def violation(structure: Structure, labels: Labels) -> str | None:
    """Say where the condition of Uematsu and Lee (2013), Theorem 3, fails, naming the levels; None where it holds."""
    size = len(labels)
    if size < 2:
        return "there are not two levels"
    first, last = (repr(label) for label in as_tuple(labels[:1]) + as_tuple(labels[-1:]))
    nothing = f"a swap of the lowest level {first} and the highest {last} costs nothing"
    if isinstance(structure, Full):
        ends = as_tuple(labels[:3]) + as_tuple(labels[-1:])  # any four levels show it
        return None if size <= 3 else _failing(whole_table(structure, 4), ends)
    if isinstance(structure, Scale):
        weight, scale = structure.weight, structure.scale
        return None if weight[0] * weight[-1] * (scale[-1] - scale[0]) > 0 else nothing
    if downward := _downward(structure, labels):
        return downward
    if not structure.matrix[0, size - 1] > 0:
        return nothing
    if size > DENSE_LEVELS:
        return f"a table of costs is looked through for at most {DENSE_LEVELS:,} levels, and these are {size:,}"
    return _failing(whole_table(structure, size), labels)


def separable(structure: Structure, labels: Labels) -> Scale | None:
    """Return the weights and the scale of costs that satisfy the condition; None for others.

    W[1,K]·w_i = W[1,i] + W[i,K] and w_i·σ_i = W[1,i] do it, whatever the costs were made from.
    """
    if isinstance(structure, Scale):
        return structure
    if violation(structure, labels) is not None:
        return None
    table = whole_table(structure, len(labels))
    from_lowest, to_highest = table[0], table[:, -1]
    weight = (from_lowest + to_highest) / table[0, -1]
    # a level of weight zero has no cost at all, and any place on the scale
    scale = np.divide(from_lowest, weight, out=np.zeros_like(weight), where=weight > 0)
    return Scale(weight, np.maximum.accumulate(scale))


def nearest_scale(structure: Structure, labels: Labels) -> Scale:
    """Fit weights and a rising scale to costs, as :meth:`OrderGraph.nearest_consistent` says."""
    size = len(labels)
    if not 2 <= size <= _MOST_FITTED:
        raise ValueError(f"the nearest separable costs are looked for over 2 to {_MOST_FITTED} levels, not {size}")
    if isinstance(structure, CostTable) and (downward := _downward(structure, labels)):
        raise ValueError(downward)
    table = whole_table(structure, size)
    if not table.any():
        raise ValueError("all costs are zero")
    largest = table.max()
    angle = np.pi * ((np.arange(size) + 0.5) / size - 0.5)
    # the best unbounded fit of equal costs lies on a half-circle, that of equal steps on a line
    starts = [(np.cos(angle), np.tan(angle)), (np.ones(size), np.arange(size) / size)]
    _, weight, scale = min((_fit(table / largest, *start) for start in starts), key=lambda fit: fit[0])
    # among the (weight, scale) that give the same costs: weights around one, a scale from zero
    centre = np.exp(np.mean(np.log(weight)))
    return Scale(weight / centre, scale * centre**2 * largest)


def _fit(table: Floats, weight: Floats, scale: Floats) -> tuple[float, Floats, Floats]:
    """Minimise over the logarithms of the weights and of the scale's steps, from a start."""
    size = len(table)
    low, high = np.triu_indices(size, 1)
    cost = table[low, high]
    kept = (cost > 0) | (high - low == size - 1)  # the condition asks for a cost from end to end
    log_cost = np.log(np.maximum(cost[kept], cost[cost > 0].min()))
    between = (np.arange(size - 1) >= low[:, None]) & (np.arange(size - 1) < high[:, None])
    pair = np.arange(len(low))
    one_weight = np.eye(size)

    def parts(z: Floats) -> tuple[Floats, Floats, Floats]:
        w, step = np.exp(z[:size]), np.exp(z[size:])
        return w, step, w[low] * w[high] * (between @ step)

    def residuals(z: Floats) -> Floats:
        fitted = parts(z)[2]
        return np.concatenate([fitted - cost, np.log(fitted[kept]) - log_cost, _GAUGE * z[:size]])

    def jacobian(z: Floats) -> Floats:
        _, step, fitted = parts(z)
        relative = np.zeros((len(low), 2 * size - 1))
        relative[pair, low] = relative[pair, high] = 1.0
        relative[:, size:] = between * step / (between @ step)[:, None]
        # the last lines choose, among the (weight, scale) that give the same costs, weights that differ least
        gauge = np.hstack([_GAUGE * one_weight, np.zeros((size, size - 1))])
        return np.vstack([relative * fitted[:, None], relative[kept], gauge])

    start = np.log(np.concatenate([weight, np.diff(scale)]))
    found = least_squares(residuals, start, jacobian, method="trf", xtol=1e-10, ftol=1e-10, gtol=1e-10, max_nfev=200)
    w, step, _ = parts(found.x)
    return float(found.cost), w, np.concatenate([[0.0], np.cumsum(step)])


def _downward(structure: CostTable, labels: Labels) -> str | None:
    """Name a cost of a level above a later one: then the levels are not listed from low to high."""
    entries = structure.matrix.tocoo()
    down = np.flatnonzero(entries.row >= entries.col)
    if not len(down):
        return None
    low, high = (as_tuple(labels)[int(part[down[0]])] for part in (entries.row, entries.col))
    return f"the level {low!r} stands below {high!r} but is listed after it; list the levels from low to high"


def _failing(table: Floats, labels: Labels) -> str | None:
    """Name the two inner levels whose cost is furthest from what the condition asks for."""
    largest = table.max()
    unit = table / largest
    first, last = unit[0, 1:-1], unit[1:-1, -1]
    # entry [j, i] of W[1,i] W[j,K] − W[1,j] W[i,K]
    wanted = np.triu(np.outer(last, first) - np.outer(first, last), 1) / unit[0, -1]
    gap: Floats = np.abs(unit[1:-1, 1:-1] - wanted) - (_RTOL * np.abs(wanted) + 1e-12)
    if not (gap > 0).any():
        return None
    low, high = np.unravel_index(int(np.argmax(gap)), gap.shape)
    names = as_tuple(labels)
    return (
        f"a swap of {names[low + 1]!r} and {names[high + 1]!r} costs {table[low + 1, high + 1]:g}, where the costs to "
        f"the lowest level {names[0]!r} and to the highest {names[-1]!r} ask for {wanted[low, high] * largest:g}"
    )


# --------------------------------------------------------------------------------------------------
# The graph.


__all__ = ["NAMED", "CostTable", "Full", "Labels", "OrderGraph", "Scale", "Structure", "as_graph", "shown"]


class OrderGraph:
    r"""A weighted order over levels: ``weights[lo, hi] > 0`` where level hi stands above level lo.

    A graph over levels and a table of misranking costs are the same thing; the risk of scores is
    Σ W[y_j, y_i] · loss(s_i − s_j) over all rows i, j.

    Parameters
    ----------
    levels : sequence
        The levels' labels, one for each line of ``weights``; from low to high where they have an order.
    weights : array of shape (r, r), dense or sparse
        Non-negative weights; ``weights[lo, hi]`` is what a swap of a pair of these levels costs.

    Examples
    --------
    >>> import wellorder as wo
    >>> graph = wo.OrderGraph.from_edges(["spam", "news", "mail"], [("spam", "news"), ("spam", "mail", 2.0)])
    >>> graph.weights
    array([[0., 1., 2.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """

    def __init__(self, levels: Iterable[Hashable], weights: Any) -> None:
        self._labels = distinct(levels)
        self.structure: Structure = CostTable(checked_table(self._labels, weights))

    @classmethod
    def _of(cls, levels: Iterable[Hashable], structure: Structure) -> OrderGraph:
        graph = cls.__new__(cls)
        graph._labels = distinct(levels)
        graph.structure = structure
        return graph

    @classmethod
    def full(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Put every level above every lower one, with weight one."""
        return cls._of(levels, Full())

    @classmethod
    def chain(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Put every level above the one just below it only."""
        labels = distinct(levels)
        low = np.arange(max(len(labels) - 1, 0))
        table = sp.coo_array((np.ones(len(low)), (low, low + 1)), shape=(len(labels), len(labels)))
        return cls._of(labels, CostTable(table.tocsr()))

    @classmethod
    def linear(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Let a swap cost the difference of the grades; of their places, where they are no numbers that rise."""
        labels = distinct(levels)
        return cls.from_scale(np.ones(len(labels)), level_numbers(labels, relative=True), labels)

    @classmethod
    def dcg(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Let a swap cost the difference of the gains 2^grade; 2^place, where grades are no numbers that rise."""
        labels = distinct(levels)
        grade = level_numbers(labels)
        if len(grade) and grade.max() >= 1024:
            raise ValueError(
                f"order='dcg' needs the gain 2^grade, which overflows at grade {grade.max():g}; "
                "use order='linear', or map the grades to 0, 1, 2, ..."
            )
        gain = np.exp2(grade)
        if (np.diff(gain) == 0).any():
            raise ValueError(
                f"order='dcg' needs the gain 2^grade, which is the same for two grades as far apart from zero as "
                f"{grade.min():g}; use order='linear', or map the grades to 0, 1, 2, ..."
            )
        return cls.from_scale(np.ones(len(labels)), gain, labels)

    @classmethod
    def from_scale(cls, weights: Any, scale: Any, levels: Iterable[Hashable] | None = None) -> OrderGraph:
        """Let a swap of levels a < b cost weights[a] · weights[b] · (scale[b] − scale[a]).

        Examples
        --------
        >>> import wellorder as wo
        >>> wo.OrderGraph.from_scale([1, 1, 1], [0, 1, 3]).weights
        array([[0., 1., 3.],
               [0., 0., 2.],
               [0., 0., 0.]])
        """
        weight, value = (np.asarray(part, dtype=float) for part in (weights, scale))
        if weight.ndim != 1 or weight.shape != value.shape:
            raise ValueError(
                f"from_scale needs one weight and one scale value a level; got shapes {weight.shape} and {value.shape}"
            )
        if not (np.isfinite(weight).all() and np.isfinite(value).all() and (weight >= 0).all()):
            raise ValueError("from_scale needs finite numbers, and weights that are not negative")
        if (np.diff(value) < 0).any():
            at = int(np.argmax(np.diff(value) < 0))
            raise ValueError(
                f"the scale must not fall from a level to the next: scale[{at}] = {value[at]:g} > "
                f"scale[{at + 1}] = {value[at + 1]:g}"
            )
        labels = range(len(value)) if levels is None else levels
        graph = cls._of(labels, Scale(weight, value))
        if graph.n_levels != len(value):
            raise ValueError(f"{graph.n_levels} levels but {len(value)} scale values")
        return graph

    @classmethod
    def from_edges(cls, levels: Iterable[Hashable], edges: Iterable[Sequence[Any]]) -> OrderGraph:
        """Build a graph from edges (lower, higher) or (lower, higher, weight); repeated edges add up."""
        labels = distinct(levels)
        index = {level: place for place, level in enumerate(labels)}
        low, high, weight = [], [], []
        for number, edge in enumerate(edges):
            if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) not in (2, 3):
                raise ValueError(f"edge {number} is {edge!r}; expected (lower, higher) or (lower, higher, weight)")
            for end in edge[:2]:
                if end not in index:
                    raise ValueError(f"edge {number} names the level {end!r}, which is not among {list(labels)}")
            low.append(index[edge[0]])
            high.append(index[edge[1]])
            weight.append(float(edge[2]) if len(edge) == 3 else 1.0)
            if not 0 <= weight[-1] < np.inf:
                raise ValueError(
                    f"edge {number}: the weight of {edge[0]!r} below {edge[1]!r} is {weight[-1]:g}; "
                    "weights must be finite and not negative"
                )
        table = sp.coo_array((weight, (low, high)), shape=(len(labels),) * 2, dtype=float)
        return cls(labels, table.tocsr())

    @property
    def levels(self) -> tuple[Hashable, ...]:
        """The levels' labels."""
        return as_tuple(self._labels)

    @property
    def labels(self) -> Labels:
        """The levels' labels as they are kept: an array where they are numbers, perhaps as many as rows."""
        return self._labels

    @property
    def n_levels(self) -> int:
        """How many levels there are."""
        return len(self._labels)

    @property
    def weights(self) -> Floats:
        """The whole table W[lower, higher]."""
        return whole_table(self.structure, self.n_levels)

    @property
    def edges(self) -> tuple[tuple[Hashable, Hashable, float], ...]:
        """Every edge as (lower, higher, weight), the form that ``from_edges`` takes."""
        table = self.structure.matrix if isinstance(self.structure, CostTable) else sp.csr_array(self.weights)
        entries, levels = table.tocoo(), self.levels
        listed = zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
        return tuple((levels[low], levels[high], weight) for low, high, weight in listed)

    def is_consistent(self) -> bool:
        """Say whether a best score exists in closed form for these costs.

        The condition is that of Uematsu and Lee (2013), Theorem 3. With K levels: W[1,K] > 0 and W[1,K]·W[j,i] =
        W[1,i]·W[j,K] − W[1,j]·W[i,K] for 1 < j < i < K. This is the same as *separable* costs, W[a,b] = w_a · w_b ·
        (σ_b − σ_a), with a positive one from the lowest level to the highest.
        """
        return violation(self.structure, self._labels) is None

    def nearest_consistent(self) -> OrderGraph:
        """Return the nearest separable costs w_a · w_b · (σ_b − σ_a): themselves, where they are separable.

        Otherwise by least squares of the costs, and of the logarithms of those that are positive, so that none of
        them vanishes; a cost from the lowest level to the highest is put in where there is none. Every level keeps
        a positive weight, and the scale rises. At most 60 levels, listed from low to high.

        Examples
        --------
        >>> import numpy as np
        >>> import wellorder as wo
        >>> print(np.round(wo.OrderGraph.full(range(4)).nearest_consistent().weights, 2))
        [[0.   0.87 1.23 0.87]
         [0.   0.   0.87 1.23]
         [0.   0.   0.   0.87]
         [0.   0.   0.   0.  ]]
        """
        if isinstance(self.structure, Scale):
            return self
        exact = separable(self.structure, self._labels)
        return OrderGraph._of(self._labels, exact or nearest_scale(self.structure, self._labels))

    def restrict(self, levels: Iterable[Hashable]) -> OrderGraph:
        """Return the graph over some of its levels, named in any order; their own order stays."""
        place = {level: number for number, level in enumerate(self.levels)}
        chosen = list(levels)
        for level in chosen:
            if level not in place:
                raise ValueError(f"{level!r} is not among the levels ({shown(self._labels)})")
        return self.take(sorted({place[level] for level in chosen}))

    def take(self, places: Any) -> OrderGraph:
        """Return the graph over some of its levels, given by their places in rising order."""
        chosen = np.asarray(places, dtype=np.int64)
        if isinstance(self._labels, np.ndarray):
            labels: Labels = self._labels[chosen]
        else:
            labels = tuple(self._labels[place] for place in chosen)
        structure = self.structure
        if isinstance(structure, Scale):
            structure = Scale(structure.weight[chosen], structure.scale[chosen])
        elif isinstance(structure, CostTable):
            structure = CostTable(sp.csr_array(structure.matrix[chosen][:, chosen]))
        return OrderGraph._of(labels, structure)

    def closure(self) -> OrderGraph:
        """Return the transitive closure with unit weights: whatever follows from the edges."""
        if isinstance(self.structure, Full):
            return self
        if isinstance(self.structure, Scale):
            weight, scale = self.structure.weight, self.structure.scale
            if (weight > 0).all() and (np.diff(scale) > 0).all():
                return OrderGraph.full(self._labels)
            return OrderGraph(self._labels, (self.weights > 0).astype(float))
        matrix = self.structure.matrix
        if matrix.diagonal(1).all() and sp.tril(matrix).nnz == 0:
            return OrderGraph.full(self._labels)  # a chain through all levels, in their order
        whole_table(self.structure, self.n_levels)  # refuses one that would not fit into memory
        return OrderGraph(self._labels, reachable(matrix, self._labels).astype(float))

    def transitive_closure(self) -> OrderGraph:
        """Return the graph with an edge of weight one for whatever follows from the edges: ``closure``.

        Examples
        --------
        >>> import wellorder as wo
        >>> wo.OrderGraph.chain("abc").transitive_closure().edges
        (('a', 'b', 1.0), ('a', 'c', 1.0), ('b', 'c', 1.0))
        """
        return self.closure()

    def transitive_reduction(self) -> OrderGraph:
        """Return the fewest edges from which all others follow; those that stay keep their weights.

        Examples
        --------
        >>> import wellorder as wo
        >>> graph = wo.OrderGraph.from_edges("abc", [("a", "b"), ("b", "c", 2.0), ("a", "c")])
        >>> graph.transitive_reduction().edges
        (('a', 'b', 1.0), ('b', 'c', 2.0))
        """
        if isinstance(self.structure, Full):
            return OrderGraph.chain(self._labels)
        if isinstance(self.structure, CostTable):
            matrix = self.structure.matrix
            if matrix.nnz == np.count_nonzero(matrix.diagonal(1)):
                return self  # a chain, or pieces of one: nothing follows from anything
        matrix = sp.csr_array(whole_table(self.structure, self.n_levels))
        return OrderGraph._of(self._labels, CostTable(without_shortcuts(matrix, self._labels)))

    def __repr__(self) -> str:
        kind = {Full: "full", Scale: "scale", CostTable: "table"}[type(self.structure)]
        return f"OrderGraph({kind} over {self.n_levels} levels: {shown(self._labels)})"


NAMED = {
    "full": OrderGraph.full,
    "chain": OrderGraph.chain,
    "linear": OrderGraph.linear,
    "dcg": OrderGraph.dcg,
}
"""The orders that have a name; ``order=`` takes one of these, a graph or a table."""


def as_graph(order: Any, levels: Labels) -> OrderGraph:
    """Turn an order (a name, a graph, a table of weights) into a graph over these levels."""
    if isinstance(order, OrderGraph):
        return order
    if isinstance(order, str):
        if order not in NAMED:
            raise ValueError(
                f"order={order!r} is not known; use one of {', '.join(map(repr, NAMED))}, an OrderGraph "
                "or an r x r array of weights"
            )
        return NAMED[order](levels)
    try:
        table = order if sp.issparse(order) else np.asarray(order, dtype=float)
    except (TypeError, ValueError):  # lines of different length, or no numbers
        table = None
    if order is None or table is None:
        raise ValueError(
            f"order={order!r} is no order; give one of {', '.join(map(repr, NAMED))}, an OrderGraph or an r x r array "
            "of weights"
        )
    if table.shape != (len(levels), len(levels)):
        raise ValueError(
            f"order has shape {table.shape}, but there are {len(levels)} levels "
            f"({shown(levels)}); give a {len(levels)} x {len(levels)} array, or declare levels="
        )
    return OrderGraph(levels, table)
