"""The leaderboard as rows of a table, ready to be laid out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..evaluation.leaderboard import Leaderboard, Standing
from ..writing import write_seconds
from .wording import verdict, write_interval, write_p, write_params, write_value

SCALE = 150.0
"""Width of the drawn intervals, in pixels."""

_MARGIN = 7.0

_REACH = 0.5
"""How far a baseline may stretch the scale on either side, in shares of the range of the other methods."""


@dataclass(frozen=True)
class Cell:
    """A number as it is written, and as it is sorted."""

    text: str
    value: float | None


@dataclass(frozen=True)
class Whisker:
    """Where mean, interval and splits lie on the common scale, in pixels; None where there is no number."""

    mean: float | None
    low: float | None
    high: float | None
    splits: tuple[float, ...]
    beyond: int = 0
    """−1 or 1 where the mean lies off the scale, to the left or right."""


@dataclass(frozen=True)
class Row:
    """One method's line."""

    place: int
    method: str
    about: str
    is_baseline: bool
    is_leader: bool
    is_worse: bool
    missing: str
    """How many splits it was judged on, where others have more."""
    value: Cell
    interval: str
    whisker: Whisker
    verdict: str
    p_text: str
    p_value: float | None
    others: tuple[Cell, ...]
    search: Cell
    fit: Cell
    params: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """All lines, and the ends of the scale of the drawn intervals."""

    rows: tuple[Row, ...]
    first: str
    last: str
    leader: float | None
    """Where the leader's mean lies on the scale, in pixels."""

    @property
    def any_search(self) -> bool:
        """Whether a search took any time."""
        return any(row.search.value for row in self.rows)

    @property
    def any_params(self) -> bool:
        """Whether a search had anything to choose."""
        return any(row.params for row in self.rows)


def make_table(leaderboard: Leaderboard) -> Table:
    """Turn standings into rows; nothing is computed but places on the page."""
    metric = leaderboard.protocol.metric
    splits = {each.method: _split_values(leaderboard, each.method) for each in leaderboard.standings}
    low, high = _ends(leaderboard.standings, splits)
    rows = tuple(
        _row(leaderboard, place, each, _whisker(each, splits[each.method], low, high))
        for place, each in enumerate(leaderboard.standings, start=1)
    )
    leader = rows[0].whisker.mean if rows else None
    return Table(rows, write_value(metric, low), write_value(metric, high), leader)


def _ends(standings: Sequence[Standing], splits: Mapping[str, Sequence[float]]) -> tuple[float, float]:
    """Choose the scale: all methods fit, but no baseline, and none without an order, so far off as to hide the rest."""
    ordering = [each for each in standings if not each.n_without_order]
    serious = [each for each in ordering if not each.is_baseline and math.isfinite(each.mean)] or standings
    numbers = [x for each in serious for x in (each.mean, each.low, each.high, *splits[each.method])]
    finite = [x for x in numbers if math.isfinite(x)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    reach = _REACH * (high - low)
    for each in standings:
        numbers = [x for x in (each.mean, each.low, each.high) if math.isfinite(x)]
        if numbers and low - reach <= min(numbers) and max(numbers) <= high + reach:
            low, high = min(low, *numbers), max(high, *numbers)
    return low, high


def _row(leaderboard: Leaderboard, place: int, standing: Standing, whisker: Whisker) -> Row:
    protocol = leaderboard.protocol
    most = max(each.n_splits for each in leaderboard.standings)
    others = (
        Cell(write_value(name, value), _sortable(value))
        for name in protocol.metrics
        if name != protocol.metric
        for value in [standing.metrics.get(name, math.nan)]
    )
    p_value = None if standing.p_value is None else _sortable(standing.p_value)
    return Row(
        place=place,
        method=standing.method,
        about=standing.about,
        is_baseline=standing.is_baseline,
        is_leader=place == 1,
        is_worse=standing.is_worse,
        missing="" if standing.n_splits == most else f"{standing.n_splits} of {most} splits",
        value=Cell(write_value(protocol.metric, standing.mean), _sortable(standing.mean)),
        interval=write_interval(protocol.metric, standing.low, standing.high),
        whisker=whisker,
        verdict=standing.lack_of_order or ("best" if place == 1 else verdict(standing)),
        p_text="" if p_value is None else write_p(p_value),
        p_value=p_value,
        others=tuple(others),
        search=Cell(write_seconds(standing.search_seconds), _sortable(standing.search_seconds)),
        fit=Cell(write_seconds(standing.fit_seconds), _sortable(standing.fit_seconds)),
        params=write_params(standing.params),
    )


def _split_values(leaderboard: Leaderboard, method: str) -> tuple[float, ...]:
    metric = leaderboard.protocol.metric
    values = (record.metrics.get(metric, math.nan) for record in leaderboard.of(method))
    return tuple(value for value in values if math.isfinite(value))


def _whisker(standing: Standing, splits: tuple[float, ...], low: float, high: float) -> Whisker:
    def place(value: float) -> float | None:
        if not math.isfinite(value):
            return None
        share = (value - low) / (high - low) if high > low else 0.5
        return round(_MARGIN + (SCALE - 2 * _MARGIN) * min(max(share, 0.0), 1.0), 1)

    points = tuple(x for x in (place(value) for value in splits if low <= value <= high) if x is not None)
    beyond = (standing.mean > high) - (standing.mean < low)
    return Whisker(place(standing.mean), place(standing.low), place(standing.high), points, beyond)


def _sortable(value: float) -> float | None:
    return value if math.isfinite(value) else None
