"""A leaderboard: what records say about the methods, with intervals and tests against the leader."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations

import numpy as np

from ..metrics import Definition, Metric, find_definition, parse
from ..order import Kind
from ..sweeps import Floats
from .board_view import view_board
from .doctor import Health
from .evidence import Evidence, behind_leader, gather
from .methods import METHODS
from .readable import html_row
from .records import Json, Record, plain
from .significance import TOLD_APART, corrected_resampled_test, holm, known_mean, mean_interval


@dataclass(frozen=True)
class Memory:
    """About how much memory a comparison takes, in bytes."""

    data: int
    """Bytes of the data as they were read, and once more encoded."""
    heaviest: str | None
    """The method that takes most memory; None if there is none."""
    needed: int
    """Bytes of the process that runs it, the data included."""


@dataclass(frozen=True)
class Protocol:
    """How a comparison was computed."""

    split_by: str
    """What folds keep together: "groups", "rows" (each alone, with grades spread evenly), or "pairs" (rematches)."""
    n_folds: int
    n_repeats: int
    inner_folds: int
    seed: int
    metric: str
    """The metric by which searches choose and the leaderboard is ordered."""
    metrics: tuple[str, ...]
    """All metrics that were measured, with ``metric`` first."""
    time_budget: float | None = None
    """In seconds; None: no limit."""
    versions: tuple[tuple[str, str], ...] = ()
    """Pairs of (package, version)."""
    code: str = ""
    """The Python lines that compute the same."""
    planned_repeats: int | None = None
    """The number of repeats that were asked for, if there was no time to begin them all."""
    n_jobs: int = 1
    """How many trials ran side by side."""
    memory: Memory | None = None
    """An estimate, made before the first fit."""
    time: str | None = None
    """The column by which splits are cut: methods learn from what came before, and are judged by what came after."""
    monotone: tuple[tuple[str, int], ...] = ()
    """The columns in which more must never be worse (1), or never better (−1): every method keeps that."""
    own_metrics: tuple[Metric, ...] = ()
    """Metrics that the caller brought along: nobody else knows what their names stand for."""

    @property
    def measures(self) -> tuple[Metric, ...]:
        """The metrics themselves, the one to go by first."""
        own = {str(each): each for each in self.own_metrics}
        of: Kind = "comparisons" if self.split_by == "pairs" else "grades"
        return tuple(own.get(name) or parse(name, of) for name in self.metrics)

    @property
    def definition(self) -> Definition | None:
        """How the metric reads; None where its name is not known here."""
        own = {str(each): each.definition for each in self.own_metrics}
        return own.get(self.metric) or find_definition(self.metric, comparisons=self.split_by == "pairs")


@dataclass(frozen=True)
class Standing:
    """One method's line in the leaderboard."""

    method: str
    about: str
    """What the method is, in a few words."""
    is_baseline: bool
    n_splits: int
    mean: float
    """The mean of the metric over the splits."""
    low: float
    high: float
    """A 95 % interval of the mean, by the rows that were tested and by how much training rows matter; NaN where nothing
    varies, or where the method orders nothing on some split. Of a metric that is no mean over rows, lists or votes, it
    is by the splits alone (corrected for overlapping training parts), and NaN with fewer than three."""
    metrics: dict[str, float]
    """The means of everything that was measured."""
    p_value: float | None
    """Against the leader, which was chosen on the same rows: how often chance alone would put the best of equal methods
    that far ahead (:func:`~wellorder.evaluation.evidence.behind_leader`). None for the leader, NaN where the method
    orders nothing on some split. Of a metric that is no mean over rows, lists or votes, it is the corrected resampled
    test with Holm's correction over every two methods, and NaN with fewer than three splits."""
    search_seconds: float
    fit_seconds: float
    """Means over the splits."""
    params: dict[str, Json]
    """What the searches chose most often."""
    n_without_order: int = 0
    """Splits on which the model gave all test rows of a list the same score. What it reaches there is a convention of
    the metric's, not an order: a mean over such splits has no interval, and is not tested against the leader."""
    n_stopped: int = 0
    """Splits on which its time limit ended the search or the fit: with more time it may do better."""
    n_unfinished: int = 0
    """Splits on which its time limit ended the fit itself. The p-value is then that of what it had by then, and says
    nothing against the method."""

    @property
    def is_cut_short(self) -> bool:
        """Whether it stands behind the leader as far as it came, and was not given the time to come further."""
        behind = self.n_without_order > 0 or (self.p_value is not None and self.p_value < TOLD_APART)
        return self.n_unfinished > 0 and self.p_value is not None and behind

    @property
    def lack_of_order(self) -> str:
        """Says in a few words where the method orders nothing; empty where it orders on every split."""
        if not self.n_without_order or self.is_cut_short:
            return ""
        where = "" if self.n_without_order == self.n_splits else f" on {self.n_without_order} of {self.n_splits} splits"
        return f"orders nothing{where}"

    @property
    def is_worse(self) -> bool:
        """Whether it stands behind the leader: beyond chance, or as it orders nothing on some split."""
        return self.is_told_apart or bool(self.p_value is not None and self.lack_of_order)

    @property
    def is_told_apart(self) -> bool:
        """Whether the leader is better beyond chance.

        Where all methods are alike, one of them is called worse than the leader in about 5 % of comparisons at most.
        """
        return self.p_value is not None and self.p_value < TOLD_APART and not self.is_cut_short


