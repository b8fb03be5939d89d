"""What must stand above what, level by level, and how much it costs to get it wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Floats

_DENSE_LEVELS = 5_000
"""Up to this many levels a whole table of weights may be made (200 MB)."""


@dataclass(frozen=True)
class Full:
    """Every higher level stands above every lower one, with weight one."""


@dataclass(frozen=True)
class Scale:
    """W[a, b] = weight_a · weight_b · (scale_b − scale_a) for a < b: the *separable* costs."""

    weight: Floats
    scale: Floats


@dataclass(frozen=True)
class Table:
    """Any weights: W[lower, higher], sparse."""

    matrix: sp.csr_array


Structure: TypeAlias = Full | Scale | Table
Labels: TypeAlias = tuple[Hashable, ...] | Array


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
        self._labels = _distinct(levels)
        self.structure: Structure = Table(_checked_table(self._labels, weights))

    @classmethod
    def _of(cls, levels: Iterable[Hashable], structure: Structure) -> OrderGraph:
        graph = cls.__new__(cls)
        graph._labels = _distinct(levels)
        graph.structure = structure
        return graph

    @classmethod
    def full(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Put every level above every lower one, with weight one."""
        return cls._of(levels, Full())

    @classmethod
    def chain(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Put every level above the one just below it only."""
        labels = _distinct(levels)
        low = np.arange(max(len(labels) - 1, 0))
        table = sp.coo_array((np.ones(len(low)), (low, low + 1)), shape=(len(labels), len(labels)))
        return cls._of(labels, Table(table.tocsr()))

    @classmethod
    def linear(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Let a swap cost the difference of the grades (of the levels' places if they are no numbers)."""
        labels = _distinct(levels)
        return cls.from_scale(np.ones(len(labels)), _numeric(labels, relative=True), labels)

    @classmethod
    def dcg(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Let a swap cost the difference of the gains 2^grade (places if the levels are no numbers)."""
        labels = _distinct(levels)
        grade = _numeric(labels, relative=False)
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
        labels = _distinct(levels)
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
        return _as_tuple(self._labels)

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
        if self.n_levels > _DENSE_LEVELS:
            raise ValueError(
                f"a table of {self.n_levels} x {self.n_levels} weights would take "
                f"{self.n_levels**2 * 8 / 1e9:.1f} GB; ask for `structure` instead"
            )
        match self.structure:
            case Full():
                return np.triu(np.ones((self.n_levels, self.n_levels)), 1)
            case Scale(weight, scale):
                return np.triu(np.outer(weight, weight) * (scale[None, :] - scale[:, None]), 1)
            case Table(matrix):
                return np.asarray(matrix.toarray(), dtype=float)

    def is_consistent(self) -> bool:
        """Say whether a best score exists in closed form for these costs (Theorem 3's condition).

        With K levels: W[1,K] > 0 and W[1,K]·W[j,i] = W[1,i]·W[j,K] − W[1,j]·W[i,K] for 1 < j < i < K.
        """
        size = self.n_levels
        if size < 2:
            return False
        if isinstance(self.structure, Full):
            return size <= 3
        if isinstance(self.structure, Scale):
            weight, scale = self.structure.weight, self.structure.scale
            return bool(weight[0] * weight[-1] * (scale[-1] - scale[0]) > 0)
        if not self.structure.matrix[0, size - 1] > 0:
            return False
        table = self.weights / self.structure.matrix.max()
        if np.tril(table).any():
            return False
        first, last = table[0, 1:-1], table[1:-1, -1]
        # entry [j, i] of W[1,i] W[j,K] − W[1,j] W[i,K]
        wanted = np.triu(np.outer(last, first) - np.outer(first, last), 1) / table[0, -1]
        return bool(np.allclose(table[1:-1, 1:-1], wanted, rtol=1e-9, atol=1e-12))

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
        above = self.weights > 0
        for level in reversed(_topological(matrix, self._labels)):
            above[level] |= above[above[level]].any(axis=0)
        return OrderGraph(self._labels, above.astype(float))

    def __repr__(self) -> str:
        kind = type(self.structure).__name__.lower()
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
    table = order if sp.issparse(order) else np.asarray(order, dtype=float)
    if table.shape != (len(levels), len(levels)):
        raise ValueError(
            f"order has shape {table.shape}, but there are {len(levels)} levels "
            f"({shown(levels)}); give a {len(levels)} x {len(levels)} array, or declare levels="
        )
    return OrderGraph(levels, table)


def shown(levels: Labels) -> str:
    """Spell out the first few levels."""
    return ", ".join(map(repr, _as_tuple(levels[:8]))) + (", ..." if len(levels) > 8 else "")


def _as_tuple(levels: Labels) -> tuple[Hashable, ...]:
    return tuple(levels.tolist() if isinstance(levels, np.ndarray) else levels)


def _distinct(levels: Iterable[Hashable] | Array) -> Labels:
    """Keep an array of sorted numbers (perhaps as many as rows) as it is; check anything else."""
    if isinstance(levels, np.ndarray) and levels.dtype.kind in "iuf" and (levels[1:] > levels[:-1]).all():
        return levels.copy()
    labels = _as_tuple(levels) if isinstance(levels, np.ndarray) else tuple(levels)
    if len(set(labels)) < len(labels):
        twice = next(label for place, label in enumerate(labels) if label in labels[:place])
        raise ValueError(f"the level {twice!r} is listed twice")
    return labels


def _numeric(levels: Labels, *, relative: bool) -> Floats:
    """Return the levels as numbers (less the first, if ``relative``); their places where they are none."""
    labels = list(_as_tuple(levels))
    if not all(isinstance(label, Real) for label in labels):
        return np.arange(len(labels), dtype=float)
    first = labels[0] if relative and labels else 0
    return np.array([float(label - first) for label in labels])  # type: ignore[operator]


def _checked_table(levels: Labels, weights: Any) -> sp.csr_array:
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
            f"the weight of {_as_tuple(levels)[low]!r} below {_as_tuple(levels)[high]!r} is {entries.data[bad[0]]:g}; "
            "weights must be finite and not negative"
        )
    matrix.eliminate_zeros()
    if sp.tril(matrix).nnz:  # edges that only lead upwards cannot close a cycle
        _topological(matrix, levels)
    return matrix


def _topological(matrix: sp.csr_array, levels: Labels) -> list[int]:
    """Order the levels so that edges lead upwards, or name a cycle."""
    entries = matrix.tocoo()
    graph: dict[int, set[int]] = {level: set() for level in range(len(levels))}
    for low, high in zip(entries.row.tolist(), entries.col.tolist(), strict=True):
        graph[high].add(low)
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle: list[int] = error.args[1]
        names = " < ".join(repr(_as_tuple(levels)[level]) for level in cycle)
        raise ValueError(f"the order runs in a circle: {names}; remove one of these edges") from None
