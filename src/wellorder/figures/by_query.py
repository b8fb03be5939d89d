"""Query by query: where one method is ahead of another, and by how much."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..evaluation import by_query
from ..metrics import parse
from .style import PALETTE, WIDTH, Drawable, axes_for, ink, plain, quieten

_MOST_STEPS = 400
"""With more queries than this, the picture shows only some of them, as it has no room for more."""


class ByQueryDisplay(Drawable):
    """The difference of two methods on each query, sorted: above the line the first is ahead, below it the second.

    Parameters
    ----------
    one, other : mapping of query to value
        What each method reaches, as from :func:`wellorder.evaluation.queries`; queries where one is not defined are
        left out.
    names : two texts
    metric : str
        What the values are.
    greater_is_better : bool, default=True

    Attributes
    ----------
    ahead : dict
        How far the first is ahead on each query, the most first.
    ax_, figure_, areas_
        What was drawn, after :meth:`plot`.

    Examples
    --------
    >>> import wellorder as wo
    >>> display = wo.plot.ByQueryDisplay({"a": 0.9, "b": 0.5}, {"a": 0.7, "b": 0.6}, ("svm", "ridge"), "ndcg@10")
    >>> [(query, round(gain, 2)) for query, gain in display.ahead.items()]
    [('a', 0.2), ('b', -0.1)]
    """

    def __init__(
        self,
        one: Mapping[Hashable, float],
        other: Mapping[Hashable, float],
        names: tuple[str, str],
        metric: str,
        *,
        greater_is_better: bool = True,
    ) -> None:
        sign = 1.0 if greater_is_better else -1.0
        gains = {query: sign * (value - other[query]) for query, value in one.items() if query in other}
        known = {query: gain for query, gain in gains.items() if np.isfinite(gain)}
        if not known:
            raise ValueError("there is no query on which both are defined")
        self.ahead = dict(sorted(known.items(), key=lambda entry: -entry[1]))
        self.names, self.metric = names, metric

    @classmethod
    def from_predictions(
        cls,
        metric: str,
        y: Any,
        scores: Any,
        other_scores: Any,
        groups: Any,
        *,
        names: tuple[str, str] = ("a", "b"),
        ax: Axes | None = None,
    ) -> ByQueryDisplay:
        """Take grades, the scores of two methods, and the query of each row."""
        measure = parse(metric)
        one, other = (by_query(measure, y, each, groups) for each in (scores, other_scores))
        return cls(one, other, names, str(measure), greater_is_better=measure.greater_is_better)._on(ax)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, 2.9

    def plot(self, ax: Axes | None = None) -> ByQueryDisplay:
        """Draw the differences, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="y")
        gain = np.array(list(self.ahead.values()))
        kept = np.unique(np.linspace(0, len(gain) - 1, min(len(gain), _MOST_STEPS)).round().astype(int))
        edges = np.append(kept, len(gain)) + 0.5
        height = np.append(gain[kept], gain[-1])
        self.areas_ = [
            ax.fill_between(edges, part, step="post", color=PALETTE[colour], alpha=0.75, linewidth=0)
            for part, colour in ((np.maximum(height, 0), "blue"), (np.minimum(height, 0), "vermillion"))
        ]
        ax.axhline(0.0, color=ink(), linewidth=0.8)
        ax.set_xlim(0.5, len(gain) + 0.5)
        one, other = (plain(name, 18) for name in self.names)
        if gain[0] > 0:
            ax.text(
                0.98, 0.97, f"above the line: {one} ahead", ha="right", va="top", transform=ax.transAxes, fontsize=9
            )
        if gain[-1] < 0:
            ax.text(0.02, 0.03, f"below: {other} ahead", ha="left", va="bottom", transform=ax.transAxes, fontsize=9)
        for text in ax.texts:
            text.set_parse_math(False)
        ax.set_xlabel("queries, sorted")
        ax.set_ylabel(f"ahead in {plain(self.metric.replace('_', ' '), 22)}", parse_math=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
