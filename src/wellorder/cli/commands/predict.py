"""``wellorder predict``: a score for each row."""

from __future__ import annotations

import click

from ..options import output_file, refuse_overwriting


@click.command(
    epilog="""\b
Examples:
  wellorder predict wines.wo new-wines.csv -o scores.csv
  wellorder predict ranker.wo test.letor --format trec -o run.txt
  wellorder predict wines.wo new-wines.csv --format lines
"""
)
@click.argument("model")
@click.argument("data", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", callback=output_file, help="Where to; to the terminal unless given.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "trec", "lines"]),
    default="csv",
    show_default=True,
    help="csv: list, item, score and rank; trec: a run for trec_eval; lines: one score a line, in the file's order.",
)
def command(model: str, data: tuple[str, ...], output: str | None, form: str) -> None:
    """Score the rows of a file; a higher score stands above.

    The model knows its columns: the file needs the features, in any order, and may have others.
    """
    from ...data import items_of, load_table_model, read_for, write_lines, write_run, write_scores

    refuse_overwriting([model, *data], output)
    ranker = load_table_model(model)
    table = items_of(read_for(ranker, data))
    scores = ranker.decision_function(table)
    target = "-" if output is None else output
    match form:
        case "csv":
            write_scores(target, table, scores)
        case "trec":
            write_run(target, table.names(), table.groups, scores)
        case _:
            write_lines(target, scores)
