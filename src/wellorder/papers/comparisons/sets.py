"""Figures 3 to 5 of Venuto et al. (2014): simulated pairs and sushi, by the number of pairs and the share of ties."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau

from ...evaluation import Record
from ...losses import best_threshold
from ...spaces import Kernel
from ...sweeps import Floats
from ...writing import NOTHING
from ..paired import Paired, corrected, is_sure, paired, table_of_tests, write_p_values
from ..running import PaperRun, Piece, record_key
from .chess import read_sushi
from .search import (
    CRITERIA,
    METHODS,
    NORMS,
    SIDE,
    WIDTHS,
    Compared,
    Searched,
    compare,
    fit_quietly,
    judge,
    over_costs,
    search,
    simulate,
    true_rank,
)

# --------------------------------------------------------------------------------------------------
# What is drawn, and how it is judged.


DATA = (*NORMS, "sushi")
TRUTHS = ("truth", "truth, own τ")
"""The true ranking function with its true threshold, 1, and with the one that fits the training pairs best."""

BIASES = "β"
"""What the records of compare's biases are named by."""

PATTERN = ("‖x‖₁²", 100, 0.5)
"""Figure 3: which ranking function, how many pairs, and the share of ties."""

SQUARE = 41
"""Points on a side of the square whose scores are drawn and held against the true ones."""


class Drawn(NamedTuple):
    """A train, a validation and a test set of n pairs each, with the same share of ties."""

    data: str
    n: int
    ties: float
    seed: int

    def methods(self) -> tuple[str, ...]:
        """Return what is judged on it."""
        learned = tuple(name for name, each in METHODS.items() if each.has(self.n))
        return (*learned, *TRUTHS) if self.data in NORMS else learned


@dataclass(frozen=True)
class SetsPlan:
    """What is run."""

    sizes: tuple[int, ...] = (50, 100, 200, 400, 800)
    ties: float = 0.5
    """Figure 4: numbers of pairs, and the share of ties among them."""
    size: int = 400
    shares: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)
    """Figure 5: the number of pairs, and shares of ties."""
    n_sets: int = 4
    """The paper's: data sets of each kind, each with its own train, validation and test pairs."""
    n_tested: int = 8
    """Of the kinds that take little time, or that the paper's claims are about."""

    def cells(self) -> list[Drawn]:
        """Return what to draw, the longest first: a cell that both figures need is drawn once."""
        kinds = dict.fromkeys([(n, self.ties) for n in self.sizes] + [(self.size, share) for share in self.shares])
        every = [Drawn(data, *kind, seed) for kind in kinds for data in DATA for seed in range(self._n_sets(*kind))]
        return sorted(every, key=lambda each: -each.n)

    def _n_sets(self, n: int, ties: float) -> int:
        often = n < self.size or ties in (min(self.shares), max(self.shares))
        return self.n_tested if often else self.n_sets


QUICK = SetsPlan(sizes=(50, 100, 200), size=200, shares=(0.1, 0.5, 0.9), n_sets=2, n_tested=2)


def run_sets(run: PaperRun) -> tuple[Record, ...]:
    """Search every method on every set, and learn the pattern that is drawn."""
    sushi = read_sushi(run.data / "sushi")
    pieces = [
        Piece(
            each.data,
            {method: _key(each, method) for method in each.methods()},
            partial(_trial, each, sushi if each.data == "sushi" else None),
        )
        for each in (QUICK if run.quick else SetsPlan()).cells()
    ]
    listed = read_sushi(run.data / "sushi", by_score=False)
    counts = {
        "ties": float(np.count_nonzero(sushi.outcome == 0)),
        "decided": float(np.count_nonzero(sushi.outcome)),
        "decided as listed": float(np.count_nonzero(listed.outcome)),
    }
    counted = Record("comparisons/sushi pairs", "sushi pairs", "", 0, 0, 0, len(sushi.outcome), 0, counts)
    drawn = record_key("comparisons/figure 3", PATTERN, SQUARE, _made_by("compare", PATTERN[1]))
    found = run.pieces([Piece("figure 3", {"": drawn}, partial(_pattern, drawn)), *pieces])
    return (counted, *found, *run.pieces([_bias_piece(each, sushi) for each in found if each.method == "compare"]))


