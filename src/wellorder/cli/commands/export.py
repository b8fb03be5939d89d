"""``wellorder export``: a model written for another runtime, and checked there."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from typing import Any

import click

from ..options import INPUT, json_option, refuse_overwriting
from ..output import print_json, say


@click.command(
    short_help="Write a model for another runtime, checked there.",
    epilog="""\b
Examples:
  wellorder export wines.wo -o wines.onnx
  wellorder export wines.wo -o wines.sql --table wines
  wellorder export wines.wo -o wines.txt --to lightgbm --check new-wines.csv
  wellorder export ranker.wo -o model.json --to solr --name ranker
  wellorder export wines.wo -o wines-mlflow --to mlflow
""",
)
@click.argument("model", **INPUT)
@click.option("-o", "--output", metavar="FILE", required=True, help="Where to.")
@click.option(
    "--to",
    metavar="TARGET",
    help="For which runtime: onnx, lightgbm, xgboost, solr, elasticsearch, opensearch, ranklib, sql or mlflow.  "
    "[default: as the ending of FILE says]",
)
@click.option("--check", metavar="DATA", help="Rows to check with, in place of those made from the model.", **INPUT)
@click.option("--name", default="wellorder", show_default=True, help="What a search engine is to call the model.")
@click.option("--table", metavar="NAME", help="For SQL: the table that is selected from.  [default: items]")
@json_option
def command(
    model: str, output: str, to: str | None, check: str | None, name: str, table: str | None, as_json: bool
) -> None:
    """Write a model for another runtime, if it gives the same scores there.

    The file is written aside and rows are scored with it, by the runtime itself where it is installed, else by a reader
    that knows nothing of the model; the largest difference is printed. A file that disagrees is not kept.
    """
    from ...export import ExportError, export
    from ...persistence import load

    refuse_overwriting([model, check], output)
    loaded = load(model)
    options = {} if table is None else {"table": table}
    rows = None if check is None else _rows(loaded, check)
    try:
        found = export(loaded, output, to, check=rows, name=name, **options)
    except ExportError as error:
        raise ExportError(_in_options(str(error))) from error
    if as_json:
        print_json(asdict(found) | {"same_order": found.same_order})
        return
    say(f"wrote {' and '.join(os.path.relpath(path) for path in found.files)} for {found.target}")
    say(str(found))
    for note in found.notes:
        say(f"note: {note}")


def _in_options(message: str) -> str:
    """Return a message about Python's parameters in terms of the command line's options."""
    return re.sub(
        r"\b(to|table)=('(\w+)')?", lambda found: f"--{found[1]}{f' {found[3]}' if found[3] else ''}", message
    )


def _rows(model: Any, path: str) -> Any:
    """Return the rows of a file as the model takes them."""
    from ...data import TableRanker, items_of, one_sheet, read_for

    if isinstance(model, TableRanker) and model.encoder_ is not None:
        return items_of(read_for(model, path)).X
    return one_sheet(path).frame
