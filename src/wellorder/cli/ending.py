"""How a comparison ends at the command line: its report, its JSON, and its exit code."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from .output import progress_bar

if TYPE_CHECKING:
    from ..evaluation import Leaderboard
    from ..evaluation.tasks import AnyTable


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
