"""Few labels, and many rows without one: whether a Laplacian over neighbours, or a searched graph, is of any help.

Fung, Rosales and Krishnapuram name 'a graph-Laplacian based regularizer that exploits unlabeled data' as future work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from ...data import Table
from ...estimators import ConvexHullRanker
from ...evaluation import Grid, Method, Record, Size, Split, Task, folds, holm
from ...sweeps import Floats
from ...writing import write_p_value
from ..running import PaperRun, Piece
from .graphs import BEST, chosen, searched_piece
from .trials import (
    DATA_SETS,
    LINEAR,
    PROTOCOL,
    SAME,
    Trials,
    in_bins,
    nus,
    read_bins,
    signed,
    signed_rank_p,
    trial_piece,
)

_LABELS = (5, 10, 20, 50)
"""Labels a class."""
_N_REPEATS = 5
"""Of two halves, each of them the test once."""
_MOST_UNLABELLED = 300
_MOST_TEST = 2_000
_SPIRAL = "Spiral (made)"
_N_SPIRAL = 1_000
_OF = ", labels a class: "
"""Between a data set's name and how many labels were drawn."""

_WEIGHTS = [0.1, 1.0, 10.0]


def _gaussian(size: Size) -> Grid:
    return {"nu": [0.1, 1.0, 10.0], "gamma": [factor / size.n_features for factor in (0.1, 1.0, 10.0)]}


def _weighed(grid: Grid) -> Grid:
    return {**grid, "laplacian_weight": _WEIGHTS}


_LAPLACIAN = partial(ConvexHullRanker, order="full", penalty="laplacian")
_METHODS: Mapping[str, Method] = {
    "chain": LINEAR["chain, edge"],
    "full": LINEAR["full, edge"],
    "Laplacian": Method("neighbours alike", _LAPLACIAN, lambda size: _weighed(nus(size))),
    "full, Gaussian": Method("over a kernel", partial(ConvexHullRanker, order="full", kernel="rbf"), _gaussian),
    "Laplacian, Gaussian": Method(
        "neighbours alike, over a kernel", partial(_LAPLACIAN, kernel="rbf"), lambda size: _weighed(_gaussian(size))
    ),
}


# --------------------------------------------------------------------------------------------------
# Draws.


def run_few_labels(run: PaperRun) -> tuple[Record, ...]:
    """Try every method on a half of the rows, a few of them labelled, and judge it on the other half."""
    tables = {name: read_bins(run.data, name) for name in DATA_SETS} | {_SPIRAL: spiral(_N_SPIRAL)}
    pieces: list[Piece] = []
    for name, table in sorted(tables.items(), key=lambda each: -len(each[1])):
        n_repeats = 1 if run.quick else _N_REPEATS
        for split in folds(table.grades(), n_folds=2, n_repeats=n_repeats, seed=PROTOCOL.seed):
            for n_labels in _LABELS[:2] if run.quick else _LABELS:
                drawn = draw_labels(table, split, n_labels)
                if drawn is not None:
                    called, task = f"{name}{_OF}{n_labels}", Task(drawn[0])
                    pieces += [trial_piece(called, task, drawn[1], each, method) for each, method in _METHODS.items()]
                    pieces.append(searched_piece(called, task, drawn[1]))
    return run.pieces(pieces)


def draw_labels(table: Table, split: Split, n_labels: int) -> tuple[Table, Split] | None:
    """Keep the labels of a few rows of each class; None where that leaves too few rows without one.

    More labels hold the fewer. The table is of the rows that take part alone.
    """
    assert table.y is not None
    rng = np.random.default_rng([PROTOCOL.seed, split.repeat, split.fold])
    shuffled, test = rng.permutation(split.train), rng.permutation(split.test)[:_MOST_TEST]
    of_class = [shuffled[table.y[shuffled] == level] for level in np.unique(table.y)]
    if min(len(each) for each in of_class) < n_labels:
        return None
    labelled = np.concatenate([each[:n_labels] for each in of_class])
    others = shuffled[~np.isin(shuffled, labelled)][:_MOST_UNLABELLED]
    if len(others) < _FEWEST_UNLABELLED:
        return None
    rows = np.concatenate([labelled, others, test])
    y = table.y[rows].astype(float)
    y[len(labelled) : len(labelled) + len(others)] = np.nan
    n_train = len(labelled) + len(others)
    part = replace(table.take(rows), y=y)
    return part, Split(split.repeat, split.fold, np.arange(n_train), np.arange(n_train, len(rows)))


_FEWEST_UNLABELLED = 10


def spiral(n_rows: int) -> Table:
    """Make rows along a spiral, the grade rising with the way: near rows are alike, far ones need not be."""
    rng = np.random.default_rng(0)
    turn = rng.uniform(1.5 * np.pi, 4.5 * np.pi, n_rows)
    X = turn[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]) + 0.5 * rng.standard_normal((n_rows, 2))
    return in_bins(Table(X=pl.DataFrame(X, schema=["x", "y"]), y=turn, source=_SPIRAL))


