"""Proportional odds without a penalty: maximum likelihood, with standard errors, by Newton's method.

The thresholds are minimised out, so that Newton's method works on the coefficients alone. Its matrix is the
information about them that is left when the thresholds have taken theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from ..losses import GradedRows
from ..losses.proportional_odds import Give, Likelihood, most_likely
from ..spaces import Function, PartedSpace, RowSpace, origin_score
from ..sweeps import Array, Floats, dot, parallel_map
from .problem import SolveResult

_MOST_COEF = 2_000
"""Wider problems have no room for their information, and seldom a maximum."""

_BLOCK = 4_096
_PARTS = 4
"""Rows are visited in blocks, which threads share in this many parts whatever their number: the same bits."""

_COLLINEAR = 1e-10
"""Columns scaled to unit information are collinear when a combination of unit size has less than this."""

_CONSTANT = 1e-24
"""The square of rounding, with some to spare: a spread that small against a column's mean is none."""

_STILL = 1e-4
"""No score may move by more than this in the last step; Newton's method squares what is left."""

_RUNAWAY = 0.1
_NOTHING = 1e-8
"""Steps that move a score by so much, for so small a gain a row, lead to infinity."""


@dataclass(frozen=True)
class MaximumLikelihood:
    """The most likely coefficients and thresholds; their standard errors are the inverse information's."""

    result: SolveResult
    thresholds: Floats
    coef_se: Floats
    thresholds_se: Floats


@dataclass(frozen=True)
class _Information:
    """The Hessian in the coefficients, and how the thresholds follow them."""

    hessian: Floats
    follow: Floats
    """∂θ/∂w, a row for each threshold."""
    give: Give
    constant: Array
    """Whether each column varies by no more than rounding does."""

    def inverse(self) -> Floats | None:
        """Return the inverse, or None where there is none in floating point."""
        if self.constant.any():
            return None
        size = np.sqrt(self.hessian.diagonal())
        values, vectors = np.linalg.eigh(self.hessian / np.outer(size, size))
        if values[0] <= _COLLINEAR:
            return None
        return np.asarray((vectors / values) @ vectors.T / np.outer(size, size))


def maximum_likelihood(
    space: RowSpace, rows: GradedRows, *, start: Floats | None = None, tol: float = 1e-8, max_iter: int = 100
) -> MaximumLikelihood:
    """Maximise the likelihood until a step would gain less than ``tol`` of its logarithm, and no score moves."""
    if space.n_coef > _MOST_COEF:
        raise ValueError(
            f"X has {space.n_coef:,} columns; without a penalty at most {_MOST_COEF:,} can be fitted: give a finite C"
        )
    f = Function(space, np.zeros(space.n_coef) if start is None else start)
    at = most_likely(f.scores, rows)
    information = _information(space, at)
    inverse = information.inverse()
    if inverse is None and start is not None:  # too far out for any information
        return maximum_likelihood(space, rows, tol=tol, max_iter=max_iter)
    if inverse is None:
        raise _collinear(information)
    move, gain, n_iter, converged = np.inf, np.inf, 0, False
    while n_iter < max_iter and not converged:
        gradient = space.adjoint(at.gradient)
        step = Function(space, -inverse @ gradient)
        # a common shift of the scores is the thresholds' own, and moves nothing
        last_move, move = move, float(np.ptp(step.scores))
        gain = -0.5 * dot(gradient, step.coef)
        if gain <= _NOTHING * rows.mass.sum() and move > max(_RUNAWAY, 0.5 * last_move):
            raise _separated()
        converged = gain <= tol * at.value and move <= _STILL
        f, at = _line_search(f, step, at, gain)
        n_iter += 1
        information = _information(space, at)
        inverse = information.inverse()
        if inverse is None:
            raise _separated()
    follow = information.follow if space.origin is None else information.follow + space.origin
    along = follow @ inverse @ follow.T
    variance = information.give.solve(np.eye(len(at.thresholds))) + along
    return MaximumLikelihood(
        SolveResult(f.coef, at.value, gain, n_iter, 0, converged),
        at.thresholds + origin_score(space, f.coef),
        np.sqrt(inverse.diagonal()),
        np.sqrt(variance.diagonal()),
    )


