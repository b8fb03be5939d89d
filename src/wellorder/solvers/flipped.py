"""The hinge over comparisons with ties, by libsvm: the flipped pairs (8) as a problem of two classes."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ..losses import LOSSES, TiedPairs, flipped_value
from ..memory import available_bytes
from ..spaces import LinearSpace, PairKernel
from ..sweeps import Floats, dot

_MOST_STEPS = 10_000_000
_STEPS_PER_PAIR = 1_000
"""Of libsvm, with a kernel and with features: where columns are large it would never end."""


class FlippedSolution(NamedTuple):
    """What libsvm found: coefficients of features or of items' kernels, the items' scores, β, and the objective.

    Where libsvm's numbers ran over, β is NaN.
    """

    coef: Floats
    scores: Floats
    bias: float
    objective: float
    n_iter: int
    converged: bool


def flipped_svm(X: Any, pairs: TiedPairs, C: float, tol: float) -> FlippedSolution:
    """Solve (15) for linear scores, from the differences of the items' rows."""
    D = X[pairs.high] - X[pairs.low]
    ties = D[pairs.n_decided :]
    # scikit-learn takes no CSR arrays with 64-bit indices, and its CSR matrices have none
    flipped = sp.csr_matrix(sp.vstack([D, -ties])) if sp.issparse(D) else np.concatenate([D, -ties])
    most = _STEPS_PER_PAIR * flipped.shape[0]
    found = _solve(SVC(kernel="linear", C=C, tol=tol, max_iter=most), flipped, pairs)
    space = LinearSpace(X)
    coef = space.adjoint(found.dual)
    return _evaluate(found, coef, coef, space.scores(coef), pairs, C)


def flipped_kernel_svm(kernel: PairKernel, pairs: TiedPairs, C: float, tol: float) -> FlippedSolution:
    """Solve (18), from the kernel between pairs.

    The second direction of a tie has the first one's kernel with the sign turned: it is copied, not computed.
    """
    n, d, m = len(pairs), pairs.n_decided, len(pairs) + pairs.n_ties
    K = np.empty((m, m))
    kernel.fill(pairs.high, pairs.low, K[:n, :n])
    np.negative(K[d:n, :n], out=K[n:, :n])
    np.negative(K[:n, d:n], out=K[:n, n:])
    K[n:, n:] = K[d:n, d:n]
    found = _solve(SVC(kernel="precomputed", C=C, tol=tol, max_iter=_MOST_STEPS), K, pairs)
    scores = kernel.scores(found.dual)
    return _evaluate(found, found.dual, scores, scores, pairs, C)


def refuse_many_flipped(pairs: TiedPairs, kept_rows: int) -> None:
    """Raise an error with advice where the kernel between flipped pairs, and that between items, would not fit in."""
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


def _solve(machine: Any, X: Any, pairs: TiedPairs) -> _Dual:
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


def _evaluate(
    found: _Dual, coef: Floats, partner: Floats, scores: Floats, pairs: TiedPairs, C: float
) -> FlippedSolution:
    """Add the objective; the squared norm is the coefficients times their partner: themselves, or scores."""
    objective = 0.5 * dot(coef, partner) + C * flipped_value(LOSSES["hinge"], scores, pairs, found.bias)
    return FlippedSolution(coef, scores, found.bias, objective, found.n_iter, found.converged)
