"""Fung, Rosales and Krishnapuram (2006), Learning rankings via convex hull separation: Figure 3, and what is left open.

The paper prints figures, not numbers. It leaves open how the larger sets fared that only its own method could run, how
to find a good order graph for a data set, and what a graph Laplacian over rows without a label would gain.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

from ...evaluation import Record
from ...figures import LINES, PALETTE, STYLE, quieten, save_figure
from ...sweeps import Floats
from ..running import PaperPart, PaperRun
from .graphs import bins_lines, graph_search_lines, run_bins, run_graph_search
from .growth import growth_lines, run_growth
from .labels import few_labels_lines, run_few_labels
from .trials import (
    DATA_SETS,
    GAUSSIAN,
    LARGER,
    LINEAR,
    METHODS,
    N_LANDMARKS,
    SAME,
    Trials,
    contrast_table,
    fold_pieces,
    read_bins,
)

# --------------------------------------------------------------------------------------------------
# Figure 3.


_GAUSSIAN = ", Gaussian"
_KINDS = {"row": "row slacks", "edge": "edge slacks"}
_NOTHING = "orders nothing"
"""What ConvexHullRanker warns of where w = 0 is the best."""


def _figure_three(run: PaperRun) -> tuple[Record, ...]:
    tables = {name: read_bins(run.data, name) for name in DATA_SETS}
    n_folds = 2 if run.quick else 10
    return run.pieces(
        [
            piece
            for name, table in sorted(tables.items(), key=lambda each: -len(each[1]))
            for piece in fold_pieces(name, table, METHODS, n_folds)
        ]
    )


def _figure_three_lines(records: Sequence[Record]) -> Iterator[str]:
    trials = Trials(records)
    data = trials.among(DATA_SETS)
    yield from _accuracy(trials, data)
    yield ""
    yield from _chain_against_full(trials, data)
    yield ""
    yield from _edge_against_row(trials, data)
    yield ""
    yield from _against_others(trials, data)
    yield ""
    yield from _times(trials, data)


def _accuracy(trials: Trials, data: Sequence[str]) -> Iterator[str]:
    yield (
        "**Figure 3a.** The Wilcoxon statistic in percent over pairs of different bins: mean, and (in brackets) "
        f"whole range over {trials.n_splits} folds (the paper's: 10). Bold: the highest mean of the line, in either "
        "table. The paper: all methods comparable; the chain generally as good or better than the others, the full "
        "graph consistently below it. Linear models:"
    )
    for methods, between in ((LINEAR, "Over a Gaussian kernel:"), (GAUSSIAN, None)):
        yield ""
        yield from accuracy_table(trials, data, list(methods))
        if between is not None:
            yield ""
            yield between
    yield ""
    yield _spreads(trials, data)


def accuracy_table(trials: Trials, data: Sequence[str], methods: Sequence[str]) -> Iterator[str]:
    """Write means and ranges, a line a data set; the best of all methods is bold."""
    yield "| data | rows × features | " + " | ".join(methods) + " |"
    yield "| --- " * (2 + len(methods)) + "|"
    for name in data:
        best = max(round(trials.mean(name, method), 1) for method in METHODS if not np.isnan(trials.mean(name, method)))
        shown = " | ".join(_shown(trials.values(name, method), best) for method in methods)
        yield f"| {name} | {trials.shape(name)} | {shown} |"


def _shown(values: Floats, best: float) -> str:
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return "–"
    mean = f"{known.mean():.1f}"
    return f"{f'**{mean}**' if round(float(known.mean()), 1) == best else mean} ({known.min():.1f}–{known.max():.1f})"


def _spreads(trials: Trials, data: Sequence[str]) -> str:
    """Say how far a method's folds are apart: the paper calls the chain much more stable."""

    def width(method: str) -> float:
        found = [trials.values(name, method) for name in data]
        widths = [float(np.ptp(each)) for each in found if len(each) and not np.isnan(each).any()]
        return float(np.mean(widths)) if widths else np.nan

    hulls = [method for method in METHODS if method.startswith(("chain", "full"))]
    shown = "; ".join(f"{method} {width(method):.1f}" for method in hulls if not np.isnan(width(method)))
    return (
        "The whole range over the folds, its mean over the data sets in points (the paper: 'the chain graph is much "
        f"more stable'; slacks a row over a kernel are of the smaller sets only): {shown}."
    )