@dataclass(frozen=True)
class LeftOut:
    """A method that is not in the leaderboard, and why."""

    method: str
    reason: str
    for_time: bool = False
    """Whether it was left out only for lack of time, and might have been good."""


_WIDTH = 80
_SHOWN = 18
"""Text columns and rows that fit on a screen of 24 lines."""


@dataclass(frozen=True)
class Leaderboard:
    """Every method on the same splits, best first; ``print`` shows all that there is to read."""

    data: str
    greater_is_better: bool
    standings: tuple[Standing, ...]
    left_out: tuple[LeftOut, ...]
    records: tuple[Record, ...]
    protocol: Protocol
    health: Health | None = None
    is_complete: bool = True
    """False where the run was interrupted or its time was up before all planned splits were done."""
    time_was_up: bool = False
    """Whether the time was up, rather than the run interrupted."""
    hears_rows: bool = False
    """Whether intervals and tests are based on the rows (lists, items) that were tested, and not on the splits
    alone."""
    more_needed: float | None = None
    """How many times as many rows (lists, comparisons) it would take to tell the first two apart with 80 % power, if
    they differ as much as they seem to; below one, there are enough. None where it cannot be told."""

    @property
    def leader(self) -> Standing:
        """The method with the best mean."""
        return self.standings[0]

    @property
    def reasons(self) -> dict[str, tuple[str, ...]]:
        """Why methods were left out, and for each reason which."""
        found: dict[str, tuple[str, ...]] = {}
        for each in self.left_out:
            found[each.reason] = (*found.get(each.reason, ()), each.method)
        return found

    def of(self, method: str) -> tuple[Record, ...]:
        """Return the records of one method, in the order of the splits."""
        return _of(self.records, method)

    def __repr__(self) -> str:
        """Write what fits a screen: the best methods, and where to find the rest."""
        view, n_more = view_board(self), len(self.standings) - _SHOWN
        more = "not complete; " if view.missing else ""
        more += f"{n_more} more; " if n_more > 0 else ""
        return f"{view.on_screen(_SHOWN, _WIDTH)}\n({more}print(board) shows all, board.standings has the numbers)"

    def __str__(self) -> str:
        """Write every method, every column and every note."""
        view = view_board(self)
        missing = [f"not complete: {view.missing}"] if view.missing else []
        return "\n".join([view.as_text(), *view.below, *missing])

    def _repr_html_(self) -> str:
        """Draw the board for a notebook; every name is escaped."""
        view = view_board(self)
        rows = "".join(html_row(row.cells[1:]) for row in view.rows)
        missing = f" Not complete: {view.missing}." if view.missing else ""
        below = "".join(f"<p><small>{escape(line)}</small></p>" for line in view.below)
        return (
            f"<div><p><b>{escape(view.data)}</b>: {escape(view.title)}.{missing}</p>"
            f"<table><thead>{html_row(view.headers[1:], 'th')}</thead><tbody>{rows}</tbody></table>{below}</div>"
        )


def make_leaderboard(
    data: str,
    records: Sequence[Record],
    methods: Sequence[str],
    left_out: Sequence[LeftOut],
    protocol: Protocol,
    health: Health | None = None,
    *,
    greater_is_better: bool,
    is_complete: bool = True,
    time_was_up: bool = False,
) -> Leaderboard:
    """Order methods by their mean over the splits that all of them have finished."""
    done = [{(record.repeat, record.fold) for record in records if record.method == name} for name in methods]
    common = set.intersection(*done)
    kept = [record for record in records if record.method in methods and (record.repeat, record.fold) in common]
    sign = 1.0 if greater_is_better else -1.0
    values = {name: _values(kept, name, protocol.metric) for name in methods}
    ranked = sorted(methods, key=lambda name: (np.isnan(known_mean(values[name])), -sign * known_mean(values[name])))
    silent = {record.method for record in kept if record.orders_nothing} - {ranked[0]}
    infinite = {name for name in methods if np.isinf(values[name]).any()}  # a log loss, where what came was ruled out
    tested = [name for name in ranked if name not in silent | infinite]
    evidence = _evidence(kept, tested, protocol.metric) if tested else None
    if evidence is None:  # the splits alone say how sure it is
        columns = [values[name] if name in tested else np.full(len(values[name]), np.nan) for name in ranked]
        p_values = dict(zip(ranked[1:], _against_leader(kept, columns), strict=True))
        ends = {}
    else:
        p_values = dict(zip(tested, behind_leader(evidence, greater_is_better=greater_is_better), strict=True))
        ends = {name: evidence.interval(place) for place, name in enumerate(tested)}
    standings = tuple(
        make_standing(
            kept,
            name,
            protocol.metrics,
            protocol.definition,
            None if name == ranked[0] else p_values.get(name, math.nan),
            ends.get(name),
        )
        for name in ranked
    )
    return Leaderboard(
        data,
        greater_is_better,
        standings,
        tuple(left_out),
        tuple(kept),
        protocol,
        health,
        is_complete,
        time_was_up,
        evidence is not None,
        evidence.more_units(0, 1) if evidence is not None and len(tested) > 1 else None,
    )


