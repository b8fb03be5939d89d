"""A closer look at a finished comparison: single lists, single pairs, and what score differences are worth."""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from ..data import ComparisonTable, Table, TableRanker
from ..deadline import TimeIsUp, deadline, seconds_left
from ..evaluation import (
    FAILURES,
    KEPT_LEVELS,
    METHODS,
    AnyTable,
    Chances,
    Explanation,
    Importance,
    Leaderboard,
    OrderedItems,
    Split,
    Standing,
    Task,
    by_query,
    chances_of,
    explain,
    fit_rise,
    grid_of,
    held_out_chances,
    importance,
    make_seeded,
    make_task,
    order_held_out,
    order_items,
    plain,
    scores_rows_alone,
    trial_seed,
)
from ..figures import ByQueryDisplay, LevelCurvesDisplay, PairCalibrationDisplay, ScoreDifferencesDisplay, movements
from ..order import Grades, draw_pairs
from ..sweeps import Array, Floats, Ints
from .allowance import Allowance
from .ranked import Remarks, write_because

# --------------------------------------------------------------------------------------------------
# What the records of the first repeat say of single rows: each was scored by a model that had not seen it.


@dataclass(frozen=True)
class HeldOut:
    """The scores of rows (or of comparisons, right less left) in the test parts of one repeat."""

    rows: Ints
    """The numbers of rows of the table, each of them once."""
    fold: Ints
    """The fold whose model gave the score: scores of different folds are not on one scale."""
    scores: Floats

    def standardised(self) -> Floats:
        """Return the scores with mean 0 and standard deviation 1 in each fold."""
        out = np.empty_like(self.scores)
        for fold in np.unique(self.fold):
            mine = self.fold == fold
            spread = float(np.std(self.scores[mine]))
            out[mine] = (self.scores[mine] - self.scores[mine].mean()) / (spread if spread > 0 else 1.0)
        return out

    def standardised_differences(self) -> Floats:
        """Return differences in standard deviations of the scores that they are between, fold by fold.

        Whoever stands to the left, their mean is 0, and their variance twice that of the scores.
        """
        square = np.bincount(self.fold, self.scores**2) / np.maximum(np.bincount(self.fold), 1)
        spread = np.sqrt(square / 2)
        return np.asarray(self.scores / np.where(spread > 0, spread, 1.0)[self.fold])


def first_repeat(task: Task, leaderboard: Leaderboard) -> list[Split]:
    """Return the splits of the first repeat, as the comparison had them."""
    protocol = leaderboard.protocol
    return [split for split in task.splits(protocol.n_folds, 1, protocol.seed) if split.repeat == 0]


def held_out(leaderboard: Leaderboard, method: str, splits: list[Split]) -> HeldOut | None:
    """Gather a method's scores over the first repeat, of the folds that were done; None where none were kept."""
    kept = {record.fold: record.held_out for record in leaderboard.of(method) if record.repeat == 0}
    parts = []
    for split in splits:
        scores = kept.get(split.fold)
        if scores is not None and len(scores) == len(split.test):
            parts.append((split.test, np.full(len(split.test), split.fold), np.array(scores, dtype=float)))
    if not parts:
        return None
    rows, fold, scores_ = (np.concatenate(part) for part in zip(*parts, strict=True))
    return HeldOut(rows, fold, scores_) if np.isfinite(scores_).all() else None


# --------------------------------------------------------------------------------------------------
# The leader against another method, query by query: who is ahead where, and both orders side by side.


_LISTED = 3
"""Queries of each kind that the table lists."""

_SHOWN = 2
"""Queries of each kind of which both orders are shown."""

_TOP = 8
"""Rows of an order that are shown."""


@dataclass(frozen=True)
class Placed:
    """A row in an order."""

    name: str
    grade: str
    share: float
    """Where the grade lies between the lowest and the highest of all, 0 to 1."""


@dataclass(frozen=True)
class Query:
    """One list, and what the two methods reach on it."""

    name: str
    kind: str
    """Why it is listed: "won", "lost" or "hard"."""
    n_rows: int
    values: tuple[float, float]
    """The leader's value, and the other method's."""
    orders: tuple[tuple[Placed, ...], tuple[Placed, ...]] | None = None
    """The top of both orders."""
    left: int = 0
    """How many rows further down are not shown."""


