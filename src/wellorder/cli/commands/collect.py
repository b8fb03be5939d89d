"""``wellorder collect``: votes are given in the browser, two things at a time, and the model asks the next pair."""

from __future__ import annotations

import os
import sys
import webbrowser
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from ..options import INPUT, finite, names, output_file, raw_names_option, refuse_overwriting
from ..output import print_table, say

if TYPE_CHECKING:
    from ...collect import Setting

_MANY = 1_000
_STEP = 1.2
"""A simulation prints a line each time that the number of votes has grown by this factor."""


def _goal(ctx: click.Context, param: click.Parameter, value: str) -> str:
    from ...choosing import Goal

    try:
        return str(Goal.parse(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _judges(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    """Read how many judges there are, or what they are called."""
    if not value.strip().isdecimal():
        called = names(ctx, param, value) or ()
        if not called or len(set(called)) < len(called):
            raise click.BadParameter("give a number, or names that differ: --judges 3, or --judges Ann,Ben")
        return called
    if not 1 <= int(value) <= _MANY:
        raise click.BadParameter(f"there can be 1 to {_MANY:,} judges")
    return tuple(f"judge {number}" for number in range(1, int(value) + 1))


@click.command(
    "export",
    epilog="""\b
Example:
  wellorder collect export votes.db -o votes.csv
""",
)
@click.argument("votes", metavar="VOTES", **INPUT)
@click.option("-o", "--output", metavar="FILE", required=True, callback=output_file, help="The CSV file to write.")
@raw_names_option
def export(votes: str, output: str, raw_names: bool) -> None:
    """Write the votes that were collected as a CSV file: left, right, outcome, judge, time, seconds, note, chosen.

    It can be used while votes are collected. 'wellorder rate' and the other commands also read VOTES itself.
    """
    from ...data import one_sheet, write_frame

    refuse_overwriting([votes], output)
    frame = one_sheet(votes).frame
    write_frame(output, frame, raw_names=raw_names)
    say(f"saved: {output} ({len(frame):,} votes)", err=output == "-")


class _WithExport(click.Command):
    """A command with an argument and one subcommand: ``export`` is never taken for a file of items."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Hand over to the subcommand if it is named."""
        if args[:1] == ["export"]:
            return export.make_context(f"{info_name} export", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(
    short_help="Collect votes in the browser, two items at a time.",
    cls=_WithExport,
    epilog="""\b
Examples:
  wellorder collect --demo
  wellorder collect essays.csv --into votes.db --question "Which essay argues better?"
  wellorder collect photos/ --into votes.db --judges Ann,Ben,Cleo
  wellorder collect answers.csv --into votes.db --show answer=markdown --goal "top 10"
  wellorder collect export votes.db -o votes.csv
  wellorder rate votes.db
""",
)
@click.argument("items", metavar="ITEMS", required=False, **INPUT)
@click.option(
    "--into",
    metavar="VOTES",
    callback=output_file,
    help="The database of votes, such as votes.db; it is made, or gone on with.",
)
@click.option(
    "--demo", is_flag=True, help="In place of ITEMS: built-in pictures, in the folder wellorder-collect-demo."
)
@click.option(
    "--judges",
    metavar="N|A,B,…",
    default="1",
    callback=_judges,
    show_default=True,
    help="How many judges, or their names: each gets a link.",
)
@click.option("--question", metavar="TEXT", help="What judges are asked.  [default: Which one is better?]")
@click.option("--item", metavar="COLUMN", help="The column with the items' names.")
@click.option(
    "--show",
    metavar="COLUMN[=KIND]",
    multiple=True,
    help="What judges see, and as what: text, markdown, html, image or audio; more than once for several.  "
    "[default: all columns but the name]",
)
@click.option(
    "--features",
    metavar="A,B,…",
    callback=names,
    help="Columns of numbers or categories that may tell what items are worth: fewer votes are needed where they do.  "
    "Judges do not see them, unless --show names them.",
)
@click.option(
    "--goal",
    metavar="GOAL",
    default="rank",
    show_default=True,
    callback=_goal,
    help="What the votes are for: 'rank', 'top 10' or 'levels 4'.",
)
@click.option(
    "--per-pair",
    type=click.IntRange(1, _MANY),
    default=1,
    show_default=True,
    help="How many judges may get the same pair.",
)
@click.option(
    "--random-share",
    type=click.FloatRange(0.0, 1.0),
    default=0.1,
    show_default=True,
    callback=finite,
    help="Of pairs that are drawn at random: they tell how reliable the order is.",
)
@click.option(
    "--min-difference",
    type=click.FloatRange(0.0),
    default=0.0,
    show_default=True,
    callback=finite,
    help="For judges who are not trained: choose no pair that is expected to be closer, in log-odds (1: the better one "
    "wins 73 times of a hundred). Pairs that are drawn at random may be closer.",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Where to listen, for judges at other machines: 0.0.0.0 for all networks.  [default: this machine alone]",
)
@click.option("--port", type=click.IntRange(0, 65535), help="[default: 8765, or another that is free]")
@click.option(
    "--address", metavar="URL", help="How judges reach it, where something stands between: https://votes.example.org."
)
@click.option(
    "--open/--no-open",
    "opening",
    default=None,
    help="Open the page in the browser here.  [default: with one judge, at a terminal]",
)
@click.option(
    "--simulate",
    metavar="TRUTH",
    help="No pages: simulated judges, who go by the numbers of this file, an item and its worth a row.",
    **INPUT,
)
@click.option(
    "--votes",
    "n_votes",
    type=click.IntRange(1, 1_000_000),
    help="With --simulate: how many; until the goal is reached unless given.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="With --simulate: of everything that is random.",
)
def command(
    items: str | None, into: str | None, demo: bool, item: str | None, show: tuple[str, ...], **given: Any
) -> None:
    """Collect votes in the browser: two of the ITEMS side by side, and the model asks the pair that teaches most.

    ITEMS is a file with a row an item, or a folder of texts, pictures or sounds. Each judge gets a personal link; keys
    and touch work, answers are on the disk before the next pair is shown. Stop it with Ctrl-C, and start it again with
    the same words to go on.
    """
    from ...collect import DEMO_QUESTION, Setting, read_items, write_dots

    if demo and items is not None:
        raise click.UsageError("--demo brings its own items; leave ITEMS out")
    if not demo and (items is None or into is None):
        lacking = (
            "ITEMS, a file or a folder of what is to be compared" if items is None else "--into, a file for the votes"
        )
        raise click.UsageError(f"name {lacking}, as in 'wellorder collect items.csv --into votes.db'; or try --demo")
    if demo:
        items, into = "wellorder-collect-demo", into or os.path.join("wellorder-collect-demo", "votes.db")
        write_dots(items)
    assert items is not None
    assert into is not None
    refuse_overwriting([items, given["simulate"]], into)
    setting = Setting(
        judges=given["judges"],
        question=given["question"] or (DEMO_QUESTION if demo else Setting.question),
        per_pair=given["per_pair"],
        random_share=given["random_share"],
        goal=given["goal"],
        min_difference=given["min_difference"],
    )
    found = read_items(items, item=item, show=show, features=given["features"] or ())
    if given["simulate"] is None:
        _serve(into, found, setting, given)
    else:
        _simulate(into, found, setting, given)


def _serve(into: str, items: Any, setting: Setting, given: dict[str, Any]) -> None:
    from ...collect import LOOPBACK, is_loopback, serve

    host = given["host"] or LOOPBACK[1]
    opening = given["opening"]
    if opening is None:
        opening = len(setting.judges) == 1 and given["host"] is None and sys.stdout.isatty()

    def ready(links: list[tuple[str, str]], owner: str) -> None:
        say(f"{len(items):,} items; votes go into {into}")
        print_table(["who", "personal link"], [*map(list, links), ["you, the owner", owner]], whole=[1])
        if not is_loopback(host):
            say("others can reach this address: whoever has a link can judge in that name; they travel unencrypted")
        say("stop with Ctrl-C; start again to go on, with the same links")
        if opening:
            Thread(target=webbrowser.open, args=(links[0][1],), daemon=True).start()

    n_votes = serve(into, items, setting, host=host, port=given["port"], address=given["address"], ready=ready)
    say(f"stopped; {n_votes:,} votes are in {into}: wellorder rate {into}")


def _simulate(into: str, items: Any, setting: Setting, given: dict[str, Any]) -> None:
    from ...collect import read_truth, simulate_into

    truth = read_truth(given["simulate"], items.names)
    steps = simulate_into(into, items, setting, truth, n_votes=given["n_votes"], seed=given["seed"])
    rows: list[list[str]] = []
    last, shown = None, 0.0
    for last in steps:
        line = [f"{last.n_votes:,}", f"{last.tau:.3f}", f"{last.reached:.3f}", f"{last.more:,.0f}"]
        if last.n_votes >= _STEP * shown:
            shown = last.n_votes
            rows.append(line)
    if last is not None and rows[-1] != line:
        rows.append(line)
    headers = ["votes", "Kendall's tau with the truth", "reached, as it believes", "votes to go"]
    print_table(headers, rows, right=[0, 1, 2, 3])
    if last is not None:
        say(f"{last.n_votes:,} votes: {last.why}")
    say(f"saved: {into}")
