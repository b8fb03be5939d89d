"""Qin et al. (2007), Ranking with multiple hyperplanes: tables on OHSUMED and MQ2008, with the neighbours it names."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...estimators import (
    BestFeature,
    BoostedTrees,
    MultipleHyperplaneRanker,
    NestedRanker,
    OrderBoost,
    RankBoost,
    RankSVM,
    list_scores,
)
from ...evaluation import Record, randomisation_test
from ...figures import PALETTE, STYLE, quieten, save_figure
from ...metrics import ndcg
from ...sweeps import Array, Floats
from ...writing import write_p_value
from ..letor_trials import (
    BENCHMARKS as BENCHMARKS,
    CUTOFFS,
    FROM_ONE,
    LETOR_MAP,
    MAP,
    METRICS,
    N_PARTS as N_PARTS,
    Judged,
    QueryParts,
    joined,
    judge,
    published_folds,
    quarters,
    read_parts,
)
from ..running import PaperPart, PaperRun, Piece, record_key
from .light import TESTED, LightTables, rounded, seen_as, signed, table_three, write_tested
from .normals import (
    draw_figure_one,
    figure_one,
    figure_one_lines,
    table_five_and_six_lines,
    table_seven,
    table_seven_lines,
    tables_five_and_six,
)

# --------------------------------------------------------------------------------------------------
# The methods: what each tries on the validation queries.


COSTS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
_ROUNDS = (30, 60, 100)
_CHOSEN_AT = 10
"""Parameters are chosen by the validation queries' NDCG at this place."""

_CLEAR = 2
"""Percent: what the paper calls an improvement at most places."""

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


@dataclass(frozen=True)
class SharedFits:
    """Methods that look at the same fits."""

    tried: Callable[[int], Tried]
    """What is fitted, given BM25's column."""
    views: Mapping[str, str] = field(default_factory=dict)
    """Of each method, the aggregate that it sees hyperplanes through; none where the fit is the method."""

    def see(self, method: str, model: Any) -> Any:
        """Return a fitted model as a method sees it."""
        return seen_as(model, self.views[method]) if method in self.views else model


def _costs(make: Callable[[float], Any]) -> Callable[[int], Tried]:
    return lambda bm25: {f"C={C:g}": make(C) for C in COSTS}


def _rounds(make: Callable[[int], Any]) -> Callable[[int], Tried]:
    return lambda bm25: {f"{n} rounds": make(n) for n in _ROUNDS}


def _many(pairs: str = "all", loss: str = "squared_hinge") -> Callable[[int], Tried]:
    tol = 1e-3 if loss == "hinge" else 1e-4  # as LightRanker has it: finer planes change nothing that can be seen
    return _costs(
        lambda C: MultipleHyperplaneRanker(RankSVM(C, loss=loss, tol=tol), pairs=pairs, aggregate="weighted_borda")
    )


FAMILIES: dict[str, SharedFits] = {
    "BM25": SharedFits(lambda bm25: {"": OneFeature(bm25)}),
    "best feature": SharedFits(lambda bm25: {"": BestFeature(metric=f"ndcg@{_CHOSEN_AT}")}),
    "RankSVM": SharedFits(_costs(RankSVM)),
    "MHR": SharedFits(
        _many(),
        {
            "MHR-BC": "borda",
            "MHR-WBC": "weighted_borda",
            "MHR, median": "median",
            "MHR, Markov chain": "markov",
        },
    ),
    "MHR, adjacent": SharedFits(_many("adjacent"), {"MHR-BC, adjacent": "borda"}),
    "MHR, cumulative": SharedFits(
        _many("cumulative"), {"MHR-BC, cumulative": "borda", "MHR-WBC, cumulative": "weighted_borda"}
    ),
    "RankSVM, hinge": SharedFits(_costs(lambda C: RankSVM(C, loss="hinge", tol=1e-3))),
    "MHR, hinge": SharedFits(_many(loss="hinge"), {"MHR-BC, hinge": "borda", "MHR-WBC, hinge": "weighted_borda"}),
    "MHR, cumulative, hinge": SharedFits(
        _many("cumulative", "hinge"),
        {"MHR-BC, cumulative, hinge": "borda", "MHR-WBC, cumulative, hinge": "weighted_borda"},
    ),
    "RankSVM for IR": SharedFits(_costs(lambda C: RankSVM(C, order="dcg", balance="groups"))),
    "RankBoost": SharedFits(_rounds(lambda n: RankBoost(n_estimators=n))),
    "nested": SharedFits(_costs(lambda C: NestedRanker(RankSVM(C)))),
    "OrderBoost, trees": SharedFits(
        _rounds(
            lambda n: OrderBoost(learner="tree", balance="groups", learning_rate=0.1, max_leaf_nodes=7, n_estimators=n)
        )
    ),
    "LambdaRank": SharedFits(_rounds(lambda n: BoostedTrees("lambdarank", max_leaf_nodes=7, n_estimators=n))),
}


