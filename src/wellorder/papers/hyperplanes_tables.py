"""What running 'multiple hyperplane ranker' again gave, the paper's tables and ours side by side."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..evaluation import Record, randomisation_test
from ..sweeps import Floats
from .hyperplanes_directions import LOSSES, Direction
from .letor import LETOR_MAP, MAP

_SHOWN = {
    "ndcg@1": "NDCG@1",
    "ndcg@3": "NDCG@3",
    "ndcg@5": "NDCG@5",
    "ndcg@10": "NDCG@10",
    MAP: "MAP, top grade",
    LETOR_MAP: "MAP, grade 1 too",
}
_COMPARED = ("ndcg@1", "ndcg@10", MAP)
_BASE = "RankSVM"

_TABLE_3 = {"MHR-BC": (6.78, 0.92, 0.34), "MHR-WBC": (11.96, 1.06, 1.60)}
"""The paper's relative improvements over Ranking SVM on OHSUMED, in percent, of NDCG@1, NDCG@10 and MAP."""

_PAIRS = ("ω₁₂", "ω₁₃", "ω₂₃")
_TABLE_5 = (
    (0.61, 0.94, 0.71, 0.71, 0.39, 0.54),
    (0.58, 0.92, 0.71, 0.62, 0.38, 0.47),
    (0.32, 0.79, 0.62, 0.55, 0.08, 0.20),
    (0.62, 0.94, 0.34, 0.64, 0.33, 0.12),
)
"""The paper's cosines on OHSUMED, by trial: the upper triangle over ω, ω₁₂, ω₁₃, ω₂₃, row by row."""

_TABLE_6 = {"RankSVM": (0.3924, 0.3095, 0.3944), "MHR": (0.3621, 0.3052, 0.3856)}
_TABLE_7 = ((17, 90, 175, 823), (17, 75, 200, 841), (16, 78, 154, 663), (22, 92, 196, 887))
"""The paper's minutes on OHSUMED: three hyperplanes, then Ranking SVM."""