# --------------------------------------------------------------------------------------------------
# Tables: a line a data set, a column for each number of labels.


_CONTRASTS = {
    "Laplacian less none, linear": ("Laplacian", "full"),
    "Laplacian less none, over a Gaussian kernel": ("Laplacian, Gaussian", "full, Gaussian"),
    "Graph: chain less full, linear": ("chain", "full"),
    "Graph: the best searched less full, linear": (BEST, "full"),
}


def few_labels_lines(records: Sequence[Record]) -> Iterator[str]:
    """Write what few labels give, and what Laplacian and search add."""
    trials = Trials(records)
    yield (
        "A half of the rows (at most 2,000 of it) is for the test; of the other half, 5 to 50 rows of each of the five "
        f"classes keep their label and up to {_MOST_UNLABELLED} others are there without one. ν, the kernel's width "
        "and the Laplacian's weight (0.1, 1 or 10; 10 neighbours) are chosen by 3-fold cross-validation over the "
        "labelled rows. Slacks for each row and edge. The Wilcoxon statistic in percent, the mean over "
        f"{trials.n_splits} draws:"
    )
    yield ""
    labels = [n for n in _LABELS if any(record.data.endswith(f"{_OF}{n}") for record in records)]
    names = [name for name in (*DATA_SETS, _SPIRAL) if any(record.data.startswith(name + _OF) for record in records)]
    yield "| data | " + " | ".join(f"{kind}, {n} a class" for kind in ("linear", "Gaussian") for n in labels) + " |"
    yield "| --- " * (1 + 2 * len(labels)) + "|"
    for name in names:
        means = (trials.mean(f"{name}{_OF}{n}", each) for each in ("full", "full, Gaussian") for n in labels)
        yield f"| {name} | " + " | ".join("–" if np.isnan(mean) else f"{mean:.1f}" for mean in means) + " |"
    yield ""
    yield (
        "Differences in points. The line over the sets, without the spiral, has their mean, on how many the first is "
        "ahead, and the p-value of Wilcoxon's signed-rank test over them, adjusted by Holm's method for all such "
        "tests here (none with fewer than five sets). The spiral is made so that near rows are alike and far ones "
        "tell nothing; in brackets, in how many draws the first is ahead."
    )
    yield ""
    yield from _differences(trials, names, labels)
    yield "How often the search chose chain, two steps and full, over all sets but the spiral:"
    yield ""
    yield "| " + " | ".join(f"{n} a class" for n in labels) + " |"
    yield "| --- " * len(labels) + "|"
    yield "| " + " | ".join(_all_chosen(trials, names, n) for n in labels) + " |"


def _differences(trials: Trials, names: Sequence[str], labels: Sequence[int]) -> Iterator[str]:
    real = [name for name in names if name != _SPIRAL]
    means = {
        (title, n): {name: _mean(trials.differences(f"{name}{_OF}{n}", *pair)) for name in names}
        for title, pair in _CONTRASTS.items()
        for n in labels
    }
    over = {place: np.array([each[name] for name in real]) for place, each in means.items()}
    p_values = [signed_rank_p(each[~np.isnan(each)]) for each in over.values()]
    adjusted = dict(zip(over, holm(p_values).tolist(), strict=True))
    for title in _CONTRASTS:
        yield f"| {title} | " + " | ".join(f"{n} a class" for n in labels) + " |"
        yield "| --- " * (1 + len(labels)) + "|"
        for name in names:
            cells = ("–" if np.isnan(means[title, n][name]) else signed(means[title, n][name]) for n in labels)
            if name == _SPIRAL:
                cells = (_with_draws(trials.differences(f"{name}{_OF}{n}", *_CONTRASTS[title])) for n in labels)
            yield f"| {name} | " + " | ".join(cells) + " |"
        totals = (_over(over[title, n], adjusted[title, n]) for n in labels)
        yield "| over the sets | " + " | ".join(totals) + " |"
        yield ""


def _over(differences: Floats, p_value: float) -> str:
    known = differences[~np.isnan(differences)]
    if not len(known):
        return "–"
    told = f"{signed(float(known.mean()))}, {int((known > 0).sum())} of {len(known)}"
    return told if np.isnan(p_value) else f"{told}, {write_p_value(p_value)}"


def _with_draws(differences: Floats) -> str:
    if not len(differences):
        return "–"
    return f"{signed(float(differences.mean()))} ({int((differences > SAME).sum())} of {len(differences)})"


def _mean(differences: Floats) -> float:
    return float(differences.mean()) if len(differences) else float("nan")


def _all_chosen(trials: Trials, names: Sequence[str], n_labels: int) -> str:
    found = (chosen(trials, f"{name}{_OF}{n_labels}", BEST) for name in names if name != _SPIRAL)
    return ", ".join(str(int(each)) for each in np.sum([[int(n) for n in each.split(", ")] for each in found], axis=0))
