"""The hinge over comparisons with ties by an interior point method: exact in a dozen steps, where columns are few."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..losses import TiedPairs
from ..spaces import is_dask, linear_space, take_rows
from ..sweeps import Floats, dot
from .flipped import FlippedSolution, flipped_svm

_MOST_NUMBERS = 20_000_000
"""Up to so many in the differences of dense rows, which it holds twice, an interior point method solves."""

_MOST_COLUMNS = 1_000
"""Of them: its steps grow with the square of the columns."""

_MOST_FOR_LIBSVM = 2_000
"""Flipped pairs up to which libsvm solves otherwise: beyond, its time grows with their square."""

_MOST_STEPS = 100
_TO_THE_WALL = 0.995
"""How much of the way to the nearest bound a step may go."""

_FINER = 1e-2
"""The gap is closed to this part of the tolerance: close to the optimum, a step more costs little and gains digits."""

_BALANCED = 1e-9
"""How far the two sides of the flipped pairs may be from weighing the same, as a part of all weight."""


def explicit_svm(X: Any, pairs: TiedPairs, C: float, tol: float) -> FlippedSolution | None:
    """Solve (15) for linear scores, the way that pays; None, or no convergence, where Newton's method must."""
    m, d = len(pairs) + pairs.n_ties, X.shape[1]
    few = d <= _MOST_COLUMNS and m * (d + 1) <= _MOST_NUMBERS
    if is_dask(X):
        return _solve_here(X, pairs, C, tol) if few or m <= _MOST_FOR_LIBSVM else None
    if few and not sp.issparse(X):
        found = interior_svm(np.asarray(X, dtype=float), pairs, C, tol)
        if found.converged:
            return found
    return flipped_svm(X, pairs, C, tol) if m <= _MOST_FOR_LIBSVM else None


def _solve_here(X: Any, pairs: TiedPairs, C: float, tol: float) -> FlippedSolution | None:
    """Solve for rows that lie elsewhere: the compared ones, no more numbers than twice their differences, come here."""
    rows, compared = pairs.compact()
    found = explicit_svm(take_rows(X, rows), compared, C, tol)
    return None if found is None else found._replace(scores=linear_space(X).scores(found.coef))


def interior_svm(X: Floats, pairs: TiedPairs, C: float, tol: float) -> FlippedSolution:
    r"""Solve (15) for linear scores of dense rows, to a relative duality gap below ``tol``.

    With B the flipped pairs' differences and a column of ones, each line times its label, and w = (u, β),

    .. math:: \min_w \tfrac12 \|u\|^2 + \sum_k c_k (1 - (Bw)_k)_+
              \quad\text{and}\quad
              \max_\alpha \sum_k \alpha_k - \tfrac12 \|\sum_k \alpha_k l_k D_k\|^2,
              \qquad 0 \le \alpha \le c, \; \sum_k l_k \alpha_k = 0.

    A step is Newton's on both at once (Mehrotra's predictor and corrector). It needs one system of d + 1 equations:
    O(m d²) time for m flipped pairs, O(m d) memory.
    """
    B, c = _flipped_rows(X, pairs), C * np.concatenate([pairs.weight, pairs.weight[pairs.n_decided :]])
    used = c > 0
    if not used.all():
        B, c = B[used], c[used]
    with np.errstate(all="ignore"):  # where numbers run out it ends, without having converged
        point, objective, n_iter, converged = _solve(B, c, _FINER * tol)
    coef, bias = point.w[:-1], float(point.w[-1])
    return FlippedSolution(coef, X @ coef, bias, objective, n_iter, converged)


def _flipped_rows(X: Floats, pairs: TiedPairs) -> Floats:
    """Return decided differences, then ties in both directions, with the bias's column, each times its label."""
    n, decided = len(pairs), pairs.n_decided
    B = np.empty((n + pairs.n_ties, X.shape[1] + 1))
    np.subtract(X[pairs.high], X[pairs.low], out=B[:n, :-1])
    np.negative(B[decided:n, :-1], out=B[n:, :-1])
    B[:decided, -1], B[decided:, -1] = 1.0, -1.0  # a tie's label turns both of its directions: they only change places
    return B


