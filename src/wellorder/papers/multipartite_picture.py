"""Figures 1 to 4 of 'multipartite ranking' on one page."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from ..figures.style import INK, PALETTE, STYLE, quieten, save_figure
from ..sweeps import Floats
from .multipartite_relations import Relation
from .multipartite_simulation import GRID, Curve

if TYPE_CHECKING:
    from .multipartite_tables import Multipartite

_TITLES = {"pairs": "pairwise ranking", "orboost": "ORBoost", "proportional_odds": "proportional odds", "svor": "SVOR"}


def draw(found: Multipartite, path: str | os.PathLike[str]) -> None:
    """Draw a row of panels for each figure."""
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(10.4, 11.2), layout="constrained")
        rows = np.ravel(np.asarray(figure.subfigures(4, 1, hspace=0.04)))
        titles = (
            "Figure 1. Estimated scores (line) and theory (dotted)",
            "Figure 2. What the methods order by, over (p₁, p₂); lighter stands higher",
            "Figure 3. MovieLens, three categories: scores against pairwise ranking's, and theory's line",
            "Figure 4. MovieLens: pairwise ranking with other costs c₁₃ against c₁₃ = 1",
        )
        for row, title in zip(rows, titles, strict=True):
            row.suptitle(title, fontsize=11.5, x=0.01, ha="left")
        for ax, (name, curve) in zip(_panels(rows[0], len(found.curves)), found.curves.items(), strict=True):
            _curve(ax, _TITLES[name], curve)
        _contours(_panels(rows[1], 3))
        against = found.relations.against
        for ax, relation in zip(_panels(rows[2], len(against)), against.values(), strict=True):
            _relation(ax, relation)
        costs = dict(found.relations.by_cost)
        base = costs.pop(1.0)
        for ax, (cost, scores) in zip(_panels(rows[3], len(costs)), costs.items(), strict=True):
            _cloud(ax, base, scores)
            ax.axline((0.0, 0.0), slope=1.0, color=INK, linewidth=0.8, linestyle=":")
            ax.set_xlabel("c₁₃ = 1")
            ax.set_ylabel(f"c₁₃ = {cost:g}")
        save_figure(figure, path, dpi=130)


def _panels(row: SubFigure, n: int) -> list[Axes]:
    axes = row.subplots(1, n)
    for ax in axes:
        quieten(ax)
    return list(axes)


def _curve(ax: Axes, title: str, curve: Curve) -> None:
    ax.plot(GRID, curve.estimate, color=PALETTE["blue"])
    ax.plot(GRID, curve.theory, color=INK, linestyle=":")
    ax.set_title(title)
    ax.set_xlabel("x")


def _contours(axes: list[Axes]) -> None:
    """Draw the level lines of three ratios over the triangle of probabilities."""
    p1, p2 = np.meshgrid(np.linspace(0.005, 0.99, 240), np.linspace(0.005, 0.99, 240))
    p3 = 1.0 - p1 - p2
    inside = p3 > 0.004
    ratios = {
        "(p₂ + p₃)/(p₁ + p₂)": _squashed((p2 + p3) / (p1 + p2)),
        "(p₂ + 2p₃)/(2p₁ + p₂)": _squashed((p2 + 2 * p3) / (2 * p1 + p2)),
        "(1 − 2p₁)/p₂ (Shashua, Levin)": np.arctan((1 - 2 * p1) / p2),
    }
    for ax, (title, ratio) in zip(axes, ratios.items(), strict=True):
        ax.contourf(p1, p2, np.ma.array(ratio, mask=~inside), levels=20, cmap="viridis")
        ax.set_title(title)
        ax.set_xlabel("p₁")
        ax.set_ylabel("p₂")
        ax.set_aspect("equal")


def _squashed(ratio: Floats) -> Floats:
    """Map a ratio to (−1, 1), so that the colours are not spent on the corners."""
    return np.asarray((ratio - 1.0) / (ratio + 1.0))


def _relation(ax: Axes, relation: Relation) -> None:
    _cloud(ax, relation.pairs, relation.scores)
    if relation.line is not None:
        ax.plot(*relation.line, color=INK, linewidth=1.2)
    ax.set_title(relation.title)
    ax.set_xlabel("pairwise ranking")


def _cloud(ax: Axes, x: Floats, y: Floats) -> None:
    ax.plot(x, y, ".", color=PALETTE["sky"], markersize=2, alpha=0.5, rasterized=True)
