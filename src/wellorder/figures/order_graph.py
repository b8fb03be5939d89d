"""An order graph as a picture: levels in rows by their height, arrows from what stands below to what stands above."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from ..order import OrderGraph
from ..sweeps import Floats
from .style import PALETTE, PAPER, WIDTH, axes_for, ink, plain

MOST_LEVELS = 40
"""More levels than this are not read."""

_MOST_NOTES = 12
"""On more edges than this, what is written at them would run into each other."""

_SWEEPS = 4
"""How often levels are moved to the middle of those they have edges with."""


class OrderGraphDisplay:
    """The levels of an order graph, higher ones above, with an arrow up every edge.

    A level stands one row above the highest of the levels below it. An edge that passes over a row bends around it;
    the wider an arrow, the more its edge weighs.

    Parameters
    ----------
    graph : OrderGraph
    notes : mapping from (lower, higher) to str, optional
        What to write at the edges; a number of edges beyond a dozen stays without.

    Attributes
    ----------
    graph : OrderGraph
    positions : dict
        From each level to its place (x, y); y is its row, 0 at the bottom.
    ax_, figure_
        What was drawn on, after :meth:`plot`.
    arrows_ : dict
        From (lower, higher) to the arrow.
    labels_ : dict
        From each level to its text.

    Examples
    --------
    >>> import wellorder as wo
    >>> from wellorder.figures import OrderGraphDisplay
    >>> graph = wo.OrderGraph.from_edges("abcd", [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    >>> {level: row for level, (_, row) in OrderGraphDisplay(graph).positions.items()}
    {'a': 0.0, 'b': 1.0, 'c': 1.0, 'd': 2.0}
    """

    def __init__(self, graph: OrderGraph, notes: Mapping[tuple[Hashable, Hashable], str] | None = None) -> None:
        if not 0 < graph.n_levels <= MOST_LEVELS:
            raise ValueError(f"a picture shows 1 to {MOST_LEVELS} levels, and the graph has {graph.n_levels:,}")
        self.graph = graph
        self.notes = {} if notes is None else dict(notes)
        self.positions = _positions(graph)

    @classmethod
    def from_estimator(cls, estimator: Any) -> OrderGraphDisplay:
        """Take the edges and thresholds of a fitted ConvexHullRanker, or of a pipeline that ends with one."""
        model = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if not hasattr(model, "margins_") or not hasattr(model, "edges_"):
            raise ValueError(f"{type(model).__name__} has no threshold an edge; fit a ConvexHullRanker")
        edges = [tuple(edge) for edge in model.edges_.tolist()]
        levels = dict.fromkeys(level for edge in edges for level in edge)
        notes = {edge: f"{margin:.2f}" for edge, margin in zip(edges, model.margins_.tolist(), strict=True)}
        return cls(OrderGraph.from_edges(levels, edges), notes)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of rows."""
        return WIDTH, 0.5 + 0.75 * (1.0 + max(row for _, row in self.positions.values()))

    def plot(self, ax: Axes | None = None) -> OrderGraphDisplay:
        """Draw the graph, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        places = np.array(list(self.positions.values()))
        widest = len(self.positions) if len(places) > 1 else 1
        most = max(6, math.floor(44 / max(np.bincount(places[:, 1].astype(int)).max(), 1)))
        self.labels_ = {
            level: ax.text(
                *place,
                plain(level, most),
                ha="center",
                va="center",
                zorder=3,
                parse_math=False,
                bbox={"boxstyle": "round,pad=0.3", "facecolor": PAPER, "edgecolor": ink(), "linewidth": 0.8},
            )
            for level, place in self.positions.items()
        }
        self.arrows_: dict[tuple[Hashable, Hashable], FancyArrowPatch] = {}
        heaviest = max((weight for *_, weight in self.graph.edges), default=1.0)
        for number, (low, high, weight) in enumerate(self.graph.edges):
            self._draw_edge(ax, low, high, weight / heaviest, number)
        reach = max(float(np.abs(places[:, 0]).max()), 0.5 * min(widest, 2)) + 0.7
        ax.set_xlim(-reach, reach)
        ax.set_ylim(-0.5, float(places[:, 1].max()) + 0.5)
        ax.set_aspect("equal")  # bends are of the picture, not of its axes
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_edge(self, ax: Axes, low: Hashable, high: Hashable, share: float, number: int) -> None:
        start, end = (np.array(self.positions[level]) for level in (low, high))
        rows = end[1] - start[1]
        # edges over several rows bend, to the right and to the left in turn, so as not to run through levels
        passed = [abs(x) for x, row in self.positions.values() if start[1] < row < end[1]]
        wide = 2.0 * (max(passed, default=0.0) + 0.4) / rows if any(passed) else 0.18 + 0.04 * rows
        bend = (wide if number % 2 else -wide) if passed else 0.0
        arrow = FancyArrowPatch(
            tuple(start),
            tuple(end),
            arrowstyle="-|>",
            mutation_scale=11,
            connectionstyle=f"arc3,rad={bend:g}",
            shrinkA=12,
            shrinkB=12,
            color=PALETTE["blue"],
            linewidth=0.8 + 1.6 * share,
            zorder=2,
        )
        ax.add_patch(arrow)
        self.arrows_[low, high] = arrow
        note = self.notes.get((low, high))
        if note is not None and len(self.arrows_) <= _MOST_NOTES:
            x, y = 0.5 * (start + end) + 0.5 * bend * np.array([rows, start[0] - end[0]])
            ax.text(
                x,
                y,
                plain(note, 12),
                fontsize=8.5,
                ha="center",
                va="center",
                parse_math=False,
                zorder=4,
                bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "edgecolor": "none"},
            )


def _positions(graph: OrderGraph) -> dict[Hashable, tuple[float, float]]:
    """Place each level: its row is the longest path from below, its place in the row near those it has edges with."""
    table = graph.weights > 0
    row = _rows(table)
    x = np.zeros(len(row))
    members = [np.flatnonzero(row == number) for number in range(int(row.max()) + 1)]
    for group in members:
        x[group] = _spaced(len(group))
    joined = table | table.T
    for sweep in range(_SWEEPS):
        for group in members if sweep % 2 == 0 else members[::-1]:
            wanted = [x[joined[level]].mean() if joined[level].any() else x[level] for level in group]
            x[group[np.argsort(wanted, kind="stable")]] = _spaced(len(group))
    return {level: (float(x[place]), float(row[place])) for place, level in enumerate(graph.levels)}


def _rows(table: Floats) -> Floats:
    """Return the number of edges on the longest path up to each level: settled after as many rounds as it has."""
    row = np.zeros(len(table))
    for _ in range(len(table)):
        row = np.where(table, row[:, None] + 1.0, 0.0).max(axis=0, initial=0.0)
    return np.asarray(row)


def _spaced(count: int) -> Floats:
    return np.arange(count) - 0.5 * (count - 1)