@dataclass(frozen=True)
class Duel:
    """Two methods over many lists."""

    leader: str
    rival: str
    metric: str
    greater_is_better: bool
    values: tuple[dict[Hashable, float], dict[Hashable, float]]
    """The values by query; NaN where the metric is not defined."""
    queries: tuple[Query, ...]

    def display(self) -> ByQueryDisplay:
        """Return the picture of all differences."""
        names = (self.leader, self.rival)
        return ByQueryDisplay(*self.values, names, self.metric, greater_is_better=self.greater_is_better)


def choose_rival(standings: Sequence[Standing]) -> str | None:
    """Return the method to compare the leader with: the best baseline, or the second if the leader is a baseline."""
    others = standings[1:]
    if not others:
        return None
    if not standings[0].is_baseline:
        return next((each.method for each in others if each.is_baseline), others[0].method)
    return others[0].method


def make_duel(table: Table, leaderboard: Leaderboard, one: HeldOut, other: HeldOut, rival: str) -> Duel | None:
    """Compare two methods on every list; None if the metric is defined for both on fewer than two lists."""
    if table.groups is None or not np.array_equal(one.rows, other.rows):
        return None
    metric = leaderboard.protocol.measures[0]
    grades = table.grades()
    judged = grades.level[one.rows] >= 0
    rows, scores = one.rows[judged], (one.scores[judged], other.scores[judged])
    y, groups = grades.values[rows], table.groups[rows]
    values = tuple(by_query(metric, y, each, groups) for each in scores)
    sign = 1.0 if metric.greater_is_better else -1.0
    ahead = {query: sign * (value - values[1][query]) for query, value in values[0].items()}
    known = [query for query, gain in ahead.items() if math.isfinite(gain)]
    if len(known) < 2:
        return None
    length = Counter(groups.tolist())
    chosen = [
        ("won", sorted((q for q in known if ahead[q] > 0), key=lambda q: (-ahead[q], -length[q]))),
        ("lost", sorted((q for q in known if ahead[q] < 0), key=lambda q: (ahead[q], -length[q]))),
        ("hard", sorted(known, key=lambda q: (sign * values[0][q], -length[q]))),
    ]
    names = table.names()
    queries = []
    for kind, best in chosen:
        for place, query in enumerate(best[:_LISTED]):
            mine = np.flatnonzero(groups == query)
            orders = None
            if kind != "hard" and place < _SHOWN:
                level = grades.level[rows[mine]]
                texts = [str(_tidy(grades.levels[each])) for each in level]
                share = level / max(len(grades.levels) - 1, 1)
                tops = [_top(names[rows[mine]], texts, share, each[mine]) for each in scores]
                orders = (tops[0], tops[1])
            reached = (values[0][query], values[1][query])
            queries.append(Query(str(query), kind, len(mine), reached, orders, max(0, len(mine) - _TOP)))
    rated = (values[0], values[1])
    return Duel(leaderboard.leader.method, rival, str(metric), metric.greater_is_better, rated, tuple(queries))


def _top(names: Array, grades: Sequence[str], share: Floats, scores: Floats) -> tuple[Placed, ...]:
    first: Ints = np.argsort(-scores, kind="stable")[:_TOP]
    return tuple(Placed(str(names[row]), grades[row], float(share[row])) for row in first)


def _tidy(level: Hashable) -> Hashable:
    return int(level) if isinstance(level, float) and level.is_integer() else level


# --------------------------------------------------------------------------------------------------
# A few pairs worth explaining: rows, or items, that the model had not seen together.


@dataclass(frozen=True)
class PairToExplain:
    """Two rows (numbers of the table, the one with the higher score first), and why they are worth a look."""

    above: int
    below: int
    why: str
    """The reason in one line."""


def pairs_to_explain(table: AnyTable, scores: Floats, rows: Ints) -> list[PairToExplain]:
    """Choose pairs among held-out rows (with their scores), or among held-out comparisons (scores of all items)."""
    if isinstance(table, ComparisonTable):
        return list(_of_comparisons(table, scores, rows))
    return list(_of_grades(table, scores, rows))


