"""One look for every figure, and what all displays share: colours, quiet axes, text that stays text."""

from __future__ import annotations

import io
import os
import re
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import count
from pathlib import Path
from typing import Any, Protocol, Self
from xml.etree import ElementTree

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from ..evaluation import cut, cut_apart
from ..order import Grades
from ..scoring import list_scores, warn_if_groups_are_lost
from ..sweeps import Floats
from ..whole_files import whole_file
from ..writing import TURNS

# --------------------------------------------------------------------------------------------------
# Colours that colour-blind people tell apart, quiet axes, names as plain text.


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
"""The width of every figure in inches: narrow enough to be read on a phone."""

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
"""Settings of matplotlib that hold only while a figure of the report is drawn."""


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
    from matplotlib import pyplot as plt

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
    """Draw the uncertainty of a bar as a thin line."""
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


# --------------------------------------------------------------------------------------------------
# Figures as SVG inside a page: text stays text, and the page's own colours and fonts are used.


FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"
"""Fonts that the reader's own machine has."""

_COLOURS = {INK: "currentColor", PAPER: f"var(--paper, {PAPER})"} | {
    code: f"var(--{name}, {code})" for name, code in PALETTE.items()
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


class Display(Protocol):
    """What can be drawn: it has a size in inches, and draws on axes that it is given."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""

    def plot(self, ax: Axes | None = None) -> object:
        """Draw."""


def to_svg(display: Display, *, name: str, title: str) -> str:
    """Draw a figure and return it as an SVG element for a page.

    The same figure gives the same text. Colours are CSS variables with a fallback (``--blue``, …, and
    ``--paper`` for the page), black is ``currentColor``; so one picture works in light and in dark.

    Parameters
    ----------
    display : any display of this module
    name : str
        Put before every id, so that several figures fit into one page.
    title : str
        What the figure shows, for those who cannot see it.

    Examples
    --------
    >>> from wellorder.figures import SwapsDisplay, to_svg
    >>> display = SwapsDisplay.from_predictions([0, 1, 2], [0.1, 0.5, 0.3])
    >>> svg = to_svg(display, name="swaps", title="Swapped pairs")
    >>> svg.startswith('<svg viewBox="0 0 '), "currentColor" in svg
    (True, True)
    """
    with matplotlib.style.context(["default", STYLE]), warnings.catch_warnings():
        # the reader's browser draws the letters; that matplotlib's own font lacks some is of no account
        warnings.filterwarnings("ignore", message=r"(?s).*[Gg]lyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support .* natively")
        figure = Figure(figsize=display.size, layout="constrained")
        display.plot(ax=figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata=_NO_METADATA)
    return _restyled(ElementTree.fromstring(buffer.getvalue()), name, title)


def _restyled(root: ElementTree.Element, name: str, title: str) -> str:
    """Turn matplotlib's document into an element of a page."""
    for parent in list(root.iter()):
        for child in list(parent):
            # a style sheet would reach the whole page, and the metadata say nothing
            if _local(child.tag) in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.text = (element.text or "").strip("\n ") if element.tag != "text" else element.text
        element.tail = None
        attributes = {_local(key): _in_page(_local(key), value, name) for key, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update(attributes)
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": f"{name}-title",
        "fill": "currentColor",  # what is black has no colour of its own in matplotlib's document
        "font-family": FONTS,
        "stroke-linejoin": "round",
    }
    caption = ElementTree.Element("title", {"id": f"{name}-title"})
    caption.text = plain(title, most=400)
    root.insert(0, caption)
    return ElementTree.tostring(root, encoding="unicode")


def _local(name: str) -> str:
    """Drop the namespace, as an SVG inside a page needs none."""
    return name.rpartition("}")[2]


def _in_page(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return value.replace("#", f"#{name}-", 1)
    if key == "clip-path":
        return value.replace("url(#", f"url(#{name}-", 1)
    if key == "d":
        return " ".join(re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.2f}", value).split())
    if key == "style":
        value = re.sub(r"font-family:[^;]*;?\s*|font:\s*[^;]*?(\d[\d.]*px)[^;]*", _only_size, value)
        return re.sub("#[0-9a-f]{6}", lambda code: _COLOURS.get(code[0], code[0]), value).rstrip("; ")
    return value


def _only_size(match: re.Match[str]) -> str:
    """Keep the size of a font and leave its family to the page."""
    return f"font-size: {match[1]}" if match[1] else ""


# --------------------------------------------------------------------------------------------------
# What all displays have in common: drawn at once on axes that are given, shown by a notebook where none are.


_NUMBERS = count(1)


class Drawable:
    """A display that a notebook shows as a picture, in the colours of its page, unless it was drawn already."""

    def _repr_html_(self) -> str | None:
        if hasattr(self, "ax_"):
            return None  # pyplot shows it, or whoever gave the axes
        display: Any = copy(self)  # itself it stays undrawn, to be shown again
        name = type(self).__name__
        svg = to_svg(display, name=f"{name}-{next(_NUMBERS)}", title=name.removesuffix("Display"))
        return f'<div style="max-width: {96 * display.size[0]:.0f}px">{svg}</div>'

    def _on(self, ax: Axes | None) -> Self:
        """Draw on axes, if there are any."""
        if ax is not None:
            display: Any = self
            display.plot(ax)
        return self


# --------------------------------------------------------------------------------------------------
# What a fitted estimator says of rows.


def scores_of(estimator: Any, X: Any, y: Any, groups: Any) -> Floats:
    """Return a score a row: the estimator's own, or its prediction where it is a regression.

    The groups are those of the grades, where these bring their own.
    """
    if not hasattr(estimator, "decision_function") and not hasattr(estimator, "predict"):
        raise ValueError(f"{type(estimator).__name__} has neither decision_function nor predict; give a fitted model")
    lists = y.group if isinstance(y, Grades) else groups
    warn_if_groups_are_lost(estimator, lists, "pass groups=, or wo.Grades(y, groups) as y", depth=2)
    scores = np.asarray(list_scores(estimator, X, lists), dtype=float)
    if scores.ndim != 1:
        raise ValueError(f"{type(estimator).__name__} gives {scores.shape} scores; an ordering needs one score a row")
    return scores
