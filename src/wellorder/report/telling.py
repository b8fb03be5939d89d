"""A few pairs worth explaining: rows, or items, that the model had not seen together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..data import ComparisonTable, Table
from ..evaluation.swaps import KEPT_LEVELS
from ..evaluation.tasks import AnyTable
from ..order import Grades
from ..sweeps import Floats, Ints


@dataclass(frozen=True)
class Telling:
    """Two rows (numbers of the table, the one with the higher score first), and why they are worth a look."""

    above: int
    below: int
    why: str
    """One line."""


def telling_pairs(table: AnyTable, scores: Floats, rows: Ints) -> list[Telling]:
    """Choose pairs among held-out rows (with their scores), or among held-out comparisons (scores of all items)."""
    if isinstance(table, ComparisonTable):
        return list(_of_comparisons(table, scores, rows))
    return list(_of_grades(table, scores, rows))


def _of_grades(table: Table, scores: Floats, rows: Ints) -> Iterator[Telling]:
    grades = table.grades()
    lists = [mine for mine in _lists(grades, rows) if len(mine) > 1]
    if not lists:
        return
    level = grades.level[rows]
    longest = max(lists, key=len)
    first, second = longest[np.argsort(-scores[longest], kind="stable")[:2]]
    yield Telling(int(rows[first]), int(rows[second]), f"The two at the top of {_what(table, rows[first])}")
    worst, best = _farthest(lists, level, scores, wrong=True), _farthest(lists, level, scores, wrong=False)
    if best is not None:
        high, low = best
        yield Telling(int(rows[high]), int(rows[low]), f"Rightly far apart: {_graded(grades, level, high, low)}")
    if worst is not None:
        low, high = worst
        yield Telling(int(rows[low]), int(rows[high]), f"The farthest mistake: {_graded(grades, level, low, high)}")


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
    """Return for each of the rows which of those up to it has the highest score."""
    best = rows[:1]
    for row in rows[1:]:
        best.append(row if scores[row] > scores[best[-1]] else best[-1])
    return best


def _of_comparisons(table: ComparisonTable, scores: Floats, rows: Ints) -> Iterator[Telling]:
    first, second = (int(item) for item in np.argsort(-scores, kind="stable")[:2])
    yield Telling(first, second, "The two at the top")
    compared = table.take(rows).comparisons
    decided = np.flatnonzero(compared.outcome)
    won = np.where(compared.outcome > 0, compared.right, compared.left)[decided]
    lost = np.where(compared.outcome > 0, compared.left, compared.right)[decided]
    gain = scores[won] - scores[lost]
    if len(gain) and gain.max() > 0:
        at = int(np.argmax(gain))
        yield Telling(int(won[at]), int(lost[at]), "Rightly far apart: the one above was found better")
    if len(gain) and gain.min() < 0:
        at = int(np.argmin(gain))
        yield Telling(int(lost[at]), int(won[at]), "The farthest mistake: the one below was found better")


def _what(table: Table, row: int) -> str:
    return "the held-out rows" if table.groups is None else f"the longest held-out list, {table.groups[row]}"


def _graded(grades: Grades, level: Ints, above: int, below: int) -> str:
    up, down = (_tidy(grades.levels[level[each]]) for each in (above, below))
    return f"the one above has grade {up}, the one below {down}"


def _tidy(level: object) -> object:
    return int(level) if isinstance(level, float) and level.is_integer() else level
