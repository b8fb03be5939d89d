"""What running 'convex hulls' again gave: accuracy and run time, beside what the paper says of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..evaluation import Record, corrected_resampled_test
from ..sweeps import Floats

_NOTHING = "orders nothing"
"""What ConvexHullRanker warns of where w = 0 is the best."""

_ROW, _EDGE = ("chain, row", "full, row"), ("chain, edge", "full, edge")


@dataclass(frozen=True)
class HullTables:
    """The paper's Figure 3, run again."""

    records: tuple[Record, ...]
    sizes: Mapping[str, tuple[int, int]]
    """Rows and features of each data set."""
    methods: tuple[str, ...]

    def values(self, data: str, method: str) -> Floats:
        """Return the Wilcoxon statistic in percent, one a fold; NaN where the method could not be run."""
        return np.array([100.0 * each.metrics["wmw"] for each in self._mine(data, method)])

    def seconds(self, data: str, method: str) -> float:
        """Return the median time of a fit; NaN where the method could not be run."""
        mine = [each.fit_seconds for each in self._mine(data, method) if each.problem is None]
        return float(np.median(mine)) if mine else np.nan

    def n_degenerate(self, data: str, method: str) -> int:
        """Count the folds in which the chosen model was w = 0."""
        return sum(any(_NOTHING in note for note in each.notes) for each in self._mine(data, method))

    def _mine(self, data: str, method: str) -> list[Record]:
        mine = [each for each in self.records if each.data == data and each.method == method]
        return sorted(mine, key=lambda each: each.fold)

    def lines(self) -> list[str]:
        """Return the tables as Markdown lines."""
        return [*self._accuracy(), "", *self._graphs(), "", *self._times()]

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw Figure 3."""
        from .convex_hulls_picture import draw

        draw(self, path)

    def _accuracy(self) -> Iterator[str]:
        n_folds = max(len(self._mine(data, self.methods[0])) for data in self.sizes)
        yield (
            f"**Figure 3a.** The Wilcoxon statistic in percent over pairs of different bins: mean, and (in brackets) "
            f"whole range over {n_folds} folds (the paper's: 10). Bold: the highest mean. The paper: all methods "
            "comparable; the chain generally as good or better than the others, the full graph consistently below it."
        )
        yield ""
        yield "| data | rows × features | " + " | ".join(self.methods) + " |"
        yield "| --- " * (2 + len(self.methods)) + "|"
        for data, (n, d) in self.sizes.items():
            found = {method: self.values(data, method) for method in self.methods}
            means = {method: _mean(each) for method, each in found.items()}
            best = max(mean for mean in means.values() if not np.isnan(mean))
            shown = " | ".join(_shown(found[method], means[method] == best) for method in self.methods)
            yield f"| {data} | {n:,} × {d} | {shown} |"

    def _graphs(self) -> Iterator[str]:
        yield (
            "**Chain against full.** Difference of the means in percent points, and the p-value of the corrected "
            "resampled t-test; then the folds in which row slacks ended in w = 0, an ordering of nothing."
        )
        yield ""
        yield "| data | row slacks: chain − full | edge slacks: chain − full | w = 0: chain | w = 0: full |"
        yield "| --- | --- | --- | --- | --- |"
        for data in self.sizes:
            cells = []
            for chain, full in (_ROW, _EDGE):
                differences = self.values(data, chain) - self.values(data, full)
                known = differences[~np.isnan(differences)]
                if len(known) < 2:
                    cells.append("–")
                    continue
                test = corrected_resampled_test(known, 1.0 / 9.0)
                cells.append(f"{known.mean():+.2f} ({_p(test.p_value)})")
            lost = " | ".join(f"{self.n_degenerate(data, method)}" for method in _ROW)
            yield f"| {data} | " + " | ".join(cells) + f" | {lost} |"

    def _times(self) -> Iterator[str]:
        yield (
            "**Figure 3b.** Seconds to fit once, parameters chosen: the median over the folds. The paper: convex hulls "
            "an order of magnitude faster than SVM-light and the IVM, which both failed on CA housing."
        )
        yield ""
        yield "| data | " + " | ".join(self.methods) + " |"
        yield "| --- " * (1 + len(self.methods)) + "|"
        for data in self.sizes:
            seconds = (self.seconds(data, method) for method in self.methods)
            yield f"| {data} | " + " | ".join("–" if np.isnan(each) else f"{each:.3g}" for each in seconds) + " |"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _shown(values: Floats, best: bool) -> str:
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return "–"
    mean = f"**{known.mean():.1f}**" if best else f"{known.mean():.1f}"
    return f"{mean} ({known.min():.1f}–{known.max():.1f})"
