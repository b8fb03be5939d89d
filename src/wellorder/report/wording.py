"""Numbers and verdicts in plain words, and the leaderboard as rows of a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..evaluation import Json, Leaderboard, Standing
from ..figures import plain
from ..metrics import find_definition, parse
from ..writing import NOTHING, write_percent, write_seconds


def metric_title(name: str) -> str:
    """Return what a metric is called in a sentence.

    Examples
    --------
    >>> from wellorder.report.wording import metric_title
    >>> metric_title("swapped_pairs"), metric_title("ndcg@10")
    ('swapped pairs', 'NDCG@10')
    """
    found, cutoff = find_definition(name), _cutoff(name)
    title = name if found is None else found.title
    return f"{title}@{cutoff}" if cutoff else title


def describe_metric(name: str, *, comparisons: bool = False) -> str:
    """Say in plain words what a metric measures and which way is better.

    Parameters
    ----------
    name : str
        As in :data:`wellorder.metrics.METRICS`, with a cut-off and options or without.
    comparisons : bool, default=False
        Whether items were compared two at a time, in place of grades.

    Examples
    --------
    >>> from wellorder.report.wording import describe_metric
    >>> describe_metric("precision@5")
    'The share of relevant rows among the first ones of each list. Looks at the first 5 places. Higher is better.'
    """
    found, cutoff = find_definition(name, comparisons=comparisons), _cutoff(name)
    if found is None:
        return "A metric of its own."
    places = f" Looks at the first {cutoff} places." if cutoff else ""
    return f"{found.meaning}{places} {'Higher' if found.greater_is_better else 'Lower'} is better."


def write_value(metric: str, value: float) -> str:
    """Write a value of a metric: percent for shares, three digits otherwise.

    Examples
    --------
    >>> from wellorder.report.wording import write_value
    >>> write_value("swapped_pairs", 0.2594), write_value("ndcg@10", 0.71234), write_value("wmw", float("nan"))
    ('25.9 %', '0.712', '–')
    """
    if not math.isfinite(value):
        return NOTHING
    if is_share(metric):
        return write_percent(value)
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.4g}"


def write_interval(metric: str, low: float, high: float) -> str:
    """Write an interval of a metric; nothing where it is not defined.

    Examples
    --------
    >>> from wellorder.report.wording import write_interval
    >>> write_interval("swapped_pairs", 0.247, 0.271)
    '24.7–27.1 %'
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    first, second = write_value(metric, low), write_value(metric, high)
    return f"{first.removesuffix(' %')}–{second}" if low >= 0 else f"{first} to {second}"


def write_p(p_value: float) -> str:
    """Write a p value, with no more digits than it has meaning.

    Examples
    --------
    >>> from wellorder.report.wording import write_p
    >>> [write_p(p) for p in (0.00002, 0.0031, 0.047, 0.3, 1.0)]
    ['p < 0.001', 'p = 0.003', 'p = 0.047', 'p = 0.30', 'p = 1']
    """
    if p_value < 0.001:
        return "p < 0.001"
    if p_value >= 0.995:
        return "p = 1"
    return f"p = {p_value:.3f}" if p_value < 0.1 else f"p = {p_value:.2f}"


def write_params(params: Mapping[str, Json]) -> tuple[str, ...]:
    """Write chosen parameters one by one, shortened where they are long; of an estimator inside, by their own name.

    Examples
    --------
    >>> from wellorder.report.wording import write_params
    >>> write_params({"C": 10.0, "kernel": "rbf"})
    ('C = 10', 'kernel = rbf')
    """
    return tuple(plain(f"{name.rpartition('__')[2]} = {_written(value)}", most=44) for name, value in params.items())


def verdict(standing: Standing) -> str:
    """Say in two or three words how a method stands against the leader.

    The test of a method with one split has no answer, which is not the same as finding no difference.
    """
    if standing.lack_of_order:
        return standing.lack_of_order
    if standing.p_value is None or math.isnan(standing.p_value):
        return "not tested"
    if standing.is_told_apart:
        return "worse"
    return "not told apart"


def claim(leaderboard: Leaderboard) -> str:
    """Say what the leader reaches, as the rest of a sentence that begins with its name."""
    leader, metric = leaderboard.leader, leaderboard.protocol.metric
    if is_share(metric):
        interval = write_interval(metric, 1 - leader.high, 1 - leader.low)
        verb = "orders" if metric.startswith("swapped_pairs") else "predicts"
        noun = "comparisons" if leaderboard.protocol.split_by == "pairs" or verb == "predicts" else "pairs"
        text = f"{verb} {write_value(metric, 1 - leader.mean)} of held-out {noun} rightly"
    else:
        interval = write_interval(metric, leader.low, leader.high)
        text = f"reaches {metric_title(metric)} {write_value(metric, leader.mean)} on held-out data"
    if leader.lack_of_order:
        return f"{leader.lack_of_order}: it gives all held-out rows the same score"
    if not math.isfinite(leader.mean):
        return f"has no value of {metric_title(metric)} on held-out data"
    return f"{text} ({interval})" if interval else text


