"""Tables 2 and 3 of Uematsu and Lee (2013), the paper's and ours, methods against methods, and Table 3's variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_1samp

from ...evaluation import Record, holm
from ...losses import implicit_costs
from ...sweeps import Floats
from ..running import PaperRun
from .relations import read_ratings
from .replicates import METHODS, PAPERS_OWN, SAMPLES, VARIANTS, replicates, working_scale


def table_row(*cells: object) -> str:
    """Return a line of a table in Markdown."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table_head(*cells: object) -> Iterator[str]:
    """Return the names of the columns, and the line below them."""
    yield table_row(*cells)
    yield "| --- " * len(cells) + "|"


def _mean_and_error(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


# --------------------------------------------------------------------------------------------------
# Tables 2 and 3: five ratings.


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

PAIRS = tuple(_PAPER["balanced"])
RARE, FREQUENT = ("1 vs 2", "1 vs 3", "1 vs 4"), ("2 vs 5", "3 vs 5", "4 vs 5")
"""Pairs with the rarest rating, and with the frequent ones at the top."""

_RIVALS = ("prop odds", "or boost")


class Replicates(NamedTuple):
    """Error rates of methods on the same drawn samples."""

    records: Sequence[Record]

    @property
    def methods(self) -> list[str]:
        """Those that were run."""
        ran = {record.method for record in self.records}
        return [method for method in METHODS if method in ran]

    @property
    def n_replicates(self) -> int:
        """Of each sample."""
        return 1 + max(record.repeat for record in self.records)

    def of(self, sample: str, method: str, n: int | None = None) -> list[Record]:
        """Return the records of one method, one a replicate; the first few, if not all are wanted."""
        mine = [each for each in self.records if each.data == sample and each.method == method]
        return sorted(mine, key=lambda each: each.repeat)[:n]

    def values(self, sample: str, method: str, pairs: Sequence[str], n: int | None = None) -> Floats:
        """Return the mean error rate of some pairs of ratings, one a replicate."""
        return np.array([np.mean([each.metrics[pair] for pair in pairs]) for each in self.of(sample, method, n)])

    def cost(self, sample: str, method: str) -> Floats:
        """Return the mean cost of all pairs at linear costs, a pair of ratings next to each other costing 1."""
        size = SAMPLES[sample]
        weight = {f"{a + 1} vs {b + 1}": size[a] * size[b] for a, b in combinations(range(5), 2)}
        total = sum(weight.values())
        return np.array(
            [
                sum(_apart(pair) * weight[pair] * each.metrics[pair] for pair in PAIRS) / total
                for each in self.of(sample, method)
            ]
        )

    def from_paper(self) -> Floats:
        """Return how many standard errors each of the paper's 60 values is from ours."""
        out = []
        for sample, table in _PAPER.items():
            for pair, paper in table.items():
                for method, (mean, spread) in zip(PAPERS_OWN, paper, strict=True):
                    ours, error = _mean_and_error(self.values(sample, method, [pair]))
                    out.append((ours - mean) / np.hypot(error, spread))
        return np.array(out)


def _apart(pair: str) -> int:
    low, high = pair.split(" vs ")
    return int(high) - int(low)


class PairedErrors(NamedTuple):
    """Of two methods on the same samples."""

    mean: float
    error: float
    p_value: float

    @classmethod
    def of(cls, first: Floats, second: Floats) -> PairedErrors:
        """Test by a paired t-test; replicates are draws from one population, which is what the test speaks of."""
        apart = first - second
        mean, error = _mean_and_error(apart)
        return cls(mean, error, float(ttest_1samp(apart, 0.0).pvalue) if error > 0 else 1.0)

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ({self.error:.4f})"


def run_tables(run: PaperRun) -> Sequence[Record]:
    """Fit all methods on the replicates of Table 3."""
    return run.pieces(replicates(read_ratings(run.data / "movielens-100k"), "base", METHODS, 5 if run.quick else 50))


def tables_lines(records: Sequence[Record]) -> Iterator[str]:
    """Return Tables 2 and 3, and what tells the methods apart."""
    found = Replicates(records)
    yield from _table_two(found)
    yield ""
    yield from _table_three(found)
    yield ""
    yield from _method_tests(found)
    yield ""
    yield from _other_methods(found)


def _table_two(found: Replicates) -> Iterator[str]:
    yield "**Table 2.** Costs implied by ORBoost's mean thresholds (θ₄ = 0), the paper's and ours."
    yield ""
    yield from table_head("sample", "thresholds, paper", "thresholds (standard error)", "θ₁ = θ₂ in")
    means = {}
    for sample in SAMPLES:
        ours = np.array([each.params["thresholds"] for each in found.of(sample, "or boost")])
        means[sample] = ours.mean(axis=0)
        shown = ("{:.4f} ({:.4f})".format(*_mean_and_error(column)) for column in ours.T[:-1])
        pooled = np.count_nonzero(ours[:, 0] == ours[:, 1])
        paper = ", ".join(f"{each:.4f}" for each in _THRESHOLDS[sample][:-1])
        yield table_row(sample, paper, ", ".join(shown), f"{pooled} of {len(ours)} replicates")
    yield ""
    pairs = list(combinations(range(5), 2))
    yield from table_head("costs", *(f"{low + 1} below {high + 1}" for low, high in pairs))
    for sample in SAMPLES:
        for title, at in (("paper", np.asarray(_THRESHOLDS[sample])), ("ours", means[sample])):
            costs = implicit_costs(at)
            yield table_row(f"{sample}, {title}", *(f"{costs[pair]:.3f}" for pair in pairs))


def _table_three(found: Replicates) -> Iterator[str]:
    yield (
        "**Table 3.** Error rates of pairs of ratings (a tie is half an error), with standard errors over "
        f"{found.n_replicates} replicates (the paper's: {_N_PAPER}). Bold: the lowest of the three, as in the paper. "
        "°: more than two standard errors from the paper's."
    )
    for sample in SAMPLES:
        yield ""
        yield from table_head(sample, *(f"{name}, paper" for name in PAPERS_OWN), *PAPERS_OWN)
        for pair, paper in _PAPER[sample].items():
            ours = [_mean_and_error(found.values(sample, method, [pair])) for method in PAPERS_OWN]
            far = [
                bool(abs(mean - other) > 2 * np.hypot(error, spread))
                for (mean, error), (other, spread) in zip(ours, paper, strict=True)
            ]
            yield table_row(pair, *_with_lowest(paper), *_with_lowest(ours, far))
    z = found.from_paper()
    yield ""
    yield (
        f"{np.count_nonzero(np.abs(z) <= 2)} of {len(z)} values are within two standard errors of the paper's; "
        f"{np.count_nonzero(z < -2)} are lower, {np.count_nonzero(z > 2)} higher."
    )
    yield ""
    yield _widest(found)
    yield ""
    yield from _balance_lines(found)


def _widest(found: Replicates) -> str:
    """Say how far the three methods are apart at most."""
    ours = [np.ptp([found.values(sample, m, [p]).mean() for m in PAPERS_OWN]) for sample in SAMPLES for p in PAIRS]
    paper = [np.ptp([mean for mean, _ in cells]) for table in _PAPER.values() for cells in table.values()]
    return (
        f"On a pair of ratings the three are at most {max(ours):.4f} apart, the paper's {max(paper):.4f}; in the mean "
        f"{np.mean(ours):.4f} and {np.mean(paper):.4f}."
    )


def _balance_lines(found: Replicates) -> Iterator[str]:
    """Compare the halves of Table 3."""
    parts = []
    for place, method in enumerate(PAPERS_OWN):
        ours, paper = 0, 0
        for pair in PAIRS:
            balanced, unbalanced = (found.values(sample, method, [pair]).mean() for sample in SAMPLES)
            ours += int(balanced < unbalanced)
            paper += int(_PAPER["balanced"][pair][place][0] < _PAPER["unbalanced"][pair][place][0])
        parts.append(f"{method} on {ours} (the paper: {paper})")
    yield f"Lower in the balanced half, of {len(PAIRS)} pairs of ratings: " + "; ".join(parts) + "."


def _with_lowest(cells: Sequence[tuple[float, float]], marked: Sequence[bool] = (False,) * 3) -> Iterator[str]:
    lowest = min(mean for mean, _ in cells)
    for (mean, error), mark in zip(cells, marked, strict=True):
        cell = f"{mean:.4f} ({error:.4f})"
        yield (f"**{cell}**" if mean == lowest else cell) + "°" * mark


def _method_tests(found: Replicates) -> Iterator[str]:
    yield (
        "**Pairwise ranking against the others.** Its error rate less theirs on the same replicates (standard error): "
        "below zero pairwise ranking is better. p of a paired t-test, by itself and after Holm's correction over these "
        "40; bold: below 0.05 after it."
    )
    tests = {
        (sample, rival, pair): PairedErrors.of(*(found.values(sample, name, [pair]) for name in ("pair rank", rival)))
        for sample in SAMPLES
        for rival in _RIVALS
        for pair in PAIRS
    }
    adjusted = dict(zip(tests, holm([test.p_value for test in tests.values()]), strict=True))
    for sample in SAMPLES:
        yield ""
        columns = [(f"less {rival}, paper", f"less {rival}", "p", "p, Holm") for rival in _RIVALS]
        yield from table_head(sample, *(cell for part in columns for cell in part))
        for pair in PAIRS:
            cells: list[str] = []
            for rival in _RIVALS:
                test = tests[sample, rival, pair]
                p, corrected = test.p_value, float(adjusted[sample, rival, pair])
                shown = f"**{test}**" if corrected < 0.05 else str(test)
                cells += [f"{_paper_difference(sample, rival, [pair]):+.4f}", shown, _p(p), _p(corrected)]
            yield table_row(pair, *cells)
    yield ""
    yield from _scales()
    yield ""
    yield from _groups(found)
    yield ""
    yield from _counts(tests)


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1g}".replace("e-0", "e-")


