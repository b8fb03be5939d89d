"""Support vector comparison machines: Figures 3 to 6, on simulated pairs, sushi and chess."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..evaluation import Record, RecordFile
from ..sweeps import Floats
from . import chess
from .chess import FILTERS, LEARNED, RATED, read_chess
from .comparisons_search import COSTS, CRITERIA, METHODS, WIDTHS, judge, search
from .comparisons_simulation import NORMS, SIDE, Compared, simulate, true_rank
from .comparisons_tables import ComparisonFigures, Pattern
from .running import Piece, Progress, record_key, run_pieces
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


def reproduce(
    data: str | os.PathLike[str],
    *,
    quick: bool = False,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> ComparisonFigures:
    """Run the paper's figures again.

    Parameters
    ----------
    data : path
        The folder with ``sushi`` and ``chess-kaggle-elo``.
    quick : bool, default=False
        2 data sets of each kind instead of 4, at most 200 pairs, 2 of 8 chess windows.
    records, n_jobs, progress
        As :class:`.registry.Reproduce` says.
    """
    return run(Path(data), QUICK if quick else Plan(), RecordFile(records), n_jobs, progress)


def run(data: Path, plan: Plan, kept: RecordFile, n_jobs: int, progress: Progress | None) -> ComparisonFigures:
    """Compute what a plan asks for and is not kept yet."""
    sushi, games = read_sushi(data / "sushi"), read_chess(data / "chess-kaggle-elo")
    pieces = [
        Piece(
            each.data,
            {method: _key(each, method) for method in each.methods()},
            partial(_trial, each, sushi if each.data == "sushi" else None),
        )
        for each in sorted(plan.cells(), key=lambda each: -each.n)
    ]
    for taken in FILTERS:
        for number in plan.windows:
            window = chess.window(games, number, taken)
            cell = ChessCell(taken, number)
            pieces += [
                Piece("chess", {method: _key(cell, method)}, partial(_match, cell, window))
                for method in (*RATED, *LEARNED)
            ]
    made, drawn = run_pieces(pieces, kept, n_jobs, progress, {"figure 3": _pattern})
    return ComparisonFigures(made, plan, drawn["figure 3"], DATA, (*METHODS, TRUTH))


def _trial(cell: Cell, sushi: Compared | None, methods: list[str]) -> list[Record]:
    """Search each method on one train and validation set, and judge its choices on the test set."""
    train, validation, test = _draw(cell, sushi)
    started = time.perf_counter()
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


def _match(cell: ChessCell, games: chess.Window, methods: list[str]) -> list[Record]:
    """Judge ways of predicting games on the test part of one window."""
    made = []
    for method in methods:
        started = time.perf_counter()
        found, params = (chess.rated(method, games.test), {}) if method in RATED else chess.learned(method, games)
        made.append(
            Record(
                key=_key(cell, method),
                data=f"chess, {cell.taken}",
                method=method,
                repeat=cell.window,
                fold=0,
                seed=0,
                n_train=len(games.train.outcome),
                n_test=len(games.test.outcome),
                metrics={"auc": found},
                params=params,
                search_seconds=time.perf_counter() - started,
            )
        )
    return made


def _pattern() -> Pattern:
    """Learn Figure 3's pattern, and score a grid of points."""
    norm, n, ties = _PATTERN
    train, validation, _ = _draw(Cell(norm, n, ties, 0), None)
    side = np.linspace(-SIDE, SIDE, 61)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
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
    return record_key(f"comparisons/{home}/{method}", made, COSTS, WIDTHS)
