"""``wellorder reproduce``: a paper's experiments, run again."""

from __future__ import annotations

import os

import click

from ...papers import PAPERS
from ..options import output_file, refuse_overwriting
from ..output import progress_bar, say


def _not_zero(context: click.Context, parameter: click.Parameter, value: int) -> int:
    if value == 0:
        raise click.BadParameter("give a number of processes, or -1 for one a processor")
    return value


def _refuse_unknown_suffix(path: str) -> None:
    """Say before hours of work, not after, that no picture can be written."""
    from matplotlib.figure import Figure

    known = Figure().canvas.get_supported_filetypes()
    suffix = os.path.splitext(path)[1].lstrip(".").lower()
    if suffix not in known:
        raise click.UsageError(f"--picture {path}: pictures end in {', '.join(f'.{each}' for each in sorted(known))}")


@click.command(
    help=f"""Run a paper's experiments again, and print its values and ours side by side.

    Papers: {", ".join(PAPERS)}.
    """,
    epilog="""\b
Examples:
  wellorder reproduce swapped-pairs --data ~/data --quick
  WELLORDER_DATA=~/data wellorder reproduce swapped-pairs --records swapped-pairs.jsonl --picture table.png
""",
)
@click.argument("paper")
@click.option("--data", metavar="DIR", envvar="WELLORDER_DATA", show_envvar=True, help="The folder with the data sets.")
@click.option("--quick", is_flag=True, help="Fewer repetitions: minutes instead of half an hour.")
@click.option("--records", metavar="FILE", callback=output_file, help="Keep a JSON line a fit here, and go on from it.")
@click.option("--picture", metavar="FILE", callback=output_file, help="Draw paper's values and ours.")
@click.option(
    "--jobs", type=int, callback=_not_zero, default=-1, show_default=True, help="Processes; -1 is one a processor."
)
def command(paper: str, data: str | None, quick: bool, records: str | None, picture: str | None, jobs: int) -> None:
    """Check the options, run, print."""
    from ...suggest import suggest

    if paper not in PAPERS:
        raise click.UsageError(f"there is no paper {paper!r}; {suggest(paper, PAPERS)}")
    if data is None:
        raise click.UsageError("name the folder with the data sets: --data DIR, or the variable WELLORDER_DATA")
    if not os.path.isdir(data):
        what = "this is no folder" if os.path.exists(data) else "there is no such folder"
        raise click.UsageError(f"--data {data}: {what}")
    refuse_overwriting((), records, picture)
    if picture is not None:
        _refuse_unknown_suffix(picture)
    with progress_bar(PAPERS[paper].title) as bar:
        found = PAPERS[paper].reproduce(data, quick=quick, records=records, n_jobs=jobs, progress=bar.show)
    for line in found.lines():
        say(line)
    if picture is not None:
        found.picture(picture)
        say(f"picture: {picture}")
