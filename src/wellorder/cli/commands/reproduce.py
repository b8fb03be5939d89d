"""``wellorder reproduce``: a paper's experiments, run again."""

from __future__ import annotations

import os

import click

from ..options import output_file
from ..output import progress_bar


@click.command(
    epilog="""\b
Examples:
  wellorder reproduce swapped-pairs --data ~/data --quick
  WELLORDER_DATA=~/data wellorder reproduce swapped-pairs --records swapped-pairs.jsonl --picture table.png
"""
)
@click.argument("paper")
@click.option("--data", metavar="DIR", envvar="WELLORDER_DATA", show_envvar=True, help="The folder with the data sets.")
@click.option("--quick", is_flag=True, help="Fewer repetitions: minutes instead of half an hour.")
@click.option("--records", metavar="FILE", callback=output_file, help="Keep a JSON line a fit here, and go on from it.")
@click.option("--picture", metavar="FILE", callback=output_file, help="Draw paper's values and ours.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 is one a processor.")
def command(paper: str, data: str | None, quick: bool, records: str | None, picture: str | None, jobs: int) -> None:
    """Run a paper's experiments again, and print its values and ours side by side.

    Papers: swapped-pairs, multipartite, comparisons.
    """
    from ...papers import PAPERS
    from ...suggest import suggest

    if paper not in PAPERS:
        raise click.UsageError(f"there is no paper {paper!r}; {suggest(paper, PAPERS)}")
    if data is None:
        raise click.UsageError("name the folder with the data sets: --data DIR, or the variable WELLORDER_DATA")
    if not os.path.isdir(data):
        raise click.UsageError(f"--data {data}: there is no such folder")
    with progress_bar(PAPERS[paper].title) as bar:
        found = PAPERS[paper].reproduce(data, quick=quick, records=records, n_jobs=jobs, progress=bar.show)
    for line in found.lines():
        click.echo(line)
    if picture is not None:
        found.picture(picture)
        click.echo(f"picture: {picture}")
