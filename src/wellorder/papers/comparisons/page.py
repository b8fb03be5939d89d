"""Venuto et al. (2014), Support vector comparison machines: Figures 1 to 6, and what they leave open."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...evaluation import Record
from ...figures import INK, LINES, PALETTE, STYLE, quieten, save_figure
from ...sweeps import Floats
from ..running import PaperPart
from .chess import FILTERS, LEARNED, RATED, areas, chess_lines, run_chess
from .margins import WAYS, margin_lines, run_margins
from .queries import query_lines, run_queries
from .search import SIDE, true_rank
from .sets import DATA, SQUARE, Sets, most_ties_lines, run_most_ties, run_sets

PARTS = {
    "figures-1-2": PaperPart("Figures 1 and 2: when is the LP the QP?", run_margins, margin_lines),
    "figures-3-5": PaperPart(
        "Figures 3 to 5: simulated pairs and sushi", run_sets, lambda records: Sets(records).lines()
    ),
    "sushi-ties": PaperPart("Sushi with nine ties in ten: the solver or the loss?", run_most_ties, most_ties_lines),
    "figure-6": PaperPart("Figure 6: chess", run_chess, chess_lines),
    "mq2008": PaperPart("Pairs of a search engine's documents", run_queries, query_lines),
}
PICTURED = ("figures-1-2", "figures-3-5", "figure-6")

# --------------------------------------------------------------------------------------------------
# The figures on one page.


_TITLES = (
    "Figure 1. Pairs labelled by ‖x‖₂² (arrows point to the better); linear in squares; two hyperplanes of differences",
    "Figure 2. Differences of pairs, the LP's boundaries and the QP's; how often both are one",
    "Figure 3. The simulated pattern: pairs, and level curves of what was learned",
    "Figure 4. Test error against the number of pairs",
    "Figure 5. Test AUC against the share of ties",
    "Figure 6. Chess: test AUC, a dot a window",
)


def picture(found: Mapping[str, Sequence[Record]], path: str | os.PathLike[str]) -> None:
    """Draw a row of panels for each figure."""
    sets = Sets(found["figures-3-5"])
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(10.4, 18.6), layout="constrained")
        rows = np.ravel(np.asarray(figure.subfigures(6, 1, hspace=0.04)))
        for row, title in zip(rows, _TITLES, strict=True):
            row.suptitle(title, fontsize=11.5, x=0.01, ha="left")
        panels = [list(row.subplots(1, n)) for row, n in zip(rows, (3, 3, 4, 4, 4, len(FILTERS)), strict=True)]
        for ax in (ax for axes in panels for ax in axes):
            quieten(ax)
        _draw_spaces(panels[0], _named(found["figures-1-2"], "figure 1"))
        _draw_boundaries(panels[1][:2], _named(found["figures-1-2"], "figure 2"))
        _draw_agreement(panels[1][2], found["figures-1-2"])
        _draw_pattern(panels[2], sets.pattern)
        for axes, kinds, metric in ((panels[3], sets.by_size, "error"), (panels[4], sets.by_share, "auc")):
            for ax, data in zip(axes, DATA, strict=True):
                _draw_lines(ax, sets, data, kinds, metric)
            axes[0].set_ylabel("test error" if metric == "error" else "test AUC")
        handles = panels[3][0].get_legend_handles_labels()
        rows[3].legend(
            *handles, loc="upper right", ncols=len(handles[0]), fontsize=8, handlelength=1.2, columnspacing=1.0
        )
        for ax, (taken, title) in zip(panels[5], FILTERS.items(), strict=True):
            _draw_windows(ax, found["figure-6"], taken)
            ax.set_title(title)
        save_figure(figure, path, dpi=110)


def _named(records: Sequence[Record], data: str) -> Record:
    return next(each for each in records if each.data == data)


def _draw_pairs(ax: Axes, pairs: Floats, outcome: Floats) -> None:
    """Draw ties as segments, others as arrows to the better."""
    left, right, tie = pairs[:, 0], pairs[:, 1], outcome == 0
    segments = np.stack([left[tie], right[tie]], axis=1)
    ax.plot(*segments.transpose(2, 1, 0), color=PALETTE["grey"], linewidth=0.8)
    up = (outcome > 0)[~tie, None]
    start, end = np.where(up, left[~tie], right[~tie]), np.where(up, right[~tie], left[~tie])
    ax.quiver(*start.T, *(end - start).T, angles="xy", scale_units="xy", scale=1.0, width=0.006, color=PALETTE["blue"])


def _draw_differences(ax: Axes, d: Floats, outcome: Floats) -> None:
    """Draw differences to the right item, as they are seen from both sides."""
    for kind, colour in ((outcome != 0, "blue"), (outcome == 0, "grey")):
        ax.plot(*np.concatenate([d[kind], -d[kind]]).T, "o", color=PALETTE[colour], markersize=3)


def _draw_boundary(ax: Axes, w: Sequence[float], colour: str, style: str, label: str) -> None:
    """Draw wᵀd = ±1."""
    normal = np.array(w)
    for side in (-1.0, 1.0):
        at = side * normal / (normal @ normal)
        along = at + np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
        ax.axline(at, along, color=PALETTE[colour], linestyle=style, linewidth=1.3, label=label if side > 0 else None)


def _draw_spaces(axes: list[Axes], record: Record) -> None:
    pairs, outcome = np.array(record.params["pairs"]), np.array(record.params["outcome"])
    grid = _square()
    n = len(grid[0])
    norm = true_rank("‖x‖₂²", np.stack(grid, axis=-1)).reshape(n, n)
    axes[0].contour(*grid, norm, levels=8, colors=PALETTE["grey"], alpha=0.5)
    _draw_pairs(axes[0], pairs, outcome)
    _draw_pairs(axes[1], pairs**2, outcome)
    _draw_differences(axes[2], np.diff(pairs**2, axis=1)[:, 0], outcome)
    _draw_boundary(axes[2], record.params["lp"], "vermillion", "-", "LP")
    _draw_boundary(axes[2], record.params["qp"], "green", "--", "QP")
    for ax, title in zip(axes, ("x", "Φ(x) = (x₁², x₂²)", "Φ(x') − Φ(x)"), strict=True):
        ax.set_title(title)
        ax.set_aspect("equal")


def _draw_boundaries(axes: list[Axes], record: Record) -> None:
    outcome = np.array(record.params["outcome"])
    for ax, way in zip(axes, WAYS, strict=True):
        found: dict[str, Any] = record.params[way]
        _draw_differences(ax, np.array(found["differences"]), outcome)
        lp, qp = found["margins"]
        _draw_boundary(ax, found["lp"], "vermillion", "-", "LP")
        _draw_boundary(ax, found["qp"], "green", "--", "QP")
        ax.set_title(f"{way}: margins {lp:.3f} (LP), {qp:.3f} (QP)", fontsize=9)
    axes[0].legend(fontsize=8, loc="lower right")


def _draw_agreement(ax: Axes, records: Sequence[Record]) -> None:
    """Draw the share of problems with one solution against the number of columns."""
    mine = [each for each in records if each.data == "LP and QP" and each.params["ties"]]
    lines = dict.fromkeys((each.n_train, each.method) for each in mine)
    for (n, way), (colour, marker) in zip(lines, LINES, strict=False):
        line = [each for each in mine if (each.n_train, each.method) == (n, way)]
        x, y = zip(*((each.params["columns"], each.metrics["same"]) for each in line), strict=True)
        ax.plot(x, y, color=PALETTE[colour], marker=marker, markersize=3.5, linewidth=1.2, label=f"{n} pairs, {way}")
    ax.set_xlabel("columns")
    ax.set_title("share with one solution")
    ax.legend(fontsize=8)


def _square() -> tuple[Floats, Floats]:
    side = np.linspace(-SIDE, SIDE, SQUARE)
    x, y = np.meshgrid(side, side)
    return x, y


def _draw_pattern(axes: list[Axes], record: Record) -> None:
    _draw_pairs(axes[0], np.array(record.params["pairs"]), np.array(record.params["outcome"]))
    axes[0].set_title("pairs")
    grid = _square()
    truth = true_rank(record.params["norm"], np.stack(grid, axis=-1))
    for ax, (method, scores) in zip(axes[1:], record.params["levels"].items(), strict=True):
        ax.contour(*grid, truth, levels=6, colors=PALETTE["grey"], alpha=0.5)
        ax.contour(*grid, np.array(scores).reshape(truth.shape), levels=10, cmap="viridis")
        ax.set_title(f"{method} (τ = {record.metrics[method]:.2f})")
    for ax in axes:
        ax.set_aspect("equal")


def _draw_lines(ax: Axes, sets: Sets, data: str, kinds: list[tuple[int, float]], metric: str) -> None:
    """Draw a line a method, with a band of one standard deviation."""
    by_size = metric == "error"
    for method, (colour, marker) in zip(sets.methods, LINES, strict=False):
        values = {kind: sets.values(data, kind, method, metric) for kind in kinds}
        x = np.array([n if by_size else ties for (n, ties), each in values.items() if len(each)], dtype=float)
        mean = np.array([each.mean() for each in values.values() if len(each)])
        spread = np.array([each.std(ddof=1) if len(each) > 1 else 0.0 for each in values.values() if len(each)])
        line = INK if method == "truth" else PALETTE[colour]
        ax.plot(x, mean, color=line, marker=marker, markersize=3.5, linewidth=1.2, label=method)
        ax.fill_between(x, mean - spread, mean + spread, color=line, alpha=0.12, linewidth=0)
    if by_size:
        ax.set_xscale("log")
        ax.set_xticks([n for n, _ in kinds], labels=[f"{n}" for n, _ in kinds])
        ax.minorticks_off()
    ax.set_title(data)
    ax.set_xlabel("pairs" if by_size else "share of ties")


def _draw_windows(ax: Axes, records: Sequence[Record], taken: str) -> None:
    methods = (*LEARNED, *RATED)
    for place, method in enumerate(methods):
        found = areas(records, taken, method)
        found = found[~np.isnan(found)]
        colour = PALETTE["grey" if method == "baseline" else "blue" if method in RATED else "sky"]
        colour = colour if method in RATED or method.endswith("ratings") else PALETTE["vermillion"]
        ax.plot(found, np.full(len(found), place), "o", color=colour, markersize=4, alpha=0.7)
        if len(found):
            ax.plot(found.mean(), place, "|", color=INK, markersize=11, markeredgewidth=1.6)
    ax.set_yticks(range(len(methods)), labels=methods)
    ax.invert_yaxis()
    ax.set_xlabel("test AUC")
