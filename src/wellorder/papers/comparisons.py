"""Venuto et al. (2014), Support vector comparison machines: Figures 3 to 6, on simulated pairs, sushi and chess."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import kendalltau

from ..evaluation import Record, RecordFile
from ..figures import INK, LINES, PALETTE, STYLE, quieten, save_figure
from ..sweeps import Floats
from . import chess
from .chess import FILTERS, LEARNED, RATED, read_chess, read_sushi
from .comparisons_search import (
    COSTS,
    CRITERIA,
    METHODS,
    NORMS,
    SIDE,
    WIDTHS,
    Compared,
    judge,
    search,
    simulate,
    true_rank,
)
from .running import Piece, Progress, record_key, run_pieces

# --------------------------------------------------------------------------------------------------
# Figures 3 to 6 of 'support vector comparison machines' on one page.


_TITLES = (
    "Figure 3. The simulated pattern: pairs (arrows point to the better), and level curves of what was learned",
    "Figure 4. Test error against the number of pairs",
    "Figure 5. Test AUC against the share of ties",
    "Figure 6. Chess: test AUC, a dot a window",
)


def draw(found: ComparisonFigures, path: str | os.PathLike[str]) -> None:
    """Draw a row of panels for each figure."""
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(10.4, 12.4), layout="constrained")
        rows = np.ravel(np.asarray(figure.subfigures(4, 1, hspace=0.04)))
        for row, title in zip(rows, _TITLES, strict=True):
            row.suptitle(title, fontsize=11.5, x=0.01, ha="left")
        panels = [list(row.subplots(1, n)) for row, n in zip(rows, (4, 4, 4, len(FILTERS)), strict=True)]
        for axes in panels:
            for ax in axes:
                quieten(ax)
        _draw_pattern(panels[0], found.pattern)
        by_size = [(n, found.plan.ties) for n in found.plan.sizes]
        by_share = [(found.plan.size, share) for share in found.plan.shares]
        for axes, cells, criterion in ((panels[1], by_size, "error"), (panels[2], by_share, "auc")):
            for ax, data in zip(axes, found.data, strict=True):
                _draw_lines(ax, found, data, cells, criterion)
        panels[1][0].set_ylabel("test error")
        rows[1].legend(
            *panels[1][0].get_legend_handles_labels(), loc="upper right", ncols=len(found.methods), fontsize=9
        )
        panels[2][0].set_ylabel("test AUC")
        for ax, (taken, title) in zip(panels[3], FILTERS.items(), strict=True):
            _draw_windows(ax, found, taken)
            ax.set_title(title)
        save_figure(figure, path, dpi=130)


def _draw_pattern(axes: list[Axes], pattern: Pattern) -> None:
    left, right = pattern.train.pairs[:, 0], pattern.train.pairs[:, 1]
    tie, y = pattern.train.outcome == 0, pattern.train.outcome
    ax = axes[0]
    segments = np.stack([left[tie], right[tie]], axis=1)
    ax.plot(*segments.transpose(2, 1, 0), color=PALETTE["grey"], linewidth=0.8)
    up = (y > 0)[~tie, None]
    start, end = np.where(up, left[~tie], right[~tie]), np.where(up, right[~tie], left[~tie])
    arrows = end - start
    ax.quiver(*start.T, *arrows.T, angles="xy", scale_units="xy", scale=1.0, width=0.006, color=PALETTE["blue"])
    ax.set_title("pairs")
    n = len(pattern.side)
    for ax, (method, scores) in zip(axes[1:], pattern.levels.items(), strict=True):
        levels = scores.reshape(n, n)
        ax.contour(pattern.side, pattern.side, pattern.truth.reshape(n, n), levels=6, colors=PALETTE["grey"], alpha=0.5)
        ax.contour(pattern.side, pattern.side, levels, levels=10, cmap="viridis")
        ax.set_title(f"{method} (τ = {pattern.tau(method):.2f})")
    for ax in axes:
        ax.set_aspect("equal")


def _draw_lines(ax: Axes, found: ComparisonFigures, data: str, cells: list[tuple[int, float]], criterion: str) -> None:
    """Draw a line a method, with a band of one standard deviation."""
    by_size = criterion == "error"
    x = np.array([n if by_size else ties for n, ties in cells], dtype=float)
    for method, (colour, marker) in zip(found.methods, LINES, strict=False):
        values = [found.values(data, n, ties, method, criterion) for n, ties in cells]
        if not all(len(each) for each in values):
            continue
        mean = np.array([each.mean() for each in values])
        spread = np.array([each.std(ddof=1) if len(each) > 1 else 0.0 for each in values])
        line = INK if method == "truth" else PALETTE[colour]
        ax.plot(x, mean, color=line, marker=marker, markersize=3.5, linewidth=1.2, label=method)
        ax.fill_between(x, mean - spread, mean + spread, color=line, alpha=0.12, linewidth=0)
    if by_size:
        ax.set_xscale("log")
        ax.set_xticks(x, labels=[f"{each:g}" for each in x])
        ax.minorticks_off()
    ax.set_title(data)
    ax.set_xlabel("pairs" if by_size else "share of ties")


def _draw_windows(ax: Axes, found: ComparisonFigures, taken: str) -> None:
    methods = (*LEARNED, *RATED)
    for place, method in enumerate(methods):
        areas = found.windows(taken, method)
        areas = areas[~np.isnan(areas)]
        colour = PALETTE["grey" if method == "baseline" else "blue" if method in RATED else "sky"]
        colour = colour if method in RATED or method.endswith("ratings") else PALETTE["vermillion"]
        ax.plot(areas, np.full(len(areas), place), "o", color=colour, markersize=4, alpha=0.7)
        if len(areas):
            ax.plot(areas.mean(), place, "|", color=INK, markersize=11, markeredgewidth=1.6)
    ax.set_yticks(range(len(methods)), labels=methods)
    ax.invert_yaxis()
    ax.set_xlabel("test AUC")


# --------------------------------------------------------------------------------------------------
# What running 'support vector comparison machines' again gave, beside what the paper says of its figures.


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
    plan: Experiments
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


# --------------------------------------------------------------------------------------------------
# The reproduction.


DATA = (*NORMS, "sushi")
TRUTH = "truth"
N_SETS = 4
"""Data sets of each kind, each with its own train, validation and test pairs."""

_PATTERN = ("‖x‖₁²", 100, 0.5)
"""Figure 3: which ranking function, how many pairs, and the share of ties."""


@dataclass(frozen=True)
class Experiments:
    """What is run."""

    sizes: tuple[int, ...] = (50, 100, 200, 400, 800)
    ties: float = 0.5
    """Figure 4: numbers of pairs, and the share of ties among them."""
    size: int = 400
    shares: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)
    """Figure 5: the number of pairs, and shares of ties."""
    n_sets: int = N_SETS
    windows: tuple[int, ...] = tuple(range(chess.N_WINDOWS))

    def cells(self) -> list[Drawn]:
        """Return what to draw: a cell that both figures need is drawn once."""
        kinds = dict.fromkeys([(n, self.ties) for n in self.sizes] + [(self.size, share) for share in self.shares])
        return [Drawn(data, n, ties, seed) for n, ties in kinds for data in DATA for seed in range(self.n_sets)]


QUICK = Experiments(sizes=(50, 100, 200), size=200, shares=(0.1, 0.5, 0.9), n_sets=2, windows=(3, 6))


class Drawn(NamedTuple):
    """A train, a validation and a test set of n pairs each, with the same share of ties."""

    data: str
    n: int
    ties: float
    seed: int

    def methods(self) -> tuple[str, ...]:
        """Return what is judged on it."""
        return (*METHODS, TRUTH) if self.data in NORMS else tuple(METHODS)


class DrawnGames(NamedTuple):
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
    return run(Path(data), QUICK if quick else Experiments(), RecordFile(records), n_jobs, progress)


def run(data: Path, plan: Experiments, kept: RecordFile, n_jobs: int, progress: Progress | None) -> ComparisonFigures:
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
            cell = DrawnGames(taken, number)
            pieces += [
                Piece("chess", {method: _key(cell, method)}, partial(_match, cell, window))
                for method in (*RATED, *LEARNED)
            ]
    made, drawn = run_pieces(pieces, kept, n_jobs, progress, {"figure 3": _pattern})
    return ComparisonFigures(made, plan, drawn["figure 3"], DATA, (*METHODS, TRUTH))


def _trial(cell: Drawn, sushi: Compared | None, methods: list[str]) -> list[Record]:
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


def _draw(cell: Drawn, sushi: Compared | None) -> tuple[Compared, Compared, Compared]:
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


def _match(cell: DrawnGames, games: chess.Window, methods: list[str]) -> list[Record]:
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
    train, validation, _ = _draw(Drawn(norm, n, ties, 0), None)
    side = np.linspace(-SIDE, SIDE, 61)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    found = search(train, validation, ("rank", "rank2", "compare"))
    levels: dict[str, Floats] = {method: each["error"].scores(points) for method, each in found.items()}
    return Pattern(norm, train, side, true_rank(norm, points), levels)


def _key(cell: Drawn | DrawnGames, method: str) -> str:
    if isinstance(cell, Drawn):
        home, made = (
            f"{cell.data}/{cell.n}/{cell.ties:g}/{cell.seed}",
            METHODS[method](1.0) if method in METHODS else "",
        )
    else:
        home, made = f"chess/{cell.taken}/{cell.window}", (chess.COSTS, chess.KERNELS)
    return record_key(f"comparisons/{home}/{method}", made, COSTS, WIDTHS)
