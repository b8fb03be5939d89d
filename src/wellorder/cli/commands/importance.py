"""``wellorder importance``: which columns a model's order hangs on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from ..options import INPUT, comparison_options, json_option, say_understood, seed_option
from ..output import print_json, print_table, progress_bar, say


@click.command(
    short_help="Say which columns matter most to a model.",
    epilog="""\b
Examples:
  wellorder importance wines.wo test-wines.csv
  wellorder importance ranker.wo test.letor --metric ndcg@10 --top 10
  wellorder importance players.wo games.csv --items players.csv
""",
)
@click.argument("model", **INPUT)
@click.argument("data", nargs=-1, required=True, **INPUT)
@click.option("--metric", help="What to go by, such as ndcg@10.  [default: swapped pairs, or the comparison error]")
@click.option("--items", metavar="FILE", help="For comparisons: a file about the items.", **INPUT)
@comparison_options
@click.option(
    "--repeats", type=click.IntRange(min=2), default=5, show_default=True, help="How often each column is shuffled."
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME",
    help="Shuffle this one alone; may be given several times.  [default: all, or of more than 1,000 the 200 that add "
    "most to the scores]",
)
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="How many columns to write out.")
@seed_option
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    metric: str | None,
    items: str | None,
    repeats: int,
    columns: tuple[str, ...],
    top: int,
    seed: int,
    as_json: bool,
    **named: Any,
) -> None:
    """Say which columns matter: how much worse a model orders a file when one is shuffled within lists.

    DATA has grades or comparisons; give rows that the model has not learned from. Target and group are as stored in
    the model.
    """
    from ...data import load_table_model, read_for
    from ...evaluation import importance

    ranker = load_table_model(model)
    table = say_understood(read_for(ranker, data, judged=True, items=items, **named))
    with progress_bar("shuffling") as bar:
        found = importance(
            ranker,
            table,
            metric=metric,
            n_repeats=repeats,
            columns=columns or None,
            random_state=seed,
            progress=lambda done, total: bar.show(done, total, "shuffling"),
        )
    if as_json:
        print_json(asdict(found))
        return
    say(found.headline())
    say()
    print_table(found.head(), found.table(top), right=range(1, len(found.head())))
    for note in found.notes(top):
        say(note)
