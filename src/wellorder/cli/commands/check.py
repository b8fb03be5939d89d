"""``wellorder check``: the data doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..options import data_options, json_option, read_data
from ..output import as_options, print_json, print_table, say

if TYPE_CHECKING:
    from ...evaluation import LearningCurve

_SIGNS = {"note": "note", "warning": "WARNING", "problem": "PROBLEM"}


@click.command(
    short_help="Say what is in a file, and what could mislead.",
    epilog="""\b
Examples:
  wellorder check wines.csv --target quality
  wellorder check train.letor.gz
  wellorder check votes.csv
  wellorder check games.csv --items players.csv
  wellorder check wines.csv --target quality --curve rank-svm
""",
)
@data_options
@click.option(
    "--curve",
    metavar="METHOD",
    help="Fit this method on growing parts of the data, and say what more rows would bring.",
)
@json_option
def command(data: tuple[str, ...], curve: str | None, as_json: bool, **roles: Any) -> None:
    """Say what is in a file, and what to know before trusting a result.

    Rows, columns, lists, levels, pairs and ties; rows without a grade, lists without a pair, constant columns,
    equal rows with different grades, contradictory comparisons and circles, and items that folds would put on
    both sides; and about how many rows, lists or votes it takes to tell two methods apart. Exits with 1 if there is
    nothing to learn from.
    """
    from dataclasses import asdict

    from ...data import ComparisonTable
    from ...evaluation import examine, table_curve, tell_apart

    table = read_data(data, **roles)
    health = examine(table)
    learned = None if curve is None or not health.is_fit else table_curve(table, curve)
    telling = tell_apart(table) if health.is_fit else None
    if as_json:
        understood = {"understood": table.understood} if isinstance(table, ComparisonTable) else {}
        found = asdict(health) | understood | {"telling": None if telling is None else asdict(telling)}
        print_json(found | ({} if learned is None else {"curve": _as_dict(learned)}))
    else:
        say(table.understood if isinstance(table, ComparisonTable) else health.source)
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
        if telling is not None:
            say(str(telling))
        if learned is not None:
            _print_curve(curve or "", learned)
    if not health.is_fit:
        raise click.exceptions.Exit(1)


def _as_dict(curve: LearningCurve) -> dict[str, Any]:
    gain, low, high = curve.gain()
    return {
        "metric": curve.metric,
        "sizes": curve.sizes.tolist(),
        "means": curve.means.tolist(),
        "fitted": curve.at(curve.sizes[-1]),
        "twice": {"value": curve.at(2 * curve.sizes[-1]), "gain": gain, "low": low, "high": high},
    }


def _print_curve(method: str, curve: LearningCurve) -> None:
    """Show the metric as the training part grows, and what twice the rows would bring by the tail."""
    from ...evaluation import is_share
    from ...writing import write_metric

    share, what = is_share(curve.metric), f"{curve.what}s"

    def apart(value: float) -> str:
        return f"{100 * value:.1f} points" if share else f"{value:.3f}"

    means = [write_metric(mean, is_share=share) for mean in curve.means]
    rows = [(f"{size:,.0f}", mean) for size, mean in zip(curve.sizes, means, strict=True)]
    print_table([f"{what} learned from", f"{method}: {curve.metric}"], rows, right=(0, 1))
    gain, low, high = curve.gain()
    if low > 0:
        now, then = (write_metric(curve.at(times * curve.sizes[-1]), is_share=share) for times in (1, 2))
        between = f"{apart(low)} to {apart(high)}"
        say(
            f"twice the {what} would bring {then} in place of {now}, by a curve through all: better by {apart(gain)} "
            f"({between})"
        )
    else:
        say(
            f"more {what} of this kind do not promise to help: twice as many bring {apart(gain)}, {apart(high)} at most"
        )
