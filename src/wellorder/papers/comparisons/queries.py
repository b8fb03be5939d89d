"""Comparisons in a search engine's lists, as Venuto et al. (2014) wished for: CompareSVM on the pairs of MQ2008."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...estimators import CompareSVM, RankSVM, ThresholdCompare
from ...evaluation import Record, by_query
from ...order import Comparisons
from ...sweeps import Floats, Ints
from ..letor_trials import Judged, QueryParts, published_folds, read_parts
from ..paired import paired, table_of_tests
from ..running import PaperRun, Piece, record_key
from .search import area, threshold

KINDS = {"all": "all pairs of a query", "half": "no more ties than decided pairs"}
COSTS = tuple(10.0**power for power in range(-3, 2))
METHODS: dict[str, Callable[[float], Any]] = {
    "rank": lambda C: ThresholdCompare(RankSVM(C, loss="hinge"), ties="drop"),
    "rank2": lambda C: ThresholdCompare(RankSVM(C, loss="hinge"), ties="both"),
    "compare": CompareSVM,
    "compare, squared": lambda C: CompareSVM(C, loss="squared_hinge"),
    "compare, logistic": lambda C: CompareSVM(C, loss="logistic"),
}
"""Linear ones, with C on each pair: the paper's three, and compare with smooth losses, which it proposes for scale."""

_METRICS = {"error": False, "auc": True, "ndcg@10": True}
"""By which a model is chosen and judged, and whether more is better."""

_VERSUS = (
    ("rank2", "rank"),
    ("compare", "rank"),
    ("compare", "rank2"),
    ("compare, squared", "compare"),
    ("compare, logistic", "compare"),
    ("compare, logistic", "rank"),
)


_ALL_TIES = "error of all ties"


class QueryPairs(NamedTuple):
    """Pairs of documents of the same query."""

    left: Ints
    right: Ints
    outcome: Ints

    @classmethod
    def of(cls, judged: Judged, kind: str) -> QueryPairs:
        """List every pair of every query; or in each query no more ties than decided pairs, drawn at random."""
        _, group = np.unique(judged.query, return_inverse=True)
        members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
        places = [np.triu_indices(len(rows), 1) for rows in members]
        left = np.concatenate([rows[first] for rows, (first, _) in zip(members, places, strict=True)])
        right = np.concatenate([rows[second] for rows, (_, second) in zip(members, places, strict=True)])
        outcome = np.sign(judged.grade[right] - judged.grade[left]).astype(np.int64)
        if kind == "all":
            return cls(left, right, outcome)
        n_decided = np.bincount(group[left], outcome != 0, len(members))
        drawn = np.random.default_rng(len(outcome)).permutation(np.flatnonzero(outcome == 0))
        home = group[left[drawn]]
        by_home = np.argsort(home, kind="stable")
        drawn, home = drawn[by_home], home[by_home]
        place = np.arange(len(drawn)) - np.searchsorted(home, home)  # among the ties of its query
        ties = drawn[place < n_decided[home]]
        some = np.sort(np.concatenate([np.flatnonzero(outcome), ties]))
        return cls(left[some], right[some], outcome[some])


def run_queries(run: PaperRun) -> tuple[Record, ...]:
    """Search every method on the published folds."""
    folds = list(published_folds(read_parts(run.data, "MQ2008")))
    return run.pieces(
        [
            Piece("MQ2008", {method: _key(kind, number, method)}, partial(_trial, kind, number, fold))
            for method in METHODS
            for kind in KINDS
            for number, fold in enumerate(folds[:2] if run.quick else folds)
        ]
    )


def _key(kind: str, number: int, method: str) -> str:
    return record_key(f"comparisons/MQ2008/{kind}/{number}/{method}", METHODS[method](1.0), COSTS)


def _trial(kind: str, number: int, fold: QueryParts, methods: list[str]) -> list[Record]:
    """Fit a model a cost; judge the best of the validation queries by each metric."""
    train, validation, test = (QueryPairs.of(part, kind) for part in fold[:3])
    made = []
    for method in methods:
        started = time.perf_counter()
        best: dict[str, tuple[float, float, Any]] = {}
        for C in COSTS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a model that calls every pair a tie is one of those tried
                model = METHODS[method](C).fit(fold.train.X, Comparisons(*train))
            found = _judge(model, fold.validation, validation)
            for metric, is_gain in _METRICS.items():
                value = float(np.nanmean(found[metric]))
                value = value if is_gain else -value
                if metric not in best or value > best[metric][0]:
                    best[metric] = value, C, model
        judged = {metric: _judge(model, fold.test, test)[metric] for metric, (_, _, model) in best.items()}
        metrics = {metric: float(np.nanmean(values)) for metric, values in judged.items()}
        metrics[_ALL_TIES] = float(
            np.nanmean(_by_query(fold.test, test, lambda mine: np.mean(test.outcome[mine] != 0)))
        )
        params = {
            "C": {metric: C for metric, (_, C, _) in best.items()},
            "by query": {metric: np.round(values, 4).tolist() for metric, values in judged.items()},
        }
        seconds = time.perf_counter() - started
        key, n, m = _key(kind, number, method), len(train.outcome), len(test.outcome)
        made.append(Record(key, kind, method, 0, number, 0, n, m, metrics, params, search_seconds=seconds))
    return made


