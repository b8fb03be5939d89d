"""Records to one picture: seconds against rows, both axes logarithmic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from wellorder.figures.style import LINES, PALETTE, PAPER, STYLE, WIDTH, add_legend, quieten

from .lines import Race

_SHOWN = (
    "wellorder",
    "liblinear-ranksvm",
    "scikit-survival",
    "linear-svc-drawn-pairs",
    "ridge",
    "lightgbm",
    "xgboost-pairwise",
)
_PANELS = {"levels": "one list, five levels", "continuous": "one list, continuous grades"}


def draw(found: list[Race], path: Path) -> None:
    """Draw the two families of one list below each other; hollow marks were measured elsewhere."""
    style: Any = STYLE
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(WIDTH, 7.0), layout="constrained")
        panels = figure.subplots(2, 1, sharex=True)
        handles: dict[str, object] = {}
        for ax, (family, title) in zip(panels, _PANELS.items(), strict=True):
            handles |= _panel(ax, [race for race in found if race.workload.family == family])
            ax.set_ylabel("seconds")
            ax.text(0.98, 0.04, title, transform=ax.transAxes, ha="right")
        shown = [method for method in _SHOWN if method in handles]
        if shown:
            add_legend(panels[0], [handles[method] for method in shown], shown)
        panels[-1].set_xlabel("rows, of 50 columns")
        figure.savefig(path, dpi=160)


def _panel(ax: Axes, found: list[Race]) -> dict[str, object]:
    ax.set_xscale("log")
    ax.set_yscale("log")
    quieten(ax, "both")
    handles: dict[str, object] = {}
    for (colour, marker), method in zip(LINES, _SHOWN, strict=True):
        points = sorted(
            (race.workload.sizes["n"], line.seconds, line.measured_there is not None)
            for race in found
            for line in race.lines
            if line.method == method and line.seconds is not None
        )
        if not points:
            continue
        x, y, hollow = zip(*points, strict=True)
        (handles[method],) = ax.plot(
            x,
            y,
            color=PALETTE[colour],
            marker=marker,
            markersize=5.5,
            linewidth=2.2 if method == "wellorder" else 1.2,
            linestyle="--" if any(hollow) else "-",
            markerfacecolor=PAPER if any(hollow) else PALETTE[colour],
        )
    return handles
