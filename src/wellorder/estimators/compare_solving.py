"""Comparisons with ties: how their risk is minimised, over kernels and over few columns, smooth or with corners."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ..deadline import time_is_up
from ..losses import LOSSES, Hinge, PairLoss, RiskAt, TiedPairs, tied_risk, tied_value
from ..memory import available_bytes
from ..order import ListedPairs
from ..solvers import Objective, SolveResult, coarse_to_fine, make_problem, smooth_ever_less, solver_for
from ..spaces import Kernel, LinearSpace, RowSpace, Space, is_dask, linear_space, take_rows
from ..sweeps import Floats, Ints, dot

# --------------------------------------------------------------------------------------------------
# The kernel between pairs of items: that of their differences in the kernel's own space.


_ROWS = 512
"""Lines of the kernel that are made at a time, so that little beside the result is in memory."""


class PairKernel:
    """k(x'_i, x'_j) − k(x'_i, x_j) − k(x_i, x'_j) + k(x_i, x_j) between pairs (x, x') = (low, high) of items.

    From the matrix between all items where that is given, else from the items themselves: four values of the kernel an
    entry then, which is the less work where most items are in one pair only.
    """

    def __init__(self, kernel: Kernel, items: Any, matrix: Floats | None = None) -> None:
        self._kernel, self._items, self._matrix = kernel, items, matrix

    def fill(self, high: Ints, low: Ints, out: Floats) -> None:
        """Write the kernel between all pairs into ``out``."""
        for a in range(0, len(high), _ROWS):
            b = min(a + _ROWS, len(high))
            self._lines(high[a:b], low[a:b], high[a:], low[a:], out[a:b, a:])
            out[a:b, a:b] = 0.5 * (out[a:b, a:b] + out[a:b, a:b].T)  # symmetric to the last bit
            out[b:, a:b] = out[a:b, b:].T

    def scores(self, coef: Floats) -> Floats:
        """Return Σ_j coef_j k(item_j, ·) of all items."""
        if self._matrix is not None:
            return np.asarray(self._matrix @ coef)
        standing = np.flatnonzero(coef)
        return self._kernel.scores(self._items, self._items[standing], coef[standing])

    def _lines(self, high: Ints, low: Ints, high_to: Ints, low_to: Ints, out: Floats) -> None:
        if self._matrix is not None:
            difference = self._matrix[high] - self._matrix[low]
            np.subtract(difference[:, high_to], difference[:, low_to], out=out)
            return
        X, n, n_to = self._items, len(high), len(high_to)
        values = self._kernel.matrix(X[np.append(high, low)], X[np.append(high_to, low_to)], dtype=np.float64)
        np.subtract(values[:n, :n_to], values[:n, n_to:], out=out)
        out -= values[n:, :n_to]
        out += values[n:, n_to:]


# --------------------------------------------------------------------------------------------------
# Comparisons with ties: a risk of item scores, with the bias minimised out.


_FEWEST_OF_A_KIND = 100
"""A sample has at least this many decided comparisons and this many ties."""


_SMALLEST_CORNER = 1e-9
"""Beyond this, floating point has the better of rounded corners."""


@dataclass(frozen=True)
class TieProblem(Objective):
    """Minimise ½‖f‖² + C · R(s), with R the risk of :func:`tied_risk`.

    Scores are of items, so that a product with X costs the same however often each item is compared.
    """

    space: Space
    pairs: TiedPairs
    loss: PairLoss
    strength: float

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate the loss at these scores, the bias minimised out."""
        return tied_risk(self.loss, scores, self.pairs)[0]

    @property
    def n_active(self) -> int:
        """How many comparisons take part."""
        return len(self.pairs)

    def sample(self, size: int, rng: np.random.Generator) -> TieProblem | None:
        """Draw comparisons, and keep the items that they compare."""
        if not isinstance(self.space, RowSpace):
            return None
        some = self.pairs.take(np.sort(rng.choice(len(self.pairs), size, replace=False)))
        if min(some.n_decided, some.n_ties) < _FEWEST_OF_A_KIND:
            return None
        rows, some = some.compact()
        strength = self.strength * float(self.pairs.weight.sum() / some.weight.sum())
        return TieProblem(self.space.take(rows), some, self.loss, strength)


def tied_svm(problem: TieProblem, *, tol: float = 1e-3, max_iter: int = 1000) -> SolveResult:
    """Minimise, a hinge until the duality gap is below ``tol`` times the objective.

    The hinge is smoothed less and less; see :func:`smooth_ever_less`. Without a single tie the bias alone would
    satisfy every comparison: it is left out then, which makes it a RankSVM.
    """
    if problem.pairs.n_ties == 0:
        return _ranked(problem, tol=tol, max_iter=max_iter)
    if not isinstance(problem.loss, Hinge):
        return coarse_to_fine(problem, tol=tol, max_iter=max_iter)
    hinge = problem.loss
    return smooth_ever_less(
        problem,
        lambda width: replace(problem, loss=hinge.smoothed(width)),
        partial(coarse_to_fine, certain=True),
        start=None,
        tol=tol,
        max_iter=max_iter,
        steepness=hinge.steepness,
        smallest=min(_SMALLEST_CORNER, 0.01 * tol),
    ).result()


def _ranked(problem: TieProblem, *, tol: float, max_iter: int) -> SolveResult:
    pairs = problem.pairs
    listed = ListedPairs(pairs.high, pairs.low, pairs.weight, pairs.n_rows, float(pairs.weight.sum()))
    return solver_for(problem.loss)(
        make_problem(problem.space, listed, problem.loss, problem.strength), tol=tol, max_iter=max_iter
    )


# --------------------------------------------------------------------------------------------------
# The hinge over comparisons with ties, by libsvm, as a problem of two classes of pairs. Equations here are those of
# Venuto, Hocking, Spanurattana and Sugiyama (2014), Support vector comparison machines: (8) makes the pairs, decided
# ones with label +1, ties in both directions with label −1; (15) is the primal problem, (18) its dual.


_MOST_LIBSVM_STEPS = 10_000_000
_STEPS_PER_PAIR = 1_000
"""Of libsvm, with a kernel and with features: where columns are large it would never end."""


class TiedSolution(NamedTuple):
    """What libsvm found: coefficients of features or of items' kernels, the items' scores, β, and the objective.

    Where libsvm's numbers ran over, β is NaN.
    """

    coef: Floats
    scores: Floats
    bias: float
    objective: float
    n_iter: int
    converged: bool


def tied_by_libsvm(X: Any, pairs: TiedPairs, C: float, tol: float) -> TiedSolution:
    """Solve Venuto et al.'s problem (15) by libsvm for linear scores, from the differences of the items' rows."""
    D = X[pairs.high] - X[pairs.low]
    ties = D[pairs.n_decided :]
    # scikit-learn takes no CSR arrays with 64-bit indices, and its CSR matrices have none
    two_class = sp.csr_matrix(sp.vstack([D, -ties])) if sp.issparse(D) else np.concatenate([D, -ties])
    most = _STEPS_PER_PAIR * two_class.shape[0]
    found = _solve_by_libsvm(SVC(kernel="linear", C=C, tol=tol, max_iter=most), two_class, pairs)
    space = LinearSpace(X)
    coef = space.adjoint(found.dual)
    return _evaluate(found, coef, coef, space.scores(coef), pairs, C)


def tied_kernel_by_libsvm(kernel: PairKernel, pairs: TiedPairs, C: float, tol: float) -> TiedSolution:
    """Solve Venuto et al.'s problem (18) by libsvm, from the kernel between pairs.

    The second direction of a tie has the first one's kernel with the sign turned: it is copied, not computed.
    """
    n, d, m = len(pairs), pairs.n_decided, len(pairs) + pairs.n_ties
    K = np.empty((m, m))
    kernel.fill(pairs.high, pairs.low, K[:n, :n])
    np.negative(K[d:n, :n], out=K[n:, :n])
    np.negative(K[:n, d:n], out=K[:n, n:])
    K[n:, n:] = K[d:n, d:n]
    found = _solve_by_libsvm(SVC(kernel="precomputed", C=C, tol=tol, max_iter=_MOST_LIBSVM_STEPS), K, pairs)
    scores = kernel.scores(found.dual)
    return _evaluate(found, found.dual, scores, scores, pairs, C)


def refuse_large_pair_kernel(pairs: TiedPairs, kept_rows: int) -> None:
    """Raise an error with advice where the kernel between two-class pairs, and that between items, would not fit in."""
    m = len(pairs) + pairs.n_ties
    needed, free = 8.2 * m**2 + 8.0 * kept_rows**2 + 4e8, available_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"loss='hinge' with a kernel needs about {needed / 1e9:.1f} GB of memory for {m:,} pairs (each tie counts "
            f"twice), and {free / 1e9:.1f} GB are free; use loss='squared_hinge' with n_components=1000 (Nyström "
            "features, near-linear in the comparisons), kernel='linear', or fit on fewer comparisons"
        )


