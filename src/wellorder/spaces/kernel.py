"""Kernels: their functions by name, f = Σ β_i k(x_i, ·) over a whole matrix, and Nyström features in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..memory import available_bytes
from ..sweeps import (
    Floats,
    Ints,
    all_finite,
    beside,
    dot,
    multiplied_alone,
    multiply,
    one_blas_thread,
    parallel_map,
    to_numpy,
)
from .function import Function
from .linear import is_dask, near_each_other, near_zero, take_rows

# --------------------------------------------------------------------------------------------------
# Kernel functions by name, and what their matrices cost.


KERNELS = ("linear", "rbf", "poly")
"""The kernels that have a name; besides them "precomputed" and any function of two arrays of rows."""

_BLOCK_ENTRIES = 1 << 24
"""Scores of new rows are computed from kernel blocks of at most this many entries."""


_CACHED_ENTRIES = 1 << 17
"""Entries of a kernel that are worked on at a time, so that they stay in the processor's cache."""

_PARTS = 4


@dataclass(frozen=True)
class Kernel:
    """k(x, z) with its parameters: "linear", "rbf", "poly", or a function (X, Z) ↦ matrix."""

    name: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def matrix(self, X: Any, Z: Any, dtype: Any = None) -> Floats:
        """Return k(x, z) for all rows x of X and z of Z; in the rows' own precision unless told otherwise."""
        dtype = np.result_type(X.dtype, Z.dtype) if dtype is None else dtype
        return self._matrix(X, Z, dtype).astype(dtype, copy=False)

    def _matrix(self, X: Any, Z: Any, dtype: Any) -> Floats:
        if callable(self.name):
            values = np.asarray(self.name(X, Z))
            if values.shape != (X.shape[0], Z.shape[0]):
                raise ValueError(
                    f"the kernel function gave an array of shape {values.shape} for {X.shape[0]} and {Z.shape[0]} rows"
                )
            return values
        if self.name == "rbf" and not sp.issparse(X) and not sp.issparse(Z):
            return _rbf(X, Z, self.gamma, dtype)
        if self.name == "rbf":  # distances, as differences of squares, keep their digits near zero
            X, Z = near_each_other(sp.csr_array(X), sp.csr_array(Z))
        from sklearn.metrics.pairwise import pairwise_kernels

        return np.asarray(
            pairwise_kernels(
                X, Z, metric=self.name, filter_params=True, gamma=self.gamma, degree=self.degree, coef0=self.coef0
            )
        )

    def scores(self, X: Any, support: Any, coef: Floats) -> Floats:
        """Return Σ_j coef_j k(x, support_j) for each row x, without holding the whole matrix."""
        if support.shape[0] == 0:
            return np.zeros(X.shape[0])
        rows = block_rows(support.shape[0])
        return np.concatenate([self.matrix(X[a : a + rows], support) @ coef for a in range(0, X.shape[0], rows)])


