"""Tables 2 and 3 of Uematsu and Lee (2013): samples of five ratings, the methods, and what may be changed in either."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from ...estimators import BoostRows, BoostTask, OrderBoost, PlugInRanker, RowRisk
from ...evaluation import Record
from ...losses import ROW_LOSSES, GradedRows, RiskAt, SlopesAt, likelihood
from ...metrics import order_error_rates, swapped_pairs
from ...order import Grades
from ...solvers import BoostResult, Proposal, Rounds, Validation, boost
from ...spaces import Bumps, Standard, bump
from ...sweeps import Floats, Ints
from ..running import Piece, record_key
from .relations import COLUMNS, Ratings, standardised

SAMPLES = {"balanced": (500, 500, 500, 500, 500), "unbalanced": (130, 280, 680, 870, 540)}
"""How many ratings of 1 to 5 a training sample has; validation the same, test twice as many."""

# --------------------------------------------------------------------------------------------------
# Bumps chosen, and rounds judged, in other ways than OrderBoost's: the paper does not say how it did.


class BumpBoost(OrderBoost):
    """OrderBoost over bumps, with what the paper leaves open left open.

    Parameters
    ----------
    loss, order, n_estimators, random_state
        As OrderBoost's.
    choice : {"gain", "slope", "random"}, default="slope"
        The bump whose best step gains most, as OrderBoost's; that with the largest ⟨g, h⟩; or any.
    constant : bool, default=True
        False: the last threshold is fixed at zero, and bumps have to make up for the constant that scores lack.
    judged : {"risk", "swaps"}, default="risk"
        What of the validation rows says which round is best: the risk, or the cost of their swaps.
    """

    def __init__(
        self,
        loss: str = "pairs",
        *,
        order: Any = "full",
        choice: str = "slope",
        constant: bool = True,
        judged: str = "risk",
        n_estimators: int = 300,
        random_state: Any = None,
    ) -> None:
        super().__init__(loss, order=order, n_estimators=n_estimators, random_state=random_state)
        self.choice = choice
        self.constant = constant
        self.judged = judged

    def _make_task(self, rows: BoostRows, beside: BoostRows | None, rng: np.random.Generator) -> BoostTask:
        task = super()._make_task(rows, beside, rng)
        assert beside is not None
        if not self.constant and isinstance(task.risk, RowRisk):
            graded, held = (
                GradedRows((part.y - 1).astype(np.int32), np.ones(len(part.y)), 5) for part in (rows, beside)
            )
            loss = FixedEnd(self.loss)
            risk, judge = RowRisk(loss, graded), RowRisk(loss, held)
            task = replace(
                task,
                risk=risk,
                validation=Validation(beside.X, lambda scores, fitted: judge.mean(scores, risk.thresholds(fitted))),
            )
        if self.judged == "swaps":
            held_out = Grades(beside.y, order="linear")
            task = replace(
                task,
                validation=Validation(beside.X, lambda scores, fitted: swapped_pairs(held_out, scores, ties="half")),
            )
        return task

    def _grow(self, task: BoostTask, rng: np.random.Generator) -> BoostResult:
        bumps = _Candidates(task.X, self.width)
        assert task.validation is not None
        beside = task.validation.X
        last = -1

        def propose(here: SlopesAt) -> Proposal:
            nonlocal last
            if self.choice == "random":  # never over the same column again: there would be nothing to gain
                place = int(rng.choice(np.flatnonzero(bumps.feature != last)))
            else:
                place = bumps.best(here, self.choice, constant=self.constant)
            last = int(bumps.feature[place])
            one = bumps.add_up([place], [1.0])
            return Proposal(place, bumps.table[:, place], one.scores(beside))

        found = boost(
            propose, task.risk, (task.X.shape[0], beside.shape[0]), task.validation, Rounds(self.n_estimators, 1.0)
        )
        return BoostResult(bumps.add_up(found.pieces, found.weights), found.train_risk, found.validation_risk)


class _Candidates:
    """Every bump over a column at a value observed there, and its values on all rows."""

    def __init__(self, X: Floats, width: float) -> None:
        standard = Standard.fit(X, np.ones(len(X)))
        self._standard, self._width = standard, width
        columns = [standard.column(X, k).values for k in range(X.shape[1])]
        centres = [np.unique(z) if np.ptp(z) > 0 else np.empty(0) for z in columns]
        self.feature: Ints = np.repeat(np.arange(len(centres)), [len(each) for each in centres])
        self._centre = np.concatenate(centres)
        self.table = np.hstack([bump(z[:, None], own, width) for z, own in zip(columns, centres, strict=True)])
        self._squares = self.table**2

    def best(self, here: SlopesAt, choice: str, *, constant: bool) -> int:
        """Return the place of the best bump; where scores have a constant, a bump's own mean does not count."""
        slope = np.abs(here.gradient @ self.table)
        if choice == "slope":
            return int(np.argmax(slope))
        bend = here.hessian_diagonal()
        squares, mean = bend @ self._squares, bend @ self.table
        return int(np.argmax(slope**2 / (squares - constant * mean**2 / bend.sum())))

    def add_up(self, places: list[int], weights: Any) -> Bumps:
        """Return the sum of some of the bumps."""
        return Bumps.add_up(self._standard, self._width, self.feature[places], self._centre[places], weights)


