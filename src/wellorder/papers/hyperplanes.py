"""The Multiple Hyperplane Ranker: its tables on OHSUMED, and the same on MQ2008, with the neighbours that it names."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..estimators import (
    BestFeature,
    BoostedTrees,
    MultipleHyperplaneRanker,
    NestedRanker,
    OrderBoost,
    RankBoost,
    RankSVM,
)
from ..estimators.base import list_scores
from ..evaluation import Record, RecordFile
from ..metrics import ndcg
from ..sweeps import Floats
from .hyperplanes_directions import directions
from .hyperplanes_tables import HyperplaneTables
from .letor import BENCHMARKS, Judged, Trial, joined, judge, published_folds, quarters, read_parts
from .running import Piece, Progress, record_key, run_pieces

COSTS = (0.001, 0.01, 0.1, 1.0, 10.0)
_ROUNDS = (30, 60, 100)
_CHOSEN_AT = 10
"""Parameters are chosen by the validation queries' NDCG at this place."""

PROTOCOLS: dict[str, Callable[[list[Judged]], Any]] = {"published folds": published_folds, "4-fold": quarters}


@dataclass(frozen=True)
class Column:
    """One feature as it is: nothing is learned."""

    number: int

    def fit(self, X: Floats, y: Floats, *, groups: Any = None) -> Column:
        """Do nothing."""
        return self

    def decision_function(self, X: Floats) -> Floats:
        """Return the column."""
        return np.asarray(X[:, self.number])


Tried: TypeAlias = Mapping[str, Any]
"""Models that a method tries on the validation queries, by what tells them apart."""


def _costs(make: Callable[[float], Any]) -> Callable[[int], Tried]:
    return lambda bm25: {f"C={C:g}": make(C) for C in COSTS}


def _rounds(make: Callable[[int], Any]) -> Callable[[int], Tried]:
    return lambda bm25: {f"{n} rounds": make(n) for n in _ROUNDS}


def _many(C: float, aggregate: str, loss: str = "squared_hinge", **options: Any) -> MultipleHyperplaneRanker:
    return MultipleHyperplaneRanker(RankSVM(C, loss=loss), aggregate=aggregate, **options)


METHODS: dict[str, Callable[[int], Tried]] = {
    "BM25": lambda bm25: {"": Column(bm25)},
    "best feature": lambda bm25: {"": BestFeature()},
    "RankSVM": _costs(RankSVM),
    "MHR-BC": _costs(lambda C: _many(C, "borda")),
    "MHR-WBC": _costs(lambda C: _many(C, "weighted_borda")),
    "MHR, median": _costs(lambda C: _many(C, "median")),
    "MHR, Markov chain": _costs(lambda C: _many(C, "markov")),
    "MHR-BC, adjacent": _costs(lambda C: _many(C, "borda", pairs="adjacent")),
    "RankSVM, hinge": _costs(lambda C: RankSVM(C, loss="hinge")),
    "MHR-BC, hinge": _costs(lambda C: _many(C, "borda", "hinge")),
    "RankSVM for IR": _costs(lambda C: RankSVM(C, order="dcg", balance="groups")),
    "RankBoost": _rounds(lambda n: RankBoost(n_estimators=n)),
    "nested": _costs(lambda C: NestedRanker(RankSVM(C))),
    "OrderBoost, trees": _rounds(
        lambda n: OrderBoost(learner="tree", balance="groups", max_leaf_nodes=7, n_estimators=n)
    ),
    "LambdaRank": _rounds(lambda n: BoostedTrees("lambdarank", max_leaf_nodes=7, n_estimators=n)),
}
"""What each method tries, given BM25's column."""


def reproduce(
    data: str | os.PathLike[str],
    *,
    quick: bool = False,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> HyperplaneTables:
    """Run the paper's tables again.

    Parameters
    ----------
    data : path
        The folder with ``letor-ohsumed-25f``, ``letor-ohsumed-45f`` and ``letor-mq2008``.
    quick : bool, default=False
        Two trials of each kind instead of five published folds and four quarters.
    records, n_jobs, progress
        As :class:`.registry.Reproduce` says.
    """
    read = {name: read_parts(Path(data), name) for name in BENCHMARKS}
    pieces = [
        Piece(name, {method: _key(name, protocol, number, method)}, partial(_judge, name, protocol, number, trial))
        for method in reversed(METHODS)  # trees are slow, and last in the tables
        for protocol, split in PROTOCOLS.items()
        for name, parts in read.items()
        for number, trial in enumerate(split(parts))
        if not quick or number < 2
    ]
    first = next(iter(read))
    trials = list(quarters(read[first]))[: 2 if quick else None]
    made, drawn = run_pieces(
        pieces, RecordFile(records), n_jobs, progress, {"tables 5 to 7": partial(directions, trials)}
    )
    return HyperplaneTables(made, drawn["tables 5 to 7"], tuple(read), tuple(PROTOCOLS), tuple(METHODS))


def _judge(name: str, protocol: str, number: int, trial: Trial, methods: list[str]) -> list[Record]:
    """Choose each method's parameters on the validation queries, and judge it on the test queries."""
    made = []
    for method in methods:
        started = time.perf_counter()
        chosen, model = _choose(METHODS[method](BENCHMARKS[name].bm25), trial)
        searched = time.perf_counter()
        train = trial.train
        if trial.learns_again:
            train = joined([trial.train, trial.validation])
            model = _fit(METHODS[method](BENCHMARKS[name].bm25)[chosen], train)
        fitted = time.perf_counter()
        found = judge(trial.test, list_scores(model, trial.test.X, trial.test.query))
        made.append(
            Record(
                key=_key(name, protocol, number, method),
                data=f"{name}, {protocol}",
                method=method,
                repeat=0,
                fold=number,
                seed=0,
                n_train=len(train.grade),
                n_test=len(trial.test.grade),
                metrics={metric: float(np.nanmean(values)) for metric, values in found.items()},
                params={"chosen": chosen, "by query": {metric: values.tolist() for metric, values in found.items()}},
                search_seconds=searched - started,
                fit_seconds=fitted - searched,
            )
        )
    return made


def _choose(tried: Tried, trial: Trial) -> tuple[str, Any]:
    """Fit all, and return the first of the best by the validation queries."""
    fitted = {name: _fit(model, trial.train) for name, model in tried.items()}
    there = trial.validation

    def worth(name: str) -> float:
        return ndcg(there.grade, list_scores(fitted[name], there.X, there.query), there.query, k=_CHOSEN_AT)

    best = max(fitted, key=worth)
    return best, fitted[best]


def _fit(model: Any, train: Judged) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the far ends of a grid may not converge: then they are not chosen
        return model.fit(train.X, train.grade, groups=train.query)


def _key(name: str, protocol: str, number: int, method: str) -> str:
    tried = METHODS[method](BENCHMARKS[name].bm25)
    return record_key(f"hyperplanes/{name}/{protocol}/{number}/{method}", sorted(map(repr, tried.items())))
