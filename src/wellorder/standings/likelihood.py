r"""The likelihood of votes: Davidson's model with effects, its maximum, and what each vote adds to it.

A vote on a left and a right item, which ends for the left one, in a tie, or for the right one, has

.. math:: P(\text{right}) : P(\text{tie}) : P(\text{left}) = e^{d/2} : \nu : e^{-d/2}, \qquad
   d = r_R - r_L + \beta^\top z

z holds whatever differs from right to left but the items: a 1 for the side (β is then in favour of the right one),
lengths, prices. The log-likelihood is concave in θ = (r, β, log ν) together. Ratings are known up to a constant in each
*island* of items that are linked by votes: they are taken to have mean zero there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..sweeps import Floats, Ints


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes on numbered items; equal ones may stand as one with a weight.

    Attributes
    ----------
    left, right : arrays of shape (n,)
    outcome : array of shape (n,)
        −1: the left one is better, 0: a tie, 1: the right one.
    weight : array of shape (n,)
        How often a vote stands here, or what it counts.
    square : array of shape (n,)
        The sum of the squared weights of the votes that stand here as one: ``weight`` itself where each counts one.
    z : array of shape (n, n_effects)
    n_items : int
    """

    left: Ints
    right: Ints
    outcome: Ints
    weight: Floats
    square: Floats
    z: Floats
    n_items: int

    def __len__(self) -> int:
        return len(self.outcome)

    @cached_property
    def design(self) -> sp.csr_array:
        """d = design @ (r, β): +1 for the right item, −1 for the left one, z."""
        n = len(self)
        row = np.arange(n)
        items = sp.csr_array(
            (np.r_[np.ones(n), -np.ones(n)], (np.r_[row, row], np.r_[self.right, self.left])), shape=(n, self.n_items)
        )
        return sp.csr_array(sp.hstack([items, sp.csr_array(self.z)], format="csr")) if self.z.shape[1] else items

    @cached_property
    def island(self) -> Ints:
        """The number of each item's island; items without a vote are islands of their own."""
        counts = self.weight > 0
        links = sp.coo_array(
            (np.ones(np.count_nonzero(counts)), (self.left[counts], self.right[counts])),
            shape=(self.n_items, self.n_items),
        )
        return np.asarray(connected_components(links, directed=False)[1])

    @cached_property
    def has_ties(self) -> bool:
        """Whether there is a tie of any weight: without one ν is zero, and log ν is no parameter."""
        return bool(self.weight[self.outcome == 0].sum() > 0)


def merge(votes: Votes, *more: Ints) -> tuple[Votes, tuple[Ints, ...]]:
    """Put votes together that have the same items, outcome and effects, and the same number in each of ``more``.

    A million votes on a hundred items are some ten thousand such. Returns them, and the numbers.
    """
    key = np.column_stack([votes.left, votes.right, votes.outcome, *more]).astype(np.int64)
    if votes.z.shape[1]:
        z_key = np.unique(votes.z, axis=0, return_inverse=True)[1].reshape(-1)
        key = np.column_stack([key, z_key])
    span = np.maximum(key.max(axis=0, initial=0) - key.min(axis=0, initial=0) + 1, 1)
    if float(np.prod(span.astype(float))) < 2**62:
        flat = np.zeros(len(key), np.int64)
        for column, width in zip(key.T, span, strict=True):
            flat = flat * width + (column - column.min(initial=0))
        _, first, place = np.unique(flat, return_index=True, return_inverse=True)
    else:
        _, first, place = np.unique(key, axis=0, return_index=True, return_inverse=True)
        place = place.reshape(-1)
    merged = Votes(
        votes.left[first],
        votes.right[first],
        votes.outcome[first],
        np.bincount(place, votes.weight, len(first)),
        np.bincount(place, votes.square, len(first)),
        votes.z[first],
        votes.n_items,
    )
    return merged, tuple(each[first] for each in more)


# --------------------------------------------------------------------------------------------------
# Probabilities and derivatives, a line a vote.


def probabilities(d: Floats, log_nu: float) -> tuple[Floats, Floats, Floats]:
    """Return P(left), P(tie), P(right); the largest term is taken out, so that none overflows."""
    most = np.maximum(0.5 * np.abs(d), log_nu)
    left, tie, right = np.exp(-0.5 * d - most), np.exp(log_nu - most), np.exp(0.5 * d - most)
    total = left + tie + right
    return left / total, tie / total, right / total


@dataclass(frozen=True, eq=False)
class Expansion:
    """The log-likelihood around a point: its value, and derivatives in (d, log ν), one a vote."""

    value: float
    by_d: Floats
    by_tie: Floats
    """First derivatives of each vote's log-likelihood, without its weight."""
    bend_d: Floats
    bend_cross: Floats
    bend_tie: Floats
    """Second derivatives, less than or equal to zero in every direction, with the sign turned."""