def _base(method: str) -> str | None:
    """Return what a method of several hyperplanes is held against: one hyperplane of the same loss."""
    if not method.startswith("MHR"):
        return None
    return "RankSVM, hinge" if method.endswith("hinge") else "RankSVM"


# --------------------------------------------------------------------------------------------------
# The trials.


def choose_and_judge(run: PaperRun) -> tuple[Record, ...]:
    """Run every method on the trials of both protocols; then gather the trials, and test differences to RankSVM."""
    trials = {
        (name, protocol): list(split(read_parts(run.data, name)))[: 2 if run.quick else None]
        for protocol, split in PROTOCOLS.items()
        for name in BENCHMARKS
    }
    pieces = [
        Piece(
            f"{name}, {family}",
            {method: _key(name, protocol, number, family, method) for method in each.views or (family,)},
            partial(_judge_trial, name, protocol, number, family, trial),
        )
        for family, each in reversed(FAMILIES.items())  # trees are slow, and last in the tables
        for (name, protocol), mine in trials.items()
        for number, trial in enumerate(mine)
    ]
    made = run.pieces(pieces)
    gathered = []
    for name in BENCHMARKS:
        for protocol in PROTOCOLS:
            of_both = [record for record in made if record.data == f"{name}, {protocol}"]
            keys = {method: _gathered_key(of_both, method) for method in _methods()}
            gathered.append(Piece(f"{name}, {protocol}", keys, partial(_gather, of_both)))
    return run.pieces(gathered)


def _methods() -> list[str]:
    return [method for family, each in FAMILIES.items() for method in each.views or (family,)]


def _key(name: str, protocol: str, number: int, family: str, method: str) -> str:
    tried = FAMILIES[family].tried(BENCHMARKS[name].bm25)
    made_by = sorted(map(repr, tried.items())), FAMILIES[family].views.get(method)
    return record_key(f"hyperplanes/methods/{name}/{protocol}/{number}/{method}", made_by)


def _gathered_key(records: list[Record], method: str) -> str:
    return record_key(f"hyperplanes/methods/{records[0].data}/{method}", [each.key for each in records])


def _judge_trial(
    name: str, protocol: str, number: int, family: str, trial: QueryParts, methods: list[str]
) -> list[Record]:
    """Choose each method's parameters on the validation queries, and judge it on the test queries."""
    tried = partial(FAMILIES[family].tried, BENCHMARKS[name].bm25)
    started = time.perf_counter()
    fitted = {label: _fit(model, trial.train) for label, model in tried().items()}
    chosen = {method: _choose(FAMILIES[family], method, fitted, trial.validation) for method in methods}
    searched = time.perf_counter()
    train = trial.learned if trial.learns_again else trial.train
    last = {
        label: _fit(tried()[label], train) if trial.learns_again else fitted[label] for label in set(chosen.values())
    }
    learned = time.perf_counter()
    made = []
    for method in methods:
        model = FAMILIES[family].see(method, last[chosen[method]])
        found = judge(trial.test, list_scores(model, trial.test.X, trial.test.query))
        made.append(
            Record(
                key=_key(name, protocol, number, family, method),
                data=f"{name}, {protocol}",
                method=method,
                repeat=0,
                fold=number,
                seed=0,
                n_train=len(train.grade),
                n_test=len(trial.test.grade),
                metrics={metric: float(np.nanmean(values)) for metric, values in found.items()},
                params={"chosen": chosen[method], "by query": {m: rounded(values) for m, values in found.items()}},
                search_seconds=(searched - started) / len(methods),
                fit_seconds=(learned - searched) / len(methods),
            )
        )
    return made


