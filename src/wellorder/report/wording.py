"""What a page says of a leaderboard in plain words, and where it draws means and intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..evaluation import Leaderboard, Standing, is_share, verdict
from ..metrics import find_definition, parse
from ..writing import write_interval, write_metric, write_percent


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


def monotone_sentence(signs: Sequence[tuple[str, int]]) -> str:
    """Say which columns every method had to keep monotone.

    Examples
    --------
    >>> from wellorder.report.wording import monotone_sentence
    >>> monotone_sentence([("alcohol", 1), ("acidity", -1)])
    'Every model keeps, exactly and with all else held: more alcohol is never worse, more acidity is never better.'
    """
    told = ", ".join(f"more {column} is never {'worse' if sign > 0 else 'better'}" for column, sign in signs)
    return f"Every model keeps, exactly and with all else held: {told}."


def claim(leaderboard: Leaderboard) -> str:
    """Say what the leader reaches, as the rest of a sentence that begins with its name."""
    leader, metric = leaderboard.leader, leaderboard.protocol.metric
    if is_share(metric):
        interval = write_interval(1 - leader.high, 1 - leader.low, is_share=True)
        verb = "orders" if metric.startswith("swapped_pairs") else "predicts"
        noun = "comparisons" if leaderboard.protocol.split_by == "pairs" or verb == "predicts" else "pairs"
        text = f"{verb} {write_percent(1 - leader.mean)} of held-out {noun} rightly"
    else:
        interval = write_interval(leader.low, leader.high)
        text = f"reaches {metric_title(metric)} {write_metric(leader.mean)} on held-out data"
    if leader.lack_of_order:
        return f"{leader.lack_of_order}: it gives all held-out rows the same score"
    if math.isinf(leader.mean):
        return f"has an infinite {metric_title(metric)} on held-out data: what came had been given no chance"
    if math.isnan(leader.mean):
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
            f"{write_percent(1 - leader.mean)} of all cases "
            f"it puts {apart} above. A coin would in 50 %.{range_}"
        )
    if metric == "comparison_error":
        return (
            "Show it two items whose comparison it has not learned from: in "
            f"{write_percent(1 - leader.mean)} of all cases it says rightly which is better, or that there is no "
            f"difference.{range_}"
        )
    return describe_metric(metric, comparisons=leaderboard.protocol.split_by == "pairs") + range_


def rivals(standings: Sequence[Standing]) -> str:
    """Say which methods cannot be told apart from the first, as the rest of a sentence."""
    others = standings[1:]
    if not others:
        return "no other method was tried"
    cut = [each.method for each in others if each.is_cut_short]
    others = [each for each in others if not each.lack_of_order and not each.is_cut_short]
    if cut:
        said = f"{_listed(cut)} had too little time to be judged"
        return f"{rivals([standings[0], *others])}, but {said}" if others else said
    if not others:
        return "every other method orders nothing somewhere"
    if math.isinf(standings[0].mean):
        return "so has every other method"
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
        f"random order does ({write_percent(1 - chance) if is_share(metric) else write_metric(chance)}). Bring more "
        "rows, or features that say more."
    )


def out_of_time(leaderboard: Leaderboard) -> list[str]:
    """Return the methods that might do better, had they had time: left out, or ended before their fits were done.

    A baseline is not among them, nor is one that is behind by what it could do in time: that is said of it already.
    """
    left_out = [each.method for each in leaderboard.left_out if each.for_time]
    cut = [each.method for each in leaderboard.standings if each.n_unfinished and not each.is_baseline]
    return left_out + cut


def caution(standings: Sequence[Standing], out_of_time: Sequence[str] = ()) -> str:
    """Warn where a baseline is as good as the leader, or methods had no time; an empty text otherwise.

    A baseline is not praised over methods that had no time, or were cut short: these are named instead.
    """
    if not standings or math.isinf(standings[0].mean):
        return ""
    if standings[0].is_baseline and out_of_time:
        return (
            f"The leader is a baseline, and {_listed(out_of_time)} had too little time to do better: raise the time "
            "budget."
        )
    if standings[0].is_baseline:
        return "The leader is a baseline: nothing more elaborate does better on this data."
    close = [each.method for each in standings[1:] if each.is_baseline and verdict(each.p_value) == "not told apart"]
    waiting = [each for each in out_of_time if each != standings[0].method]
    if not close:
        return f"{_listed(waiting)} had too little time to show what more would do." if waiting else ""
    is_one = "is a baseline" if len(close) == 1 else "are baselines"
    but = f"; but {_listed(waiting)} had too little time to show what more would do" if waiting else ""
    return f"{_listed(close)} {is_one} and may be all that is needed here{but}."


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


# --------------------------------------------------------------------------------------------------
# Where means, intervals and splits are drawn, in the rows of the table.


SCALE = 150.0
"""The width of the drawn intervals, in pixels."""

_MARGIN = 7.0

_REACH = 0.5
"""How far a baseline may stretch the scale on either side, as a share of the range of the other methods."""


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
class WhiskerScale:
    """All methods on one scale, from its first value to its last."""

    first: str
    last: str
    whiskers: tuple[Whisker, ...]


def lay_out(leaderboard: Leaderboard) -> WhiskerScale:
    """Find where everything lies on a scale that suits all methods."""
    splits = {each.method: _split_values(leaderboard, each.method) for each in leaderboard.standings}
    low, high = _ends(leaderboard.standings, splits)
    first, last = (write_metric(end, is_share=is_share(leaderboard.protocol.metric)) for end in (low, high))
    whiskers = tuple(_whisker(each, splits[each.method], low, high) for each in leaderboard.standings)
    return WhiskerScale(first, last, whiskers)


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
