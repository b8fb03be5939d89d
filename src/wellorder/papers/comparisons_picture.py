"""Figures 3 to 6 of 'support vector comparison machines' on one page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..figures.style import INK, LINES, PALETTE, STYLE, quieten, save_figure
from .chess import FILTERS, LEARNED, RATED

if TYPE_CHECKING:
    from .comparisons_tables import ComparisonFigures, Pattern

_TITLES = (
    "Figure 3. The simulated pattern: pairs (arrows point to the better), and level curves of what was learned",
    "Figure 4. Test error against the number of pairs",
    "Figure 5. Test AUC against the share of ties",
    "Figure 6. Chess: test AUC, a dot a window",
)


def draw(found: ComparisonFigures, path: str | os.PathLike[str]) -> None:
    """Draw a row of panels for each figure."""
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(10.4, 12.4), layout="constrained")
        rows = np.ravel(np.asarray(figure.subfigures(4, 1, hspace=0.04)))
        for row, title in zip(rows, _TITLES, strict=True):
            row.suptitle(title, fontsize=11.5, x=0.01, ha="left")
        panels = [list(row.subplots(1, n)) for row, n in zip(rows, (4, 4, 4, len(FILTERS)), strict=True)]
        for axes in panels:
            for ax in axes:
                quieten(ax)
        _draw_pattern(panels[0], found.pattern)
        by_size = [(n, found.plan.ties) for n in found.plan.sizes]
        by_share = [(found.plan.size, share) for share in found.plan.shares]
        for axes, cells, criterion in ((panels[1], by_size, "error"), (panels[2], by_share, "auc")):
            for ax, data in zip(axes, found.data, strict=True):
                _draw_lines(ax, found, data, cells, criterion)
        panels[1][0].set_ylabel("test error")
        rows[1].legend(
            *panels[1][0].get_legend_handles_labels(), loc="upper right", ncols=len(found.methods), fontsize=9
        )
        panels[2][0].set_ylabel("test AUC")
        for ax, (taken, title) in zip(panels[3], FILTERS.items(), strict=True):
            _draw_windows(ax, found, taken)
            ax.set_title(title)
        save_figure(figure, path, dpi=130)


def _draw_pattern(axes: list[Axes], pattern: Pattern) -> None:
    left, right = pattern.train.pairs[:, 0], pattern.train.pairs[:, 1]
    tie, y = pattern.train.outcome == 0, pattern.train.outcome
    ax = axes[0]
    segments = np.stack([left[tie], right[tie]], axis=1)
    ax.plot(*segments.transpose(2, 1, 0), color=PALETTE["grey"], linewidth=0.8)
    up = (y > 0)[~tie, None]
    start, end = np.where(up, left[~tie], right[~tie]), np.where(up, right[~tie], left[~tie])
    arrows = end - start
    ax.quiver(*start.T, *arrows.T, angles="xy", scale_units="xy", scale=1.0, width=0.006, color=PALETTE["blue"])
    ax.set_title("pairs")
    n = len(pattern.side)
    for ax, (method, scores) in zip(axes[1:], pattern.levels.items(), strict=True):
        levels = scores.reshape(n, n)
        ax.contour(pattern.side, pattern.side, pattern.truth.reshape(n, n), levels=6, colors=PALETTE["grey"], alpha=0.5)
        ax.contour(pattern.side, pattern.side, levels, levels=10, cmap="viridis")
        ax.set_title(f"{method} (τ = {pattern.tau(method):.2f})")
    for ax in axes:
        ax.set_aspect("equal")


def _draw_lines(ax: Axes, found: ComparisonFigures, data: str, cells: list[tuple[int, float]], criterion: str) -> None:
    """Draw a line a method, with a band of one standard deviation."""
    by_size = criterion == "error"
    x = np.array([n if by_size else ties for n, ties in cells], dtype=float)
    for method, (colour, marker) in zip(found.methods, LINES, strict=False):
        values = [found.values(data, n, ties, method, criterion) for n, ties in cells]
        if not all(len(each) for each in values):
            continue
        mean = np.array([each.mean() for each in values])
        spread = np.array([each.std(ddof=1) if len(each) > 1 else 0.0 for each in values])
        line = INK if method == "truth" else PALETTE[colour]
        ax.plot(x, mean, color=line, marker=marker, markersize=3.5, linewidth=1.2, label=method)
        ax.fill_between(x, mean - spread, mean + spread, color=line, alpha=0.12, linewidth=0)
    if by_size:
        ax.set_xscale("log")
        ax.set_xticks(x, labels=[f"{each:g}" for each in x])
        ax.minorticks_off()
    ax.set_title(data)
    ax.set_xlabel("pairs" if by_size else "share of ties")


def _draw_windows(ax: Axes, found: ComparisonFigures, taken: str) -> None:
    methods = (*LEARNED, *RATED)
    for place, method in enumerate(methods):
        areas = found.windows(taken, method)
        areas = areas[~np.isnan(areas)]
        colour = PALETTE["grey" if method == "baseline" else "blue" if method in RATED else "sky"]
        colour = colour if method in RATED or method.endswith("ratings") else PALETTE["vermillion"]
        ax.plot(areas, np.full(len(areas), place), "o", color=colour, markersize=4, alpha=0.7)
        if len(areas):
            ax.plot(areas.mean(), place, "|", color=INK, markersize=11, markeredgewidth=1.6)
    ax.set_yticks(range(len(methods)), labels=methods)
    ax.invert_yaxis()
    ax.set_xlabel("test AUC")
