r"""How sure ratings are: covariances of the most likely parameters, rank sets, and votes that are still needed.

:math:`\mathrm{Cov}(\hat\theta) = A^+ B A^+` with A the observed information on the directions that the data speak of. B
is A itself where the model is right and votes are independent; Σ w²ψψᵀ over votes where they have weights; and the same
over sums of ψ where votes hang together in clusters (prompts, judges). Two kinds of clusters at once:
:math:`B_1 + B_2 - B_{12}`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg, stats

from ..metrics import semidefinite
from ..sweeps import Bools, Floats, Ints
from .likelihood import Expansion, assemble, probabilities, shares_of_islands
from .votes import Votes, add_up

_DRAWN = 1 << 26
"""Differences of drawn ratings that are looked at in all, about."""

_DRAWS = (400, 20_000)
"""Draws of each, at least and at most: the largest of many differences hardly varies, and needs fewer to be known."""


_BLOCK = 1 << 18
"""Drawn ratings that are looked at together."""

_NOTHING = 1e-10
"""What rounding leaves of an eigenvalue, or of a pivot, that is zero, against the largest."""


class NotToldError(ValueError):
    """Parameters that votes say nothing of, apart from others."""

    def __init__(self, directions: Floats) -> None:
        super().__init__(
            "the votes do not tell all ratings and effects apart; where weights leave next to nothing of most votes, "
            "as a short half-life does, take others"
        )
        self.directions = directions


def inverse_information(votes: Votes, bend: Floats) -> Floats:
    """Return A⁺, zero for parameters that are not fitted; refuse where more is unknown than islands explain."""
    kept = shares_of_islands(votes)
    inverse = inverse_if_sure(bend + kept)
    if inverse is None:
        scale = np.sqrt(np.maximum(np.diag(bend + kept), 1e-300))
        values, vectors = linalg.eigh((bend + kept) / np.outer(scale, scale))
        lost = values <= _NOTHING * values[-1]
        if lost.any():
            raise NotToldError(vectors[:, lost] / scale[:, None])
        inverse = (vectors / values) @ vectors.T / np.outer(scale, scale)
    return np.asarray(inverse - kept)


def inverse_if_sure(matrix: Floats) -> Floats | None:
    """Return the inverse of a symmetric matrix by Cholesky's factor; None where a pivot is next to nothing."""
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    try:
        root = linalg.cholesky(matrix / np.outer(scale, scale), overwrite_a=True)
    except linalg.LinAlgError:
        return None
    if len(root) == 0 or float(np.diag(root).min()) ** 2 <= _NOTHING:
        return None
    inverse, _ = linalg.lapack.dpotri(root, overwrite_c=True)  # a third of the work of solving for each column
    upper = np.triu(inverse)
    return np.asarray((upper + np.triu(upper, 1).T) / np.outer(scale, scale))


def least_pivot(matrix: Floats) -> float:
    """Return the least pivot of Cholesky's factor, squared: next to nothing where a matrix can hardly be inverted."""
    try:
        return float(np.diag(linalg.cholesky(matrix)).min() ** 2)
    except linalg.LinAlgError:
        return 0.0


@dataclass(frozen=True, eq=False)
class Meat:
    """B of the sandwich A⁻¹BA⁻¹, and how many units count as independent: votes, or the fewest clusters of a kind."""

    matrix: Floats
    n_units: int


def robust_meat(votes: Votes, at: Expansion, n_fitted: int) -> Meat:
    """Return B for independent votes of different weights.

    Ratings fit the votes that they were found by better than others: with n votes by their weights, and p parameters
    that were fitted, squares are too small by (n − p)/n, as in regression.
    """
    n = float(votes.weight.sum()) ** 2 / max(float(votes.square.sum()), 1e-300)
    square = votes.square * n / max(n - n_fitted, 1.0)
    outer = at.by_tie[:, :, None] * at.by_tie[:, None, :]
    matrix = assemble(
        votes, square * at.by_d**2, (square * at.by_d)[:, None] * at.by_tie, square[:, None, None] * outer
    )
    return Meat(matrix, int(n))


def n_told(votes: Votes) -> int:
    """Return how many parameters votes tell: all that are fitted, but for a level in each island."""
    return int(np.count_nonzero(votes.fitted)) - int(votes.island.max(initial=-1)) - 1


def clustered_meat(sums: Callable[[Ints, int], Any], clusters: Sequence[Ints]) -> Meat:
    """Return B for votes that hang together: ``clusters`` number each vote's, one array a kind.

    ``sums(number, n_clusters)`` returns Σ wψ over the votes of each cluster, a row each. Several kinds are put together
    by inclusion and exclusion (Cameron, Gelbach and Miller, 2011), each with G/(G − 1).
    """
    out: Any = 0.0
    fewest = len(clusters[0])
    for size in range(1, len(clusters) + 1):
        for chosen in combinations(clusters, size):
            number = _numbered(chosen)
            n_clusters = int(number.max(initial=0)) + 1
            rows = sums(number, n_clusters)
            product = rows.T @ rows
            dense = product.toarray() if sp.issparse(product) else product
            out = out + (-1.0) ** (size + 1) * dense * n_clusters / max(n_clusters - 1.0, 1.0)
            fewest = min(fewest, n_clusters) if size == 1 else fewest
    return Meat(semidefinite(out) if len(clusters) > 1 else out, fewest)


