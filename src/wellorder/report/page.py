"""A leaderboard as one HTML file that opens anywhere and fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..evaluation import Importance, Leaderboard, Protocol, is_share, view_board
from ..figures import legible, plain
from ..whole_files import write_whole
from ..writing import counted, write_bytes, write_seconds
from .closer_look import CloserLook
from .pictures import Picture, lay_out_duel, make_pictures, make_reasons
from .ranked import Ranking, Room, lay_out_ranking
from .wording import (
    SCALE,
    caution,
    claim,
    describe_metric,
    in_plain_words,
    lay_out,
    metric_title,
    monotone_sentence,
    no_better_than_chance,
    out_of_time,
    rivals,
)

# --------------------------------------------------------------------------------------------------
# How pages are made: templates in which everything is escaped, and nothing is fetched.


@cache
def environment() -> Environment:
    """Return the templates; whatever is put into one is escaped, and what no page may hold is taken out."""
    made = Environment(
        loader=PackageLoader("wellorder.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["zip"] = zip
    made.filters["shortened"] = partial(plain, most=44)
    return made


def source(name: str) -> str:
    """Return a file of the templates as it is."""
    made = environment()
    assert made.loader is not None
    return made.loader.get_source(made, name)[0]


def script_hash(script: str) -> str:
    """Return the hash by which the page's security policy allows its one script: no other will run."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def without_folders(data: str) -> str:
    """Return a file's name without the folders it lies in, which say more about a machine than about the data."""
    return data.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or data


def _clean(value: Any) -> Any:
    """Take out of names what no page may hold; markup of our own making stays as it is."""
    return legible(value) if type(value) is str else value


# --------------------------------------------------------------------------------------------------
# How a comparison was computed, told to someone who has to decide whether to believe it.


_KEPT_TOGETHER = {
    "groups": "All rows of a group stay together, in the training part or in the test part: no method has seen a "
    "group that it is judged on.",
    "rows": "Rows were dealt out one by one, so that every part has about the same share of each grade.",
    "pairs": "All comparisons of the same two items stay together, so that no rematch of a training pair is in the "
    "test part.",
}


_CONVENTIONS = {
    "grades": "A higher score stands above; a higher grade is better. Only rows of one group are compared. A pair with "
    "tied scores counts as swapped; metrics of the top of a list take the exact expectation over tied rows. Rows "
    "without a grade take no part.",
    "comparisons": "A higher score stands above. A decided comparison with tied scores counts as swapped. A comparison "
    "that ended in a tie says nothing about who stands above; it counts where ties are to be told from differences. "
    "Methods that only order items predict no ties, and have every tie wrong in the comparison error. Ratings go by "
    "the items' names and the order of the file; an item in no training comparison has the rating that all start with.",
}


def explain_protocol(leaderboard: Leaderboard) -> tuple[tuple[str, str], ...]:
    """Return (heading, text) for each step of the protocol, in reading order."""
    protocol = leaderboard.protocol
    steps = [
        ("Splits", _splits(leaderboard)),
        ("Searches", _searches(protocol)),
        ("Intervals", _intervals(leaderboard)),
        ("Tests", _tests(leaderboard)),
        *_machine(protocol),
        ("Conventions", _CONVENTIONS["comparisons" if protocol.split_by == "pairs" else "grades"]),
        ("Chance", _chance(leaderboard)),
    ]
    return tuple(steps)


def explain_metrics(protocol: Protocol) -> tuple[tuple[str, str], ...]:
    """Return (title, meaning) for everything that was measured."""
    comparisons = protocol.split_by == "pairs"
    return tuple((metric_title(name), describe_metric(name, comparisons=comparisons)) for name in protocol.metrics)


def _splits(leaderboard: Leaderboard) -> str:
    protocol = leaderboard.protocol
    done = "was done" if leaderboard.is_complete else "was to be done"
    if protocol.time is not None:
        return (
            f"The later half of the data, by {protocol.time!r}, was cut into {protocol.n_folds} stretches; each in "
            "turn is the test part, and all that came before it is the training part. Every method sees the same "
            "splits."
        )
    again = (
        "" if protocol.n_repeats == 1 else f"; all of it {done} {protocol.n_repeats} times, with new parts each time"
    )
    together = _KEPT_TOGETHER.get(protocol.split_by, f"What stays together: {protocol.split_by}.")
    if protocol.n_folds == 1:
        return f"The data was split once into a training part and a test part{again}. {together}"
    return (
        f"The data was cut into {protocol.n_folds} parts; each in turn is the test part, the others are the training "
        f"part{again}. Every method sees the same splits. {together}"
    )


