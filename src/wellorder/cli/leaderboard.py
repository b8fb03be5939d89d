"""A comparison at the command line: while it goes on, its leaderboard, and how it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from ..writing import NOTHING, counted, write_bytes, write_p_value, write_percent, write_seconds
from .output import as_text, number, print_table, progress_bar, say, width_of_terminal

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table

    from ..evaluation import AnyTable, Leaderboard, Plan, Progress, Record, Standing


# --------------------------------------------------------------------------------------------------
# The leaderboard, and how to go on where it is not complete.


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


# --------------------------------------------------------------------------------------------------
# While it goes on: one line a method, the leader on top; on stderr, and only at a terminal.


_AROUND = 5
"""Lines of the screen that are no method's: what is compared, how far it is, the header, and room for the cursor."""


class LiveBoard:
    """What a comparison has found so far; ``begin`` and ``progress`` are what it calls."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._started = clock()
        self._plan: Plan | None = None
        self._last: Progress | None = None
        self._records: dict[str, list[Record]] = {}

    def begin(self, plan: Plan) -> None:
        """Say what is about to be done, and what memory it takes."""
        self._plan = plan
        self._records = {name: [] for name in plan.methods}
        for line in describe_plan(plan):
            self._console.print(as_text(line), highlight=False)

    def progress(self, progress: Progress) -> None:
        """Take in what has just been done."""
        self._last = progress
        self._records.setdefault(progress.record.method, []).append(progress.record)

    def __rich__(self) -> Group | str:
        """Draw the board, as much of it as the screen has lines for."""
        from rich.console import Group

        if self._plan is None:
            return "reading"
        lines = [as_text(text) for text in self._heading(self._plan)]
        for line in lines:
            line.overflow, line.no_wrap = "ellipsis", True
        return Group(*lines, self._table(self._plan))

    def _heading(self, plan: Plan) -> Iterator[str]:
        better = "higher" if plan.greater_is_better else "lower"
        yield f"{plan.data}: {plan.metric}, {better} is better"
        budget = "" if plan.time_budget is None else f" of {write_seconds(plan.time_budget)}"
        spent = write_seconds(round(self._clock() - self._started))
        if self._last is None:
            yield f"{spent}{budget}, the first fits are under way"
            return
        done, planned = self._last.n_done, self._last.n_planned
        under_way = min(max(self._last.n_under_way, 1), plan.n_jobs, planned - done)  # the next one has begun by now
        yield f"{spent}{budget}, {done} of {planned} fits, {under_way} under way"

    def _table(self, plan: Plan) -> Table:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for header in ("method", "splits", plan.metric, "95 %", "a split"):
            table.add_column(as_text(header), justify="left" if header == "method" else "right", no_wrap=True)
        ranked = self._ranked(plan)
        most = max(self._console.size.height - _AROUND, 1)
        shown = ranked if len(ranked) <= most else ranked[: most - 1]
        for name in shown:
            table.add_row(*(as_text(cell) for cell in self._row(name, plan)))
        if len(shown) < len(ranked):
            table.add_row(as_text(f"… and {len(ranked) - len(shown)} more"))
        return table

    def _ranked(self, plan: Plan) -> list[str]:
        """Order the methods: the best mean first, then those that wait, and those that failed."""
        sign = -1.0 if plan.greater_is_better else 1.0

        def place(name: str) -> tuple[int, float]:
            records = self._records[name]
            if self._is_out(name):
                return 2, 0.0
            mean = _mean(_values(records, plan))
            return (1, 0.0) if mean != mean else (0, sign * mean)

        return sorted(self._records, key=place)

    def _row(self, name: str, plan: Plan) -> list[str]:
        from ..evaluation import mean_interval
        from ..metrics import find_definition

        records, values = self._records[name], _values(self._records[name], plan)
        if self._is_out(name):
            return [name, "left out", NOTHING, NOTHING, _seconds(records)]
        definition = find_definition(plan.metric)
        write = write_percent if definition is not None and definition.is_share else number
        spread = NOTHING
        if len(values) > 2 and not any(record.orders_nothing for record in records):
            interval = mean_interval(values, records[0].n_train, records[0].n_test)
            spread = f"± {write((interval.high - interval.low) / 2)}"
        splits = f"{len(records)} of {plan.n_folds * plan.n_repeats}"
        return [name, splits, write(_mean(values)), spread, _seconds(records)]

    def _is_out(self, name: str) -> bool:
        """Say whether a method has failed, or would take too long."""
        failed = any(record.problem is not None for record in self._records[name])
        return failed or (self._last is not None and name not in self._last.active)


def describe_plan(plan: Plan) -> Iterator[str]:
    """Say before the first fit how much memory there is need of, and what is left out for want of it."""
    memory = plan.memory
    jobs = "" if plan.n_jobs == 1 else f", in each of up to {plan.n_jobs} processes"
    free = "" if plan.free_bytes is None else f"; {write_bytes(plan.free_bytes)} are free"
    if memory.heaviest is not None:
        yield (
            f"memory: about {write_bytes(memory.data)} for the data, {write_bytes(memory.needed)} with the heaviest "
            f"method ({memory.heaviest}){jobs}{free}"
        )
    for each in plan.left_out:
        if " GB" in each.reason or " of memory" in each.reason:
            yield f"left out {each.method}: {each.reason}"


def _values(records: Sequence[Record], plan: Plan) -> list[float]:
    found = (record.metrics[plan.metric] for record in records)
    return [value for value in found if value == value]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _seconds(records: Sequence[Record]) -> str:
    return write_seconds(_mean([record.seconds for record in records]))


@contextmanager
def live_board() -> Iterator[LiveBoard | None]:
    """Show a board on stderr while a comparison goes on; None where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    board = LiveBoard(console)
    with Live(board, console=console, transient=True, refresh_per_second=4):
        yield board


# --------------------------------------------------------------------------------------------------
# How it ends: its report, its JSON, and its exit code.


def write_report(table: AnyTable, board: Leaderboard, path: str) -> None:
    """Write the page; somebody who interrupts the closer look has the page without it."""
    from ..report import look_closer, write

    try:
        with progress_bar("looking closer"):
            closer = look_closer(table, board)
    except KeyboardInterrupt:
        closer = None
    write(board, path, closer, date=date.today().isoformat())


def as_plain(board: Leaderboard) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return {
        "data": board.data,
        "standings": [asdict(each) for each in board.standings],
        "left_out": [asdict(each) for each in board.left_out],
        "protocol": asdict(board.protocol),
        "is_complete": board.is_complete,
    }


def exit_if_interrupted(board: Leaderboard) -> None:
    """Exit as any command does that Ctrl-C has ended."""
    if not board.is_complete and not board.time_was_up:
        click.get_current_context().exit(130)
