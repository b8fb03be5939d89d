"""Items in their order, laid out for the person who asked: ranks, bands, chances, reasons, and what is not known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from markupsafe import Markup

from ..evaluation import Chances, Explanation, OrderedItems, OrderedList, write_value
from ..figures import legible
from ..writing import NOTHING, write_percent, write_score


@dataclass(frozen=True)
class Room:
    """How many items the page shows; all of them can be searched."""

    whole: int = 120
    """A list of up to this many items is shown whole."""
    first: int = 100
    last: int = 10
    lists: int = 20
    """If there are several lists, this many are shown, with this many items each:"""
    first_of_each: int = 10


SEARCHED = 200_000
"""Items that the page carries along to be searched: more would make a file of tens of megabytes."""

_TABLED = 8
"""This many of the first items are in the table of chances."""

_REASONS = 3
"""At most this many columns are named as the reason for an item's place."""


@dataclass(frozen=True)
class ShownItem:
    """An item in its place."""

    rank: int
    band: int | None
    name: str
    score: str
    share: float
    """Where the score lies between the list's lowest and highest, 0 to 1."""
    behind: str
    """How likely the first of the list is really above it."""
    opens: bool
    """Whether a band begins with it."""
    grade: str = ""
    because: str = ""
    remarks: tuple[str, ...] = ()
    deviation: str = ""
    """How uncertain its score is, where the model says so."""


@dataclass(frozen=True)
class ShownList:
    """The first items of a list, and the last ones where it is long."""

    name: str
    n_items: int
    first: tuple[ShownItem, ...]
    last: tuple[ShownItem, ...]

    @property
    def has_reasons(self) -> bool:
        """Whether any item has its reasons beside it."""
        return any(item.because for item in self.first)

    @property
    def left_out(self) -> int:
        """How many items between the first and the last are not shown, and found only by searching."""
        return self.n_items - len(self.first) - len(self.last)


@dataclass(frozen=True)
class Against:
    """One of the first items, and how likely it is really above each of the first."""

    name: str
    chances: tuple[str, ...]


@dataclass(frozen=True)
class Ranking:
    """All that a page shows of items in their order."""

    lists: tuple[ShownList, ...]
    n_lists: int
    n_items: int
    note: str
    has_groups: bool
    has_bands: bool
    has_chances: bool
    has_grades: bool
    chances: str
    """Where the chances come from."""
    table: tuple[Against, ...]
    search: Markup
    """JSON for the script: every item, and what differences are worth."""
    n_searched: int
    has_ties: bool = False
    """Whether the model may call two items no different."""
    has_deviations: bool = False
    """Whether it is known how uncertain each score is."""


@dataclass(frozen=True)
class Remarks:
    """Remarks on single rows, by their number in the table."""

    unfamiliar: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    because: Mapping[int, str] = field(default_factory=dict)
    grade: Sequence[str] | None = None
    strangers: frozenset[int] = frozenset()
    """Rows of which nothing is known, and for which there are no chances."""


def lay_out_ranking(
    ordered: OrderedItems, chances: Chances | None = None, remarks: Remarks | None = None, room: Room | None = None
) -> Ranking:
    """Lay ranked items out: the first and the last of each list to be read, all of them to be searched.

    Parameters
    ----------
    ordered : OrderedItems
        Whole lists, not their tops.
    chances : Chances, optional
    remarks : Remarks, optional
    room : Room, optional
    """
    told, room = remarks or Remarks(), room or Room()
    lists = [each for each in ordered.lists if each.rows]
    several = len(lists) > 1
    shown = tuple(_shown(each, chances, told, room, several=several) for each in lists[: room.lists])
    n_items = sum(len(each.rows) for each in lists)
    return Ranking(
        lists=shown,
        n_lists=len(lists),
        n_items=n_items,
        note=ordered.note[:1].upper() + ordered.note[1:] + ".",
        has_groups=ordered.has_groups,
        has_bands=any(item.band is not None for each in shown for item in each.first),
        has_chances=chances is not None,
        has_grades=told.grade is not None,
        chances="" if chances is None else chances.how,
        table=_table(lists[0], chances, told) if lists and chances is not None and not several else (),
        search=_searchable(lists, ordered.has_groups, chances, told),
        n_searched=min(n_items, SEARCHED),
        has_ties=chances is not None and chances.tie is not None,
        has_deviations=any(each.deviations is not None for each in lists),
    )


def write_because(explanation: Explanation) -> str:
    """Name what speaks for an item: its values, and how much each adds."""
    speaking = [each for each in explanation.contributions if each.contribution > 0]
    largest = speaking[0].contribution if speaking else 0.0
    named = [each for each in speaking if each.contribution > 0.1 * largest][:_REASONS]
    return "; ".join(
        f"{write_value(each.feature)} = {write_value(each.a)} ({explanation.write(each.contribution)})"
        for each in named
    )


