"""``wellorder evaluate``: how well a model orders a file."""

from __future__ import annotations

import click

from ..options import json_option
from ..output import number, print_json, print_table


@click.command(
    epilog="""\b
Examples:
  wellorder evaluate wines.wo test-wines.csv
  wellorder evaluate ranker.wo test.letor --metric swapped_pairs --metric ndcg@10 --metric map
  wellorder evaluate players.wo games.csv --items players.csv
  wellorder evaluate players.wo games.csv --items players.csv --metric comparison_error --metric comparison_brier
"""
)
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@click.option("--metric", "metrics", multiple=True, help="What to measure, such as ndcg@10; may be repeated.")
@click.option("--items", metavar="FILE", help="For comparisons: a file about the items.")
@json_option
def command(model: str, data: tuple[str, ...], metrics: tuple[str, ...], items: str | None, as_json: bool) -> None:
    """Judge a model on a file with grades or comparisons; target and group are as stored in the model."""
    from ...data import load_table_model, read_for
    from ...evaluation import evaluate_table

    ranker = load_table_model(model)
    table = read_for(ranker, data, judged=True, items=items)
    found = evaluate_table(ranker, table, metrics)
    if as_json:
        print_json(found)
    else:
        print_table(["metric", "value"], [(name, number(value, 6)) for name, value in found.items()], right=(1,))
        if any(value != value for value in found.values()):
            click.echo("–: not defined here; 'wellorder check' says what there is to judge by", err=True)
