"""Qin et al. (2007), Ranking with multiple hyperplanes: tables on OHSUMED and MQ2008, with the neighbours it names."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import matplotlib.style
import numpy as np
import scipy.sparse
from matplotlib.figure import Figure

from ..data import DataError, read_letor
from ..estimators import (
    BestFeature,
    BoostedTrees,
    MultipleHyperplaneRanker,
    NestedRanker,
    OrderBoost,
    RankBoost,
    RankSVM,
    list_scores,
)
from ..evaluation import Record, RecordFile, by_query, randomisation_test
from ..figures import PALETTE, STYLE, quieten, save_figure
from ..metrics import ndcg, order_error_rates
from ..sweeps import Array, Floats
from ..writing import write_p_value
from .running import Piece, Progress, record_key, run_pieces

# --------------------------------------------------------------------------------------------------
# The LETOR benchmarks: judged documents in five published parts, and how they are split into trials.


N_PARTS = 5
CUTOFFS = tuple(range(1, 11))
MAP, LETOR_MAP = "average_precision(positive=2)", "average_precision"
"""Average precision as the paper counts it, the top grade alone relevant; and as LETOR does, grade 1 too."""

METRICS = (*(f"ndcg@{k}" for k in CUTOFFS), MAP, LETOR_MAP)

_QUARTERS = 4
_HELD_OUT = 5


class Judged(NamedTuple):
    """Documents with their features, their grades and the queries that they were judged for."""

    X: Floats
    grade: Floats
    query: Array

    def take(self, rows: Array) -> Judged:
        """Return some of the documents."""
        return Judged(self.X[rows], self.grade[rows], self.query[rows])


class QueryParts(NamedTuple):
    """Queries to learn from, queries to choose parameters by, and queries to judge by."""

    train: Judged
    validation: Judged
    test: Judged
    learns_again: bool
    """Whether the model chosen is fitted anew to training and validation queries together."""


@dataclass(frozen=True)
class Benchmark:
    """One collection: where it lies, which column is BM25, and whether each query is to be scaled first."""

    folder: str
    name: str
    """Of the file in each part's folder."""
    n_features: int
    bm25: int
    """The column, counted from 0, of BM25 over the whole text of a document."""
    scaled: bool = True
    """Whether the features already lie in [0, 1] within each query, as the later releases have them."""


BENCHMARKS = {
    "OHSUMED, 25 features": Benchmark("letor-ohsumed-25f", "testset.txt.gz", 25, 20, scaled=False),
    "OHSUMED, 45 features": Benchmark("letor-ohsumed-45f", "test.txt.gz", 45, 40),
    "MQ2008": Benchmark("letor-mq2008", "test.txt.gz", 46, 24),
}


def read_parts(data: Path, name: str) -> list[Judged]:
    """Read the five parts of a benchmark."""
    each = BENCHMARKS[name]
    parts = []
    for number in range(1, N_PARTS + 1):
        path = data / each.folder / f"Fold{number}" / each.name
        if not path.exists():
            raise DataError(str(path), f"part {number} of {name} is not there; name the folder with --data")
        table = read_letor(path, n_features=each.n_features)
        if table.y is None or table.groups is None:
            raise DataError(str(path), "its lines have no grade or no qid; is it a LETOR file?")
        X = scipy.sparse.csr_array(table.X).toarray()
        parts.append(
            Judged(X if each.scaled else scaled_by_query(X, table.groups), table.y.astype(float), table.groups)
        )
    return parts


def scaled_by_query(X: Floats, query: Array) -> Floats:
    """Shift and stretch each column to [0, 1] within each query, as LETOR does; a constant one becomes 0."""
    _, group = np.unique(query, return_inverse=True)
    by_group = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.diff(group[by_group], prepend=-1))
    low = np.minimum.reduceat(X[by_group], first)[group]
    high = np.maximum.reduceat(X[by_group], first)[group]
    return np.asarray((X - low) / np.where(high > low, high - low, 1.0))


def published_folds(parts: list[Judged]) -> Iterator[QueryParts]:
    """Return LETOR's own: a part to judge by, the part before it to choose by, the other three to learn from."""
    for k in range(N_PARTS):
        others = [parts[j] for j in range(N_PARTS) if j not in (k, (k - 1) % N_PARTS)]
        yield QueryParts(joined(others), parts[(k - 1) % N_PARTS], parts[k], learns_again=False)


