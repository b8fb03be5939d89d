"""``wellorder rate``: which thing is best, how sure, and what moved the votes."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import click

from ..options import (
    finite,
    json_option,
    output_file,
    raw_names_option,
    read_votes,
    refuse_overwriting,
    say_understood,
    vote_options,
)
from ..output import print_json, progress_bar, say
from ..standings import print_standings, standings_as_json

if TYPE_CHECKING:
    from ...data import ComparisonTable
    from ...standings import Standings


@click.command(
    short_help="Rate things from votes on two at a time.",
    epilog="""\b
Examples:
  wellorder rate votes.csv
  wellorder rate votes.csv --side --control length --cluster prompt --cluster judge
  wellorder rate games.csv --winner winner_name --loser loser_name --time date --half-life 365d
  wellorder rate league.csv --side --scale elo --report standings.html
""",
)
@vote_options
@click.option("--side", is_flag=True, help="One side may have an advantage: who plays at home, what is shown first.")
@click.option("--neutral", metavar="COLUMN", help="With --side: 1 or true where no side has one.")
@click.option(
    "--control",
    "controls",
    metavar="NAME",
    multiple=True,
    help="What else may move votes, such as length: a column of differences, right minus left, or two columns such as "
    "length_a and length_b. More than once for several.",
)
@click.option(
    "--cluster",
    "clusters",
    metavar="COLUMN",
    multiple=True,
    help="Votes with the same value hang together, such as those on one prompt; more than once for several kinds.",
)
@click.option(
    "--judge", metavar="COLUMN", help="Who gave a vote: each has a leaning and a sharpness of their own, shrunk."
)
@click.option("--count", "counts", metavar="COLUMN", help="How many equal votes a row stands for.")
@click.option(
    "--half-life",
    metavar="TIME",
    help="With --time: after which a vote counts half: 365d, 12w, 36h or 2y, or a number in the column's own units.",
)
@click.option(
    "--both-bad",
    type=click.Choice(["tie", "own"]),
    default="tie",
    show_default=True,
    help="Whether 'both are bad' is a tie, or an outcome of its own.",
)
@click.option("--features", is_flag=True, help="With --items: ratings lean on the items' features where votes are few.")
@click.option(
    "--scale", type=click.Choice(["log-odds", "elo"]), default="log-odds", show_default=True, help="Of the ratings."
)
@click.option(
    "--confidence",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    callback=finite,
    help="Of intervals and rank sets.",
)
@click.option("-o", "--output", metavar="FILE", callback=output_file, help="Write the standings to a CSV file.")
@click.option(
    "--save", metavar="FILE", callback=output_file, help="Save them, to predict votes with 'wellorder predict'."
)
@click.option("--report", metavar="FILE", callback=output_file, help="Write a page for people, in one file.")
@raw_names_option
@json_option
def command(
    output: str | None,
    save: str | None,
    report: str | None,
    half_life: str | None,
    raw_names: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Rate things that were compared two at a time: which is best, how sure, and what moved the votes.

    Ratings are the most likely ones under Davidson's model of wins and ties. The ranks of a rank set hold for all items
    at once. Items that no votes link are not compared; one that won or lost everything has an interval with one end.
    """
    from ...standings import rate

    asked = (
        "side",
        "neutral",
        "controls",
        "clusters",
        "judge",
        "counts",
        "both_bad",
        "features",
        "scale",
        "confidence",
    )
    options = {name: given.pop(name) for name in asked}
    refuse_overwriting([*given["data"], given["items"]], output, save, report)
    table = say_understood(read_votes(**given), uses_columns=True)
    if half_life is not None and table.times is None:
        raise click.UsageError("--half-life needs to know when votes were given; name the column with --time")
    options["half_life"] = half_life
    standings = rate(table, **options)
    if as_json:
        print_json(standings_as_json(standings, understood=table.understood))
    else:
        print_standings(standings)
    if output is not None:
        from ...data import write_frame

        write_frame(output, standings.table(), raw_names=raw_names)
    if save is not None:
        from ...persistence import save as save_model

        save_model(standings, save)
        say(f"saved: {save}", err=as_json)
    if report is not None:
        _write_page(standings, table, options, report)
        say(f"report: {report}", err=as_json)


def _write_page(standings: Standings, table: ComparisonTable, options: dict[str, Any], path: str) -> None:
    from ...report import look_at_standings, write_standings

    with progress_bar("looking closer"):
        look = look_at_standings(standings, table, options)
    write_standings(look, path, date=date.today().isoformat())
