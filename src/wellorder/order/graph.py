"""What must stand above what, level by level, and how much it costs to get it wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Floats
from .costs import nearest_scale, separable, violation
from .graph_checks import Labels, as_tuple, checked_table, distinct, numeric, shown
from .reachability import reachable, without_shortcuts
from .structures import Full, Scale, Structure, Table, whole_table

__all__ = ["NAMED", "Full", "Labels", "OrderGraph", "Scale", "Structure", "Table", "as_graph", "shown"]


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
        self.structure: Structure = Table(checked_table(self._labels, weights))

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
        return cls._of(labels, Table(table.tocsr()))

    @classmethod
    def linear(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Let a swap cost the difference of the grades (of the levels' places if they are no numbers)."""
        labels = distinct(levels)
        return cls.from_scale(np.ones(len(labels)), numeric(labels, relative=True), labels)

    @classmethod
    def dcg(cls, levels: Iterable[Hashable]) -> OrderGraph:
        """Let a swap cost the difference of the gains 2^grade (places if the levels are no numbers)."""
        labels = distinct(levels)
        grade = numeric(labels, relative=False)
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
        table = self.structure.matrix if isinstance(self.structure, Table) else sp.csr_array(self.weights)
        entries, levels = table.tocoo(), self.levels
        listed = zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
        return tuple((levels[low], levels[high], weight) for low, high, weight in listed)

    def is_consistent(self) -> bool:
        """Say whether a best score exists in closed form for these costs (Theorem 3's condition).

        With K levels: W[1,K] > 0 and W[1,K]·W[j,i] = W[1,i]·W[j,K] − W[1,j]·W[i,K] for 1 < j < i < K. This is the
        same as *separable* costs, W[a,b] = w_a · w_b · (σ_b − σ_a), with a positive one from the lowest level to the
        highest.
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
        elif isinstance(structure, Table):
            structure = Table(sp.csr_array(structure.matrix[chosen][:, chosen]))
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
        if isinstance(self.structure, Table):
            matrix = self.structure.matrix
            if matrix.nnz == np.count_nonzero(matrix.diagonal(1)):
                return self  # a chain, or pieces of one: nothing follows from anything
        matrix = sp.csr_array(whole_table(self.structure, self.n_levels))
        return OrderGraph._of(self._labels, Table(without_shortcuts(matrix, self._labels)))

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
