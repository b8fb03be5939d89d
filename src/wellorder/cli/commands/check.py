"""``wellorder check``: the data doctor."""

from __future__ import annotations

from typing import Any

import click

from ..options import data_options, json_option, read_data
from ..output import as_options, print_json, print_table, say

_SIGNS = {"note": "note", "warning": "WARNING", "problem": "PROBLEM"}


@click.command(
    epilog="""\b
Examples:
  wellorder check wines.csv --target quality
  wellorder check train.letor.gz
  wellorder check games.csv --items players.csv
"""
)
@data_options
@json_option
def command(data: tuple[str, ...], as_json: bool, **roles: Any) -> None:
    """Say what is in a file, and what to know before trusting a result.

    Rows, columns, lists, levels, pairs and ties; rows without a grade, lists without a pair, constant columns,
    equal rows with different grades, contradictory comparisons and circles, and items that folds would put on
    both sides. Exits with 1 if there is nothing to learn from.
    """
    from dataclasses import asdict

    from ...evaluation import examine

    health = examine(read_data(data, **roles))
    if as_json:
        print_json(asdict(health))
    else:
        say(health.source)
        print_table(["", ""], health.facts, right=(1,))
        if health.levels:
            most = max(n for _, n in health.levels)
            print_table(
                ["level", "rows", ""],
                [(level, f"{n:,}", "█" * round(30 * n / max(most, 1))) for level, n in health.levels],
                right=(1,),
            )
        for finding in health.findings:
            advice = f"\n    → {finding.advice}" if finding.advice else ""
            say(as_options(f"{_SIGNS[finding.severity]}: {finding.what}{advice}"))
        if not health.findings:
            say("nothing to worry about was found")
    if not health.is_fit:
        raise click.exceptions.Exit(1)
