"""A paper's values beside ours, with our spread."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import INK, PALETTE, WIDTH, Drawable, add_legend, axes_for, name_rows, quieten, save_figure

_COLOURS = ("blue", "orange", "green", "purple", "sky", "vermillion", "grey")


@dataclass(frozen=True)
class Found:
    """One value of a paper's table, found again."""

    paper: float | None
    mean: float
    spread: float


class AgainstPaperDisplay(Drawable):
    """For each row of a paper's table and each method: the paper's value as a cross, ours as a dot with its spread.

    Parameters
    ----------
    rows : sequence of str
        Such as data sets, from top to bottom.
    methods : mapping of str to sequence of Found
        For each method its values, one a row.
    unit : str
        What the values are.

    Examples
    --------
    >>> from wellorder.figures import AgainstPaperDisplay, Found
    >>> display = AgainstPaperDisplay(["Boston"], {"SwapSVM": [Found(12.37, 11.4, 0.9)]}, "swapped pairs (%)")
    >>> display.plot().get_xlabel()
    'swapped pairs (%)'
    """

    def __init__(self, rows: Sequence[str], methods: Mapping[str, Sequence[Found]], unit: str) -> None:
        self.rows = list(rows)
        self.methods = methods
        self.unit = unit

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, 0.8 + 0.11 * len(self.rows) * (len(self.methods) + 1.5)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw."""
        ax = axes_for(ax, self.size)
        palette = [PALETTE[name] for name in _COLOURS]
        offsets = np.linspace(-0.35, 0.35, len(self.methods)) if len(self.methods) > 1 else np.zeros(1)
        handles = []
        for place, (offset, found) in enumerate(zip(offsets, self.methods.values(), strict=True)):
            colour = palette[place % len(palette)]
            at = np.arange(len(self.rows)) + offset
            means, spreads = ([getattr(each, part) for each in found] for part in ("mean", "spread"))
            handles.append(ax.errorbar(means, at, xerr=spreads, fmt="o", color=colour, markersize=3.5, linewidth=1))
            known = [(each.paper, height) for each, height in zip(found, at, strict=True) if each.paper is not None]
            if known:
                ax.plot(*zip(*known, strict=True), "x", color=INK, markersize=5, zorder=3)
        (cross,) = ax.plot([], [], "x", color=INK)
        name_rows(ax, self.rows)
        quieten(ax, grid="x")
        ax.set_xlabel(self.unit)
        ax.set_xlim(left=0)
        add_legend(ax, [*handles, cross], [*self.methods, "the paper"])
        return ax

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file; its ending says the format."""
        figure = Figure(figsize=self.size, layout="constrained")
        self.plot(figure.add_subplot())
        save_figure(figure, path, dpi=150)