class _Dual(NamedTuple):
    """What u = Σ dual · Φ(item) is made of, β, libsvm's steps, and whether these were enough."""

    dual: Floats
    bias: float
    n_iter: int
    converged: bool


def _solve_by_libsvm(machine: Any, X: Any, pairs: TiedPairs) -> _Dual:
    n, d = len(pairs), pairs.n_decided
    label = np.where(np.arange(n + pairs.n_ties) < d, 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the caller says it, with advice that fits pairs
        try:
            machine.fit(X, label, np.concatenate([pairs.weight, pairs.weight[d:]]))
        except ValueError:  # all input has been checked by now: only libsvm's result can be at fault
            return _Dual(np.zeros(pairs.n_rows), np.nan, 0, converged=False)
    signed = np.zeros(len(label))
    signed[machine.support_] = (
        machine.dual_coef_[0].toarray() if sp.issparse(machine.dual_coef_) else machine.dual_coef_[0]
    )
    alone = signed[:n].copy()
    alone[d:] -= signed[n:]  # the second direction of a tie is its first one turned round
    return _Dual(
        pairs.spread(alone), float(machine.intercept_[0]), int(np.max(machine.n_iter_)), machine.fit_status_ == 0
    )


def _evaluate(found: _Dual, coef: Floats, partner: Floats, scores: Floats, pairs: TiedPairs, C: float) -> TiedSolution:
    """Add the objective; the squared norm is the coefficients times their partner: themselves, or scores."""
    objective = 0.5 * dot(coef, partner) + C * tied_value(LOSSES["hinge"], scores, pairs, found.bias)
    return TiedSolution(coef, scores, found.bias, objective, found.n_iter, found.converged)


# --------------------------------------------------------------------------------------------------
# The hinge over comparisons with ties by an interior point method: exact in a dozen steps, where columns are few.


_MOST_NUMBERS = 20_000_000
"""Up to so many in the differences of dense rows, which it holds twice, an interior point method solves."""

_MOST_COLUMNS = 1_000
"""Of them: its steps grow with the square of the columns."""

_MOST_FOR_LIBSVM = 2_000
"""Two-class pairs up to which libsvm solves otherwise: beyond, its time grows with their square."""

_MOST_INTERIOR_STEPS = 100
_TO_THE_WALL = 0.995
"""How much of the way to the nearest bound a step may go."""

_FINER = 1e-2
"""The gap is closed to this part of the tolerance: close to the optimum, a step more costs little and gains digits."""

_BALANCED = 1e-9
"""How far the two sides of the two-class pairs may be from weighing the same, as a part of all weight."""


def explicit_svm(X: Any, pairs: TiedPairs, C: float, tol: float) -> TiedSolution | None:
    """Solve Venuto et al.'s problem (15) for linear scores, by an interior point method or by libsvm.

    The first takes dense rows of not too many columns, the second not too many pairs. Where neither can, the answer is
    None; where it was tried in vain, it says so. Both are left to Newton's method.
    """
    m, d = len(pairs) + pairs.n_ties, X.shape[1]
    few = d <= _MOST_COLUMNS and m * (d + 1) <= _MOST_NUMBERS
    if is_dask(X):
        return _solve_here(X, pairs, C, tol) if few or m <= _MOST_FOR_LIBSVM else None
    if few and not sp.issparse(X):
        found = interior_svm(np.asarray(X, dtype=float), pairs, C, tol)
        if found.converged or (np.isfinite(found.objective) and time_is_up()):
            return found
    return tied_by_libsvm(X, pairs, C, tol) if m <= _MOST_FOR_LIBSVM else None


def _solve_here(X: Any, pairs: TiedPairs, C: float, tol: float) -> TiedSolution | None:
    """Solve for rows that lie elsewhere: the compared ones, no more numbers than twice their differences, come here."""
    rows, compared = pairs.compact()
    found = explicit_svm(take_rows(X, rows), compared, C, tol)
    return None if found is None else found._replace(scores=linear_space(X).scores(found.coef))


def interior_svm(X: Floats, pairs: TiedPairs, C: float, tol: float) -> TiedSolution:
    r"""Solve Venuto et al.'s problem (15) for linear scores of dense rows, to a relative duality gap below ``tol``.

    With B the two-class pairs' differences and a column of ones, each line times its label, and w = (u, β),

    .. math:: \min_w \tfrac12 \|u\|^2 + \sum_k c_k (1 - (Bw)_k)_+
              \quad\text{and}\quad
              \max_\alpha \sum_k \alpha_k - \tfrac12 \|\sum_k \alpha_k l_k D_k\|^2,
              \qquad 0 \le \alpha \le c, \; \sum_k l_k \alpha_k = 0.

    A step is Newton's on both at once (Mehrotra's predictor and corrector). It needs one system of d + 1 equations:
    O(m d²) time for m two-class pairs, O(m d) memory.
    """
    B, c = _two_class_rows(X, pairs), C * np.concatenate([pairs.weight, pairs.weight[pairs.n_decided :]])
    used = c > 0
    if not used.all():
        B, c = B[used], c[used]
    with np.errstate(all="ignore"):  # where numbers run out it ends, without having converged
        point, objective, n_iter, converged = _solve_inside(B, c, _FINER * tol)
    coef, bias = point.w[:-1], float(point.w[-1])
    return TiedSolution(coef, X @ coef, bias, objective, n_iter, converged)


def _two_class_rows(X: Floats, pairs: TiedPairs) -> Floats:
    """Return decided differences, then ties in both directions, with the bias's column, each times its label."""
    n, decided = len(pairs), pairs.n_decided
    B = np.empty((n + pairs.n_ties, X.shape[1] + 1))
    np.subtract(X[pairs.high], X[pairs.low], out=B[:n, :-1])
    np.negative(B[decided:n, :-1], out=B[n:, :-1])
    B[:decided, -1], B[decided:, -1] = 1.0, -1.0  # a tie's label turns both of its directions: they only change places
    return B


class _InteriorPoint(NamedTuple):
    """w = (u, β); the dual α; and the multipliers of α ≥ 0 and of α ≤ c, of which the last are the slacks."""

    w: Floats
    alpha: Floats
    low: Floats
    high: Floats

    def moved(self, step: _InteriorPoint, length: float) -> _InteriorPoint:
        return _InteriorPoint(*(at + length * along for at, along in zip(self, step, strict=True)))


def _solve_inside(B: Floats, c: Floats, gap: float) -> tuple[_InteriorPoint, float, int, bool]:
    """Return where primal and dual meet, the objective there, how many steps it took, and whether they met."""
    m, size = B.shape
    ridge = np.ones(size)
    ridge[-1] = 0.0  # the bias is free
    # from u = 0 the bounds are far on both sides, whatever C is: starting from Σ α l D costs twice the steps
    at = _InteriorPoint(np.zeros(size), 0.5 * c, np.ones(m), np.full(m, 2.0))
    objective = np.inf
    for n_iter in range(_MOST_INTERIOR_STEPS):
        margin, pull = B @ at.w, at.alpha @ B
        objective = 0.5 * dot(at.w[:-1], at.w[:-1]) + dot(c, np.maximum(1.0 - margin, 0.0))
        bound = float(at.alpha.sum()) - 0.5 * dot(pull[:-1], pull[:-1])
        if not np.isfinite(objective) or (n_iter and time_is_up()):
            return at, objective, n_iter, False
        if abs(pull[-1]) <= _BALANCED * float(c.sum()) and objective - bound <= gap * objective:
            return at, objective, n_iter, True
        try:
            step = _newton_step(B, c, at, ridge, margin, pull)
        except (LinAlgError, ValueError):  # columns of very different size: the system has run out of digits
            return at, objective, n_iter, False
        at = at.moved(step, _TO_THE_WALL * _longest(at, step, c))
    return at, objective, _MOST_INTERIOR_STEPS, False


def _newton_step(
    B: Floats, c: Floats, at: _InteriorPoint, ridge: Floats, margin: Floats, pull: Floats
) -> _InteriorPoint:
    """Return Newton's step towards the central path, corrected by what the straight step to its end would miss."""
    left = c - at.alpha
    stationary, tied = 1.0 - margin + at.low - at.high, ridge * at.w - pull
    theta = at.low / at.alpha + at.high / left
    system = (B / theta[:, None]).T @ B
    system[np.diag_indices(len(ridge))] += ridge
    factor = cho_factor(system)

    def solve(of_low: Floats, of_high: Floats) -> _InteriorPoint:
        r = stationary + of_low / at.alpha - of_high / left
        w = cho_solve(factor, (r / theta) @ B - tied)
        alpha = (r - B @ w) / theta
        return _InteriorPoint(w, alpha, (of_low - at.low * alpha) / at.alpha, (of_high + at.high * alpha) / left)

    now_low, now_high = at.alpha * at.low, left * at.high
    straight = solve(-now_low, -now_high)
    end = at.moved(straight, _longest(at, straight, c))
    mean = float(now_low.mean() + now_high.mean()) / 2.0
    reached = (dot(end.alpha, end.low) + dot(c - end.alpha, end.high)) / (2.0 * len(c))
    centre = mean * (reached / mean) ** 3
    return solve(centre - now_low - straight.alpha * straight.low, centre - now_high + straight.alpha * straight.high)


def _longest(at: _InteriorPoint, step: _InteriorPoint, c: Floats) -> float:
    """Return how much of a step, at most all, keeps α inside its bounds and the multipliers positive."""
    room = (at.alpha, step.alpha), (c - at.alpha, -step.alpha), (at.low, step.low), (at.high, step.high)
    return min(1.0, *(float(np.where(along < 0, -value / along, np.inf).min()) for value, along in room))
