"""NDCG at every cut-off: how good the top of the lists is, at the first place, at the first two and so on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..evaluation.curves import ndcg_curve
from ..evaluation.records import Curve, Record
from .drawable import Drawable
from .lines import Line, draw_lines, legend_height, lines_of_records, mean_and_spread, one_line
from .scores import scores_of
from .style import WIDTH, axes_for, quieten


class NDCGCurveDisplay(Drawable):
    """NDCG@k over k, one line a method; the light band is one standard deviation over the splits.

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
    >>> import wellorder as wo
    >>> from wellorder.figures import NDCGCurveDisplay
    >>> display = NDCGCurveDisplay.from_predictions([0, 1, 2], [0.1, 0.9, 0.5], k=2)
    >>> display.lines[0].y.round(3).tolist()
    [0.333, 0.797]
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = tuple(lines)

    @classmethod
    def from_predictions(
        cls, y: Any, scores: Any, groups: Any = None, *, k: int = 10, name: str | None = None, ax: Axes | None = None
    ) -> NDCGCurveDisplay:
        """Take grades (not negative) and scores, one a row."""
        return cls([one_line(name, ndcg_curve(y, scores, groups, k))])._on(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        groups: Any = None,
        *,
        k: int = 10,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> NDCGCurveDisplay:
        """Let a fitted estimator score the rows."""
        named = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, scores_of(estimator, X, y, groups), groups, k=k, name=named, ax=ax)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> NDCGCurveDisplay:
        """Average each method's curve over its splits; records without such a curve are left out."""
        return cls(lines_of_records(records, "ndcg", _average))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, 3.3 + legend_height(self.lines)

    def plot(self, ax: Axes | None = None) -> NDCGCurveDisplay:
        """Draw the lines, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="y")
        self.lines_ = draw_lines(ax, self.lines, markers=True)
        last = max((line.x.max(initial=1.0) for line in self.lines), default=1.0)
        ax.set_xlim(0.7, last + 0.3)
        step = max(1, round(last / 10))
        ax.set_xticks(sorted({1, *range(step, int(last) + 1, step)}))
        ax.set_xlabel("k: how many places from the top")
        ax.set_ylabel("NDCG@k")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _average(method: str, curves: list[Curve]) -> Line:
    """Average over the splits at each cut-off; a split whose lists are shorter has no say further down."""
    cutoffs = sorted({x for curve in curves for x in curve.x})
    values = np.full((len(curves), len(cutoffs)), np.nan)
    for row, curve in zip(values, curves, strict=True):
        row[np.searchsorted(cutoffs, curve.x)] = np.array(curve.y, dtype=float)
    mean, spread = mean_and_spread(values)
    return Line(method, np.asarray(cutoffs), mean, spread)
