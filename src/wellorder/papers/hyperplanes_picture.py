"""NDCG over the places for 'multiple hyperplane ranker': a panel a data set and protocol."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

from ..figures.style import PALETTE, STYLE, quieten, save_figure
from .letor import CUTOFFS

if TYPE_CHECKING:
    from .hyperplanes_tables import HyperplaneTables

_DRAWN = ("BM25", "RankSVM", "MHR-BC", "MHR-WBC", "RankBoost", "OrderBoost, trees", "LambdaRank")


def draw(found: HyperplaneTables, path: str | os.PathLike[str]) -> None:
    """Draw a column of panels a data set, a row a protocol."""
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(3.6 * len(found.data), 3.1 * len(found.protocols) + 0.5), layout="constrained")
        panels = figure.subplots(len(found.protocols), len(found.data), squeeze=False, sharex=True, sharey="col")
        for row, protocol in zip(panels, found.protocols, strict=True):
            for ax, data in zip(row, found.data, strict=True):
                quieten(ax, grid="y")
                ax.set_title(f"{data}, {protocol}", fontsize=9.5)
                for colour, method in zip(PALETTE.values(), _DRAWN, strict=True):
                    means = [found.mean(data, protocol, method, f"ndcg@{k}") for k in CUTOFFS]
                    ax.plot(CUTOFFS, means, color=colour, label=method, linewidth=1.4, marker=".")
                ax.set_xticks(np.array(CUTOFFS)[::3])
        for ax in panels[-1]:
            ax.set_xlabel("k: how many places from the top")
        for row in panels:
            row[0].set_ylabel("NDCG@k")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        save_figure(figure, path, dpi=130)
