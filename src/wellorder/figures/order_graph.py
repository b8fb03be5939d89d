"""An order graph as a picture: levels in rows by their height, arrows from what stands below to what stands above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path

from ..order import OrderGraph
from ..sweeps import Bools, Floats
from .style import PALETTE, PAPER, WIDTH, Drawable, axes_for, ink, plain, plain_apart

MOST_LEVELS = 40
"""A graph with more levels than this cannot be read."""

_MOST_NOTES = 12
"""With more edges than this, the labels on them would overlap."""

_INCHES = 0.75
"""Inches from one row to the next."""

_LETTER = 0.086
"""The width of a letter in inches: the average and a little more."""

_SWEEPS = 4
"""How often each level is moved to the middle of the levels that it has edges with."""


class OrderGraphDisplay(Drawable):
    """The levels of an order graph, higher ones above, with an arrow up every edge.

    A level stands one row above the highest of the levels below it. An edge that would run through a level bends
    around it; the wider an arrow, the more its edge weighs.

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
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> OrderGraphDisplay:
        """Take the edges and thresholds of a fitted ConvexHullRanker, or of a pipeline that ends with one."""
        model = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if not hasattr(model, "margins_") or not hasattr(model, "edges_"):
            raise ValueError(f"{type(model).__name__} has no threshold an edge; fit a ConvexHullRanker")
        edges = [tuple(edge) for edge in model.edges_.tolist()]
        levels = dict.fromkeys(level for edge in edges for level in edge)
        notes = {edge: f"{margin:.2f}" for edge, margin in zip(edges, model.margins_.tolist(), strict=True)}
        return cls(OrderGraph.from_edges(levels, edges), notes)._on(ax)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit the rows, their names and the bends."""
        left, right, _, top = self._limits()
        return max(WIDTH, _INCHES * (right - left)), 0.5 + _INCHES * (top + 0.5)

    @cached_property
    def _names(self) -> dict[Hashable, str]:
        """What is written for each level: less of it, the more levels stand side by side."""
        most_beside = max(Counter(row for _, row in self.positions.values()).values())
        names = plain_apart(self.positions, max(8, 44 // most_beside))
        return dict(zip(self.positions, names, strict=True))

    @cached_property
    def _places(self) -> dict[Hashable, tuple[float, float]]:
        """Where each level is drawn: positions, drawn apart so far that names do not run into each other."""
        apart = max(1.0, 2.0 * self._half + 0.2)
        return {level: (apart * x, row) for level, (x, row) in self.positions.items()}

    @cached_property
    def _half(self) -> float:
        """Half the width of the widest name's box, in rows."""
        return 0.5 * (_LETTER * max(map(len, self._names.values())) + 0.2) / _INCHES

    @cached_property
    def _bends(self) -> dict[tuple[Hashable, Hashable], float]:
        """How far to the right the middle of each edge's arrow is drawn, so that it runs through no level.

        Arrows that must bend pass on the nearer side; where both are as near, on the right and on the left in turn.
        """
        bends, turn = {}, 1.0
        for low, high, _ in self.graph.edges:
            (x0, y0), (x1, y1) = self._places[low], self._places[high]
            middle, bend = 0.5 * (x0 + x1), 0.0
            passed = [(x, row) for x, row in self._places.values() if y0 < row < y1]
            if any(abs(x0 + (x1 - x0) * (row - y0) / (y1 - y0) - x) < self._half + 0.1 for x, row in passed):
                beside = 0.2 * (y1 - y0) ** 0.8 + self._half
                right = max(x for x, _ in passed) + beside - middle
                left = min(x for x, _ in passed) - beside - middle
                if abs(right + left) < 1e-9:
                    bend, turn = (right if turn > 0 else left), -turn
                else:
                    bend = right if right < -left else left
            bends[low, high] = bend
        return bends

    def _limits(self) -> tuple[float, float, float, float]:
        """Return left, right, bottom and top of what is drawn."""
        side = self._half + 0.3
        left = min(x for x, _ in self._places.values()) - side
        right = max(x for x, _ in self._places.values()) + side
        for (low, high), bend in self._bends.items():
            if bend:
                middle = 0.5 * (self._places[low][0] + self._places[high][0]) + bend
                left, right = min(left, middle - 0.3), max(right, middle + 0.3)
        return left, right, -0.5, max(row for _, row in self._places.values()) + 0.5

    def plot(self, ax: Axes | None = None) -> OrderGraphDisplay:
        """Draw the graph, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        self.labels_ = {
            level: ax.text(
                *place,
                self._names[level],
                ha="center",
                va="center",
                zorder=3,
                parse_math=False,
                bbox={"boxstyle": "round,pad=0.3", "facecolor": PAPER, "edgecolor": ink(), "linewidth": 0.8},
            )
            for level, place in self._places.items()
        }
        self.arrows_: dict[tuple[Hashable, Hashable], FancyArrowPatch] = {}
        heaviest = max((weight for *_, weight in self.graph.edges), default=1.0)
        for low, high, weight in self.graph.edges:
            self._draw_edge(ax, low, high, weight / heaviest)
        left, right, bottom, top = self._limits()
        ax.set_xlim(left, right)
        ax.set_ylim(bottom, top)
        ax.set_aspect("equal")  # bends are of the picture, not of its axes
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_edge(self, ax: Axes, low: Hashable, high: Hashable, share: float) -> None:
        start, end = (np.array(self._places[level]) for level in (low, high))
        middle = 0.5 * (start + end) + np.array([self._bends[low, high], 0.0])
        arrow = FancyArrowPatch(
            path=self._curve(start, middle, end),
            arrowstyle="-|>",
            mutation_scale=11,
            color=PALETTE["blue"],
            linewidth=0.8 + 1.6 * share,
            zorder=2,
        )
        ax.add_patch(arrow)
        self.arrows_[low, high] = arrow
        note = self.notes.get((low, high))
        if note is not None and len(self.arrows_) <= _MOST_NOTES:
            ax.text(
                float(middle[0]),
                float(middle[1]),
                plain(note, 12),
                fontsize=8.5,
                ha="center",
                va="center",
                parse_math=False,
                zorder=4,
                bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "edgecolor": "none"},
            )

    def _curve(self, start: Floats, middle: Floats, end: Floats) -> Path:
        """Return the parabola through three points, without what lies in the boxes at its two ends."""
        at = np.linspace(0.0, 1.0, 101)[:, None]
        points = start + at * (end - start) + 4.0 * at * (1.0 - at) * (middle - 0.5 * (start + end))
        box = np.array([self._half, 0.24])
        outside = (np.abs(points - start) > box).any(axis=1) & (np.abs(points - end) > box).any(axis=1)
        return Path(points[outside])


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


def _rows(table: Bools) -> Floats:
    """Return the number of edges on the longest path up to each level: settled after as many rounds as it has."""
    row = np.zeros(len(table))
    for _ in range(len(table)):
        row = np.where(table, row[:, None] + 1.0, 0.0).max(axis=0, initial=0.0)
    return np.asarray(row)


def _spaced(count: int) -> Floats:
    return np.arange(count) - 0.5 * (count - 1)
