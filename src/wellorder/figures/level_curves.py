"""Level curves: where in the plane of two features a model's scores are equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from scipy.stats import rankdata

from ..data import Table, is_frame, read_values
from ..deadline import TimeIsUp, time_is_up
from ..evaluation import scores_rows_alone
from ..scoring import list_scores
from ..suggest import suggest
from ..sweeps import Array, Floats, Ints
from .style import PALETTE, WIDTH, Drawable, axes_for, ink, plain_apart, quieten

# --------------------------------------------------------------------------------------------------
# A model's scores over the plane of two features, all others at their middle.


MOST_COLUMNS = 1_000
"""With more columns than this, the two most telling ones are not searched for."""

_MOST_ROWS = 500
_FEWEST_VALUES = 4
"""A feature needs at least this many different values to be an axis."""

_COPY = 0.9
"""Two features with a rank correlation of at least this say nearly the same."""

_ENDS = (0.02, 0.98)
"""Quantiles at which the axes begin and end: otherwise a single outlier would squeeze all others into a corner."""


@dataclass(frozen=True)
class Plane:
    """Scores on a grid over two features."""

    features: tuple[str, str]
    x: Floats
    """Values of the first feature, rising."""
    y: Floats
    scores: Floats
    """``scores[j, i]`` at x[i], y[j]."""
    rows: Floats
    """The two features of the rows that were given, shape (n, 2)."""
    row_scores: Floats
    """The scores of these rows themselves."""


def score_plane(model: Any, X: Any, features: Sequence[Any] | None = None, n_steps: int = 40) -> Plane:
    """Score a grid over two features; every other feature has its median, or its most common value, among the rows.

    Parameters
    ----------
    model : estimator
        Fitted; it scores each row by itself.
    X : array, sparse matrix, data frame or Table
        Rows as the model takes them.
    features : two names or column numbers, optional
        Features of numbers; those whose values move the scores most unless given.
    n_steps : int, default=40
        Steps along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.figures.level_curves import score_plane
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> ranker = wo.RankSVM().fit(X, X[:, 2] - 0.5 * X[:, 0])
    >>> plane = score_plane(ranker, X)
    >>> plane.features, plane.scores.shape
    (('x2', 'x0'), (40, 40))
    """
    if not scores_rows_alone(getattr(model, "ranker_", model)):
        raise ValueError(
            f"{type(model).__name__} scores whole lists: a row has no score by itself, and no place in a plane"
        )
    if isinstance(n_steps, bool) or not isinstance(n_steps, int | np.integer) or n_steps < 2:
        raise ValueError(f"n_steps={n_steps!r} makes no grid; give a whole number, at least 2")
    table = _Columns(model, X)
    if len(table) < 2:
        raise ValueError(f"there are {len(table)} rows, and axes need at least two to reach from one to another")
    one, other = strongest_features(model, X) if features is None else [table.number_of(name) for name in features]
    if one == other:
        raise ValueError("the two features are the same; name two")
    values = [table.numbers(column) for column in (one, other)]
    x, y = (_axis(value, n_steps) for value in values)
    middle = [np.full(n_steps * n_steps, table.middle(column)) for column in range(table.width)]
    grid = table.assemble(middle, {one: np.tile(x, n_steps), other: np.repeat(y, n_steps)})
    return Plane(
        (table.names[one], table.names[other]),
        x,
        y,
        _scores(model, grid).reshape(n_steps, n_steps),
        np.column_stack(values),
        _scores(model, X),
    )


def strongest_features(model: Any, X: Any) -> tuple[int, int]:
    """Return the columns of the two features of numbers that move the scores most.

    The second is no near copy of the first, unless all are: the plane would be empty but for a line.
    """
    table = _Columns(model, X)
    moved = _movements(model, table, [table.is_axis(column) for column in range(table.width)])
    ranked = [column for column in np.argsort(-moved, kind="stable").tolist() if moved[column] > 0]
    if len(ranked) < 2:
        raise ValueError("fewer than two features of numbers move the scores; a plane needs two")
    first, *rest = ranked
    apart = (column for column in rest if not _alike(table.numbers(first), table.numbers(column)))
    return first, next(apart, rest[0])


def movements(model: Any, X: Any) -> Floats:
    """Return how far each column moves the scores: the mean change as rows take another row's value of it."""
    table = _Columns(model, X)
    return _movements(model, table, [True] * table.width)


def _movements(model: Any, table: _Columns, wanted: list[bool]) -> Floats:
    """Exchange each row's value for another row's, the same other row for every column; −1 for those not wanted."""
    if table.width > MOST_COLUMNS:
        raise ValueError(f"there are {table.width:,} columns, too many to try them all; name two with features=")
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(len(table))[:_MOST_ROWS])
    others = rng.permutation(rows)
    own = [rows] * table.width
    before = _scores(model, table.assemble(own, {}))
    moved = np.full(table.width, -1.0)
    for column in np.flatnonzero(wanted).tolist():
        if time_is_up():
            raise TimeIsUp("time was up before all columns were tried")
        exchanged = table.assemble([others if each == column else rows for each in range(table.width)], {})
        moved[column] = np.abs(_scores(model, exchanged) - before).mean()
    return moved


