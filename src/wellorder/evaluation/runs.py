"""A TREC run judged by qrels, query by query, as trec_eval does it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ..data import Qrels, Run
from ..metrics import METRICS, AnyMetric, Retrieved, parse
from ..order import Grades

RUN_METRICS = (
    "ndcg(empty=0,gain=linear)@10",
    "average_precision(empty=0)",
    "precision(empty=0)@10",
    "reciprocal_rank(empty=0)",
)
"""What trec_eval calls ndcg_cut_10, map, P_10 and recip_rank."""


def evaluate_run(run: Run, qrels: Qrels, metrics: Sequence[AnyMetric] = ()) -> dict[str, float]:
    """Judge a run by qrels: each metric's mean over the queries that are in both.

    What is in the run and has no judgement, or a negative grade, is not relevant; what is judged and not in the run
    stands nowhere, but counts in the ideal list and among the relevant items. Tied scores are ordered by item, the last
    in the alphabet first: all of it as trec_eval does. (It keeps scores in single precision, and so sees more ties.)

    Parameters
    ----------
    run : Run
        From :func:`wellorder.data.read_run`.
    qrels : Qrels
        From :func:`wellorder.data.read_qrels`.
    metrics : sequence of str, Metric or Definition, optional
        Metrics of ranked lists, such as ``ndcg``, ``average_precision``, ``precision@k`` or ``reciprocal_rank``, with
        their options; ``RUN_METRICS`` unless given. Mind that trec_eval's NDCG is ``ndcg(gain=linear)``, and that it
        counts a query without a relevant item as 0 (``empty=0``), where ours would leave it out.

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
        if metric.definition.needs != "lists":
            known = ", ".join(name for name, each in METRICS.items() if each.needs == "lists")
            raise ValueError(f"{metric} is not measured on runs; these are: {known}")
    grades, retrieved = _join(run, qrels)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is not defined: ")  # NaN says it
        return {str(metric): metric(grades, retrieved) for metric in wanted}


def _join(run: Run, qrels: Qrels) -> tuple[Grades, Retrieved]:
    """Return what is known of every item, in the run or judged, of the queries that are in both."""
    both = set(run.query.tolist()) & set(qrels.query.tolist())
    if not both:
        raise ValueError("no query of the run is in the qrels; do both files name queries in the same way?")
    grade = dict(zip(zip(qrels.query.tolist(), qrels.item.tolist(), strict=True), qrels.grade.tolist(), strict=True))
    ranked = sorted(zip(run.score.tolist(), run.item.tolist(), run.query.tolist(), strict=True))
    place = {(query, item): place for place, (_, item, query) in enumerate(ranked)}  # the higher, the better
    items = [(query, item) for query, item in {**place, **grade} if query in both]
    y = np.array([grade.get(item, np.nan) for item in items])
    scores = np.array([place.get(item, np.nan) for item in items])
    return Grades(np.where(y < 0, np.nan, y), [query for query, _ in items]), Retrieved(scores)
