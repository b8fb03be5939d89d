"""Methods over several data sets as one page: mean ranks, which are not told apart, and every mean."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from ..evaluation import METHODS, Cell, MeansAcross, is_share
from ..figures import CriticalDifferenceDisplay, to_svg
from ..whole_files import write_whole
from ..writing import counted, write_metric, write_p_value
from .page import environment, script_hash, source, without_folders
from .wording import describe_metric, metric_title


@dataclass(frozen=True)
class AcrossRow:
    """One method's row of the table."""

    method: str
    about: str
    is_baseline: bool
    rank: Cell
    is_best: bool
    is_close: bool
    """Whether the method is the best, or not told apart from the best."""
    cells: tuple[Cell, ...]
    best: tuple[bool, ...]
    """The data sets on which the method has the best mean."""


def render_across(means: MeansAcross, *, date: object = None) -> str:
    """Return methods over several data sets as a self-contained page.

    Pure, as :func:`wellorder.report.render` is.

    Parameters
    ----------
    means : MeansAcross
        What :func:`wellorder.evaluation.across.means_across` gave.
    date : str or date, optional
        When it was computed.

    Examples
    --------
    >>> from wellorder.evaluation.across import MeansAcross
    >>> from wellorder.report import render_across
    >>> means = MeansAcross("ndcg@10", True, ("films", "wines"), ("ridge", "rank-svm"), ((0.5, 0.7), (0.6, 0.8)))
    >>> "has the best mean rank, 1.00, over 2 data sets" in render_across(means)
    True
    """
    display = CriticalDifferenceDisplay(means.means, means.methods, greater_is_better=means.greater_is_better)
    leaders = [
        name for name, rank in zip(display.methods, display.mean_ranks, strict=True) if rank == display.mean_ranks[0]
    ]
    script = source("sort.js")
    names = _short_data(means.data)
    return (
        environment()
        .get_template("across.html")
        .render(
            title=f"{counted(len(means.methods), 'method')} on {counted(len(means.data), 'data set')}",
            leaders=leaders,
            claim=f"{'has' if len(leaders) == 1 else 'share'} the best mean rank, {display.mean_ranks[0]:.2f}, over "
            f"{counted(len(means.data), 'data set')}",
            rivals=_rivals(display),
            plainly="On each data set the methods are ranked, 1 being the best; a method's ranks are then averaged.",
            caution=_caution(display),
            date="" if date is None else str(date),
            style=source("page.css"),
            script=script,
            script_hash=script_hash(script),
            svg=Markup(to_svg(display, name="ranks", title="Mean ranks of the methods over the data sets")),
            caption=_caption(display),
            rows=_rows(means, display),
            data=tuple(zip(names, means.data, strict=True)),
            metric=metric_title(means.metric),
            meaning=describe_metric(means.metric),
            left_out=[(name, f"{n} of {len(means.data)}") for name, n in means.left_out],
            steps=_steps(display),
        )
    )


def write_across(means: MeansAcross, path: str | os.PathLike[str], *, date: object = None) -> Path:
    """Write the page of several data sets to a file, and return where it is.

    Parameters
    ----------
    means : MeansAcross
    path : path-like
        A file that is there already is replaced.
    date : str or date, optional

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from wellorder.evaluation.across import MeansAcross
    >>> from wellorder.report import write_across
    >>> means = MeansAcross("ndcg@10", True, ("films", "wines"), ("ridge", "rank-svm"), ((0.5, 0.7), (0.6, 0.8)))
    >>> write_across(means, pathlib.Path(tempfile.mkdtemp()) / "across.html").name
    'across.html'
    """
    return write_whole(path, render_across(means, date=date))


def _rows(means: MeansAcross, display: CriticalDifferenceDisplay) -> tuple[AcrossRow, ...]:
    best = [max(row) if means.greater_is_better else min(row) for row in means.means]
    rows = []
    for name, rank in zip(display.methods, display.mean_ranks, strict=True):
        column = means.methods.index(name)
        values = [row[column] for row in means.means]
        rows.append(
            AcrossRow(
                name,
                METHODS[name].about if name in METHODS else "",
                name in METHODS and METHODS[name].is_baseline,
                Cell(f"{rank:.2f}", rank),
                rank == display.mean_ranks[0],
                not display.tells_apart(display.mean_ranks[0], rank),
                tuple(Cell(write_metric(value, is_share=is_share(means.metric)), value) for value in values),
                tuple(value == top for value, top in zip(values, best, strict=True)),
            )
        )
    return tuple(rows)


def _rivals(display: CriticalDifferenceDisplay) -> str:
    ranks = display.mean_ranks
    worse = [name for name, rank in zip(display.methods, ranks, strict=True) if display.tells_apart(ranks[0], rank)]
    if not worse:
        return "no other method is told apart from the best"
    told = worse[0] if len(worse) == 1 else f"{counted(len(worse), 'method')}"
    rest = len(ranks) - 1 - len(worse)
    close = f", {rest} cannot be told apart from the best" if rest else ""
    return f"{told} {'is' if len(worse) == 1 else 'are'} worse beyond chance{close}"


def _caution(display: CriticalDifferenceDisplay) -> str:
    """Say where data sets are too few to tell anything."""
    if display.lack_of_sets:
        return f"{display.lack_of_sets}; the order of the ranks may be chance."
    if display.p_value >= display.alpha:
        return (
            f"All methods together cannot be told apart on these {display.n_sets} data sets (Friedman's test, "
            f"{write_p_value(display.p_value)}): the order of the ranks may be chance."
        )
    if display.difference >= len(display.methods) - 1:
        return f"{display.n_sets} data sets are too few to tell even the best from the worst by their mean ranks."
    return ""


def _caption(display: CriticalDifferenceDisplay) -> str:
    joined = " A thick line joins methods that are not told apart." if display.cliques else ""
    apart = display.lack_of_sets or f"Two are told apart from {display.difference:.2f} ranks on"
    return f"Mean ranks, the best to the left.{joined} {apart}."


def _steps(display: CriticalDifferenceDisplay) -> tuple[tuple[str, str], ...]:
    return (
        (
            "Means",
            "Of each data set, the splits that all its methods have finished (what was given up before half of them is "
            "left aside); a method is ranked if it has a value on every data set. Every data set counts the same, "
            "whatever its size; equal means share their ranks.",
        ),
        (
            "Tests",
            "Friedman's test asks whether any two methods differ at all (by all orders that they could have on the "
            "data sets; from 16 sets on, in Iman and Davenport's form); Nemenyi's, how far apart two mean ranks must "
            "be, at 5 % over every two methods: "
            f"{display.difference:.2f} for {counted(len(display.methods), 'method')} on "
            f"{counted(display.n_sets, 'data set')}. “Not told apart” does not mean equal.",
        ),
    )


def _short_data(data: tuple[str, ...]) -> tuple[str, ...]:
    """Return file names without folders, where they are then still apart."""
    short = tuple(without_folders(name) for name in data)
    return short if len(set(short)) == len(data) else data