@dataclass(frozen=True)
class HyperplaneTables:
    """The paper's experiments, run again."""

    records: tuple[Record, ...]
    directions: list[Direction]
    data: tuple[str, ...]
    protocols: tuple[str, ...]
    methods: tuple[str, ...]

    def values(self, data: str, protocol: str, method: str, metric: str) -> Floats:
        """Return a metric's value on every test query; NaN for a query without a relevant document."""
        mine = [each for each in self.records if each.data == f"{data}, {protocol}" and each.method == method]
        found = [each.params["by query"][metric] for each in sorted(mine, key=lambda each: each.fold)]
        return np.array([np.nan if value is None else value for part in found for value in part], dtype=float)

    def mean(self, data: str, protocol: str, method: str, metric: str) -> float:
        """Return the mean over the test queries."""
        return float(np.nanmean(self.values(data, protocol, method, metric)))

    def improvement(self, data: str, protocol: str, method: str, metric: str) -> tuple[float, float]:
        """Return how much better than RankSVM, relatively and in percent, and the p-value over queries."""
        ours, base = (self.values(data, protocol, each, metric) for each in (method, _BASE))
        change = 100.0 * (np.nanmean(ours) / np.nanmean(base) - 1.0)
        return float(change), randomisation_test(ours - base)

    def lines(self) -> list[str]:
        """Return the tables as Markdown lines."""
        parts = [self._table_three(), *(self._figure_two(data) for data in self.data)]
        parts += [self._table_five(), self._table_six(), self._table_seven()]
        out: list[str] = []
        for part in parts:
            out += ["", *part] if out else part
        return out

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw NDCG over the places."""
        from .hyperplanes_picture import draw

        draw(self, path)

    def _table_three(self) -> Iterator[str]:
        yield (
            "**Table 3.** Better than RankSVM, relatively, in percent; in brackets the p-value of a randomisation test "
            "over the test queries. The paper's is of OHSUMED with 30 features, 4-fold."
        )
        yield ""
        yield "| data | method | NDCG@1 | NDCG@10 | MAP, top grade |"
        yield "| --- | --- | --- | --- | --- |"
        for method, paper in _TABLE_3.items():
            yield f"| the paper | {method} | " + " | ".join(f"{value:+.1f}" for value in paper) + " |"
        for data in self.data:
            for protocol in self.protocols:
                for method in self.methods:
                    if method.startswith("MHR") and "hinge" not in method:
                        found = [self.improvement(data, protocol, method, metric) for metric in _COMPARED]
                        shown = " | ".join(f"{change:+.1f} ({p:.2f})" for change, p in found)
                        yield f"| {data}, {protocol} | {method} | {shown} |"

    def _figure_two(self, data: str) -> Iterator[str]:
        for protocol in self.protocols:
            queries = self.values(data, protocol, _BASE, MAP)
            any_grade = self.values(data, protocol, _BASE, LETOR_MAP)
            yield (
                f"**{data}, {protocol}.** Means over the {np.count_nonzero(~np.isnan(any_grade))} of {len(queries)} "
                f"test queries that have a relevant document ({np.count_nonzero(~np.isnan(queries))} have one of the "
                "top grade). Bold: the highest."
            )
            yield ""
            yield "| method | " + " | ".join(_SHOWN.values()) + " |"
            yield "| --- " * (len(_SHOWN) + 1) + "|"
            means = {
                method: {metric: self.mean(data, protocol, method, metric) for metric in _SHOWN}
                for method in self.methods
            }
            best = {metric: max(each[metric] for each in means.values()) for metric in _SHOWN}
            for method, found in means.items():
                shown = (f"**{v:.3f}**" if v == best[metric] else f"{v:.3f}" for metric, v in found.items())
                yield f"| {method} | " + " | ".join(shown) + " |"
            yield ""

    def _table_five(self) -> Iterator[str]:
        names = ("ω", *_PAIRS)
        places = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        yield (
            "**Table 5.** Cosines between the hyperplanes on OHSUMED with 25 features: ω is RankSVM's, ω₁₂ that of the "
            "paper's ranks 1 and 2 (our grades 2 and 1), and so on."
        )
        yield ""
        yield "| trial | " + " | ".join(f"{names[i]}, {names[j]}" for i, j in places) + " |"
        yield "| --- " * (1 + len(places)) + "|"
        for number, row in enumerate(_TABLE_5, start=1):
            yield f"| {number}, paper | " + " | ".join(f"{value:.2f}" for value in row) + " |"
        for number, each in enumerate(self.directions, start=1):
            yield f"| {number}, here | " + " | ".join(f"{each.cosines[i][j]:.2f}" for i, j in places) + " |"

    def _table_six(self) -> Iterator[str]:
        yield (
            "**Table 6.** Order error rates on training queries, mean over the trials: RankSVM's hyperplane against "
            "the one of the rank pair itself."
        )
        yield ""
        yield "| | (1, 2) | (1, 3) | (2, 3) |"
        yield "| --- | --- | --- | --- |"
        for name, row in _TABLE_6.items():
            yield f"| {name}, paper | " + " | ".join(f"{value:.4f}" for value in row) + " |"
        ours = {"RankSVM": [each.single for each in self.directions], "MHR": [each.several for each in self.directions]}
        for name, rows in ours.items():
            yield f"| {name}, here | " + " | ".join(f"{value:.4f}" for value in np.mean(rows, axis=0)) + " |"

    def _table_seven(self) -> Iterator[str]:
        yield (
            "**Table 7.** Time to train on OHSUMED: the hyperplanes one by one, all as one estimator, and RankSVM. "
            "The paper's minutes are of a solver that lists all pairs; ours, milliseconds, need no list, so that there "
            "is little left to divide and conquer."
        )
        yield ""
        yield "| trial | " + " | ".join(_PAIRS) + " | sum | as one | RankSVM | sum / RankSVM | as one / RankSVM |"
        yield "| --- " * 9 + "|"
        for number, minutes in enumerate(_TABLE_7, start=1):
            total = sum(minutes[:3])
            shown = " | ".join(map(str, minutes[:3]))
            yield f"| {number}, paper, min | {shown} | {total} | | {minutes[3]} | {total / minutes[3]:.2f} | |"
        for loss in LOSSES:
            for number, each in enumerate(self.directions, start=1):
                *parts, one, whole = (1000.0 * seconds for seconds in each.seconds[loss])
                shown = " | ".join(f"{value:.0f}" for value in (*parts, sum(parts), one, whole))
                ratios = f"{sum(parts) / whole:.2f} | {one / whole:.2f}"
                yield f"| {number}, {loss.replace('_', ' ')}, ms | {shown} | {ratios} |"
