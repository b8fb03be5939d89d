r"""How sure ratings are: covariances of the most likely parameters, rank sets, and votes that are still needed.

:math:`\mathrm{Cov}(\hat\theta) = A^+ B A^+` with A the observed information on the directions that the data speak of. B
is A itself where the model is right and votes are independent; Σ ψψᵀ over votes where only the latter holds; and the
same over sums of ψ where votes hang together in clusters (prompts, judges). Two kinds of clusters at once:
:math:`B_1 + B_2 - B_{12}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from ..metrics import semidefinite
from ..sweeps import Bools, Floats, Ints
from .likelihood import Votes, expand, free_space, information, per_vote

N_DRAWS = 20_000


def inverse_information(votes: Votes, theta: Floats) -> Floats:
    """Return A⁺: zero for parameters that are not fitted."""
    fitted = np.isfinite(theta).astype(float)
    basis = free_space(votes, fitted)
    inner = basis.T @ information(votes, expand(votes, theta)) @ basis
    return np.asarray(basis @ np.linalg.pinv(inner, rcond=1e-12, hermitian=True) @ basis.T)


def robust_middle(votes: Votes, theta: Floats, clusters: Sequence[Ints] = ()) -> tuple[Floats, int]:
    """Return B, and the number of independent units: votes, or the fewest clusters of one kind.

    ``clusters`` number the cluster of each vote, one array a kind. Several kinds are put together by inclusion and
    exclusion (Cameron, Gelbach and Miller, 2011), each with G/(G − 1).
    """
    psi = per_vote(votes, expand(votes, theta))
    if not clusters:
        n = max(float(votes.weight.sum()), 2.0)
        weighted = sp.dia_array((votes.square, 0), shape=(len(votes),) * 2) @ psi
        return (psi.T @ weighted).toarray() * n / (n - 1.0), int(n)
    weighted = sp.csr_array(sp.dia_array((votes.weight, 0), shape=(len(votes),) * 2) @ psi)
    out, fewest = np.zeros((psi.shape[1],) * 2), len(votes)
    for size in range(1, len(clusters) + 1):
        for chosen in combinations(clusters, size):
            number = np.unique(np.column_stack(chosen), axis=0, return_inverse=True)[1].reshape(-1)
            n_clusters = int(number.max(initial=0)) + 1
            gather = sp.csr_array((np.ones(len(votes)), (number, np.arange(len(votes)))), shape=(n_clusters, len(votes)))
            sums = gather @ weighted
            sign = 1.0 if size % 2 else -1.0
            out += sign * (sums.T @ sums).toarray() * n_clusters / max(n_clusters - 1.0, 1.0)
            fewest = min(fewest, n_clusters) if size == 1 else fewest
    return semidefinite(out), fewest


def difference_errors(cov: Floats, island: Ints) -> Floats:
    """Return the standard error of r_b − r_a for each two items; infinite across islands."""
    variance = np.add.outer(np.diag(cov), np.diag(cov)) - 2.0 * cov
    errors = np.sqrt(np.maximum(variance, 0.0))
    return np.where(island[:, None] == island, errors, np.inf)


def rank_sets(
    ratings: Floats, cov: Floats, island: Ints, confidence: float = 0.95, seed: int = 0
) -> tuple[Ints, Ints]:
    """Return the lowest and the highest rank of each item within its island, for all items at once.

    Of draws from N(0, Cov), the largest |Z_a − Z_b|/se over all pairs has a quantile c; a stands above b where
    r_a − r_b > c·se. Pairs that are told apart are taken out, and c is found anew from the others, until no more fall
    (Romano and Wolf's step-down; Mogstad, Romano, Shaikh and Wilhelm, 2024).
    """
    errors = difference_errors(cov, island)
    apart = ratings[:, None] - ratings[None, :]
    above = stepwise_above(apart, errors, cov, confidence, seed)
    same = island[:, None] == island
    n_same = same.sum(axis=1)
    return 1 + (above.T & same).sum(axis=1), n_same - (above & same).sum(axis=1)


def stepwise_above(apart: Floats, errors: Floats, cov: Floats, confidence: float, seed: int) -> Bools:
    """Say which items stand above which, beyond chance for all of them together."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(cov)
    drawn = rng.standard_normal((N_DRAWS, len(cov))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    first, second = np.nonzero(np.triu(np.isfinite(errors) & (errors > 0), 1))
    observed = np.abs(apart[first, second]) / errors[first, second]
    left = np.ones(len(first), dtype=bool)
    # invariant: pairs that are not left are told apart
    while left.any():
        largest = np.zeros(N_DRAWS)
        for a in np.unique(first[left]):
            others = second[left & (first == a)]
            leads = np.abs(drawn[:, [a]] - drawn[:, others]) / errors[a, others]
            np.maximum(largest, leads.max(axis=1), out=largest)
        falls = left & (observed > np.quantile(largest, confidence))
        if not falls.any():
            break
        left &= ~falls
    out = np.zeros(errors.shape, dtype=bool)
    told = ~left
    up = apart[first, second] > 0
    out[first[told & up], second[told & up]] = True
    out[second[told & ~up], first[told & ~up]] = True
    return out
