"""What single hyperplanes look like in 'multiple hyperplane ranker': Figure 1, Tables 5 and 6, and Table 7's times."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ...estimators import MultipleHyperplaneRanker, RankSVM
from ...evaluation import Record
from ...figures import PALETTE
from ...metrics import order_error_rates
from ...sweeps import Floats
from ..letor_trials import BENCHMARKS, Judged, QueryParts, joined, quarters, read_parts
from ..running import PaperRun, Piece, record_key
from .light import LOSSES, LightRanker

PAIRS = ((1, 2), (0, 2), (0, 1))
"""The rank pairs (1, 2), (1, 3), (2, 3) of the paper, whose rank 1 is our grade 2: (lower, higher) grade."""

_PAIRS = ("ω₁₂", "ω₁₃", "ω₂₃")
_RANKS = ("(1, 2)", "(1, 3)", "(2, 3)")
_OHSUMED = ("OHSUMED, 25 features", "OHSUMED, 45 features")


def _fit(model: Any, rows: Judged) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a thousand planes may leave a little more to gain than was asked for
        return model.fit(rows.X, rows.grade, groups=rows.query)


def _normals(single: Any, several: MultipleHyperplaneRanker) -> Floats:
    """Return the unit normals of RankSVM's hyperplane and of those of PAIRS."""
    found = np.array([single.coef_, *(several.rankers_[pair].coef_ for pair in PAIRS)])
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(length > 0, length, 1.0))


def _rates(rates: Mapping[Any, float]) -> list[float]:
    return [round(rates[pair], 6) for pair in PAIRS]


# --------------------------------------------------------------------------------------------------
# Figure 1: one query's documents in the plane of their two principal components.


_QUERY = 5


def in_plane(X: Floats) -> tuple[Floats, float]:
    """Return rows in the plane of their first two principal components, and the share of the variance it holds."""
    centred = X - X.mean(axis=0)
    _, size, axes = np.linalg.svd(centred, full_matrices=False)
    two = axes[:2]
    sign = np.sign(two[np.arange(2), np.argmax(np.abs(two), axis=1)])  # an axis has no sign of its own
    return centred @ (sign[:, None] * two).T, float((size[:2] ** 2).sum() / (size**2).sum())


def figure_one(run: PaperRun) -> tuple[Record, ...]:
    """Fit hyperplanes to single queries, in the plane and in all features."""
    pieces = []
    for name in _OHSUMED:
        whole = joined(read_parts(run.data, name))
        key = record_key(f"hyperplanes/figure 1/{name}", LightRanker().get_params(), run.quick)
        pieces.append(Piece(f"Figure 1, {name}", {name: key}, partial(_one_by_one, name, key, whole, run.quick)))
    return run.pieces(pieces)


def _one_by_one(name: str, key: str, whole: Judged, quick: bool, wanted: list[str]) -> list[Record]:
    rows = {query: whole.take(whole.query == query) for query in np.unique(whole.query).tolist()}
    full = {query: each for query, each in rows.items() if len(np.unique(each.grade)) == len(PAIRS)}
    if quick:
        full = {query: full[query] for query in [*list(full)[:10], _QUERY] if query in full}
    plane = {query: each._replace(X=in_plane(each.X)[0]) for query, each in full.items()}
    one = plane[_QUERY]
    normals = _normals(*_both(one))
    params = {
        "points": np.round(one.X, 4).tolist(),
        "grades": one.grade.astype(int).tolist(),
        "normals": np.round(normals, 4).tolist(),
        "variance": round(in_plane(full[_QUERY].X)[1], 4),
        "n queries": len(full),
        "plane": _looked_at({_QUERY: one}),
        "all features": _looked_at({_QUERY: full[_QUERY]}),
        "mean, plane": _looked_at(plane),
        "mean, all features": _looked_at(full),
    }
    return [Record(key, name, "query 5", 0, 0, 0, len(one.grade), len(one.grade), {}, params)]


