"""``wellorder demo``: the first minute."""

from __future__ import annotations

import os

import click

from ..options import finite
from ..output import say

_NEXT = """
Now try it step by step, on the same data:
  wellorder check {data} --target progression
  wellorder fit {data} --target progression -o {folder}/model.wo
  wellorder order {folder}/model.wo {data} --top 10
or on your own:
  wellorder compare yours.csv --target GRADE [--group QUERY] --report report.html
"""


@click.command(epilog="\b\nExample:\n  wellorder demo")
@click.option("--folder", default="wellorder-demo", show_default=True, help="Where the data and the report go.")
@click.option(
    "--time-budget",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    callback=finite,
    help="For the comparison, which takes a fraction of it unless the machine is busy.",
)
def command(folder: str, time_budget: float) -> None:
    """Compare every method on built-in data, and write a report.

    442 people with diabetes, to be ranked by how far the disease had progressed after a year, from ten measurements.
    """
    from ...data import read, write_diabetes
    from ...evaluation import compare
    from ..leaderboard import exit_if_interrupted, live_board, print_leaderboard, write_report

    os.makedirs(folder, exist_ok=True)
    data, report = os.path.join(folder, "diabetes.csv"), os.path.join(folder, "report.html")
    write_diabetes(data)
    table = read(data, target="progression")
    with live_board() as live:
        board = compare(
            table,
            time_budget=time_budget,
            begin=None if live is None else live.begin,
            progress=None if live is None else live.progress,
        )
    print_leaderboard(board)
    write_report(table, board, report)
    say(f"report: {report} (open it in a browser)")
    say(_NEXT.format(data=data, folder=folder))
    exit_if_interrupted(board)
