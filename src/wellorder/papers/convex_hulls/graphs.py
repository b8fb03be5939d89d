"""Which order graph to learn from: found by a search over a training part, and with more levels than five.

Fung, Rosales and Krishnapuram leave 'finding good order graphs given a dataset' open.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from ...data import Table
from ...estimators import ConvexHullRanker, RankSVM
from ...evaluation import Method, Record, Split, Task, search_graph
from ...methods import Grid, Size
from ..running import PaperRun, Piece, record_key
from ..swapped_pairs import Binned
from .trials import (
    DATA_SETS,
    LINEAR,
    N_BINS,
    PROTOCOL,
    Trials,
    contrast_table,
    fold_pieces,
    in_bins,
    nus,
    read_bins,
    read_target,
    slim,
    ten_folds,
    trial_piece,
)

# --------------------------------------------------------------------------------------------------
# A graph found by search_graph on each training part.


BEST, SIMPLEST = "searched: best", "searched: simplest"
_CHOSEN = "graph"
_TWO_STEPS = np.triu(np.ones((N_BINS, N_BINS)), 1) - np.triu(np.ones((N_BINS, N_BINS)), 3)
_FIXED = {
    "chain, edge": LINEAR["chain, edge"],
    "two steps": Method("edges up to two levels apart", partial(ConvexHullRanker, order=_TWO_STEPS), nus),
    "full, edge": LINEAR["full, edge"],
}


def run_graph_search(run: PaperRun) -> tuple[Record, ...]:
    """Judge graphs that search_graph finds on each training part beside those that are fixed."""
    tables = {name: read_bins(run.data, name) for name in DATA_SETS}
    n_folds = 2 if run.quick else PROTOCOL.n_folds
    pieces = []
    for name, table in sorted(tables.items(), key=lambda each: -len(each[1])):
        pieces += fold_pieces(name, table, _FIXED, n_folds, _FIXED)
        task = Task(table)
        pieces += [searched_piece(name, task, split) for split in ten_folds(table)[:n_folds]]
    return run.pieces(pieces)


def searched_piece(name: str, task: Task, split: Split) -> Piece:
    """Return the trials of the best graph of a search, and of the simplest that is not told apart from it."""
    assert isinstance(task.table, Table)
    made_by = task.fingerprint(), split.train.tobytes(), split.test.tobytes()
    keys = {
        method: record_key(f"convex-hulls/graph-search/{name}/{method}/{split.repeat}.{split.fold}", *made_by)
        for method in (BEST, SIMPLEST)
    }
    return Piece(name, keys, partial(_search, name, task.table, split, keys))


def _search(name: str, table: Table, split: Split, keys: dict[str, str], methods: list[str]) -> list[Record]:
    """Search a graph on the training part, ν searched for each anew, and judge it on the test part."""
    task = Task(table)
    part = task.training_part(split.train)
    assert table.y is not None
    labelled = np.flatnonzero(~np.isnan(table.y[split.train]))
    X, y = part.X[labelled], table.y[split.train][labelled]
    inner = StratifiedKFold(PROTOCOL.inner_folds, shuffle=True, random_state=PROTOCOL.seed)
    model = GridSearchCV(ConvexHullRanker(), dict(nus(part.size)), cv=inner)
    started = time.perf_counter()
    found = search_graph(model, X, y, cv=PROTOCOL.inner_folds, seed=PROTOCOL.seed)
    seconds = time.perf_counter() - started
    out = []
    for method in methods:
        trial, fitted = found.table[0], found.best_estimator
        if method == SIMPLEST and found.simplest is not trial:
            trial = found.simplest
            fitted = clone(model).set_params(estimator__order=trial.graph).fit(X, y)
        scores = task.scores(fitted, part, split.test)
        record = Record(
            keys[method],
            name,
            method,
            split.repeat,
            split.fold,
            PROTOCOL.seed,
            task.n_judged(split.train),
            task.n_judged(split.test),
            task.judge(scores, split.test, PROTOCOL.measures).metrics,
            {_CHOSEN: trial.name},
            search_seconds=seconds,
        )
        out.append(slim(record, name, table))
    return out


def graph_search_lines(records: Sequence[Record]) -> Iterator[str]:
    """Write what was chosen, and whether it was any better."""
    trials = Trials(records)
    data = trials.among(DATA_SETS)
    yield (
        "Linear models with a slack for each row and edge. On each training part `search_graph` compares the chain, "
        f"the edges up to two levels apart and the full graph by {PROTOCOL.inner_folds}-fold cross-validation, ν "
        "searched for each inside; the best is taken, or the one with the fewest edges that is not told apart from "
        "the best. How often each was chosen (chain, two steps, full), and the seconds of a search, the median over "
        "the folds:"
    )
    yield ""
    yield "| data | best | simplest | seconds |"
    yield "| --- | --- | --- | --- |"
    for name in data:
        seconds = np.median([each.search_seconds for each in trials.of(name, BEST)])
        yield f"| {name} | {chosen(trials, name, BEST)} | {chosen(trials, name, SIMPLEST)} | {seconds:.2g} |"
    yield ""
    yield (
        "Differences of the Wilcoxon statistic on the test parts, in percent points; in brackets the p-value of the "
        "corrected resampled t-test, and the same adjusted by Holm's method for all tests of the table. Last line: "
        "over the sets, as in Figure 3."
    )
    yield ""
    contrasts = {
        "chain − full": ("chain, edge", "full, edge"),
        "two steps − full": ("two steps", "full, edge"),
        "best searched − full": (BEST, "full, edge"),
        "simplest searched − full": (SIMPLEST, "full, edge"),
        "best searched − chain": (BEST, "chain, edge"),
    }
    yield from contrast_table(trials, data, contrasts)


def chosen(trials: Trials, name: str, method: str) -> str:
    """Return how often each graph was chosen."""
    count = Counter(each.params[_CHOSEN] for each in trials.of(name, method))
    return ", ".join(str(count[graph]) for graph in ("chain", "two steps", "full"))


# --------------------------------------------------------------------------------------------------
# More levels than five.


_BINS = (5, 10, 20, 50)
_GRAPHS = ("chain", "full")


def _binned_nus(size: Size) -> Grid:
    return {f"ranker__{name}": values for name, values in nus(size).items()}


def _costs(size: Size) -> Grid:
    return {"C": [0.01, 0.1, 1.0, 10.0]}


def _taught(graph: str, n_bins: int) -> Method:
    return Method("taught bins", lambda: Binned(ConvexHullRanker(order=graph), n_bins), _binned_nus)


_BINNED = {f"{graph}, {n_bins} bins": _taught(graph, n_bins) for n_bins in _BINS for graph in _GRAPHS} | {
    "RankSVM": Method("all pairs of the target", RankSVM, _costs)
}


def run_bins(run: PaperRun) -> tuple[Record, ...]:
    """Teach the target in more and more bins, and judge by the order of the target itself."""
    tables = {name: read_target(run.data, name) for name in DATA_SETS}
    n_folds = 2 if run.quick else PROTOCOL.n_folds
    pieces = []
    for name, table in sorted(tables.items(), key=lambda each: -len(each[1])):
        task = Task(table)
        pieces += [
            trial_piece(name, task, split, called, method)
            for split in ten_folds(in_bins(table))[:n_folds]
            for called, method in _BINNED.items()
        ]
    return run.pieces(pieces)


def bins_lines(records: Sequence[Record]) -> Iterator[str]:
    """Write accuracy and seconds by the number of bins."""
    trials = Trials(records)
    data = trials.among(DATA_SETS)
    titles = [f"{graph}, {n_bins}" for graph in _GRAPHS for n_bins in _BINS]
    methods = [f"{title} bins" for title in titles]
    yield (
        "Linear models with a slack for each row and edge, taught 5 to 50 bins of the training part's target (a "
        "chain has 4 to 49 edges, a full graph 10 to 1,225), and judged by all test pairs of different target "
        f"values: the Wilcoxon statistic in percent, the mean over {trials.n_splits} folds. Beside them RankSVM, "
        "taught the target itself."
    )
    yield ""
    yield "| data | " + " | ".join(titles) + " | RankSVM |"
    yield "| --- " * (2 + len(titles)) + "|"
    for name in data:
        yield f"| {name} | " + " | ".join(f"{trials.mean(name, each):.1f}" for each in (*methods, "RankSVM")) + " |"
    yield ""
    yield "Chain less full, and their tests, as in Figure 3:"
    yield ""
    contrasts = {f"{n} bins: chain − full": (f"chain, {n} bins", f"full, {n} bins") for n in _BINS}
    yield from contrast_table(trials, data, contrasts)
    yield ""
    yield "Seconds to fit once, the median over the folds:"
    yield ""
    yield "| data | " + " | ".join(titles) + " | RankSVM |"
    yield "| --- " * (2 + len(titles)) + "|"
    for name in data:
        yield f"| {name} | " + " | ".join(f"{trials.seconds(name, each):.2g}" for each in (*methods, "RankSVM")) + " |"
