"""What differences of scores are worth: how often the higher is the better, and how true their probabilities are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from ..order import Comparisons, Grades, draw_pairs, refuse_beside
from ..scoring import WHO_GIVES_PROBABILITIES
from ..sweeps import Array, Floats
from .style import LINES, PALETTE, WIDTH, Drawable, add_legend, axes_for, quieten, scores_of

# --------------------------------------------------------------------------------------------------
# Whether probabilities of outcomes are what happens: predicted against observed, in bins.


N_CALIBRATION_BINS = 10


@dataclass(frozen=True)
class CalibrationBins:
    """Predictions gathered into bins of about equally many: what was predicted on average, and what happened."""

    name: str
    predicted: Floats
    observed: Floats
    count: Floats


def reliability(name: str, happened: Any, probability: Any, n_bins: int = N_CALIBRATION_BINS) -> CalibrationBins:
    """Bin predictions by their size; equal ones share a bin.

    Examples
    --------
    >>> from wellorder.figures.differences import reliability
    >>> found = reliability("rain", [0, 0, 1, 1], [0.1, 0.1, 0.6, 0.8], n_bins=2)
    >>> found.predicted.round(2).tolist(), found.observed.tolist(), found.count.tolist()
    ([0.1, 0.7], [0.0, 1.0], [2.0, 2.0])
    """
    p, event = np.asarray(probability, dtype=float), np.asarray(happened, dtype=float)
    if not len(p):
        raise ValueError("there is no prediction to be judged")
    place = number_bins(p, n_bins)
    count = np.bincount(place).astype(float)
    return CalibrationBins(name, np.bincount(place, p) / count, np.bincount(place, event) / count, count)


def number_bins(values: Floats, n_bins: int) -> Array:
    """Give each value the number of its bin, 0, 1, …; bins hold about equally many, and equal values share one."""
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} makes no bins; give a whole number, at least 1")
    _, number, count = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(count) - 0.5 * count) / len(values)
    wanted = np.minimum((n_bins * middle).astype(int), n_bins - 1)
    return np.asarray(np.unique(wanted, return_inverse=True)[1].reshape(-1)[number.reshape(-1)])


class PairCalibrationDisplay(Drawable):
    """For comparisons predicted with about the same probability, how often it came so; on the diagonal all is well.

    'better' are both directions together: that the right item wins, and that the left one does. 'tie' is drawn
    where there are ties. A line without a bend away from the diagonal can be taken at its word.

    Parameters
    ----------
    parts : iterable of CalibrationBins

    Attributes
    ----------
    ax_, figure_, lines_
        What was drawn, after :meth:`plot`.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> P = np.array([[0.1, 0.0, 0.9], [0.8, 0.0, 0.2], [0.3, 0.0, 0.7]])
    >>> display = wo.plot.PairCalibrationDisplay.from_predictions([1, -1, 1], P, n_bins=2)
    >>> display.parts[0].observed.tolist()
    [0.0, 1.0]
    """

    def __init__(self, parts: Iterable[CalibrationBins]) -> None:
        self.parts = tuple(parts)

    @classmethod
    def from_predictions(
        cls, y: Any, probabilities: Any, *, n_bins: int = N_CALIBRATION_BINS, ax: Axes | None = None
    ) -> PairCalibrationDisplay:
        """Take outcomes in {−1, 0, 1} and their probabilities, one row a comparison: columns for −1, 0 and 1."""
        outcome, P = np.asarray(y), np.asarray(probabilities, dtype=float)
        if P.shape != (len(outcome), 3):
            raise ValueError(f"{len(outcome):,} outcomes need as many rows of 3 probabilities, got shape {P.shape}")
        won = np.concatenate([outcome == 1, outcome == -1])
        parts = [reliability("better", won, np.concatenate([P[:, 2], P[:, 0]]), n_bins)]
        if (outcome == 0).any():
            parts.append(reliability("tie", outcome == 0, P[:, 1], n_bins))
        return cls(parts)._on(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, n_bins: int = N_CALIBRATION_BINS, ax: Axes | None = None
    ) -> PairCalibrationDisplay:
        """Let a fitted model predict pairs; a table of comparisons brings its own outcomes."""
        if not hasattr(estimator, "predict_proba"):
            who = WHO_GIVES_PROBABILITIES["comparisons"]
            raise ValueError(f"{type(estimator).__name__} gives no probabilities; {who}")
        outcome = X.comparisons.outcome if y is None and hasattr(X, "comparisons") else y
        if outcome is None:
            raise ValueError("give the outcomes as y")
        return cls.from_predictions(outcome, estimator.predict_proba(X), n_bins=n_bins, ax=ax)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, 3.9

    def plot(self, ax: Axes | None = None) -> PairCalibrationDisplay:
        """Draw the points, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="both")
        ax.plot([0, 1], [0, 1], color=PALETTE["grey"], linewidth=1.0, linestyle=(0, (4, 3)))
        self.lines_ = []
        for part, (colour, marker) in zip(self.parts, LINES, strict=False):
            (line,) = ax.plot(part.predicted, part.observed, color=PALETTE[colour], marker=marker, markersize=5)
            self.lines_.append(line)
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_xlabel("predicted probability")
        ax.set_ylabel("how often it came so")
        if len(self.parts) > 1:
            add_legend(ax, self.lines_, [part.name for part in self.parts])
        self.ax_, self.figure_ = ax, ax.figure
        return self


# --------------------------------------------------------------------------------------------------
# What a difference of scores is worth: how often the higher of two is the better, by how far they are apart.


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
    bins : CalibrationBins
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
        self.bins = CalibrationBins(
            "", np.bincount(place, distance) / count, np.bincount(place, is_right) / count, count
        )

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
