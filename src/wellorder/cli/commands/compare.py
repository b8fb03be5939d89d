"""``wellorder compare``: every method on the same splits, a leaderboard and a report."""

from __future__ import annotations

import os
from typing import Any

import click

from ..options import (
    ModelCommand,
    data_options,
    finite,
    jobs_option,
    json_option,
    monotone_option,
    names,
    output_file,
    read_data,
    refuse_overwriting,
    say_understood,
    seed_option,
)
from ..output import print_json, say


@click.command(
    short_help="Compare methods on the same splits, and report.",
    cls=ModelCommand,
    epilog="""\b
Examples:
  wellorder compare wines.csv --target quality --report report.html
  wellorder compare train.letor --metric ndcg@10 --time-budget 600 --report report.html
  wellorder compare wines.csv --target quality --models rank-svm,ridge --folds 10 --repeats 5
""",
)
@data_options
@click.option("--models", metavar="A,B,…", callback=names, help="Which methods; all that suit the data unless given.")
@click.option(
    "--metric", "metrics", multiple=True, help="What to go by, such as ndcg@10; further ones are measured as well."
)
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of one round.")
@click.option("--repeats", type=click.IntRange(min=1), default=2, show_default=True, help="Rounds, if there is time.")
@seed_option
@click.option(
    "--time-budget",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    callback=finite,
    help="By the clock; what is too slow for it is left out, and said so.",
)
@monotone_option
@jobs_option
@click.option("--report", metavar="FILE", callback=output_file, help="Write a report as one HTML file.")
@click.option(
    "--records",
    metavar="FILE",
    callback=output_file,
    help="Keep a JSON line a fit here, and go on from it.  [default: beside the report]",
)
@json_option
def command(
    data: tuple[str, ...],
    models: tuple[str, ...] | None,
    metrics: tuple[str, ...],
    folds: int,
    repeats: int,
    seed: int,
    time_budget: float,
    monotone: dict[str, int] | None,
    jobs: int | None,
    report: str | None,
    records: str | None,
    as_json: bool,
    **roles: Any,
) -> None:
    """Compare methods honestly, and say which ordering to trust, and how much.

    Each method's parameters are searched inside the training part of each split; test parts are only judged on. A
    run with a report or records that is interrupted goes on from its records when the same command is given again;
    one whose time was up, when it is given with a larger time budget. Ctrl-C shows what there is by then.
    """
    from ...evaluation import compare
    from ..leaderboard import as_plain, exit_if_interrupted, how_to_go_on, live_board, print_leaderboard, write_report

    if models == ():
        raise click.UsageError("--models names no method; leave it out for all that suit the data")
    if records is None and report is not None:
        records = os.path.splitext(report)[0] + ".records.jsonl"
    refuse_overwriting([*data, roles["items"]], report, records)
    table = say_understood(read_data(data, **roles))
    with live_board() as live:
        board = compare(
            table,
            models,
            metric=metrics[0] if metrics else None,
            metrics=metrics[1:],
            n_folds=folds,
            n_repeats=repeats,
            seed=seed,
            time_budget=time_budget,
            monotone=monotone,
            records=records,
            n_jobs=jobs,
            begin=None if live is None else live.begin,
            progress=None if live is None else live.progress,
        )
    if as_json:
        print_json(as_plain(board))
        if not board.is_complete:
            say(how_to_go_on(board, records), err=True)
    else:
        print_leaderboard(board, records)
    if report is not None:
        write_report(table, board, report)
        say(f"report: {report}", err=as_json)
    exit_if_interrupted(board)