def _searches(protocol: Protocol) -> str:
    budget = ""
    if protocol.time_budget is not None:
        budget = (
            f" The time for everything was limited to {write_seconds(protocol.time_budget)}, which decides what is "
            "left out and how often all is repeated."
        )
    if protocol.planned_repeats is not None:
        budget += f" Of {protocol.planned_repeats} planned repeats there was time for {protocol.n_repeats}."
    if protocol.monotone:
        budget += f" {monotone_sentence(protocol.monotone)}"
    encoding = "as was every scaling and encoding of columns"
    if protocol.split_by == "pairs":
        encoding = "while features were scaled and encoded over all items, without a look at any outcome"
    return (
        f"Parameters were searched inside each training part only ({protocol.inner_folds}-fold, by "
        f"{metric_title(protocol.metric)}), {encoding}; the test part was touched once, to judge.{budget}"
    )


def _machine(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Say how much memory was expected to be needed, and how many trials ran at a time."""
    memory = protocol.memory
    if memory is None or memory.heaviest is None:
        return
    jobs = "one at a time" if protocol.n_jobs == 1 else f"up to {protocol.n_jobs} at a time"
    yield (
        "Memory",
        f"The data were reckoned to take {write_bytes(memory.data)} of memory, and {write_bytes(memory.needed)} with "
        f"the heaviest method, {memory.heaviest}. Trials ran {jobs}, which changes no result.",
    )


def _chance(leaderboard: Leaderboard) -> str:
    """Say what can be repeated: the lines name what there was time for, and set no limit of time themselves."""
    seeded = f"Everything random is drawn from the seed {leaderboard.protocol.seed}"
    if not leaderboard.protocol.code:
        return f"{seeded}."
    if not leaderboard.is_complete:
        return f"{seeded}. The lines below compute all that was planned, however long it takes."
    return f"{seeded}. The lines below name what there was time for; with the same versions they give the same numbers."


def _tests(leaderboard: Leaderboard) -> str:
    how = (
        "Each method is compared with the leader split by split (corrected resampled paired t test). The leader was "
        "chosen on the same splits, so the p values are corrected for all tests of two methods that there could be "
        "(Holm over every two methods)"
    )
    if leaderboard.hears_rows:
        units = {"groups": "lists", "pairs": "items that were compared"}.get(leaderboard.protocol.split_by, "rows")
        how = (
            f"Each method is compared with the leader on the same held-out {units}: how much each of them adds to the "
            "values of all methods tells how these vary together. The leader was chosen on the same data, and so is "
            "the leader of every draw from equal methods that its lead is held against"
        )
    return (
        f"{how}: where all methods are alike, one of them is called worse in about 5 % of comparisons at most. “Not "
        "told apart” means p ≥ 0.05: the difference may be chance. It does not mean that the two are equal."
    )


def _intervals(leaderboard: Leaderboard) -> str:
    if leaderboard.hears_rows:
        return (
            "The range in which the mean over all such splits of data like this lies, with 95 % confidence: by how "
            "much the held-out rows differ, and by how much results hang on the rows that were learned from."
        )
    if max((each.n_splits for each in leaderboard.standings), default=0) < 2:
        return "One split tells nothing about chance, so there is no interval. Use more folds or repeats to get one."
    return (
        "The range in which the mean over all such splits of data like this lies, with 95 % confidence. It is widened "
        "because training parts overlap (Nadeau and Bengio's correction)."
    )


# --------------------------------------------------------------------------------------------------
# The page.


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
    script = source("sort.js") + source("search.js")
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
        caution=(no_better_than_chance(leaderboard) or caution(standings, out_of_time(leaderboard)))
        if standings
        else "",
        summary=_summary(leaderboard),
        view=view_board(leaderboard),
        scale=lay_out(leaderboard),
        width=SCALE,
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
        no_time=closer.left_out,
        order=closer.order,
        ranking=_ranking(closer),
        matters=_with_title(closer.importance),
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


def _ranking(closer: CloserLook) -> Ranking | None:
    """Lay out a few of the items: here they are one section of many."""
    if closer.order is None:
        return None
    room = Room(whole=30, first=20, last=5, lists=5)
    return lay_out_ranking(closer.order.ordered, closer.order.chances, closer.order.remarks, room)


def _with_title(found: Importance | None) -> Importance | None:
    """Call the metric what the page calls it."""
    return None if found is None else replace(found, metric=metric_title(found.metric))


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


def _contents(
    leaderboard: Leaderboard, pictures: tuple[Picture, ...], closer: CloserLook, failed: bool, warned: bool
) -> list[tuple[str, str]]:
    """Return (id, heading) of the sections that there are, in reading order."""
    sections = [
        ("leaderboard", "Leaderboard", bool(leaderboard.standings)),
        *((f"picture-{picture.name}", picture.short, True) for picture in pictures),
        ("duel", "List by list", closer.duel is not None),
        ("items", "The items", closer.order is not None),
        ("matters", "What matters", closer.importance is not None),
        ("why", "Why one stands above another", bool(closer.whys)),
        ("health", "The data", leaderboard.health is not None),
        ("left-out", "Left out", bool(leaderboard.left_out or closer.left_out) or failed),
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