def _both(rows: Judged) -> tuple[LightRanker, MultipleHyperplaneRanker]:
    return _fit(LightRanker(), rows), _fit(MultipleHyperplaneRanker(LightRanker()), rows)


def _looked_at(queries: Mapping[Any, Judged]) -> dict[str, list[float]]:
    """Return mean cosines between the hyperplanes of PAIRS, and mean errors of one hyperplane and of three."""
    cosines, single, several = [], [], []
    for rows in queries.values():
        one, three = _both(rows)
        normals = _normals(one, three)[1:]
        cosines.append([float(normals[i] @ normals[j]) for i, j in combinations(range(3), 2)])
        single.append(_rates(order_error_rates(rows.grade, one.decision_function(rows.X), rows.query)))
        several.append(_rates(three.order_error_rates(rows.X, rows.grade, rows.query)))
    kinds = {"cosines": cosines, "single": single, "several": several}
    return {kind: [round(float(value), 4) for value in np.mean(values, axis=0)] for kind, values in kinds.items()}


def figure_one_lines(records: Sequence[Record]) -> Iterator[str]:
    """Return what the figure shows, in numbers."""
    yield (
        "Hyperplanes of the hinge at SVM-light's cost, fitted to the documents of single queries: cosines between "
        "those of the rank pairs, and the share of pairs in the wrong order, by one hyperplane for all → by that of "
        "the rank pair itself. The plane is that of the query's first two principal components."
    )
    yield ""
    cosines = [f"{a}, {b}" for a, b in combinations(_PAIRS, 2)]
    yield "| data | documents of | in | " + " | ".join((*cosines, *(f"errors {rank}" for rank in _RANKS))) + " |"
    yield "| --- " * 9 + "|"
    for record in records:
        share, n = record.params["variance"], record.params["n queries"]
        for query, space in ((f"query {_QUERY}", ""), (f"{n} queries, mean", "mean, ")):
            for where in ("plane", "all features"):
                found = record.params[f"{space}{where}"]
                cells = [f"{value:.2f}" for value in found["cosines"]]
                cells += [f"{a:.3f} → {b:.3f}" for a, b in zip(found["single"], found["several"], strict=True)]
                shown = f"plane ({100 * share:.0f} % of the variance)" if not space and where == "plane" else where
                yield f"| {record.data} | {query} | {shown} | " + " | ".join(cells) + " |"


_MARKS = {2: ("x", "vermillion", "definitely"), 1: ("s", "green", "partially"), 0: ("^", "blue", "not relevant")}


def draw_figure_one(ax: Axes, records: Sequence[Record]) -> None:
    """Draw the documents of one query, and the directions of its three hyperplanes."""
    record = records[0]
    points, grades = np.array(record.params["points"]), np.array(record.params["grades"])
    for grade, (mark, colour, name) in _MARKS.items():
        x, y = points[grades == grade].T
        ax.scatter(x, y, marker=mark, s=18, linewidths=1.0, color=PALETTE[colour], label=name, alpha=0.8)
    reach = 0.45 * float(np.abs(points).max())
    directions = {1: PAIRS.index((0, 2)), 2: PAIRS.index((0, 1)), 3: PAIRS.index((1, 2))}
    for number, place in directions.items():
        x, y = (reach * float(value) for value in record.params["normals"][1 + place])
        ax.annotate("", (x, y), (0.0, 0.0), arrowprops={"arrowstyle": "->", "linewidth": 1.2})
        ax.annotate(str(number), (1.15 * x, 1.15 * y), ha="center", va="center", fontsize=8.5)
    ax.set_title(f"Figure 1: query {_QUERY}, {record.data}", fontsize=9.5)
    ax.set_xlabel("first principal component")
    ax.set_ylabel("second")
    ax.legend(fontsize=7.5, frameon=False)


# --------------------------------------------------------------------------------------------------
# Tables 5 and 6: cosines between the hyperplanes, and errors on training queries.


