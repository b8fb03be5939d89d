"""Graphs of nearest neighbours among rows, and their Laplacians: what rows without a grade have to say."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from ..sweeps import Array, Ints


def neighbour_laplacian(X: Any, rows: Ints, n_neighbors: int, *, is_kernel: bool = False) -> sp.csr_array:
    r"""Return L with fᵀLf = Σ_{i<j} a_ij (f_i − f_j)², a_ij = (1/2k) · (how often i and j name each other).

    Each of the ``rows`` names its k nearest others, so that its own terms add up to a mean over them; all other rows
    are outside the graph. Distances are Euclidean; from a kernel matrix, those of its own geometry,
    K_ii + K_jj − 2 K_ij.
    """
    k = min(n_neighbors, len(rows) - 1)
    if is_kernel:
        squares = X.diagonal()[rows]
        distances = np.maximum(squares[:, None] + squares - 2.0 * np.asarray(X)[np.ix_(rows, rows)], 0.0)
        nearest = NearestNeighbors(n_neighbors=k, metric="precomputed").fit(distances).kneighbors_graph()
    else:
        nearest = kneighbors_graph(X if len(rows) == X.shape[0] else X[rows], k)
    named = sp.coo_array(nearest)
    shape: tuple[int, int] = (X.shape[0], X.shape[0])
    weight = np.full(named.nnz, 0.5 / k)
    one_way = sp.csr_array((weight, (rows[named.row], rows[named.col])), shape=shape)
    near = one_way + one_way.T
    degree: Array = np.asarray(near.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(degree) - near)


def kernel_columns(K: Array, rows: Ints, weight: Array) -> tuple[Array, sp.csr_array]:
    """Return features Z = K over some rows, and B with v = B u: ‖u‖² is then Σ v_i² / weight_i over these rows.

    A row of weight two has the same share as two rows of weight one.
    """
    root = np.sqrt(weight[rows])
    back = sp.csr_array((root, (rows, np.arange(len(rows)))), shape=(K.shape[0], len(rows)))
    return np.asarray(K, dtype=float)[:, rows] * root, back


def kernel_features(K: Array) -> tuple[Array, Array]:
    """Return features Z with ZZᵀ = K, and B with v = B u for the function that scores s = Z u = K v.

    ‖u‖² is then the function's own norm vᵀKv. Directions that floating point cannot tell from nothing are left out.
    """
    value, vector = np.linalg.eigh(np.asarray(K, dtype=float))
    largest = max(float(value.max(initial=0.0)), 0.0)
    if value.min(initial=0.0) < -1e-6 * largest:
        raise ValueError(
            f"the kernel matrix has the eigenvalue {value.min():g} beside {largest:g}: it is not positive "
            "semidefinite, and no kernel"
        )
    kept = value > 1e-12 * largest
    root = np.sqrt(value[kept])
    return vector[:, kept] * root, vector[:, kept] / root
