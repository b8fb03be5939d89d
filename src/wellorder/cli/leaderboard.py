"""A leaderboard in the terminal, and how to go on where it is not complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..writing import counted, write_p_value, write_percent, write_seconds
from .output import number, print_table, say, width_of_terminal

if TYPE_CHECKING:
    from ..evaluation import Leaderboard, Standing


_WIDE = 110
"""Columns of a terminal that has room for everything."""


def print_leaderboard(board: Leaderboard, records: str | None = None) -> None:
    """Print the methods from best to worst, what was left out, and how to go on from the file of records."""
    protocol = board.protocol
    n = board.leader.n_splits
    kept = {"groups": "whole lists", "rows": "rows", "pairs": "comparisons, rematches together"}[protocol.split_by]
    say(
        f"{board.data}: {counted(len(board.standings), 'method')} on {n} split{'s' * (n != 1)} of {kept}; "
        f"{protocol.metric}, {'higher' if board.greater_is_better else 'lower'} is better"
    )
    others = [name for name in protocol.metrics if name != protocol.metric]
    headers = ["", "method", protocol.metric, "95 % interval", "against the first", *others, "search", "fit"]
    rows = [_row(place, each, protocol.metric, others) for place, each in enumerate(board.standings, start=1)]
    if width_of_terminal() < _WIDE:  # then what matters most has room
        headers, rows = headers[:5], [row[:5] for row in rows]
    print_table(headers, rows, right=(0, 2, *range(5, len(headers))), whole=(1,))
    baselines = [each.method for each in board.standings if each.is_baseline]
    if baselines:
        say(f"baselines: {', '.join(baselines)}")
    silent = [each.method for each in board.standings if each.n_without_order]
    if silent:
        say(f"the same score for all held-out rows, so that there is no order to judge: {', '.join(silent)}")
    if protocol.metric == "comparison_error":
        _say_who_knows_no_ties(board.standings)
    for reason, names in board.reasons.items():
        say(f"left out {', '.join(names)}: {reason}")
    if protocol.planned_repeats is not None:
        say(
            f"{protocol.n_repeats} of {protocol.planned_repeats} rounds of splits: more would not have fitted into "
            f"{protocol.time_budget:g} s; a larger --time-budget makes the intervals narrower"
        )
    if not board.is_complete:
        say(how_to_go_on(board.time_was_up, records))


def _say_who_knows_no_ties(standings: Sequence[Standing]) -> None:
    """Say which methods are wrong on every tie, because they only order."""
    from ..evaluation import METHODS

    silent = [each.method for each in standings if each.method in METHODS and not METHODS[each.method].predicts_ties]
    if silent:
        say(f"only ordering, and so wrong on every tie: {', '.join(silent)}; swapped_pairs judges the order alone")


def how_to_go_on(time_was_up: bool, records: str | None) -> str:
    """Say why a comparison is not complete, and how to complete it."""
    if time_was_up:
        kept = "" if records is None else f", and goes on from {records}"
        return f"time was up before all splits were done; a larger --time-budget does the rest{kept}"
    stopped = "the comparison was stopped before all splits were done"
    if records is None:
        return f"{stopped}; with --report or --records it could go on from there"
    return f"{stopped}; the same command goes on from {records}"


def _row(place: int, standing: Standing, metric: str, others: list[str]) -> list[str]:
    from ..metrics import find_definition

    definition = find_definition(metric)
    write = write_percent if definition is not None and definition.is_share else number
    interval = "–" if standing.low != standing.low else f"{write(standing.low)} – {write(standing.high)}"
    return [
        f"{place}",
        standing.method,
        write(standing.mean),
        interval,
        _verdict(standing),
        *(number(standing.metrics[name], 3) for name in others),
        write_seconds(standing.search_seconds),
        write_seconds(standing.fit_seconds),
    ]


def _verdict(standing: Standing) -> str:
    if standing.lack_of_order:
        return standing.lack_of_order
    if standing.p_value is None:
        return ""
    if standing.p_value != standing.p_value:
        return "too few splits to test"
    return f"worse ({write_p_value(standing.p_value)})" if standing.is_told_apart else "not told apart"
