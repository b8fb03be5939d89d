"""From a table to a model that can be saved: a method by name, searched if asked, with what held-out rows say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import ComparisonTable, TableRanker
from ..scoring import advantage_of, warn_if_groups_are_lost
from .judging import PROBABILITY_METRICS, check_metric, default_metrics, threshold_of
from .methods import METHODS, Method, find_method, make_seeded
from .nested import choose_params
from .resolution import measure_resolution
from .tasks import AnyTable, make_task


@dataclass(frozen=True)
class FittedTable:
    """A model of a table, and how well it orders."""

    model: TableRanker
    params: dict[str, Any]
    """What was set or found by the search."""
    training_score: float
    """The share of training pairs in the right order."""
    held_out_score: float
    """The same for pairs of rows that the model had not seen, the mean over folds; NaN if not measured."""


def fit_table(
    table: AnyTable,
    name: str,
    params: Mapping[str, Any] | None = None,
    *,
    searching: bool = False,
    with_resolution: bool = True,
    seed: int = 0,
) -> FittedTable:
    """Fit a method to a table, as ``wellorder fit`` does.

    Parameters
    ----------
    table : Table or ComparisonTable
    name : str
        The method, as in ``METHODS``.
    params : mapping, optional
        Parameters to set; a search leaves them as they are.
    searching : bool, default=False
        Choose the others from the method's grid, by cross-validation; what held-out rows say is then of models that
        were searched without them.
    with_resolution : bool, default=True
        Measure on held-out rows how far apart scores must be to be told apart.
    seed : int, default=0
    """
    method, task = find_method(name), make_task(table)
    if task.supervision not in method.takes:
        fit_for_it = ", ".join(each for each, known in METHODS.items() if task.supervision in known.takes)
        raise ValueError(f"{name} does not learn from {task.supervision}; these do: {fit_for_it}")

    def choose(part: AnyTable) -> dict[str, Any]:
        """Set what is to be set, and search for the rest inside this part of the table."""
        return _choose(method, part, dict(params or {}), seed) if searching else dict(params or {})

    def fit(part: AnyTable, chosen: Mapping[str, Any]) -> TableRanker:
        return TableRanker(make_seeded(method, seed).set_params(**chosen)).fit(part)

    chosen = choose(table)
    model = _fit_with_probabilities(lambda more: fit(table, chosen | more), method, chosen)
    resolution = None
    if with_resolution:
        resolution = measure_resolution(lambda part: fit(part, choose(part)), table, seed=seed)
    columns = table.items if isinstance(table, ComparisonTable) else table
    if resolution is not None:
        model.resolution_ = resolution.curve
    scores = np.asarray(model.decision_function(columns), dtype=float)
    judged = task.judge(scores, np.arange(len(table)), ("swapped_pairs",))
    held_out = float("nan") if resolution is None else resolution.held_out
    return FittedTable(model, chosen, 1.0 - judged.metrics["swapped_pairs"], held_out)


def _fit_with_probabilities(
    fit: Callable[[dict[str, Any]], TableRanker], method: Method, chosen: Mapping[str, Any]
) -> TableRanker:
    """Fit once for all: with calibrated probabilities, unless somebody has settled that, or the data are too few."""
    if "probability" in method.make().get_params() and "probability" not in chosen:
        try:
            return fit({"probability": True})
        except ValueError:  # whatever else is wrong, the plain fit will say
            pass
    return fit({})


def _choose(method: Method, table: AnyTable, params: dict[str, Any], seed: int) -> dict[str, Any]:
    """Search the method's grid, but for the parameters that are given, by folds of a table."""
    part = make_task(table).training_part(np.arange(len(table)))
    grid = {name: values for name, values in method.grid(part.size).items() if name not in params}
    estimator = make_seeded(method, seed).set_params(**params)
    return params | choose_params(estimator, grid, part, n_folds=5, seed=seed)


def evaluate_table(model: TableRanker, table: AnyTable, metrics: Sequence[str] = ()) -> dict[str, float]:
    """Judge a model on a table with grades or comparisons, as ``wellorder evaluate`` does.

    Where the model gives probabilities of outcomes, ``metrics`` may name those of ``PROBABILITY_METRICS`` as well.
    """
    task = make_task(table)
    by_chance = PROBABILITY_METRICS if isinstance(table, ComparisonTable) else {}
    wanted = [name if name in by_chance else check_metric(name, task.supervision) for name in metrics]
    names = tuple(dict.fromkeys(wanted or default_metrics(task.order)))
    columns = table.items if isinstance(table, ComparisonTable) else table
    if not isinstance(table, ComparisonTable):
        warn_if_groups_are_lost(model, table.groups, "read the table with group=")
    scores = np.asarray(model.decision_function(columns), dtype=float)
    plain = tuple(name for name in names if name not in by_chance)
    found = task.judge(scores, np.arange(len(table)), plain, threshold_of(model), advantage_of(model)).metrics
    if isinstance(table, ComparisonTable) and len(plain) < len(names):
        found |= _judge_probabilities(model, table, [name for name in names if name in by_chance])
    return {name: found[name] for name in names}


def _judge_probabilities(model: TableRanker, table: ComparisonTable, names: Sequence[str]) -> dict[str, float]:
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{names[0]} judges probabilities, and {type(model.ranker_).__name__} gives none; compare-svm and davidson "
            "do"
        )
    P, compared = model.predict_proba(table), table.comparisons
    return {name: PROBABILITY_METRICS[name](compared.outcome, P, compared.weight) for name in names}
