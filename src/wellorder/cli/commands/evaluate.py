"""``wellorder evaluate``: how well a model orders a file."""

from __future__ import annotations

import click

from ...writing import write_metric
from ..options import INPUT, json_option
from ..output import print_json, print_table, say


@click.command(
    epilog="""\b
Examples:
  wellorder evaluate wines.wo test-wines.csv
  wellorder evaluate ranker.wo test.letor --metric swapped_pairs --metric ndcg@10 --metric map
  wellorder evaluate players.wo games.csv --items players.csv
  wellorder evaluate players.wo games.csv --items players.csv --metric comparison_error --metric comparison_brier
  wellorder evaluate run.txt --qrels qrels.txt
"""
)
@click.argument("model", **INPUT)
@click.argument("data", nargs=-1, **INPUT)
@click.option("--metric", "metrics", multiple=True, help="What to measure, such as ndcg@10; may be repeated.")
@click.option("--items", metavar="FILE", help="For comparisons: a file about the items.", **INPUT)
@click.option(
    "--qrels", metavar="FILE", help="TREC judgements: instead of a model, a TREC run is judged by them.", **INPUT
)
@json_option
def command(
    model: str, data: tuple[str, ...], metrics: tuple[str, ...], items: str | None, qrels: str | None, as_json: bool
) -> None:
    """Judge a model on a file with grades or comparisons; target and group are as stored in the model.

    With --qrels, judge a TREC run as trec_eval does: items without a judgement are not relevant, ties are ordered by
    item, and queries that are in one file only are left out.
    """
    if qrels is not None:
        found = _judge_run(model, data, metrics, qrels)
    elif data:
        from ...data import load_table_model, read_for
        from ...evaluation import evaluate_table

        ranker = load_table_model(model)
        found = evaluate_table(ranker, read_for(ranker, data, judged=True, items=items), metrics)
    else:
        raise click.UsageError("name the file to judge the model on; a TREC run is judged with --qrels FILE")
    if as_json:
        print_json(found)
    else:
        rows = [(name, write_metric(value, digits=6)) for name, value in found.items()]
        print_table(["metric", "value"], rows, right=(1,))
        if any(value != value for value in found.values()):
            say("–: not defined here; 'wellorder check' says what there is to judge by", err=True)


def _judge_run(path: str, data: tuple[str, ...], metrics: tuple[str, ...], qrels: str) -> dict[str, float]:
    from ...data import read_qrels, read_run
    from ...evaluation import evaluate_run

    if data:
        raise click.UsageError(f"with --qrels there is a run and nothing else to name; what is {data[0]!r} for?")
    run, judged = read_run(path), read_qrels(qrels)
    for own, others, where, elsewhere in ((run, judged, "run", "qrels"), (judged, run, "qrels", "run")):
        alone = len(set(own.query) - set(others.query))
        if alone:
            text = f"{alone:,} query of the {where} is" if alone == 1 else f"{alone:,} queries of the {where} are"
            say(f"{text} not in the {elsewhere}: left out", err=True)
    return evaluate_run(run, judged, metrics)
