"""Lemma 1 of 'swapped pairs': the labelling that violates most is found in max{O(n log n), O(nr)}, no pair listed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ...evaluation import Record
from ...losses import Hinge, risk_at
from ...order import Grades
from ..running import PaperPart, PaperRun, Piece, record_key
from .protocol import table_head, table_row

_ROWS = (10_000, 100_000, 1_000_000)
_LEVELS = (2, 20, 200, 2_000)
_ALL = "as many as rows"
_N_TIMED = 3


def _run(run: PaperRun) -> Sequence[Record]:
    """Time one search for the most violated labelling, one after the other."""
    keys = {
        n_rows: record_key(f"swapped-pairs/argmax/{n_rows}", _LEVELS, _N_TIMED)
        for n_rows in (_ROWS[:1] if run.quick else _ROWS)
    }
    return run.pieces([Piece(f"{n:,} rows", {"argmax": key}, partial(_time, n, key)) for n, key in keys.items()])


def _time(n_rows: int, key: str, methods: list[str]) -> list[Record]:
    """Return seconds of the processor, the best of some, by the number of levels; the first may wait for a compiler."""
    rng = np.random.default_rng(0)
    target = rng.standard_normal(n_rows)
    scores = target + rng.standard_normal(n_rows)
    found = {}
    for n_levels in (*_LEVELS, n_rows):
        place = np.empty(n_rows, dtype=np.int64)
        place[np.argsort(target)] = np.arange(n_rows)
        pairs = Grades(place * n_levels // n_rows).pairs
        seconds = []
        for _ in range(1 + _N_TIMED):
            started = time.process_time()
            risk = risk_at(Hinge(steepness=2.0), scores, pairs)
            _ = risk.value, risk.gradient
            seconds.append(time.process_time() - started)
        found[_ALL if n_levels == n_rows else f"{n_levels}"] = round(min(seconds[1:]), 6)
    return [Record(key, "drawn", "argmax", 0, 0, 0, n_rows, 0, found, {})]


def _lines(records: Sequence[Record]) -> Iterator[str]:
    yield (
        "Milliseconds of the processor to find the labelling of all pairs that violates most, and its cutting plane, "
        f"for one vector of scores; the best of {_N_TIMED}. The paper's Lemma 1: max{{O(n log n), O(nr)}} for n rows "
        "of r levels. No pair is listed."
    )
    yield ""
    levels = list(records[0].metrics)
    names = [each if each == _ALL else f"{int(each):,} levels" for each in levels]
    yield from table_head(["rows", "pairs, at most", *names])
    for record in records:
        cells = [f"{1000 * seconds:.3g}" for seconds in record.metrics.values()]
        yield table_row([f"{record.n_train:,}", f"{record.n_train * (record.n_train - 1) // 2:,}", *cells])
    if len(records) > 1:
        first, last = records[0], records[-1]
        more = np.log(last.n_train / first.n_train)
        rates = [float(np.log(last.metrics[each] / first.metrics[each]) / more) for each in levels]
        yield ""
        yield (
            f"From {first.n_train:,} to {last.n_train:,} rows the time grows as their power {min(rates):.2f} to "
            f"{max(rates):.2f}."
        )


PARTS = {"argmax": PaperPart("Lemma 1: the most violated labelling, timed", _run, _lines)}