def _of_grades(table: Table, scores: Floats, rows: Ints) -> Iterator[PairToExplain]:
    grades = table.grades()
    lists = [mine for mine in _lists(grades, rows) if len(mine) > 1]
    if not lists:
        return
    level = grades.level[rows]
    longest = max(lists, key=len)
    first, second = longest[np.argsort(-scores[longest], kind="stable")[:2]]
    yield PairToExplain(int(rows[first]), int(rows[second]), f"The two at the top of {_what(table, rows[first])}")
    worst, best = _farthest(lists, level, scores, wrong=True), _farthest(lists, level, scores, wrong=False)
    if best is not None:
        high, low = best
        yield PairToExplain(int(rows[high]), int(rows[low]), f"Rightly far apart: {_graded(grades, level, high, low)}")
    if worst is not None:
        low, high = worst
        yield PairToExplain(
            int(rows[low]), int(rows[high]), f"The farthest mistake: {_graded(grades, level, low, high)}"
        )


def _lists(grades: Grades, rows: Ints) -> list[Ints]:
    """Return the judged rows of each list, as places among the rows."""
    judged = np.flatnonzero(grades.level[rows] >= 0)
    if grades.group is None:
        return [judged]
    group = grades.group[rows][judged]
    by_group = np.argsort(group, kind="stable")
    return [judged[part] for part in np.split(by_group, np.flatnonzero(np.diff(group[by_group])) + 1)]


def _farthest(lists: list[Ints], level: Ints, scores: Floats, *, wrong: bool) -> tuple[int, int] | None:
    """Return (above, below), the two of one list and of different grades whose scores are farthest apart.

    With ``wrong``, the one above has the lower grade, and the next one of the list is the other's; where grades are
    many, and neighbours hardly differ, any higher one. Else the two have the list's highest and lowest grade.
    """
    found, farthest = None, 0.0
    for mine in lists:
        by_level = mine[np.argsort(level[mine], kind="stable")]
        levels = np.split(by_level, np.flatnonzero(np.diff(level[by_level])) + 1)
        if len(levels) < 2:
            continue
        lowest = [int(rows[np.argmin(scores[rows])]) for rows in levels]
        highest = [int(rows[np.argmax(scores[rows])]) for rows in levels]
        couples = [(highest[-1], lowest[0])]
        if wrong:
            if len(levels) > KEPT_LEVELS:
                highest = _so_far(highest, scores)
            couples = list(zip(highest[:-1], lowest[1:], strict=True))
        for above, below in couples:
            if scores[above] - scores[below] > farthest:
                found, farthest = (above, below), float(scores[above] - scores[below])
    return found


def _so_far(rows: list[int], scores: Floats) -> list[int]:
    """Return, for each row, which of the rows up to it has the highest score."""
    best = rows[:1]
    for row in rows[1:]:
        best.append(row if scores[row] > scores[best[-1]] else best[-1])
    return best


def _of_comparisons(table: ComparisonTable, scores: Floats, rows: Ints) -> Iterator[PairToExplain]:
    first, second = (int(item) for item in np.argsort(-scores, kind="stable")[:2])
    yield PairToExplain(first, second, "The two at the top")
    compared = table.take(rows).comparisons
    decided = np.flatnonzero(compared.outcome)
    won = np.where(compared.outcome > 0, compared.right, compared.left)[decided]
    lost = np.where(compared.outcome > 0, compared.left, compared.right)[decided]
    gain = scores[won] - scores[lost]
    if len(gain) and gain.max() > 0:
        at = int(np.argmax(gain))
        yield PairToExplain(int(won[at]), int(lost[at]), "Rightly far apart: the one above was found better")
    if len(gain) and gain.min() < 0:
        at = int(np.argmin(gain))
        yield PairToExplain(int(lost[at]), int(won[at]), "The farthest mistake: the one below was found better")


def _what(table: Table, row: int) -> str:
    return "the held-out rows" if table.groups is None else f"the longest held-out list, {table.groups[row]}"


def _graded(grades: Grades, level: Ints, above: int, below: int) -> str:
    up, down = (_tidy(grades.levels[level[each]]) for each in (above, below))
    return f"the one above has grade {up}, the one below {down}"


# --------------------------------------------------------------------------------------------------
# The things themselves: all items, as the leader puts them.


_EXPLAINED = 5
"""This many of the first items have their reasons beside them."""

_PAIRS = 200_000
"""How many held-out pairs say how far apart scores must be."""


@dataclass(frozen=True)
class LeadersOrder:
    """The items in the order of the comparison's leader."""

    method: str
    ordered: OrderedItems
    chances: Chances | None
    remarks: Remarks
    how: str
    """Which model the scores come from."""


