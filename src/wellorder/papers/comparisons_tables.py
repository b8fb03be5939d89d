"""What running 'support vector comparison machines' again gave, beside what the paper says of its figures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import kendalltau

from ..evaluation import Record
from ..sweeps import Floats
from .chess import FILTERS, LEARNED, RATED
from .comparisons_simulation import Compared

if TYPE_CHECKING:
    from .comparisons import Plan

_PAPERS = ("rank", "rank2", "compare")


@dataclass(frozen=True)
class Pattern:
    """Figure 3: the ranking functions that were learned of one simulated pattern."""

    norm: str
    train: Compared
    side: Floats
    truth: Floats
    levels: dict[str, Floats]
    """Scores of a square of points, by method."""

    def tau(self, method: str) -> float:
        """Return Kendall's tau between learned and true scores of the points."""
        return float(kendalltau(self.levels[method], self.truth).statistic)


@dataclass(frozen=True)
class ComparisonFigures:
    """The paper's experiments, run again."""

    records: tuple[Record, ...]
    plan: Plan
    pattern: Pattern
    data: tuple[str, ...]
    methods: tuple[str, ...]

    def values(self, data: str, n: int, ties: float, method: str, criterion: str) -> Floats:
        """Return test errors or areas, one a data set."""
        mine = (each for each in self.records if each.data == data and each.method == method and each.n_train == n)
        return np.array([each.metrics[criterion] for each in mine if each.params["ties"] == ties])

    def windows(self, taken: str, method: str) -> Floats:
        """Return the test areas of one way of predicting chess games, one a window; NaN where it has no area."""
        return np.array([each.metrics["auc"] for each in self._matches(taken, method)])

    def _matches(self, taken: str, method: str) -> list[Record]:
        return [each for each in self.records if each.data == f"chess, {taken}" and each.method == method]

    def lines(self) -> list[str]:
        """Return tables and findings as Markdown lines; the paper has figures only, so its words stand beside them."""
        return [*self._figure_three(), "", *self._figure_four(), "", *self._figure_five(), "", *self._figure_six()]

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw Figures 3 to 6."""
        from .comparisons_picture import draw

        draw(self, path)

    def order(self, data: str, cells: Sequence[tuple[int, float]], criterion: str) -> str:
        """Return the paper's three methods from best to worst, by their means over some kinds of data sets."""
        means = {
            method: float(np.mean([self.values(data, *cell, method, criterion).mean() for cell in cells]))
            for method in _PAPERS
        }
        ordered = sorted(_PAPERS, key=lambda method: means[method], reverse=criterion == "auc")
        return (" < " if criterion == "error" else " > ").join(f"{method} ({means[method]:.3f})" for method in ordered)

    def _figure_three(self) -> Iterator[str]:
        pattern = self.pattern
        yield (
            f"**Figure 3.** r(x) = {pattern.norm} learned from {len(pattern.train.outcome)} pairs, half of them ties: "
            "Kendall's tau with the true one over the square. The paper: rank2 and compare recover it better than rank."
        )
        yield ""
        yield "| " + " | ".join(pattern.levels) + " |"
        yield "| --- " * len(pattern.levels) + "|"
        yield "| " + " | ".join(f"{pattern.tau(method):.3f}" for method in pattern.levels) + " |"

    def _figure_four(self) -> Iterator[str]:
        yield (
            f"**Figure 4.** Test error in percent with {self.plan.ties:.0%} ties: mean ± standard deviation over "
            f"{self.plan.n_sets} test sets (the paper's: 4), models chosen by validation error. 'rank2, squared' has "
            "the squared hinge. Bold: the lowest of those learned."
        )
        yield ""
        yield from self._table("pairs", [(n, self.plan.ties) for n in self.plan.sizes], "error")
        yield ""
        yield "| data | the paper's order | ours, mean error over the sizes |"
        yield "| --- | --- | --- |"
        for data in self.data:
            found = self.order(data, [(n, self.plan.ties) for n in self.plan.sizes], "error")
            yield f"| {data} | compare < rank2 < rank | {found} |"

    def _figure_five(self) -> Iterator[str]:
        shares = self.plan.shares
        yield (
            f"**Figure 5.** Test AUC of {self.plan.size} pairs against the share of ties: mean ± standard deviation "
            f"over {self.plan.n_sets} test sets, models chosen by validation AUC. Bold: the highest of those learned."
        )
        yield ""
        yield from self._table("ties", [(self.plan.size, share) for share in shares], "auc")
        yield ""
        yield "| data | the paper | ours with the fewest ties | ours with the most ties |"
        yield "| --- | --- | --- | --- |"
        for data in self.data:
            alike = data in ("‖x‖₂²", "sushi")
            paper = "all alike" if alike else "all alike with few ties; rank2 and compare > rank with many"
            ends = [self.order(data, [(self.plan.size, share)], "auc") for share in (min(shares), max(shares))]
            yield f"| {data} | {paper} | {ends[0]} | {ends[1]} |"

    def _table(self, what: str, cells: Sequence[tuple[int, float]], criterion: str) -> Iterator[str]:
        yield f"| data | {what} | " + " | ".join(self.methods) + " |"
        yield "| --- " * (2 + len(self.methods)) + "|"
        for data in self.data:
            for n, ties in cells:
                found = {method: self.values(data, n, ties, method, criterion) for method in self.methods}
                means = {method: each.mean() for method, each in found.items() if len(each) and method != "truth"}
                best = (min if criterion == "error" else max)(means.values())
                shown = [_cell(each, criterion, means.get(method) == best) for method, each in found.items()]
                yield f"| {data} | {n if what == 'pairs' else f'{ties:.0%}'} | " + " | ".join(shown) + " |"

    def _figure_six(self) -> Iterator[str]:
        yield (
            "**Figure 6.** Chess: test AUC in windows of 12 months, the first 4 to train. 'ratings' are models of Elo "
            "and Glicko only. The baseline names white the winner of every game. The paper, on 1.8 million games: "
            "linear and polynomial with all features > the same with ratings only, and > Elo and Glicko > baseline. "
            "Bold: the highest mean."
        )
        for taken, title in FILTERS.items():
            matches = self._matches(taken, RATED[0])
            yield ""
            yield f"| {title} | mean | " + " | ".join(f"window {each.repeat + 1}" for each in matches) + " |"
            yield "| --- " * (2 + len(matches)) + "|"
            games = " | ".join(f"{each.n_train} / {each.n_test}" for each in matches)
            yield f"| games, train / test | | {games} |"
            found = {method: self.windows(taken, method) for method in (*LEARNED, *RATED)}
            means = {method: _mean(each) for method, each in found.items()}
            best = max((mean for mean in means.values() if not np.isnan(mean)), default=np.nan)
            for method, areas in found.items():
                mean = f"**{means[method]:.3f}**" if means[method] == best else _shown(means[method])
                yield f"| {method} | {mean} | " + " | ".join(_shown(each) for each in areas) + " |"


def _cell(values: Floats, criterion: str, best: bool) -> str:
    if len(values) == 0:
        return "–"
    digits, factor = (1, 100.0) if criterion == "error" else (3, 1.0)
    spread = f" ± {factor * values.std(ddof=1):.{digits}f}" if len(values) > 1 else ""
    text = f"{factor * values.mean():.{digits}f}{spread}"
    return f"**{text}**" if best else text


def _mean(areas: Floats) -> float:
    return float(np.nanmean(areas)) if not np.isnan(areas).all() else np.nan


def _shown(area: float) -> str:
    return "–" if np.isnan(area) else f"{area:.3f}"
