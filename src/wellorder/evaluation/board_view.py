"""A leaderboard as it is read: rows of texts made once, which terminal, live table, notebook and page only draw."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import TYPE_CHECKING

from ..metrics import find_definition
from ..writing import (
    NOTHING,
    counted,
    visible,
    write_interval,
    write_metric,
    write_p_value,
    write_params,
    write_seconds,
)
from .methods import METHODS
from .significance import TOLD_APART

if TYPE_CHECKING:
    from .board_run import Plan
    from .leaderboard import Leaderboard, Standing

_WORDS = 4
"""The column that says how a method stands against the best; the columns after it are numbers."""

_KEPT = {"groups": "whole lists", "rows": "rows", "pairs": "comparisons, rematches together"}
_IN_TIME = {"groups": "lists", "pairs": "comparisons"}


@dataclass(frozen=True)
class Cell:
    """A number as it is written, and as it is sorted."""

    text: str
    value: float | None


@dataclass(frozen=True)
class BoardRow:
    """One method's line."""

    place: int
    method: str
    about: str
    is_baseline: bool
    is_worse: bool
    """Whether it is worse than the leader: beyond chance, or because it orders nothing on some split. Never if it had
    too little time."""
    is_cut_short: bool
    """Whether it is behind the leader, but was cut short by its time limit."""
    splits: str
    """The number of splits it was judged on, such as "3 of 10"."""
    lacks_splits: bool
    value: Cell
    interval: str
    """Empty if the splits do not give one."""
    verdict: str
    p: Cell
    """The p-value against the leader; empty if nothing was tested."""
    others: tuple[Cell, ...]
    """The other metrics."""
    search: Cell
    fit: Cell
    seconds: Cell
    """Seconds to search and to fit, per split."""
    params: tuple[str, ...]
    """What the searches chose most often."""

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands below :attr:`BoardView.headers`."""
        told = ", ".join(filter(None, (self.verdict, self.p.text)))
        numbers = (each.text for each in (*self.others, self.search, self.fit))
        return (f"{self.place}", self.method, self.value.text, self.interval or NOTHING, told, *numbers)


@dataclass(frozen=True)
class BoardView:
    """All lines, the best first, and what is said above and below them."""

    data: str
    metric: str
    title: str
    """What was compared, and which way is better."""
    others: tuple[str, ...]
    """The other metrics."""
    rows: tuple[BoardRow, ...]
    notes: tuple[str, ...] = ()
    """What a reader of the rows must know."""
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Why methods were left out, and for each reason which."""
    missing: str = ""
    """What remains to be done of an incomplete comparison."""

    @property
    def headers(self) -> tuple[str, ...]:
        """What stands above :attr:`BoardRow.cells`."""
        return ("", "method", self.metric, "95 % interval", "against the best", *self.others, "search", "fit")

    @property
    def below(self) -> tuple[str, ...]:
        """The lines below a table: what must be known of it, and what is not in it."""
        baselines = [row.method for row in self.rows if row.is_baseline]
        tagged = (f"baselines: {', '.join(baselines)}",) if baselines else ()
        left_out = (f"left out {', '.join(methods)}: {reason}" for reason, methods in self.left_out.items())
        return (*tagged, *self.notes, *left_out)

    def as_text(self) -> str:
        """Write the title and all rows in plain lines, however long."""
        return "\n".join(
            [visible(f"{self.data}: {self.title}"), *_columns([self.headers, *(row.cells for row in self.rows)])]
        )

    def on_screen(self, most: int, width: int) -> str:
        """Write what fits a screen: the first rows, each with its value, its interval and a word on it."""
        words = ((*row.cells[:_WORDS], row.verdict) for row in self.rows[:most])
        lines = _columns([self.headers[: _WORDS + 1], *words])
        title = wrap(visible(f"{self.data}: {self.title}"), width, break_on_hyphens=False)
        return "\n".join([*title, *(line if len(line) <= width else f"{line[: width - 1]}…" for line in lines)])


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Set texts below each other; numbers to the right."""
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = {0, 2, *range(_WORDS + 1, len(sizes))}
    return [
        visible(
            "  ".join(
                cell.rjust(size) if place in numbers else cell.ljust(size)
                for place, (cell, size) in enumerate(zip(row, sizes, strict=True))
            ).rstrip()
        )
        for row in rows
    ]


def view_board(board: Leaderboard) -> BoardView:
    """Write a leaderboard out.

    Examples
    --------
    >>> from wellorder.evaluation import Leaderboard, Protocol, Standing, view_board
    >>> best = Standing("rank-svm", "", False, 5, 0.259, 0.247, 0.271, {}, None, 0.0, 0.1, {})
    >>> next_ = Standing("ridge", "", True, 5, 0.264, 0.251, 0.277, {}, 0.21, 0.0, 0.1, {})
    >>> protocol = Protocol("rows", 5, 1, 3, 0, "swapped_pairs", ("swapped_pairs",))
    >>> view = view_board(Leaderboard("wines.csv", False, (best, next_), (), (), protocol))
    >>> view.title, view.below
    ('2 methods on 5 splits of rows; swapped_pairs, lower is better', ('baselines: ridge',))
    >>> view.rows[1].cells
    ('2', 'ridge', '26.4 %', '25.1–27.7 %', 'not told apart, p = 0.21', '0 s', '0.10 s')
    """
    protocol, standings = board.protocol, board.standings
    others = tuple(name for name in protocol.metrics if name != protocol.metric)
    most = max((each.n_splits for each in standings), default=0)
    kept = _KEPT.get(protocol.split_by, protocol.split_by)
    if protocol.time is not None:
        kept = f"{_IN_TIME.get(protocol.split_by, 'rows')} by {protocol.time!r}, judged by what came after"
    compared = f"{counted(len(standings), 'method')} on {counted(most, 'split')} of {kept}"
    return BoardView(
        board.data,
        protocol.metric,
        f"{compared}; {protocol.metric}, {_which_is_better(board)}",
        others,
        tuple(_row(place, each, protocol.metric, others, most) for place, each in enumerate(standings, start=1)),
        tuple(_notes(board)),
        board.reasons,
        _missing(board),
    )


def view_so_far(plan: Plan, standings: Sequence[Standing], out: Container[str]) -> BoardView:
    """Write out a comparison under way: the best mean first, then the methods that wait, and those that are out."""
    sign = -1.0 if plan.greater_is_better else 1.0
    planned = plan.n_folds * plan.n_repeats

    def rank(standing: Standing) -> tuple[bool, bool, float]:
        has_none = math.isnan(standing.mean)
        return standing.method in out, has_none, 0.0 if has_none else sign * standing.mean

    rows = (_row(place, each, plan.metric, (), planned) for place, each in enumerate(sorted(standings, key=rank), 1))
    told = tuple(replace(row, splits="left out") if row.method in out else row for row in rows)
    return BoardView(plan.data, plan.metric, f"{plan.metric}, {_which_is_better(plan)}", (), told)


def verdict(p_value: float | None) -> str:
    """Say in two or three words how a method stands against the best, by the p-value of its test; the best has none.

    The test of a method with one split has no answer, which is not the same as finding no difference.

    Examples
    --------
    >>> from wellorder.evaluation.board_view import verdict
    >>> [verdict(p) for p in (None, float("nan"), 0.21, 0.012)]
    ['best', 'not tested', 'not told apart', 'worse']
    """
    if p_value is None:
        return "best"
    if math.isnan(p_value):
        return "not tested"
    return "worse" if p_value < TOLD_APART else "not told apart"


def is_share(metric: str) -> bool:
    """Say whether a metric is a share of what is wrong, and read in percent."""
    found = find_definition(metric)
    return found is not None and found.is_share


def _row(place: int, standing: Standing, metric: str, others: Sequence[str], n_splits: int) -> BoardRow:
    def measured(name: str, value: float) -> Cell:
        return Cell(write_metric(value, is_share=is_share(name)), _known(value))

    def lasting(seconds: float) -> Cell:
        return Cell(write_seconds(seconds), _known(seconds))

    p = None if standing.p_value is None or standing.is_cut_short else _known(standing.p_value)
    told = verdict(math.nan if math.isinf(standing.mean) else standing.p_value)
    return BoardRow(
        place=place,
        method=standing.method,
        about=standing.about,
        is_baseline=standing.is_baseline,
        is_worse=standing.is_worse,
        is_cut_short=standing.is_cut_short,
        splits=f"{standing.n_splits} of {n_splits}",
        lacks_splits=standing.n_splits < n_splits,
        value=measured(metric, standing.mean),
        interval=write_interval(standing.low, standing.high, is_share=is_share(metric)),
        verdict="cut short" if standing.is_cut_short else standing.lack_of_order or told,
        p=Cell("" if p is None else write_p_value(p), p),
        others=tuple(measured(name, standing.metrics.get(name, math.nan)) for name in others),
        search=lasting(standing.search_seconds),
        fit=lasting(standing.fit_seconds),
        seconds=lasting(standing.search_seconds + standing.fit_seconds),
        params=write_params(standing.params),
    )


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _which_is_better(compared: Leaderboard | Plan) -> str:
    return f"{'higher' if compared.greater_is_better else 'lower'} is better"


def _notes(board: Leaderboard) -> Iterator[str]:
    """Say what the rows do not: what cannot be judged, how much more data it takes, what there was no time for."""
    protocol, standings = board.protocol, board.standings
    if silent := [each.method for each in standings if each.lack_of_order]:
        yield f"the same score for all held-out rows, so that there is no order to judge: {', '.join(silent)}"
    if infinite := [each.method for each in standings if math.isinf(each.mean)]:
        yield f"infinite, as what came had been given no chance on some split, and so not tested: {', '.join(infinite)}"
    if cut := {each.method: (each.n_unfinished, each.n_splits) for each in standings if each.n_unfinished}:
        yield (
            f"cut short by the time limit before their fits were done: {_on_splits(cut)}; what they reach says nothing "
            "against them: raise the time budget, or name fewer methods"
        )
    stopped = {each.method: (each.n_stopped, each.n_splits) for each in standings if each.n_stopped > each.n_unfinished}
    if stopped:
        yield (
            "searches, or the library of an ensemble and the folds that it learns its weights from, cut down to the "
            f"time limit; judged with the best parameters by then, or their own: {_on_splits(stopped)}"
        )
    if protocol.metric == "comparison_error":
        known = [each.method for each in standings if each.method in METHODS]
        if ordering := [name for name in known if not METHODS[name].predicts_ties]:
            yield (
                f"only ordering, and so wrong on every tie: {', '.join(ordering)}; swapped_pairs judges the order alone"
            )
    if apart := _how_many_more(board):
        yield apart
    if len(standings) > 1 and standings[0].n_splits < 3 and not board.hears_rows:
        yield "too few splits to test which differences are more than chance"
    if protocol.planned_repeats is not None:
        yield (
            f"{protocol.n_repeats} of {protocol.planned_repeats} rounds of splits: more would not have fitted into "
            f"{protocol.time_budget:g} s; a larger time budget makes the intervals narrower"
        )


def _on_splits(affected: Mapping[str, tuple[int, int]]) -> str:
    """Name methods; if they are few, say on how many of its splits each was affected, unless on all."""
    if len(affected) > _FEW:
        return ", ".join(affected)
    return ", ".join(name if n == of else f"{name} ({n} of {of} splits)" for name, (n, of) in affected.items())


_FEW = 4


def _how_many_more(board: Leaderboard) -> str:
    """Say how much data would tell the first two methods apart; an empty text if they are told apart already."""
    more, standings = board.more_needed, board.standings
    if (
        more is None
        or not math.isfinite(more)
        or len(standings) < 2
        or verdict(standings[1].p_value) != "not told apart"
    ):
        return ""
    there = max(record.n_train + record.n_test for record in board.records)
    what = "comparison" if board.protocol.split_by == "pairs" else "row"
    first, second = standings[0].method, standings[1].method
    if more * there > _MOST_ROWS:
        return (
            f"{first} and {second} look practically equal: if they differ by no more than it seems, no amount of data "
            "that anybody has would tell them apart"
        )
    if board.protocol.split_by not in ("rows", "pairs"):
        return (
            f"to tell {first} and {second} apart, if they differ by as much as it seems, takes about "
            f"{f'{round_up(more):,}' if more >= 10 else f'{more:.1f}'} times as many lists as there are"
        )
    return (
        f"to tell {first} and {second} apart, if they differ by as much as it seems, takes about "
        f"{counted(round_up(more * there), what)}, and there are {there:,}"
    )


_MOST_ROWS = 1e8


def round_up(number: float) -> int:
    """Round up to two significant digits."""
    unit = int(10 ** max(len(str(int(number))) - 2, 0))
    return math.ceil(number / unit) * unit


def _missing(board: Leaderboard) -> str:
    """Say how far an incomplete comparison came; an empty text for a complete one."""
    if board.is_complete:
        return ""
    why = "time was up" if board.time_was_up else "the comparison was stopped"
    done = [each.n_splits for each in board.standings]
    if not done:
        return f"{why} before any method was finished on a split"
    reached = f"{min(done)}" if min(done) == max(done) else f"{min(done)} to {max(done)}"
    planned = counted(board.protocol.n_folds * board.protocol.n_repeats, "planned split")
    return f"{why} before all splits were done: methods were judged on {reached} of {planned}"