def _chain_against_full(trials: Trials, data: Sequence[str]) -> Iterator[str]:
    yield (
        "**Chain against full.** Chain less full in percent points; in brackets the p-value of the corrected resampled "
        "t-test over the folds, and the same adjusted by Holm's method for all tests of the table (bold: below 0.05). "
        "Last line: the mean over the sets, on how many the chain is ahead, and the p-value of Wilcoxon's signed-rank "
        "test over them, the same adjusted for all tests of the line. Then the folds in which chain and full came out "
        "alike with slacks a row, and those in which linear models with slacks a row ended in w = 0, an "
        "ordering of nothing."
    )
    yield ""
    contrasts = {
        f"{named}{kernel}: chain − full": (f"chain, {kind}{kernel}", f"full, {kind}{kernel}")
        for kernel in ("", _GAUSSIAN)
        for kind, named in _KINDS.items()
    }
    beside = {
        f"alike: row slacks{kernel}": partial(_n_alike, trials, f"chain, row{kernel}", f"full, row{kernel}")
        for kernel in ("", _GAUSSIAN)
    } | {f"w = 0: {graph}": partial(_n_lost, trials, f"{graph}, row") for graph in ("chain", "full")}
    yield from contrast_table(trials, data, contrasts, beside)


def _n_alike(trials: Trials, first: str, second: str, name: str) -> str:
    differences = trials.differences(name, first, second)
    return f"{int((np.abs(differences) < SAME).sum())} of {len(differences)}" if len(differences) else "–"


def _n_lost(trials: Trials, method: str, name: str) -> str:
    return str(sum(any(_NOTHING in note for note in each.notes) for each in trials.of(name, method)))


def _edge_against_row(trials: Trials, data: Sequence[str]) -> Iterator[str]:
    yield (
        "**A slack for each row and edge against one a row.** As above. The paper: 'Adding more slack variables may "
        "positively affect performance in the full graph, but this comes at a computational cost.'"
    )
    yield ""
    contrasts = {
        f"{graph}{kernel}: edge − row": (f"{graph}, edge{kernel}", f"{graph}, row{kernel}")
        for kernel in ("", _GAUSSIAN)
        for graph in ("chain", "full")
    }
    yield from contrast_table(trials, data, contrasts)


def _against_others(trials: Trials, data: Sequence[str]) -> Iterator[str]:
    yield "**Hulls against others, and kernels against none.** As above."
    yield ""
    contrasts = {
        "chain, row − RankSVM": ("chain, row", "RankSVM"),
        "full, edge − RankSVM": ("full, edge", "RankSVM"),
        "full, edge: Gaussian − linear": ("full, edge, Gaussian", "full, edge"),
        "Gaussian: full, edge − RankSVM": ("full, edge, Gaussian", "RankSVM, Gaussian"),
        "Gaussian: full, edge − process": ("full, edge, Gaussian", "Gaussian process"),
        "Gaussian: chain, row − process": ("chain, row, Gaussian", "Gaussian process"),
    }
    yield from contrast_table(trials, data, contrasts)


def _times(trials: Trials, data: Sequence[str]) -> Iterator[str]:
    yield (
        "**Figure 3b.** Seconds to fit once, parameters chosen: the median over the folds. The paper: convex hulls "
        "an order of magnitude faster than SVM-light and the IVM, which both failed on CA housing."
    )
    yield ""
    yield from time_table(trials, data)
    yield ""
    yield _ratios(trials, data)
    yield ""
    yield _pairs_by_rows(trials, data)


def time_table(trials: Trials, data: Sequence[str]) -> Iterator[str]:
    """Write the seconds of a fit, a line a data set."""
    yield "| data | " + " | ".join(METHODS) + " |"
    yield "| --- " * (1 + len(METHODS)) + "|"
    for name in data:
        seconds = (trials.seconds(name, method) for method in METHODS)
        yield f"| {name} | " + " | ".join("–" if np.isnan(each) else f"{each:.3g}" for each in seconds) + " |"


def _ratios(trials: Trials, data: Sequence[str]) -> str:
    """Say how many times as long the rivals take."""
    told = []
    for rival, ours in (
        ("explicit pairs", "chain, row"),
        ("Gaussian process", "chain, row"),
        ("RankSVM", "chain, row"),
        ("chain, row", "chain, edge"),
        ("full, row", "full, edge"),
        ("full, row, Gaussian", "full, edge, Gaussian"),
        ("full, edge", "chain, edge"),
        ("full, edge, Gaussian", "chain, edge, Gaussian"),
    ):
        times = np.array([trials.seconds(name, rival) / trials.seconds(name, ours) for name in data])
        times = times[~np.isnan(times)]
        if len(times):
            reach = f"{times.min():.2g} to {times.max():.2g}, {len(times)} sets"
            told.append(f"{rival} over {ours} {np.median(times):.2g} ({reach})")
    return "Times as multiples, the median over the sets and their range: " + "; ".join(told) + "."


def _pairs_by_rows(trials: Trials, data: Sequence[str]) -> str:
    """Say how the price of writing pairs out grows with the rows."""
    found = {name: trials.seconds(name, "explicit pairs") / trials.seconds(name, "chain, row") for name in data}
    told = [
        f"{found[name]:.2g} on {name} ({trials.n_rows(name):,})"
        for name in sorted(data, key=trials.n_rows)
        if not np.isnan(found[name])
    ]
    return "Explicit pairs over chain, row, by the rows: " + ", ".join(told) + "."


# --------------------------------------------------------------------------------------------------
# The larger sets.