def in_plain_words(leaderboard: Leaderboard) -> str:
    """Say what the leader's value means, to somebody who has never seen such a page; an empty text where it is clear.

    Chance is what a random order reaches: half of all pairs.
    """
    leader, metric = leaderboard.leader, leaderboard.protocol.metric
    if leader.lack_of_order or not math.isfinite(leader.mean):
        return ""
    range_ = " The range in brackets holds the true value with 95 % confidence." if math.isfinite(leader.low) else ""
    if metric.startswith("swapped_pairs"):
        two, apart = "two rows with different grades", "the better one"
        if leaderboard.protocol.split_by == "groups":
            two = "two rows of one list with different grades"
        if leaderboard.protocol.split_by == "pairs":
            two, apart = "two items of which one was found better", "that one"
        return (
            f"Show it {two}, neither of which it has learned from: in "
            f"{write_value(metric, 1 - leader.mean)} of all cases "
            f"it puts {apart} above. A coin would in 50 %.{range_}"
        )
    if metric == "comparison_error":
        return (
            "Show it two items whose comparison it has not learned from: in "
            f"{write_value(metric, 1 - leader.mean)} of all cases it says rightly which is better, or that there is no "
            f"difference.{range_}"
        )
    return describe_metric(metric, comparisons=leaderboard.protocol.split_by == "pairs") + range_


def rivals(standings: Sequence[Standing]) -> str:
    """Say which methods cannot be told apart from the first, as the rest of a sentence."""
    others = standings[1:]
    if not others:
        return "no other method was tried"
    others = [each for each in others if not each.lack_of_order]
    if not others:
        return "every other method orders nothing somewhere"
    tested = [each for each in others if each.p_value is not None and not math.isnan(each.p_value)]
    if not tested:
        return "there are too few splits to say which differences are more than chance"
    close = [each.method for each in tested if not each.is_told_apart]
    if not close:
        return "every other method is worse beyond chance"
    if len(close) == len(others) and len(close) > 2:
        return f"none of the {len(close)} other methods can be told apart from it"
    return f"{_listed(close)} cannot be told apart from it"


def no_better_than_chance(leaderboard: Leaderboard) -> str:
    """Warn where even the leader may be no better than a random order; an empty text otherwise."""
    leader, metric = leaderboard.leader, leaderboard.protocol.metric
    definition = leaderboard.protocol.definition
    chance = None if definition is None else definition.chance
    if chance is None or not (math.isfinite(leader.low) and math.isfinite(leader.high)):
        return ""
    worst = leader.low if leaderboard.greater_is_better else leader.high
    if (worst > chance) if leaderboard.greater_is_better else (worst < chance):
        return ""
    return (
        f"Do not trust an order from this data yet: the range of {leader.method}, the best of all, reaches what a "
        f"random order does ({write_value(metric, 1 - chance if is_share(metric) else chance)}). Bring more rows, or "
        "features that say more."
    )


def caution(standings: Sequence[Standing]) -> str:
    """Warn where a baseline is as good as the leader; an empty text otherwise."""
    if not standings:
        return ""
    if standings[0].is_baseline:
        return "The leader is a baseline: nothing more elaborate does better on this data."
    close = [each.method for each in standings[1:] if each.is_baseline and verdict(each) == "not told apart"]
    if not close:
        return ""
    is_one = "is a baseline" if len(close) == 1 else "are baselines"
    return f"{_listed(close)} {is_one} and may be all that is needed here."


def _listed(names: Sequence[str]) -> str:
    """Join names as in a sentence: one, two, or the first and how many others."""
    if len(names) <= 2:
        return " and ".join(names)
    return f"{names[0]} and {len(names) - 1} others"


def _cutoff(name: str) -> int | None:
    """Return how many places a metric looks at."""
    try:
        return parse(name).cutoff
    except ValueError:
        return None


def is_share(metric: str) -> bool:
    """Say whether a metric is a share of what is wrong, and read in percent."""
    found = find_definition(metric)
    return found is not None and found.is_share


def _written(value: Json) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


# --------------------------------------------------------------------------------------------------
# The leaderboard as rows of a table, ready to be laid out.


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
