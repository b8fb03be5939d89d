"""Every method on every data set of the five papers, and what can be told apart there: no paper's table, but ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse as sp

from ..data import ComparisonTable, DataError, Table, read
from ..evaluation import Progress as Trial
from ..evaluation import compare
from ..evaluation.tasks import AnyTable
from ..order import Comparisons
from ..ratings import FEATURES
from .chess import read_chess
from .comparisons_simulation import Compared
from .leaderboards_tables import Leaderboards
from .letor import BENCHMARKS, N_PARTS
from .regression_sets import read_set
from .running import Progress
from .sushi import read_sushi
from .swapped_pairs import DATA_SETS as REGRESSION

_MONTHS = 12
_BUDGET, _QUICK_BUDGET = 1800.0, 20.0
"""Seconds a data set."""

_QUICK = ("MachineCPU", "Wine, red", "Sushi")


def reproduce(
    data: str | os.PathLike[str],
    *,
    quick: bool = False,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> Leaderboards:
    """Compare every method that suits it on each data set, in two rounds of five folds.

    Parameters
    ----------
    data : path
        The folder with the data sets, one folder each (see ``DATA_SETS``).
    quick : bool, default=False
        Three of the sets, and 20 seconds each.
    records, n_jobs, progress
        As :class:`.registry.Reproduce` says.
    """
    names = _QUICK if quick else tuple(DATA_SETS)
    boards = {}
    for number, name in enumerate(names):
        table = DATA_SETS[name](Path(data))
        told = partial(_tell, progress, name, number, len(names)) if progress is not None else None
        budget = _QUICK_BUDGET if quick else _BUDGET
        boards[name] = compare(table, time_budget=budget, records=records, n_jobs=n_jobs, progress=told)
    return Leaderboards(boards)


def _tell(progress: Progress, name: str, number: int, n_sets: int, trial: Trial) -> None:
    """Count data sets, not trials: how many trials there will be shows only as they go."""
    progress(number, n_sets, f"{name}, {trial.record.method}")


def _wine(data: Path) -> Table:
    """Read the red wines; their file has no header line."""
    path = data / "ordinal" / "winequality-red.csv"
    if not path.exists():
        raise DataError(str(path), "the wines are not there; name the folder they lie in with --data")
    frame = pl.read_csv(path, has_header=False, schema=dict.fromkeys(_WINE, pl.Float64))
    return Table(str(path), frame.drop("quality"), frame["quality"].to_numpy(), target="quality")


def _letor(name: str, data: Path) -> Table:
    each = BENCHMARKS[name]
    paths = [data / each.folder / f"Fold{number}" / each.name for number in range(1, N_PARTS + 1)]
    for path in paths:
        if not path.exists():
            raise DataError(str(path), f"a part of {name} is not there; name the folder with --data")
    table = read([str(path) for path in paths])
    assert isinstance(table, Table)
    return table


def _sushi(data: Path) -> ComparisonTable:
    """Read the sushis, the two of a pair turned round at random: the paper's pairs have the better one to the right."""
    return _listed(str(data / "sushi"), read_sushi(data / "sushi"), [f"x{j}" for j in range(14)])


def _chess_players(data: Path) -> ComparisonTable:
    """Read the games of the last months; nothing is known of a player but the name."""
    games = read_chess(data / "chess-kaggle-elo")
    late = games.month > games.month.max() - _MONTHS
    names, number = np.unique(games.players[late], return_inverse=True)
    n = len(names)
    identity = sp.csr_array((np.ones(n), np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32)), shape=(n, n))
    items = Table("players", identity, ids=names.astype(object))
    left, right = number.reshape(-1, 2).T
    compared = Comparisons(left, right, games.compared.outcome[late])
    return ComparisonTable(str(data / "chess-kaggle-elo"), items, compared, described=False)


def _chess_records(data: Path) -> ComparisonTable:
    """Read the same games; a player is what was known of him or her before each: ratings, wins, form."""
    games = read_chess(data / "chess-kaggle-elo")
    late = games.month > games.month.max() - _MONTHS
    known = Compared(games.compared.pairs[late], games.compared.outcome[late])
    return _listed(str(data / "chess-kaggle-elo"), known, list(FEATURES))


def _listed(source: str, compared: Compared, columns: list[str]) -> ComparisonTable:
    """Make two items of each pair, left and right drawn by lot."""
    n = len(compared.outcome)
    turned = np.random.default_rng(0).random(n) < 0.5
    left = np.where(turned, 2 * np.arange(n) + 1, 2 * np.arange(n))
    right = 4 * np.arange(n) + 1 - left
    outcome = np.where(turned, -compared.outcome, compared.outcome)
    frame = pl.DataFrame(compared.pairs.reshape(2 * n, -1), schema=columns, orient="row")
    items = Table(source, frame, ids=np.array([f"{k // 2}{'ab'[k % 2]}" for k in range(2 * n)], dtype=object))
    return ComparisonTable(source, items, Comparisons(left, right, outcome), described=True)


def _regression(name: str, data: Path) -> Table:
    each = REGRESSION[name]
    return read_set(data, name, each.path, each.target)


_WINE = (
    *("fixed_acidity", "volatile_acidity", "citric_acid", "residual_sugar", "chlorides", "free_sulphur_dioxide"),
    *("total_sulphur_dioxide", "density", "ph", "sulphates", "alcohol", "quality"),
)

DATA_SETS: dict[str, Callable[[Path], AnyTable]] = {
    **{name: partial(_regression, name) for name in REGRESSION},
    "Wine, red": _wine,
    "OHSUMED": partial(_letor, "OHSUMED, 45 features"),
    "MQ2008": partial(_letor, "MQ2008"),
    "Sushi": _sushi,
    "Chess, players": _chess_players,
    "Chess, records": _chess_records,
}
"""The sets of the first paper's Table 1, then those of the others; each is read from a folder."""