def _choose(family: SharedFits, method: str, fitted: Tried, there: Judged) -> str:
    """Return the first of the best by the validation queries."""

    def worth(label: str) -> float:
        scores = list_scores(family.see(method, fitted[label]), there.X, there.query)
        return ndcg(there.grade, scores, there.query, k=_CHOSEN_AT)

    return max(fitted, key=worth)


def _fit(model: Any, train: Judged) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the far ends of a grid may not converge: then they are not chosen
        return model.fit(train.X, train.grade, groups=train.query)


def _gather(records: list[Record], wanted: list[str]) -> list[Record]:
    """Put each method's trials together: means over all test queries, and p-values of differences to RankSVM."""
    made = []
    for method in wanted:
        mine, against = _by_query(records, method), _base(method)
        base = {} if against is None else _by_query(records, against)
        first = next(each for each in records if each.method == method)
        params = {
            "against": against,
            "p": {metric: randomisation_test(mine[metric] - base[metric]) for metric in TESTED if base},
            "chosen": [each.params["chosen"] for each in records if each.method == method],
            "queries": len(mine[MAP]),
            "relevant": int(np.count_nonzero(~np.isnan(mine[LETOR_MAP]))),
            "top": int(np.count_nonzero(~np.isnan(mine[MAP]))),
        }
        means = {metric: round(float(np.nanmean(values)), 6) for metric, values in mine.items()}
        made.append(replace(first, key=_gathered_key(records, method), fold=0, metrics=means, params=params))
    return made


def _by_query(records: list[Record], method: str) -> dict[str, Floats]:
    """Return a method's value on every test query; NaN for a query without a relevant document."""
    mine = sorted((each for each in records if each.method == method), key=lambda each: each.fold)
    return {
        metric: np.concatenate([np.array(each.params["by query"][metric], dtype=float) for each in mine])
        for metric in METRICS
    }


# --------------------------------------------------------------------------------------------------
# Its tables.


_SHOWN = {
    "ndcg@1": "NDCG@1",
    "ndcg@3": "NDCG@3",
    "ndcg@5": "NDCG@5",
    "ndcg@10": "NDCG@10",
    MAP: "MAP, top grade",
    LETOR_MAP: "MAP, grade 1 too",
}


