"""Support vector comparison machines: Figures 3 to 6, on simulated pairs, sushi and chess."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from ..evaluation import Record, RecordFile
from ..evaluation.versions import versions
from ..sweeps import Floats
from ..sweeps.dispatch import prefer_compiled
from . import chess
from .chess import FILTERS, LEARNED, RATED, Games, read_chess
from .comparisons_search import COSTS, CRITERIA, METHODS, WIDTHS, judge, search
from .comparisons_simulation import NORMS, SIDE, Compared, simulate, true_rank
from .comparisons_tables import ComparisonFigures, Pattern
from .sushi import read_sushi

DATA = (*NORMS, "sushi")
TRUTH = "truth"
N_SETS = 4
"""Data sets of each kind, each with its own train, validation and test pairs."""

_PATTERN = ("‖x‖₁²", 100, 0.5)
"""Figure 3: which ranking function, how many pairs, and the share of ties."""


@dataclass(frozen=True)
class Plan:
    """What is run."""

    sizes: tuple[int, ...] = (50, 100, 200, 400, 800)
    ties: float = 0.5
    """Figure 4: numbers of pairs, and the share of ties among them."""
    size: int = 400
    shares: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)
    """Figure 5: the number of pairs, and shares of ties."""
    n_sets: int = N_SETS
    windows: tuple[int, ...] = tuple(range(chess.N_WINDOWS))

    def cells(self) -> list[Cell]:
        """Return what to draw: a cell that both figures need is drawn once."""
        kinds = dict.fromkeys([(n, self.ties) for n in self.sizes] + [(self.size, share) for share in self.shares])
        return [Cell(data, n, ties, seed) for n, ties in kinds for data in DATA for seed in range(self.n_sets)]


QUICK = Plan(sizes=(50, 100, 200), size=200, shares=(0.1, 0.5, 0.9), n_sets=2, windows=(3, 6))


class Cell(NamedTuple):
    """A train, a validation and a test set of n pairs each, with the same share of ties."""

    data: str
    n: int
    ties: float
    seed: int

    def methods(self) -> tuple[str, ...]:
        """Return what is judged on it."""
        return (*METHODS, TRUTH) if self.data in NORMS else tuple(METHODS)


class ChessCell(NamedTuple):
    """A window of chess games."""

    taken: str
    window: int
    method: str


def reproduce(
    data: str | os.PathLike[str],
    *,
    quick: bool = False,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Callable[[int, int, str], None] | None = None,
) -> ComparisonFigures:
    """Run the paper's figures again.

    Parameters
    ----------
    data : path
        The folder with ``sushi`` and ``chess-kaggle-elo``.
    quick : bool, default=False
        2 data sets of each kind instead of 4, at most 200 pairs, 2 of 8 chess windows.
    records : path, optional
        Where to keep a JSON line a method and data set, and to go on from.
    n_jobs : int, default=-1
        Processes; all processors unless given.
    progress : callable, optional
        Called with what is done, what is planned, and what was last.
    """
    return run(Path(data), QUICK if quick else Plan(), RecordFile(records), n_jobs, progress)


def run(
    data: Path, plan: Plan, kept: RecordFile, n_jobs: int, progress: Callable[[int, int, str], None] | None
) -> ComparisonFigures:
    """Compute what a plan asks for and is not kept yet."""
    sushi, games = read_sushi(data / "sushi"), read_chess(data / "chess-kaggle-elo")
    cells = {(cell, method): _key(cell, method) for cell in plan.cells() for method in cell.methods()}
    matches = {
        cell: _key(cell, cell.method)
        for taken in FILTERS
        for number in plan.windows
        for cell in (ChessCell(taken, number, method) for method in (*RATED, *LEARNED))
    }
    keys = [*cells.values(), *matches.values()]
    used = {key: kept[key] for key in keys if key in kept}
    waiting: dict[Cell, list[str]] = {}
    for (cell, method), key in cells.items():
        if key not in kept:
            waiting.setdefault(cell, []).append(method)
    missing = [cell for cell, key in matches.items() if key not in kept]
    pattern: Pattern | None = None
    for found in _run(sushi, games, waiting, missing, n_jobs):
        if isinstance(found, Pattern):
            pattern = found
        else:
            for record in found:
                kept.append(record)
                used[record.key] = record
        if progress is not None:
            name = "figure 3" if isinstance(found, Pattern) else found[0].data
            progress(len(used) + (pattern is not None), len(keys) + 1, name)
    assert pattern is not None
    return ComparisonFigures(tuple(used[key] for key in keys), plan, pattern, DATA, (*METHODS, TRUTH))


def _run(
    sushi: Compared, games: Games, waiting: dict[Cell, list[str]], missing: list[ChessCell], n_jobs: int
) -> Iterator[Any]:
    """Compute the pattern and what is missing, the longest first, in any order."""
    jobs = [
        delayed(_trial)(cell, sushi if cell.data == "sushi" else None, methods)
        for cell, methods in sorted(waiting.items(), key=lambda each: -each[0].n)
    ]
    jobs += [delayed(_pattern)()]
    jobs += [delayed(_match)(cell, chess.window(games, cell.window, cell.taken)) for cell in missing]
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", mmap_mode="r")(jobs)


def _trial(cell: Cell, sushi: Compared | None, methods: list[str]) -> list[Record]:
    """Search each method on one train and validation set, and judge its choices on the test set."""
    train, validation, test = _draw(cell, sushi)
    started = time.perf_counter()
    with prefer_compiled():
        chosen = search(train, validation, [method for method in methods if method in METHODS])
    seconds = (time.perf_counter() - started) / max(len(chosen), 1)
    made = []
    for method in methods:
        if method == TRUTH:
            rank = true_rank(cell.data, test.pairs)
            metrics, params = judge(test, rank[:, 1] - rank[:, 0], 1.0), {}
        else:
            best = chosen[method]
            metrics = {criterion: best[criterion].judge(test)[criterion] for criterion in CRITERIA}
            params = {name: {"C": each.C, "gamma": each.gamma} for name, each in best.items()}
        made.append(
            Record(
                key=_key(cell, method),
                data=cell.data,
                method=method,
                repeat=cell.seed,
                fold=0,
                seed=cell.seed,
                n_train=cell.n,
                n_test=cell.n,
                metrics=metrics,
                params={"ties": cell.ties, **params},
                search_seconds=0.0 if method == TRUTH else seconds,
            )
        )
    return made


def _draw(cell: Cell, sushi: Compared | None) -> tuple[Compared, Compared, Compared]:
    """Draw three sets; of the sushi pairs, none is drawn twice."""
    rng = np.random.default_rng([cell.seed, DATA.index(cell.data), cell.n, round(100 * cell.ties)])
    n_ties = round(cell.ties * cell.n)
    n_decided = cell.n - n_ties
    if sushi is None:
        train, validation, test = (simulate(cell.data, n_ties, n_decided, rng) for _ in range(3))
        return train, validation, test
    ties, decided = (rng.permutation(np.flatnonzero((sushi.outcome == 0) == tied)) for tied in (True, False))
    train, validation, test = (
        sushi.take(
            rng.permutation(
                np.concatenate([ties[k * n_ties : (k + 1) * n_ties], decided[k * n_decided : (k + 1) * n_decided]])
            )
        )
        for k in range(3)
    )
    return train, validation, test


def _match(cell: ChessCell, games: chess.Window) -> list[Record]:
    """Judge one way of predicting games on the test part of one window."""
    started = time.perf_counter()
    with prefer_compiled():
        found, params = (
            (chess.rated(cell.method, games.test), {}) if cell.method in RATED else chess.learned(cell.method, games)
        )
    return [
        Record(
            key=_key(cell, cell.method),
            data=f"chess, {cell.taken}",
            method=cell.method,
            repeat=cell.window,
            fold=0,
            seed=0,
            n_train=len(games.train.outcome),
            n_test=len(games.test.outcome),
            metrics={"auc": found},
            params=params,
            search_seconds=time.perf_counter() - started,
        )
    ]


def _pattern() -> Pattern:
    """Learn Figure 3's pattern, and score a grid of points."""
    norm, n, ties = _PATTERN
    train, validation, _ = _draw(Cell(norm, n, ties, 0), None)
    side = np.linspace(-SIDE, SIDE, 61)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    with prefer_compiled():
        found = search(train, validation, ("rank", "rank2", "compare"))
    levels: dict[str, Floats] = {method: each["error"].scores(points) for method, each in found.items()}
    return Pattern(norm, train, side, true_rank(norm, points), levels)


def _key(cell: Cell | ChessCell, method: str) -> str:
    if isinstance(cell, Cell):
        home, made = (
            f"{cell.data}/{cell.n}/{cell.ties:g}/{cell.seed}",
            METHODS[method](1.0) if method in METHODS else "",
        )
    else:
        home, made = f"chess/{cell.taken}/{cell.window}", (chess.COSTS, chess.KERNELS)
    digest = hashlib.blake2b(repr((made, COSTS, WIDTHS, versions())).encode(), digest_size=12).hexdigest()
    return f"comparisons/{home}/{method}/{digest}"
