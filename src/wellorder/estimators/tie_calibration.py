"""From score differences to probabilities of the three outcomes, symmetric in the two items."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ..losses import TiedPairs
from ..order import Comparisons
from ..sweeps import Array, Floats

N_FOLDS = 5
_MOST_STEPS = 100


def probabilities(differences: Floats, steepness: float, tie_weight: float) -> Floats:
    r"""Return P(left better), P(tie) and P(right better) of each difference, by Davidson's model.

    P(right) ∝ e^{a d / 2}, P(left) ∝ e^{−a d / 2}, P(tie) ∝ ν: swapping the items swaps the probabilities.
    """
    half = 0.5 * steepness * np.asarray(differences, dtype=float)
    size = np.abs(half)
    left, right = np.exp(-half - size), np.exp(half - size)
    tie = tie_weight * np.exp(-size)
    total = left + right + tie
    return np.column_stack([left, tie, right]) / total[:, None]


def calibrate(differences: Floats, outcome: Array, weight: Floats) -> tuple[float, float]:
    """Return steepness a ≥ 0 and tie weight ν of most likelihood, given differences that were not fitted.

    Outcomes are 1 (as the difference's sign would have it) and 0. As in Platt's method each outcome is taken to be a
    little uncertain, by one part in as many as there are: differences that tell all outcomes leave a finite. Without
    ties ν is 0. The likelihood is concave in (a, log ν): Newton's method, with halved steps where one goes too far.
    """
    decided = outcome != 0
    n_decided, n_ties = float(weight[decided].sum()), float(weight[~decided].sum())
    scale = root_mean_square(differences, weight) or 1.0
    x = differences / scale
    if n_ties == 0:
        sure = (n_decided + 1.0) / (n_decided + 2.0)
        target = np.tile([1.0 - sure, 0.0, sure], (len(x), 1))
    else:
        slips = np.where(decided, 1.0 / (n_decided + 3.0), 1.0 / (n_ties + 3.0))
        target = np.column_stack(
            [slips, np.where(decided, slips, 1 - 2 * slips), np.where(decided, 1 - 2 * slips, slips)]
        )
    a, log_nu = _most_likely(x, target, weight, with_ties=n_ties > 0)
    return a / scale, float(np.exp(log_nu)) if n_ties > 0 else 0.0


def calibrate_unseen(model: Any, items: Any, pairs: TiedPairs, size: float) -> tuple[float, float]:
    """Return steepness and tie weight by :func:`unseen_differences` of a model."""
    d, known = unseen_differences(model, items, pairs, size)
    return calibrate(d[known], pairs.outcome[known], pairs.weight[known])


def root_mean_square(differences: Floats, weight: Floats) -> float:
    """Return √(Σ ω d² / Σ ω)."""
    return float(np.sqrt(np.average(np.square(differences), weights=weight)))


def _most_likely(x: Floats, target: Floats, weight: Floats, *, with_ties: bool) -> tuple[float, float]:
    """Maximise Σ ω Σ target · log P over a ≥ 0 and log ν."""
    log_nu = float(np.log(max(weight @ target[:, 1], 1e-300) / max(weight @ (1 - target[:, 1]), 1e-300) * 2.0))
    at = np.array([1.0, log_nu if with_ties else 0.0])
    free = np.array([True, with_ties])

    def loss(at: Floats) -> float:
        P = probabilities(x, at[0], float(np.exp(at[1])) if with_ties else 0.0)
        return -float(weight @ np.sum(target * np.log(np.maximum(P, 1e-300)), axis=1))

    value = loss(at)
    for _ in range(_MOST_STEPS):
        P = probabilities(x, at[0], float(np.exp(at[1])) if with_ties else 0.0)
        lean, aim = P[:, 2] - P[:, 0], target[:, 2] - target[:, 0]
        gradient = np.array([0.5 * weight @ (x * (lean - aim)), weight @ (P[:, 1] - target[:, 1])])
        bend = np.empty((2, 2))
        bend[0, 0] = 0.25 * weight @ (x**2 * (P[:, 2] + P[:, 0] - lean**2))
        bend[0, 1] = bend[1, 0] = -0.5 * weight @ (x * lean * P[:, 1])
        bend[1, 1] = weight @ (P[:, 1] * (1.0 - P[:, 1]))
        free[0] = at[0] > 0 or gradient[0] < 0
        step = np.zeros(2)
        ridge = 1e-12 * max(bend[0, 0], bend[1, 1], 1e-300)
        step[free] = -np.linalg.solve((bend + ridge * np.eye(2))[np.ix_(free, free)], gradient[free])
        length = 1.0
        while length > 1e-10:
            trial = at + length * step
            trial[0] = max(trial[0], 0.0)
            new = loss(trial)
            if new <= value:
                break
            length *= 0.5
        if length <= 1e-10 or value - new <= 1e-12 * abs(value):
            break
        at, value = trial, new
    return float(at[0]), float(at[1])


def unseen_differences(model: Any, items: Any, pairs: TiedPairs, size: float) -> tuple[Floats, Array]:
    """Return each comparison's difference by a model that did not see it, and which comparisons have one.

    All comparisons of the same two items are in one fold; decided and tied ones are spread over the folds alike. The
    folds are always the same. The differences of all comparisons by each fold's model are brought to one ``size``, the
    root of their mean square: where ties are few, thresholds, which scores are measured by, differ much between folds.
    """
    key = _couples(items, pairs)
    decided = np.bincount(key, pairs.outcome) > 0
    shuffled = np.random.default_rng(0).permutation(len(decided))
    shuffled = shuffled[np.argsort(decided[shuffled], kind="stable")]
    fold_of = np.empty(len(decided), np.int64)
    fold_of[shuffled] = np.arange(len(decided)) % N_FOLDS
    fold = fold_of[key]
    d, known = np.zeros(len(pairs)), np.zeros(len(pairs), dtype=bool)
    for number in range(N_FOLDS):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        part, rest = pairs.take(train), pairs.take(test)
        if part.n_decided == 0 or len(rest) == 0:
            continue
        order = Comparisons(part.low, part.high, part.outcome, part.weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say, the fit on all comparisons says
            scores = np.asarray(clone(model).fit(items, order).decision_function(items), dtype=float)
        own = root_mean_square(pairs.differences(scores), pairs.weight)
        d[test], known[test] = rest.differences(scores) * (size / own if own > 0 else 0.0), True
    return d, known


def refuse_one_couple(items: Any, pairs: TiedPairs) -> None:
    """Raise an error where a model that has not seen the decided comparisons of two items has seen none at all.

    Calibrated on the ties alone, probabilities would make every pair a tie.
    """
    decided = _couples(items, pairs)[: pairs.n_decided]
    if (decided == decided[0]).all():
        raise ValueError(
            "probability=True needs at least two decided comparisons, of different items; set it to False, or give more"
        )


def _couples(items: Any, pairs: TiedPairs) -> Array:
    """Return a number for each comparison, the same for the same two items.

    Items are told by their features: an array of pairs lists an item wherever it is compared.
    """
    direction = np.random.default_rng(0).standard_normal(items.shape[1])
    place = items @ direction if sp.issparse(items) else (items * direction).sum(axis=1)
    _, number = np.unique(np.asarray(place), return_inverse=True)
    one, other = number[pairs.low].astype(np.int64), number[pairs.high].astype(np.int64)
    low, high = np.minimum(one, other), np.maximum(one, other)
    return np.asarray(np.unique(low * len(number) + high, return_inverse=True)[1])
