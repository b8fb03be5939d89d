"""What all displays have in common: drawn at once on axes that are given, shown by a notebook where none are."""

from __future__ import annotations

from copy import copy
from itertools import count
from typing import Any, Self

from matplotlib.axes import Axes

from .svg import to_svg

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