def _paper_difference(sample: str, rival: str, pairs: Sequence[str]) -> float:
    place = PAPERS_OWN.index(rival)
    return float(np.mean([_PAPER[sample][pair][0][0] - _PAPER[sample][pair][place][0] for pair in pairs]))


def _scales() -> Iterator[str]:
    """Say what the methods tell apart first."""
    yield (
        "What each method's first step regresses on: minus the gradient of its risk at equal scores, one number a "
        "rating, from 0 to 1."
    )
    yield ""
    yield from table_head("sample", "method", *range(1, 6))
    for sample in SAMPLES:
        for method in PAPERS_OWN:
            yield table_row(sample, method, *(f"{each:.2f}" for each in working_scale(method, sample)))


def _groups(found: Replicates) -> Iterator[str]:
    """Compare over the pairs with rare ratings, and over those with frequent ones."""
    yield (
        f"The same over the pairs with rating 1, the rarest ({', '.join(RARE)}), and with frequent ratings at the top "
        f"({', '.join(FREQUENT)}); Holm's correction over these eight."
    )
    yield ""
    tests = {
        (sample, name, rival): PairedErrors.of(*(found.values(sample, each, pairs) for each in ("pair rank", rival)))
        for sample in SAMPLES
        for name, pairs in (("rare", RARE), ("frequent", FREQUENT))
        for rival in _RIVALS
    }
    adjusted = holm([test.p_value for test in tests.values()])
    yield from table_head("sample", "pairs", "pair rank less", "paper", "ours", "p", "p, Holm")
    for ((sample, name, rival), test), corrected in zip(tests.items(), adjusted, strict=True):
        pairs = RARE if name == "rare" else FREQUENT
        shown = f"**{test}**" if corrected < 0.05 else str(test)
        paper = f"{_paper_difference(sample, rival, pairs):+.4f}"
        yield table_row(sample, name, rival, paper, shown, _p(test.p_value), _p(float(corrected)))