class MethodTables:
    """What the records of the methods say."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._of = {(each.data, each.method): each for each in records}
        self.data = list(dict.fromkeys(each.data for each in records))
        self.methods = list(dict.fromkeys(each.method for each in records))

    def mean(self, data: str, method: str, metric: str) -> float:
        """Return the mean over the test queries."""
        return self._of[data, method].metrics[metric]

    def improvement(self, data: str, method: str, metric: str) -> tuple[float, float]:
        """Return how much better than RankSVM of the same loss, relatively and in percent, and the p-value."""
        params = self._of[data, method].params
        change = 100.0 * (self.mean(data, method, metric) / self.mean(data, params["against"], metric) - 1.0)
        return change, float(params["p"][metric])

    def lines(self) -> Iterator[str]:
        """Return the tables as Markdown lines."""
        yield from self._against_rank_svm()
        yield ""
        yield from self._by_place()
        yield ""
        yield self._against_bm25()
        for data in self.data:
            yield ""
            yield from self._reached(data)

    def _against_rank_svm(self) -> Iterator[str]:
        yield (
            f"Parameters chosen by the validation queries' NDCG@{_CHOSEN_AT}. Better than RankSVM of the same loss, "
            "relatively, in percent; in brackets the p-value of a randomisation test over the test queries."
        )
        yield ""
        yield "| data | method | " + " | ".join(TESTED.values()) + " |"
        yield "| --- " * (2 + len(TESTED)) + "|"
        tested: dict[tuple[str, ...], tuple[float, float]] = {}
        for data in self.data:
            for method in (each for each in self.methods if each.startswith("MHR")):
                found = {metric: self.improvement(data, method, metric) for metric in TESTED}
                tested |= {(data, method, TESTED[metric]): each for metric, each in found.items()}
                shown = " | ".join(f"{signed(change)} ({write_p_value(p)})" for change, p in found.values())
                yield f"| {data} | {method} | {shown} |"
        yield ""
        yield write_tested(tested, "parameters chosen")

    def _by_place(self) -> Iterator[str]:
        """Say at how many places Borda counts gain: the paper's words on its Figure 2."""
        yield (
            f"**Figure 2.** Of the NDCG values at the places 1 to {_CHOSEN_AT}, those where MHR-BC is better than "
            f"RankSVM of the same loss by more than {_CLEAR} %, relatively, and those where it is worse by more. The "
            "paper: better at most of them."
        )
        yield ""
        yield "| data | loss | better | worse |"
        yield "| --- | --- | --- | --- |"
        for data in self.data:
            for method, loss in (("MHR-BC, hinge", "hinge"), ("MHR-BC", "squared hinge")):
                if method not in self.methods:
                    continue
                base = self._of[data, method].params["against"]
                places = [f"ndcg@{k}" for k in range(1, _CHOSEN_AT + 1)]
                found = [100 * (self.mean(data, method, k) / self.mean(data, base, k) - 1) for k in places]
                better, worse = (sum(sign * each > _CLEAR for each in found) for sign in (1, -1))
                yield f"| {data} | {loss} | {better} of {len(found)} | {worse} of {len(found)} |"

    def _against_bm25(self) -> str:
        gains = [
            100.0 * (self.mean(data, method, "ndcg@10") / self.mean(data, "BM25", "ndcg@10") - 1.0)
            for data in self.data
            for method in self.methods
            if method == "RankSVM" or method.startswith("MHR")
        ]
        return (
            "RankSVM and MHR, all of its kinds, beside BM25: NDCG@10 is better, relatively, by "
            f"{min(gains):.0f} to {max(gains):.0f} % over all data and folds."
        )

    def _reached(self, data: str) -> Iterator[str]:
        counts = self._of[data, self.methods[0]].params
        yield (
            f"**{data}.** Means over the {counts['relevant']} of {counts['queries']} test queries that have a relevant "
            f"document ({counts['top']} have one of the top grade). Bold: the highest."
        )
        yield ""
        yield "| method | " + " | ".join(_SHOWN.values()) + " |"
        yield "| --- " * (len(_SHOWN) + 1) + "|"
        means = {method: [self.mean(data, method, metric) for metric in _SHOWN] for method in self.methods}
        best = np.max(list(means.values()), axis=0)
        for method, found in means.items():
            shown = (f"**{v:.3f}**" if v == most else f"{v:.3f}" for v, most in zip(found, best, strict=True))
            yield f"| {method} | " + " | ".join(shown) + " |"


# --------------------------------------------------------------------------------------------------
# BM25, which needs no training, as a yardstick of how the paper counts.


_PAPERS_BM25 = (0.538, 0.518, 0.243)
"""NDCG@1, NDCG@10 and MAP, the means of four trials."""

_DEPTHS = (10, 50, 100)


def yardstick(run: PaperRun) -> tuple[Record, ...]:
    """Judge BM25, and the other columns, by several ways of counting."""
    pieces = []
    for name in ("OHSUMED, 25 features", "OHSUMED, 45 features"):
        whole = joined(read_parts(run.data, name))
        key = record_key(f"hyperplanes/bm25/{name}", _DEPTHS)
        pieces.append(Piece(f"BM25, {name}", {name: key}, partial(_count, name, key, whole)))
    return run.pieces(pieces)