def _numbered(clusters: Sequence[Ints]) -> Ints:
    """Return the number of the cluster that a vote shares with others in all of several kinds."""
    flat = np.zeros(len(clusters[0]), np.int64)
    for each in clusters:
        flat = np.unique(flat * (int(each.max(initial=0)) + 1) + each, return_inverse=True)[1]
    return flat


def sums_by_cluster(votes: Votes, at: Expansion, number: Ints, n_clusters: int) -> sp.csr_array:
    """Return Σ wψ over the votes of each cluster: a row each."""
    by_d = votes.weight * at.by_d
    first = votes.n_items
    cells: list[tuple[Ints, Ints, Floats]] = [(number, votes.right, by_d), (number, votes.left, -by_d)]
    every = np.arange(n_clusters)
    columns = [by_d * each for each in votes.z.T] + [votes.weight * each for each in at.by_tie.T]
    cells += [
        (every, np.full(n_clusters, first + place), add_up(number, column, n_clusters))
        for place, column in enumerate(columns)
    ]
    row, column, value = (np.concatenate(parts) for parts in zip(*cells, strict=True))
    return sp.csr_array((value, (row, column)), shape=(n_clusters, votes.n_parameters))


# --------------------------------------------------------------------------------------------------
# Ranks that hold for all items at once.


def difference_errors(cov: Floats, island: Ints) -> Floats:
    """Return the standard error of r_b − r_a for each two items; infinite across islands."""
    variance = np.add.outer(np.diag(cov), np.diag(cov)) - 2.0 * cov
    errors = np.sqrt(np.maximum(variance, 0.0))
    return np.where(island[:, None] == island, errors, np.inf)


def told_apart(
    ratings: Floats, cov: Floats, island: Ints, level: float, *, degrees: float | None, seed: int = 0
) -> Bools:
    """Say which items stand above which, beyond chance for all of them together.

    Of draws from N(0, Cov), or t with few clusters, the largest |Z_a − Z_b|/se over all pairs has a quantile c; a
    stands above b where r_a − r_b > c·se. Pairs that are told apart are taken out, and c is found anew from the others,
    until no more fall (Romano and Wolf's step-down; Mogstad, Romano, Shaikh and Wilhelm, 2024).
    """
    errors = difference_errors(cov, island)
    first, second = np.nonzero(np.triu(np.isfinite(errors) & (errors > 0), 1))
    apart = ratings[first] - ratings[second]
    observed = np.abs(apart) / errors[first, second]
    drawn = _draws(cov, island, len(first), degrees, seed)
    sure = np.zeros(len(first), dtype=bool)
    tried = observed > stats.norm.isf((1.0 - level) / 2.0)  # what a single pair needs, many need as well
    # invariant: pairs that are sure are told apart, whatever the others
    while tried.any():
        largest = _largest(drawn, first[~sure], second[~sure], errors)
        falls = tried & (observed > np.quantile(largest, level))
        if not falls.any():
            break
        sure |= falls
        tried &= ~falls
    above = np.zeros(errors.shape, dtype=bool)
    up = apart > 0
    above[first[sure & up], second[sure & up]] = True
    above[second[sure & ~up], first[sure & ~up]] = True
    return above


def bar_for_all(
    cov: Floats, island: Ints, above: Bools, level: float, *, degrees: float | None, seed: int = 0
) -> float:
    """Return how many standard errors apart two items are told apart for all pairs at once that are still open.

    That is the c at which :func:`told_apart` came to rest; where no pair is open, what a pair by itself needs.
    """
    errors = difference_errors(cov, island)
    comparable = np.isfinite(errors) & (errors > 0)
    first, second = np.nonzero(np.triu(comparable & ~(above | above.T), 1))
    alone = float(stats.norm.isf((1.0 - level) / 2.0))
    if not len(first):
        return alone
    drawn = _draws(cov, island, int(np.count_nonzero(np.triu(comparable, 1))), degrees, seed)
    return max(float(np.quantile(_largest(drawn, first, second, errors), level)), alone)


def level_beside_infinite(confidence: float) -> float:
    """Return the level for finite differences where others are infinite: half of the errors go to those."""
    return 0.5 * (1.0 + confidence)