_TABLE_5 = (
    (0.61, 0.94, 0.71, 0.71, 0.39, 0.54),
    (0.58, 0.92, 0.71, 0.62, 0.38, 0.47),
    (0.32, 0.79, 0.62, 0.55, 0.08, 0.20),
    (0.62, 0.94, 0.34, 0.64, 0.33, 0.12),
)
"""The paper's cosines on OHSUMED, by trial: the upper triangle over ω, ω₁₂, ω₁₃, ω₂₃, row by row."""

_TABLE_6 = (
    ((0.3939, 0.3032, 0.3902), (0.3629, 0.2977, 0.3833)),
    ((0.3975, 0.3118, 0.3943), (0.3702, 0.3085, 0.3833)),
    ((0.3819, 0.2981, 0.3834), (0.3527, 0.2941, 0.3743)),
    ((0.3964, 0.3250, 0.4096), (0.3626, 0.3207, 0.4017)),
)
"""The paper's order error rates on OHSUMED, by trial: RankSVM, then MHR."""

_TABLE_6_MEANS = ((0.3924, 0.3095, 0.3944), (0.3621, 0.3052, 0.3856))


def tables_five_and_six(run: PaperRun) -> tuple[Record, ...]:
    """Fit RankSVM and the hyperplanes to the training queries of each trial of the paper's kind."""
    pieces = []
    for name in _OHSUMED:
        for number, trial in enumerate(list(quarters(read_parts(run.data, name)))[: 2 if run.quick else None]):
            key = record_key(f"hyperplanes/tables 5 and 6/{name}/{number}", LightRanker(tol=1e-4).get_params())
            pieces.append(Piece(name, {"trial": key}, partial(_direction, name, number, key, trial)))
    return run.pieces(pieces)


def _direction(name: str, number: int, key: str, trial: QueryParts, wanted: list[str]) -> list[Record]:
    train, base = trial.learned, LightRanker(tol=1e-4)
    single = _fit(base, train)
    several, overlapping = (
        _fit(MultipleHyperplaneRanker(LightRanker(tol=1e-4), pairs=pairs), train) for pairs in ("all", "cumulative")
    )
    normals = _normals(single, several)
    params = {
        "cosines": [round(float(normals[i] @ normals[j]), 4) for i, j in combinations(range(4), 2)],
        "RankSVM": _rates(order_error_rates(train.grade, single.decision_function(train.X), train.query)),
        "MHR": _rates(several.order_error_rates(train.X, train.grade, train.query)),
        "MHR, cumulative": _rates(overlapping.order_error_rates(train.X, train.grade, train.query)),
    }
    return [Record(key, name, "trial", 0, number, 0, len(train.grade), len(trial.test.grade), {}, params)]


def table_five_and_six_lines(records: Sequence[Record]) -> Iterator[str]:
    """Return both tables, by trial, and their means."""
    data = list(dict.fromkeys(record.data for record in records))
    yield (
        "**Table 5.** Cosines between the hyperplanes: ω is RankSVM's, ω₁₂ that of the paper's ranks 1 and 2 (our "
        "grades 2 and 1), and so on. The hinge at SVM-light's cost, as in the paper."
    )
    yield ""
    names = [f"{a}, {b}" for a, b in combinations(("ω", *_PAIRS), 2)]
    yield "| trial | " + " | ".join(names) + " |"
    yield "| --- " * (1 + len(names)) + "|"
    yield from _by_trial("the paper", _TABLE_5, 2)
    for name in data:
        yield from _by_trial(name, [record.params["cosines"] for record in records if record.data == name], 2)
    yield ""
    yield _widths(records, data)
    yield ""
    yield (
        "**Table 6.** Order error rates on the training queries of each rank pair: RankSVM's hyperplane against the "
        'one of the rank pair itself, and against the one of the same two grades of `pairs="cumulative"`.'
    )
    yield ""
    yield "| trial | " + " | ".join(_RANKS) + " |"
    yield "| --- " * (1 + len(_RANKS)) + "|"
    for place, method in enumerate(("RankSVM", "MHR")):
        yield from _by_trial(f"the paper, {method}", [rates[place] for rates in _TABLE_6], 4, _TABLE_6_MEANS[place])
    for name in data:
        for method in ("RankSVM", "MHR", "MHR, cumulative"):
            rates = [record.params[method] for record in records if record.data == name]
            yield from _by_trial(f"{name}, {method}", rates, 4)
    single, several = (np.array([record.params[method] for record in records]) for method in ("RankSVM", "MHR"))
    yield ""
    yield (
        "The hyperplane of a rank pair makes fewer errors on it than RankSVM's in "
        f"{np.count_nonzero(several < single)} of {single.size} trials and rank pairs."
    )


