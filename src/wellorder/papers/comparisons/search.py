"""The methods of Venuto et al. (2014), each searched over a grid, and what they are searched and judged on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...estimators import CompareLP, CompareSVM, RankSVM, ThresholdCompare
from ...metrics import comparison_auc, comparison_error
from ...spaces import Kernel, Pairs
from ...sweeps import Floats, Ints

# --------------------------------------------------------------------------------------------------
# The simulated comparisons of 'support vector comparison machines': squared norms in the plane, noisy labels.


NORMS = {"‖x‖₁²": 1.0, "‖x‖₂²": 2.0, "‖x‖∞²": np.inf}
"""The true ranking functions."""

SIDE = 3.0
"""Points lie in [−3, 3]²."""

_NOISE = 0.25
_DRAWN_AT_A_TIME = 4_096


class Compared(NamedTuple):
    """Comparisons: two rows of features each, and which is better."""

    pairs: Floats
    """Of shape (n, 2, d): the left item, the right one."""
    outcome: Ints

    @property
    def items(self) -> Floats:
        """The left items, then the right ones."""
        return np.concatenate([self.pairs[:, 0], self.pairs[:, 1]])

    @property
    def differences(self) -> Floats:
        """The right items less the left ones."""
        return self.pairs[:, 1] - self.pairs[:, 0]

    def between(self, rows: Floats) -> Pairs:
        """Return the pairs over other rows for the same items, such as their kernel with something."""
        n = len(self.outcome)
        return Pairs(rows, np.arange(n), n + np.arange(n))

    def take(self, rows: Ints | slice) -> Compared:
        """Return some of the comparisons."""
        return Compared(self.pairs[rows], self.outcome[rows])


def true_rank(norm: str, X: Floats) -> Floats:
    """Return r(x) = ‖x‖² of the last axis."""
    return np.asarray(np.linalg.norm(X, NORMS[norm], axis=-1) ** 2)


def simulate(norm: str, n_ties: int, n_decided: int, rng: np.random.Generator, noise: float = _NOISE) -> Compared:
    """Draw pairs until there are enough of both kinds: y = t₁[r(x') − r(x) + ε], ε ~ N(0, ¼)."""
    ties, decided, outcomes = np.empty((0, 2, 2)), np.empty((0, 2, 2)), np.empty(0, np.int64)
    while len(ties) < n_ties or len(decided) < n_decided:
        pairs = rng.uniform(-SIDE, SIDE, (_DRAWN_AT_A_TIME, 2, 2))
        rank = true_rank(norm, pairs)
        outcome = threshold(rank[:, 1] - rank[:, 0] + rng.normal(0.0, noise, len(pairs)))
        ties = np.concatenate([ties, pairs[outcome == 0]])
        decided = np.concatenate([decided, pairs[outcome != 0]])
        outcomes = np.concatenate([outcomes, outcome[outcome != 0]])
    y = np.concatenate([np.zeros(n_ties, np.int64), outcomes[:n_decided]])
    mixed = rng.permutation(n_ties + n_decided)
    return Compared(np.concatenate([ties[:n_ties], decided[:n_decided]])[mixed], y[mixed])


def threshold(d: Floats, tau: float = 1.0) -> Ints:
    """Return t_τ(d): −1, 0 or 1."""
    return np.where(np.abs(d) > tau, np.sign(d), 0.0).astype(np.int64)


# --------------------------------------------------------------------------------------------------
# The search.


COSTS = tuple(float(C) for C in np.geomspace(1e-3, 1e3, 10))
WIDTHS = tuple(float(gamma) for gamma in np.geomspace(2.0**-7, 2.0**4, 10))
"""The paper's 10 × 10 models: between the ends that it names, evenly in the logarithm."""

CRITERIA = ("error", "auc")
"""Zero-one loss and area under the ROC curve: by either, a model is chosen on validation pairs."""

_ERRORS_ALLOWED = (1.0, 0.1)
_NORM_COSTS = (1e-4, 1e-3, 1e-2)


@dataclass(frozen=True)
class Searched:
    """A method: the models of its grid, given kernels."""

    models: Callable[[int], Sequence[Any]]
    """Those for so many pairs, the smoothest first; each takes kernels with the training items as features."""
    most_items: int | None = None
    """Kernels with so many of the training items at most, drawn at random."""
    most_pairs: int | None = None
    """Beyond, it takes too long."""

    def has(self, n: int) -> bool:
        """Say whether it is run on so many pairs."""
        return self.most_pairs is None or n <= self.most_pairs


def _ranker(C: float, ties: str, loss: str = "hinge") -> ThresholdCompare:
    return ThresholdCompare(RankSVM(C, kernel="precomputed", loss=loss, tol=1e-2), ties=ties)


def compare(C: float, loss: str = "hinge", tol: float = 1e-3) -> CompareSVM:
    """Return a support vector comparison machine over kernels."""
    return CompareSVM(C, kernel="precomputed", loss=loss, tol=tol)


def over_costs(make: Callable[[float], Any]) -> Callable[[int], Sequence[Any]]:
    """Return a grid of models, one a cost."""
    return lambda n: [make(C) for C in COSTS]


def _programmes(n: int) -> list[CompareLP]:
    """Return models of the LP (7) with slacks and the 1-norm of the kernels' coefficients.

    At a cost of C each, at most 1/C of the slacks pay for a larger margin: C is set by the share ν of the pairs that
    may lie within it, as in ν-SVMs. Columns are kernels, and so the programme is that of linear scores.
    """
    return [CompareLP(1.0 / (nu * n), alpha=alpha) for nu in _ERRORS_ALLOWED for alpha in reversed(_NORM_COSTS)]


METHODS = {
    "rank": Searched(over_costs(lambda C: _ranker(C, "drop"))),
    "rank2": Searched(over_costs(lambda C: _ranker(C, "both"))),
    "compare": Searched(over_costs(compare)),
    "rank2, squared": Searched(over_costs(lambda C: _ranker(C, "both", "squared_hinge"))),
    "compare, squared": Searched(over_costs(lambda C: compare(C, "squared_hinge", 1e-2)), most_pairs=200),
    "kernel LP": Searched(_programmes, most_items=100, most_pairs=400),
}
"""The paper's three, with its C on each pair; rank2 and compare with the squared hinge, RankSVM's default; and the LP
with a kernel, which the paper leaves to future work."""


@dataclass(frozen=True)
class Chosen:
    """The model that did best on the validation pairs."""

    model: Any
    items: Floats
    """What kernels are with."""
    gamma: float
    value: float
    """What it reached there: an error, or an area."""

    @property
    def params(self) -> dict[str, float]:
        """What the search chose."""
        found = {"C": float(getattr(self.model, "estimator", self.model).C), "gamma": self.gamma}
        return found | ({"alpha": float(self.model.alpha)} if isinstance(self.model, CompareLP) else {})

    def scores(self, X: Floats) -> Floats:
        """Return r(x)."""
        return np.asarray(self.model.decision_function(Kernel("rbf", self.gamma).matrix(X, self.items)))

    def judge(self, test: Compared) -> dict[str, float]:
        """Return both criteria on other pairs."""
        return judge(test, self.differences(test), self.model.threshold_)

    def differences(self, test: Compared) -> Floats:
        """Return r(x') − r(x) of pairs."""
        scores = self.scores(test.items)
        n = len(test.outcome)
        return scores[n:] - scores[:n]


def search(
    train: Compared, validation: Compared, methods: Mapping[str, Searched], widths: Sequence[float] = WIDTHS
) -> dict[str, dict[str, Chosen]]:
    """Fit the grid of each method; return its best model by each criterion, the smoothest of equals.

    Kernels are computed once a width, for all methods and their models.
    """
    best: dict[str, dict[str, Chosen]] = {method: {} for method in methods}
    items = train.items
    columns = {method: _some(len(items), each.most_items) for method, each in methods.items()}
    for gamma in widths:
        kernel = Kernel("rbf", gamma)
        K, other = kernel.matrix(items, items), kernel.matrix(validation.items, items)
        for method, each in methods.items():
            mine = columns[method]
            fitted, judged = K[:, mine], validation.between(other[:, mine])
            for model in each.models(len(train.outcome)):
                fit_quietly(model, train, fitted)
                found = judge(validation, model.compare(judged), model.threshold_)
                for criterion in CRITERIA:
                    last = best[method].get(criterion)
                    if last is None or _is_better(criterion, found[criterion], last.value):
                        best[method][criterion] = Chosen(model, items[mine], gamma, found[criterion])
    return best


def _some(n: int, most: int | None) -> Ints | slice:
    """Draw items; all of them where they are few."""
    if most is None or n <= most:
        return slice(None)
    return np.sort(np.random.default_rng(n).permutation(n)[:most])


def fit_quietly(model: Any, train: Compared, K: Floats) -> Any:
    """Fit a model of the grid; its far corners are degenerate, or do not converge, and are not chosen then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(train.between(K), train.outcome)


def judge(pairs: Compared, d: Floats, tau: float) -> dict[str, float]:
    """Return the zero-one loss with the threshold τ, and the area under the ROC curve."""
    return {"error": comparison_error(pairs.outcome, threshold(d, tau)), "auc": area(pairs.outcome, d)}


def area(outcome: Ints, d: Floats) -> float:
    """Return the area under the ROC curve; NaN where there is no tie, or nothing but ties."""
    n_ties = int(np.count_nonzero(outcome == 0))
    return comparison_auc(outcome, d) if 0 < n_ties < len(outcome) else np.nan


def _is_better(criterion: str, value: float, than: float) -> bool:
    return value < than if criterion == "error" else value > than