def _count(name: str, key: str, whole: Judged, wanted: list[str]) -> list[Record]:
    column = whole.X[:, BENCHMARKS[name].bm25]
    metrics = (*TESTED, *FROM_ONE, LETOR_MAP)
    found = {metric: float(np.nanmean(values)) for metric, values in judge(whole, column, metrics).items()}
    for depth in _DEPTHS:
        precision = _precision(whole, column, depth)
        found[f"first {depth}"] = float(np.nanmean(precision))
        found[f"first {depth}, empty as 0"] = float(np.nansum(precision) / len(precision))
    whole_list = judge(whole, column, (MAP,))[MAP]
    found["empty as 0"] = float(np.nansum(whole_list) / len(whole_list))
    by_column = [
        {metric: float(np.nanmean(v)) for metric, v in judge(whole, values, (*FROM_ONE, MAP)).items()}
        for values in whole.X.T
    ]
    away = [
        sum(abs(each[metric] - paper) for metric, paper in zip((*FROM_ONE, MAP), _PAPERS_BM25, strict=True))
        for each in by_column
    ]
    nearest = int(np.argmin(away))
    params = {"nearest": nearest, "nearest metrics": {k: round(v, 6) for k, v in by_column[nearest].items()}}
    rounded = {metric: round(value, 6) for metric, value in found.items()}
    return [Record(key, name, "BM25", 0, 0, 0, 0, len(column), rounded, params)]


def _precision(whole: Judged, scores: Floats, depth: int) -> Floats:
    """Return the average precision over the first places of each list; NaN where no document has the top grade."""
    found = []
    for query in np.unique(whole.query):
        mine: Array = np.flatnonzero(whole.query == query)
        is_top = (whole.grade[mine] == 2.0)[np.argsort(-scores[mine], kind="stable")]
        precision = np.cumsum(is_top) / np.arange(1, len(mine) + 1)
        n_top = np.count_nonzero(is_top)
        found.append(float((precision * is_top)[:depth].sum() / n_top) if n_top else np.nan)
    return np.array(found)


def yardstick_lines(records: Sequence[Record]) -> Iterator[str]:
    """Return the paper's BM25 beside ours."""
    yield (
        "BM25 needs no training, so that what it reaches tells how the paper counts. MAP is of the top grade, as the "
        "paper has it, unless it says otherwise."
    )
    yield ""
    yield "| | NDCG@1 | NDCG@10 | MAP |"
    yield "| --- | --- | --- | --- |"
    yield "| the paper | " + " | ".join(f"{value:.3f}" for value in _PAPERS_BM25) + " |"
    for record in records:
        m = record.metrics
        yield f"| {record.data}, grades 0, 1, 2 | {m['ndcg@1']:.3f} | {m['ndcg@10']:.3f} | {m[MAP]:.3f} |"
        first, tenth = FROM_ONE
        yield f"| {record.data}, grades 1, 2, 3 | {m[first]:.3f} | {m[tenth]:.3f} | {m[MAP]:.3f} |"
        yield f"| {record.data}, grade 1 relevant too | | | {m[LETOR_MAP]:.3f} |"
        yield f"| {record.data}, queries without the top grade as 0 | | | {m['empty as 0']:.3f} |"
        for depth in _DEPTHS:
            yield f"| {record.data}, the first {depth} places | | | {m[f'first {depth}']:.3f} |"
            yield f"| {record.data}, the first {depth} places, and such queries as 0 | | | " + (
                f"{m[f'first {depth}, empty as 0']:.3f} |"
            )
        near = record.params["nearest metrics"]
        which = f"the nearest of all features, {record.params['nearest'] + 1}, grades 1, 2, 3"
        yield f"| {record.data}, {which} | {near[first]:.3f} | {near[tenth]:.3f} | {near[MAP]:.3f} |"


# --------------------------------------------------------------------------------------------------
# The picture: NDCG over the places, a panel a data set and protocol; Figure 1; and how partitions scatter.