def _draws(cov: Floats, island: Ints, n_pairs: int, degrees: float | None, seed: int) -> Floats:
    """Draw ratings, one row an item; what all of an island have in common is of no account."""
    rng = np.random.default_rng(seed)
    n_draws = int(np.clip(_DRAWN // max(n_pairs, 1), *_DRAWS))
    same = island[:, None] == island
    common = same * np.mean(np.diag(cov)) + 1e-12 * np.trace(cov) * np.eye(len(cov))
    try:
        root = linalg.cholesky(cov + common)
    except linalg.LinAlgError:
        values, vectors = np.linalg.eigh(cov)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    drawn = rng.standard_normal((n_draws, len(cov))) @ root
    if degrees is not None:
        drawn *= np.sqrt(degrees / rng.chisquare(degrees, n_draws))[:, None]
    return np.ascontiguousarray(drawn.T.astype(np.float32))


def _largest(drawn: Floats, first: Ints, second: Ints, errors: Floats) -> Floats:
    """Return the largest |Z_a − Z_b|/se_ab over pairs, one a draw; pairs are by rising ``first``."""
    out = np.zeros(drawn.shape[1], dtype=np.float32)
    starts = np.flatnonzero(np.r_[True, np.diff(first) > 0]) if len(first) else np.zeros(0, int)
    over = (1.0 / errors[first, second]).astype(np.float32)
    n_blocks = max(1, drawn.size // _BLOCK)
    for block in np.array_split(np.arange(drawn.shape[1]), n_blocks):  # small enough to stay in the processor's cache
        some, most = np.ascontiguousarray(drawn[:, block]), out[block]
        for begin, end in zip(starts, np.r_[starts[1:], len(first)], strict=True):
            leads = some[second[begin:end]] - some[first[begin]]
            np.abs(leads, out=leads)
            leads *= over[begin:end, None]
            np.maximum(most, leads.max(axis=0), out=most)
        out[block] = most
    return out


def follow(above: Bools) -> Bools:
    """Add what follows: who stands above one that stands above another stands above that one, too.

    What is told apart holds for all pairs at once, and with it whatever follows.
    """
    while True:
        between = np.flatnonzero(above.any(axis=0) & above.any(axis=1))  # only these have others on both sides
        upper, lower = (np.flatnonzero(each) for each in (above[:, between].any(axis=1), above[between].any(axis=0)))
        steps = [above[np.ix_(*way)].astype(np.float32) for way in ((upper, between), (between, lower))]
        follows = (steps[0] @ steps[1]) > 0
        if not (follows & ~above[np.ix_(upper, lower)]).any():
            return above
        above = above.copy()
        above[np.ix_(upper, lower)] |= follows


def rank_sets(above: Bools, island: Ints) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of each item within its island, given who stands above whom."""
    same = island[:, None] == island
    return 1 + (above.T & same).sum(axis=1), same.sum(axis=1) - (above & same).sum(axis=1)


# --------------------------------------------------------------------------------------------------
# How many more votes.


def votes_needed(
    inverse: Floats, variance: float, contrast: Floats, kinds: slice, apart: float, log_nu: Floats, bar: float
) -> float:
    """Return how many more votes on two items tell them apart with a power of 80 %.

    Parameters
    ----------
    inverse : A⁺
    variance : float
        Of r_a − r_b as it is; what it is more than the model's, by clusters, stays in proportion.
    contrast : array of shape (n_parameters,)
        1 for a, −1 for b.
    kinds : slice
        Where log ν stands in θ.
    apart : float
        r_a − r_b.
    bar : float
        How many standard errors apart tells them apart.
    """
    left, right, ties = (each[0] for each in probabilities(np.array([apart]), log_nu))
    spread = right - left
    fitted = np.isfinite(log_nu)
    vote = np.zeros((1 + len(log_nu),) * 2)  # one vote's information in (d, log ν); sides take turns
    vote[0, 0] = 0.25 * (right + left - spread**2)
    vote[0, 1:] = vote[1:, 0] = np.where(fitted, -0.5 * spread * ties, 0.0)
    vote[1:, 1:] = np.where(np.outer(fitted, fitted), np.diag(ties) - np.outer(ties, ties), 0.0)
    directions = np.zeros((len(contrast), 1 + len(log_nu)))
    directions[:, 0] = contrast
    directions[np.arange(len(contrast))[kinds], 1 + np.arange(len(log_nu))] = 1.0
    inner = directions.T @ inverse @ directions
    own = float(inner[0, 0])
    effect = variance / own if own > 0 else 1.0
    goal = (apart / (bar + stats.norm.isf(0.2))) ** 2

    def after(n: float) -> float:
        """Return the variance after n more votes: (A + nDVDᵀ)⁻¹ on the contrast, by Woodbury's identity."""
        more = np.linalg.solve(np.eye(len(inner)) + n * vote @ inner, n * vote @ inner)
        return effect * float((inner - inner @ more)[0, 0])

    if after(0.0) <= goal:
        return 0.0
    high = 1.0
    while after(high) > goal:
        high *= 2.0
        if high > 1e12:
            return np.inf
    low = high / 2.0
    while high - low > max(0.5, 1e-6 * high):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if after(middle) > goal else (low, middle)
    return float(np.ceil(high))
