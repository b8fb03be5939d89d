"""How the time of a fit grows with the rows: the paper's claim is that hulls scale where pairs do not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...data import Table
from ...estimators import ConvexHullRanker, RankSVM
from ...evaluation import Record, Task
from ..running import PaperRun, Piece, record_key
from ..swapped_pairs import Pointwise
from .trials import N_BINS, ExplicitPairs, GaussianProcess, in_bins, read_target

_DATA = "House 8L"
_ROWS = (500, 1_000, 2_000, 4_000, 8_000, 16_000)
_QUICK = (500, 1_000)
_LEAST = 2_000
"""Rows from where on a rate of growth is read off: below, much of the time is a fit's fixed costs."""
_N_TIMED = 3
_LONG = 5.0
"""Seconds of a fit that is timed once."""

_METHODS: Mapping[str, tuple[Callable[[], Any], int]] = {
    "chain, row": (partial(ConvexHullRanker, order="chain", slacks="row"), 16_000),
    "full, row": (partial(ConvexHullRanker, order="full", slacks="row"), 16_000),
    "chain, edge": (partial(ConvexHullRanker, order="chain"), 16_000),
    "full, edge": (partial(ConvexHullRanker, order="full"), 16_000),
    "RankSVM": (RankSVM, 16_000),
    "explicit pairs": (ExplicitPairs, 2_000),
    "full, row, Gaussian": (partial(ConvexHullRanker, order="full", slacks="row", kernel="rbf"), 2_000),
    "full, edge, Gaussian": (partial(ConvexHullRanker, order="full", kernel="rbf"), 16_000),
    "RankSVM, Gaussian": (partial(RankSVM, kernel="rbf"), 16_000),
    "Gaussian process, exact": (lambda: Pointwise(GaussianProcess(n_exact=4_000)), 4_000),
}
"""Each with its defaults, and the most rows it is timed on."""


_LEVELS = (5, 10, 50, 200, 1_000)
_GRAPHS = ("chain, edge", "full, edge", "RankSVM")
_BINS = "bins"


def run_growth(run: PaperRun) -> tuple[Record, ...]:
    """Time one fit of each method on more and more rows of one data set, and on more and more levels."""
    target = read_target(run.data, _DATA)
    rows = _QUICK if run.quick else _ROWS
    fingerprint = Task(target).fingerprint()
    asked = [(method, n, N_BINS) for n in reversed(rows) for method, (_, most) in _METHODS.items() if n <= most]
    asked += [(method, rows[-1], n) for n in reversed(_LEVELS) if n < rows[-1] for method in _GRAPHS if n != N_BINS]
    pieces = []
    for method, n_rows, n_bins in asked:
        key = record_key(f"convex-hulls/growth/{method}/{n_rows}/{n_bins}", fingerprint)
        pieces.append(Piece(f"{n_rows:,} rows", {method: key}, partial(_time, target, n_rows, n_bins, key)))
    return run.pieces(pieces)


def _time(target: Table, n_rows: int, n_bins: int, key: str, methods: list[str]) -> list[Record]:
    """Fit some rows once before the clock is started: a first fit may wait for a compiler."""
    (method,) = methods
    drawn = np.sort(np.random.default_rng(0).permutation(len(target))[:n_rows])
    table = in_bins(target.take(drawn), n_bins)
    part = Task(table).training_part(np.arange(len(table)))
    make = _METHODS[method][0]
    part.take(np.arange(min(len(table), 200))).fit(make())
    seconds: list[float] = []
    while not seconds or (len(seconds) < _N_TIMED and seconds[0] < _LONG):
        model = make()
        started = time.perf_counter()
        part.fit(model)
        seconds.append(time.perf_counter() - started)
    median = round(float(np.median(seconds)), 6)
    levels = {_BINS: n_bins, "levels": part.size.n_levels}
    return [Record(key, _DATA, method, 0, 0, 0, n_rows, 0, {}, levels, fit_seconds=median)]


def growth_lines(records: Sequence[Record]) -> Iterator[str]:
    """Write seconds by rows with the exponent of their growth, and by levels."""
    found = {(each.method, each.n_train): each.fit_seconds for each in records if each.params[_BINS] == N_BINS}
    rows = sorted({each.n_train for each in records})
    yield (
        f"Seconds of one fit to rows of {_DATA}, drawn at random, in five bins; each method with its own defaults: "
        f"the median of {_N_TIMED} fits (of one, where it takes more than {_LONG:g} s). The rate is the exponent of "
        f"the rows, read off {_LEAST:,} rows and more. Pairs written out are refused beyond, slacks a row over a "
        "kernel and the exact Gaussian process (tuned on 500 rows) are not timed further; the other Gaussian kernels "
        "are exact, too."
    )
    yield ""
    yield "| method | " + " | ".join(f"{n:,}" for n in rows) + " | rate |"
    yield "| --- " * (2 + len(rows)) + "|"
    for method in _METHODS:
        mine = {n: found[method, n] for n in rows if (method, n) in found}
        large = {n: seconds for n, seconds in mine.items() if n >= _LEAST}
        rate = "–"
        if len(large) > 1:
            rate = f"{np.polyfit(np.log(list(large)), np.log(list(large.values())), 1)[0]:.1f}"
        cells = (f"{mine[n]:.2g}" if n in mine else "–" for n in rows)
        yield f"| {method} | " + " | ".join(cells) + f" | {rate} |"
    yield ""
    yield from _level_lines([each for each in records if each.n_train == rows[-1]])


def _level_lines(records: Sequence[Record]) -> Iterator[str]:
    """Write seconds by the number of levels: a full graph of r levels has r (r − 1) / 2 edges, a chain r − 1."""
    found = {(each.method, each.params[_BINS]): each for each in records}
    bins = sorted({n for _, n in found})
    levels = {n: next(each.params["levels"] for (_, mine), each in found.items() if mine == n) for n in bins}
    yield f"The same by levels, of {records[0].n_train:,} rows (equal values share a bin):"
    yield ""
    yield "| method | " + " | ".join(f"{levels[n]:,}" for n in bins) + " |"
    yield "| --- " * (1 + len(bins)) + "|"
    for method in _GRAPHS:
        yield f"| {method} | " + " | ".join(f"{found[method, n].fit_seconds:.2g}" for n in bins) + " |"
