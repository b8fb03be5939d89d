"""A comparison while it goes on: one line a method, the leader on top; on stderr, and only at a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..writing import NOTHING, write_bytes, write_percent, write_seconds
from .output import as_text, number

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table

    from ..evaluation import Plan, Progress, Record

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
