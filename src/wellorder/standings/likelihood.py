r"""The likelihood of votes: Davidson's model with effects, its derivatives, and its maximum.

A vote on a left and a right item, which ends for the left one, in a tie, or for the right one, has

.. math:: P(\text{right}) : P(\text{tie}) : P(\text{left}) = e^{d/2} : \nu : e^{-d/2}, \qquad
   d = r_R - r_L + \beta^\top z

z holds whatever differs from right to left but the items: a 1 for the side (β is then in favour of the right one),
lengths, prices. Where 'both bad' is an outcome of its own, it has a ν of its own. The log-likelihood is concave in
θ = (r, β, log ν) together. Ratings are known up to a constant in each *island* of items that are linked by votes: they
have mean zero there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.sparse.linalg import splu

from ..losses import outcome_terms
from ..sweeps import Floats, one_blas_thread
from .votes import Votes, add_up

_MOST_STEPS = 200

_LONGEST = 8.0
"""A step of a rating, at most, in log-odds."""


_MOST_ALONE = 500
"""Items up to which matrices are so small that BLAS's threads would rather wait for each other than work."""


_MOST_DENSE = 1_000
"""Items beyond which a matrix is factored as the sparse one that it is, where that pays."""

_FEW_MET = 4
"""Others that an item has met, on average, up to which that pays: with more, factors fill up."""


def one_thread_if_few(n_items: int) -> AbstractContextManager[object]:
    """Keep BLAS to one thread where there are few items."""
    return one_blas_thread(when=n_items <= _MOST_ALONE)


def probabilities(d: Floats, log_nu: Floats) -> tuple[Floats, Floats, Floats]:
    """Return P(left), P(right), and P(tie) with one column a kind."""
    left, right, ties, _ = _terms(d, log_nu)
    return left, right, ties


