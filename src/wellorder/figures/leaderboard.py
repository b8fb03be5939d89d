"""A leaderboard as a picture: a dot and an interval a method, the best on top."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from ..evaluation import Leaderboard, Standing, is_share
from .style import PALETTE, WIDTH, Drawable, add_legend, axes_for, name_rows, quieten


class LeaderboardDisplay(Drawable):
    """The mean of the metric over the splits with its 95 % interval, one line a method, the best on top.

    Filled marks: the leader, and what cannot be told apart from it. Hollow marks: worse beyond chance.
    Squares: baselines. The faint points behind are the single splits.

    Parameters
    ----------
    leaderboard : Leaderboard

    Attributes
    ----------
    ax_, figure_
        What was drawn on, after :meth:`plot`.
    marks_, intervals_ : list
        The mark and the interval of each method, in the order of the leaderboard; None without an interval.

    Examples
    --------
    >>> from wellorder.evaluation.leaderboard import Leaderboard, Protocol, Standing
    >>> from wellorder.figures import LeaderboardDisplay
    >>> best = Standing("rank-svm", "", False, 5, 0.21, 0.19, 0.23, {}, None, 0.0, 0.1, {})
    >>> protocol = Protocol("rows", 5, 1, 3, 0, "swapped_pairs", ("swapped_pairs",))
    >>> display = LeaderboardDisplay.from_leaderboard(Leaderboard("wines", False, (best,), (), (), protocol))
    >>> display.names
    ['rank-svm']
    """

    def __init__(self, leaderboard: Leaderboard) -> None:
        self.leaderboard = leaderboard

    @classmethod
    def from_leaderboard(cls, leaderboard: Leaderboard) -> LeaderboardDisplay:
        """Take a leaderboard."""
        return cls(leaderboard)

    @property
    def names(self) -> list[str]:
        """The methods, from top to bottom."""
        return [standing.method for standing in self.leaderboard.standings]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of methods."""
        return WIDTH, 1.25 + 0.33 * max(1, len(self.leaderboard.standings))

    def plot(self, ax: Axes | None = None) -> LeaderboardDisplay:
        """Draw the leaderboard, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="x")
        self.marks_: list[Line2D] = []
        self.intervals_: list[Line2D | None] = []
        for row, standing in enumerate(self.leaderboard.standings):
            self._draw_row(ax, row, standing)
        name_rows(ax, self.names)
        metric = self.leaderboard.protocol.metric
        better = "higher" if self.leaderboard.greater_is_better else "lower"
        if is_share(metric):
            ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.4g} %"))
        ax.set_xlabel(f"{metric.replace('_', ' ')} ({better} is better)", parse_math=False)
        self._explain(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_row(self, ax: Axes, row: int, standing: Standing) -> None:
        metric = self.leaderboard.protocol.metric
        values = [record.metrics.get(metric, math.nan) for record in self.leaderboard.of(standing.method)]
        colour = _colour(standing)
        ax.plot(values, np.full(len(values), row), "|", color=colour, markersize=7, alpha=0.35)
        interval = None
        if math.isfinite(standing.low) and math.isfinite(standing.high):
            ends = [standing.low, standing.high]
            (interval,) = ax.plot(ends, [row, row], color=colour, linewidth=2.2, solid_capstyle="round")
        (mark,) = ax.plot([standing.mean], [row], **_mark(standing, ax.get_facecolor()))
        self.marks_.append(mark)
        self.intervals_.append(interval)

    def _explain(self, ax: Axes) -> None:
        """Say what the marks mean, as far as they occur."""
        standings = sorted(self.leaderboard.standings, key=lambda each: each.is_baseline)
        kinds = {
            "best, or not told apart": [each for each in standings if not each.is_worse and not each.is_cut_short],
            "worse": [each for each in standings if each.is_worse],
            "cut short by the time limit": [each for each in standings if each.is_cut_short],
            "baseline": [each for each in standings if each.is_baseline and not each.is_cut_short],
        }
        shown = {name: _mark(each[0], ax.get_facecolor()) for name, each in kinds.items() if each}
        handles = [Line2D([], [], **mark) for mark in shown.values()]
        if handles:
            add_legend(ax, handles, list(shown), columns=3)


def _colour(standing: Standing) -> str:
    return PALETTE["grey" if standing.is_baseline else "blue"]


def _mark(standing: Standing, paper: Any) -> dict[str, Any]:
    colour = _colour(standing)
    return {
        "marker": "x" if standing.is_cut_short else "s" if standing.is_baseline else "o",
        "markersize": 7,
        "color": colour,
        "markeredgewidth": 1.6,
        "markerfacecolor": paper if standing.is_worse else colour,
        "linestyle": "none",
    }