def _widths(records: Sequence[Record], data: Sequence[str]) -> str:
    """Say how much cosines vary between trials: the paper calls the directions stable."""
    found = {"the paper": np.array(_TABLE_5)}
    found |= {name: np.array([record.params["cosines"] for record in records if record.data == name]) for name in data}
    told = [f"{name} {min(w):.2f} to {max(w):.2f}" for name, w in ((k, np.ptp(v, axis=0)) for k, v in found.items())]
    return "How much a cosine varies, the highest of the trials less the lowest: " + "; ".join(told) + "."


def _by_trial(
    name: str, rows: Sequence[Sequence[float]], digits: int, printed: Sequence[float] | None = None
) -> Iterator[str]:
    """Write a line a trial, and their mean: as it was printed, or our own."""
    for number, row in enumerate(rows, start=1):
        yield f"| {name}, trial {number} | " + " | ".join(f"{value:.{digits}f}" for value in row) + " |"
    mean = np.mean(rows, axis=0) if printed is None else printed
    yield f"| **{name}, mean** | " + " | ".join(f"**{value:.{digits}f}**" for value in mean) + " |"


# --------------------------------------------------------------------------------------------------
# Table 7: time to train.


_TABLE_7 = ((17, 90, 175, 823), (17, 75, 200, 841), (16, 78, 154, 663), (22, 92, 196, 887))
"""The paper's minutes on OHSUMED: three hyperplanes, then Ranking SVM."""

_TIMED = 7
_LARGE, _COLUMNS = 200_000, 50
_PAIRINGS = ("all", "adjacent", "cumulative")


def table_seven(run: PaperRun) -> tuple[Record, ...]:
    """Time one fit after the other; nothing runs beside them."""
    data = {name: read_parts(run.data, name) for name in BENCHMARKS}
    trials = list(quarters(data[_OHSUMED[0]]))[: 1 if run.quick else None]
    key = record_key("hyperplanes/table 7", "processor", _TIMED, _LARGE, run.quick)
    whole = {name: joined(parts) for name, parts in data.items()}
    whole |= {} if run.quick else {f"{_LARGE:,} × {_COLUMNS}, {n} grades": _drawn(n) for n in (3, 5)}
    return run.pieces([Piece("times", {"times": key}, partial(_times, key, trials, whole))])


def _times(key: str, trials: list[QueryParts], whole: Mapping[str, Judged], wanted: list[str]) -> list[Record]:
    params = {
        "trials": {loss: [_trial_seconds(trial.learned, loss) for trial in trials] for loss in LOSSES},
        "pairs": {name: _pairing_seconds(rows) for name, rows in whole.items()},
    }
    return [Record(key, "times", "times", 0, 0, 0, 0, 0, {}, params)]


def _drawn(n_grades: int) -> Judged:
    """Draw rows of one list, some grades of about equally many rows each."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((_LARGE, _COLUMNS))
    worth = X @ rng.standard_normal(_COLUMNS) / np.sqrt(_COLUMNS) + rng.standard_normal(_LARGE)
    cuts = np.quantile(worth, np.linspace(0, 1, n_grades + 1)[1:-1])
    return Judged(X, np.digitize(worth, cuts).astype(float), np.zeros(_LARGE, dtype=int))


def _trial_seconds(train: Judged, loss: str) -> list[float]:
    """Return the times of the hyperplanes of PAIRS, of all as one estimator, and of RankSVM, at SVM-light's cost."""
    parts = [train.take(np.isin(train.grade, pair)) for pair in PAIRS]
    costs = [_cost(rows, loss) for rows in (*parts, train)]
    single = [RankSVM(C, loss=loss, tol=1e-3) for C in costs]
    found = [_best_time(model, rows) for model, rows in zip(single, (*parts, train), strict=True)]
    as_one = _best_time(MultipleHyperplaneRanker(single[-1]), train)
    return [*found[:3], as_one, found[3]]


