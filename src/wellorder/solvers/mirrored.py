"""The hinge over few listed pairs and a kernel, by libsvm: every pair and its mirror image as two classes."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ..losses import Hinge
from ..order import ListedPairs
from ..spaces import Function, KernelSpace
from ..sweeps import Floats
from .problem import Problem, SolveResult

_MOST_PAIRS = 2_000
_STEPS_PER_PAIR = 2_000
_TOLERANCES = (1e-3, 1e-5, 1e-7)
"""Of libsvm, one after the other until the gap is small; it keeps kernels in single precision, so no further."""


def suits_mirroring(problem: Problem) -> bool:
    """Say whether the kernel between pairs is small, and smaller than that between rows."""
    pairs = problem.pairs
    return (
        isinstance(problem.loss, Hinge)
        and isinstance(problem.space, KernelSpace)
        and isinstance(pairs, ListedPairs)
        and 0 < pairs.n_pairs <= min(_MOST_PAIRS, pairs.n_rows)
    )


def mirrored_svm(problem: Problem, tol: float) -> SolveResult:
    r"""Minimise ½‖f‖² + Σ c_k (1 − a(f(high_k) − f(low_k)))_+ until the duality gap is below ``tol``.

    A support vector machine has an intercept, and a ranker none. With every difference as a row of the one class and
    its negative as a row of the other, at half the cost each, the objective is even in the intercept, and so least
    at zero. The gap is that of the problem itself: Σα − ½ αᵀPα ≤ minimum for 0 ≤ α ≤ c, P the kernel between pairs.
    """
    pairs, loss, space = problem.pairs, problem.loss, problem.space
    assert isinstance(pairs, ListedPairs)
    assert isinstance(loss, Hinge)
    assert isinstance(space, KernelSpace)
    n, a = pairs.n_pairs, loss.steepness
    difference = space.lines(pairs.high) - space.lines(pairs.low)
    P = a**2 * (difference[:, pairs.high] - difference[:, pairs.low]).astype(float)
    mirrored = np.empty((2 * n, 2 * n))
    mirrored[:n, :n] = mirrored[n:, n:] = 0.5 * (P + P.T)
    mirrored[:n, n:] = mirrored[n:, :n] = -mirrored[:n, :n]
    cost = problem.strength * pairs.weight
    steps = 0
    for accuracy in _TOLERANCES:
        alpha, n_iter, ended = _solve(mirrored, cost, accuracy)
        steps += n_iter
        coef = np.zeros(pairs.n_rows)
        np.add.at(coef, pairs.high, a * alpha)
        np.subtract.at(coef, pairs.low, a * alpha)
        point = problem.at(Function(space, coef))
        gap = point.objective - float(alpha.sum() - 0.5 * alpha @ mirrored[:n, :n] @ alpha)
        if gap <= tol * abs(point.objective) or not ended:
            break
    converged = bool(gap <= tol * abs(point.objective))
    return SolveResult(coef, point.objective, max(gap, 0.0), steps, 2, converged, int(np.count_nonzero(alpha)))


def _solve(mirrored: Floats, cost: Floats, accuracy: float) -> tuple[Floats, int, bool]:
    """Return α of each pair, libsvm's steps, and whether they were enough."""
    n = len(cost)
    machine = SVC(kernel="precomputed", C=1.0, tol=accuracy, max_iter=_STEPS_PER_PAIR * n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # where it does not end, another solver goes on
        machine.fit(mirrored, np.repeat([1, -1], n), np.tile(0.5 * cost, 2))
    both = np.zeros(2 * n)
    both[machine.support_] = np.abs(machine.dual_coef_[0])
    return np.minimum(both[:n] + both[n:], cost), int(np.max(machine.n_iter_)), machine.fit_status_ == 0
