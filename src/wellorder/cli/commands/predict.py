"""``wellorder predict``: a score for each row, or an outcome for each comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..engine import check_engine, dask_cluster, engine_options, read_parts_for
from ..options import (
    INPUT,
    comparison_options,
    json_option,
    output_file,
    raw_names_option,
    refuse_overwriting,
    say_understood,
)
from ..output import print_json

if TYPE_CHECKING:
    import polars as pl

    from ...data import PairTable, Table, TableRanker
    from ...standings import Standings


class _Wanted(NamedTuple):
    """Where predictions go, and how they are written."""

    target: str
    form: str
    raw_names: bool
    as_json: bool


@click.command(
    short_help="Score the rows of a file, or predict comparisons.",
    epilog="""\b
Examples:
  wellorder predict wines.wo new-wines.csv -o scores.csv
  wellorder predict ranker.wo test.letor --format trec -o run.txt
  wellorder predict wines.wo new-wines.csv --format lines
  wellorder predict players.wo fixtures.csv --items players.csv
  wellorder predict wines.wo 'part-*.parquet' --engine dask -o scores.csv
""",
)
@click.argument("model", **INPUT)
@click.argument("data", nargs=-1, required=True, **INPUT)
@click.option("--items", metavar="FILE", help="For comparisons: a file about the items.", **INPUT)
@comparison_options
@click.option("-o", "--output", metavar="FILE", callback=output_file, help="Where to; to the terminal unless given.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "trec", "lines"]),
    default="csv",
    show_default=True,
    help="csv: list, item, score and rank; trec: a run for trec_eval; lines: one score a line, in the file's order. Of "
    "comparisons, csv: left, right, predicted, difference and probabilities; lines: one difference a line.",
)
@engine_options
@raw_names_option
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    items: str | None,
    output: str | None,
    form: str,
    engine: str | None,
    scheduler: str | None,
    raw_names: bool,
    as_json: bool,
    **named: Any,
) -> None:
    """Score the rows of a file, or predict the outcomes of comparisons.

    A higher score stands above. The model knows its columns: the file needs the features, in any order, and may have
    others. To a model that learned from comparisons a file with the columns of two items (an outcome is not looked
    at) asks who is better: 'difference' is the right item's score less the left one's, 'predicted' is written as in the
    file of comparisons, and p_left, p_tie and p_right are there where the model has probabilities. Standings that
    'wellorder rate' has saved predict votes on pairs of their items, effects included.
    """
    from ...data import PairTable, as_table_model, read_for
    from ...persistence import load

    refuse_overwriting([model, *data, items], output)
    if as_json and (form != "csv" or output is not None):
        raise click.UsageError("--json goes to the terminal, in place of --format and --output; leave those out")
    check_engine(engine, scheduler, items=items, **named)
    wanted = _Wanted("-" if output is None else output, form, raw_names, as_json)
    loaded = load(model)
    if type(loaded).__name__ == "Standings":
        _predict_votes(loaded, data, wanted, named)
        return
    ranker = as_table_model(loaded, model)
    if engine is not None:
        with dask_cluster(scheduler):
            _predict_scores(ranker, read_parts_for(ranker, data), wanted)
        return
    table = say_understood(read_for(ranker, data, items=items, **named))
    if isinstance(table, PairTable):
        _predict_outcomes(ranker, table, wanted)
    else:
        _predict_scores(ranker, table, wanted)


def _predict_votes(standings: Standings, data: tuple[str, ...], wanted: _Wanted, named: dict[str, Any]) -> None:
    from ...data import read_pairs_to_come, write_frame
    from ...standings import predict_pairs

    if wanted.form != "csv":
        raise click.UsageError("standings predict votes, with three probabilities each; leave --format out")
    found = predict_pairs(standings, read_pairs_to_come(list(data), **named))
    if wanted.as_json:
        print_json(found.to_dicts())
    else:
        write_frame(wanted.target, found, raw_names=wanted.raw_names)


def _predict_outcomes(ranker: TableRanker, pairs: PairTable, wanted: _Wanted) -> None:
    from ...data import prediction_frame, write_frame, write_lines

    if wanted.form == "trec":
        raise click.UsageError("a run holds items, no comparisons; give the file of items, or take --format csv")
    difference = ranker.compare(pairs)
    if wanted.form == "lines":
        write_lines(wanted.target, difference)
        return
    chances = ranker.predict_proba(pairs) if hasattr(ranker, "predict_proba") else None
    found = prediction_frame(pairs, ranker.predict(pairs), difference, chances)
    if wanted.as_json:
        as_numbers = found.with_columns(_numbers(found["predicted"]))
        print_json(as_numbers.to_dicts())
    else:
        write_frame(wanted.target, found, raw_names=wanted.raw_names)


def _numbers(column: pl.Series) -> pl.Series:
    """Return outcomes as the numbers they are written as; other words stay text."""
    import polars as pl

    for kind in (pl.Int64, pl.Float64):
        read = column.cast(kind, strict=False)
        if not read.has_nulls():
            return read
    return column


def _predict_scores(ranker: TableRanker, table: Table, wanted: _Wanted) -> None:
    from ...data import score_frame, write_frame, write_lines, write_run

    scores = ranker.decision_function(table)
    if wanted.form == "trec":
        write_run(wanted.target, table.row_ids(), table.groups, scores)
    elif wanted.form == "lines":
        write_lines(wanted.target, scores)
    elif wanted.as_json:
        print_json(score_frame(table, scores).to_dicts())
    else:
        write_frame(wanted.target, score_frame(table, scores), raw_names=wanted.raw_names)
