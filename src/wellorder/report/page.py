"""A leaderboard as one HTML file that opens anywhere and fetches nothing."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

from ..evaluation.leaderboard import Leaderboard
from ..whole_files import write_whole
from ..writing import counted
from .closer_look import CloserLook
from .duel_table import lay_out_duel
from .layout import environment, script_hash, source, without_folders
from .method import explain_metrics, explain_protocol
from .pictures import Picture, make_pictures, make_reasons
from .table import SCALE, make_table
from .wording import (
    caution,
    claim,
    describe_metric,
    in_plain_words,
    is_share,
    metric_title,
    no_better_than_chance,
    rivals,
)

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")


def render(leaderboard: Leaderboard, closer: CloserLook | None = None, *, date: object = None) -> str:
    """Return a leaderboard as a self-contained page: text, tables and figures in one file.

    Pure: the same leaderboard and date give the same characters. Nothing is fetched when it is opened.

    Parameters
    ----------
    leaderboard : Leaderboard
    closer : CloserLook, optional
        What :func:`look_closer` found: lists one by one, what differences are worth, why A stands above B.
    date : str or date, optional
        When it was computed, to be written on the page; nothing is written without it.

    Examples
    --------
    >>> from wellorder.evaluation.leaderboard import Leaderboard, Protocol, Standing
    >>> from wellorder.report import render
    >>> best = Standing("rank-svm", "", False, 5, 0.259, 0.247, 0.271, {}, None, 0.0, 0.1, {})
    >>> protocol = Protocol("rows", 5, 1, 3, 0, "swapped_pairs", ("swapped_pairs",))
    >>> page = render(Leaderboard("wines.csv", False, (best,), (), (), protocol))
    >>> "orders 74.1 % of held-out pairs rightly (72.9–75.3 %)" in page
    True
    """
    protocol, closer = leaderboard.protocol, closer or CloserLook()
    comparisons = protocol.split_by == "pairs"
    script = source("sort.js")
    metrics = explain_metrics(protocol)
    standings = leaderboard.standings
    page = environment().get_template("page.html")
    pictures, reasons = make_pictures(leaderboard, closer), make_reasons(closer)
    failures, notes = _failures(leaderboard), _notes(leaderboard)
    return page.render(
        board=leaderboard,
        contents=_contents(leaderboard, pictures, closer, bool(failures), bool(notes)),
        title=without_folders(leaderboard.data),
        protocol=protocol,
        date="" if date is None else str(date),
        style=source("page.css"),
        script=script,
        script_hash=script_hash(script),
        claim=claim(leaderboard) if standings else "",
        in_plain_words=in_plain_words(leaderboard) if standings else "",
        rivals=rivals(standings) if standings else "",
        caution=(no_better_than_chance(leaderboard) or caution(standings)) if standings else "",
        summary=_summary(leaderboard),
        undone=_undone(leaderboard),
        table=make_table(leaderboard),
        scale=SCALE,
        metric=metric_title(protocol.metric),
        is_share=is_share(protocol.metric),
        metric_meaning=describe_metric(protocol.metric, comparisons=comparisons),
        other_metrics=metrics[1:],
        levels_title="Outcomes" if comparisons else "Rows of each grade",
        failures=failures,
        notes=notes,
        most_rows=max((count for _, count in leaderboard.health.levels), default=0) if leaderboard.health else 0,
        pictures=pictures,
        duel=None if closer.duel is None else lay_out_duel(closer.duel),
        reasons=reasons,
        looked_at=closer.looked_at,
        steps=explain_protocol(leaderboard),
        metrics=metrics,
    )


def write(
    leaderboard: Leaderboard,
    path: str | os.PathLike[str],
    closer: CloserLook | None = None,
    *,
    date: object = None,
) -> Path:
    """Write the page of a leaderboard to a file, and return where it is.

    Parameters
    ----------
    leaderboard : Leaderboard
    path : path-like
        A file that is there already is replaced.
    closer : CloserLook, optional
        What :func:`look_closer` found.
    date : str or date, optional
        When it was computed, to be written on the page.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from wellorder.evaluation.leaderboard import Leaderboard, Protocol
    >>> from wellorder.report import write
    >>> protocol = Protocol("rows", 5, 1, 3, 0, "swapped_pairs", ("swapped_pairs",))
    >>> empty = Leaderboard("wines.csv", False, (), (), (), protocol, is_complete=False)
    >>> write(empty, pathlib.Path(tempfile.mkdtemp()) / "report.html").name
    'report.html'
    """
    return write_whole(path, render(leaderboard, closer, date=date))


def _summary(leaderboard: Leaderboard) -> tuple[str, ...]:
    """Say in a few words how much was done."""
    protocol, records = leaderboard.protocol, leaderboard.records
    n_methods, n_splits = len(leaderboard.standings), max((each.n_splits for each in leaderboard.standings), default=0)
    parts = [counted(n_methods, "method"), counted(n_splits, "split")]
    if records:
        what = "comparison" if protocol.split_by == "pairs" else "graded row"
        parts.append(counted(max(record.n_train + record.n_test for record in records), what))
        parts.append(counted(len(records), "fit"))
    return tuple(parts)


def _undone(leaderboard: Leaderboard) -> str:
    """Say how far an interrupted run came; an empty text where it is complete."""
    if leaderboard.is_complete:
        return ""
    planned = leaderboard.protocol.n_folds * leaderboard.protocol.n_repeats
    done = [each.n_splits for each in leaderboard.standings]
    if not done:
        return "No method was finished on any split."
    least, most = min(done), max(done)
    reached = f"{least}" if least == most else f"{least} to {most}"
    return f"Methods were judged on {reached} of {counted(planned, 'planned split')}."


def _contents(
    leaderboard: Leaderboard, pictures: tuple[Picture, ...], closer: CloserLook, failed: bool, warned: bool
) -> list[tuple[str, str]]:
    """Return (id, heading) of the sections that there are, in reading order."""
    sections = [
        ("leaderboard", "Leaderboard", bool(leaderboard.standings)),
        *((f"picture-{picture.name}", picture.short, True) for picture in pictures),
        ("duel", "List by list", closer.duel is not None),
        ("why", "Why one stands above another", bool(closer.whys)),
        ("health", "The data", leaderboard.health is not None),
        ("left-out", "Left out", bool(leaderboard.left_out) or failed),
        ("notes", "Warnings", warned),
        ("method", "How it was computed", True),
    ]
    return [(name, heading) for name, heading, is_there in sections if is_there]


def _failures(leaderboard: Leaderboard) -> list[tuple[str, str, str]]:
    """Gather failed fits: (method, why, in how many splits)."""
    counts = Counter((record.method, record.problem) for record in leaderboard.records if record.problem)
    return [(method, str(problem), counted(count, "split")) for (method, problem), count in counts.items()]


def _notes(leaderboard: Leaderboard) -> list[tuple[str, str, str]]:
    """Gather what fits warned of: (method, what, in how many splits); what differs in numbers only is told once."""
    told: dict[tuple[str, str], tuple[str, set[tuple[int, int]]]] = {}
    for record in leaderboard.records:
        for note in sorted(set(record.notes)):
            _, splits = told.setdefault((record.method, _NUMBER.sub("#", note)), (note, set()))
            splits.add((record.repeat, record.fold))
    return [(method, note, counted(len(splits), "split")) for (method, _), (note, splits) in sorted(told.items())]
