"""One look for every figure: colours that colour-blind people tell apart, quiet axes, names as plain text."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from ..evaluation.short_names import cut, cut_apart
from ..whole_files import whole_file
from ..writing import TURNS

PALETTE = {
    "blue": "#0072b2",
    "vermillion": "#d55e00",
    "green": "#009e73",
    "purple": "#cc79a7",
    "sky": "#56b4e9",
    "orange": "#e69f00",
    "grey": "#7f8790",
}
"""Okabe and Ito's colours, told apart by nearly everyone; their yellow is too pale for lines."""

LINES = tuple(
    zip(
        ("blue", "vermillion", "green", "purple", "sky", "orange", "grey"),
        ("o", "s", "D", "^", "v", "P", "X"),
        strict=True,
    )
)
"""Colour and marker of the first line, the second, …: never the colour alone."""

PAPER = "#ffffff"
"""The colour of the page, for the inside of hollow marks."""

INK = "#000000"
"""The colour of the text."""

WIDTH = 5.2
"""Of every figure, in inches: narrow enough to be read on a phone."""

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "axes.labelsize": 10.0,
    "axes.titlesize": 11.5,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "legend.fontsize": 9.5,
    "legend.frameon": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.facecolor": PAPER,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "svg.fonttype": "none",
    "svg.hashsalt": "wellorder",
}
"""What figures of the report set, for the time of drawing only."""


def plain(text: object, most: int = 30) -> str:
    """Make a name fit to be drawn: one line, no control characters, at most so many characters.

    Examples
    --------
    >>> from wellorder.figures import plain
    >>> plain("residual sugar, grams in each litre", most=20)
    'residual sugar, gra…'
    """
    return cut(_in_one_line(text), most)


def plain_apart(texts: Iterable[object], most: int = 30) -> list[str]:
    """Make names fit to be drawn beside each other: as :func:`plain`, but those that differ look different.

    Examples
    --------
    >>> from wellorder.figures.style import plain_apart
    >>> plain_apart(["hours worked a week in 2019", "hours worked a week in 2020"], most=16)
    ['hours…in 2019', 'hours…in 2020']
    """
    return cut_apart([_in_one_line(text) for text in texts], most)


def _in_one_line(text: object) -> str:
    return " ".join(legible(str(text)).split())


def legible(text: str) -> str:
    r"""Replace the characters that no page may hold, or that would turn the text around them.

    Examples
    --------
    >>> from wellorder.figures import legible
    >>> legible("bell\x07, tab\t")
    'bell�, tab\t'
    """
    return "".join("\N{REPLACEMENT CHARACTER}" if _breaks_a_page(char) else char for char in text)


def _breaks_a_page(char: str) -> bool:
    """Whether a character is not allowed in XML, or would turn the letters around it."""
    return (unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r") or char in TURNS + "\ufffe\uffff"


def save_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: int) -> None:
    """Write a figure to a file, whole or not at all; its ending says the format, and without one it is PNG."""
    with whole_file(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower() or "png", dpi=dpi)


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes to draw on: the given ones, or those of a new pyplot figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt  # only here: it chooses a window system, which a report does not need

    return plt.subplots(figsize=size, layout="constrained")[1]


def ink() -> str:
    """Return the colour of text, as the caller's own settings have it."""
    return str(matplotlib.rcParams["text.color"])


def quieten(ax: Axes, grid: str | None = None) -> None:
    """Take away what carries no information: the frame above and to the right, strong grid lines."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if grid is not None:
        ax.grid(axis=grid, color=PALETTE["grey"], alpha=0.25, linewidth=0.6)  # type: ignore[arg-type]
        ax.set_axisbelow(True)


def signed_bars(ax: Axes, lengths: Sequence[float]) -> BarContainer:
    """Draw bars from zero, the first on top, in one colour to the right and in another to the left."""
    colours = [PALETTE["blue" if length >= 0 else "vermillion"] for length in lengths]
    ax.axvline(0.0, color=ink(), linewidth=0.8)
    return ax.barh(range(len(lengths)), lengths, height=0.62, color=colours, alpha=0.75)


def whisker(ax: Axes, row: int, low: float, high: float) -> None:
    """Draw how far a bar may be off."""
    ax.plot([low, high], [row, row], color=ink(), linewidth=1.1, alpha=0.75)


def name_rows(ax: Axes, names: list[str], most: int = 30) -> None:
    """Write names beside the rows of a figure, the first on top, whatever characters they hold."""
    ax.set_yticks(range(len(names)), labels=plain_apart(names, most), parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def add_legend(ax: Axes, handles: list[Any], names: list[str], columns: int = 2) -> Legend:
    """Add a legend above the picture, where no line can be; names are drawn as they are, and none is hidden."""
    legend = ax.legend(
        handles,
        ["name"] * len(names),  # a leading underscore in the real one would drop the entry
        loc="lower left" if columns == 2 else "lower right",
        bbox_to_anchor=(-0.02 if columns == 2 else 1.0, 1.0),
        ncols=min(columns, len(names)),
        frameon=False,
        handlelength=2.2 if columns == 2 else 1.4,
        labelspacing=0.3,
        columnspacing=1.6,
        borderaxespad=0.4,
    )
    for text, name in zip(legend.get_texts(), plain_apart(names, most=24 if columns > 2 else 27), strict=True):
        text.set_parse_math(False)
        text.set_text(name)
    return legend


def short_count(count: float) -> str:
    """Write a count in four characters or so.

    Examples
    --------
    >>> from wellorder.figures.style import short_count
    >>> [short_count(count) for count in (7, 950, 1234, 56_789, 3.4e6)]
    ['7', '950', '1.2k', '57k', '3.4M']
    """
    for unit in ("", "k", "M", "G"):
        if count < 999.5:
            return f"{count:.0f}{unit}" if not unit or count >= 9.95 else f"{count:.1f}{unit}"
        count /= 1000
    return f"{count:.0f}T"
