"""Lists one by one: a metric query by query, whether two methods differ over queries, and TREC runs judged by qrels."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats import permutation_test

from ..data import Qrels, Run
from ..metrics import METRICS, AnyMetric, ListValues, Metric, Retrieved, parse
from ..order import Grades, exact_numbers, read_column
from ..sweeps import Floats
from .significance import known_mean


def by_query(metric: AnyMetric, y: Any, scores: Any, groups: Any) -> dict[Hashable, float]:
    """Return the metric's value on each query, by its id; NaN where it is not defined.

    Parameters
    ----------
    metric : str, Metric or Definition
        Such as ``ndcg@10``.
    y : array of shape (n,)
        Grades: numbers.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,)
        The query of each row.

    Examples
    --------
    >>> from wellorder.evaluation import by_query
    >>> by_query("swapped_pairs", [0, 1, 0, 1, 1], [1, 2, 2, 1, 5], ["a", "a", "b", "b", "c"])
    {'a': 0.0, 'b': 1.0, 'c': nan}
    """
    measure = parse(metric)
    if groups is None:
        raise ValueError("groups is None; give the query of each row")
    values, ids = exact_numbers(scores), read_column(groups, "groups")
    if not len(y) == len(values) == len(ids):
        raise ValueError(f"there are {len(y):,} grades, {len(values):,} scores and {len(ids):,} groups")
    grades = Grades(y, ids)
    assert grades.group is not None  # as groups were given
    _, first = np.unique(grades.group, return_index=True)  # a row of each query
    found = _value_of_each(measure, grades, values)
    return dict(zip((_plain(ids[row]) for row in first), found.tolist(), strict=True))


def _value_of_each(metric: Metric, grades: Grades, scores: Floats) -> Floats:
    """Return the metric's value on each query.

    Grades, levels and costs are read once, from all queries: the highest grade of a query need not be the highest of
    the scale, on which ``err`` depends.
    """
    assert grades.group is not None  # there are queries
    if metric.definition.needs == "lists":
        return _parts(metric, grades, scores).values
    ends = np.cumsum(np.bincount(grades.group, minlength=grades.n_groups))
    queries = np.split(np.argsort(grades.group, kind="stable"), ends[:-1])
    judged = grades.in_one_group()  # a metric sees one query at a time: f(y, scores) is asked for no groups
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a query without a pair is NaN, which says it
        return np.array([metric(judged.take(rows), scores[rows]) for rows in queries if len(rows)], dtype=float)


def _parts(metric: Metric, grades: Grades, scores: Floats | Retrieved) -> ListValues:
    """Return what a metric of lists is the mean of."""
    assert metric.definition.parts is not None  # as every metric of lists has
    parts = metric.call(metric.definition.parts, grades, scores)
    assert isinstance(parts, ListValues)
    return parts


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def randomisation_test(differences: Any, n_resamples: int = 9_999, seed: int = 0) -> float:
    """Return the p-value of paired differences: how often their mean is as far from 0 with signs drawn at random.

    NaN are left out. The usual test of two rankers over the same queries (Smucker and others, 2007).

    Examples
    --------
    >>> from wellorder.evaluation import randomisation_test
    >>> randomisation_test([1.0, 2.0, 1.5, 0.5, 1.0, 2.5, 1.0, 0.5])
    0.0078125
    """
    known: Floats = np.asarray(differences, dtype=float)
    known = known[~np.isnan(known)]
    if np.isinf(known).any():
        raise ValueError("a difference is infinite; test a metric that is bounded")
    if len(known) < 2 or not known.any():
        return 1.0
    found = permutation_test(
        (known,), np.mean, permutation_type="samples", n_resamples=n_resamples, rng=np.random.default_rng(seed)
    )
    return float(found.pvalue)


# --------------------------------------------------------------------------------------------------
# A TREC run judged by qrels, query by query, as trec_eval does it.


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
    >>> from wellorder.evaluation.queries import evaluate_run
    >>> run = Run(np.array(["q", "q"]), np.array(["a", "b"]), np.array([2.0, 1.0]), "mine")
    >>> qrels = Qrels(np.array(["q", "q"]), np.array(["b", "c"]), np.array([1.0, 1.0]))
    >>> evaluate_run(run, qrels, ["map", "mrr"])
    {'average_precision': 0.25, 'reciprocal_rank': 0.5}
    """
    wanted = _run_metrics(metrics)
    grades, retrieved, _ = _join(run, qrels, _queries_of(run, qrels))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is not defined: ")  # NaN says it
        return {str(metric): metric(grades, retrieved) for metric in wanted}


@dataclass(frozen=True)
class RunDifference:
    """What one run is worth beside another by one metric, on the queries that both have."""

    metric: str
    first: float
    second: float
    """The means over the queries."""
    difference: float
    """The mean over the queries of second minus first."""
    low: float
    high: float
    """The ends of its interval, by Student's t over the queries; NaN with fewer than two."""
    p_value: float
    """The p-value of the randomisation test over queries (:func:`randomisation_test`); NaN with fewer than two."""
    won: int
    """Queries on which the second is better."""
    tied: int
    lost: int

    @property
    def n_queries(self) -> int:
        """How many queries count."""
        return self.won + self.tied + self.lost


