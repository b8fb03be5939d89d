"""How the time of a fit grows with the rows: the paper's claim is that hulls scale where pairs do not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..data import Table
from ..estimators import ConvexHullRanker, RankSVM
from ..evaluation import Record, Task
from .convex_hulls_trials import ExplicitPairs, GaussianProcess, read_bins
from .running import Piece, Run, record_key
from .swapped_pairs import Pointwise

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


def run_growth(run: Run) -> tuple[Record, ...]:
    """Time one fit of each method on more and more rows of one data set."""
    table = read_bins(run.data, _DATA)
    rows = _QUICK if run.quick else _ROWS
    fingerprint = Task(table).fingerprint()
    pieces = []
    for n_rows in reversed(rows):
        for method, (_, most) in _METHODS.items():
            if n_rows <= min(most, len(table)):
                key = record_key(f"convex-hulls/growth/{method}/{n_rows}", fingerprint)
                pieces.append(Piece(f"{n_rows:,} rows", {method: key}, partial(_time, table, n_rows, key)))
    return run.pieces(pieces)


def _time(table: Table, n_rows: int, key: str, methods: list[str]) -> list[Record]:
    """Fit some rows once before the clock is started: a first fit may wait for a compiler."""
    (method,) = methods
    drawn = np.sort(np.random.default_rng(0).permutation(len(table))[:n_rows])
    part = Task(table).training_part(drawn)
    make = _METHODS[method][0]
    part.take(np.arange(min(n_rows, 200))).fit(make())
    seconds: list[float] = []
    while not seconds or (len(seconds) < _N_TIMED and seconds[0] < _LONG):
        model = make()
        started = time.perf_counter()
        part.fit(model)
        seconds.append(time.perf_counter() - started)
    return [Record(key, _DATA, method, 0, 0, 0, n_rows, 0, {}, fit_seconds=round(float(np.median(seconds)), 6))]


def growth_lines(records: Sequence[Record]) -> Iterator[str]:
    """Write seconds by rows, and the exponent of their growth."""
    found = {(each.method, each.n_train): each.fit_seconds for each in records}
    rows = sorted({each.n_train for each in records})
    yield (
        f"Seconds of one fit to the first rows of {_DATA} in a random order, five bins, each method with its own "
        f"defaults: the median of {_N_TIMED} fits. The rate is the exponent of the rows, read off {_LEAST:,} rows and "
        "more. Pairs written out are refused beyond, slacks a row over a kernel are left out, and the exact Gaussian "
        "process, tuned on 500 rows, ends at 4,000; the other Gaussian kernels are exact."
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