def _cost(rows: Judged, loss: str) -> float:
    return float(_fit(LightRanker(loss), rows).ranker_.C)


def _pairing_seconds(rows: Judged) -> dict[str, float]:
    """Return the times of RankSVM, and of the rankers of each kind of pairs; squared hinge, C = 1."""
    models: dict[str, Any] = {"RankSVM": RankSVM()}
    models |= {pairs: MultipleHyperplaneRanker(pairs=pairs) for pairs in _PAIRINGS}
    return {name: _best_time(model, rows) for name, model in models.items()}


def _best_time(model: Any, rows: Judged) -> float:
    """Return seconds of the processor: by the clock, what else runs on the machine would be in fits this short."""
    best = np.inf
    for _ in range(_TIMED):
        started = time.process_time()
        _fit(model, rows)
        best = min(best, time.process_time() - started)
    return round(float(best), 4)


def _times_of_ranksvm(record: Record) -> str:
    seconds = [each for trials in record.params["trials"].values() for each in trials]
    added = [sum(each[: len(PAIRS)]) / each[-1] for each in seconds]
    as_one = [each[len(PAIRS)] / each[-1] for each in seconds]
    return (
        f"As multiples of RankSVM's time: the hyperplanes' sum {min(added):.1f} to {max(added):.1f}, the estimator "
        f"itself {min(as_one):.1f} to {max(as_one):.1f}."
    )


def table_seven_lines(records: Sequence[Record]) -> Iterator[str]:
    """Return the times, and what they are of RankSVM's."""
    (record,) = records
    yield (
        "**Table 7.** Time to train on OHSUMED with 25 features at SVM-light's cost: the hyperplanes one by one, all "
        f"as one estimator (at RankSVM's cost), and RankSVM; ours of the processor, the best of {_TIMED}. The paper's "
        "minutes are of a solver that lists all pairs; ours, milliseconds, need no list, so that there is little left "
        "to divide and conquer."
    )
    yield ""
    yield "| trial | " + " | ".join(_PAIRS) + " | sum | as one | RankSVM | sum / RankSVM | as one / RankSVM |"
    yield "| --- " * 9 + "|"
    for number, minutes in enumerate(_TABLE_7, start=1):
        total = sum(minutes[:3])
        shown = " | ".join(map(str, minutes[:3]))
        yield f"| {number}, paper, min | {shown} | {total} | | {minutes[3]} | {total / minutes[3]:.2f} | |"
    for loss, trials in record.params["trials"].items():
        for number, seconds in enumerate(trials, start=1):
            *parts, one, whole = (1000.0 * each for each in seconds)
            shown = " | ".join(f"{value:.0f}" for value in (*parts, sum(parts), one, whole))
            ratios = f"{sum(parts) / whole:.2f} | {one / whole:.2f}"
            yield f"| {number}, {loss.replace('_', ' ')}, ms | {shown} | {ratios} |"
    yield ""
    yield _times_of_ranksvm(record)
    yield ""
    yield "**The same by kind of `pairs`**, all queries, squared hinge, C = 1: how many times RankSVM's time."
    yield ""
    yield "| data | RankSVM, ms | " + " | ".join(f'`"{pairs}"`' for pairs in _PAIRINGS) + " |"
    yield "| --- " * (2 + len(_PAIRINGS)) + "|"
    for name, seconds in record.params["pairs"].items():
        times = " | ".join(f"{seconds[pairs] / seconds['RankSVM']:.1f}" for pairs in _PAIRINGS)
        yield f"| {name} | {1000 * seconds['RankSVM']:.0f} | {times} |"