class _Columns:
    """Rows of any kind, column by column, put together again in the same kind."""

    def __init__(self, model: Any, X: Any) -> None:
        self._given = X
        inside: Any = X.X if isinstance(X, Table) else X
        self._frame: Any = nw.from_native(inside, eager_only=True) if is_frame(inside) else None
        self._array: Any = None
        if self._frame is None:
            if sp.issparse(inside) and inside.shape[1] > MOST_COLUMNS:
                raise ValueError(f"there are {inside.shape[1]:,} sparse columns, too many to be filled in")
            self._array = inside.toarray() if sp.issparse(inside) else np.asarray(inside)
        self._sparse = sp.issparse(inside)
        self.names = self._named(model)
        self.width = len(self.names)
        self._values: dict[int, Array] = {}

    def __len__(self) -> int:
        return int((self._array if self._frame is None else self._frame).shape[0])

    def _named(self, model: Any) -> list[str]:
        if self._frame is not None:
            return [str(name) for name in self._frame.columns]
        width = range(self._array.shape[1])
        if isinstance(self._given, Table):
            return [f"feature {column + 1}" for column in width]
        known = getattr(model, "feature_names_in_", None)
        return [f"x{column}" for column in width] if known is None else [str(name) for name in known]

    def number_of(self, feature: Any) -> int:
        if isinstance(feature, int | np.integer) and not isinstance(feature, bool) and 0 <= feature < self.width:
            return int(feature)
        if str(feature) not in self.names:
            raise ValueError(f"there is no feature {feature!r}; {suggest(str(feature), self.names)}")
        return self.names.index(str(feature))

    def values(self, column: int) -> Array:
        if column not in self._values:
            found = self._array[:, column] if self._frame is None else read_values(self._frame[:, column])
            self._values[column] = found
        return self._values[column]

    def numbers(self, column: int) -> Floats:
        values = self.values(column)
        if values.dtype == object or np.isnan(np.asarray(values, dtype=float)).all():
            raise ValueError(f"{self.names[column]} is no feature of numbers, and makes no axis")
        return np.asarray(values, dtype=float)

    def is_axis(self, column: int) -> bool:
        values = self.values(column)
        if values.dtype == object:
            return False
        numbers = np.asarray(values, dtype=float)
        return len(np.unique(numbers[~np.isnan(numbers)])) >= _FEWEST_VALUES

    def middle(self, column: int) -> int:
        """Return a row that has the column's lower median, or its most common value."""
        values = self.values(column)
        if values.dtype == object:
            texts = ["" if value is None else str(value) for value in values]
            distinct, first, count = np.unique(texts, return_index=True, return_counts=True)
            return int(first[np.argmax(count)]) if len(distinct) else 0
        numbers = np.asarray(values, dtype=float)
        by_size = np.argsort(numbers, kind="stable")  # NaN last
        known = int(np.count_nonzero(~np.isnan(numbers)))
        return int(by_size[max(known - 1, 0) // 2])

    def assemble(self, rows: Sequence[Ints], put: dict[int, Floats]) -> Any:
        """Make rows of which each column is taken from the rows named for it, or is put in."""
        if self._frame is None:
            columns = [put[c] if c in put else self._array[rows[c], c] for c in range(self.width)]
            made = np.column_stack(columns).astype(self._array.dtype if self._array.dtype.kind == "f" else float)
            out: Any = sp.csr_array(made) if self._sparse else made
        else:
            series = []
            for c, name in enumerate(self._frame.columns):
                own = self._frame[:, c]
                if c in put:
                    own = nw.new_series(name, put[c], nw.Float64, backend=nw.get_native_namespace(own))
                else:
                    own = own[rows[c].tolist()]
                series.append(own.alias(name))
            out = _joined(series)
        if isinstance(self._given, Table):
            return replace(self._given, X=out, y=None, groups=None, ids=None, weights=None)
        return out


def _alike(one: Floats, other: Floats) -> bool:
    """Say whether two features order rows in nearly the same way, up or down."""
    both = ~(np.isnan(one) | np.isnan(other))
    if np.count_nonzero(both) < 3:
        return False
    ranks = np.stack([rankdata(one[both]), rankdata(other[both])])
    if not np.ptp(ranks, axis=1).all():
        return False
    return abs(float(np.corrcoef(ranks)[0, 1])) > _COPY


def _axis(values: Floats, n_steps: int) -> Floats:
    low, high = np.nanquantile(values, _ENDS).tolist()
    return np.linspace(low, high, n_steps)


def _joined(series: list[Any]) -> Any:
    """Put series side by side, each as it is, whatever row labels it has kept."""
    import polars as pl

    natives = [each.to_native() for each in series]
    if isinstance(natives[0], pl.Series):
        return pl.DataFrame(natives)
    namespace = nw.get_native_namespace(series[0])
    return namespace.DataFrame({each.name: each.array for each in natives})


def _scores(model: Any, rows: Any) -> Floats:
    scores = np.asarray(list_scores(model, rows), dtype=float)
    if scores.ndim != 1:
        raise ValueError(f"{type(model).__name__} gives {scores.shape} scores; a plane needs one score a row")
    return scores


# --------------------------------------------------------------------------------------------------
# The display.


SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""A line is drawn at the score that is higher than those of this share of the rows: scores themselves mean nothing."""

_MOST_POINTS = 200
_STRONGEST = 0.5
"""The opacity of the highest band: text on it stays readable in dark and light mode."""


_ALONG = (0.5, 0.35, 0.65, 0.2, 0.8)
"""Where along a line its name may stand, the best place first."""

_APART = 0.14
"""How far apart names are kept if possible, as a share of the picture."""


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