_DRAWN = ("BM25", "RankSVM", "MHR-BC", "MHR-WBC", "MHR-BC, cumulative", "OrderBoost, trees", "LambdaRank")


def picture(found: Mapping[str, Sequence[Record]], path: str | os.PathLike[str]) -> None:
    """Draw what methods reach at each place, Figure 1, and the partitions of queries one by one."""
    methods, light = MethodTables(found["methods"]), LightTables(found["table-3"])
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(11.0, 9.8), layout="constrained")
        above_and_below: Any = figure.subfigures(2, 1, height_ratios=(2.0, 1.05))
        upper, lower = above_and_below
        n_rows = len(PROTOCOLS)
        panels = upper.subplots(n_rows, len(methods.data) // n_rows, squeeze=False, sharex=True, sharey="col")
        for ax, data in zip(panels.T.flat, methods.data, strict=True):
            _draw_places(ax, methods, data)
        for ax in panels[-1]:
            ax.set_xlabel("k: how many places from the top")
        for row in panels:
            row[0].set_ylabel("NDCG@k")
        upper.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        left, *right = lower.subplots(1, 3)
        quieten(left)
        draw_figure_one(left, found["figure-1"])
        for ax, metric in zip(right, ("ndcg@1", "ndcg@10"), strict=True):
            _draw_partitions(ax, light, metric)
        right[1].tick_params(labelleft=False)
        save_figure(figure, path, dpi=130)


def _draw_places(ax: Axes, methods: MethodTables, data: str) -> None:
    quieten(ax, grid="y")
    ax.set_title(data, fontsize=9.5)
    for colour, method in zip(PALETTE.values(), _DRAWN, strict=True):
        means = [methods.mean(data, method, f"ndcg@{k}") for k in CUTOFFS]
        ax.plot(CUTOFFS, means, color=colour, label=method, linewidth=1.4, marker=".")
    ax.set_xticks(np.array(CUTOFFS)[::3])


def _draw_partitions(ax: Axes, light: LightTables, metric: str) -> None:
    """Draw a dot a partition, of the first data set and the paper's loss."""
    quieten(ax, grid="x")
    data = light.data[0]
    for place, method in enumerate(light.methods):
        changes = light.changes(data, "hinge", method, metric)
        ax.scatter(changes, place + np.linspace(-0.18, 0.18, len(changes)), s=12, color=PALETTE["blue"], alpha=0.7)
        ax.plot([changes.mean()] * 2, [place - 0.3, place + 0.3], color=PALETTE["vermillion"], linewidth=1.6)
    ax.axvline(0.0, color=PALETTE["grey"], linewidth=0.8)
    ax.set_yticks(range(len(light.methods)), light.methods, fontsize=8)
    ax.set_ylim(len(light.methods) - 0.5, -0.5)
    ax.set_title(f"{TESTED[metric]}, {data}", fontsize=9.5)
    ax.set_xlabel("% better than RankSVM; a dot a partition")


# --------------------------------------------------------------------------------------------------
# The paper's parts.


PARTS = {
    "figure-1": PaperPart("Figure 1: the hyperplanes of one query", figure_one, figure_one_lines),
    "table-3": PaperPart(
        "Table 3: MHR against RankSVM, by the paper's own protocol",
        table_three,
        lambda records: LightTables(records).lines(),
    ),
    "bm25": PaperPart("BM25 as a yardstick: how the paper counts", yardstick, yardstick_lines),
    "methods": PaperPart(
        "Table 3 and Figure 2: every method, parameters chosen on validation queries",
        choose_and_judge,
        lambda records: MethodTables(records).lines(),
    ),
    "tables-5-6": PaperPart(
        "Tables 5 and 6: directions of hyperplanes and training errors", tables_five_and_six, table_five_and_six_lines
    ),
    "table-7": PaperPart("Table 7: time to train", table_seven, table_seven_lines),
}
PICTURED = ("figure-1", "table-3", "methods")
