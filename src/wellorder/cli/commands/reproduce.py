"""``wellorder reproduce``: a paper's experiments, run again."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ...papers import PAPERS
from ..options import output_file, refuse_overwriting
from ..output import print_table, progress_bar, say

if TYPE_CHECKING:
    from ...papers.reproducing import Reproduction


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
    short_help="Run a paper's experiments again.",
    help=f"""Run a paper's experiments again, and print its values and ours side by side.

    Papers: {", ".join(PAPERS)}.

    A paper has parts, one a table or figure, or experiments of ours beside them; --part runs some of them alone, and
    `wellorder reproduce PAPER --parts` lists them.
    """,
    epilog="""\b
Examples:
  wellorder reproduce swapped-pairs --data ~/data --quick
  wellorder reproduce hyperplanes --parts
  WELLORDER_DATA=~/data wellorder reproduce swapped-pairs --records swapped-pairs.jsonl --picture table.png
  wellorder reproduce swapped-pairs --data ~/data --part table-1 --write docs/results/swapped-pairs.md
  wellorder reproduce swapped-pairs --from docs/results/records/swapped-pairs.jsonl.gz
""",
)
@click.argument("paper")
@click.option("--data", metavar="DIR", envvar="WELLORDER_DATA", show_envvar=True, help="The folder with the data sets.")
@click.option("--part", "parts", metavar="NAME", multiple=True, help="Run this part; may be given again.")
@click.option("--parts", "listed", is_flag=True, help="List the paper's parts, and run none.")
@click.option("--quick", is_flag=True, help="Fewer repetitions: minutes instead of half an hour.")
@click.option("--records", metavar="FILE", callback=output_file, help="Keep a JSON line a fit here, and go on from it.")
@click.option("--picture", metavar="FILE", callback=output_file, help="Draw paper's values and ours.")
@click.option(
    "--write",
    "page",
    metavar="PAGE.md",
    callback=output_file,
    help="Write the tables into this page, between its marks; the records go to records/PAGE.jsonl.gz and the picture "
    "to PAGE.png beside it. Parts that are not run now stay as they are there.",
)
@click.option("--from", "source", metavar="FILE", help="Run nothing: make the tables from records/PAGE.jsonl.gz.")
@click.option(
    "--jobs", type=int, callback=_not_zero, default=-1, show_default=True, help="Processes; -1 is one a processor."
)
def command(
    paper: str,
    data: str | None,
    parts: tuple[str, ...],
    listed: bool,
    quick: bool,
    records: str | None,
    picture: str | None,
    page: str | None,
    source: str | None,
    jobs: int,
) -> None:
    """Check the options, run, print."""
    from ...papers.reproducing import Reproduction, reproduce, write_page
    from ...suggest import suggest

    if paper not in PAPERS:
        raise click.UsageError(f"there is no paper {paper!r}; {suggest(paper, PAPERS)}")
    known = PAPERS[paper].parts
    if listed:
        print_table(("part", "what it is"), [(name, part.title) for name, part in known.items()])
        return
    for name in parts:
        if name not in known:
            raise click.UsageError(f"--part {name}: {paper} has no such part; {suggest(name, known)}")
    refuse_overwriting((source,), records, picture, page)
    if picture is not None:
        _refuse_unknown_suffix(picture)
    if source is None:
        with progress_bar(PAPERS[paper].title) as bar:
            found = reproduce(
                paper,
                _folder(data),
                parts=parts or None,
                quick=quick,
                records=records,
                n_jobs=jobs,
                progress=bar.show,
            )
    else:
        found = Reproduction.load(paper, source)
        if parts:
            found = replace(found, parts={name: ran for name, ran in found.parts.items() if name in parts})
    for line in found.lines():
        say(line)
    if page is not None:
        found = write_page(page, found)
        say(f"page: {page}")
    if picture is not None:
        _draw(found, picture)


def _folder(data: str | None) -> str:
    if data is None:
        raise click.UsageError("name the folder with the data sets: --data DIR, or the variable WELLORDER_DATA")
    if not os.path.isdir(data):
        what = "this is no folder" if os.path.exists(data) else "there is no such folder"
        raise click.UsageError(f"--data {data}: {what}")
    return data


def _draw(found: Reproduction, picture: str) -> None:
    if not found.can_be_drawn:
        needed = ", ".join(PAPERS[found.paper].pictured)
        raise click.UsageError(f"--picture {picture}: it is drawn of the parts {needed}; run them, too")
    found.picture(picture)
    say(f"picture: {picture}")
