"""Which grades are mixed up: the share of swapped pairs for each two of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ..evaluation import Record, SwapTable, pool_swaps, swap_table
from ..writing import write_percent
from .style import PALETTE, WIDTH, Drawable, axes_for, plain_apart, scores_of, short_count

CHANCE = 0.5
"""The share of swapped pairs of a random order: from here on, the colour has full strength."""

_STRONGEST = 0.62
"""The opacity of the full colour: numbers on it stay readable in dark and light mode."""

_LONGEST = 18
"""The longest name of a grade, in characters."""

_IN_A_LINE = 44
"""How many characters fit above the cells."""

_WIDEST = 3
"""The picture has room for at least this many cells side by side: a single one would look like a poster."""


class SwapsDisplay(Drawable):
    """Grade × grade: of the pairs of a lower and a higher grade, how many stand the wrong way round.

    The number of pairs stands below the share in small print. White is no swap, full colour is one half
    or more: no better than chance.

    Parameters
    ----------
    table : SwapTable

    Attributes
    ----------
    ax_, figure_
        What was drawn on, after :meth:`plot`.
    cells_ : dict
        From (lower, higher) level number to the rectangle.
    texts_ : dict
        From (lower, higher) level number to the share as it was written.

    Examples
    --------
    >>> from wellorder.figures import SwapsDisplay
    >>> display = SwapsDisplay.from_predictions([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9])
    >>> display.table.levels, display.rate(0, 1)
    (('0', '1', '2'), 0.5)
    """

    def __init__(self, table: SwapTable) -> None:
        self.table = table

    @classmethod
    def from_predictions(cls, y: Any, scores: Any, groups: Any = None, *, ax: Axes | None = None) -> SwapsDisplay:
        """Take grades and scores, one a row; more than ten grades are gathered into six bins."""
        return cls(swap_table(y, scores, groups))._on(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, groups: Any = None, *, ax: Axes | None = None
    ) -> SwapsDisplay:
        """Let a fitted estimator score the rows."""
        return cls.from_predictions(y, scores_of(estimator, X, y, groups), groups, ax=ax)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> SwapsDisplay:
        """Add the tables of one method up over its splits; records without one are left out."""
        chosen = [record for record in records if record.swaps is not None]
        methods = sorted({record.method for record in chosen})
        if len(methods) > 1:
            raise ValueError(f"the records are of {len(methods)} methods; give those of one, such as {methods[0]!r}")
        return cls(pool_swaps(record.swaps for record in chosen if record.swaps is not None))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of levels."""
        return WIDTH, 1.0 + 0.5 * max(1, len(self.table.levels) - 1) + (0.55 if self._turned() else 0.0)

    def rate(self, low: int, high: int) -> float:
        """Return the share of swapped pairs of two levels; NaN where there is no pair."""
        total = self.table.total[low][high]
        return self.table.swapped[low][high] / total if total > 0 else math.nan

    def _turned(self) -> bool:
        """Say whether the names above the cells are too long to stand upright beside each other."""
        names = plain_apart(self.table.levels, _LONGEST)
        return max(map(len, names[1:]), default=0) * len(names[1:]) > _IN_A_LINE

    def plot(self, ax: Axes | None = None) -> SwapsDisplay:
        """Draw the table, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        levels, last = self.table.levels, len(self.table.levels) - 1
        self.cells_: dict[tuple[int, int], Rectangle] = {}
        self.texts_: dict[tuple[int, int], str] = {}
        for low in range(last):
            for high in range(low + 1, last + 1):
                self._draw_cell(ax, low, high)
        names = plain_apart(levels, _LONGEST)
        turn = 45 if self._turned() else 0
        ax.set_xticks(range(1, last + 1), labels=names[1:], parse_math=False, rotation=turn)
        ax.set_yticks(range(last), labels=names[:-1], parse_math=False)
        ax.set_xlim(0.48, max(last, _WIDEST) + 0.52)
        ax.set_ylim(last - 0.48, -0.52)
        ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
        for label in ax.get_xticklabels() if turn else []:
            label.set_horizontalalignment("left")
        ax.xaxis.set_label_position("top")
        ax.set_xlabel("higher grade", loc="center" if last >= _WIDEST else "left", labelpad=7)
        ax.set_ylabel("lower grade")
        for spine in ax.spines.values():
            spine.set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_cell(self, ax: Axes, low: int, high: int) -> None:
        rate = self.rate(low, high)
        strength = 0.0 if math.isnan(rate) else _STRONGEST * min(rate / CHANCE, 1.0)
        cell = Rectangle((high - 0.48, low - 0.48), 0.96, 0.96, linewidth=0.6)
        cell.set_facecolor((PALETTE["vermillion"], strength))
        cell.set_edgecolor((PALETTE["grey"], 0.45))
        ax.add_patch(cell)
        many = len(self.table.levels) > 7
        written = write_percent(rate, 0 if many else 1)
        written = written.removesuffix(" %") if many else written
        ax.text(high, low - 0.14, written, ha="center", va="center", fontsize=9 if many else 10.5)
        small = short_count(self.table.total[low][high])
        ax.text(high, low + 0.24, small, ha="center", va="center", fontsize=7 if many else 8, alpha=0.72)
        self.cells_[low, high], self.texts_[low, high] = cell, written
