"""``wellorder evaluate``: how well a model orders a file, or a TREC run, or one run beside another."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ...writing import write_metric, write_p_value
from ..options import INPUT, comparison_options, json_option, say_understood
from ..output import columns_that_fit, print_json, print_table, say

if TYPE_CHECKING:
    from ...evaluation import RunDifference
    from ...standings import Standings


@click.command(
    short_help="Judge a model on a file with grades or comparisons.",
    epilog="""\b
Examples:
  wellorder evaluate wines.wo test-wines.csv
  wellorder evaluate ranker.wo test.letor --metric swapped_pairs --metric ndcg@10 --metric map
  wellorder evaluate players.wo games.csv --items players.csv
  wellorder evaluate standings.wo later-votes.csv
  wellorder evaluate players.wo games.csv --items players.csv --metric comparison_error --metric comparison_brier
  wellorder evaluate run.txt --qrels qrels.txt
  wellorder evaluate old-run.txt new-run.txt --qrels qrels.txt --metric ndcg@10
""",
)
@click.argument("model", **INPUT)
@click.argument("data", nargs=-1, **INPUT)
@click.option("--metric", "metrics", multiple=True, help="What to measure, such as ndcg@10; may be repeated.")
@click.option("--items", metavar="FILE", help="For comparisons: a file about the items.", **INPUT)
@comparison_options
@click.option(
    "--qrels",
    metavar="FILE",
    help="TREC judgements: instead of a model, a TREC run is judged by them, or two runs are compared.",
    **INPUT,
)
@json_option
def command(
    model: str,
    data: tuple[str, ...],
    metrics: tuple[str, ...],
    items: str | None,
    qrels: str | None,
    as_json: bool,
    **named: Any,
) -> None:
    """Judge a model on a file with grades or comparisons; target and group are as stored in the model.

    Standings that 'wellorder rate' has saved are judged on votes, effects included, with 95 % intervals that take votes
    for independent.

    With --qrels, judge a TREC run as trec_eval does: items without a judgement are not relevant, ties are ordered by
    item, and queries that are in one file only are left out. Two runs are compared query by query, with an interval of
    the difference and a randomisation test.
    """
    if qrels is not None:
        option = next((name for name, value in {"items": items, **named}.items() if value is not None), None)
        if option is not None:
            raise click.UsageError(f"--{option} goes with comparisons, and --qrels judges runs; leave one of them out")
        if data:
            _compare_runs([model, *data], metrics, qrels, as_json)
            return
        found = _judge_run(model, metrics, qrels)
    elif data:
        from ...data import as_table_model, read_for
        from ...evaluation import evaluate_table
        from ...persistence import load

        loaded = load(model)
        if type(loaded).__name__ == "Standings":
            _judge_standings(loaded, data, metrics, items, as_json, named)
            return
        ranker = as_table_model(loaded, model)
        table = say_understood(read_for(ranker, data, judged=True, items=items, **named))
        found = evaluate_table(ranker, table, metrics)
    else:
        raise click.UsageError("name the file to judge the model on; a TREC run is judged with --qrels FILE")
    if as_json:
        print_json(found)
    else:
        rows = [(name, write_metric(value, digits=6)) for name, value in found.items()]
        print_table(["metric", "value"], rows, right=(1,))
        if any(value != value for value in found.values()):
            say("–: not defined here; 'wellorder check' says what there is to judge by", err=True)


def _judge_standings(
    standings: Standings,
    data: tuple[str, ...],
    metrics: tuple[str, ...],
    items: str | None,
    as_json: bool,
    named: dict[str, Any],
) -> None:
    from ...data import ComparisonTable, read
    from ...standings import evaluate_votes

    if items is not None:
        raise click.UsageError("standings know their items by name; leave --items out")
    table = read(list(data), **named)
    if not isinstance(table, ComparisonTable):
        raise click.UsageError(
            f"{data[0]}: it holds no votes on two things that are recognised; name their columns with --left, --right "
            "and --outcome"
        )
    found = evaluate_votes(standings, say_understood(table, uses_columns=True), metrics)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    rows = [
        (
            each.metric,
            write_metric(each.value, digits=6),
            "–" if each.low != each.low else f"{each.low:.4f} to {each.high:.4f}",
        )
        for each in found
    ]
    print_table(["metric", "value", "95 % interval"], rows, right=(1, 2))


def _judge_run(path: str, metrics: tuple[str, ...], qrels: str) -> dict[str, float]:
    from ...data import read_qrels, read_run
    from ...evaluation import evaluate_run

    run, judged = read_run(path), read_qrels(qrels)
    _say_what_is_left_out({"the run": set(run.query), "the qrels": set(judged.query)})
    return evaluate_run(run, judged, metrics)


def _compare_runs(paths: list[str], metrics: tuple[str, ...], qrels: str, as_json: bool) -> None:
    from ...data import read_qrels, read_run
    from ...evaluation import compare_runs

    if len(paths) > 2:
        raise click.UsageError(f"with --qrels there are one run or two to name; what is {paths[2]!r} for?")
    first, second, judged = read_run(paths[0]), read_run(paths[1]), read_qrels(qrels)
    names = [os.path.basename(path) for path in paths]
    names = paths if names[0] == names[1] else names
    queries = {names[0]: set(first.query), names[1]: set(second.query)}
    found = compare_runs(first, second, judged, metrics)
    _say_what_is_left_out({**queries, "the qrels": set(judged.query)})
    if as_json:
        print_json([asdict(each) | {"n_queries": each.n_queries} for each in found])
        return
    _print_comparison(found, names, len(set(judged.query).intersection(*queries.values())))


def _print_comparison(found: Sequence[RunDifference], names: Sequence[str], n_queries: int) -> None:
    """Print one table, or two where the terminal is too narrow for it."""
    headers = ["metric", *names, "difference", "95 % interval", "test", "won", "tied", "lost"]
    rows = [
        (
            each.metric,
            *(write_metric(value, digits=4) for value in (each.first, each.second)),
            f"{each.difference:+.4f}",
            "–" if each.low != each.low else f"{each.low:+.4f} to {each.high:+.4f}",
            write_p_value(each.p_value),
            *map(str, (each.won, each.tied, each.lost)),
        )
        for each in found
    ]
    if columns_that_fit(headers, rows) == len(headers):
        print_table(headers, rows, right=(1, 2, 3, 6, 7, 8), whole=(0, 4, 5))
    else:
        print_table(headers[:4], [row[:4] for row in rows], right=(1, 2, 3))
        say()
        print_table(["metric", *headers[4:]], [(row[0], *row[4:]) for row in rows], right=(3, 4, 5), whole=(1, 2))
    say(f"{_queries(n_queries)}; the difference is {names[1]} less {names[0]}")
    if any(each.n_queries < n_queries for each in found):
        say("queries without a relevant item do not count; with (empty=0) in a metric's name they do, as 0")
    say(f"won: queries on which {names[1]} is better")
    say("tests are by randomisation over the queries, each metric by itself")


def _say_what_is_left_out(queries: Mapping[str, set[str]]) -> None:
    """Say how many queries of each file are not in all of the others."""
    for where, own in queries.items():
        others = {name: theirs for name, theirs in queries.items() if name != where}
        alone = sum(any(query not in theirs for theirs in others.values()) for query in own)
        if alone:
            lacking = f"{'both of ' * (len(others) > 1)}{' and '.join(others)}"
            say(f"{_queries(alone)} of {where} {'is' if alone == 1 else 'are'} not in {lacking}: left out", err=True)


def _queries(n: int) -> str:
    return f"{n:,} {'query' if n == 1 else 'queries'}"
