"""What a person sees: words and tables to stdout, plain when piped; progress to stderr, only at a terminal.

Names come from files of others: what a terminal would obey is written out, here, for everything that is printed.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

import click

from ..writing import visible

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.table import Table as RichTable
    from rich.text import Text


# --------------------------------------------------------------------------------------------------
# Options as they are written on the command line, where the library names them as in Python.


_OPTION = re.compile(
    r"(?<![\w.'\"])(target|group|item|items|weight|time|event|levels|drop|format|left|right|outcome|winner|loser|scores|side|neutral|judge|raw_names)="
    r"(?:True|'(?P<one>[^']*)'|\[(?P<many>[^\]]*)\])?"
)


def as_options(message: str) -> str:
    """Name options as they are written here: ``item='name'`` in Python is ``--item name`` on the command line."""

    def written(match: re.Match[str]) -> str:
        option = f"--{match[1].replace('_', '-')}"
        value = match["one"] if match["many"] is None else match["many"].replace(", ", ",").replace("'", "")
        if value is None:
            return option
        return f"{option} {shlex.quote(value)}"

    return _OPTION.sub(written, message).replace("`groups`", "--group")


# --------------------------------------------------------------------------------------------------
# Printing.


class _Outlet(io.FileIO):
    """Standard output or error; once nobody reads it any more, what is written to it is dropped."""

    def write(self, content: Any, /) -> int:
        try:
            return super().write(content)
        except OSError as error:
            # whatever waits to be written, here and when Python exits, must not fail once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            gone = isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == errno.EINVAL)
            if gone or self.fileno() == 2:  # of errors there is nobody left to tell
                return memoryview(content).nbytes
            raise OSError(error.errno, error.strerror, "standard output") from None


def outlive_readers() -> None:
    """Carry on when the reader of standard output or error has gone: a command may still have files to write.

    What goes to a file or a pipe is the same bytes everywhere, UTF-8 with LF for line ends as in the files that we
    write; whoever sets ``PYTHONIOENCODING`` has it his way. A terminal shows what it can.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed before we began
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for as long as we run)
        elif stream is getattr(sys, f"__{name}__") and not stream.isatty():  # tests have their own; a person stays
            outlet = io.BufferedWriter(_Outlet(stream.fileno(), "wb", closefd=False))
            encoding = stream.encoding if "PYTHONIOENCODING" in os.environ else "utf-8"
            kept = {"errors": stream.errors, "line_buffering": stream.line_buffering}
            setattr(sys, name, io.TextIOWrapper(outlet, encoding=encoding, newline="\n", **kept))
        elif stream.isatty() and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str = "", *, err: bool = False) -> None:
    """Print one line or several; ``err`` sends to stderr what is not a result."""
    click.echo(visible(text, keep="\n"), err=err)


def print_json(value: Any) -> None:
    """Print one JSON value; NaN becomes null."""
    text = json.dumps(_plain(value), ensure_ascii=False, indent=2)
    click.echo(visible(text, keep="\n", as_json=True))


def as_text(name: str) -> Text:
    """Return a name for rich to print on one line: its brackets are brackets, not styles."""
    from rich.text import Text

    return Text(visible(name))


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


_GAP = 2
"""Blanks between the columns of a table."""


def make_table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), whole: Sequence[int] = ()
) -> RichTable:
    """Lay a table out; ``right`` numbers the columns that are set to the right, ``whole`` others that are not wrapped.

    Neither are ever made narrower than what stands in them.
    """
    from rich import box
    from rich.table import Table

    named = any(headers)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True, show_header=named)
    for number, (header, width) in enumerate(zip(headers, _widths(headers, rows), strict=True)):
        is_whole = number in (*right, *whole)
        justify: Literal["left", "right"] = "right" if number in right else "left"
        table.add_column(as_text(header), justify=justify, no_wrap=is_whole, min_width=width if is_whole else None)
    for row in rows:
        table.add_row(*(as_text(cell) for cell in row))
    return table


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], **columns: Sequence[int]) -> None:
    """Print a table as :func:`make_table` lays it out; a terminal too narrow for it breaks its lines."""
    from rich.console import Console

    table, unbounded = make_table(headers, rows, **columns), Console(width=10_000)
    Console(width=max(width_of_terminal(), unbounded.measure(table).minimum), highlight=False).print(table)


def columns_that_fit(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return how many columns the terminal has room for, from the left, with none of them wrapped."""
    reaches = accumulate(width + _GAP for width in _widths(headers, rows))
    return sum(reach <= width_of_terminal() + _GAP for reach in reaches)


def _widths(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    from rich.cells import cell_len

    return [max(cell_len(visible(cell)) for cell in column) for column in zip(headers, *rows, strict=True)]


class Bar:
    """A progress bar that any part of the work may advance."""

    def __init__(self, progress: Progress | None, task: TaskID | None) -> None:
        self._progress, self._task = progress, task

    def show(self, done: float, total: float, text: str) -> None:
        """Say how far the work is."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total, description=visible(text))


@contextmanager
def progress_bar(text: str) -> Iterator[Bar]:
    """Show a bar on stderr while the work goes on; nothing where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield Bar(None, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress, progress.add_task(visible(text), total=None))
