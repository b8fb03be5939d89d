"""Every method on every data set of the five papers, and what can be told apart there: no paper's table, but ours."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import matplotlib.style
import numpy as np
import polars as pl
import scipy.sparse as sp
from matplotlib.figure import Figure

from ..data import ComparisonTable, DataError, Table, read
from ..evaluation import (
    METHODS,
    AnyTable,
    Leaderboard,
    Progress as Trial,
    Protocol,
    Record,
    compare,
    corrected_resampled_test,
    holm,
    make_leaderboard,
)
from ..figures import STYLE, CriticalDifferenceDisplay, save_figure
from ..order import Comparisons
from ..ratings import FEATURES
from ..sweeps import Floats
from ..writing import write_p_value
from .comparisons import Compared, read_chess, read_sushi
from .letor_trials import BENCHMARKS, N_PARTS
from .running import PaperPart, PaperRun, Progress
from .swapped_pairs import DATA_SETS as REGRESSION, read_set

# --------------------------------------------------------------------------------------------------
# Many leaderboards on one page: who leads, the means, and whether anything is ever shown to beat the ensemble.


_ENSEMBLE = "order-ensemble"
_WIDE = 6
"""Data sets side by side in a table."""


class Beaten(NamedTuple):
    """The method with the strongest evidence of being better than another, and the p-value of that."""

    method: str
    p_value: float


@dataclass(frozen=True)
class Leaderboards:
    """A leaderboard a data set."""

    boards: Mapping[str, Leaderboard]

    def beaten(self, data: str, method: str) -> Beaten | None:
        """Return what is most clearly better than a method; None where nothing has a better mean.

        Where the board hears the rows that were tested, that is its leader, and its own p-value. By the splits alone,
        the tests are those of the method against each other one, and Holm's correction is over these: it finds more
        differences than the board's, which is over every two methods.
        """
        board = self.boards[data]
        if board.hears_rows:
            p_value = next(each.p_value for each in board.standings if each.method == method)
            return None if p_value is None else Beaten(board.leader.method, p_value)
        sign = 1.0 if board.greater_is_better else -1.0
        mine = _values(board, method)
        others = [each.method for each in board.standings if each.method != method]
        found = [corrected_resampled_test(mine - _values(board, other), _test_share(board)) for other in others]
        corrected = holm([each.p_value for each in found])
        better = [
            Beaten(other, float(p))
            for other, each, p in zip(others, found, corrected, strict=True)
            if sign * each.mean < 0
        ]
        return min(better, key=lambda each: (np.isnan(each.p_value), each.p_value), default=None)

    def lines(self) -> list[str]:
        """Return the tables as Markdown lines."""
        return [*self._leaders(), *(line for metric in self._metrics() for line in self._means(metric))]

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw the critical-difference diagram of the sets that go by the first metric."""
        metric = self._metrics()[0]
        means = [
            {each.method: each.mean for each in board.standings}
            for board in self.boards.values()
            if board.protocol.metric == metric
        ]
        methods, rows = _largest_block(means)
        greater = next(iter(self.boards.values())).greater_is_better
        display = CriticalDifferenceDisplay(
            [[row[method] for method in methods] for row in rows], methods, greater_is_better=greater
        )
        with matplotlib.style.context(["default", STYLE]):
            figure = Figure(figsize=display.size, layout="constrained")
            display.plot(figure.subplots())
            save_figure(figure, path, dpi=130)

    def _metrics(self) -> list[str]:
        return list(dict.fromkeys(board.protocol.metric for board in self.boards.values()))

    def _leaders(self) -> Iterator[str]:
        leads = (
            "**Who leads.** Means over the outer folds in percent. 'Told apart': how many methods are worse than the "
        )
        if all(board.hears_rows for board in self.boards.values()):
            yield (
                f"{leads}leader, as `compare` tells them apart: by the held-out rows, against the best of equals, 5 % "
                "([how sure](../how-sure.md)). 'Better than the ensemble': the leader, and the p-value of that."
            )
        else:
            yield (
                f"{leads}leader by the splits alone (corrected resampled test, Holm over every two methods, 5 %). "
                "'Better than the ensemble': the method with the strongest evidence, with Holm's p-value over the "
                "ensemble's tests alone."
            )
        yield ""
        yield (
            "| data | rows | splits | leader | | best baseline | | order-ensemble | told apart | "
            "better than the ensemble |"
        )
        yield "| --- | ---: | ---: | --- | ---: | --- | ---: | ---: | ---: | --- |"
        for data, board in self.boards.items():
            baseline = next((each for each in board.standings if each.is_baseline), None)
            ensemble = next((each for each in board.standings if each.method == _ENSEMBLE), None)
            n_rows = board.records[0].n_train + board.records[0].n_test
            lost = self.beaten(data, _ENSEMBLE) if ensemble is not None else None
            better = f"{lost.method}, {write_p_value(lost.p_value)}" if lost else "nothing"
            n_worse = sum(each.is_told_apart for each in board.standings)
            yield (
                f"| {data} | {n_rows:,} | {board.leader.n_splits} "
                f"| {board.leader.method} | {_percent(board.leader.mean)} "
                f"| {baseline.method if baseline else '–'} | {_percent(baseline.mean) if baseline else '–'} "
                f"| {_percent(ensemble.mean) if ensemble else '–'} | {n_worse} of {len(board.standings) - 1} "
                f"| {better if ensemble else '–'} |"
            )
        yield ""

    def _means(self, metric: str) -> Iterator[str]:
        names = [name for name, board in self.boards.items() if board.protocol.metric == metric]
        for first in range(0, len(names), _WIDE):
            yield from self._block(metric, names[first : first + _WIDE])

    def _block(self, metric: str, names: Sequence[str]) -> Iterator[str]:
        boards = [self.boards[name] for name in names]
        standings = [{each.method: each for each in board.standings} for board in boards]
        yield f"**{metric}** in percent: the best mean bold, those told apart from it marked ×; – was left out."
        yield ""
        yield "| method | " + " | ".join(names) + " |"
        yield "| --- |" + " ---: |" * len(names)
        for method in METHODS:
            if not any(method in each for each in standings):
                continue
            cells = []
            for board, each in zip(boards, standings, strict=True):
                if method not in each:
                    cells.append("–")
                    continue
                mean = _percent(each[method].mean)
                mark = " ×" if each[method].is_told_apart else ""
                cells.append(f"**{mean}**" if board.leader.method == method else mean + mark)
            yield f"| {method} | " + " | ".join(cells) + " |"
        yield ""