def quarters(parts: list[Judged], seed: int = 0) -> Iterator[QueryParts]:
    """Return the paper's 4-fold: a quarter of the queries to judge by, a fifth of the others to choose by."""
    whole = joined(parts)
    queries, query = np.unique(whole.query, return_inverse=True)
    drawn = np.random.default_rng(seed).permutation(len(queries))[query]
    for k in range(_QUARTERS):
        test = drawn % _QUARTERS == k
        held_out = (drawn // _QUARTERS) % _HELD_OUT == 0
        yield QueryParts(
            whole.take(~test & ~held_out), whole.take(~test & held_out), whole.take(test), learns_again=True
        )


def joined(parts: list[Judged]) -> Judged:
    """Put documents together."""
    return Judged(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def judge(test: Judged, scores: Floats) -> dict[str, Floats]:
    """Return every metric, one value a query; NaN for a query without a relevant document."""
    return {metric: np.array(list(by_query(metric, test.grade, scores, test.query).values())) for metric in METRICS}


# --------------------------------------------------------------------------------------------------
# Tables 5 to 7 of 'multiple hyperplane ranker': directions of hyperplanes, training errors and training time.


PAIRS = ((1, 2), (0, 2), (0, 1))
"""The rank pairs (1, 2), (1, 3), (2, 3) of the paper, whose rank 1 is our grade 2: (lower, higher) grade."""

LOSSES = ("hinge", "squared_hinge")
"""Those that are timed: the paper's, with which directions and errors are found too, and RankSVM's default."""

_COST = 1.0
_TIMED = 3


class Direction(NamedTuple):
    """One trial's RankSVM, and the hyperplanes of its rank pairs."""

    cosines: tuple[tuple[float, ...], ...]
    """Between RankSVM's hyperplane and those of PAIRS, in this order."""
    single: tuple[float, ...]
    """Share of training pairs that RankSVM swaps, for each of PAIRS."""
    several: tuple[float, ...]
    """The same for the hyperplane of the rank pair itself."""
    seconds: dict[str, tuple[float, ...]]
    """By loss: to train the hyperplane of each of PAIRS, all as one estimator, and RankSVM; the best of three."""


def directions(trials: list[QueryParts]) -> list[Direction]:
    """Fit RankSVM and its rank pairs' hyperplanes on the training queries of each trial, with the paper's hinge."""
    return [_direction(trial) for trial in trials]


def _direction(trial: QueryParts) -> Direction:
    train = joined([trial.train, trial.validation])
    several = MultipleHyperplaneRanker(RankSVM(_COST, loss=LOSSES[0])).fit(train.X, train.grade, groups=train.query)
    single = RankSVM(_COST, loss=LOSSES[0]).fit(train.X, train.grade, groups=train.query)
    normals = np.array([single.coef_, *(several.rankers_[pair].coef_ for pair in PAIRS)])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    errors = order_error_rates(train.grade, single.decision_function(train.X), train.query)
    own = several.order_error_rates(train.X, train.grade, train.query)
    return Direction(
        tuple(map(tuple, (normals @ normals.T).tolist())),
        tuple(errors[pair] for pair in PAIRS),
        tuple(own[pair] for pair in PAIRS),
        {loss: _seconds(train, loss) for loss in LOSSES},
    )


def _seconds(train: Judged, loss: str) -> tuple[float, ...]:
    single = RankSVM(_COST, loss=loss)
    parts = [_best_time(single, train.take(np.isin(train.grade, pair))) for pair in PAIRS]
    return (*parts, _best_time(MultipleHyperplaneRanker(single), train), _best_time(single, train))


def _best_time(model: RankSVM | MultipleHyperplaneRanker, train: Judged) -> float:
    best = np.inf
    for _ in range(_TIMED):
        started = time.perf_counter()
        model.fit(train.X, train.grade, groups=train.query)
        best = min(best, time.perf_counter() - started)
    return float(best)


# --------------------------------------------------------------------------------------------------
# NDCG over the places for 'multiple hyperplane ranker': a panel a data set and protocol.


_DRAWN = ("BM25", "RankSVM", "MHR-BC", "MHR-WBC", "RankBoost", "OrderBoost, trees", "LambdaRank")


def draw(found: HyperplaneTables, path: str | os.PathLike[str]) -> None:
    """Draw a column of panels a data set, a row a protocol."""
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(3.6 * len(found.data), 3.1 * len(found.protocols) + 0.5), layout="constrained")
        panels = figure.subplots(len(found.protocols), len(found.data), squeeze=False, sharex=True, sharey="col")
        for row, protocol in zip(panels, found.protocols, strict=True):
            for ax, data in zip(row, found.data, strict=True):
                quieten(ax, grid="y")
                ax.set_title(f"{data}, {protocol}", fontsize=9.5)
                for colour, method in zip(PALETTE.values(), _DRAWN, strict=True):
                    means = [found.mean(data, protocol, method, f"ndcg@{k}") for k in CUTOFFS]
                    ax.plot(CUTOFFS, means, color=colour, label=method, linewidth=1.4, marker=".")
                ax.set_xticks(np.array(CUTOFFS)[::3])
        for ax in panels[-1]:
            ax.set_xlabel("k: how many places from the top")
        for row in panels:
            row[0].set_ylabel("NDCG@k")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        save_figure(figure, path, dpi=130)


# --------------------------------------------------------------------------------------------------
# What running 'multiple hyperplane ranker' again gave, the paper's tables and ours side by side.


_SHOWN = {
    "ndcg@1": "NDCG@1",
    "ndcg@3": "NDCG@3",
    "ndcg@5": "NDCG@5",
    "ndcg@10": "NDCG@10",
    MAP: "MAP, top grade",
    LETOR_MAP: "MAP, grade 1 too",
}
_COMPARED = ("ndcg@1", "ndcg@10", MAP)
_BASE = "RankSVM"

_TABLE_3 = {"MHR-BC": (6.78, 0.92, 0.34), "MHR-WBC": (11.96, 1.06, 1.60)}
"""The paper's relative improvements over Ranking SVM on OHSUMED, in percent, of NDCG@1, NDCG@10 and MAP."""

_PAIRS = ("ω₁₂", "ω₁₃", "ω₂₃")
_TABLE_5 = (
    (0.61, 0.94, 0.71, 0.71, 0.39, 0.54),
    (0.58, 0.92, 0.71, 0.62, 0.38, 0.47),
    (0.32, 0.79, 0.62, 0.55, 0.08, 0.20),
    (0.62, 0.94, 0.34, 0.64, 0.33, 0.12),
)
"""The paper's cosines on OHSUMED, by trial: the upper triangle over ω, ω₁₂, ω₁₃, ω₂₃, row by row."""

_TABLE_6 = {"RankSVM": (0.3924, 0.3095, 0.3944), "MHR": (0.3621, 0.3052, 0.3856)}
_TABLE_7 = ((17, 90, 175, 823), (17, 75, 200, 841), (16, 78, 154, 663), (22, 92, 196, 887))
"""The paper's minutes on OHSUMED: three hyperplanes, then Ranking SVM."""


@dataclass(frozen=True)
class HyperplaneTables:
    """The paper's experiments, run again."""

    records: tuple[Record, ...]
    directions: list[Direction]
    data: tuple[str, ...]
    protocols: tuple[str, ...]
    methods: tuple[str, ...]

    def values(self, data: str, protocol: str, method: str, metric: str) -> Floats:
        """Return a metric's value on every test query; NaN for a query without a relevant document."""
        mine = [each for each in self.records if each.data == f"{data}, {protocol}" and each.method == method]
        found = [each.params["by query"][metric] for each in sorted(mine, key=lambda each: each.fold)]
        return np.array([np.nan if value is None else value for part in found for value in part], dtype=float)

    def mean(self, data: str, protocol: str, method: str, metric: str) -> float:
        """Return the mean over the test queries."""
        return float(np.nanmean(self.values(data, protocol, method, metric)))

    def improvement(self, data: str, protocol: str, method: str, metric: str) -> tuple[float, float]:
        """Return how much better than RankSVM, relatively and in percent, and the p-value over queries."""
        ours, base = (self.values(data, protocol, each, metric) for each in (method, _BASE))
        change = 100.0 * (np.nanmean(ours) / np.nanmean(base) - 1.0)
        return float(change), randomisation_test(ours - base)

    def lines(self) -> list[str]:
        """Return the tables as Markdown lines."""
        parts = [self._table_three(), *(self._figure_two(data) for data in self.data)]
        parts += [self._table_five(), self._table_six(), self._table_seven()]
        out: list[str] = []
        for part in parts:
            out += ["", *part] if out else part
        return out

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw NDCG over the places."""
        draw(self, path)

    def _table_three(self) -> Iterator[str]:
        yield (
            "**Table 3.** Better than RankSVM, relatively, in percent; in brackets the p-value of a randomisation test "
            "over the test queries. The paper's is of OHSUMED with 30 features, 4-fold."
        )
        yield ""
        yield "| data | method | NDCG@1 | NDCG@10 | MAP, top grade |"
        yield "| --- | --- | --- | --- | --- |"
        for method, paper in _TABLE_3.items():
            yield f"| the paper | {method} | " + " | ".join(f"{value:+.1f}" for value in paper) + " |"
        for data in self.data:
            for protocol in self.protocols:
                for method in self.methods:
                    if method.startswith("MHR") and "hinge" not in method:
                        found = [self.improvement(data, protocol, method, metric) for metric in _COMPARED]
                        shown = " | ".join(f"{change:+.1f} ({write_p_value(p)})" for change, p in found)
                        yield f"| {data}, {protocol} | {method} | {shown} |"

    def _figure_two(self, data: str) -> Iterator[str]:
        for protocol in self.protocols:
            queries = self.values(data, protocol, _BASE, MAP)
            any_grade = self.values(data, protocol, _BASE, LETOR_MAP)
            yield (
                f"**{data}, {protocol}.** Means over the {np.count_nonzero(~np.isnan(any_grade))} of {len(queries)} "
                f"test queries that have a relevant document ({np.count_nonzero(~np.isnan(queries))} have one of the "
                "top grade). Bold: the highest."
            )
            yield ""
            yield "| method | " + " | ".join(_SHOWN.values()) + " |"
            yield "| --- " * (len(_SHOWN) + 1) + "|"
            means = {
                method: {metric: self.mean(data, protocol, method, metric) for metric in _SHOWN}
                for method in self.methods
            }
            best = {metric: max(each[metric] for each in means.values()) for metric in _SHOWN}
            for method, found in means.items():
                shown = (f"**{v:.3f}**" if v == best[metric] else f"{v:.3f}" for metric, v in found.items())
                yield f"| {method} | " + " | ".join(shown) + " |"
            yield ""

    def _table_five(self) -> Iterator[str]:
        names = ("ω", *_PAIRS)
        places = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        yield (
            "**Table 5.** Cosines between the hyperplanes on OHSUMED with 25 features: ω is RankSVM's, ω₁₂ that of the "
            "paper's ranks 1 and 2 (our grades 2 and 1), and so on."
        )
        yield ""
        yield "| trial | " + " | ".join(f"{names[i]}, {names[j]}" for i, j in places) + " |"
        yield "| --- " * (1 + len(places)) + "|"
        for number, row in enumerate(_TABLE_5, start=1):
            yield f"| {number}, paper | " + " | ".join(f"{value:.2f}" for value in row) + " |"
        for number, each in enumerate(self.directions, start=1):
            yield f"| {number}, here | " + " | ".join(f"{each.cosines[i][j]:.2f}" for i, j in places) + " |"

    def _table_six(self) -> Iterator[str]:
        yield (
            "**Table 6.** Order error rates on training queries, mean over the trials: RankSVM's hyperplane against "
            "the one of the rank pair itself."
        )
        yield ""
        yield "| | (1, 2) | (1, 3) | (2, 3) |"
        yield "| --- | --- | --- | --- |"
        for name, row in _TABLE_6.items():
            yield f"| {name}, paper | " + " | ".join(f"{value:.4f}" for value in row) + " |"
        ours = {"RankSVM": [each.single for each in self.directions], "MHR": [each.several for each in self.directions]}
        for name, rows in ours.items():
            yield f"| {name}, here | " + " | ".join(f"{value:.4f}" for value in np.mean(rows, axis=0)) + " |"

    def _table_seven(self) -> Iterator[str]:
        yield (
            "**Table 7.** Time to train on OHSUMED: the hyperplanes one by one, all as one estimator, and RankSVM. "
            "The paper's minutes are of a solver that lists all pairs; ours, milliseconds, need no list, so that there "
            "is little left to divide and conquer."
        )
        yield ""
        yield "| trial | " + " | ".join(_PAIRS) + " | sum | as one | RankSVM | sum / RankSVM | as one / RankSVM |"
        yield "| --- " * 9 + "|"
        for number, minutes in enumerate(_TABLE_7, start=1):
            total = sum(minutes[:3])
            shown = " | ".join(map(str, minutes[:3]))
            yield f"| {number}, paper, min | {shown} | {total} | | {minutes[3]} | {total / minutes[3]:.2f} | |"
        for loss in LOSSES:
            for number, each in enumerate(self.directions, start=1):
                *parts, one, whole = (1000.0 * seconds for seconds in each.seconds[loss])
                shown = " | ".join(f"{value:.0f}" for value in (*parts, sum(parts), one, whole))
                ratios = f"{sum(parts) / whole:.2f} | {one / whole:.2f}"
                yield f"| {number}, {loss.replace('_', ' ')}, ms | {shown} | {ratios} |"


# --------------------------------------------------------------------------------------------------
# The reproduction.


COSTS = (0.001, 0.01, 0.1, 1.0, 10.0)
_ROUNDS = (30, 60, 100)
_CHOSEN_AT = 10
"""Parameters are chosen by the validation queries' NDCG at this place."""

PROTOCOLS: dict[str, Callable[[list[Judged]], Any]] = {"published folds": published_folds, "4-fold": quarters}


@dataclass(frozen=True)
class OneFeature:
    """One feature as it is: nothing is learned."""

    number: int

    def fit(self, X: Floats, y: Floats, *, groups: Any = None) -> OneFeature:
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
    "BM25": lambda bm25: {"": OneFeature(bm25)},
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


def _judge(name: str, protocol: str, number: int, trial: QueryParts, methods: list[str]) -> list[Record]:
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


def _choose(tried: Tried, trial: QueryParts) -> tuple[str, Any]:
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
