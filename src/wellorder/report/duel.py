"""The leader against another method, query by query: who is ahead where, and both orders side by side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ..data import Table
from ..evaluation.by_query import by_query
from ..evaluation.leaderboard import Leaderboard, Standing
from ..figures import ByQueryDisplay
from ..metrics import parse
from ..sweeps import Array, Floats, Ints
from .held_out import HeldOut

_LISTED = 3
"""Queries of each kind in the table."""

_SHOWN = 2
"""Of these, so many of each kind have their orders shown."""

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
    """The leader's and the other's."""
    orders: tuple[tuple[Placed, ...], tuple[Placed, ...]] | None = None
    """The top of both orders."""
    left: int = 0
    """Rows further down, that are not shown."""


@dataclass(frozen=True)
class Duel:
    """Two methods over many lists."""

    leader: str
    rival: str
    metric: str
    greater_is_better: bool
    values: tuple[dict[Hashable, float], dict[Hashable, float]]
    """By query; NaN where the metric is not defined."""
    queries: tuple[Query, ...]

    def display(self) -> ByQueryDisplay:
        """Return the picture of all differences."""
        names = (self.leader, self.rival)
        return ByQueryDisplay(*self.values, names, self.metric, greater_is_better=self.greater_is_better)


def choose_rival(standings: Sequence[Standing]) -> str | None:
    """Return whom to hold against the leader: the best baseline, or the second where the leader is one."""
    others = standings[1:]
    if not others:
        return None
    if not standings[0].is_baseline:
        return next((each.method for each in others if each.is_baseline), others[0].method)
    return others[0].method


def make_duel(table: Table, leaderboard: Leaderboard, one: HeldOut, other: HeldOut, rival: str) -> Duel | None:
    """Compare two methods on every list; None where there are fewer than two on which both are defined."""
    if table.groups is None or not np.array_equal(one.rows, other.rows):
        return None
    metric = parse(leaderboard.protocol.metric)
    grades = table.grades()
    judged = grades.level[one.rows] >= 0
    rows, scores = one.rows[judged], (one.scores[judged], other.scores[judged])
    y, groups = _numbers(grades.levels)[grades.level[rows]], table.groups[rows]
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


def _numbers(levels: Sequence[Hashable]) -> Floats:
    """Return what grades count in a metric: themselves where they are numbers, else their places."""
    try:
        return np.array(levels, dtype=float)
    except (TypeError, ValueError):
        return np.arange(len(levels), dtype=float)


def _tidy(level: Hashable) -> Hashable:
    return int(level) if isinstance(level, float) and level.is_integer() else level
