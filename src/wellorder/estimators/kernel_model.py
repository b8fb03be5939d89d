"""What all models over a kernel share: where their scores come from, and what they keep of the data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..spaces import (
    KERNELS,
    Kernel,
    KernelSpace,
    NystroemMap,
    RowSpace,
    check_matrix,
    is_dask,
    linear_space,
    near_zero,
    refuse_if_too_large,
    resolve_gamma,
    row_scores,
    use_single,
)
from ..state import Part, Stored, floats, number, one_of, places, rows, size
from ..sweeps import Floats, Ints, is_tensor
from .base import by_rows, check_option, check_rows, check_whole, hold_rows

_MUCH = 100.0
"""gamma="scale" takes a column's distance from zero for spread; from this factor in γ on, a warning says so."""

_FITTED = (
    "coef_",
    "dual_coef_",
    "gamma_",
    "landmark_root_",
    "landmarks_",
    "n_fit_rows_",
    "support_",
    "support_vectors_",
)


class KernelModel(Stored, BaseEstimator):
    """A model whose scores are linear in X, in Nyström features of X, or in kernels with training rows.

    A linear model keeps ``coef_``; with ``n_components`` also ``landmarks_`` and ``landmark_root_``; a
    kernel model ``dual_coef_`` with the rows it stands on (``support_vectors_``, and ``support_``, their
    numbers).
    """

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    n_components: int | str | None
    gamma_: float
    coef_: Floats
    dual_coef_: Floats
    support_: Ints
    support_vectors_: Any
    landmarks_: Any
    landmark_root_: Floats
    n_fit_rows_: int

    @property
    def _is_plain_linear(self) -> bool:
        return bool(self.kernel == "linear" and self.n_components is None)

    def _check_kernel(self) -> None:
        if not callable(self.kernel):
            check_option(self.kernel, "kernel", (*KERNELS, "precomputed"))
        if self.kernel == "poly":
            check_whole(self.degree, "degree")
        if isinstance(self.n_components, str):
            check_option(self.n_components, "n_components", ("auto",))
        elif self.n_components is not None:
            check_whole(self.n_components, "n_components")

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """Check rows of features, or of a precomputed kernel."""
        X = check_rows(self, X, reset=reset)
        if is_dask(X) and (
            self.kernel == "precomputed" or (reset and self.kernel != "linear" and not self.n_components)
        ):
            raise ValueError(
                f"kernel={self.kernel!r} needs the kernel between all rows, and those of a Dask array lie apart; use "
                "kernel='linear', or 'rbf' or 'poly' with n_components=1000 (Nyström features)"
            )
        if reset:
            self._refuse_oblong(X)
        return X

    def _refuse_oblong(self, X: Any) -> None:
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square matrix to fit on, got shape {tuple(X.shape)}")

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.gamma_, self.degree, self.coef0)

    def _warn_of_lost_digits(self, X: Any) -> None:
        """Warn where columns far from zero make all rows look alike to a kernel, by its values or by its width."""
        scaled = isinstance(self.gamma, str) and self.gamma == "scale"
        if is_dask(X) or not (self.kernel == "poly" or (self.kernel == "rbf" and scaled and not is_tensor(X))):
            return
        moved, origin = near_zero(X)
        if origin is None or (self.kernel == "rbf" and resolve_gamma("scale", moved) < _MUCH * self.gamma_):
            return
        column = int(np.flatnonzero(origin)[0])
        instead = "" if self.kernel == "poly" else ", or give gamma a number: 'scale' takes the distance for spread"
        warnings.warn(
            f"column {column} of X lies far from zero for its spread (about {origin[column]:.3g}), and to "
            f"kernel={self.kernel!r} the rows look all alike; scale the columns of X (StandardScaler){instead}",
            stacklevel=4,
        )

    def _make_space(self, X: Any, C: float, tol: float, rng: np.random.Generator) -> RowSpace | KernelSpace:
        """Choose where scores come from; a kernel that would not fit into memory is refused first."""
        X = hold_rows(X)
        if self._is_plain_linear:
            return linear_space(X)
        self.gamma_ = 1.0 if self.kernel == "precomputed" else resolve_gamma(self.gamma, X)
        self._warn_of_lost_digits(X)
        if self.n_components is not None:
            features = NystroemMap.fit(self._kernel(), X, self.n_components, rng)
            self.landmarks_, self.landmark_root_ = features.landmarks, features.root
            return linear_space(by_rows(features.transform, X))
        if self.kernel == "precomputed":
            K = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
            if not (K.dtype == np.float32 and use_single(K.shape[0], C, tol) and _is_normal(K)):
                K = K.astype(float, copy=False)
        else:
            single = self.kernel == "rbf" and use_single(X.shape[0], C, tol)
            refuse_if_too_large(X.shape[0], 4 if single else 8)
            K = self._kernel().matrix(X, X, dtype=np.float32 if single else np.float64)
        if self.kernel != "rbf":  # a Gaussian is a kernel by its making
            check_matrix(K)
        return KernelSpace(K)

    def _store(self, coef: Floats, X: Any) -> None:
        """Keep what scores of new rows need."""
        coef = coef.astype(X.dtype)
        if self._is_plain_linear or self.n_components is not None:
            self.coef_ = coef
            return
        self.n_fit_rows_ = X.shape[0]
        self.support_ = np.flatnonzero(coef)
        self.dual_coef_ = coef[self.support_]
        if self.kernel != "precomputed":
            self.support_vectors_ = X[self.support_]

    def _start(self, n_rows: int, n_columns: int) -> Floats | None:
        """Return the last fit's coefficients, where they are of the same kind and fit the new data."""
        if self._is_plain_linear:
            coef = None if hasattr(self, "landmarks_") else getattr(self, "coef_", None)
            return None if coef is None or coef.shape != (n_columns,) else np.asarray(coef, dtype=float)
        if self.n_components is None and getattr(self, "n_fit_rows_", None) == n_rows:
            start = np.zeros(n_rows)
            start[self.support_] = self.dual_coef_
            return start
        return None

    def _fitted_state(self) -> dict[str, Part]:
        state = super()._fitted_state() | {
            "kernel": one_of(*KERNELS, "precomputed"),  # a file brings no function
            "degree": number(),
            "coef0": number(),
        }
        if self._is_plain_linear:
            return state | {"coef_": floats("d")}
        precomputed = self.kernel == "precomputed"
        state |= {"gamma_": number(above=0.0)}
        if self.n_components is not None:
            landmarks = places("m", below="d") if precomputed else rows("m", "d")
            return state | {"landmarks_": landmarks, "landmark_root_": floats("m", "k"), "coef_": floats("k")}
        state |= {"n_fit_rows_": size("d" if precomputed else "n")}
        state |= {"support_": places("s", below="d" if precomputed else "n"), "dual_coef_": floats("s")}
        return state if precomputed else state | {"support_vectors_": rows("s", "d")}

    def _forget(self) -> None:
        """Drop what an earlier fit, perhaps with another kernel, has left behind."""
        for name in _FITTED:
            if hasattr(self, name):
                delattr(self, name)

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row; a higher score stands above.

        With ``kernel="precomputed"``, X holds the kernel between the rows and all training rows.
        """
        check_is_fitted(self)
        scores: Floats = by_rows(self._scores, self._check_rows(X, reset=False))
        return scores

    def _scores(self, X: Any) -> Floats:
        """Return the scores of rows that have been checked."""
        if self._is_plain_linear:
            return row_scores(X, self.coef_)
        if self.n_components is not None:
            return NystroemMap(self._kernel(), self.landmarks_, self.landmark_root_).transform(X) @ self.coef_
        if self.kernel == "precomputed":
            return np.asarray(X[:, self.support_] @ self.dual_coef_)
        return self._kernel().scores(X, self.support_vectors_, self.dual_coef_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # of items that are compared a kernel is never cut, as rows of X are pairs of them
        tags.input_tags.pairwise = self.kernel == "precomputed" and not tags.input_tags.three_d_array
        tags.target_tags.required = True
        return tags


def _is_normal(K: Floats) -> bool:
    """Say whether every row has kernel one with itself, as under a Gaussian: then no entry is larger."""
    return bool((np.abs(K.diagonal() - 1.0) <= 1e-6).all())
