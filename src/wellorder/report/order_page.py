"""Items ranked by a saved model, as one HTML file for the person who asked for the order."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..data import Table, TableRanker, Unfamiliar
from ..evaluation import Chances, Explanation, OrderedItems, chances_of, explain, order_items, scores_rows_alone
from ..whole_files import write_whole
from ..writing import counted
from .closer_look import CloserLook, Why, named_by_number
from .page import environment, script_hash, source, without_folders
from .pictures import make_reasons
from .ranked import Ranking, Remarks, lay_out_ranking, write_because

_EXPLAINED = 10
"""This many of the first items have their reasons beside them."""

_DRAWN = 3
"""This many of the first items have their reasons drawn."""

_NAMED = 3
"""At most this many items are named that the model does not know everything of."""


@dataclass(frozen=True)
class Gap:
    """Something that the model was not taught, and of how many items."""

    column: str
    what: str
    n_items: str
    names: str


@dataclass(frozen=True)
class OrderLook:
    """All that the page says of an order.

    Attributes
    ----------
    data : str
        The file of the items.
    about : tuple of (str, str)
        What the model is and has learned from.
    ordered : OrderedItems
    chances : Chances or None
    whys : tuple of Why
        Of the first items.
    because : dict
        From rows to what speaks for them.
    unfamiliar : tuple of Unfamiliar
    names : tuple of str
        Of the rows.
    no_reasons : str
        Why there are no reasons, where there are none.
    knows_range : bool
        Whether the model file says from where to where the training data reached.
    by_name : bool
        Whether the model rates items by name, and looks at nothing else.
    spare : tuple of str
        Columns of the file that the model does not look at.
    few : str
        How few rows or comparisons it has learned from, where they are few.
    """

    data: str
    about: tuple[tuple[str, str], ...]
    ordered: OrderedItems
    chances: Chances | None
    whys: tuple[Why, ...]
    because: dict[int, str]
    unfamiliar: tuple[Unfamiliar, ...]
    names: tuple[str, ...]
    no_reasons: str = ""
    knows_range: bool = True
    by_name: bool = False
    spare: tuple[str, ...] = ()
    few: str = ""


def look_at_order(model: TableRanker, table: Table, *, confidence: float | None = None) -> OrderLook:
    """Order a table, and gather what is to be said of it: chances, reasons, and what the model was never taught.

    Parameters
    ----------
    model : TableRanker
    table : Table
    confidence : float, optional
        As :func:`wellorder.evaluation.order_items` takes it.

    Examples
    --------
    >>> import polars as pl
    >>> import wellorder as wo
    >>> from wellorder.data import Table, TableRanker
    >>> from wellorder.report import look_at_order
    >>> wines = pl.DataFrame({"ph": [3.0, 3.1, 3.4], "colour": ["red", "white", "red"], "quality": [4, 5, 6]})
    >>> model = TableRanker(wo.RankSVM(), target="quality").fit(wines)
    >>> look = look_at_order(model, Table("new.csv", pl.DataFrame({"ph": [3.2, 3.9], "colour": ["red", "white"]})))
    >>> [(each.column, each.kind, each.detail) for each in look.unfamiliar]
    [('ph', 'beyond', '3 to 3.4')]
    """
    ordered = order_items(model, table, confidence=confidence)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ordering has warned, and the page says it
        whys, because, no_reasons = _reasons(model, table, ordered)
        chances = chances_of(model, table)
    encoder = model.encoder_
    return OrderLook(
        data=table.source,
        about=_about(model),
        ordered=ordered,
        chances=chances,
        whys=whys,
        because=because,
        unfamiliar=tuple(encoder.unfamiliar(table)) if encoder is not None else _strangers(model, table),
        names=tuple(str(name) for name in table.names()),
        no_reasons=no_reasons,
        knows_range=encoder is None or hasattr(encoder, "lows_"),
        by_name=encoder is None,
        spare=table.spare,
        few=_few(model),
    )


def render_order(look: OrderLook, *, date: object = None) -> str:
    """Return an order as a self-contained page: items, bands, chances, reasons and gaps in one file.

    Pure: the same look and date give the same characters. Nothing is fetched when it is opened.

    Parameters
    ----------
    look : OrderLook
        What :func:`look_at_order` found.
    date : str or date, optional
        When it was made, to be written on the page.
    """
    strangers = (
        frozenset(row for each in look.unfamiliar for row in each.rows.tolist()) if look.by_name else frozenset()
    )
    ranking = lay_out_ranking(look.ordered, look.chances, Remarks(_remarks(look), look.because, strangers=strangers))
    script = source("search.js")
    return (
        environment()
        .get_template("order.html")
        .render(
            title=without_folders(look.data),
            date="" if date is None else str(date),
            style=source("page.css"),
            script=script,
            script_hash=script_hash(script),
            lead=_lead(ranking, look),
            caution=_caution(look),
            ranking=ranking,
            reasons=make_reasons(CloserLook(whys=look.whys)),
            no_reasons=look.no_reasons,
            gaps=[_gap(each, look) for each in look.unfamiliar],
            knows_range=look.knows_range,
            by_name=look.by_name,
            spare=look.spare,
            few=look.few,
            about=look.about,
        )
    )


def write_order(look: OrderLook, path: str | os.PathLike[str], *, date: object = None) -> Path:
    """Write the page of an order to a file, and return where it is.

    Parameters
    ----------
    look : OrderLook
        What :func:`look_at_order` found.
    path : path-like
        A file that is there already is replaced.
    date : str or date, optional
        When it was made, to be written on the page.
    """
    return write_whole(path, render_order(look, date=date))


# --------------------------------------------------------------------------------------------------
# Why the first stand where they stand.


def _reasons(model: TableRanker, table: Table, ordered: OrderedItems) -> tuple[tuple[Why, ...], dict[int, str], str]:
    """Explain the first items of the longest list, each against the one in the middle of it."""
    if model.encoder_ is None:
        return (), {}, "each item has a rating of its own, learned from its comparisons, and no column is looked at"
    if not scores_rows_alone(model.ranker_):
        return (), {}, "the model has no score for an item by itself: it depends on the list that the item is in"
    longest = max(ordered.lists, key=lambda each: len(each.rows), default=None)
    if longest is None or len(longest.numbers) < 2:
        return (), {}, "there is only one item"
    rows, middle = longest.numbers, longest.numbers[len(longest.numbers) // 2]
    names = [str(name) for name in table.names()]
    of = f" of {longest.group}" if len(ordered.lists) > 1 else ""
    whys, because = [], {}

    def told(a: int, b: int) -> Explanation:
        return named_by_number(explain(model, a, b, items=table, names=[names[a], names[b]]), table)

    try:
        for place, row in enumerate(rows[:_EXPLAINED]):
            if row == middle:
                break
            found = told(row, middle)
            because[row] = write_because(found)
            if place < _DRAWN:
                whys.append(Why(f"{_nth(place)}{of}, against the one in the middle", found))
        if rows[1] != middle:
            whys.insert(1, Why(f"The first{of} against the second", told(rows[0], rows[1])))
    except ValueError as error:  # a model that gives no single number a row
        return (), {}, str(error)
    return tuple(whys), because, ""


def _nth(place: int) -> str:
    return ("The first", "The second", "The third")[place]


# --------------------------------------------------------------------------------------------------
# What the model does not know.


_KINDS = {
    "missing": "missing",
    "unseen": "not among those of the training data",
    "beyond": "outside of the training range",
}


def _strangers(model: TableRanker, table: Table) -> tuple[Unfamiliar, ...]:
    """Find items that were never compared: they have the rating that all start with."""
    known = set(model.items_ or ())
    names = [str(name) for name in table.names()] if table.ids is not None else []
    rows = np.array([row for row, name in enumerate(names) if name not in known], dtype=np.int64)
    return (Unfamiliar("comparisons", "missing", rows, "it has the rating that all start with"),) if len(rows) else ()


_FEW_VOTES, _FEW_ROWS = 20, 5
"""With fewer comparisons per item, or fewer rows per feature or in all, a few more may well change the order."""
_FEWEST = 50


def _few(model: TableRanker) -> str:
    """Say how few rows or comparisons a model has learned from; an empty text where they are enough, or not known."""
    n: int | None = getattr(model, "n_learned_", None)
    if n is None:
        return ""
    what = counted(n, "comparison" if model.supervision_ == "comparisons" else "graded row")
    if model.encoder_ is None:
        items = len(model.items_ or ())
        if 2 * n >= _FEW_VOTES * items:
            return ""
        return f"{what} of {counted(items, 'item')}, about {2 * n / max(items, 1):.2g} of each"
    n_features = len(model.encoder_.get_feature_names_out())
    return "" if n >= max(_FEW_ROWS * n_features, _FEWEST) else f"{what} and {counted(n_features, 'feature')}"


def _column(look: OrderLook, each: Unfamiliar) -> str:
    return f"feature {each.column}" if each.column.isdecimal() else each.column


def _remarks(look: OrderLook) -> dict[int, tuple[str, ...]]:
    """Return what to say beside single items."""
    said = {"missing": "no {}", "unseen": "{}: never seen in training", "beyond": "{}: outside of the training range"}
    found: dict[int, tuple[str, ...]] = {}
    for each in look.unfamiliar:
        text = said[each.kind].format(_column(look, each))
        for row in each.rows.tolist():
            found[row] = (*found.get(row, ()), text)
    return found


def _gap(each: Unfamiliar, look: OrderLook) -> Gap:
    what = _KINDS[each.kind] + (f" ({each.detail})" if each.detail else "")
    first = [look.names[row] for row in each.rows[:_NAMED].tolist()]
    more = ", …" if len(each.rows) > _NAMED else ""
    return Gap(_column(look, each), what, counted(len(each.rows), "item"), ", ".join(first) + more)


# --------------------------------------------------------------------------------------------------
# Sentences.


def _lead(ranking: Ranking, look: OrderLook) -> tuple[str, str]:
    """Return the item at the top, and what to say of it."""
    if not ranking.lists:
        return "", "There is no item to put in order."
    if ranking.n_lists > 1:
        return "", f"{counted(ranking.n_items, 'item')} in {counted(ranking.n_lists, 'list')}, each from best to worst."
    (only,) = look.ordered.lists
    first, rows = only.rows[0][2], only.rows
    text = f"stands first of {counted(len(rows), 'item')}"
    n_band = sum(row[1] == 1 for row in rows)
    n_top = sum(row[0] == 1 for row in rows)
    if n_top > 1:
        text += f", together with {counted(n_top - 1, 'other')} of the same score"
    if ranking.has_bands and n_band > n_top:
        text += f"; {n_band - n_top:,} below it {'is' if n_band - n_top == 1 else 'are'} too close to be told from it"
    elif ranking.has_bands and n_band < len(rows):
        text += "; the others are more likely below it than the confidence asks for"
    return first, text + "."


def _caution(look: OrderLook) -> str:
    """Say how much of the order rests on what the model was never taught."""
    rows: set[int] = set().union(*(each.rows.tolist() for each in look.unfamiliar))
    if not rows and look.few:
        return f"The model has learned from only {look.few}: a few more may change this order."
    if not rows:
        return ""
    some = f"{len(rows):,} of {counted(len(look.names), 'item')}" if len(look.names) > len(rows) else "every item"
    return (
        f"Of {some} something is not known, or is like nothing that the model has learned from: read the places of "
        "these with care."
    )


def _about(model: TableRanker) -> tuple[tuple[str, str], ...]:
    first, *rest = model.describe().split("\n")
    name, _, learned = first.partition(" fitted on ")
    lines = [line.partition(": ") for line in rest]
    return (("model", name), ("learned from", learned), *((what, how) for what, _, how in lines))
