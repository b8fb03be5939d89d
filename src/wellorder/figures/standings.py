"""Standings as pictures: ratings with their intervals, and who is clearly above whom."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ..order import OrderGraph
from ..sweeps import Bools, Floats
from ..writing import write_ranks
from .order_graph import MOST_LEVELS, OrderGraphDisplay
from .style import PALETTE, WIDTH, Drawable, axes_for, ink, plain_apart, quieten

_SCALES = {"log-odds": "rating (log-odds, 0 is the mean)", "elo": "rating (Elo points, 1500 is the mean)"}

MOST_NUMBERED = 16
"""Up to this many items, each cell of the table has a number, how likely one is above the other; with more, cells are
too small."""

_BEYOND = 0.06
"""How far the arrow of an interval without an end goes beyond the other intervals, as a share of their range."""


# --------------------------------------------------------------------------------------------------
# Ratings with their intervals.


@dataclass(frozen=True)
class _ShownLine:
    """A line of the picture: an item, or what stands between items."""

    name: str
    row: Mapping[str, Any] | None = None


class StandingsDisplay(Drawable):
    """A dot with its interval an item, the best on top; the ranks that it may have stand at the right.

    Where every vote on an item went one way, its rating is infinite and the interval has one end: it is drawn as an
    arrow from there. Items of different islands cannot be compared: each island has lines of its own. Of many items the
    first and the last are shown.

    Parameters
    ----------
    table : polars DataFrame
        What ``Standings.table()`` gives: ``item``, ``rating``, ``low``, ``high``, ``rank``, ``rank_low``,
        ``rank_high``, ``island``, a row an item, islands one after the other.
    scale : {"log-odds", "elo"}, default="log-odds"
        What the ratings are told in.
    most : int, default=60
        Up to so many items are all shown; of more, so many that the lines are as many, the last of them a fifth.

    Attributes
    ----------
    names : list of str
        The items that are shown, from top to bottom.
    ax_, figure_
        What was drawn on, after :meth:`plot`.
    marks_, intervals_ : dict
        From the name of an item to its mark, None where its rating is infinite, and to its interval.

    Examples
    --------
    >>> import polars as pl
    >>> from wellorder.figures import StandingsDisplay
    >>> table = pl.DataFrame({"item": ["tea", "milk"], "rating": [0.5, -0.5], "low": [0.1, -0.9], "high": [0.9, -0.1],
    ...                       "rank": [1, 2], "rank_low": [1, 2], "rank_high": [1, 2], "island": [1, 1]})
    >>> StandingsDisplay(table).names
    ['tea', 'milk']
    """

    def __init__(self, table: pl.DataFrame, scale: str = "log-odds", most: int = 60) -> None:
        if scale not in _SCALES:
            raise ValueError(f"scale={scale!r} is not among {', '.join(map(repr, _SCALES))}")
        if most < 5:
            raise ValueError(f"most={most!r} lines show nothing of a ranking; give 5 or more")
        self.table = table
        self.scale = scale
        self.most = most
        self._lines = _lines(table, most)

    @property
    def names(self) -> list[str]:
        """The items that are shown, from top to bottom."""
        return [line.name for line in self._lines if line.row is not None]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of items."""
        return WIDTH, 0.95 + (0.3 if len(self._lines) <= 30 else 0.22) * max(1, len(self._lines))

    def plot(self, ax: Axes | None = None) -> StandingsDisplay:
        """Draw the standings, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="x")
        self.marks_: dict[str, Any] = {}
        self.intervals_: dict[str, Any] = {}
        low, high = _ends(line.row for line in self._lines)
        small = 8.5 if len(self._lines) > 30 else 9.5
        across = ax.get_yaxis_transform()
        for place, line in enumerate(self._lines):
            if line.row is None:
                ax.text(
                    0.0, place, line.name, transform=across, fontsize=small, va="center", alpha=0.75, parse_math=False
                )
                ax.axhline(place - 0.5, color=ink(), linewidth=0.6, alpha=0.35)
                continue
            self._draw_row(ax, place, line, (low, high))
            ranks = write_ranks(line.row["rank_low"], line.row["rank_high"])
            ax.text(1.035, place, ranks, transform=across, fontsize=small, va="center", ha="left")
        ax.text(1.035, -0.85, "ranks", transform=across, fontsize=small, va="center", ha="left", alpha=0.75)
        shown = [place for place, line in enumerate(self._lines) if line.row is not None]
        ax.set_yticks(shown, labels=plain_apart(self.names, 28), parse_math=False)
        ax.tick_params(axis="y", length=0, labelsize=small)
        ax.spines["left"].set_visible(False)
        ax.set_ylim(len(self._lines) - 0.4, -0.6)
        ax.set_xlim(low, high)
        ax.set_xlabel(_SCALES[self.scale])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_row(self, ax: Axes, place: int, line: _ShownLine, edges: tuple[float, float]) -> None:
        assert line.row is not None
        blue, (left, right) = PALETTE["blue"], edges
        low, high, rating = (float(line.row[name]) for name in ("low", "high", "rating"))
        unknown = not (math.isfinite(low) or math.isfinite(high))
        ends = (low if math.isfinite(low) else left, high if math.isfinite(high) else right)
        style: dict[str, Any] = (
            {"linewidth": 1.2, "linestyle": (0, (1, 2)), "alpha": 0.6} if unknown else {"linewidth": 2.2}
        )
        (interval,) = ax.plot(ends, [place, place], color=blue, solid_capstyle="round", **style)
        for end, edge, arrow in ((low, left, "<"), (high, right, ">")):
            if not math.isfinite(end):
                ax.plot([edge], [place], arrow, color=blue, markersize=5.5, clip_on=False, alpha=style.get("alpha"))
        mark = None
        if math.isfinite(rating):
            (mark,) = ax.plot([rating], [place], "o", color=blue, markersize=6 if len(self._lines) <= 30 else 4)
        elif not unknown:  # its one end
            at = low if math.isfinite(low) else high
            (mark,) = ax.plot([at], [place], "|", color=blue, markersize=8, markeredgewidth=1.8)
        self.marks_[line.name], self.intervals_[line.name] = mark, interval


def _lines(table: pl.DataFrame, most: int) -> list[_ShownLine]:
    """Choose the items to show, and put lines between where items are left out or another island begins."""
    rows = list(table.iter_rows(named=True))
    n_last = most // 5 if len(rows) > most else 0
    n_first = min(len(rows), most - n_last)
    shown = [*range(n_first), *range(len(rows) - n_last, len(rows))]
    several = len({row["island"] for row in rows}) > 1
    lines: list[_ShownLine] = []
    last = None
    for place in shown:
        row = rows[place]
        if place == len(rows) - n_last and place > n_first:
            lines.append(_ShownLine(f"… {place - n_first:,} more …"))
        if several and row["island"] != last:
            lines.append(_ShownLine(f"island {row['island']}"))
        last = row["island"]
        lines.append(_ShownLine(str(row["item"]), row))
    return lines


def _ends(rows: Any) -> tuple[float, float]:
    """Return from where to where the picture reaches: all finite ends, and a little more."""
    numbers = [float(row[name]) for row in rows if row is not None for name in ("rating", "low", "high")]
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = min(finite, default=-1.0), max(finite, default=1.0)
    reach = (high - low) or 2.0
    return low - _BEYOND * reach, high + _BEYOND * reach


# --------------------------------------------------------------------------------------------------
# Who is clearly above whom.


_KINDS = {"clearly above": "blue", "clearly below": "vermillion", "not told apart": "grey", "not comparable": "grey"}

_FULL = 0.78
"""The opacity of the colour of a clear case."""

_FAINT = 0.32
"""The highest opacity of a case that is not clear."""


class AboveDisplay(Drawable):
    """Item by item, the best first: who is clearly above whom, and how likely the others are.

    A full colour says that the item of the line is clearly above, or below, that of the column, for all pairs at once;
    a faint one how likely it is without being clear, and an empty cell with a stroke that the two cannot be compared.

    Parameters
    ----------
    items : sequence of str
        The best first.
    above : array of bool, shape (n, n)
        Whether the item of the line is clearly above that of the column.
    probability : array of shape (n, n)
        How likely it is really above; NaN where the two cannot be compared.

    Attributes
    ----------
    ax_, figure_
        What was drawn on, after :meth:`plot`.
    cells_ : dict
        From (line, column) to the rectangle.

    Examples
    --------
    >>> import wellorder as wo
    >>> display = wo.plot.AboveDisplay(["a", "b", "c"], [[0, 0, 1], [0, 0, 1], [0, 0, 0]],
    ...                                [[0.5, 0.7, 0.99], [0.3, 0.5, 0.98], [0.01, 0.02, 0.5]])
    >>> display.kind(0, 1), display.kind(2, 0)
    ('not told apart', 'clearly below')
    >>> sorted(display.reduced().graph.edges)
    [('c', 'a', 1.0), ('c', 'b', 1.0)]
    """

    def __init__(self, items: Sequence[str], above: Any, probability: Any) -> None:
        self.items = [str(item) for item in items]
        self.above: Bools = np.asarray(above, dtype=bool)
        self.probability: Floats = np.asarray(probability, dtype=float)
        if not self.above.shape == self.probability.shape == (len(self.items),) * 2:
            raise ValueError(
                f"{len(self.items)} items need square tables of that size, got {self.above.shape} and "
                f"{self.probability.shape}"
            )

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of items."""
        return WIDTH, 1.0 + min(0.34, 3.4 / max(len(self.items), 1)) * len(self.items)

    def kind(self, line: int, column: int) -> str:
        """Say how the item of the line stands to that of the column."""
        if self.above[line, column]:
            return "clearly above"
        if self.above[column, line]:
            return "clearly below"
        return "not comparable" if np.isnan(self.probability[line, column]) else "not told apart"

    def reduced(self) -> OrderGraphDisplay:
        """Return the same as an order graph without what follows: a above b above c leaves no arrow from c to a."""
        if not 0 < len(self.items) <= MOST_LEVELS:
            raise ValueError(f"a picture shows 1 to {MOST_LEVELS} items, and there are {len(self.items):,}")
        edges = [(self.items[low], self.items[high]) for high, low in np.argwhere(self.above)]
        graph = OrderGraph.from_edges(self.items[::-1], edges).transitive_reduction()
        return OrderGraphDisplay(graph)

    def plot(self, ax: Axes | None = None) -> AboveDisplay:
        """Draw the table, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        n = len(self.items)
        self.cells_: dict[tuple[int, int], Rectangle] = {}
        for line in range(n):
            for column in range(n):
                if line != column:
                    self._draw_cell(ax, line, column)
        small = 9.0 if n <= 12 else 8.0 if n <= 20 else 7.0
        names = plain_apart(self.items, 22)
        ax.set_yticks(range(n), labels=[f"{name}  {place}" for place, name in enumerate(names, 1)], parse_math=False)
        ax.set_xticks(range(n), labels=[str(place) for place in range(1, n + 1)])
        ax.set_xlim(-0.52, n - 0.48)
        ax.set_ylim(n - 0.48, -0.52)
        ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False, labelsize=small)
        for spine in ax.spines.values():
            spine.set_visible(False)
        self._explain(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_cell(self, ax: Axes, line: int, column: int) -> None:
        kind, n = self.kind(line, column), len(self.items)
        cell = Rectangle((column - 0.46, line - 0.46), 0.92, 0.92, linewidth=0.5)
        cell.set_edgecolor((PALETTE["grey"], 0.4))
        cell.set_facecolor(self._colour(line, column))
        ax.add_patch(cell)
        self.cells_[line, column] = cell
        if kind == "not comparable":
            ax.plot(
                [column - 0.3, column + 0.3], [line + 0.3, line - 0.3], color=PALETTE["grey"], linewidth=0.8, alpha=0.7
            )
        elif kind == "not told apart" and n <= MOST_NUMBERED:
            share = round(100 * float(self.probability[line, column]))
            ax.text(column, line, str(share), ha="center", va="center", fontsize=8.5 if n <= 10 else 7.0)

    def _colour(self, line: int, column: int) -> tuple[str, float]:
        kind = self.kind(line, column)
        if kind == "not comparable":
            return PALETTE["grey"], 0.0
        if kind != "not told apart":
            return PALETTE[_KINDS[kind]], _FULL
        leads = 2.0 * float(self.probability[line, column]) - 1.0
        return PALETTE["blue" if leads >= 0 else "vermillion"], _FAINT * abs(leads)

    def _explain(self, ax: Axes) -> None:
        """Say what the colours mean, as far as they occur."""
        there = {self.kind(*cell) for cell in self.cells_}
        shown = {kind: (PALETTE[colour], _FULL if "clearly" in kind else 0.12) for kind, colour in _KINDS.items()}
        names = [kind for kind in shown if kind in there]
        handles = [
            Rectangle((0, 0), 1, 1, facecolor=shown[kind], edgecolor=(PALETTE["grey"], 0.5), linewidth=0.5)
            for kind in names
        ]
        if handles:
            ax.legend(
                handles,
                names,
                loc="upper left",
                bbox_to_anchor=(0.0, -0.01),
                ncols=2,
                frameon=False,
                handlelength=1.1,
                handleheight=1.1,
                fontsize=9.0,
                borderaxespad=0.3,
            )
