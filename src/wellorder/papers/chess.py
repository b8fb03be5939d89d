"""Chess games as 'support vector comparison machines' uses them: features from earlier games, windows of 12 months.

In place of the paper's 1.8 million games, the 65,053 of 'Elo versus the rest of the world', from the same collection:
so few that hardly anybody has 10 games in any four months.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..data import DataError
from ..estimators import CompareSVM
from ..ratings import FEATURES, Elo, Glicko, match_features
from ..spaces import Kernel
from ..sweeps import Array, Ints
from .comparisons_search import area, fit_quietly
from .comparisons_simulation import Compared

FILTERS = {"in the train part": "10 games in the four months", "so far": "10 games so far"}
"""Whose games are taken: the paper's rule, and one for thin data."""

N_WINDOWS = 8
COSTS = tuple(10.0**power for power in range(-20, 1, 2))
KERNELS = {
    "linear": (Kernel("linear"),),
    "polynomial": tuple(Kernel("poly", gamma=1 / len(FEATURES), degree=degree, coef0=1.0) for degree in (1, 2, 3, 4)),
    "Gaussian": tuple(Kernel("rbf", gamma=gamma) for gamma in (0.1, 1.0, 10.0)),
}
"""The paper's grids."""

RATED = ("Elo", "Glicko", "baseline")
LEARNED = {f"{name}{part}": name for part in (", ratings", "") for name in KERNELS}
"""Models of the two ratings alone, then of all features."""

_LENGTH, _TRAIN, _SEARCH, _LEAST = 12, 4, 3, 10
_SPLITS = (0.5, 0.75, 0.8, 0.85)


class Games(NamedTuple):
    """Games with what was known of both players before each: in order of time."""

    month: Ints
    players: Ints
    """Of shape (n, 2): white, who is left, and black."""
    compared: Compared


class Window(NamedTuple):
    """A train part of four months, the first three of them for the search, and a test part of eight."""

    search: Compared
    train: Compared
    test: Compared


def read_chess(folder: Path) -> Games:
    """Read the games, and stream ratings and records: Elo from 1200 by FIDE's rules, Glicko; a month is one period."""
    path = folder / "training_data.csv.gz"
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            table = np.loadtxt(lines, delimiter=",", skiprows=1, ndmin=2)
    except OSError as error:
        raise DataError(str(path), f"the chess games are not there: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(str(path), f"this is not a list of games: {error}") from None
    table = table[np.argsort(table[:, 0], kind="stable")]
    month, white, black = table[:, :3].T.astype(np.int64)
    outcome = np.rint(1.0 - 2.0 * table[:, 3]).astype(np.int64)
    known = match_features(white, black, outcome, time=month, elo=Elo("fide", start=1200.0), glicko=Glicko())
    pairs = np.stack([known.items[known.left], known.items[known.right]], axis=1)
    return Games(month, np.column_stack([white, black]), Compared(pairs, outcome))


def window(games: Games, number: int, taken: str) -> Window:
    """Return a window of 12 months, with the games of players who have at least 10 as the filter counts them.

    First matches, before which nothing is known, are counted, but left out of the train part.
    """
    start = int(games.month.min()) + _LENGTH * number
    end = start + _TRAIN
    counted = games.month < end if taken == "so far" else (games.month >= start) & (games.month < end)
    played = np.bincount(games.players[counted].ravel(), minlength=int(games.players.max()) + 1)
    enough: Array = np.all(played[games.players] >= _LEAST, axis=1)
    known: Array = np.all(games.compared.pairs[:, :, FEATURES.index("games")] > 0, axis=1)

    def part(first: int, last: int, which: Array) -> Compared:
        return games.compared.take(np.flatnonzero((games.month >= first) & (games.month < last) & which))

    return Window(
        part(start, start + _SEARCH, enough & known),
        part(start, end, enough & known),
        part(end, start + _LENGTH, enough),
    )


def rated(method: str, test: Compared) -> float:
    """Return the test area of a rating by itself, or of naming white the winner of every game.

    Always to predict a draw, the paper's baseline, has no curve to speak of: one point, (0, 0).
    """
    if method == "baseline":
        return area(test, np.full(len(test.outcome), -1.0))
    column = FEATURES.index(method.lower())
    return area(test, test.pairs[:, 1, column] - test.pairs[:, 0, column])


def learned(method: str, games: Window, costs: tuple[float, ...] = COSTS) -> tuple[float, dict[str, float]]:
    """Search one kernel's grid on the first months, fit its best model on the train part; return the test area."""
    columns = [FEATURES.index(name) for name in ("elo", "glicko")] if method.endswith("ratings") else slice(None)
    search, train, test = (Compared(part.pairs[:, :, columns], part.outcome) for part in games)
    kernels = KERNELS[LEARNED[method]]
    found = np.zeros((len(kernels), len(costs)))
    n_splits = 0
    for fit, validation in _splits(search):
        n_splits += 1
        for i, kernel in enumerate(kernels):
            found[i] += list(_areas(kernel, costs, fit, validation))
    if not _has_both(train) or n_splits == 0:
        return np.nan, {}
    k, c = divmod(int(np.argmax(found)), len(costs))
    best = kernels[k]
    value = next(_areas(best, (costs[c],), train, test))
    return value, {"C": costs[c], "degree": best.degree, "gamma": best.gamma, "validation": found[k, c] / n_splits}


def _areas(kernel: Kernel, costs: tuple[float, ...], train: Compared, test: Compared) -> Iterator[float]:
    """Fit a model for each cost; the columns are standardised by the train part."""
    mean, spread = train.items.mean(axis=0), train.items.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    here, there = (train.items - mean) / spread, (test.items - mean) / spread
    K, other = kernel.matrix(here, here), kernel.matrix(there, here)
    for C in costs:
        yield area(test, fit_quietly(CompareSVM(C, kernel="precomputed"), train, K).compare(test.between(other)))


def _splits(games: Compared) -> Iterator[tuple[Compared, Compared]]:
    """Cut the games in time; a cut that leaves a part without draws, or with nothing else, is left out."""
    n = len(games.outcome)
    for share in _SPLITS:
        first = int(share * n)
        parts = games.take(slice(0, first)), games.take(slice(first, n))
        if all(_has_both(part) for part in parts):
            yield parts


def _has_both(games: Compared) -> bool:
    return bool((games.outcome == 0).any() and (games.outcome != 0).any())