def _judge(model: Any, part: Judged, pairs: QueryPairs) -> dict[str, Floats]:
    """Return each metric of each query, in the order of their ids; NaN where it has none."""
    scores = model.decision_function(part.X)
    d = scores[pairs.right] - scores[pairs.left]
    wrong = threshold(d, model.threshold_) != pairs.outcome
    lists = by_query("ndcg@10", part.grade, scores, part.query)
    return {
        "error": _by_query(part, pairs, lambda mine: wrong[mine].mean()),
        "auc": _by_query(part, pairs, lambda mine: area(pairs.outcome[mine], d[mine])),
        "ndcg@10": np.array([lists[query] for query in np.unique(part.query).tolist()]),
    }


def _by_query(part: Judged, pairs: QueryPairs, judge: Callable[[Ints], float]) -> Floats:
    """Judge the pairs of each query, in the order of their ids; NaN where there is none."""
    queries, group = np.unique(part.query, return_inverse=True)
    home = group[pairs.left]
    by_home = np.argsort(home, kind="stable")
    members = np.split(by_home, np.cumsum(np.bincount(home, minlength=len(queries)))[:-1])
    return np.array([judge(mine) if len(mine) else np.nan for mine in members])


# --------------------------------------------------------------------------------------------------
# The tables.


def query_lines(records: Sequence[Record]) -> Iterator[str]:
    """Return errors, areas and NDCG of every method, and tests over the queries, as Markdown lines."""
    n_folds = 1 + max(each.fold for each in records)
    yield (
        "Pairs of documents that were judged for the same query, ties where they have the same grade; linear "
        f"machines on {n_folds} of the published folds, C chosen on the validation queries by the metric that is "
        "shown. The share of a query's pairs told wrongly, their AUC, and NDCG@10 of its documents' scores, all as "
        "means over the queries. Bold: the best."
    )
    yield ""
    yield "| pairs | train / test, a fold | method | test error, % | AUC | NDCG@10 |"
    yield "| --- " * 6 + "|"
    for kind, title in KINDS.items():
        mine = [each for each in records if each.data == kind]
        means = {method: {metric: _mean(mine, method, metric) for metric in _METRICS} for method in METHODS}
        n_train, n_test = (round(float(np.mean([getattr(r, n) for r in mine]))) for n in ("n_train", "n_test"))
        sizes = f"{n_train:,} / {n_test:,}"
        for method, found in means.items():
            shown = []
            for metric, is_gain in _METRICS.items():
                best = (max if is_gain else min)(each[metric] for each in means.values())
                text = f"{100 * found[metric]:.2f}" if metric == "error" else f"{found[metric]:.4f}"
                shown.append(f"**{text}**" if found[metric] == best else text)
            yield f"| {title} | {sizes} | {method} | " + " | ".join(shown) + " |"
        yield f"| {title} | {sizes} | all called ties | {100 * _mean(mine, 'rank', _ALL_TIES):.2f} | 0 | |"
    yield ""
    yield (
        "Differences a query, with the p-value of a randomisation test over the test queries of all folds (error as "
        "a share, over all that have a pair; AUC over those with ties and decided pairs), and the same after Holm's "
        "correction over the row; bold where that is below 5 %."
    )
    yield ""
    rows = {
        (title, metric): [paired(_differences(records, kind, pair, metric)) for pair in _VERSUS]
        for kind, title in KINDS.items()
        for metric in _METRICS
    }
    yield from table_of_tests(["pairs", "metric", *(f"{one} − {other}" for one, other in _VERSUS)], rows.items(), 4)


def _mean(records: Sequence[Record], method: str, metric: str) -> float:
    return float(np.mean([each.metrics[metric] for each in records if each.method == method]))


def _differences(records: Sequence[Record], kind: str, methods: tuple[str, str], metric: str) -> Floats:
    one, other = (
        np.concatenate(
            [
                np.array(each.params["by query"][metric], dtype=float)
                for each in sorted(records, key=lambda each: each.fold)
                if each.data == kind and each.method == method
            ]
        )
        for method in methods
    )
    return np.asarray(one - other)
