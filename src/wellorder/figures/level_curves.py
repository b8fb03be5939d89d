"""Level curves: where in the plane of two features a model's scores are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..sweeps import Floats
from .drawable import Drawable
from .planes import Plane, score_plane
from .style import PALETTE, WIDTH, axes_for, ink, plain_apart, quieten

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Levels are the scores that stand above these shares of the rows: a score by itself says nothing."""

_MOST_POINTS = 200
_STRONGEST = 0.5
"""How opaque the highest band is: what is written upon it stays readable in dark and in light."""


_ALONG = (0.5, 0.35, 0.65, 0.2, 0.8)
"""Where along a line its name may stand, the best place first."""

_APART = 0.14
"""How far names stay from each other, in shares of the picture, if they can."""


class LevelCurvesDisplay(Drawable):
    """Lines of equal score over two features; all other features have their median, or their most common value.

    The line '75 %' runs where the score is higher than that of 75 % of the rows; the deeper the colour, the higher
    the score. The points are rows: where there are none, the model has nothing to go by.

    Parameters
    ----------
    plane : Plane

    Attributes
    ----------
    levels, names : tuple
        The scores of the lines that cross the plane, and what they are called.
    ax_, figure_, bands_, lines_, points_
        What was drawn, after :meth:`plot`.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> ranker = wo.RankSVM().fit(X, X[:, 2] - 0.5 * X[:, 0])
    >>> display = wo.plot.LevelCurvesDisplay.from_estimator(ranker, X)
    >>> display.plane.features, display.names
    (('x2', 'x0'), ('10 %', '25 %', '50 %', '75 %', '90 %'))
    """

    def __init__(self, plane: Plane) -> None:
        self.plane = plane
        low, high = float(plane.scores.min()), float(plane.scores.max())
        if not high > low:
            raise ValueError("the scores are the same all over the plane: there are no levels to draw")
        at = np.quantile(plane.row_scores[np.isfinite(plane.row_scores)], SHARES)
        first = np.unique(at, return_index=True)[1]
        crossing = [k for k in first.tolist() if low < at[k] < high]
        self.levels = tuple(at[crossing].tolist()) or ((low + high) / 2,)
        self.names = tuple(f"{100 * SHARES[k]:.0f} %" for k in crossing) or ("",)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, features: Sequence[Any] | None = None, *, n_steps: int = 40, ax: Axes | None = None
    ) -> LevelCurvesDisplay:
        """Score a grid over two features, named or numbered; over the two that move the scores most unless given."""
        return cls(score_plane(estimator, X, features, n_steps))._on(ax)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return WIDTH, 3.9

    def plot(self, ax: Axes | None = None) -> LevelCurvesDisplay:
        """Draw the levels, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        plane = self.plane
        quieten(ax)
        edges = [float(plane.scores.min()), *self.levels, float(plane.scores.max())]
        strength = np.linspace(0.0, _STRONGEST, len(edges) - 1)
        colours = [(PALETTE["blue"], float(alpha)) for alpha in strength]
        self.bands_ = ax.contourf(plane.x, plane.y, plane.scores, levels=edges, colors=colours)
        self.lines_ = ax.contour(
            plane.x, plane.y, plane.scores, levels=self.levels, colors=ink(), linewidths=0.8, linestyles="solid"
        )
        seen = self._seen()
        (self.points_,) = ax.plot(*seen.T, ".", color=ink(), markersize=4.0, alpha=0.4, zorder=3, markeredgewidth=0)
        self._name_lines(ax)
        ax.set_xlim(plane.x[0], plane.x[-1])
        ax.set_ylim(plane.y[0], plane.y[-1])
        x_name, y_name = plain_apart(plane.features, 36)
        ax.set_xlabel(x_name, parse_math=False)
        ax.set_ylabel(y_name, parse_math=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _seen(self) -> Floats:
        """Return rows inside the picture, evenly thinned where they are many."""
        plane = self.plane
        inside = np.all((plane.rows >= [plane.x[0], plane.y[0]]) & (plane.rows <= [plane.x[-1], plane.y[-1]]), axis=1)
        rows = plane.rows[inside]
        return rows[:: max(1, -(-len(rows) // _MOST_POINTS))]

    def _name_lines(self, ax: Axes) -> None:
        """Write each line's share on its longest piece, away from the frame."""
        x, y = self.plane.x, self.plane.y
        corner, extent = np.array([x[0], y[0]]), np.array([np.ptp(x), np.ptp(y)])
        taken: list[Floats] = []
        for name, lines in zip(self.names, self.lines_.allsegs, strict=True):
            if not name or not lines:
                continue
            longest = np.asarray(max(lines, key=len))
            points = longest[[int(share * (len(longest) - 1)) for share in _ALONG]]
            inside = np.clip((points - corner) / extent, 0.05, 0.95)
            room = [min((float(np.hypot(*(at - other))) for other in taken), default=1.0) for at in inside]
            chosen = next((k for k, away in enumerate(room) if away >= _APART), int(np.argmax(room)))
            taken.append(inside[chosen])
            place = corner + extent * inside[chosen]
            box = {"boxstyle": "round,pad=0.15", "facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.8}
            ax.annotate(name, place, fontsize=8.5, ha="center", va="center", zorder=4, parse_math=False, bbox=box)
