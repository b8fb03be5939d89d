"""Curves with a light spread, one a method: NDCG at every cut-off, the ROC of comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..evaluation import Curve, Record, comparison_roc_curve, ndcg_curve
from ..scoring import list_scores
from ..sweeps import Floats
from .style import LINES, PALETTE, WIDTH, Drawable, add_legend, axes_for, quieten, scores_of

# --------------------------------------------------------------------------------------------------
# What they share.


FEW = 3
"""Up to this many lines, each has its band; with more, only the first, as the bands would cover each other."""


@dataclass(frozen=True)
class Line:
    """A curve, or the mean of several with their standard deviation."""

    name: str
    x: Floats
    y: Floats
    spread: Floats
    """Zero if there is only one curve."""


def one_line(name: str | None, curve: Curve) -> Line:
    """Make a line of a single curve."""
    x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
    return Line(name or "", x, y, np.zeros(len(x)))


def lines_of_records(
    records: Iterable[Record], kind: str, average: Callable[[str, list[Curve]], Line]
) -> tuple[Line, ...]:
    """Average the curves of each method over its splits, in the order in which the methods come."""
    curves: dict[str, list[Curve]] = {}
    for record in records:
        if record.curve is not None and record.curve.kind == kind and len(record.curve.x):
            curves.setdefault(record.method, []).append(record.curve)
    if not curves:
        raise ValueError(f"none of the records has a curve of the kind {kind!r}")
    return tuple(average(method, parts) for method, parts in curves.items())


def mean_and_spread(values: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the columns, leaving NaN out; NaN where a column has nothing else."""
    there = ~np.isnan(values)
    count = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, values, 0.0).sum(axis=0) / count
    square = np.where(there, (values - mean) ** 2, 0.0).sum(axis=0)
    spread = np.sqrt(square / np.maximum(count - 1, 1))
    return np.where(there.any(axis=0), mean, np.nan), spread


def draw_lines(ax: Axes, lines: Iterable[Line], markers: bool) -> list[Any]:
    """Draw each line with its spread, and name them where there is a name to tell; return the lines."""
    drawn = []
    chosen = list(lines)
    for number, line in enumerate(chosen):
        colour, marker = LINES[number % len(LINES)]
        style = ("-", "--", ":")[(number // len(LINES)) % 3]
        (handle,) = ax.plot(
            line.x,
            line.y,
            style,
            color=PALETTE[colour],
            marker=marker if markers else None,
            markersize=4.5,
            linewidth=2.2 if number == 0 else 1.5,
            zorder=len(chosen) + 2 - number,  # the first one, the best, on top
        )
        if np.any(line.spread > 0) and (number == 0 or len(chosen) <= FEW):
            low, high = (np.clip(line.y + sign * line.spread, 0.0, 1.0) for sign in (-1, 1))
            ax.fill_between(line.x, low, high, color=PALETTE[colour], alpha=0.14, linewidth=0)
        drawn.append(handle)
    if any(line.name for line in chosen):
        add_legend(ax, drawn, [line.name for line in chosen])
    return drawn


def legend_height(lines: Sequence[Line]) -> float:
    """Return how many inches the names of the lines take, in two columns above the picture."""
    return 0.21 * math.ceil(len(lines) / 2) if any(line.name for line in lines) else 0.0


# --------------------------------------------------------------------------------------------------
# NDCG at every cut-off: how good the top of the lists is, at the first place, at the first two and so on.


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
        return cls(lines_of_records(records, "ndcg", _average_ndcg))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, 3.3 + legend_height(self.lines)

    def plot(self, ax: Axes | None = None) -> NDCGCurveDisplay:
        """Draw the lines, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="y")
        self.lines_ = draw_lines(ax, self.lines, markers=True)
        last = max((float(line.x.max(initial=1.0)) for line in self.lines), default=1.0)
        ax.set_xlim(0.7, last + 0.3)
        step = max(1, round(last / 10))
        ax.set_xticks(sorted({1, *range(step, int(last) + 1, step)}))
        ax.set_xlabel("k: how many places from the top")
        ax.set_ylabel("NDCG@k")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _average_ndcg(method: str, curves: list[Curve]) -> Line:
    """Average over the splits at each cut-off; a split with shorter lists does not count further down."""
    cutoffs = sorted({x for curve in curves for x in curve.x})
    values = np.full((len(curves), len(cutoffs)), np.nan)
    for row, curve in zip(values, curves, strict=True):
        row[np.searchsorted(cutoffs, curve.x)] = np.array(curve.y, dtype=float)
    mean, spread = mean_and_spread(values)
    return Line(method, np.asarray(cutoffs), mean, spread)


# --------------------------------------------------------------------------------------------------
# The ROC curve of comparisons with ties: differences found in the right direction, against false alarms.


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
        return cls(lines_of_records(records, "comparison_roc", _average_roc))

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


def _average_roc(method: str, curves: list[Curve]) -> Line:
    """Average over the splits at each share of ties; a vertical step counts with its upper end."""
    grid = np.linspace(0.0, 1.0, 101)
    mean, spread = mean_and_spread(np.array([np.interp(grid, curve.x, curve.y) for curve in curves]))
    return Line(method, np.append(0.0, grid), np.append(0.0, mean), np.append(0.0, spread))