def draw(cell: Drawn, sushi: Compared | None) -> tuple[Compared, Compared, Compared]:
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


def _trial(cell: Drawn, sushi: Compared | None, methods: list[str]) -> list[Record]:
    """Search each method on one train and validation set, and judge its choices on the test set."""
    train, validation, test = draw(cell, sushi)
    started = time.perf_counter()
    chosen = search(train, validation, {method: METHODS[method] for method in methods if method in METHODS})
    seconds = (time.perf_counter() - started) / max(len(chosen), 1)
    made = []
    for method in methods:
        if method in TRUTHS:
            metrics, params = _judge_truth(cell.data, method, train, test), {}
        else:
            best = chosen[method]
            metrics = {criterion: best[criterion].judge(test)[criterion] for criterion in CRITERIA}
            params = {name: each.params for name, each in best.items()}
            if cell.data in NORMS:
                metrics["tau"] = _tau(cell.data, best["error"].scores(_square()))
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
                search_seconds=0.0 if method in TRUTHS else seconds,
            )
        )
    return made


def _bias_piece(found: Record, sushi: Compared) -> Piece:
    """Fit the models again that were chosen for compare, and keep their β.

    Where that is not below 0, CompareSVM has no threshold, and takes the scores of a RankSVM: it is rank.
    """
    cell = Drawn(found.data, found.n_train, found.params["ties"], found.seed)
    chosen = {criterion: found.params[criterion] for criterion in CRITERIA}
    key = record_key(f"comparisons/{BIASES}/{cell.data}/{cell.n}/{cell.ties:g}/{cell.seed}", chosen)
    make = partial(_biases, key, cell, sushi if cell.data == "sushi" else None, chosen)
    return Piece(BIASES, {"compare": key}, make)


def _biases(
    key: str, cell: Drawn, sushi: Compared | None, chosen: dict[str, dict[str, float]], _: list[str]
) -> list[Record]:
    train = draw(cell, sushi)[0]
    found = {}
    for criterion, params in chosen.items():
        K = Kernel("rbf", params["gamma"]).matrix(train.items, train.items)
        found[criterion] = float(fit_quietly(compare(params["C"]), train, K).bias_)
    of = {"data": cell.data, "ties": cell.ties}
    return [Record(key, BIASES, "compare", cell.seed, 0, cell.seed, cell.n, 0, found, of)]


def _judge_truth(norm: str, method: str, train: Compared, test: Compared) -> dict[str, float]:
    here, there = (np.diff(true_rank(norm, part.pairs))[:, 0] for part in (train, test))
    return judge(test, there, 1.0 if method == TRUTHS[0] else best_threshold(here, train.outcome))


def _square() -> Floats:
    side = np.linspace(-SIDE, SIDE, SQUARE)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def _tau(norm: str, scores: Floats) -> float:
    """Return Kendall's tau between learned and true scores of the square's points."""
    return float(kendalltau(scores, true_rank(norm, _square())).statistic)


def _pattern(key: str, _: list[str]) -> list[Record]:
    """Learn Figure 3's pattern, the first set of its kind; keep what is drawn of it."""
    norm, n, ties = PATTERN
    train, validation, _test = draw(Drawn(norm, n, ties, 0), None)
    found = search(train, validation, {method: METHODS[method] for method in _PAPERS})
    levels = {method: each["error"].scores(_square()) for method, each in found.items()}
    params = {
        "norm": norm,
        "pairs": np.round(train.pairs, 3).tolist(),
        "outcome": train.outcome.tolist(),
        "levels": {method: [float(f"{score:.4g}") for score in scores] for method, scores in levels.items()},
    }
    taus = {method: _tau(norm, scores) for method, scores in levels.items()}
    return [Record(key, "figure 3", "", 0, 0, 0, n, n, taus, params)]