class FixedEnd:
    """An ordinal loss whose last threshold is fixed at zero: without a constant the scores are not free to move there.

    The derivatives are taken with the thresholds held: the gradient is the same, and a line search needs no more.
    """

    def __init__(self, loss: str) -> None:
        self._exponential = loss == "orboost"
        self._free = ROW_LOSSES[loss]

    def at(self, scores: Floats, rows: GradedRows, near: Floats | None = None) -> tuple[RiskAt, Floats]:
        """Return the risk with the free thresholds minimised out, and all thresholds."""
        if self._exponential:
            thresholds = self._pooled(scores, rows)
            above, below = np.append(thresholds, np.inf), np.insert(thresholds, 0, -np.inf)
            over, under = np.exp(scores - above[rows.level]), np.exp(below[rows.level] - scores)
            gradient = over - under
        else:
            thresholds = self._likeliest(scores, rows, near)
            gradient = likelihood(scores, rows, thresholds).gradient
        bend = self._free.curvature(scores, rows, thresholds)
        value = self._free.value(scores, rows, thresholds)
        return RiskAt(value, gradient, lambda: bend, lambda u: bend * u), thresholds

    def value(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> float:
        """Return the loss at given thresholds."""
        return self._free.value(scores, rows, thresholds)

    def curvature(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> Floats:
        """Return each row's curvature at given thresholds."""
        return self._free.curvature(scores, rows, thresholds)

    def _pooled(self, scores: Floats, rows: GradedRows) -> Floats:
        """Return ORBoost's: those below the last are what the levels below the last have by themselves, up to zero."""
        lower = rows.level < rows.n_levels - 1
        own = GradedRows(rows.level[lower], rows.weight[lower], rows.n_levels - 1)
        return np.append(np.minimum(self._free.at(scores[lower], own)[1], 0.0), 0.0)

    def _likeliest(self, scores: Floats, rows: GradedRows, near: Floats | None) -> Floats:
        """Return proportional odds', by Newton's method on those that are free."""
        at = likelihood(scores, rows, np.arange(1.0 - (rows.n_levels - 1), 1.0) if near is None else near)
        for _ in range(100):
            upper, main = at.stiffness[:, :-1]
            table = np.diag(main) + np.diag(upper[1:], 1) + np.diag(upper[1:], -1)
            step = np.append(np.linalg.solve(table, -at.pull[:-1]), 0.0)
            gain = -0.5 * float(at.pull @ step)
            if gain <= 1e-13 * at.value:
                break
            length, trial = 1.0, likelihood(scores, rows, at.thresholds + step)
            while not trial.value < at.value and length > 1e-10:
                length *= 0.5
                trial = likelihood(scores, rows, at.thresholds + length * step)
            at = trial
        return at.thresholds


# --------------------------------------------------------------------------------------------------
# The methods, and what is changed of them or of the rows they see.


def _logistic() -> PlugInRanker:
    return PlugInRanker(LogisticRegression(max_iter=1_000))


def _forest() -> PlugInRanker:
    return PlugInRanker(RandomForestClassifier(300, min_samples_leaf=10, random_state=0))


METHODS: dict[str, Callable[[], Any]] = {
    "pair rank": lambda: OrderBoost("pairs", order="linear"),
    "prop odds": lambda: OrderBoost("proportional_odds"),
    "or boost": lambda: OrderBoost("orboost"),
    "plain pairs": lambda: OrderBoost("pairs", order="linear", consistent=False),
    "trees": lambda: OrderBoost("pairs", order="linear", learner="tree", max_leaf_nodes=8, n_iter_no_change=30),
    "plug-in": _logistic,
    "plug-in forest": _forest,
}
"""The paper's three; pairwise ranking without Theorem 4's terms, and with trees; Corollary 1's score with the
probabilities of a logistic regression and of a random forest put in."""

PAPERS_OWN = ("pair rank", "prop odds", "or boost")


def working_scale(method: str, sample: str) -> Floats:
    """Return what a method's first step regresses on: a number for each rating, from 0 to 1.

    At equal scores the gradient of its risk is minus this, but for a constant and a factor: where signals are weak, it
    is what the method tells apart. Of proportional odds it is the mean share of ratings below (Wilcoxon's scores); of
    pairwise ranking the scale of its costs.
    """
    if method == "pair rank":
        return np.linspace(0.0, 1.0, 5)
    counts = np.array(SAMPLES[sample], dtype=float)
    rows = GradedRows(np.arange(5, dtype=np.int32), counts, 5)
    pull = -ROW_LOSSES[METHODS[method]().loss].at(np.zeros(5), rows)[0].gradient / counts
    return np.asarray((pull - pull[0]) / (pull[-1] - pull[0]))


_SCALES = {"squares": np.arange(1.0, 6.0) ** 2, "bottom": -(2.0 ** -np.arange(5.0))}
"""High ratings further apart than low ones, though less so than on DCG's scale; and that of DCG upside down."""


def _costs(name: str, sample: str) -> str | Floats:
    """Return misranking costs by name: OrderBoost's own, or the differences on another scale."""
    if name in ("linear", "dcg", "full"):
        return name
    scale = _SCALES[name] if name in _SCALES else working_scale(name, sample)
    return np.triu(scale - scale[:, None])


@dataclass(frozen=True)
class Variant:
    """One thing done otherwise than in Table 3."""

    what: str
    """In a few words."""
    without: tuple[str, ...] = ()
    """Predictors left out."""
    decade: bool = False
    """The release year is rounded down to its decade."""
    times: float = 1.0
    """So many times the training and validation rows; the test rows are as many as ever."""
    validation: float = 1.0
    """The share of the validation rows that is used; 0: none, and all rounds count."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of OrderBoost."""
    bumps: Mapping[str, Any] | None = None
    """Of BumpBoost, which takes OrderBoost's place."""
    costs: str = "linear"
    """Of pairwise ranking; the name of another method: its working scale's."""
    methods: tuple[str, ...] = PAPERS_OWN
    """Those that it touches."""
    beside: str = "base"
    """The variant whose other methods it is compared with, where it does not touch them."""
    n_replicates: int = 12

    def model(self, method: str, sample: str) -> Any:
        """Return one of the methods, with what is changed."""
        model = METHODS[method]()
        if self.bumps is not None:
            model = BumpBoost(model.loss, order=model.order, random_state=0, **self.bumps)
        if method == "pair rank":
            model.set_params(order=_costs(self.costs, sample))
        return model.set_params(**self.options)

    def columns(self, ratings: Ratings) -> Floats:
        """Return the predictors."""
        X = ratings.X
        if self.decade:
            assert ratings.year is not None
            X = X.copy()
            X[:, COLUMNS["year"]] = standardised(np.floor(ratings.year / 10.0)[:, None])
        dropped = [number for name in self.without for number in range(*COLUMNS[name].indices(X.shape[1]))]
        return np.delete(X, dropped, axis=1) if dropped else X


_PAIRS_ALONE = ("pair rank",)
_SMALL_STEPS = {"learning_rate": 0.1, "n_estimators": 1_000}

BASE = Variant("as in Table 3", n_replicates=50)

VARIANTS = {
    "base": BASE,
    "decade": Variant("the release year's decade for the year", decade=True, n_replicates=50),
    "no date": Variant("no release date", without=("year", "time of year")),
    "no time of year": Variant("no time of year", without=("time of year",)),
    "narrow": Variant("bumps of σ² = 0.1", options={"width": 0.1}),
    "wide": Variant("bumps of σ² = 2", options={"width": 2.0}),
    "many rounds": Variant("1,000 rounds at most", options={"n_estimators": 1_000}, n_replicates=8),
    "all rounds": Variant("all 300 rounds, none chosen", validation=0.0),
    "small steps": Variant(
        "a tenth of each best step, 1,000 rounds at most",
        options=_SMALL_STEPS,
        n_replicates=8,
    ),
    "few validate": Variant("a tenth of the validation rows", validation=0.1),
    "swaps": Variant("rounds chosen by the cost of swaps", bumps={"choice": "gain", "judged": "swaps"}),
    "slope": Variant("the steepest bump", bumps={"choice": "slope"}),
    "random": Variant("a bump at random", bumps={"choice": "random"}),
    "no constant": Variant("θ₄ = 0 and no constant", bumps={"choice": "gain", "constant": False}),
    "no constant, slope": Variant("θ₄ = 0 and no constant, the steepest bump", bumps={"constant": False}),
    "decade, no constant, slope": Variant(
        "θ₄ = 0 and no constant, the steepest bump, the decade", bumps={"constant": False}, decade=True
    ),
    "half": Variant("half the rows", times=0.5),
    "four times": Variant("four times the rows", times=4.0),
    "top costs": Variant(
        "pair rank with the costs 2^b − 2^a of DCG", costs="dcg", methods=_PAIRS_ALONE, n_replicates=25
    ),
    "square costs": Variant("pair rank with the costs b² − a²", costs="squares", methods=_PAIRS_ALONE, n_replicates=25),
    "bottom costs": Variant(
        "pair rank with DCG's costs upside down", costs="bottom", methods=_PAIRS_ALONE, n_replicates=25
    ),
    "unit costs": Variant(
        "pair rank with unit costs (and so plain pairs)", costs="full", methods=_PAIRS_ALONE, n_replicates=25
    ),
    "prop odds' scale": Variant(
        "pair rank with costs on prop odds' working scale", costs="prop odds", methods=_PAIRS_ALONE, n_replicates=25
    ),
    "prop odds' scale, small steps": Variant(
        "the same, a tenth of each best step",
        costs="prop odds",
        options=_SMALL_STEPS,
        methods=_PAIRS_ALONE,
        beside="small steps",
        n_replicates=8,
    ),
    "or boost's scale": Variant(
        "pair rank with costs on or boost's working scale", costs="or boost", methods=_PAIRS_ALONE, n_replicates=25
    ),
    "or boost's scale, small steps": Variant(
        "the same, a tenth of each best step",
        costs="or boost",
        options=_SMALL_STEPS,
        methods=_PAIRS_ALONE,
        beside="small steps",
        n_replicates=8,
    ),
}


# --------------------------------------------------------------------------------------------------
# Replicates.


def replicates(ratings: Ratings, name: str, methods: Iterable[str], n_replicates: int) -> list[Piece]:
    """Return the pieces of Table 3, or of a variant of it: each a method on one drawn sample."""
    return [
        Piece(
            f"{sample}, {VARIANTS[name].what}",
            {method: _key(sample, number, method, VARIANTS[name])},
            partial(_fits, ratings, sample, number, name),
        )
        for sample in SAMPLES
        for number in range(n_replicates)
        for method in methods
    ]


def _fits(ratings: Ratings, sample: str, number: int, variant: str, methods: list[str]) -> list[Record]:
    return [_fitted(ratings, sample, number, method, variant) for method in methods]


def _fitted(ratings: Ratings, sample: str, number: int, method: str, name: str) -> Record:
    """Fit a method on one drawn sample; rounds are chosen on a second one of the same size."""
    variant = VARIANTS[name]
    train, other, test = draw_rows(ratings.rating, sample, number, variant.times)
    X, rating = variant.columns(ratings), ratings.rating
    if 0.0 < variant.validation < 1.0:  # rows are sorted by rating
        other = other[:: round(1.0 / variant.validation)]
    model = variant.model(method, sample)
    validates = isinstance(model, OrderBoost) and variant.validation > 0.0
    beside = {"X_val": X[other], "y_val": rating[other]} if validates else {}
    started = time.perf_counter()
    model.fit(X[train], rating[train], **beside)
    seconds = time.perf_counter() - started
    errors = order_error_rates(rating[test], model.decision_function(X[test]), ties="half")
    found = getattr(model, "thresholds_", None)
    return Record(
        key=_key(sample, number, method, variant),
        data=sample,
        method=method,
        repeat=number,
        fold=0,
        seed=number,
        n_train=len(train),
        n_test=len(test),
        metrics={f"{low} vs {high}": round(error, 6) for (low, high), error in errors.items()},
        params={
            "rounds": getattr(model, "n_estimators_", None),
            "thresholds": None if found is None else [round(float(each - found[-1]), 6) for each in found],
        }
        | ({} if variant is BASE else {"variant": name}),
        fit_seconds=round(seconds, 3),
    )


def draw_rows(rating: Ints, sample: str, number: int, times: float = 1.0) -> tuple[Ints, Ints, Ints]:
    """Draw training, validation and test rows, with the sample's number of each rating; none is drawn twice."""
    rng = np.random.default_rng([number, list(SAMPLES).index(sample)])
    parts: tuple[list[Ints], list[Ints], list[Ints]] = ([], [], [])
    for level, size in enumerate(SAMPLES[sample], start=1):
        rows, own = rng.permutation(np.flatnonzero(rating == level)), round(times * size)
        for part, drawn in zip(parts, np.split(rows[: 2 * own + 2 * size], [own, 2 * own]), strict=True):
            part.append(drawn)
    train, other, test = (np.concatenate(part) for part in parts)
    return train, other, test


def _key(sample: str, number: int, method: str, variant: Variant) -> str:
    """Name a fit by what it sees and how it is made."""
    model = variant.model(method, sample)
    params = [type(model).__name__, *sorted((name, repr(value)) for name, value in model.get_params().items())]
    seen = (variant.without, variant.decade, variant.times, variant.validation)
    return record_key(f"multipartite/{sample}/{number}/{method}", params, SAMPLES[sample], seen)
