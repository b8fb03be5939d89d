"""Figures as SVG inside a page: text stays text, and the page's own colours and fonts are used."""

from __future__ import annotations

import io
import re
import warnings
from typing import Protocol
from xml.etree import ElementTree

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import INK, PALETTE, PAPER, STYLE, plain

FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"
"""What the reader's own machine has."""

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
    """Drop the namespace: inside a page, an SVG needs none."""
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
