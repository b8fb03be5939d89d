"""Table 1 of 'swapped pairs', the paper's and ours side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from ..evaluation import Record
from ..sweeps import Floats

_PAPER = ("SVOR5", "Herbrich5", "SwapSVM")


@dataclass(frozen=True)
class TableOne:
    """What the hold-outs gave."""

    records: tuple[Record, ...]
    n_repeats: int
    data_sets: Mapping[str, Any]
    methods: tuple[str, ...]

    def values(self, data: str, method: str) -> Floats:
        """Return the swapped pairs of one method on one data set, in percent, one a hold-out."""
        mine = [record for record in self.records if record.data == data and record.method == method]
        ordered = sorted(mine, key=lambda record: (record.repeat, record.fold))
        return np.array([100.0 * record.metrics["swapped_pairs"] for record in ordered])

    def mark(self, data: str, method: str) -> str:
        """Return † or †† where the method differs from SwapSVM by a paired t-test at 5 or 1 %."""
        ours, reference = self.values(data, method), self.values(data, "SwapSVM")
        if method == "SwapSVM" or len(ours) < 2 or len(ours) != len(reference) or not (ours - reference).any():
            return ""
        p = float(ttest_rel(ours, reference).pvalue)
        return "††" if p < 0.01 else "†" if p < 0.05 else ""

    def n_at_or_below(self) -> tuple[int, list[str]]:
        """Count the sets where one of our two SVMs is at or below the paper's; name the others."""
        ours = [method for method in ("SwapSVM", "RankSVM") if method in self.methods]
        above = [
            name
            for name in self.data_sets
            if min(self.values(name, method).mean() for method in ours) > self._paper(name, 2)[0]
        ]
        return len(self.data_sets) - len(above), above

    def lines(self) -> list[str]:
        """Return the paper's table and ours, side by side, as Markdown lines."""
        lines = [
            f"Swapped pairs in percent: mean ± standard deviation over {self.n_repeats} hold-outs (the paper's: 20). "
            "† and ††: different from SwapSVM in the same row and part, t-test at 5 % and 1 % (ours is paired). "
            "Bold: the lowest of the part.",
            "",
            "| data | train / test | "
            + " | ".join(f"{name}, paper" for name in _PAPER)
            + " | "
            + " | ".join(self.methods)
            + " |",
            "| --- " * (2 + len(_PAPER) + len(self.methods)) + "|",
        ]
        for name, each in self.data_sets.items():
            paper = [f"{mean:.2f}{mark} ± {spread:.2f}" for mean, spread, mark in each.paper]
            best = int(np.argmin([mean for mean, _, _ in each.paper]))
            paper[best] = f"**{paper[best]}**"
            lines.append(
                f"| {name} | {each.n_train} / {each.n_test} | " + " | ".join([*paper, *self._ours(name)]) + " |"
            )
        n, above = self.n_at_or_below()
        lines += [
            "",
            f"SwapSVM or RankSVM is at or below the paper's SwapSVM on {n} of {len(self.data_sets)} sets"
            + (f"; not on {', '.join(above)}." if above else "."),
        ]
        lines += ["", *self._differences()]
        return lines

    def _ours(self, name: str) -> list[str]:
        values = {method: self.values(name, method) for method in self.methods}
        best = min((found.mean(), method) for method, found in values.items() if len(found))[1]
        cells = []
        for method, found in values.items():
            spread = f" ± {found.std(ddof=1):.2f}" if len(found) > 1 else ""
            cell = f"{found.mean():.2f}{self.mark(name, method)}{spread}" if len(found) else "–"
            cells.append(f"**{cell}**" if method == best else cell)
        return cells

    def _paper(self, name: str, place: int) -> tuple[float, float, str]:
        found: tuple[float, float, str] = self.data_sets[name].paper[place]
        return found

    def _differences(self) -> list[str]:
        """Name where ours and the paper's differ by more than two standard errors."""
        apart = []
        for name in self.data_sets:
            for place, method in enumerate(_PAPER):
                found = self.values(name, method)
                mean, spread, _ = self._paper(name, place)
                if len(found) < 2:
                    continue
                error = np.sqrt(found.var(ddof=1) / len(found) + spread**2 / 20)
                if abs(found.mean() - mean) > 2 * error:
                    apart.append(f"{method} on {name} ({found.mean() - mean:+.2f})")
        return ["More than two standard errors from the paper's: " + (", ".join(apart) or "none") + "."]

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw the paper's values beside ours, with the spread over the hold-outs."""
        from ..figures import AgainstPaperDisplay, Found

        def found(name: str, method: str) -> Found:
            values = self.values(name, method)
            paper = self._paper(name, _PAPER.index(method))[0] if method in _PAPER else None
            return Found(paper, float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0)

        methods = {method: [found(name, method) for name in self.data_sets] for method in self.methods}
        AgainstPaperDisplay(list(self.data_sets), methods, "swapped pairs (%)").save(path)
