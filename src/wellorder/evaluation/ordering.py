"""A ranked list for a person: items from best to worst, in bands of those that cannot be told from the band's first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..data import Table, TableRanker
from ..order.labels import encode_groups
from ..sweeps import Floats, Ints
from .judging import threshold_of
from .resolution import bands, least_difference

CONFIDENCE = 0.75
"""How sure an order must be for a new band to begin, unless somebody says otherwise."""

Row: TypeAlias = tuple[int, int | None, str, float]
"""(rank, band, item, score); equal scores share a rank, and there is no band where none was measured."""


@dataclass(frozen=True)
class OrderedList:
    """One list, best first."""

    group: Any
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class OrderedItems:
    """All lists of a table."""

    lists: tuple[OrderedList, ...]
    has_groups: bool
    note: str
    """How to read the bands."""


def order_items(
    model: TableRanker, table: Table, *, confidence: float | None = None, top: int | None = None
) -> OrderedItems:
    """Order the rows of a table by a model, list by list.

    Parameters
    ----------
    model : TableRanker
    table : Table
    confidence : float, optional
        A band ends before the first item that is so far below the band's first that held-out pairs as far apart
        stood in the right order at least so often. It says nothing of two items on either side of a border. 0.75
        unless given; but a model that learned from ties when items are no different goes by that unless it is given.
    top : int, optional
        Only so many rows of each list.
    """
    scores = np.asarray(model.decision_function(table), dtype=float)
    names = table.names()
    threshold = threshold_of(model) if model.supervision_ == "comparisons" else 0.0
    if confidence is None and threshold > 0:
        least: float | None = float(np.nextafter(threshold, np.inf))  # differences up to it are ties
        note = _tie_note(threshold)
    else:
        sure = CONFIDENCE if confidence is None else confidence
        least = None if model.resolution_ is None else model.spread_ * least_difference(model.resolution_, sure)
        note = _note(least, sure)
    lists = []
    for members in _members(table):
        label = None if table.groups is None else table.groups[members[0]]
        lists.append(OrderedList(label, _rows(members, scores, names, least)[:top]))
    return OrderedItems(tuple(lists), table.groups is not None, note)


def _members(table: Table) -> list[Ints]:
    """Return the rows of each list, by one sort for all of them."""
    if not len(table):
        return []
    group, n_groups = encode_groups(table.groups, len(table))
    if group is None:
        return [np.arange(len(table))]
    by_group = np.argsort(group, kind="stable")
    return np.split(by_group, np.cumsum(np.bincount(group, minlength=n_groups))[:-1])


def _rows(members: Any, scores: Floats, names: Any, least: float | None) -> tuple[Row, ...]:
    mine = scores[members]
    band = None if least is None else bands(mine, least)
    order = np.argsort(-mine, kind="stable")
    rank = 1 + np.searchsorted(np.sort(-mine), -mine)  # one more than the number of better scores
    return tuple(
        (int(rank[place]), None if band is None else int(band[place]), str(names[members[place]]), float(mine[place]))
        for place in order
    )


def _tie_note(threshold: float) -> str:
    return (
        f"items of one band are at most {threshold:.3g} below its first: asked to compare them with it, the model says "
        "there is no difference; the last of one band and the first of the next may be as close as that"
    )


def _note(least: float | None, confidence: float) -> str:
    if least is None:
        return "no bands: the model was fitted with --no-bands, or had no held-out pair"
    if least == float("inf"):
        return f"one band: on held-out rows no distance between scores made an order {confidence:.0%} sure"
    return (
        f"items of one band are less than {least:.3g} below its first: on held-out rows, pairs that close stood in the "
        f"right order less than {confidence:.0%} of the time; items of two bands may be as close as that"
    )
