"""Uematsu and Lee (2013), Statistical optimality in multipartite ranking: its figures and tables."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from ..estimators import OrderBoost
from ..evaluation import Record, RecordFile
from ..figures import INK, PALETTE, STYLE, quieten, save_figure
from ..losses import implicit_costs
from ..metrics import order_error_rates
from ..sweeps import Floats, Ints
from .multipartite_relations import GRID, Ratings, Relation, Relations, TheoryCurve, read_ratings, relate, simulate
from .running import Piece, Progress, record_key, run_pieces

# --------------------------------------------------------------------------------------------------
# Figures 1 to 4 of 'multipartite ranking' on one page.


_TITLES = {"pairs": "pairwise ranking", "orboost": "ORBoost", "proportional_odds": "proportional odds", "svor": "SVOR"}


def draw(found: Multipartite, path: str | os.PathLike[str]) -> None:
    """Draw a row of panels for each figure."""
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(10.4, 11.2), layout="constrained")
        rows = np.ravel(np.asarray(figure.subfigures(4, 1, hspace=0.04)))
        titles = (
            "Figure 1. Estimated scores (line) and theory (dotted)",
            "Figure 2. What the methods order by, over (p₁, p₂); lighter stands higher",
            "Figure 3. MovieLens, three categories: scores against pairwise ranking's, and theory's line",
            "Figure 4. MovieLens: pairwise ranking with other costs c₁₃ against c₁₃ = 1",
        )
        for row, title in zip(rows, titles, strict=True):
            row.suptitle(title, fontsize=11.5, x=0.01, ha="left")
        for ax, (name, curve) in zip(_panels(rows[0], len(found.curves)), found.curves.items(), strict=True):
            _curve(ax, _TITLES[name], curve)
        _contours(_panels(rows[1], 3))
        against = found.relations.against
        for ax, relation in zip(_panels(rows[2], len(against)), against.values(), strict=True):
            _draw_relation(ax, relation)
        costs = dict(found.relations.by_cost)
        base = costs.pop(1.0)
        for ax, (cost, scores) in zip(_panels(rows[3], len(costs)), costs.items(), strict=True):
            _cloud(ax, base, scores)
            ax.axline((0.0, 0.0), slope=1.0, color=INK, linewidth=0.8, linestyle=":")
            ax.set_xlabel("c₁₃ = 1")
            ax.set_ylabel(f"c₁₃ = {cost:g}")
        save_figure(figure, path, dpi=130)


def _panels(row: SubFigure, n: int) -> list[Axes]:
    axes = row.subplots(1, n)
    for ax in axes:
        quieten(ax)
    return list(axes)


def _curve(ax: Axes, title: str, curve: TheoryCurve) -> None:
    ax.plot(GRID, curve.estimate, color=PALETTE["blue"])
    ax.plot(GRID, curve.theory, color=INK, linestyle=":")
    ax.set_title(title)
    ax.set_xlabel("x")


def _contours(axes: list[Axes]) -> None:
    """Draw the level lines of three ratios over the triangle of probabilities."""
    p1, p2 = np.meshgrid(np.linspace(0.005, 0.99, 240), np.linspace(0.005, 0.99, 240))
    p3 = 1.0 - p1 - p2
    inside = p3 > 0.004
    ratios = {
        "(p₂ + p₃)/(p₁ + p₂)": _squashed((p2 + p3) / (p1 + p2)),
        "(p₂ + 2p₃)/(2p₁ + p₂)": _squashed((p2 + 2 * p3) / (2 * p1 + p2)),
        "(1 − 2p₁)/p₂ (Shashua, Levin)": np.arctan((1 - 2 * p1) / p2),
    }
    for ax, (title, ratio) in zip(axes, ratios.items(), strict=True):
        ax.contourf(p1, p2, np.ma.array(ratio, mask=~inside), levels=20, cmap="viridis")
        ax.set_title(title)
        ax.set_xlabel("p₁")
        ax.set_ylabel("p₂")
        ax.set_aspect("equal")


def _squashed(ratio: Floats) -> Floats:
    """Map a ratio to (−1, 1), so that the colours are not spent on the corners."""
    return np.asarray((ratio - 1.0) / (ratio + 1.0))


def _draw_relation(ax: Axes, relation: Relation) -> None:
    _cloud(ax, relation.pairs, relation.scores)
    if relation.line is not None:
        ax.plot(*relation.line, color=INK, linewidth=1.2)
    ax.set_title(relation.title)
    ax.set_xlabel("pairwise ranking")


def _cloud(ax: Axes, x: Floats, y: Floats) -> None:
    ax.plot(x, y, ".", color=PALETTE["sky"], markersize=2, alpha=0.5, rasterized=True)


# --------------------------------------------------------------------------------------------------
# What running 'multipartite ranking' again gave: Tables 2 and 3, the paper's and ours, and what the figures show.


SAMPLES = {"balanced": (500, 500, 500, 500, 500), "unbalanced": (130, 280, 680, 870, 540)}
"""How many ratings of 1 to 5 a training sample has; validation the same, test twice as many."""

_COLUMNS = ("pair rank", "prop odds", "or boost")
_N_PAPER = 50

_PAPER: dict[str, dict[str, tuple[tuple[float, float], ...]]] = {
    "balanced": {
        "1 vs 2": ((0.4485, 0.0020), (0.4413, 0.0019), (0.4431, 0.0020)),
        "1 vs 3": ((0.3875, 0.0019), (0.3833, 0.0018), (0.3853, 0.0019)),
        "1 vs 4": ((0.3193, 0.0016), (0.3164, 0.0016), (0.3195, 0.0016)),
        "1 vs 5": ((0.2607, 0.0018), (0.2620, 0.0015), (0.2637, 0.0015)),
        "2 vs 3": ((0.4368, 0.0017), (0.4395, 0.0018), (0.4399, 0.0017)),
        "2 vs 4": ((0.3652, 0.0018), (0.3687, 0.0018), (0.3707, 0.0018)),
        "2 vs 5": ((0.3023, 0.0019), (0.3094, 0.0019), (0.3103, 0.0018)),
        "3 vs 4": ((0.4266, 0.0017), (0.4280, 0.0018), (0.4295, 0.0018)),
        "3 vs 5": ((0.3601, 0.0019), (0.3655, 0.0019), (0.3658, 0.0019)),
        "4 vs 5": ((0.4313, 0.0018), (0.4351, 0.0018), (0.4340, 0.0019)),
    },
    "unbalanced": {
        "1 vs 2": ((0.4545, 0.0025), (0.4529, 0.0023), (0.4533, 0.0023)),
        "1 vs 3": ((0.4006, 0.0030), (0.4014, 0.0026), (0.4012, 0.0028)),
        "1 vs 4": ((0.3341, 0.0029), (0.3346, 0.0027), (0.3343, 0.0027)),
        "1 vs 5": ((0.2740, 0.0028), (0.2768, 0.0027), (0.2746, 0.0027)),
        "2 vs 3": ((0.4443, 0.0023), (0.4472, 0.0023), (0.4464, 0.0024)),
        "2 vs 4": ((0.3749, 0.0024), (0.3780, 0.0023), (0.3768, 0.0024)),
        "2 vs 5": ((0.3107, 0.0021), (0.3167, 0.0022), (0.3135, 0.0022)),
        "3 vs 4": ((0.4295, 0.0016), (0.4300, 0.0016), (0.4297, 0.0015)),
        "3 vs 5": ((0.3622, 0.0016), (0.3665, 0.0016), (0.3640, 0.0015)),
        "4 vs 5": ((0.4307, 0.0015), (0.4345, 0.0016), (0.4323, 0.0016)),
    },
}
"""Table 3: error rate and standard error of the three methods, for each pair of ratings."""

_THRESHOLDS = {"balanced": (-0.0932, -0.0656, -0.0386, 0.0), "unbalanced": (-0.7742, -0.7742, -0.4183, 0.0)}
"""ORBoost's mean thresholds in the paper, the last fixed at zero."""

