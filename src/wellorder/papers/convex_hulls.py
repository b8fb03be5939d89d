"""Ranking by convex hulls: accuracy and run time on nine data sets, and what a chain costs against the full graph."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..data import Table
from ..estimators import ConvexHullRanker, RankSVM
from ..evaluation import GradedTask, Method, Protocol, Record, RecordFile, Size, Split, folds, run_trial, trial_key
from ..evaluation.size import Grid
from .binned import equal_bins
from .convex_hulls_tables import HullTables
from .explicit_pairs import ExplicitPairs
from .gaussian_process import GaussianProcess
from .pointwise import Pointwise
from .regression_sets import read_set
from .running import Piece, Progress, run_pieces

DATA_SETS = {
    "Abalone": ("abalone/abalone.arff", "Class_Rings"),
    "Airplane companies": ("stocks/stock.arff", "company10"),
    "Auto-MPG": ("auto-mpg/autoMpg.arff", "class"),
    "CA housing": ("california-housing/cal.housing.arff.gz", "medianHouseValue"),
    "Boston housing": ("boston-housing/housing.arff", "class"),
    "Machine-CPU": ("machine-cpu/machine.cpu.arff", "class"),
    "Pyrimidines": ("pyrimidines/pyrim.arff", "activity"),
    "Triazines": ("triazines/triazines.arff", "activity"),
    "WI breast cancer": ("wpbc/wisconsin.arff", "time"),
}
"""The paper's Table 1: where each lies, and its target."""

_PROTOCOL = Protocol("rows", 10, 1, 3, 0, "wmw", ("wmw",))


def _nus(size: Size) -> Grid:
    return {"nu": [0.01, 0.1, 1.0, 10.0]}


def _costs(size: Size) -> Grid:
    return {"C": [0.01, 0.1, 1.0, 10.0]}


METHODS = {
    "chain, row": Method("the paper's", lambda: ConvexHullRanker(order="chain", slacks="row"), _nus),
    "full, row": Method("the paper's", lambda: ConvexHullRanker(order="full", slacks="row"), _nus),
    "chain, edge": Method("a slack for each row and edge", lambda: ConvexHullRanker(order="chain"), _nus),
    "full, edge": Method("a slack for each row and edge", lambda: ConvexHullRanker(order="full"), _nus),
    "RankSVM": Method("all pairs, none written out", RankSVM, _costs),
    "explicit pairs": Method("all pairs, written out", ExplicitPairs, _costs),
    "Gaussian process": Method("in the place of the IVM", lambda: Pointwise(GaussianProcess())),
}


def reproduce(
    data: str | os.PathLike[str],
    *,
    quick: bool = False,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> HullTables:
    """Run Figure 3 again.

    Parameters
    ----------
    data : path
        The folder with the data sets, one folder each (see ``DATA_SETS``).
    quick : bool, default=False
        2 of the 10 folds.
    records, n_jobs, progress
        As :class:`.registry.Reproduce` says.
    """
    tables = {name: _read(Path(data), name) for name in DATA_SETS}
    pieces = [
        _fold(name, table, split, method)
        for name, table in sorted(tables.items(), key=lambda each: -len(each[1]))
        for split in folds(table.grades(), n_folds=_PROTOCOL.n_folds, seed=_PROTOCOL.seed)
        if not quick or split.fold < 2
        for method in METHODS
    ]
    made, _ = run_pieces(pieces, RecordFile(records), n_jobs, progress)
    sizes = {name: (len(table), len(table.feature_names)) for name, table in tables.items()}
    return HullTables(made, sizes, tuple(METHODS))


def _fold(name: str, table: Table, split: Split, method: str) -> Piece:
    key = trial_key(GradedTask(table), method, METHODS[method], split, _PROTOCOL)
    return Piece(name, {method: key}, partial(_trial, name, table, split))


def _trial(name: str, table: Table, split: Split, methods: list[str]) -> list[Record]:
    task = GradedTask(table)
    made = [run_trial(task, method, METHODS[method], split, _PROTOCOL) for method in methods]
    return [replace(record, data=name, swaps=None) for record in made]


def _read(folder: Path, name: str) -> Table:
    """Read a data set, its target cut into five bins of about equally many rows."""
    table = read_set(folder, name, *DATA_SETS[name])
    assert table.y is not None
    return replace(table, y=equal_bins(table.y.astype(float)) + 1.0)
