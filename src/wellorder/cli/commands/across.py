"""``wellorder across``: which method is best over several data sets."""

from __future__ import annotations

from datetime import date

import click

from ...writing import write_metric, write_p_value
from ..options import INPUT, json_option, output_file, refuse_overwriting
from ..output import print_json, print_table, say


@click.command(
    short_help="Rank methods over several data sets.",
    epilog="""\b
Examples:
  wellorder across wines.records.jsonl films.records.jsonl sushi.records.jsonl
  wellorder across *.records.jsonl --metric swapped_pairs --report across.html
""",
)
@click.argument("records", nargs=-1, required=True, metavar="RECORDS...", **INPUT)
@click.option("--metric", help="What to go by; the first that all have measured unless given.")
@click.option(
    "--report", metavar="FILE", callback=output_file, help="Write a page with the critical-difference diagram."
)
@json_option
def command(records: tuple[str, ...], metric: str | None, report: str | None, as_json: bool) -> None:
    """Rank methods over several data sets, from the records that 'wellorder compare' has kept of each.

    Methods are ranked on each data set; mean ranks closer than the critical difference are not told apart (Friedman's
    and Nemenyi's tests).
    """
    from ...evaluation import is_share, means_across, read_records
    from ...figures import CriticalDifferenceDisplay

    refuse_overwriting(records, report)
    means = means_across((record for path in records for record in read_records(path)), metric)
    found = CriticalDifferenceDisplay(means.means, means.methods, greater_is_better=means.greater_is_better)
    ranks = dict(zip(found.methods, found.mean_ranks, strict=True))
    reached = {name: [row[k] for row in means.means] for k, name in enumerate(means.methods)}
    if as_json:
        print_json(
            {
                "metric": means.metric,
                "data": means.data,
                "mean_ranks": ranks,
                "means": reached,
                "critical_difference": found.difference,
                "friedman_p_value": found.p_value,
                "left_out": dict(means.left_out),
            }
        )
    else:
        better = "higher" if means.greater_is_better else "lower"
        say(f"{len(means.methods)} methods on {len(means.data)} data sets; {means.metric}, {better} is better")
        rows = [
            [name, f"{rank:.2f}", *(write_metric(value, is_share=is_share(means.metric)) for value in reached[name])]
            for name, rank in ranks.items()
        ]
        headers = ["method", "mean rank", *means.data]
        print_table(headers, rows, right=range(1, len(headers)), whole=(0,))
        apart = found.lack_of_sets or f"told apart from {found.difference:.2f} ranks on"
        say(f"{apart}; Friedman's test: {write_p_value(found.p_value)}")
        for name, n_sets in means.left_out:
            say(f"not ranked: {name}, on {n_sets} of {len(means.data)} data sets only")
    if report is not None:
        from ...report import write_across

        write_across(means, report, date=date.today().isoformat())
        say(f"report: {report}", err=as_json)