def _shown(each: OrderedList, chances: Chances | None, remarks: Remarks, room: Room, *, several: bool) -> ShownList:
    n = len(each.rows)
    n_first, n_last = (n, 0) if n <= room.whole else (room.first, room.last)
    if several:
        n_first, n_last = min(n, room.first_of_each), 0
    scores = np.array([row[3] for row in each.rows])
    top, bottom = float(scores[0]), float(scores[-1])
    reach = top - bottom if np.isfinite(top - bottom) and top > bottom else 1.0

    def item(place: int) -> ShownItem:
        rank, band, name, score = each.rows[place]
        number = each.numbers[place]
        unknown = number in remarks.strangers or each.numbers[0] in remarks.strangers
        behind = ""
        if chances is not None and not unknown and score != top:
            behind = write_chance(chances.at(top - score, each.numbers[0], number))
        return ShownItem(
            rank,
            band,
            name,
            write_score(score),
            float(np.clip((score - bottom) / reach, 0.0, 1.0)) if np.isfinite(score) else 0.0,
            behind,
            place > 0 and band != each.rows[place - 1][1],
            "" if remarks.grade is None else remarks.grade[number],
            remarks.because.get(number, ""),
            remarks.unfamiliar.get(number, ()),
            "" if each.deviations is None else write_score(each.deviations[place]),
        )

    last = range(n - n_last, n)
    name = "" if each.group is None else str(each.group)
    return ShownList(name, n, tuple(map(item, range(n_first))), tuple(map(item, last)))


def write_chance(share: float) -> str:
    """Write a probability; nothing is written as certain.

    Examples
    --------
    >>> from wellorder.report.ranked import write_chance
    >>> [write_chance(share) for share in (0.0, 0.514, 0.999)]
    ['< 1 %', '51 %', '> 99 %']
    """
    if share > 0.99:
        return "> 99 %"
    return "< 1 %" if share < 0.01 else write_percent(share, 0)


def _table(each: OrderedList, chances: Chances, remarks: Remarks) -> tuple[Against, ...]:
    """Compare the first items with each other."""
    known = (pair for pair in zip(each.rows, each.numbers, strict=True) if pair[1] not in remarks.strangers)
    first = list(islice(known, _TABLED))
    if len(first) < 2:
        return ()
    return tuple(
        Against(
            own[2],
            tuple(
                NOTHING if one == other else _chance(chances, own[3] - theirs[3], one, other) for theirs, other in first
            ),
        )
        for own, one in first
    )


def _chance(chances: Chances, difference: float, one: int, other: int) -> str:
    """Write the chance that one row is above another, given how far its score is above; equal scores say nothing."""
    if difference == 0:
        return "equal"
    above = chances.at(difference, one, other)
    if difference < 0:
        tie = 0.0 if chances.tie is None else float(np.interp(-difference, chances.distance, chances.tie))
        above = 1.0 - above - tie
    return write_chance(above)


def _searchable(lists: Sequence[OrderedList], has_groups: bool, chances: Chances | None, remarks: Remarks) -> Markup:
    """Return JSON that may stand in a page: no tag can begin in it."""
    rows: list[list[Any]] = []
    strangers: list[int] = []
    for each in lists:
        deviations = each.deviations or [None] * len(each.rows)
        for (rank, band, name, score), number, deviation in zip(each.rows, each.numbers, deviations, strict=True):
            if len(rows) == SEARCHED:
                break
            more = [legible(str(each.group))] if has_groups else []
            said = "; ".join(remarks.unfamiliar.get(number, ()))
            grade = [] if remarks.grade is None else [legible(remarks.grade[number])]
            shown = float(f"{score:.6g}") if np.isfinite(score) else None
            doubt = [] if deviation is None else [float(f"{deviation:.6g}")]
            rows.append([rank, band, legible(name), shown, *doubt, legible(said), *grade, *more])
            if number in remarks.strangers:
                strangers.append(len(rows) - 1)
    doubted = any(each.deviations is not None for each in lists)
    columns = ["rank", "band", "item", "score", *(["deviation"] if doubted else []), "remarks"]
    columns += [*(["grade"] if remarks.grade is not None else []), *(["list"] if has_groups else [])]
    data: dict[str, Any] = {"columns": columns, "rows": rows, "strangers": strangers}
    if chances is not None:
        data["chances"] = {
            "distance": [float(f"{value:.6g}") for value in chances.distance.tolist()],
            "above": [round(value, 4) for value in chances.above.tolist()],
            "tie": None if chances.tie is None else [round(value, 4) for value in chances.tie.tolist()],
            "doubted": chances.deviation is not None,
        }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(safe)
