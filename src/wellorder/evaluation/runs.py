"""A TREC run judged by qrels, query by query, as trec_eval does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..data import Qrels, Run
from ..metrics import Metric, parse
from ..sweeps import Array, Floats

RUN_METRICS = (
    "ndcg(empty=0,gain=linear)@10",
    "average_precision(empty=0)",
    "precision(empty=0)@10",
    "reciprocal_rank(empty=0)",
)
"""What trec_eval calls ndcg_cut_10, map, P_10 and recip_rank."""


def evaluate_run(run: Run, qrels: Qrels, metrics: Sequence[str | Metric] = ()) -> dict[str, float]:
    """Judge a run by qrels: each metric's mean over the queries that are in both.

    What is in the run and has no judgement is not relevant; what is judged and not in the run stands nowhere, but
    counts in the ideal list and among the relevant items. Tied scores are ordered by item, the last in the alphabet
    first: all of it as trec_eval does. (It keeps scores in single precision, and so sees more ties.)

    Parameters
    ----------
    run : Run
        From :func:`wellorder.data.read_run`.
    qrels : Qrels
        From :func:`wellorder.data.read_qrels`.
    metrics : sequence of str or Metric, optional
        ``ndcg``, ``average_precision``, ``precision@k`` or ``reciprocal_rank``, with their options; ``RUN_METRICS``
        unless given. Mind that trec_eval's NDCG is ``ndcg(gain=linear)``, and that it counts a query without a
        relevant item as 0 (``empty=0``), where ours would leave it out.

    Returns
    -------
    dict
        From the metrics' names to their values; NaN where no query has a relevant item.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.data import Qrels, Run
    >>> from wellorder.evaluation.runs import evaluate_run
    >>> run = Run(np.array(["q", "q"]), np.array(["a", "b"]), np.array([2.0, 1.0]), "mine")
    >>> qrels = Qrels(np.array(["q", "q"]), np.array(["b", "c"]), np.array([1.0, 1.0]))
    >>> evaluate_run(run, qrels, ["map", "mrr"])
    {'average_precision': 0.25, 'reciprocal_rank': 0.5}
    """
    wanted = [parse(name) for name in metrics or RUN_METRICS]
    for metric in wanted:
        if metric.name not in _MEASURES:
            raise ValueError(f"{metric} is not measured on runs; these are: {', '.join(_MEASURES)}")
    lists = _join(run, qrels)
    if not lists:
        raise ValueError("no query of the run is in the qrels; do both files name queries in the same way?")
    return {str(metric): _mean(metric, lists) for metric in wanted}


def _join(run: Run, qrels: Qrels) -> list[tuple[Floats, Floats]]:
    """Return, for each query in both, the grades down the run's list, NaN where not judged, and all its grades."""
    judged: dict[str, dict[str, float]] = {}
    for query, item, grade in zip(qrels.query.tolist(), qrels.item.tolist(), qrels.grade.tolist(), strict=True):
        judged.setdefault(query, {})[item] = grade
    ranked: dict[str, list[tuple[float, str]]] = {}
    for query, item, score in zip(run.query.tolist(), run.item.tolist(), run.score.tolist(), strict=True):
        if query in judged:
            ranked.setdefault(query, []).append((score, item))
    return [
        (
            np.array([judged[query].get(item, np.nan) for _, item in sorted(rows, reverse=True)]),
            np.array(list(judged[query].values())),
        )
        for query, rows in ranked.items()
    ]


def _mean(metric: Metric, lists: list[tuple[Floats, Floats]]) -> float:
    options: dict[str, Any] = dict(metric.options)
    empty = options.pop("empty", "skip")
    values = np.array([_MEASURES[metric.name](*grades, k=metric.cutoff, **options) for grades in lists])
    values = values[~np.isnan(values)] if empty == "skip" else np.where(np.isnan(values), float(empty), values)
    return float(values.mean()) if len(values) else float("nan")


def _ndcg(ranked: Floats, judged: Floats, k: int | None, gain: str = "exp2") -> float:
    best = np.sort(judged)[::-1]
    top = max(float(best[0]), 0.0)
    ideal = _dcg(best, top, k, gain)
    return _dcg(ranked, top, k, gain) / ideal if ideal > 0 else float("nan")


def _dcg(grades: Floats, top: float, k: int | None, gain: str) -> float:
    """Sum the discounted gains, as parts of what the best grade is worth: they cannot overflow."""
    counted = np.maximum(np.nan_to_num(grades[:k]), 0.0)
    gains = counted if gain == "linear" else np.exp2(counted - top) - np.exp2(-top)
    return float(np.sum(gains / np.log2(2.0 + np.arange(len(gains)))))


def _average_precision(ranked: Floats, judged: Floats, k: int | None, positive: float = 1) -> float:
    hits = np.flatnonzero(ranked >= positive)
    relevant = np.count_nonzero(judged >= positive)
    return float(np.sum(np.arange(1, len(hits) + 1) / (hits + 1))) / relevant if relevant else float("nan")


def _precision(ranked: Floats, judged: Floats, k: int | None, positive: float = 1) -> float:
    assert k is not None  # `precision` is not read without one
    return np.count_nonzero(ranked[:k] >= positive) / k if _any(judged, positive) else float("nan")


def _reciprocal_rank(ranked: Floats, judged: Floats, k: int | None, positive: float = 1) -> float:
    hits = np.flatnonzero(ranked[:k] >= positive)
    if not _any(judged, positive):
        return float("nan")
    return 1.0 / (1.0 + float(hits[0])) if len(hits) else 0.0


def _any(judged: Array, positive: float) -> bool:
    return bool((judged >= positive).any())


_MEASURES: dict[str, Callable[..., float]] = {
    "ndcg": _ndcg,
    "average_precision": _average_precision,
    "precision": _precision,
    "reciprocal_rank": _reciprocal_rank,
}
