"""Numbers and verdicts in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..evaluation.leaderboard import Leaderboard, Standing
from ..evaluation.records import Json
from ..figures import plain
from ..metrics import find_definition, parse
from ..writing import NOTHING, write_percent


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


_CHANCE = {
    "swapped_pairs": 0.5,
    "wmw": 0.5,
    "auc_pairs": 0.5,
    "auc_ovo": 0.5,
    "auc_consecutive": 0.5,
    "kendall_tau": 0.0,
    "comparison_auc": 0.25,
}
"""What a random order reaches on average, of metrics where that hangs on nothing else."""


def no_better_than_chance(leaderboard: Leaderboard) -> str:
    """Warn where even the leader may be no better than a random order; an empty text otherwise."""
    leader, metric = leaderboard.leader, leaderboard.protocol.metric
    chance = _CHANCE.get(metric.partition("(")[0])
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
