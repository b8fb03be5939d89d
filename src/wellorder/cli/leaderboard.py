"""A comparison at the command line: while it goes on, its leaderboard, and how it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from ..writing import NOTHING, write_bytes, write_seconds
from .output import as_text, columns_that_fit, make_table, print_table, progress_bar, say

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table

    from ..evaluation import AnyTable, BoardView, Leaderboard, Plan, Progress, Record


# --------------------------------------------------------------------------------------------------
# The leaderboard, and how to go on where it is not complete.


_LEAST = 5
"""Columns of a leaderboard that are always shown: up to how each method stands against the best."""


def print_leaderboard(board: Leaderboard, records: str | None = None) -> None:
    """Print the methods from best to worst, what was left out, and how to go on from the file of records."""
    from ..evaluation import view_board

    view = view_board(board)
    say(f"{view.data}: {view.title}")
    n = max(_LEAST, columns_that_fit(view.headers, [row.cells for row in view.rows]))
    rows = [row.cells[:n] for row in view.rows]
    print_table(view.headers[:n], rows, right=(0, 2, *range(_LEAST, n)), whole=(1, 3))
    for line in view.below:
        say(line)
    if view.missing:
        say(how_to_go_on(board, records))


def how_to_go_on(board: Leaderboard, records: str | None) -> str:
    """Say what a comparison that is not complete lacks, and how to complete it."""
    from ..evaluation import view_board

    if board.time_was_up:
        advice = "a larger --time-budget does the rest" + ("" if records is None else f", and goes on from {records}")
    elif records is None:
        advice = "with --report or --records it could go on from there"
    else:
        advice = f"the same command goes on from {records}"
    return f"{view_board(board).missing}; {advice}"


# --------------------------------------------------------------------------------------------------
# While it goes on: one line a method, the leader on top; on stderr, and only at a terminal.


_AROUND = 5
"""Lines of the screen that are not methods: what is compared, the progress, the header, and room for the cursor."""


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
        """Note what has just been done."""
        self._last = progress
        self._records.setdefault(progress.record.method, []).append(progress.record)

    def __rich__(self) -> Group | str:
        """Draw the board, as much of it as the screen has lines for."""
        from rich.console import Group

        from ..evaluation import make_standing, view_so_far

        if self._plan is None:
            return "reading"
        metric = [self._plan.metric], self._plan.definition
        standings = [make_standing(records, name, *metric) for name, records in self._records.items()]
        view = view_so_far(self._plan, standings, {name for name in self._records if self._is_out(name)})
        lines = [as_text(text) for text in (f"{view.data}: {view.title}", self._how_far(self._plan))]
        for line in lines:
            line.overflow, line.no_wrap = "ellipsis", True
        return Group(*lines, self._table(view))

    def _how_far(self, plan: Plan) -> str:
        budget = "" if plan.time_budget is None else f" of {write_seconds(plan.time_budget)}"
        spent = write_seconds(round(self._clock() - self._started))
        if self._last is None:
            return f"{spent}{budget}, the first fits are under way"
        done, planned = self._last.n_done, self._last.n_planned
        under_way = min(max(self._last.n_under_way, 1), plan.n_jobs, planned - done)  # the next one has begun by now
        return f"{spent}{budget}, {done} of {planned} fits, {under_way} under way"

    def _table(self, view: BoardView) -> Table:
        most = max(self._console.size.height - _AROUND, 1)
        shown = view.rows if len(view.rows) <= most else view.rows[: most - 1]
        rows = [[row.method, row.splits, row.value.text, row.interval or NOTHING, row.seconds.text] for row in shown]
        if len(shown) < len(view.rows):
            rows.append([f"… and {len(view.rows) - len(shown)} more", *[""] * 4])
        headers = ("method", "splits", view.metric, "95 % interval", "a split")
        return make_table(headers, rows, right=range(1, len(headers)), whole=(0,))

    def _is_out(self, name: str) -> bool:
        """Say whether a method has failed, or would take too long."""
        failed = any(record.problem is not None for record in self._records[name])
        return failed or (self._last is not None and name not in self._last.active)


def describe_plan(plan: Plan) -> Iterator[str]:
    """Say before the first fit how much memory is needed, and what is left out for want of it."""
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
    """Write the page; if the closer look is interrupted, the page is written without it."""
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
        "hears_rows": board.hears_rows,
        "more_needed": board.more_needed if board.more_needed is not None and isfinite(board.more_needed) else None,
    }


def exit_if_interrupted(board: Leaderboard) -> None:
    """Exit with the code of any command that Ctrl-C has ended."""
    if not board.is_complete and not board.time_was_up:
        click.get_current_context().exit(130)
