"""``wellorder order``: the ranked list, with bands of items that cannot be told from the band's first."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import click

from ...writing import NOTHING, write_score
from ..options import (
    INPUT,
    comparison_options,
    finite,
    json_option,
    output_file,
    raw_names_option,
    refuse_overwriting,
    say_understood,
)
from ..output import print_json, print_table, progress_bar, say
from ..standings import print_standings, standings_as_json

if TYPE_CHECKING:
    from ...data import Table, TableRanker
    from ...evaluation import OrderedList
    from ...standings import Standings


@click.command(
    epilog="""\b
Examples:
  wellorder order wines.wo new-wines.csv
  wellorder order wines.wo new-wines.csv --top 10 --confidence 0.9
  wellorder order players.wo -o ranking.csv
  wellorder order wines.wo new-wines.csv --report order.html
"""
)
@click.argument("model", **INPUT)
@click.argument("items", nargs=-1, metavar="[ITEMS]", **INPUT)
@click.option("--top", type=click.IntRange(min=1), help="Only so many of each list.")
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1.0),
    callback=finite,
    help="How sure it must be that an item stands below the first of a band, for a new band to begin.  [default: 0.75, "
    "or, after learning from ties, the model's own threshold]",
)
@click.option(
    "--item",
    metavar="COLUMN",
    help="What items are called.  [default: the model's own; else a column item, id or name that is no feature]",
)
@click.option("-o", "--output", metavar="FILE", callback=output_file, help="Write a CSV file instead.")
@click.option(
    "--report",
    metavar="FILE",
    callback=output_file,
    help="Write a page as well: all items to be searched, how sure their order is, why, and what the model does not "
    "know.",
)
@comparison_options
@raw_names_option
@json_option
def command(
    model: str,
    items: tuple[str, ...],
    top: int | None,
    confidence: float | None,
    item: str | None,
    output: str | None,
    report: str | None,
    raw_names: bool,
    as_json: bool,
    **named: Any,
) -> None:
    """Print items from best to worst.

    Items of one band cannot be told from its first: on held-out rows, pairs as close as that stood in the right order
    less often than the confidence asks for. A model that learned from comparisons with ties knows how close is too
    close: it would call items of one band no different from its first. The last of one band and the first of the next
    may be close, too. Ratings that know how sure they are (Glicko's, Davidson's) go by that: an item is of the first
    band from whose first it cannot be told, and 'deviation' says how uncertain each rating is.

    Without ITEMS, a model that rates items by name puts all those in order that it was fitted on, and saved standings
    are printed as 'wellorder rate' did.
    """
    from ...data import as_table_model, items_of, read_for, write_rows
    from ...evaluation import order_items
    from ...persistence import load

    refuse_overwriting([model, *items], output, report)
    if item is not None and not items:
        raise click.UsageError("--item goes with ITEMS; leave it out")
    loaded = load(model)
    if type(loaded).__name__ == "Standings":
        if items or confidence is not None:
            given = "ITEMS" if items else "--confidence"
            raise click.UsageError(
                f"{model} holds standings, which know their items and how sure they are: leave {given} out"
            )
        _order_standings(loaded, model, top, output, report, raw_names, as_json)
        return
    ranker = as_table_model(loaded, model)
    table = (
        items_of(say_understood(read_for(ranker, items, item=item, find_item=True, **named)))
        if items
        else ranker.known_items(model)
    )
    ordered = order_items(ranker, table, confidence=confidence, top=top)
    rows = [row for each in ordered.lists for row in _rows(each, ordered.has_groups)]
    headers = [*(["list"] if ordered.has_groups else []), "rank", "band", "item", "score"]
    headers += ["deviation"] if any(each.deviations is not None for each in ordered.lists) else []
    if output is not None:
        write_rows(output, headers, rows, raw_names=raw_names)
    elif as_json:
        print_json([dict(zip(headers, row, strict=True)) for row in rows])
    else:
        print_table(headers, [[_shown(cell) for cell in row] for row in rows], right=_numbers(headers))
        say(ordered.note)
    if report is not None:
        _write_page(ranker, table, confidence, report)
        say(f"report: {report}", err=as_json)


def _order_standings(
    standings: Standings,
    model: str,
    top: int | None,
    output: str | None,
    report: str | None,
    raw_names: bool,
    as_json: bool,
) -> None:
    """Print saved standings, as ``wellorder rate`` did when it found them."""
    if output is not None:
        from ...data import write_frame

        write_frame(output, standings.table() if top is None else standings.table().head(top), raw_names=raw_names)
    elif as_json:
        print_json(standings_as_json(standings, top=top))
    else:
        print_standings(standings, top=top)
    if report is not None:
        from ...report import look_at_standings, write_standings

        write_standings(look_at_standings(standings, data=model), report, date=date.today().isoformat())
        say(f"report: {report}", err=as_json)


def _write_page(ranker: TableRanker, table: Table, confidence: float | None, path: str) -> None:
    import warnings

    from ...report import look_at_order, write_order

    with progress_bar("looking closer"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the order that was printed has warned of the same
        look = look_at_order(ranker, table, confidence=confidence)
    write_order(look, path, date=date.today().isoformat())


def _rows(ordered: OrderedList, with_group: bool) -> list[list[Any]]:
    group = [str(ordered.group)] if with_group else []
    deviations = [[] for _ in ordered.rows] if ordered.deviations is None else [[each] for each in ordered.deviations]
    return [[*group, *row, *more] for row, more in zip(ordered.rows, deviations, strict=True)]


def _shown(cell: Any) -> str:
    if isinstance(cell, float):
        return write_score(cell)
    return NOTHING if cell is None else str(cell)


def _numbers(headers: list[str]) -> list[int]:
    return [place for place, header in enumerate(headers) if header in ("rank", "band", "score", "deviation")]
