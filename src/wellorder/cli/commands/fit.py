"""``wellorder fit``: a file in, a model out."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from ...writing import write_metric, write_percent
from ..engine import check_engine, dask_cluster, engine_options, read_parts
from ..options import (
    COMPARED,
    ModelCommand,
    data_options,
    json_option,
    monotone_option,
    output_file,
    read_data,
    refuse_overwriting,
    say_understood,
    seed_option,
)
from ..output import print_json, progress_bar, say

if TYPE_CHECKING:
    from ...data import ComparisonTable, Table
    from ...evaluation import FittedTable


@click.command(
    cls=ModelCommand,
    epilog="""\b
Examples:
  wellorder fit wines.csv --target quality -o wines.wo
  wellorder fit train.letor --model rank-svm-rbf --set C=10 --set gamma=0.01 -o ranker.wo
  wellorder fit train.letor --search --metric ndcg@10 -o ranker.wo
  wellorder fit answers.csv --target verdict --levels poor,fair,good --group question -o answers.wo
  wellorder fit games.csv --items players.csv --model compare-svm -o players.wo
  wellorder fit wines.csv --target quality --model order-boost --monotone alcohol=+,acidity=- -o wines.wo
  wellorder fit 'part-*.parquet' --engine dask --target quality -o wines.wo
""",
)
@data_options
@click.option("--model", "name", default="rank-svm", show_default=True, help="The method: see Models.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the method; may be repeated."
)
@click.option(
    "--search",
    "searching",
    is_flag=True,
    help="Choose the parameters by cross-validation; with bands, once more inside each of five folds.",
)
@click.option("--metric", metavar="NAME", help="What --search goes by, such as ndcg@10.  [default: swapped_pairs]")
@click.option(
    "--bands/--no-bands",
    "with_bands",
    default=True,
    show_default=True,
    help="Measure on held-out rows how far apart scores must be to be told apart.",
)
@monotone_option
@engine_options
@seed_option
@click.option("-o", "--output", required=True, metavar="FILE", callback=output_file, help="Where to save the model.")
@json_option
def command(
    data: tuple[str, ...],
    name: str,
    settings: tuple[str, ...],
    searching: bool,
    metric: str | None,
    with_bands: bool,
    monotone: dict[str, int] | None,
    engine: str | None,
    scheduler: str | None,
    seed: int,
    output: str,
    as_json: bool,
    **roles: Any,
) -> None:
    """Learn an order from a file, and save the model.

    Numeric columns are scaled and nominal ones encoded inside the model; it keeps the names of the target, the
    group and the columns, and the levels, so that later commands need to be told nothing. Comparisons (columns such as
    left, right, outcome) are learned by the items' features, or, without --items, by a rating of each item's own.
    """
    from ...evaluation import find_method, fit_table
    from ...persistence import save
    from ..options import read_settings, refuse_unless_monotone

    refuse_overwriting([*data, roles["items"]], output)
    if metric is not None and not searching:
        raise click.UsageError(f"--metric {metric} is what a search goes by; say --search as well")
    method = find_method(name)
    params = read_settings(method.make(), settings, name)
    if monotone is not None:
        refuse_unless_monotone(method.make().set_params(**params), name)
        params["monotone"] = monotone
    one_place: dict[str, Any] = {option: roles[option] for option in COMPARED}
    check_engine(
        engine,
        scheduler,
        search=searching,
        monotone=monotone,
        items=roles["items"],
        format=roles["format_"],
        **one_place,
    )
    with dask_cluster(scheduler) if engine else nullcontext():
        table: Table | ComparisonTable
        if engine:
            table = read_parts(data, method.make().set_params(**params), **roles)
        else:
            table = say_understood(read_data(data, **roles))
        with progress_bar(f"fitting {name}"):
            fitted = fit_table(
                table, name, params, searching=searching, metric=metric, with_resolution=with_bands, seed=seed
            )
    save(fitted.model, output)
    if as_json:
        scores: dict[str, Any] = {"training_score": fitted.training_score, "held_out_score": fitted.held_out_score}
        if metric is not None:
            scores |= {"metric": metric, "held_out_metric": fitted.held_out_metric}
        print_json({"model": output, "method": name, "params": fitted.params, **scores})
        return
    about = "" if params else f" ({method.about})"  # which a parameter that was set may have made untrue
    _report(fitted, f"{name}{about}", table.source, metric, with_bands=with_bands)
    say(f"saved {output}")


def _report(fitted: FittedTable, name: str, source: str, metric: str | None, *, with_bands: bool) -> None:
    """Say what was fitted, and how well it orders the rows that it has seen and those that it has not."""
    chosen = ", ".join(f"{key.rpartition('__')[2]}={value}" for key, value in fitted.params.items())
    chosen += f" (searched by {metric})" if chosen and metric is not None else ""
    say(f"{name}{f' with {chosen}' if chosen else ''} on {source}")
    say(fitted.model.describe())
    say(f"training pairs in the right order: {write_percent(fitted.training_score)}")
    if fitted.held_out_score == fitted.held_out_score:
        say(f"held-out pairs in the right order: {write_percent(fitted.held_out_score)}")
        if metric is not None:
            say(f"held-out {metric}: {write_metric(fitted.held_out_metric)}")
    elif with_bands:
        say("too little data to hold some out: no bands, and no word on how well new rows are ordered")