def _larger(run: PaperRun) -> tuple[Record, ...]:
    return run.pieces(
        [
            piece
            for name in reversed(LARGER)
            for piece in fold_pieces(name, read_bins(run.data, name), METHODS, 2 if run.quick else 10)
        ]
    )


def _larger_lines(records: Sequence[Record]) -> Iterator[str]:
    trials = Trials(records)
    data = trials.among(LARGER)
    yield (
        "The paper leaves out 'several large datasets […] since only the algorithm presented in this paper was able to "
        "run them', and does not name them. These are the large ones of the collection that its others are from. The "
        f"Wilcoxon statistic in percent, mean and range over {trials.n_splits} folds; Gaussian kernels stand on "
        f"{N_LANDMARKS} landmarks, as the Gaussian process does."
    )
    for methods in (LINEAR, GAUSSIAN):
        yield ""
        yield from accuracy_table(trials, data, [each for each in methods if _ran(trials, data, each)])
    yield ""
    yield "Seconds to fit once, parameters chosen (–: too many pairs to write out, or a programme too large):"
    yield ""
    yield from time_table(trials, data)
    yield ""
    yield "Differences as in Figure 3, adjusted by Holm's method over this table:"
    yield ""
    contrasts = {
        "row slacks: chain − full": ("chain, row", "full, row"),
        "edge slacks: chain − full": ("chain, edge", "full, edge"),
        "edge slacks, Gaussian: chain − full": ("chain, edge, Gaussian", "full, edge, Gaussian"),
        "chain: edge − row": ("chain, edge", "chain, row"),
        "full: edge − row": ("full, edge", "full, row"),
        "chain, row − RankSVM": ("chain, row", "RankSVM"),
        "full, edge − RankSVM": ("full, edge", "RankSVM"),
        "full, edge: Gaussian − linear": ("full, edge, Gaussian", "full, edge"),
        "Gaussian: full, edge − RankSVM": ("full, edge, Gaussian", "RankSVM, Gaussian"),
        "Gaussian: full, edge − process": ("full, edge, Gaussian", "Gaussian process"),
    }
    yield from contrast_table(trials, data, contrasts)


def _ran(trials: Trials, data: Sequence[str], method: str) -> bool:
    return not all(np.isnan(trials.mean(name, method)) for name in data)


# --------------------------------------------------------------------------------------------------
# The picture: accuracy with its whole range, and run time on a logarithmic scale.


def picture(found: Mapping[str, Sequence[Record]], path: str | os.PathLike[str]) -> None:
    """Draw both panels of Figure 3, a group of methods a data set; over a kernel the marks are hollow."""
    trials = Trials(found["figure-3"])
    data = trials.among(DATA_SETS)
    bases = [method for method in METHODS if not method.endswith(_GAUSSIAN)]
    step = 0.84 / len(METHODS)
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(13.0, 8.2), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        for number, method in enumerate(METHODS):
            colour, marker = LINES[bases.index(method.removesuffix(_GAUSSIAN))]
            shown = {"fmt": marker, "markersize": 4, "color": PALETTE[colour], "label": method, "linewidth": 1.0}
            if method.endswith(_GAUSSIAN):
                shown["markerfacecolor"] = "white"
            drawn = [place for place, name in enumerate(data) if not np.isnan(trials.mean(name, method))]
            x = np.array(drawn, dtype=float) - 0.42 + (number + 0.5) * step
            mean = np.array([trials.mean(data[place], method) for place in drawn])
            ends = [trials.values(data[place], method) for place in drawn]
            reach = [
                [m - np.nanmin(each) for m, each in zip(mean, ends, strict=True)],
                [np.nanmax(each) - m for m, each in zip(mean, ends, strict=True)],
            ]
            above.errorbar(x, mean, reach if drawn else None, **shown)
            below.errorbar(x, [trials.seconds(data[place], method) for place in drawn], **shown)
        quieten(above, grid="y")
        quieten(below, grid="y")
        above.set_ylabel("Wilcoxon statistic (%): mean and range")
        below.set_ylabel("seconds to fit")
        below.set_yscale("log")
        below.set_xticks(range(len(data)), labels=[name.replace(" ", "\n") for name in data])
        figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
        save_figure(figure, path, dpi=130)


PARTS = {
    "figure-3": PaperPart(
        "Figure 3: accuracy and run time on nine data sets, linear and over a Gaussian kernel",
        _figure_three,
        _figure_three_lines,
    ),
    "bins": PaperPart("More levels: five to fifty bins", run_bins, bins_lines),
    "graph-search": PaperPart("The order graph, searched", run_graph_search, graph_search_lines),
    "few-labels": PaperPart(
        "Few labels: a Laplacian over rows without one, and a searched graph", run_few_labels, few_labels_lines
    ),
    "larger": PaperPart("The larger sets", _larger, _larger_lines),
    "growth": PaperPart("Seconds as rows and levels grow", run_growth, growth_lines),
}
PICTURED = ("figure-3",)
