"""Figure 3 of 'convex hulls': accuracy with its whole range, and run time on a logarithmic scale."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

from ..figures.style import PALETTE, STYLE, quieten, save_figure

if TYPE_CHECKING:
    from .convex_hulls_tables import HullTables


def draw(found: HullTables, path: str | os.PathLike[str]) -> None:
    """Draw both panels, a group of methods a data set."""
    data = list(found.sizes)
    step = 0.8 / len(found.methods)
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(10.4, 7.4), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        for number, (colour, method) in enumerate(zip(PALETTE.values(), found.methods, strict=True)):
            x = np.arange(len(data)) - 0.4 + (number + 0.5) * step
            values = [found.values(each, method) for each in data]
            known = [each[~np.isnan(each)] for each in values]
            drawn = [place for place, each in enumerate(known) if len(each)]
            mean = np.array([known[place].mean() for place in drawn])
            low = mean - [known[place].min() for place in drawn]
            high = [known[place].max() for place in drawn] - mean
            above.errorbar(
                x[drawn], mean, (low, high), fmt="o", markersize=4, color=colour, label=method, linewidth=1.1
            )
            below.plot(
                x[drawn], [found.seconds(data[place], method) for place in drawn], "o", markersize=4, color=colour
            )
        quieten(above, grid="y")
        quieten(below, grid="y")
        above.set_ylabel("Wilcoxon statistic (%): mean and range")
        below.set_ylabel("seconds to fit")
        below.set_yscale("log")
        below.set_xticks(range(len(data)), labels=[each.replace(" ", "\n") for each in data])
        figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        save_figure(figure, path, dpi=130)