def _largest_block(means: Sequence[Mapping[str, float]]) -> tuple[list[str], list[Mapping[str, float]]]:
    """Return methods and data sets without a gap: as many methods times sets as there are, the most frequent first."""
    n_sets = Counter(method for each in means for method in each)
    methods = sorted(n_sets, key=lambda method: -n_sets[method])
    blocks = []
    for k in range(2, len(methods) + 1):
        rows = [each for each in means if all(method in each for method in methods[:k])]
        blocks.append((k * len(rows), methods[:k], rows))
    _, chosen, rows = max(blocks, key=lambda block: block[0])
    return chosen, rows


def _values(board: Leaderboard, method: str) -> Floats:
    return np.array([each.metrics[board.protocol.metric] for each in board.of(method)])


def _test_share(board: Leaderboard) -> float:
    return float(np.mean([each.n_test / each.n_train for each in board.records]))


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


# --------------------------------------------------------------------------------------------------
# The run.


_MONTHS = 12
_BUDGET, _QUICK_BUDGET = 1800.0, 20.0
"""Seconds a data set."""

_QUICK = ("MachineCPU", "Wine, red", "Sushi")


def _compare_all(run: PaperRun) -> list[Record]:
    """Compare every method that suits it on each data set, in two rounds of five folds."""
    names = _QUICK if run.quick else tuple(DATA_SETS)
    made = []
    for number, name in enumerate(names):
        told = partial(_tell, run.progress, name, number, len(names)) if run.progress is not None else None
        budget = _QUICK_BUDGET if run.quick else _BUDGET
        made += to_records(
            name,
            compare(
                DATA_SETS[name](run.data),
                time_budget=budget,
                records=run.kept.path,
                n_jobs=run.n_jobs,
                progress=told,
            ),
        )
    return made


_PROTOCOL = ("split_by", "n_folds", "n_repeats", "inner_folds", "seed", "metric", "metrics")


def to_records(name: str, board: Leaderboard) -> list[Record]:
    """Return what a board can be made of again: its protocol as a record, and its records without their rows."""
    how = {each: getattr(board.protocol, each) for each in _PROTOCOL}
    first = Record(
        f"{name}/protocol", name, "", 0, 0, 0, 0, 0, {}, {**how, "greater_is_better": board.greater_is_better}
    )
    bare = [
        replace(record, data=name, swaps=None, curve=None, weights=None, features=None, held_out=None)
        for record in board.records
    ]
    return [first, *bare]


def from_records(records: Sequence[Record]) -> Leaderboards:
    """Return the boards again."""
    boards = {}
    for first in records:
        if first.method == "":
            mine = [each for each in records if each.data == first.data and each.method != ""]
            how = dict(first.params)
            greater = how.pop("greater_is_better")
            protocol = Protocol(**{**how, "metrics": tuple(how["metrics"])})
            methods = list(dict.fromkeys(each.method for each in mine))
            boards[first.data] = make_leaderboard(first.data, mine, methods, [], protocol, greater_is_better=greater)
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
"""The sets of Table 1 of 'swapped pairs', then those of the other papers; each is read from a folder."""


PARTS = {
    "boards": PaperPart("Every method on every data set", _compare_all, lambda records: from_records(records).lines())
}
PICTURED = ("boards",)


def picture(found: Mapping[str, Sequence[Record]], path: str | os.PathLike[str]) -> None:
    """Draw the critical-difference diagram."""
    from_records(found["boards"]).picture(path)
