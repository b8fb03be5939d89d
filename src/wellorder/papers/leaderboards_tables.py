"""Many leaderboards on one page: who leads, the means, and whether anything is ever shown to beat the ensemble."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

from ..evaluation import METHODS, Leaderboard, corrected_resampled_test, holm
from ..figures.critical_difference import CriticalDifferenceDisplay
from ..figures.style import STYLE, save_figure
from ..sweeps import Floats

_ENSEMBLE = "order-ensemble"
_WIDE = 6
"""Data sets side by side in a table."""


class Beaten(NamedTuple):
    """The method with the strongest evidence of being better than another, and Holm's p-value."""

    method: str
    p_value: float


@dataclass(frozen=True)
class Leaderboards:
    """A leaderboard a data set."""

    boards: Mapping[str, Leaderboard]

    def beaten(self, data: str, method: str) -> Beaten | None:
        """Return what is most clearly better than a method; None where nothing has a better mean.

        The tests are those of the method against each other one, and Holm's correction is over these alone: it finds
        more differences than the leaderboard's, which is over every two methods.
        """
        board = self.boards[data]
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
        yield (
            "**Who leads.** Means over the outer folds in percent. 'Told apart': how many methods are worse than the "
            "leader (corrected resampled test, Holm over every two methods, 5 %). 'Better than the ensemble': the "
            "method with the strongest evidence, with Holm's p-value over the ensemble's tests alone."
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
            n_worse = sum(each.is_told_apart for each in board.standings)
            yield (
                f"| {data} | {n_rows:,} | {board.leader.n_splits} "
                f"| {board.leader.method} | {_percent(board.leader.mean)} "
                f"| {baseline.method if baseline else '–'} | {_percent(baseline.mean) if baseline else '–'} "
                f"| {_percent(ensemble.mean) if ensemble else '–'} | {n_worse} of {len(board.standings) - 1} "
                f"| {'–' if ensemble is None else f'{lost.method}, {_p(lost.p_value)}' if lost else 'nothing'} |"
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


def _p(p: float) -> str:
    return "not tested" if np.isnan(p) else "p < 0.001" if p < 0.001 else f"p = {p:.2f}"
