"""What a person sees: tables to stdout, plain when piped; progress to stderr, only at a terminal."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..writing import NOTHING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def print_json(value: Any) -> None:
    """Print one JSON value; NaN becomes null."""
    click.echo(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def width_of_terminal() -> int:
    """Return how many columns stdout has; what is piped has plenty."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 160


def print_table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), whole: Sequence[int] = ()
) -> None:
    """Print a table; ``right`` numbers the columns that are set to the right, ``whole`` others that are not wrapped."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, header in enumerate(headers):
        table.add_column(
            Text(header), justify="right" if number in right else "left", no_wrap=number in (*right, *whole)
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(width=width_of_terminal(), highlight=False).print(table)


class Bar:
    """A progress bar that anybody may push on."""

    def __init__(self, progress: Progress | None, task: TaskID | None) -> None:
        self._progress, self._task = progress, task

    def show(self, done: float, total: float, text: str) -> None:
        """Say how far the work is."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total, description=text)


@contextmanager
def progress_bar(text: str) -> Iterator[Bar]:
    """Show a bar on stderr while the work goes on; nothing where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield Bar(None, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress, progress.add_task(text, total=None))


def number(value: float, digits: int = 4) -> str:
    """Write a number, or – where there is none."""
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"