def _made_by(method: str, n: int) -> tuple[object, ...]:
    each = METHODS.get(method)
    return () if each is None else (each.models(n), each.most_items, WIDTHS)


def _key(cell: Drawn, method: str) -> str:
    home = f"comparisons/{cell.data}/{cell.n}/{cell.ties:g}/{cell.seed}/{method}"
    return record_key(home, SQUARE, _made_by(method, cell.n))


# --------------------------------------------------------------------------------------------------
# The tables.


_PAPERS = ("rank", "rank2", "compare")

_VERSUS = (
    ("rank2", "rank"),
    ("compare", "rank"),
    ("compare", "rank2"),
    ("rank2, squared", "compare"),
    ("compare, squared", "rank2, squared"),
    ("kernel LP", "compare"),
)
"""Who is tested against whom: the paper's claims, then what the loss and the programme are worth."""


@dataclass(frozen=True)
class Sets:
    """The paper's experiments on drawn sets, run again."""

    records: Sequence[Record]

    @property
    def methods(self) -> tuple[str, ...]:
        """All that were run."""
        ran = {each.method for each in self.records}
        return tuple(method for method in (*METHODS, *TRUTHS) if method in ran)

    @property
    def by_size(self) -> list[tuple[int, float]]:
        """Figure 4: numbers of pairs, half of them ties."""
        return [kind for kind in self._kinds() if kind[1] == SetsPlan.ties]

    @property
    def by_share(self) -> list[tuple[int, float]]:
        """Figure 5: shares of ties among the same number of pairs."""
        other = next(n for n, ties in self._kinds() if ties != SetsPlan.ties)
        return [kind for kind in self._kinds() if kind[0] == other]

    @property
    def pattern(self) -> Record:
        """Figure 3."""
        return next(each for each in self.records if each.data == "figure 3")

    def values(self, data: str, kind: tuple[int, float], method: str, metric: str) -> Floats:
        """Return test errors or areas, one a data set."""
        mine = (each for each in self.records if each.data == data and each.method == method)
        return np.array([each.metrics[metric] for each in mine if (each.n_train, each.params["ties"]) == kind])

    def test(
        self, data: str, kinds: Sequence[tuple[int, float]], methods: tuple[str, str], metric: str
    ) -> Paired | None:
        """Test one method against another over the sets of some kinds that both were run on."""
        found = [[self.values(data, kind, method, metric) for method in methods] for kind in kinds]
        return paired([d for one, other in found if len(one) == len(other) for d in one - other])

    def lines(self) -> Iterator[str]:
        """Return tables as Markdown lines; the paper has figures only, so its words stand beside them."""
        yield from self._figure_three()
        yield ""
        yield from self._figure_four()
        yield ""
        yield from self._figure_five()

    def _kinds(self) -> list[tuple[int, float]]:
        return sorted({(each.n_train, each.params["ties"]) for each in self.records if each.data in DATA})

    def _figure_three(self) -> Iterator[str]:
        norm, n, ties = PATTERN
        yield (
            f"**Figure 3.** r(x) = {norm} learned from {n} pairs, half of them ties: Kendall's tau with the true one "
            "over the square, of the set that is drawn below, and mean ± standard deviation over all sets of its "
            "kind. The paper: rank2 and compare recover it better than rank. In brackets the p-value against rank, of "
            "a randomisation test of paired differences, and the same after Holm's correction over the row; bold where "
            "that is below 5 %."
        )
        found = {method: self.values(norm, (n, ties), method, "tau") for method in METHODS}
        found = {method: each for method, each in found.items() if len(each)}
        yield ""
        yield "| | " + " | ".join(found) + " |"
        yield "| --- " * (1 + len(found)) + "|"
        shown = [f"{self.pattern.metrics[m]:.3f}" if m in self.pattern.metrics else NOTHING for m in found]
        yield "| the set drawn | " + " | ".join(shown) + " |"
        tests = [None if method == "rank" else paired(each - found["rank"]) for method, each in found.items()]
        cells = [
            _cell(each, 3, 1.0, is_sure(after)) + (f" ({write_p_values(test.p_value, after)})" if test else "")
            for each, test, after in zip(found.values(), tests, corrected(tests), strict=True)
        ]
        yield f"| {len(found['rank'])} sets | " + " | ".join(cells) + " |"

    def _figure_four(self) -> Iterator[str]:
        yield (
            "**Figure 4.** Test error in percent with 50 % ties: mean ± standard deviation over the test sets (the "
            "paper's: 4), models chosen by validation error. 'Squared' has the squared hinge; the kernel LP is the "
            "programme (7) with slacks, the 1-norm and kernels with at most 100 of the training items. Bold: the "
            f"lowest of those learned. –: not run, as it would take too long ({_longest_runs()})."
        )
        yield ""
        yield from self._table("pairs", self.by_size, "error")
        yield ""
        counts = next(each for each in self.records if each.data == "sushi pairs").metrics
        yield (
            f"Sushi: a person's ten scores, sorted, and neighbours paired, have {counts['ties']:,.0f} ties and "
            f"{counts['decided']:,.0f} differences (the paper's pairs: 17,832 and 7,168); paired as they are listed "
            f"they have {counts['decided as listed']:,.0f} differences."
        )
        yield ""
        yield "| data | the paper's order | ours, mean error over the sizes |"
        yield "| --- | --- | --- |"
        for data in DATA:
            yield f"| {data} | compare < rank2 < rank | {self.order(data, self.by_size, 'error')} |"
        yield ""
        yield (
            "Differences of test errors in points, over the sets of all sizes that both methods were run on (where "
            "these are fewer, their number stands in brackets), with the p-value of a randomisation test of paired "
            "differences, and the same after Holm's correction over the row; bold where that is below 5 %. The paper: "
            "the first three columns are negative on all four."
        )
        yield ""
        rows = {
            (data, str(self._n_sets(data, self.by_size))): [
                self.test(data, self.by_size, pair, "error") for pair in _VERSUS
            ]
            for data in DATA
        }
        yield from table_of_tests(["data", "sets", *_names(_VERSUS)], rows.items(), 1, 100.0)
        yield ""
        yield (
            "The same for compare and the true ranking function, with its true threshold, 1, and with the one that "
            "fits the training pairs best. The paper: no difference on ‖x‖₂²."
        )
        yield ""
        versus = [("compare", truth) for truth in TRUTHS]
        rows = {
            (data, str(self._n_sets(data, self.by_size))): [
                self.test(data, self.by_size, pair, "error") for pair in versus
            ]
            for data in NORMS
        }
        yield from table_of_tests(["data", "sets", *_names(versus)], rows.items(), 1, 100.0)

    def _figure_five(self) -> Iterator[str]:
        n = self.by_share[0][0]
        yield (
            f"**Figure 5.** Test AUC of {n} pairs against the share of ties: mean ± standard deviation over the test "
            "sets (the paper's: 4), models chosen by validation AUC. Bold: the highest of those learned."
        )
        yield ""
        yield from self._table("ties", self.by_share, "auc")
        yield ""
        yield (
            "Differences of test AUC with the fewest and with the most ties, tested as above. The paper: no "
            "difference on ‖x‖₂² and sushi, nor on the others with the fewest ties; with the most, rank2 and compare "
            "are above rank."
        )
        yield ""
        versus = [pair for pair in _VERSUS if all(len(self.values(DATA[0], self.by_share[0], m, "auc")) for m in pair)]
        rows = {
            (data, f"{kind[1]:.0%}", str(self._n_sets(data, [kind]))): [
                self.test(data, [kind], pair, "auc") for pair in versus
            ]
            for kind in (self.by_share[0], self.by_share[-1])
            for data in DATA
        }
        yield from table_of_tests(["data", "ties", "sets", *_names(versus)], rows.items(), 3)
        yield ""
        yield from self._fallbacks()

    def _fallbacks(self) -> Iterator[str]:
        """Say where compare is rank, so that nothing is learned from their being alike."""
        others = [kind for kind in self.by_size if kind not in self.by_share]
        there = [self.n_without_threshold(data, kind) for data in DATA for kind in others]
        yield (
            "How often compare is rank: where decided pairs are many beside ties, β may be 0 or above, which leaves no "
            "threshold, and CompareSVM then takes the scores of a RankSVM over the decided pairs. Such a pair of "
            "values is equal by construction, and says nothing for or against either. Sets in which the model chosen "
            "is such, by validation error and by validation AUC (in the other kinds of Figure 4: "
            f"{sum(each[0] for each in there)} and {sum(each[1] for each in there)} of "
            f"{sum(each[2] for each in there)}):"
        )
        yield ""
        yield "| data | " + " | ".join(f"{ties:.0%} ties" for _, ties in self.by_share) + " |"
        yield "| --- " * (1 + len(self.by_share)) + "|"
        for data in DATA:
            cells = [self.n_without_threshold(data, kind) for kind in self.by_share]
            yield f"| {data} | " + " | ".join(f"{e} and {a} of {n}" for e, a, n in cells) + " |"

    def n_without_threshold(self, data: str, kind: tuple[int, float]) -> tuple[int, int, int]:
        """Return in how many sets the compare chosen by error has β ≥ 0, and that by AUC, and of how many."""
        mine = [
            each.metrics
            for each in self.records
            if each.data == BIASES and each.params["data"] == data and (each.n_train, each.params["ties"]) == kind
        ]
        by_error, by_area = (sum(each[criterion] >= 0 for each in mine) for criterion in CRITERIA)
        return by_error, by_area, len(mine)

    def order(self, data: str, kinds: Sequence[tuple[int, float]], metric: str) -> str:
        """Return the paper's three methods from best to worst, by their means over some kinds of data sets."""
        means = {
            method: float(np.mean([self.values(data, kind, method, metric).mean() for kind in kinds]))
            for method in _PAPERS
        }
        ordered = sorted(_PAPERS, key=lambda method: means[method], reverse=metric == "auc")
        return (" < " if metric == "error" else " > ").join(f"{method} ({means[method]:.3f})" for method in ordered)

    def _n_sets(self, data: str, kinds: Sequence[tuple[int, float]]) -> int:
        return sum(len(self.values(data, kind, _PAPERS[0], "error")) for kind in kinds)

    def _table(self, what: str, kinds: Sequence[tuple[int, float]], metric: str) -> Iterator[str]:
        digits, factor = (1, 100.0) if metric == "error" else (3, 1.0)
        methods = [m for m in self.methods if any(len(self.values(DATA[0], kind, m, metric)) for kind in kinds)]
        if metric == "auc":  # no threshold matters to it
            methods.remove(TRUTHS[1])
        yield f"| data | {what} | sets | " + " | ".join(methods) + " |"
        yield "| --- " * (3 + len(methods)) + "|"
        for data in DATA:
            for n, ties in kinds:
                found = {method: self.values(data, (n, ties), method, metric) for method in methods}
                means = {method: each.mean() for method, each in found.items() if len(each) and method in METHODS}
                best = (min if metric == "error" else max)(means.values())
                shown = [_cell(each, digits, factor, means.get(method) == best) for method, each in found.items()]
                where = n if what == "pairs" else f"{ties:.0%}"
                yield f"| {data} | {where} | {len(found[_PAPERS[0]])} | " + " | ".join(shown) + " |"