def _of(records: Sequence[Record], method: str) -> tuple[Record, ...]:
    mine = (record for record in records if record.method == method)
    return tuple(sorted(mine, key=lambda record: (record.repeat, record.fold)))


def _values(records: Sequence[Record], method: str, metric: str) -> Floats:
    return np.array([record.metrics[metric] for record in _of(records, method)])


def _evidence(records: Sequence[Record], methods: Sequence[str], metric: str) -> Evidence | None:
    """Put together what splits and the rows that they test say; None where the metric has no parts to tell by."""
    by_method = [_of(records, name) for name in methods]
    splits = [split for split in zip(*by_method, strict=True) if all(record.parts is not None for record in split)]
    if not splits:
        return None
    values = np.array([[record.metrics[metric] for record in split] for split in splits])
    parts = [[record.parts for record in split if record.parts is not None] for split in splits]
    found = gather(values, parts, [split[0].repeat for split in splits], _test_share(records))
    return found if found.n_units > 1 else None


def _against_leader(records: Sequence[Record], values: Sequence[Floats]) -> list[float]:
    """Return corrected p-values of every method but the first against the first.

    The first is the best of all on these very splits, so that it is not one method that is tested against the
    others: Holm's correction is over every two methods, of which the first's tests are then read off.
    """
    test_share = _test_share(records)
    couples = list(combinations(range(len(values)), 2))
    raw = []
    for one, other in couples:
        differences = (values[one] - values[other])[np.isfinite(values[one] - values[other])]
        raw.append(corrected_resampled_test(differences, test_share).p_value if len(differences) > 1 else np.nan)
    return [float(p) for p, (one, _) in zip(holm(raw), couples, strict=True) if one == 0]


def _test_share(records: Sequence[Record]) -> float:
    """Return n_test / n_train, the mean over the splits."""
    return float(np.mean([record.n_test / record.n_train for record in records]))


def make_standing(
    records: Sequence[Record],
    method: str,
    metrics: Sequence[str],
    definition: Definition | None,
    p_value: float | None = float("nan"),
    ends: tuple[float, float] | None = None,
) -> Standing:
    """Sum up what records say of one method; a board goes by the first of the metrics, and its definition.

    ``ends`` are those of its interval, where the rows that were tested tell them; else they are those of the splits.
    """
    mine, metric = _of(records, method), metrics[0]
    values = _values(mine, method, metric)
    finite = values[np.isfinite(values)]
    n_without_order = sum(record.orders_nothing for record in mine)
    low = high = float("nan")
    if n_without_order or np.isinf(values).any():
        ends = None
    elif ends is None and len(finite) > 2 and float(np.ptp(finite)) > 0:
        sizes = [float(np.mean([getattr(record, part) for record in mine])) for part in ("n_train", "n_test")]
        interval = mean_interval(finite, *sizes)
        ends = interval.low, interval.high
    if ends is not None:
        low, high = np.clip(ends, *((-np.inf, np.inf) if definition is None else definition.bounds)).tolist()
    chosen = Counter(json.dumps(plain(record.params), sort_keys=True) for record in mine).most_common(1)
    return Standing(
        method=method,
        about=METHODS[method].about if method in METHODS else "",
        is_baseline=method in METHODS and METHODS[method].is_baseline,
        n_splits=len(mine),
        mean=known_mean(values),
        low=low,
        high=high,
        metrics={name: known_mean(np.array([record.metrics[name] for record in mine])) for name in metrics},
        p_value=p_value,
        search_seconds=known_mean(np.array([record.search_seconds for record in mine])),
        fit_seconds=known_mean(np.array([record.fit_seconds for record in mine])),
        params=json.loads(chosen[0][0]) if chosen else {},
        n_without_order=n_without_order,
        n_stopped=sum(record.stopped for record in mine),
        n_unfinished=sum(record.unfinished for record in mine),
    )
