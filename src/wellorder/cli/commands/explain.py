"""``wellorder explain``: why one item stands above another."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ..options import INPUT, json_option
from ..output import print_json, print_table, say

if TYPE_CHECKING:
    from ...data import Table
    from ...evaluation import Explanation


@click.command(
    epilog="""\b
Examples:
  wellorder explain wines.wo wines.csv Rioja Merlot
  wellorder explain wines.wo wines.csv 12 40 --top 5
  wellorder explain ranker.wo test.letor 1 2 --json
  wellorder explain wines.wo tastings.csv Rioja Merlot --list Monday
"""
)
@click.argument("model", **INPUT)
@click.argument("items", metavar="ITEMS", **INPUT)
@click.argument("a")
@click.argument("b")
@click.option("--list", "group", metavar="NAME", help="The list that both stand in, where names occur in several.")
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, help="How many features to write out."
)
@json_option
def command(model: str, items: str, a: str, b: str, group: str | None, top: int, as_json: bool) -> None:
    """Say why item A stands above item B of a file, or below it.

    Each feature's contribution is how much it adds to the difference of the two scores; they add up to it. Items go by
    the names that 'wellorder order' prints, or by the numbers of their rows in the file, counted from 1; where an item
    is called 12, that is the one which 12 means, and "row 12" is the row.
    """
    from ...data import items_of, load_table_model, read_for
    from ...evaluation import explain, find_row

    ranker = load_table_model(model)
    table = items_of(read_for(ranker, items))
    among = None if group is None else _one_list(table, group)
    found = explain(ranker, *(find_row(table, each, among) for each in (a, b)), items=table)
    if as_json:
        print_json(_as_dict(found))
        return
    say(found.headline())
    say()
    print_table(found.head(), found.table(top), right=(1, 2, 3))
    for note in found.notes():
        say(note)


def _one_list(table: Table, name: str) -> Any:
    """Say which rows are of one list."""
    import numpy as np

    from ...suggest import suggest

    if table.groups is None:
        raise click.UsageError(f"{table.source} has no lists; leave --list out")
    groups = [str(group) for group in table.groups.tolist()]
    if name not in groups:
        known = suggest(name, dict.fromkeys(groups), "its lists are")
        raise click.UsageError(f"there is no list {name!r} in {table.source}; {known}")
    return np.array([group == name for group in groups])


def _as_dict(found: Explanation) -> dict[str, Any]:
    chances = found.probability
    named = None if chances is None else dict(zip(("a_better", "tie", "b_better"), chances, strict=True))
    return asdict(found) | {"difference": found.difference, "probability": named}
