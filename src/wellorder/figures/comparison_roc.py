"""The ROC curve of comparisons with ties: differences found in the right direction, against false alarms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..evaluation.curves import comparison_roc_curve
from ..evaluation.records import Curve, Record
from ..scoring import list_scores
from .drawable import Drawable
from .lines import Line, draw_lines, legend_height, lines_of_records, mean_and_spread, one_line
from .style import PALETTE, WIDTH, axes_for, quieten


class ComparisonROCDisplay(Drawable):
    """How many true differences are found, in the right direction, as more ties are called different.

    Parameters
    ----------
    lines : iterable of Line
        The best method first.

    Attributes
    ----------
    ax_, figure_, lines_
        What was drawn, after :meth:`plot`.

    Examples
    --------
    >>> from wellorder.figures import ComparisonROCDisplay
    >>> display = ComparisonROCDisplay.from_predictions([1, 0, -1, 0], [2.0, 0.5, -1.0, 0.0])
    >>> display.lines[0].y.tolist()
    [0.0, 0.5, 1.0, 1.0, 1.0]
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = tuple(lines)

    @classmethod
    def from_predictions(
        cls, y: Any, differences: Any, *, name: str | None = None, ax: Axes | None = None
    ) -> ComparisonROCDisplay:
        """Take outcomes in {−1, 0, 1} and score differences, right less left."""
        return cls([one_line(name, comparison_roc_curve(y, differences))])._on(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, name: str | None = None, ax: Axes | None = None
    ) -> ComparisonROCDisplay:
        """Let a fitted model score the items of Pairs, whose outcomes are y; a table of comparisons brings its own."""
        outcome = X.comparisons.outcome if y is None and hasattr(X, "comparisons") else y
        if outcome is None:
            raise ValueError("give the outcomes as y")
        compared = X.comparisons if hasattr(X, "comparisons") else X
        if not all(hasattr(compared, end) for end in ("left", "right")):
            raise TypeError(
                f"give wellorder.Pairs(items, left, right) or a table of comparisons, got {type(X).__name__}"
            )
        scores = list_scores(estimator, X.items)
        named = type(estimator).__name__ if name is None else name
        return cls.from_predictions(outcome, scores[compared.right] - scores[compared.left], name=named, ax=ax)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> ComparisonROCDisplay:
        """Average each method's curve over its splits; records without such a curve are left out."""
        return cls(lines_of_records(records, "comparison_roc", _average))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, 3.9 + legend_height(self.lines)

    def plot(self, ax: Axes | None = None) -> ComparisonROCDisplay:
        """Draw the lines, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="both")
        ax.plot([0, 1], [0, 0.5], color=PALETTE["grey"], linewidth=1.0, linestyle=(0, (4, 3)))
        ax.text(0.99, 0.37, "random scores", ha="right", va="top", fontsize="small", alpha=0.7)
        self.lines_ = draw_lines(ax, self.lines, markers=False)
        ax.set_xlim(-0.01, 1.01)
        ax.set_ylim(-0.01, 1.01)
        ax.set_xlabel("ties called different")
        ax.set_ylabel("differences found, rightly directed")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _average(method: str, curves: list[Curve]) -> Line:
    """Average over the splits at each share of ties; a vertical step counts with its upper end."""
    grid = np.linspace(0.0, 1.0, 101)
    mean, spread = mean_and_spread(np.array([np.interp(grid, curve.x, curve.y) for curve in curves]))
    return Line(method, np.append(0.0, grid), np.append(0.0, mean), np.append(0.0, spread))