def _line_search(f: Function, step: Function, at: Likelihood, gain: float) -> tuple[Function, Likelihood]:
    """Halve the step until it goes down; where rounding hides that, it is taken whole."""
    length = 1.0
    for _ in range(60):
        new = f.plus(length, step)
        trial = most_likely(new.scores, at.rows)
        if trial.value <= at.value - 1e-3 * length * gain + 1e-13 * at.value:
            return new, trial
        length *= 0.5
    return f, at


def _information(space: RowSpace, at: Likelihood) -> _Information:
    """Return Xᵀ (D − B T⁻¹ Bᵀ) X; a common shift of a column is the thresholds' own, so it is taken out first."""
    own, cross, give = at.bend_below + at.bend_above, at.cross, Give(at)
    centre = space.adjoint(own / max(float(own.sum()), np.finfo(float).tiny))
    if isinstance(space, PartedSpace):
        sums = space.each(partial(_add_up, centre), space.cut(own), space.cut(cross))
        hessian, mixed = (np.sum(part, axis=0) for part in zip(*sums, strict=True))
    else:
        hessian, mixed = _add_up(centre, space, own, cross)
    moved = give.solve(mixed)
    hessian -= mixed.T @ moved
    constant = hessian.diagonal() <= _CONSTANT * own.sum() * centre**2
    return _Information(hessian, centre - moved, give, constant)


def _add_up(centre: Floats, space: RowSpace, own: Floats, cross: sp.csr_array) -> tuple[Floats, Floats]:
    """Return Xᵀ D X and Bᵀ X, with X counted from its centre."""

    def visit(part: range) -> tuple[Floats, Floats]:
        hessian, mixed = np.zeros((space.n_coef, space.n_coef)), np.zeros((cross.shape[1], space.n_coef))
        for a in part:
            here = slice(a, a + _BLOCK)
            X = space.take(np.arange(a, min(a + _BLOCK, space.n_rows))).columns() - centre
            hessian += X.T @ (own[here, None] * X)
            mixed += cross[here].T @ X
        return hessian, mixed

    parts = [range(part * _BLOCK, space.n_rows, _PARTS * _BLOCK) for part in range(_PARTS)]
    with threadpool_limits(limits=1, user_api="blas"):  # our threads, not BLAS's
        sums = parallel_map(visit, parts, space.n_rows)
    hessian, mixed = (np.sum(part, axis=0) for part in zip(*sums, strict=True))
    return hessian, mixed


def _collinear(information: _Information) -> ValueError:
    """Return an error that names columns about which the rows say nothing."""
    if information.constant.any():
        return ValueError(
            f"{_name(np.flatnonzero(information.constant))} of X does not vary, which the thresholds cannot tell from "
            "themselves; leave it out, or give a finite C"
        )
    size = information.hessian.diagonal()
    vector = np.linalg.eigh(information.hessian / np.sqrt(np.outer(size, size)))[1][:, 0]
    involved = np.flatnonzero(np.abs(vector) > 0.1 * np.abs(vector).max())
    return ValueError(
        f"{_name(involved)} of X add up to nothing, or to a constant, so that their coefficients cannot be told apart; "
        "leave one out, or give a finite C"
    )


def _name(columns: Floats) -> str:
    named = ", ".join(map(str, columns[:5])) + (", …" if len(columns) > 5 else "")
    return f"column {named}" if len(columns) == 1 else f"columns {named}"


def _separated() -> ValueError:
    return ValueError(
        "the likelihood has no maximum: some combination of the columns of X separates levels without an error, and "
        "the larger its coefficients the better; give a finite C"
    )