def _cell(values: Floats, digits: int, factor: float, best: bool = False) -> str:
    if len(values) == 0:
        return NOTHING
    spread = f" ± {factor * values.std(ddof=1):.{digits}f}" if len(values) > 1 else ""
    text = f"{factor * values.mean():.{digits}f}{spread}"
    return f"**{text}**" if best else text


def _longest_runs() -> str:
    return ", ".join(f"{name} beyond {each.most_pairs} pairs" for name, each in METHODS.items() if each.most_pairs)


def _names(versus: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{one} − {other}" for one, other in versus]


# --------------------------------------------------------------------------------------------------
# Sushi with nine ties in ten, where compare falls behind in Figure 5: is it the solver, or the loss?


MOST_TIES = (400, 0.9)

SOLVED = {
    "hinge, to 10⁻³": METHODS["compare"],
    "hinge, to 10⁻⁶": Searched(over_costs(lambda C: compare(C, tol=1e-6))),
    "squared hinge": Searched(over_costs(lambda C: compare(C, "squared_hinge"))),
}
"""CompareSVM as in Figure 5, solved a thousand times finer, and with another loss."""


def run_most_ties(run: PaperRun) -> tuple[Record, ...]:
    """Search each of the three on the sets of Figure 5, by AUC."""
    sushi = read_sushi(run.data / "sushi")
    cells = [Drawn("sushi", *MOST_TIES, seed) for seed in range(2 if run.quick else SetsPlan.n_tested)]
    return run.pieces(
        [
            Piece("sushi", {method: _solved_key(cell, method)}, partial(_solve, cell, sushi))
            for method in reversed(SOLVED)
            for cell in cells
        ]
    )


def _solved_key(cell: Drawn, method: str) -> str:
    return record_key(f"comparisons/solved/{cell.seed}/{method}", SOLVED[method].models(cell.n), WIDTHS)


def _solve(cell: Drawn, sushi: Compared, methods: list[str]) -> list[Record]:
    train, validation, test = draw(cell, sushi)
    made = []
    for method in methods:
        started = time.perf_counter()
        best = search(train, validation, {method: SOLVED[method]})[method]["auc"]
        d = best.differences(test)
        metrics = {
            "auc": best.judge(test)["auc"],
            "bias": float(best.model.bias_),
            "largest": float(np.abs(d).max()),
        }
        key, seconds = _solved_key(cell, method), time.perf_counter() - started
        made.append(
            Record(
                *(key, "sushi", method, cell.seed, 0, cell.seed, cell.n, cell.n, metrics, best.params),
                search_seconds=seconds,
            )
        )
    return made


def most_ties_lines(records: Sequence[Record]) -> Iterator[str]:
    """Return each set's areas, and how far the scores of the model chosen reach, as Markdown lines."""
    n, ties = MOST_TIES
    yield (
        f"CompareSVM on sushi, {n} pairs with {ties:.0%} ties, chosen by validation AUC: the test AUC of each set; "
        "and, in brackets, β and the largest difference of two test items' scores, in thresholds: where that is far "
        "below 1, every pair is called a tie."
    )
    yield ""
    sets = sorted({each.repeat for each in records})
    yield "| loss, solved to | mean | " + " | ".join(f"set {1 + number}" for number in sets) + " |"
    yield "| --- " * (2 + len(sets)) + "|"
    found = {
        method: sorted((each for each in records if each.method == method), key=lambda each: each.repeat)
        for method in SOLVED
    }
    for method, mine in found.items():
        cells = [f"{m['auc']:.3f} ({m['bias']:.3f}, {m['largest']:.2g})" for m in (each.metrics for each in mine)]
        yield f"| {method} | {np.mean([each.metrics['auc'] for each in mine]):.3f} | " + " | ".join(cells) + " |"
    yield ""
    areas = {method: np.array([each.metrics["auc"] for each in mine]) for method, mine in found.items()}
    names = list(SOLVED)
    tests = [paired(areas[one] - areas[names[0]]) for one in names[1:]]
    yield (
        "Differences of AUC, with the p-value of a randomisation test over the sets, and the same after Holm's "
        "correction over both; bold where that is below 5 %."
    )
    yield ""
    yield from table_of_tests(_names([(one, names[0]) for one in names[1:]]), [((), tests)], 3)