class _Point(NamedTuple):
    """w = (u, β); the dual α; and the multipliers of α ≥ 0 and of α ≤ c, of which the last are the slacks."""

    w: Floats
    alpha: Floats
    low: Floats
    high: Floats

    def moved(self, step: _Point, length: float) -> _Point:
        return _Point(*(at + length * along for at, along in zip(self, step, strict=True)))


def _solve(B: Floats, c: Floats, gap: float) -> tuple[_Point, float, int, bool]:
    """Return where primal and dual meet, the objective there, how many steps it took, and whether they met."""
    m, size = B.shape
    ridge = np.ones(size)
    ridge[-1] = 0.0  # the bias is free
    # from u = 0 the bounds are far on both sides, whatever C is: starting from Σ α l D costs twice the steps
    at = _Point(np.zeros(size), 0.5 * c, np.ones(m), np.full(m, 2.0))
    objective = np.inf
    for n_iter in range(_MOST_STEPS):
        margin, pull = B @ at.w, at.alpha @ B
        objective = 0.5 * dot(at.w[:-1], at.w[:-1]) + dot(c, np.maximum(1.0 - margin, 0.0))
        bound = float(at.alpha.sum()) - 0.5 * dot(pull[:-1], pull[:-1])
        if not np.isfinite(objective):
            return at, objective, n_iter, False
        if abs(pull[-1]) <= _BALANCED * float(c.sum()) and objective - bound <= gap * objective:
            return at, objective, n_iter, True
        try:
            step = _newton_step(B, c, at, ridge, margin, pull)
        except (LinAlgError, ValueError):  # columns of very different size: the system has run out of digits
            return at, objective, n_iter, False
        at = at.moved(step, _TO_THE_WALL * _longest(at, step, c))
    return at, objective, _MOST_STEPS, False


def _newton_step(B: Floats, c: Floats, at: _Point, ridge: Floats, margin: Floats, pull: Floats) -> _Point:
    """Return Newton's step towards the central path, corrected by what the straight step to its end would miss."""
    left = c - at.alpha
    stationary, tied = 1.0 - margin + at.low - at.high, ridge * at.w - pull
    theta = at.low / at.alpha + at.high / left
    system = (B / theta[:, None]).T @ B
    system[np.diag_indices(len(ridge))] += ridge
    factor = cho_factor(system)

    def solve(of_low: Floats, of_high: Floats) -> _Point:
        r = stationary + of_low / at.alpha - of_high / left
        w = cho_solve(factor, (r / theta) @ B - tied)
        alpha = (r - B @ w) / theta
        return _Point(w, alpha, (of_low - at.low * alpha) / at.alpha, (of_high + at.high * alpha) / left)

    now_low, now_high = at.alpha * at.low, left * at.high
    straight = solve(-now_low, -now_high)
    end = at.moved(straight, _longest(at, straight, c))
    mean = float(now_low.mean() + now_high.mean()) / 2.0
    reached = (dot(end.alpha, end.low) + dot(c - end.alpha, end.high)) / (2.0 * len(c))
    centre = mean * (reached / mean) ** 3
    return solve(centre - now_low - straight.alpha * straight.low, centre - now_high + straight.alpha * straight.high)


def _longest(at: _Point, step: _Point, c: Floats) -> float:
    """Return how much of a step, at most all, keeps α inside its bounds and the multipliers positive."""
    room = (at.alpha, step.alpha), (c - at.alpha, -step.alpha), (at.low, step.low), (at.high, step.high)
    return min(1.0, *(float(np.where(along < 0, -value / along, np.inf).min()) for value, along in room))