def _rbf(X: Floats, Z: Floats, gamma: float, dtype: Any) -> Floats:
    """Return exp(−γ‖x − z‖²), a few rows at a time: each piece stays in the cache until it is done.

    The distances are taken in float64 whatever the rows are in: they cancel for rows that are close.
    """
    out = np.empty((X.shape[0], Z.shape[0]), dtype)
    middle = np.mean(Z, axis=0, dtype=float)  # distances do not depend on it, and near zero they keep their digits
    X, Z = np.asarray(X, dtype=float) - middle, np.asarray(Z, dtype=float) - middle
    # one product gives 2γ xᵀz − γ‖x‖² − γ‖z‖²
    left = _with_norms(X, 2.0 * gamma, -gamma, norm_first=True)
    right = _with_norms(Z, 1.0, -gamma, norm_first=False).T
    rows = max(1, _CACHED_ENTRIES // max(Z.shape[0], 1))

    def fill(starts: range) -> None:
        for a in starts:
            piece = out[a : a + rows]
            np.minimum(left[a : a + rows] @ right, 0.0, out=piece, casting="same_kind")
            np.exp(piece, out=piece)

    starts = range(0, X.shape[0], rows)
    with one_blas_thread():  # our threads, not BLAS's
        parallel_map(fill, [starts[part::_PARTS] for part in range(_PARTS)], out.size // 100)
    return out


def _with_norms(X: Floats, factor: float, norm_factor: float, *, norm_first: bool) -> Floats:
    """Return the rows times a factor, with their squared norms (times another) and ones as further columns."""
    rows = np.asarray(X, dtype=float)
    norms, ones = norm_factor * np.einsum("ij,ij->i", rows, rows), np.ones(len(rows))
    return np.column_stack([factor * rows, *((norms, ones) if norm_first else (ones, norms))])


def block_rows(n_columns: int) -> int:
    """Return how many rows of a kernel with ``n_columns`` columns are computed at a time."""
    return max(1, _BLOCK_ENTRIES // max(n_columns, 1))


def resolve_gamma(gamma: Any, X: Any) -> float:
    """Turn scikit-learn's "scale" (1 / (d · variance of X)) and "auto" (1/d) into a number."""
    if gamma == "auto":
        return float(1.0 / X.shape[1])
    if gamma == "scale":
        variance = _variance(X)
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
    if not isinstance(gamma, Real) or not 0 < float(gamma) < np.inf:
        raise ValueError(f"gamma must be 'scale', 'auto' or a positive number, got {gamma!r}")
    return float(gamma)


def _variance(X: Any) -> float:
    """Return the variance of all entries of X."""
    if is_dask(X):
        from .dask import variance

        return variance(X)
    return float(X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var(dtype=np.float64))


def use_single(n_rows: int, C: float, tol: float) -> bool:
    """Say whether a kernel matrix may be kept in float32, as libsvm keeps its own: half the memory and time.

    Coefficients grow with C, and what rounding does to the objective with them: about 10⁻⁶·C of its value was
    the most seen. That must be a tenth of the tolerance at most. Small matrices gain nothing.
    """
    return n_rows >= 2_000 and 1e5 * tol >= C


def kernel_bytes(n_rows: int, itemsize: int) -> int:
    """Estimate the memory of a kernel fit: the matrix, some of its lines, and room to work."""
    return int(1.5 * n_rows**2 * itemsize + 2e8)


def kernel_has_room(n_rows: int, itemsize: int, *, beside: int = 0) -> bool:
    """Say whether a kernel fit, beside so many bytes more, fits into memory; it does where the system does not say."""
    free = available_bytes()
    return free is None or kernel_bytes(n_rows, itemsize) + beside <= free


def refuse_if_too_large(n_rows: int, itemsize: int, *, beside: int = 0) -> None:
    """Raise an error with advice where a kernel fit, beside so many bytes more, would not fit into memory."""
    needed, free = kernel_bytes(n_rows, itemsize) + beside, available_bytes()
    if free is not None and not kernel_has_room(n_rows, itemsize, beside=beside):
        raise MemoryError(
            f"a kernel fit on {n_rows:,} rows needs about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are "
            "free; set n_components=1000 (Nyström features, near-linear in the rows), use kernel='linear', or fit on "
            "fewer rows"
        )


def check_matrix(K: Any) -> None:
    """Refuse a matrix that is no kernel, as far as a look at the diagonal and some entries tells."""
    if not all_finite(K):
        raise ValueError("the kernel matrix holds NaN or infinity; scale the columns of X, or mend the kernel function")
    diagonal = to_numpy(K.diagonal())
    if (diagonal < 0).any():
        row = int(np.argmax(diagonal < 0))
        raise ValueError(f"the kernel of row {row} with itself is {diagonal[row]:g}; a kernel is never negative there")
    i, j = np.random.default_rng(0).integers(0, len(K), (2, 1_000)) if len(K) else np.empty((2, 0), int)
    here, across = (to_numpy(K[beside(K, a), beside(K, b)]) for a, b in ((i, j), (j, i)))
    unequal = np.abs(here - across) > 1e-4 * (np.sqrt(diagonal[i] * diagonal[j]) + np.finfo(float).tiny)
    if unequal.any():
        at = int(np.argmax(unequal))
        raise ValueError(
            f"the kernel matrix is not symmetric: entries ({i[at]}, {j[at]}) and ({j[at]}, {i[at]}) are "
            f"{here[at]:g} and {across[at]:g}"
        )


# --------------------------------------------------------------------------------------------------
# Functions f = Σ β_i k(x_i, ·) over a kernel matrix, in functional form: no product with K is wasted.


class KernelSpace:
    """Scores s = Kβ with ‖f‖² = βᵀKβ.

    A gradient g in the scores is the function with coefficients g: the adjoint costs nothing, and
    every inner product with a function whose scores are known costs O(n).
    """

    def __init__(self, K: Floats) -> None:
        self._K = K
        self.n_rows = self.n_coef = K.shape[0]
        self._by_sweeps = multiplied_alone(K)

    def scores(self, coef: Floats) -> Floats:
        """Return s = Kβ."""
        if self._by_sweeps:
            return multiply(self._K, coef)
        return np.asarray(self._K @ coef.astype(self._K.dtype, copy=False), dtype=float)

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return the coefficients of the gradient: g itself."""
        return scores_gradient

    def inner(self, a: Floats, b: Function) -> float:
        """Return aᵀKb, from b's scores."""
        return dot(a, b.scores)

    def lines(self, rows: Ints) -> Floats:
        """Return the kernel between some of the rows and all."""
        return self._K[rows]


# --------------------------------------------------------------------------------------------------
# Nyström features: a large kernel problem as a linear one over a few landmarks.


_FEWEST_LANDMARKS = 300
_PER_ROOT = 10.0
"""Landmarks per √n: more rows can tell a finer function, which needs more landmarks."""

_MOST_FEATURES = 30_000_000
"""Numbers in all features of all rows: 240 MB; beyond, landmarks become fewer again."""


def n_landmarks(n_components: int | str, n_rows: int) -> int:
    """Return how many landmarks there are: as many as asked for, or 10 √rows for "auto", at least 300.

    Of more than 20,000 rows fewer again, so that their features stay small; 300 from 100,000 rows on.

    Examples
    --------
    >>> [n_landmarks("auto", n) for n in (200, 1_000, 4_000, 16_000, 40_000, 1_000_000)]
    [200, 316, 632, 1264, 750, 300]
    """
    wanted = n_components
    if isinstance(wanted, str):
        wanted = int(max(min(_PER_ROOT * n_rows**0.5, _MOST_FEATURES / max(n_rows, 1)), _FEWEST_LANDMARKS))
    return min(wanted, n_rows)


_LEAST_VALUE = {4: 1e-6, 8: 1e-12}
"""Eigenvalues below this part of the largest are rounding, by the bytes of a number."""


class NystroemMap:
    """φ(x) = K_zz^{−½} k(z, x) over landmarks z: inner products of features approximate the kernel.

    Exact on the span of the landmarks; with all rows as landmarks it is the kernel itself. Landmarks are
    rows of X, or the numbers of rows where X holds a precomputed kernel.
    """

    def __init__(self, kernel: Kernel, landmarks: Any, root: Floats) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.root = root

    @classmethod
    def fit(
        cls, kernel: Kernel, X: Any, n_components: int | str, rng: np.random.Generator, among: Ints | None = None
    ) -> NystroemMap:
        """Draw landmarks from the rows of X, or from some of them, and take the inverse root of their kernel.

        How many: see :func:`n_landmarks`.
        """
        n_rows = X.shape[0] if among is None else len(among)
        chosen = np.sort(rng.choice(n_rows, n_landmarks(n_components, n_rows), replace=False))
        chosen = chosen if among is None else among[chosen]
        drawn = take_rows(X, chosen)
        if kernel.name == "linear" and len(chosen) > 1:
            drawn, _ = near_zero(drawn)  # k(x, z − a) is k(x − a, z − a) plus a constant, which scores do not miss
        landmarks = chosen if kernel.name == "precomputed" else drawn
        value, vector = np.linalg.eigh(_against(kernel, drawn, landmarks).astype(float))
        # directions that floating point can still tell: features of rows are computed in X's own precision
        kept = value > value.max(initial=0.0) * _LEAST_VALUE[X.dtype.itemsize]
        root = vector[:, kept] / np.sqrt(value[kept])
        return cls(kernel, landmarks, root.astype(X.dtype))

    def transform(self, X: Any) -> Floats:
        """Return the features of rows, one column a kept direction."""
        rows = block_rows(len(self.root))
        blocks = [
            _against(self.kernel, X[a : a + rows], self.landmarks) @ self.root for a in range(0, X.shape[0], rows)
        ]
        return np.concatenate(blocks)


def _against(kernel: Kernel, X: Any, landmarks: Any) -> Floats:
    """Return the kernel between rows and landmarks."""
    if kernel.name != "precomputed":
        return kernel.matrix(X, landmarks)
    columns = X[:, landmarks]
    return np.asarray(columns.toarray() if hasattr(columns, "toarray") else columns)