def _counts(tests: Mapping[tuple[str, str, str], PairedErrors]) -> Iterator[str]:
    sentences = []
    for sample in SAMPLES:
        parts = []
        for rival in _RIVALS:
            ours = np.array([tests[sample, rival, pair].mean for pair in PAIRS])
            paper = np.array([_paper_difference(sample, rival, [pair]) for pair in PAIRS])
            parts.append(
                f"than {rival} on {np.count_nonzero(ours < 0)} of {len(PAIRS)} pairs (the paper: "
                f"{np.count_nonzero(paper < 0)}; the same sign on {np.count_nonzero(np.sign(ours) == np.sign(paper))})"
            )
        sentences.append(f"{sample.capitalize()}: pair rank is better " + " and ".join(parts) + ".")
    yield " ".join(sentences)


def _other_methods(found: Replicates) -> Iterator[str]:
    methods = [method for method in found.methods if method not in PAPERS_OWN]
    yield (
        "**Other methods** on the same replicates: 'plain pairs' leaves Theorem 4's terms out; 'trees' boosts trees "
        "for the risk of 'pair rank'; 'plug-in' is Corollary 1's score, the expected rating by the probabilities of a "
        "logistic regression, and 'plug-in forest' by those of a random forest. In parentheses the difference from "
        "'pair rank'; °: not told apart from it, p ≥ 0.05 in a paired t-test after Holm's correction over "
        f"{2 * (len(PAIRS) + 1) * len(methods)}. Cost: the mean over all pairs at linear costs, which pairwise ranking "
        "and plug-in aim at."
    )
    rows: list[tuple[str, str]] = [(sample, pair) for sample in SAMPLES for pair in (*PAIRS, "cost")]

    def values(sample: str, row: str, method: str) -> Floats:
        return found.cost(sample, method) if row == "cost" else found.values(sample, method, [row])

    tests = {
        (row, method): PairedErrors.of(values(*row, method), values(*row, "pair rank"))
        for row in rows
        for method in methods
    }
    adjusted = dict(zip(tests, holm([test.p_value for test in tests.values()]), strict=True))
    for sample in SAMPLES:
        yield ""
        yield from table_head(sample, "pair rank", *methods)
        for row in rows:
            if row[0] == sample:
                cells = [
                    f"{values(*row, method).mean():.4f} ({tests[row, method].mean:+.4f})"
                    + "°" * bool(adjusted[row, method] >= 0.05)
                    for method in methods
                ]
                yield table_row(row[1], f"{values(*row, 'pair rank').mean():.4f}", *cells)