_SIMULATION = {"orboost": (-2.06, 0.0), "proportional_odds": (-4.37, 0.0), "svor": (-1.2, 1.1)}
"""The thresholds of Figure 1's models in the paper."""

_RELATIONS = {"orboost": (-0.183, 0.0), "proportional_odds": (-1.615, 0.0), "svor": (-1.39, 0.61)}
"""Those of Figure 3's."""


@dataclass(frozen=True)
class Multipartite:
    """The paper's experiments, run again."""

    records: tuple[Record, ...]
    n_replicates: int
    curves: dict[str, TheoryCurve]
    relations: Relations
    methods: tuple[str, ...]

    def values(self, sample: str, method: str, pair: str) -> Floats:
        """Return the error rates of one pair of ratings, one a replicate."""
        return np.array([each.metrics[pair] for each in self._of(sample, method)])

    def thresholds(self, sample: str) -> Floats:
        """Return ORBoost's thresholds, one line a replicate, the last at zero."""
        return np.array([each.params["thresholds"] for each in self._of(sample, "or boost")])

    def _of(self, sample: str, method: str) -> list[Record]:
        mine = [each for each in self.records if each.data == sample and each.method == method]
        return sorted(mine, key=lambda each: each.repeat)

    def lines(self) -> list[str]:
        """Return tables and findings as Markdown lines."""
        return [*self._figure_one(), "", *self._figure_three(), "", *self._table_two(), "", *self._table_three()]

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw Figures 1 to 4."""
        draw(self, path)

    def _figure_one(self) -> Iterator[str]:
        yield "**Figure 1.** Three normal classes, 500 rows each; rounds chosen on a second sample."
        yield ""
        yield "| method | thresholds, paper | thresholds | largest distance from theory on [−2.5, 2.5], of its range |"
        yield "| --- | --- | --- | --- |"
        for name, curve in self.curves.items():
            paper = _listed(_SIMULATION[name]) if name in _SIMULATION else "–"
            distance = "a step function" if name == "svor" else f"{100 * curve.error:.1f} %"
            yield f"| {name} | {paper} | {_listed(curve.thresholds) or '–'} | {distance} |"

    def _figure_three(self) -> Iterator[str]:
        yield "**Figures 3 and 4.** 3,000 ratings in three categories: scores against those of pairwise ranking."
        yield ""
        yield (
            "| method | thresholds, paper | thresholds | Kendall's tau with pairwise ranking | distance from theory "
            "(of the scores' deviation) |"
        )
        yield "| --- | --- | --- | --- | --- |"
        for name, relation in self.relations.against.items():
            paper = _listed(_RELATIONS[name]) if name in _RELATIONS else "–"
            ours = _listed(self.relations.thresholds[name]) if name in self.relations.thresholds else "–"
            distance = "a step function" if relation.line is None else f"{100 * relation.error:.1f} %"
            yield f"| {relation.title} | {paper} | {ours} | {relation.tau:.3f} | {distance} |"
        yield ""
        costs = self.relations.by_cost
        first = next(iter(costs.values()))
        yield "Pairwise ranking with c₁₂ = c₂₃ = 1 and c₁₃ = " + "; ".join(
            f"{cost:g}: deviation {scores.std():.3f}, correlation with c₁₃ = 1 {np.corrcoef(scores, first)[0, 1]:.4f}"
            for cost, scores in costs.items()
        )

    def _table_two(self) -> Iterator[str]:
        yield "**Table 2.** Costs implied by ORBoost's mean thresholds (θ₄ = 0), the paper's and ours."
        yield ""
        yield "| sample | thresholds, paper | thresholds (standard error) |"
        yield "| --- | --- | --- |"
        for sample in SAMPLES:
            found = self.thresholds(sample)
            error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
            ours = ", ".join(f"{m:.4f} ({e:.4f})" for m, e in zip(found.mean(axis=0)[:-1], error[:-1], strict=True))
            yield f"| {sample} | {', '.join(f'{each:.4f}' for each in _THRESHOLDS[sample][:-1])} | {ours} |"
        yield ""
        pairs = list(combinations(range(5), 2))
        yield "| costs | " + " | ".join(f"{low + 1} below {high + 1}" for low, high in pairs) + " |"
        yield "| --- " * (1 + len(pairs)) + "|"
        for sample in SAMPLES:
            for title, at in (("paper", _THRESHOLDS[sample]), ("ours", self.thresholds(sample).mean(axis=0))):
                costs = implicit_costs(np.asarray(at))
                yield f"| {sample}, {title} | " + " | ".join(f"{costs[pair]:.3f}" for pair in pairs) + " |"

    def _table_three(self) -> Iterator[str]:
        yield (
            f"**Table 3.** Error rates of pairs of ratings (a tie is half an error), with standard errors over "
            f"{self.n_replicates} replicates (the paper's: {_N_PAPER}). Bold: more than two standard errors from the "
            "paper's. 'plain pairs' leaves Theorem 4's terms out; 'trees' boosts trees for the risk of 'pair rank'."
        )
        apart = []
        for sample in SAMPLES:
            yield ""
            yield (
                f"| {sample} | "
                + " | ".join(f"{name}, paper" for name in _COLUMNS)
                + " | "
                + " | ".join(self.methods)
                + " |"
            )
            yield "| --- " * (1 + len(_COLUMNS) + len(self.methods)) + "|"
            for pair, paper in _PAPER[sample].items():
                cells = [f"{mean:.4f} ({error:.4f})" for mean, error in paper]
                for method in self.methods:
                    found = self.values(sample, method, pair)
                    error = float(found.std(ddof=1) / np.sqrt(len(found)))
                    cell = f"{found.mean():.4f} ({error:.4f})"
                    if method in _COLUMNS:
                        mean, spread = paper[_COLUMNS.index(method)]
                        z = (found.mean() - mean) / np.hypot(error, spread)
                        apart.append(z)
                        cell = f"**{cell}**" if abs(z) > 2 else cell
                    cells.append(cell)
                yield f"| {pair} | " + " | ".join(cells) + " |"
        z = np.array(apart)
        yield ""
        yield (
            f"{np.count_nonzero(np.abs(z) <= 2)} of {len(z)} values are within two standard errors of the paper's; "
            f"{np.count_nonzero(z < -2)} are lower, {np.count_nonzero(z > 2)} higher."
        )


def _listed(thresholds: tuple[float, ...] | Floats) -> str:
    return ", ".join(f"{each:.2f}" for each in thresholds)


# --------------------------------------------------------------------------------------------------
# The reproduction.


METHODS: dict[str, Callable[[], OrderBoost]] = {
    "pair rank": lambda: OrderBoost("pairs", order="linear"),
    "prop odds": lambda: OrderBoost("proportional_odds"),
    "or boost": lambda: OrderBoost("orboost"),
    "plain pairs": lambda: OrderBoost("pairs", order="linear", consistent=False),
    "trees": lambda: OrderBoost("pairs", order="linear", learner="tree", max_leaf_nodes=8, n_iter_no_change=30),
}
"""The paper's three; then pairwise ranking without Theorem 4's terms, and with trees."""


def reproduce(
    data: str | os.PathLike[str],
    *,
    quick: bool = False,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> Multipartite:
    """Run the paper's figures and tables again.

    Parameters
    ----------
    data : path
        The folder with ``movielens-100k``.
    quick : bool, default=False
        5 replicates instead of 50.
    records, n_jobs, progress
        As :class:`.registry.Reproduce` says.
    """
    n_replicates = 5 if quick else 50
    ratings = read_ratings(Path(data) / "movielens-100k")
    pieces = [
        Piece(sample, {method: _key(sample, number, method)}, partial(_replicate, ratings, sample, number))
        for sample in SAMPLES
        for number in range(n_replicates)
        for method in METHODS
    ]
    figures: dict[str, Callable[[], object]] = {
        "figures 3 and 4": partial(relate, ratings),
        "figures 1 and 2": simulate,
    }
    made, drawn = run_pieces(pieces, RecordFile(records), n_jobs, progress, figures)
    curves, relations = drawn["figures 1 and 2"], drawn["figures 3 and 4"]
    return Multipartite(made, n_replicates, curves, relations, tuple(METHODS))


def _replicate(ratings: Ratings, sample: str, number: int, methods: list[str]) -> list[Record]:
    """Fit methods on one drawn sample; rounds are chosen on a second one of the same size."""
    return [_fitted(ratings, sample, number, method) for method in methods]


def _fitted(ratings: Ratings, sample: str, number: int, method: str) -> Record:
    train, other, test = _draw(ratings, sample, number)
    model = METHODS[method]()
    started = time.perf_counter()
    model.fit(ratings.X[train], ratings.rating[train], X_val=ratings.X[other], y_val=ratings.rating[other])
    seconds = time.perf_counter() - started
    errors = order_error_rates(ratings.rating[test], model.decision_function(ratings.X[test]), ties="half")
    found = getattr(model, "thresholds_", None)
    return Record(
        key=_key(sample, number, method),
        data=sample,
        method=method,
        repeat=number,
        fold=0,
        seed=number,
        n_train=len(train),
        n_test=len(test),
        metrics={f"{low} vs {high}": error for (low, high), error in errors.items()},
        params={
            "rounds": model.n_estimators_,
            "thresholds": None if found is None else [float(each - found[-1]) for each in found],
        },
        fit_seconds=seconds,
    )


def _draw(ratings: Ratings, sample: str, number: int) -> tuple[Ints, Ints, Ints]:
    """Draw training, validation and test rows, with the sample's number of each rating; none is drawn twice."""
    rng = np.random.default_rng([number, list(SAMPLES).index(sample)])
    parts: tuple[list[Ints], list[Ints], list[Ints]] = ([], [], [])
    for rating, size in enumerate(SAMPLES[sample], start=1):
        rows = rng.permutation(np.flatnonzero(ratings.rating == rating))
        for part, drawn in zip(parts, np.split(rows[: 4 * size], [size, 2 * size]), strict=True):
            part.append(drawn)
    train, other, test = (np.concatenate(part) for part in parts)
    return train, other, test


def _key(sample: str, number: int, method: str) -> str:
    params = sorted((name, repr(value)) for name, value in METHODS[method]().get_params().items())
    return record_key(f"multipartite/{sample}/{number}/{method}", params, SAMPLES[sample])