def compare_runs(
    first: Run, second: Run, qrels: Qrels, metrics: Sequence[AnyMetric] = (), *, confidence: float = 0.95, seed: int = 0
) -> tuple[RunDifference, ...]:
    """Compare two runs query by query: each metric's means, their difference, how sure it is, and on how many queries.

    Queries are those that are in both runs and in the qrels, each of them one observation; a run is judged as by
    :func:`evaluate_run`.

    Parameters
    ----------
    first, second : Run
        From :func:`wellorder.data.read_run`.
    qrels : Qrels
        From :func:`wellorder.data.read_qrels`.
    metrics : sequence of str, Metric or Definition, optional
        As in :func:`evaluate_run`.
    confidence : float, default=0.95
        Of the intervals.
    seed : int, default=0
        Of the signs that the test draws where there are too many queries to try all.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.data import Qrels, Run
    >>> from wellorder.evaluation import compare_runs
    >>> queries, items = np.repeat(["p", "q", "r"], 2), np.tile(["a", "b"], 3)
    >>> qrels = Qrels(queries, items, np.tile([1.0, 0.0], 3))
    >>> bad = Run(queries, items, np.tile([1.0, 2.0], 3), "bad")
    >>> good = Run(queries, items, np.array([2.0, 1.0, 2.0, 1.0, 1.0, 2.0]), "good")
    >>> (found,) = compare_runs(bad, good, qrels, ["mrr"])
    >>> round(found.difference, 3), found.won, found.tied, found.lost
    (0.333, 2, 1, 0)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}")
    wanted = _run_metrics(metrics)
    common = _queries_of(first, qrels) & _queries_of(second, qrels)
    if not common:
        raise ValueError("no query of the qrels is in both runs; do the files name queries in the same way?")
    values = [_run_by_query(run, qrels, common, wanted) for run in (first, second)]
    return tuple(
        _difference(metric, values[0][str(metric)], values[1][str(metric)], confidence, seed) for metric in wanted
    )


_ROUNDING = 1e-12
"""Values that differ by no more than this count as equal."""


def _difference(metric: Metric, first: Floats, second: Floats, confidence: float, seed: int) -> RunDifference:
    known = ~np.isnan(first)  # a query without a relevant item, in either run
    first, second = first[known], second[known]
    apart = second - first
    n, mean = len(apart), known_mean(apart)
    reach = p_value = float("nan")
    if n > 1:
        reach = float(stats.t.isf((1 - confidence) / 2, n - 1) * np.std(apart, ddof=1) / np.sqrt(n))
        p_value = randomisation_test(apart, seed=seed)
    better = apart if metric.greater_is_better else -apart
    won, lost = int(np.count_nonzero(better > _ROUNDING)), int(np.count_nonzero(better < -_ROUNDING))
    means = known_mean(first), known_mean(second)
    return RunDifference(str(metric), *means, mean, mean - reach, mean + reach, p_value, won, n - won - lost, lost)


def _run_by_query(run: Run, qrels: Qrels, queries: set[Any], metrics: Sequence[Metric]) -> dict[str, Floats]:
    """Return each metric's value on each query, in the order of their names; NaN where it has no relevant item."""
    grades, retrieved, named = _join(run, qrels, queries)
    assert grades.group is not None  # every item is of a query
    row_of = {query: row for row, query in enumerate(named)}
    rows = [row_of[query] for query in sorted(queries)]
    chosen = grades.group[rows]
    return {str(metric): _parts(metric, grades, retrieved).values[chosen] for metric in metrics}


def _run_metrics(metrics: Sequence[AnyMetric]) -> list[Metric]:
    wanted = [parse(name) for name in metrics or RUN_METRICS]
    for metric in wanted:
        if metric.definition.needs != "lists":
            known = ", ".join(name for name, each in METRICS.items() if each.needs == "lists")
            raise ValueError(f"{metric} is not measured on runs; these are: {known}")
    return wanted


def _queries_of(run: Run, qrels: Qrels) -> set[Any]:
    """Return the queries that are in a run and judged."""
    both = set(run.query.tolist()) & set(qrels.query.tolist())
    if not both:
        raise ValueError("no query of the run is in the qrels; do both files name queries in the same way?")
    return both


def _join(run: Run, qrels: Qrels, queries: set[Any]) -> tuple[Grades, Retrieved, list[Any]]:
    """Return what is known of every item, in the run or judged, of some queries, and the query of each."""
    grade = dict(zip(zip(qrels.query.tolist(), qrels.item.tolist(), strict=True), qrels.grade.tolist(), strict=True))
    ranked = sorted(zip(run.score.tolist(), run.item.tolist(), run.query.tolist(), strict=True))
    place = {(query, item): place for place, (_, item, query) in enumerate(ranked)}  # the higher, the better
    items = [(query, item) for query, item in {**place, **grade} if query in queries]
    y = np.array([grade.get(item, np.nan) for item in items])
    scores = np.array([place.get(item, np.nan) for item in items])
    named = [query for query, _ in items]
    return Grades(np.where(y < 0, np.nan, y), named), Retrieved(scores), named
