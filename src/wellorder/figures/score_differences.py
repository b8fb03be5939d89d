"""What a difference of scores is worth: how often the higher of two is the better, by how far they are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from ..order import Comparisons, Grades, draw_pairs, refuse_beside
from ..sweeps import Floats
from .drawable import Drawable
from .pair_calibration import Reliability, number_bins
from .scores import scores_of
from .style import PALETTE, WIDTH, axes_for, quieten

N_BINS = 12
_MOST_PAIRS = 200_000


class ScoreDifferencesDisplay(Drawable):
    """Pairs gathered by the difference of their scores: how many of each bin stand the right way round.

    Differences are in standard deviations of all scores. A curve that starts at one half and rises says that close
    scores are a toss and far ones can be trusted. A pair of equal scores is half right.

    Parameters
    ----------
    distances : array of shape (m,)
        How far the two scores of each pair are apart, not negative.
    right : array of shape (m,)
        1 where the higher score is the better one's, 0 where not, ½ for equal scores.
    n_bins : int, default=12

    Attributes
    ----------
    bins : Reliability
        ``predicted`` is the mean difference, ``observed`` the share of pairs in the right order.
    ax_, figure_, line_
        What was drawn, after :meth:`plot`.

    Examples
    --------
    >>> import wellorder as wo
    >>> display = wo.plot.ScoreDifferencesDisplay([0.1, 0.2, 1.0, 2.0], [0, 1, 1, 1], n_bins=2)
    >>> display.bins.observed.tolist()
    [0.5, 1.0]
    """

    def __init__(self, distances: Any, right: Any, n_bins: int = N_BINS) -> None:
        distance, is_right = np.asarray(distances, dtype=float), np.asarray(right, dtype=float)
        if not len(distance):
            raise ValueError("there is no pair of different grades, so there is nothing to be right about")
        place = number_bins(distance, n_bins)
        count = np.bincount(place).astype(float)
        self.bins = Reliability("", np.bincount(place, distance) / count, np.bincount(place, is_right) / count, count)

    @classmethod
    def from_predictions(
        cls, y: Any, scores: Any, groups: Any = None, *, n_bins: int = N_BINS, seed: int = 0, ax: Axes | None = None
    ) -> ScoreDifferencesDisplay:
        """Take grades and scores, one a row, or comparisons and the score of each item; many pairs are drawn from."""
        values = np.asarray(scores, dtype=float)
        spread = float(np.std(values)) or 1.0
        if isinstance(y, Comparisons):
            refuse_beside(y, groups=groups)
            pairs = y.to_pairs(len(values))
        else:
            if isinstance(y, Grades):
                refuse_beside(y, groups=groups)
            listed = (y if isinstance(y, Grades) else Grades(y, groups)).pairs
            most = max(1, _MOST_PAIRS // max(len(listed.active), 1))
            pairs = draw_pairs(listed, min(most, 100), np.random.default_rng(seed))
        return cls.from_differences((values[pairs.high] - values[pairs.low]) / spread, n_bins=n_bins)._on(ax)

    @classmethod
    def from_differences(cls, differences: Any, *, n_bins: int = N_BINS) -> ScoreDifferencesDisplay:
        """Take the score of the better less that of the worse, one a pair."""
        d: Floats = np.asarray(differences, dtype=float)
        return cls(np.abs(d), np.where(d == 0, 0.5, d > 0), n_bins)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, groups: Any = None, *, n_bins: int = N_BINS, ax: Axes | None = None
    ) -> ScoreDifferencesDisplay:
        """Let a fitted estimator score the rows."""
        return cls.from_predictions(y, scores_of(estimator, X, y, groups), groups, n_bins=n_bins, ax=ax)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, 3.3

    def plot(self, ax: Axes | None = None) -> ScoreDifferencesDisplay:
        """Draw the line, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="y")
        ax.axhline(0.5, color=PALETTE["grey"], linewidth=1.0, linestyle=(0, (4, 3)))
        ax.text(
            1.0, 0.49, "a coin", ha="right", va="top", fontsize="small", alpha=0.7, transform=ax.get_yaxis_transform()
        )
        (self.line_,) = ax.plot(
            self.bins.predicted, self.bins.observed, color=PALETTE["blue"], marker="o", markersize=5, linewidth=2.0
        )
        ax.set_xlim(left=0.0)
        ax.set_ylim(min(0.4, float(self.bins.observed.min()) - 0.05), 1.02)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        ax.set_xlabel("difference of the two scores (standard deviations)")
        ax.set_ylabel("the higher one is better")
        self.ax_, self.figure_ = ax, ax.figure
        return self
