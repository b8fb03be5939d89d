"""The three methods of Venuto et al. (2014), each searched over the paper's grid."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..estimators import CompareSVM, RankSVM, ThresholdCompare
from ..metrics import comparison_auc, comparison_error
from ..spaces import Kernel, Pairs
from ..sweeps import Floats, Ints

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


def simulate(norm: str, n_ties: int, n_decided: int, rng: np.random.Generator) -> Compared:
    """Draw pairs until there are enough of both kinds: y = t₁[r(x') − r(x) + ε], ε ~ N(0, ¼)."""
    ties, decided, outcomes = np.empty((0, 2, 2)), np.empty((0, 2, 2)), np.empty(0, np.int64)
    while len(ties) < n_ties or len(decided) < n_decided:
        pairs = rng.uniform(-SIDE, SIDE, (_DRAWN_AT_A_TIME, 2, 2))
        rank = true_rank(norm, pairs)
        outcome = threshold(rank[:, 1] - rank[:, 0] + rng.normal(0.0, _NOISE, len(pairs)))
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


def _ranker(C: float, ties: str, loss: str = "hinge") -> ThresholdCompare:
    return ThresholdCompare(RankSVM(C, kernel="precomputed", loss=loss, tol=1e-2), ties=ties)


METHODS: dict[str, Callable[[float], Any]] = {
    "rank": lambda C: _ranker(C, "drop"),
    "rank2": lambda C: _ranker(C, "both"),
    "compare": lambda C: CompareSVM(C, kernel="precomputed"),
    "rank2, squared": lambda C: _ranker(C, "both", "squared_hinge"),
}
"""The paper's three, with its C on each pair; then rank2 with the squared hinge, RankSVM's default."""


@dataclass(frozen=True)
class Chosen:
    """The model that did best on the validation pairs."""

    model: Any
    train: Compared
    C: float
    gamma: float
    value: float
    """What it reached there: an error, or an area."""

    def scores(self, X: Floats) -> Floats:
        """Return r(x)."""
        kernel = Kernel("rbf", self.gamma)
        return np.asarray(self.model.decision_function(kernel.matrix(X, self.train.items)))

    def judge(self, test: Compared) -> dict[str, float]:
        """Return both criteria on other pairs."""
        scores = self.scores(test.items)
        n = len(test.outcome)
        return judge(test, scores[n:] - scores[:n], self.model.threshold_)


def search(
    train: Compared,
    validation: Compared,
    methods: Sequence[str],
    costs: Sequence[float] = COSTS,
    widths: Sequence[float] = WIDTHS,
) -> dict[str, dict[str, Chosen]]:
    """Fit the grid of each method; return its best model by each criterion, the smoothest of equals.

    Kernels are computed once a width, for all methods and costs.
    """
    best: dict[str, dict[str, Chosen]] = {method: {} for method in methods}
    for gamma in widths:
        kernel = Kernel("rbf", gamma)
        K = kernel.matrix(train.items, train.items)
        other = kernel.matrix(validation.items, train.items)
        for C in costs:
            for method in methods:
                model = fit_quietly(METHODS[method](C), train, K)
                found = judge(validation, model.compare(validation.between(other)), model.threshold_)
                for criterion in CRITERIA:
                    last = best[method].get(criterion)
                    if last is None or _is_better(criterion, found[criterion], last.value):
                        best[method][criterion] = Chosen(model, train, C, gamma, found[criterion])
    return best


def fit_quietly(model: Any, train: Compared, K: Floats) -> Any:
    """Fit a model of the grid; its far corners are degenerate, or do not converge, and are not chosen then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(train.between(K), train.outcome)


def judge(pairs: Compared, d: Floats, tau: float) -> dict[str, float]:
    """Return the zero-one loss with the threshold τ, and the area under the ROC curve."""
    predicted = np.where(np.abs(d) > tau, np.sign(d), 0.0)
    return {"error": comparison_error(pairs.outcome, predicted), "auc": area(pairs, d)}


def area(pairs: Compared, d: Floats) -> float:
    """Return the area under the ROC curve; NaN where there is no tie, or nothing but ties."""
    n_ties = int(np.count_nonzero(pairs.outcome == 0))
    return comparison_auc(pairs.outcome, d) if 0 < n_ties < len(pairs.outcome) else np.nan


def _is_better(criterion: str, value: float, than: float) -> bool:
    return value < than if criterion == "error" else value > than