def expand(votes: Votes, theta: Floats) -> Expansion:
    """Expand the log-likelihood at (r, β, log ν)."""
    d, log_nu = votes.design @ theta[:-1], float(theta[-1])
    left, tie, right = probabilities(d, log_nu)
    chosen = np.where(votes.outcome > 0, right, np.where(votes.outcome < 0, left, tie))
    apart = right - left
    with np.errstate(divide="ignore"):
        value = float(votes.weight @ np.where(votes.weight > 0, np.log(chosen), 0.0))
    return Expansion(
        value,
        0.5 * (votes.outcome - apart),
        (votes.outcome == 0) - tie,
        0.25 * (right + left - apart**2),
        -0.5 * apart * tie,
        tie * (1.0 - tie),
    )


def gradient(votes: Votes, at: Expansion) -> Floats:
    """Return the derivative of the log-likelihood in θ."""
    return np.append(votes.design.T @ (votes.weight * at.by_d), votes.weight @ at.by_tie)


def information(votes: Votes, at: Expansion) -> Floats:
    """Return the observed information: minus the Hessian, in θ; a dense matrix."""
    design, weight = votes.design, votes.weight
    of_d = (design.T @ sp.dia_array((weight * at.bend_d, 0), shape=(len(votes),) * 2) @ design).toarray()
    cross = design.T @ (weight * at.bend_cross)
    return np.block([[of_d, cross[:, None]], [cross[None, :], np.array([[weight @ at.bend_tie]])]])


def per_vote(votes: Votes, at: Expansion) -> sp.csr_array:
    """Return ψ: the derivative of each vote's log-likelihood in θ, one row a vote, without its weight."""
    of_d = sp.dia_array((at.by_d, 0), shape=(len(votes),) * 2) @ votes.design
    return sp.csr_array(sp.hstack([of_d, sp.csr_array(at.by_tie[:, None])], format="csr"))


# --------------------------------------------------------------------------------------------------
# The most likely parameters.


def free_space(votes: Votes, fitted: Floats) -> Floats:
    """Return an orthonormal basis (columns) of the directions of θ that the data speak of.

    Ratings have mean zero in each island; parameters that are not fitted (0 in ``fitted``) stay where they are.
    """
    n_islands = int(votes.island.max(initial=-1)) + 1
    count = np.bincount(votes.island, minlength=n_islands)
    blocks = []
    for number in range(n_islands):
        members = np.flatnonzero(votes.island == number)
        if count[number] > 1:  # the contrasts of Helmert: orthonormal, and each has mean zero
            k = count[number]
            block = np.zeros((votes.n_items, k - 1))
            for j in range(1, k):
                block[members[:j], j - 1] = 1.0 / np.sqrt(j * (j + 1))
                block[members[j], j - 1] = -j / np.sqrt(j * (j + 1))
            blocks.append(block)
    ratings = np.hstack(blocks) if blocks else np.zeros((votes.n_items, 0))
    others = np.eye(len(fitted) - votes.n_items)[:, np.flatnonzero(fitted[votes.n_items :])]
    out = np.zeros((len(fitted), ratings.shape[1] + others.shape[1]))
    out[: votes.n_items, : ratings.shape[1]] = ratings
    out[votes.n_items :, ratings.shape[1] :] = others
    return out


def most_likely(
    votes: Votes, penalty: Floats | None = None, *, tol: float = 1e-10, max_iter: int = 100
) -> tuple[Floats, bool]:
    """Maximise the log-likelihood less ½ Σ penalty·θ² by Newton's method with halved steps.

    Returns θ, and whether no derivative exceeds ``tol`` times the votes' weight. Without a tie log ν is −inf.
    """
    n_parameters = votes.n_items + votes.z.shape[1] + 1
    fitted = np.ones(n_parameters)
    theta = np.zeros(n_parameters)
    if not votes.has_ties:
        fitted[-1], theta[-1] = 0.0, -np.inf
    pull = np.zeros(n_parameters) if penalty is None else penalty
    basis = free_space(votes, fitted)
    finite = np.where(np.isfinite(theta), theta, 0.0)
    total = float(votes.weight.sum())

    def valued(point: Floats) -> tuple[float, Expansion]:
        at = expand(votes, point)
        inside = np.where(np.isfinite(point), point, 0.0)
        return at.value - 0.5 * float(pull @ inside**2), at

    value, at = valued(theta)
    for _ in range(max_iter):
        finite = np.where(np.isfinite(theta), theta, 0.0)
        slope = basis.T @ (gradient(votes, at) - pull * finite)
        if float(np.abs(slope).max(initial=0.0)) <= tol * total:
            return theta, True
        bend = basis.T @ ((information(votes, at) + np.diag(pull)) @ basis)
        step = basis @ np.linalg.lstsq(bend, slope, rcond=1e-13)[0]
        share = 1.0
        while share > 1e-8:
            point = theta + share * step if votes.has_ties else np.append((theta + share * step)[:-1], -np.inf)
            new_value, new_at = valued(point)
            if new_value >= value + 1e-4 * share * float(slope @ (basis.T @ step)) - 1e-12 * abs(value):
                break
            share /= 2
        else:
            return theta, False
        theta, value, at = point, new_value, new_at
    return theta, False