def order_by_leader(table: AnyTable, leader: HeldOut, models: _Models) -> LeadersOrder | None:
    """Order all items: graded rows by models that had not seen them, compared items by one that has seen all."""
    if isinstance(table, ComparisonTable):
        return _order_compared(table, leader, models)
    curve = _rise(table, leader)
    rows = table.take(leader.rows)
    ordered = order_held_out(rows, leader.standardised(), curve)
    grades = table.grades()
    texts = [str(_tidy(level)) for level in grades.levels]
    graded = [texts[level] if level >= 0 else "" for level in grades.level[leader.rows].tolist()]
    because: dict[int, str] = {}
    longest = max(ordered.lists, key=lambda each: len(each.rows), default=None)
    if longest is not None:
        because = _because_of_rows(table, leader, models, longest.numbers)
    how = "each row by a model that had not seen it, in standard deviations of that model's scores"
    chances = None if curve is None else held_out_chances(curve)
    return LeadersOrder(models.leader, ordered, chances, Remarks(because=because, grade=graded), how)


def _rise(table: Table, leader: HeldOut) -> tuple[Floats, Floats] | None:
    """Return how often held-out pairs stood rightly, by their distance; None without such pairs."""
    pairs = _lists_of_folds(table, leader).pairs
    if not pairs.n_pairs:
        return None
    scores = leader.standardised()
    drawn = draw_pairs(pairs, max(1, _PAIRS // len(pairs.active)), np.random.default_rng(0))
    apart = scores[drawn.high] - scores[drawn.low]
    return fit_rise(np.abs(apart), (apart > 0).astype(float))


def _because_of_rows(table: Table, leader: HeldOut, models: _Models, numbers: Sequence[int]) -> dict[int, str]:
    """Explain the first rows, each by the model that had not seen it, against one in the middle of its test part."""
    found: dict[int, str] = {}
    with models.allowance.part("reasons of the first items", _HALF):
        for place in numbers[:_EXPLAINED]:
            fold = int(leader.fold[place])
            mine = [each for each in numbers if leader.fold[each] == fold]
            middle = mine[len(mine) // 2]
            if middle == place:
                continue
            model = models.fit(models.leader, fold)
            if model is None:
                continue
            told = _told(model, table, int(leader.rows[place]), int(leader.rows[middle]))
            found |= {} if told is None else {place: write_because(told)}
    return found


def _order_compared(table: ComparisonTable, leader: HeldOut, models: _Models) -> LeadersOrder | None:
    model = models.fit(models.leader, None, probability=True) or models.fit(models.leader, None)
    if model is None:
        return None
    outcome = table.comparisons.outcome[leader.rows]
    signed = (np.sign(outcome) * leader.standardised_differences())[outcome != 0]
    if len(signed):
        model.resolution_ = fit_rise(np.abs(signed), (signed > 0).astype(float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ordered, chances = order_items(model, table.items), chances_of(model, table.items)
        except FAILURES:
            return None
    because: dict[int, str] = {}
    (only,) = ordered.lists
    middle = only.numbers[len(only.numbers) // 2]
    with models.allowance.part("reasons of the first items", _HALF):
        for row in only.numbers[:_EXPLAINED]:
            told = None if row == middle else _told(model, table.items, row, middle)
            because |= {} if told is None else {row: write_because(told)}
    how = "one model, fitted on all comparisons"
    return LeadersOrder(models.leader, ordered, chances, Remarks(because=because), how)


def _told(model: TableRanker, items: Table, a: int, b: int) -> Explanation | None:
    """Explain two rows, where the model allows it."""
    if model.encoder_ is None or not scores_rows_alone(model.ranker_):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _explain(model, items, a, b)
        except FAILURES:
            return None


def _explain(model: TableRanker, items: Table, a: int, b: int, names: list[str] | None = None) -> Explanation:
    """Explain two rows, with fewer random orders if all of them would take more than half of the time left."""
    began = time.perf_counter()
    model.decision_function(items.take(np.resize([a, b], _TIMED_ROWS)))
    n_columns = 1 if model.encoder_ is None else len(model.encoder_.columns_)
    of_order = (time.perf_counter() - began) / _TIMED_ROWS * (n_columns + 1)
    n_orders = _ORDERS if _ORDERS * of_order <= seconds_left() / 2 / _EXPLAINED else _FEWER_ORDERS
    return named_by_number(explain(model, a, b, items=items, names=names, n_orders=n_orders), items)


_ORDERS = 200
"""Random orders of exchanging values that an estimated explanation is the mean of."""

_FEWER_ORDERS = 20
"""The same, for models that take long to score."""

_TIMED_ROWS = 100


def named_by_number(told: Explanation, items: Table) -> Explanation:
    """Give numbered features names such as "feature 3": a bare number is no name in a sentence."""
    if isinstance(items.X, pl.DataFrame):
        return told
    named = (replace(part, feature=f"feature {part.feature}") for part in told.contributions)
    return replace(told, contributions=tuple(named))


# --------------------------------------------------------------------------------------------------
# The closer look.


_MOST_OF_IT = 0.7
"""The share of the remaining time that a fit may take: more would leave none to look at the model."""

_HALF = 0.5
"""The share of the remaining time that each part of the look may take, so that there is some for the next."""

_TRIED = 4
"""At most this many methods are tried, the best first, until one can be looked at."""

_MOST_ROWS = 2_000
"""Held-out rows that level curves look at."""

_MOST_COLUMNS = 150
"""Columns that are shuffled, one after the other."""


@dataclass(frozen=True)
class Why:
    """Two items, why they are worth a look, and what explains their order."""

    title: str
    explanation: Explanation


@dataclass(frozen=True)
class CloserLook:
    """What a leaderboard does not say; anything that the data do not allow is None or empty."""

    duel: Duel | None = None
    """The leader against the best baseline, list by list."""
    differences: ScoreDifferencesDisplay | None = None
    """What the leader's score differences are worth, over all test parts of the first repeat."""
    calibration: PairCalibrationDisplay | None = None
    """Whether probabilities are what happens, on the first test part."""
    calibrated: str = ""
    """Which method's probabilities these are."""
    looked_at: str = ""
    """The method whose model, fitted on the first training part, the rest is about: the best that allows it."""
    levels: LevelCurvesDisplay | None = None
    whys: tuple[Why, ...] = ()
    importance: Importance | None = None
    """What matters overall to the same model, on the same rows."""
    order: LeadersOrder | None = None
    """The items as the leader puts them."""
    left_out: tuple[str, ...] = ()
    """What was left out for lack of time, and the time budget that has room for it; one sentence each."""


def look_closer(table: AnyTable, leaderboard: Leaderboard, allowance: Allowance | None = None) -> CloserLook:
    """Look closer at a comparison: lists one by one, what differences are worth, and why A stands above B.

    Held-out scores are those of the records. What needs a model comes from the best method that allows it, fitted
    once more on the first training part as it was in the comparison, and looks at the first test part only. All of it
    takes no more than about a quarter of the comparison's time budget (of what it took, where it had none), or 20 s if
    that is more; what has no time is left out, and said to be. Where there is time for all, the same records give the
    same answer, whether the comparison was run in one go or resumed.

    Parameters
    ----------
    table : Table or ComparisonTable
        What was compared on.
    leaderboard : Leaderboard
        What :func:`wellorder.compare` gave.
    allowance : Allowance, optional
        The time that it may take, if other than that.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.datasets import load_diabetes
    >>> import wellorder as wo
    >>> from wellorder.report import look_closer
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> table = wo.data.Table("diabetes", pl.from_pandas(X), y.to_numpy())
    >>> board = wo.compare(table, ["ridge", "best-feature"], n_repeats=1)
    >>> look = look_closer(table, board)
    >>> look.looked_at, look.levels.plane.features
    ('ridge', ('s1', 's5'))
    """
    if not leaderboard.standings:
        return CloserLook()
    task = make_task(table)
    splits = first_repeat(task, leaderboard)
    allowance = Allowance.after(leaderboard) if allowance is None else allowance
    models = _Models(table, task, leaderboard, splits, allowance)
    leader = held_out(leaderboard, leaderboard.leader.method, splits)
    found: dict[str, Any] = {}
    if leader is not None:
        found["differences"] = _differences(table, leader)
        rival = choose_rival(leaderboard.standings)
        other = None if rival is None else held_out(leaderboard, rival, splits)
        if rival is not None and other is not None and isinstance(table, Table) and task.split_by == "groups":
            found["duel"] = make_duel(table, leaderboard, leader, other, rival)
    if isinstance(table, ComparisonTable):
        found |= _calibration(models, table, splits[0])
    # the order of the items before what is said of a model, importance last: it takes whatever time there is
    if isinstance(table, ComparisonTable) and leader is not None:
        found["order"] = order_by_leader(table, leader, models)
    looked_at, model = _choose_model(models)
    if model is not None:
        found |= {"looked_at": looked_at, **_inside(model, table, splits[0], allowance)}
    if isinstance(table, Table) and leader is not None:
        found["order"] = order_by_leader(table, leader, models)
    if model is not None:
        found["importance"] = _importance(model, table, splits[0], allowance)
    return CloserLook(**found, left_out=allowance.left_out)


def _differences(table: AnyTable, leader: HeldOut) -> ScoreDifferencesDisplay | None:
    """Compare rows of one list, and of one fold: scores of different models say nothing beside each other."""
    if isinstance(table, ComparisonTable):
        outcome = table.comparisons.outcome[leader.rows]
        signed = (np.sign(outcome) * leader.standardised_differences())[outcome != 0]
        return ScoreDifferencesDisplay.from_differences(signed) if len(signed) else None
    try:
        return ScoreDifferencesDisplay.from_predictions(_lists_of_folds(table, leader), leader.standardised())
    except ValueError:  # no pair of different grades
        return None


def _lists_of_folds(table: Table, leader: HeldOut) -> Grades:
    """Return the grades of held-out rows, of which those of one list and one fold are compared."""
    grades = table.grades()
    group = grades.list_codes
    lists = group[leader.rows] * (leader.fold.max() + 1) + leader.fold
    level = np.where(grades.level[leader.rows] >= 0, grades.level[leader.rows].astype(float), np.nan)
    return Grades(level, lists)


class _Models:
    """Methods fitted once more, as they were in the comparison: each at most once on one training part.

    A fit that the comparison's time limit cut short is cut short again, after as long as it took there: it would
    otherwise be another model than the one that was judged, and might take many times as long.
    """

    def __init__(
        self, table: AnyTable, task: Task, leaderboard: Leaderboard, splits: list[Split], allowance: Allowance
    ) -> None:
        self.table, self.task, self.leaderboard, self.allowance = table, task, leaderboard, allowance
        self.leader = leaderboard.leader.method
        self.names = [each.method for each in leaderboard.standings[:_TRIED]]
        self.first = splits[0].fold
        self._splits = {split.fold: split for split in splits}
        self._seconds = {each.method: each.fit_seconds for each in leaderboard.standings}
        self._fitted: dict[tuple[str, int | None, bool], TableRanker | None] = {}

    def fit(self, name: str, fold: int | None, *, probability: bool = False) -> TableRanker | None:
        """Return a method's model of one fold, or of all data; None if it cannot be fitted, or would take too long."""
        key = name, fold, probability
        if key not in self._fitted:
            self._fitted[key] = None
            what = f"another fit of {name}, to look into its model"
            if self.allowance.has_room(what, self._seconds[name], _MOST_OF_IT):
                with self.allowance.part(what), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the comparison's own fit has warned
                    try:
                        self._fitted[key] = self._fit(name, fold, probability)
                    except FAILURES:
                        self._fitted[key] = None
        return self._fitted[key]

    def _fit(self, name: str, fold: int | None, probability: bool) -> TableRanker | None:
        split = self._splits[self.first if fold is None else fold]
        record = next((each for each in self.leaderboard.of(name) if (each.repeat, each.fold) == (0, split.fold)), None)
        if name not in METHODS or record is None or record.problem is not None:
            return None
        rows = np.arange(len(self.table)) if fold is None else split.train
        method = METHODS[name]
        protocol = self.leaderboard.protocol
        # the name of somebody's own metric may mean nothing here; nobody's grid asks for it
        known = protocol.definition is not None or method.follows
        measure = protocol.measures[0] if known else None
        grid = grid_of(method, self.task.training_part(rows).size, measure)
        # a record holds values as JSON has them; the grid has the values themselves
        params = {
            key: next((value for value in grid.get(key, []) if plain(value) == kept), kept)
            for key, kept in record.params.items()
        }
        model = make_seeded(method, trial_seed(protocol, split), measure).set_params(**params)
        if protocol.monotone:
            model.set_params(monotone=dict(protocol.monotone))
        if probability and "probability" in model.get_params():
            model.set_params(probability=True)
        was_short = record.unfinished or (record.stopped and not grid)  # else it was the search that was
        began, given = time.perf_counter(), max(record.fit_seconds, record.allowed_seconds - record.search_seconds)
        most = given if was_short else math.inf
        with deadline(lambda: began + most - time.perf_counter()) as end:
            fitted = TableRanker(model).fit(self.table.take(rows))
        if end.stopped and not record.unfinished:
            raise TimeIsUp(f"{name} was judged by a whole fit, and this one was cut short")
        return fitted


def _calibration(models: _Models, table: ComparisonTable, split: Split) -> dict[str, Any]:
    """Judge the probabilities of the best method that gives some, on comparisons that it has not seen."""
    for name in models.names:
        model = models.fit(name, models.first, probability=True)
        if model is None or not hasattr(model, "predict_proba"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                display = PairCalibrationDisplay.from_estimator(model, table.take(split.test))
            except (AttributeError, *FAILURES):
                continue
        return {"calibration": display, "calibrated": name}
    return {}


def _choose_model(models: _Models) -> tuple[str, TableRanker | None]:
    """Return the best model that scores rows one by one, and by their features."""
    for name in models.names:
        model = models.fit(name, models.first)
        if model is not None and model.encoder_ is not None and scores_rows_alone(model.ranker_):
            return name, model
    return "", None


def _inside(model: TableRanker, table: AnyTable, split: Split, allowance: Allowance) -> dict[str, Any]:
    """Look into a model: why one row stands above another, and where its scores are level."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with allowance.part("why one stands above another", _HALF), suppress(*FAILURES):
            found["whys"] = _whys(model, table, split)
        with allowance.part("where scores are level", _HALF), suppress(*FAILURES):
            found["levels"] = _levels(model, table, split)
    return found


def _importance(model: TableRanker, table: AnyTable, split: Split, allowance: Allowance) -> Importance | None:
    """Shuffle columns of the first test part, or of the items: those that move the scores most, if not all fit in.

    None where there are very many rows or columns, and where it says nothing.
    """
    n_rows = len(table.items) if isinstance(table, ComparisonTable) else len(split.test)
    assert model.encoder_ is not None
    n_columns = len(model.encoder_.columns_)
    if n_columns > _MOST_COLUMNS or n_rows > _MOST_ROWS:
        return None
    part = table.take(split.test)
    rows = part.items if isinstance(part, ComparisonTable) else part
    with allowance.part("what matters overall"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        model.decision_function(rows)
        of_column = _SHUFFLES * (time.perf_counter() - began)
        with suppress(*FAILURES):  # no pair in this part
            columns = None
            if n_columns * of_column > _HALF * seconds_left():
                moved = movements(model, rows)
                fitting = int(_HALF * seconds_left() / max(of_column, 1e-9))
                if fitting < 1:
                    raise TimeIsUp("there is no time for one column")
                columns = np.argsort(-moved, kind="stable")[:fitting].tolist()
            return importance(model, part, n_repeats=_SHUFFLES, columns=columns)
    return None


_SHUFFLES = 3
"""How often each column is shuffled."""


def _levels(model: TableRanker, table: AnyTable, split: Split) -> LevelCurvesDisplay | None:
    rows = table.items if isinstance(table, ComparisonTable) else table.take(split.test[:_MOST_ROWS])
    try:
        return LevelCurvesDisplay.from_estimator(model, rows)
    except ValueError:  # one feature, none of numbers, or too many
        return None


def _whys(model: TableRanker, table: AnyTable, split: Split) -> tuple[Why, ...]:
    items = table.items if isinstance(table, ComparisonTable) else table
    seen = items if isinstance(table, ComparisonTable) else table.take(split.test)
    scores: Floats = np.asarray(model.decision_function(seen), dtype=float)
    pairs = {(each.above, each.below): each for each in reversed(pairs_to_explain(table, scores, split.test))}
    names = [str(name) for name in items.names()]
    found = []
    for each in reversed(pairs.values()):
        told = _explain(model, items, each.above, each.below, [names[each.above], names[each.below]])
        found.append(Why(each.why, told))
    return tuple(found)