def _terms(d: Floats, log_nu: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return P(left), P(right), P(tie) by kind, and the logarithm of what they were divided by."""
    both = float(np.logaddexp.reduce(log_nu))
    left, tie, right, total = outcome_terms(d, both)
    kinds = np.exp(log_nu - both) if np.isfinite(both) else np.zeros(len(log_nu))
    return left, right, tie[:, None] * kinds, total


@dataclass(frozen=True, eq=False)
class Expansion:
    """The log-likelihood around a point: its value, and derivatives in (d, log ν), a line a vote, without its weight.

    Second derivatives have their sign turned: they are those of the negative log-likelihood.
    """

    value: float
    by_d: Floats
    by_tie: Floats
    bend_d: Floats
    bend_cross: Floats
    bend_tie: Floats


def log_chances(votes: Votes, d: Floats, log_nu: Floats) -> Floats:
    """Return the logarithm of the chance of what came, one a vote, even where that chance rounds to zero."""
    is_kind = votes.kind[:, None] == np.arange(votes.n_kinds)
    chosen = 0.5 * votes.outcome * d + np.where(is_kind, log_nu, 0.0).sum(axis=1)
    return np.asarray(chosen - _terms(d, log_nu)[3])


def expand(votes: Votes, d: Floats, log_nu: Floats) -> Expansion:
    """Expand the log-likelihood at differences d of the votes and log ν of the kinds of ties."""
    left, right, ties, total = _terms(d, log_nu)
    is_kind = votes.kind[:, None] == np.arange(votes.n_kinds)
    # from exponents, as a probability may round to zero
    chosen = 0.5 * votes.outcome * d + np.where(is_kind, log_nu, 0.0).sum(axis=1)
    counted = votes.weight > 0
    value = float(votes.weight[counted] @ (chosen - total)[counted])
    apart = right - left
    bend_tie = -ties[:, :, None] * ties[:, None, :]
    kinds = np.arange(votes.n_kinds)
    bend_tie[:, kinds, kinds] += ties
    return Expansion(
        value,
        0.5 * (votes.outcome - apart),
        is_kind - ties,
        0.25 * (right + left - apart**2),
        -0.5 * apart[:, None] * ties,
        bend_tie,
    )


def spread(votes: Votes, by_d: Floats, by_tie: Floats) -> Floats:
    """Carry derivatives in d and log ν, one a vote, to θ."""
    n = votes.n_items
    ratings = add_up(votes.right, by_d, n) - add_up(votes.left, by_d, n)
    return np.concatenate([ratings, votes.z.T @ by_d, by_tie.sum(axis=0)])


def assemble(votes: Votes, dd: Floats, dt: Floats, tt: Floats) -> Floats:
    """Return Σ over votes of the matrix with entries (dd, dt, tt) in (d, log ν), carried to θ; a dense matrix."""
    n, p = votes.n_items, votes.n_effects
    out = np.zeros((votes.n_parameters,) * 2)
    both = add_up(votes.left * n + votes.right, dd, n * n).reshape(n, n)
    out[:n, :n] = -(both + both.T)
    own = add_up(votes.left, dd, n) + add_up(votes.right, dd, n)
    out[np.arange(n), np.arange(n)] += own
    for columns, first in ((dd[:, None] * votes.z, n), (dt, n + p)):
        for number, column in enumerate(columns.T):
            at = add_up(votes.right, column, n) - add_up(votes.left, column, n)
            out[:n, first + number] = out[first + number, :n] = at
    out[n : n + p, n : n + p] = votes.z.T @ (dd[:, None] * votes.z)
    out[n : n + p, n + p :] = votes.z.T @ dt
    out[n + p :, n : n + p] = out[n : n + p, n + p :].T
    out[n + p :, n + p :] = tt.sum(axis=0)
    return out


def information(votes: Votes, at: Expansion) -> Floats:
    """Return the observed information: minus the Hessian of the log-likelihood in θ."""
    w = votes.weight
    return assemble(votes, w * at.bend_d, w[:, None] * at.bend_cross, w[:, None, None] * at.bend_tie)


def sparse_information(votes: Votes, at: Expansion) -> sp.csc_array:
    """Return :func:`information` as a sparse matrix: items that never met have a zero."""
    count, w = len(votes), votes.weight
    row = np.arange(count)
    ends = np.r_[votes.right, votes.left], np.r_[np.ones(count), -np.ones(count)]
    sides = sp.csr_array((ends[1], (np.r_[row, row], ends[0])), shape=(count, votes.n_items))
    d = sp.csr_array(sp.hstack([sides, sp.csr_array(votes.z)])) if votes.n_effects else sides
    own = d.T @ (sp.diags_array(w * at.bend_d) @ d)
    cross = sp.csr_array(d.T @ (w[:, None] * at.bend_cross))
    kinds = sp.csr_array((w[:, None, None] * at.bend_tie).sum(axis=0))
    return sp.csc_array(sp.block_array([[own, cross], [cross.T, kinds]]))


def shares_of_islands(votes: Votes) -> Floats:
    """Return J: what is added to the information so that it can be inverted, 1/k for each two of k items of an island.

    The information of no vote reaches where J does: with both in one matrix, neither disturbs the other. Parameters
    that are not fitted get a 1.
    """
    n = votes.n_items
    size = np.bincount(votes.island)
    out = np.zeros((votes.n_parameters,) * 2)
    out[:n, :n] = (votes.island[:, None] == votes.island) / size[votes.island]
    out[np.arange(len(out)), np.arange(len(out))] += ~votes.fitted
    return out


Fit: TypeAlias = tuple[Floats, Expansion, bool]
"""θ, the expansion there, and whether no derivative is left."""


def most_likely(
    votes: Votes,
    *,
    pull: Floats | None = None,
    hold: Floats | None = None,
    start: Floats | None = None,
    fine: float = 1e-13,
) -> Fit:
    """Maximise the log-likelihood less ½ θᵀ·pull·θ by Newton's method with halved steps.

    Parameters
    ----------
    votes : Votes
    pull : array of shape (n_parameters,) * 2, optional
        A penalty, as a matrix.
    hold : array of shape (n_parameters,), optional
        A contrast of θ that keeps the value that it has at the start.
    start : array, optional
        Where to begin; mean zero in each island.
    fine : float, default=1e-13
        What another step would gain, against the votes' weight, where it ends.
    """
    theta = np.zeros(votes.n_parameters) if start is None else start.copy()
    theta[~votes.fitted] = -np.inf
    solver = _sparse_solver(votes) if pull is None and _met_few(votes) else _dense_solver(votes, pull)
    total = max(float(votes.weight.sum()), 1e-300)
    first = votes.n_items + votes.n_effects

    def valued(point: Floats) -> tuple[float, Expansion]:
        at = expand(votes, votes.differences(point), point[first:])
        return at.value - (0.0 if pull is None else 0.5 * float(_finite(point) @ pull @ _finite(point))), at

    value, at = valued(theta)
    for _ in range(_MOST_STEPS):
        w = votes.weight
        slope = spread(votes, w * at.by_d, w[:, None] * at.by_tie)
        if pull is not None:
            slope -= pull @ _finite(theta)
        slope[~votes.fitted] = 0.0
        step = _step(solver(at), slope, hold)
        gain = float(slope @ step)
        if gain <= fine * total:
            return theta, at, True
        found = _shorter(valued, theta, step, value, gain)
        if found is None:
            return theta, at, gain <= 1e-8 * total
        theta, value, at = found
    return theta, at, False


def _finite(theta: Floats) -> Floats:
    return np.where(np.isfinite(theta), theta, 0.0)


Solve: TypeAlias = Callable[[Floats], Floats]
"""Apply the inverse of the information to derivatives, which add up to zero in each island."""


def _met_few(votes: Votes) -> bool:
    """Say whether items are many and have met few others, so that most of the information is zeros."""
    n = votes.n_items
    if n <= _MOST_DENSE:
        return False
    met = np.minimum(votes.left, votes.right) * np.int64(n) + np.maximum(votes.left, votes.right)
    return len(np.unique(met)) <= _FEW_MET * n


def _dense_solver(votes: Votes, pull: Floats | None) -> Callable[[Expansion], Solve]:
    """Return what factors the information with the penalty, as a dense matrix."""
    kept = shares_of_islands(votes)

    def factor(at: Expansion) -> Solve:
        bend = information(votes, at) + kept
        if pull is not None:
            bend += pull
        return _ridged(
            lambda ridge: linalg.cho_factor(bend + ridge * np.eye(len(bend)) if ridge else bend, check_finite=False),
            lambda factors, slope: np.asarray(linalg.cho_solve(factors, slope, check_finite=False)),
            scale=float(np.trace(bend)) / len(bend),
        )

    return factor


def _sparse_solver(votes: Votes) -> Callable[[Expansion], Solve]:
    """Return what factors the information as a sparse matrix: without one item of each island, whose level is free."""
    island, n = votes.island, votes.n_items
    size = np.bincount(island)
    by_votes = np.lexsort((votes.per_item, island))
    kept = votes.fitted.copy()
    kept[by_votes[np.cumsum(size) - 1]] = False
    places = np.flatnonzero(kept)

    def factor(at: Expansion) -> Solve:
        bend = sparse_information(votes, at)[places][:, places].tocsc()

        def factored(ridge: float) -> Any:
            # minimum degree on the matrix as it is, and its own diagonal for pivots, as for Cholesky's factor
            found = splu(
                bend + ridge * sp.eye_array(len(places), format="csc") if ridge else bend,
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
            if not (found.U.diagonal() > 0).all():
                raise linalg.LinAlgError
            return found

        def solved(factors: Any, slope: Floats) -> Floats:
            out = np.zeros(len(kept))
            out[places] = factors.solve(slope[places])
            out[:n] -= (np.bincount(island, out[:n]) / size)[island]
            return out

        return _ridged(factored, solved, scale=float(bend.trace()) / max(len(places), 1))

    return factor


def _ridged(factored: Callable[[float], Any], solved: Callable[[Any, Floats], Floats], scale: float) -> Solve:
    """Factor a matrix; where no step is told apart from another, a little is added to the diagonal."""
    ridge = 0.0
    while True:
        try:
            factors = factored(ridge)
        except (linalg.LinAlgError, RuntimeError):  # a singular matrix is a RuntimeError of SuperLU's
            ridge = max(100.0 * ridge, 1e-12 * scale)
        else:
            return lambda slope: solved(factors, slope)


def _step(solve: Solve, slope: Floats, hold: Floats | None) -> Floats:
    """Solve for Newton's step."""
    step = solve(slope)
    if hold is not None:
        along = solve(hold)
        step = step - along * (hold @ step) / (hold @ along)
    return step


def _shorter(
    valued: Callable[[Floats], tuple[float, Expansion]], theta: Floats, step: Floats, value: float, gain: float
) -> tuple[Floats, float, Expansion] | None:
    """Halve a step until it gains what its slope promises, in part (Armijo); none is longer than a few log-odds.

    Far out the likelihood hardly bends, and Newton's step would lead beyond all numbers.
    """
    share = min(1.0, _LONGEST / max(float(np.abs(step).max(initial=0.0)), 1e-300))
    least = 1e-9 * share
    while share > least:
        trial = theta + share * step
        new_value, at = valued(trial)
        if new_value >= value + 1e-4 * share * gain - 1e-13 * abs(value):
            return trial, new_value, at
        share /= 2
    return None
