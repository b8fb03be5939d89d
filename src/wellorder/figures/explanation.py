"""Why one item stands above another: what each feature adds to the difference of their scores."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes

from ..evaluation import Contribution, Explanation, explain, write_value
from ..writing import counted
from .style import WIDTH, Drawable, axes_for, name_rows, plain, plain_apart, quieten, signed_bars, whisker

MOST_FEATURES = 12
"""More bars than this are hard to read: the remaining features share one bar."""


class ExplanationDisplay(Drawable):
    """The contributions of features as bars: to the right those that speak for a, to the left those for b.

    Beside each bar stand the feature and its values in a and in b; a thin line is one standard error to either side
    of an estimate.

    Parameters
    ----------
    explanation : Explanation

    Attributes
    ----------
    shown : tuple of Contribution
        What is drawn, the largest first; beyond twelve features the last is the sum of all others.
    ax_, figure_, bars_
        What was drawn, after :meth:`plot`.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    >>> ranker = wo.RankSVM().fit(X, [0, 1, 2])
    >>> display = wo.plot.ExplanationDisplay.from_explanation(wo.explain(ranker, X[2], X[0]))
    >>> [part.feature for part in display.shown]
    ['x0', 'x1']
    """

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation
        moving = [part for part in explanation.contributions if part.contribution != 0]
        if len(moving) > MOST_FEATURES + 1:
            rest = moving[MOST_FEATURES:]
            others = Contribution(counted(len(rest), "other"), None, None, math.fsum(c.contribution for c in rest))
            moving = [*moving[:MOST_FEATURES], others]
            self._n_named = MOST_FEATURES
        else:
            self._n_named = len(moving)
        self.shown = tuple(moving)

    @classmethod
    def from_explanation(cls, explanation: Explanation) -> ExplanationDisplay:
        """Take what :func:`wellorder.explain` has found."""
        return cls(explanation)

    @classmethod
    def from_estimator(
        cls, estimator: Any, a: Any, b: Any, *, ax: Axes | None = None, **options: Any
    ) -> ExplanationDisplay:
        """Explain two items by a fitted model; the options are those of :func:`wellorder.explain`."""
        return cls(explain(estimator, a, b, **options))._on(ax)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of bars."""
        return WIDTH, 1.05 + 0.31 * max(2, len(self.shown))

    def plot(self, ax: Axes | None = None) -> ExplanationDisplay:
        """Draw the bars, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="x")
        found = self.explanation
        self.bars_ = signed_bars(ax, [part.contribution for part in self.shown])
        for row, part in enumerate(self.shown):
            if part.standard_error > 0:
                whisker(ax, row, part.contribution - part.standard_error, part.contribution + part.standard_error)
            self._write(ax, row, part)
        ax.margins(x=0.28)
        ax.locator_params(axis="x", nbins=5)  # small numbers have long names
        name_rows(ax, self._names(), most=40)
        a, b = plain(found.a, 16), plain(found.b, 16)
        # to the right: names may need the room below the features
        ax.set_xlabel(f"← for {b}  |  for {a} →  (all: {found.write(found.difference)})", parse_math=False, loc="right")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _names(self) -> list[str]:
        """Name the bars: the feature, and its values in a and in b."""
        named = self.shown[: self._n_named]
        short = plain_apart((part.feature for part in named), 18)
        values = (f"{_short(part.a)} | {_short(part.b)}" for part in named)
        return [f"{name}: {both}" for name, both in zip(short, values, strict=True)] + [
            part.feature for part in self.shown[self._n_named :]
        ]

    def _write(self, ax: Axes, row: int, part: Contribution) -> None:
        """Write a contribution at the end of its bar, beyond the line of its error."""
        side = 1 if part.contribution >= 0 else -1
        ax.annotate(
            self.explanation.write(part.contribution),
            (part.contribution + side * part.standard_error, row),
            xytext=(3 * side, 0),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center",
            fontsize=8.5,
        )


def _short(value: float | str | None) -> str:
    return plain(write_value(value), 8)