# --------------------------------------------------------------------------------------------------
# Variants of Table 3: where a difference from the paper may come from.


def run_variants(run: PaperRun) -> Sequence[Record]:
    """Fit the paper's methods with one thing changed at a time."""
    ratings = read_ratings(run.data / "movielens-100k")
    pieces = []
    for name, variant in VARIANTS.items():
        n = 2 if run.quick else variant.n_replicates
        pieces += replicates(ratings, name, variant.methods, n)
    return run.pieces(pieces)


def variants_lines(records: Sequence[Record]) -> Iterator[str]:
    """Return a line a variant."""
    by_name = {
        name: Replicates([each for each in records if each.params.get("variant", "base") == name]) for name in VARIANTS
    }
    yield (
        "Pair rank's error rate less that of the two others, on the same replicates (standard error), over the pairs "
        f"with rating 1 ({', '.join(RARE)}) and those with frequent ratings at the top ({', '.join(FREQUENT)}); bold: "
        "more than two standard errors from zero. Then pair rank's own error rates, and the rounds kept (the median) "
        "by pair rank, prop odds and or boost."
    )
    for sample in SAMPLES:
        yield ""
        yield from table_head(
            sample,
            "replicates",
            *(f"{name}, less {rival}" for rival in _RIVALS for name in ("rare", "frequent")),
            "1 vs 2",
            "1 vs 5",
            "4 vs 5",
            "rounds",
        )
        yield _paper_row(sample)
        for name, found in by_name.items():
            yield _variant_row(sample, VARIANTS[name].what, found, by_name[VARIANTS[name].beside])
    yield ""
    yield from _cost_lines(by_name)
    yield ""
    yield from _decade_lines(by_name["decade"])


def _paper_row(sample: str) -> str:
    differences = [f"{_paper_difference(sample, rival, pairs):+.4f}" for rival in _RIVALS for pairs in (RARE, FREQUENT)]
    own = [f"{_PAPER[sample][pair][0][0]:.4f}" for pair in ("1 vs 2", "1 vs 5", "4 vs 5")]
    return table_row("the paper", _N_PAPER, *differences, *own, "–")


def _variant_row(sample: str, what: str, found: Replicates, beside: Replicates) -> str:
    n = found.n_replicates
    cells = []
    for rival in _RIVALS:
        other = found if rival in found.methods else beside
        for pairs in (RARE, FREQUENT):
            test = PairedErrors.of(found.values(sample, "pair rank", pairs), other.values(sample, rival, pairs, n))
            cells.append(f"**{test}**" if abs(test.mean) > 2 * test.error else str(test))
    own = [f"{found.values(sample, 'pair rank', [pair]).mean():.4f}" for pair in ("1 vs 2", "1 vs 5", "4 vs 5")]
    rounds = (np.median([each.params["rounds"] for each in found.of(sample, name)]) for name in found.methods)
    return table_row(what, n, *cells, *own, ", ".join(f"{each:.0f}" for each in rounds))


def _cost_lines(by_name: Mapping[str, Replicates]) -> Iterator[str]:
    """Compare pair rank at other costs with itself at the linear ones."""
    yield (
        "What costs decide: pair rank with others less pair rank with the linear ones, on the same replicates "
        "(standard error)."
    )
    yield ""
    yield from table_head("costs", *(f"{sample}, {name}" for sample in SAMPLES for name in ("rare", "frequent")))
    for name, found in by_name.items():
        beside = VARIANTS[name].beside
        if VARIANTS[name].costs == VARIANTS[beside].costs:
            continue
        n = found.n_replicates
        cells = [
            PairedErrors.of(
                found.values(sample, "pair rank", pairs), by_name[beside].values(sample, "pair rank", pairs, n)
            )
            for sample in SAMPLES
            for pairs in (RARE, FREQUENT)
        ]
        yield table_row(VARIANTS[name].what, *cells)


def _decade_lines(found: Replicates) -> Iterator[str]:
    z = found.from_paper()
    half = len(z) // 2
    yield (
        f"With the decade in place of the year, {np.count_nonzero(np.abs(z) <= 2)} of {len(z)} values of Table 3 are "
        f"within two standard errors of the paper's ({np.count_nonzero(np.abs(z[half:]) <= 2)} of {half} in the "
        f"unbalanced case), {np.count_nonzero(z < -2)} lower and {np.count_nonzero(z > 2)} higher, over "
        f"{found.n_replicates} replicates."
    )
