"""A Gaussian process on the grades, exact or through inducing rows: in the place of the informative vector machine."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from ..sweeps import Floats

_JITTER = 1e-8


class GaussianProcess(RegressorMixin, BaseEstimator):
    r"""Gaussian-process regression with a Gaussian kernel, standardised columns and noise.

    Amplitude, width and noise :math:`\sigma^2` maximise the marginal likelihood of at most ``n_tuned`` rows. Up to
    ``n_exact`` rows scikit-learn's regressor computes the posterior mean. Beyond, it is that of the subset of
    regressors (Smola and Bartlett, 2001) with m inducing rows u drawn at random, at a cost of O(n m²):

    .. math:: \mu(x) = k_u(x)^\top (\sigma^2 K_{uu} + K_{uf} K_{fu})^{-1} K_{uf} y

    Parameters
    ----------
    n_exact, n_inducing, n_tuned : int
        Rows.
    random_state : int, default=0
    """

    def __init__(
        self, n_exact: int = 2_000, n_inducing: int = 500, n_tuned: int = 500, random_state: int | None = 0
    ) -> None:
        self.n_exact = n_exact
        self.n_inducing = n_inducing
        self.n_tuned = n_tuned
        self.random_state = random_state

    def fit(self, X: Floats, y: Floats) -> GaussianProcess:
        """Tune the kernel on some rows, and take all of them in."""
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        rng = np.random.default_rng(self.random_state)
        some = rng.permutation(len(X))
        tuned = _tune(X[some[: self.n_tuned]], y[some[: self.n_tuned]])
        if len(X) <= self.n_exact:
            self.exact_ = GaussianProcessRegressor(tuned, optimizer=None).fit(X, y)
            return self
        signal, noise = tuned.k1, tuned.k2.noise_level
        self.inducing_ = X[some[: self.n_inducing]]
        self.kernel_ = signal
        lower = cholesky(
            signal(self.inducing_) + _JITTER * signal.k1.constant_value * np.eye(len(self.inducing_)), lower=True
        )
        V = solve_triangular(lower, signal(self.inducing_, X), lower=True)
        inner = cho_solve(cho_factor(noise * np.eye(len(V)) + V @ V.T), V @ y)
        self.weights_ = solve_triangular(lower.T, inner)
        return self

    def predict(self, X: Any) -> Floats:
        """Return the posterior mean."""
        if hasattr(self, "exact_"):
            return np.asarray(self.exact_.predict(X))
        return np.asarray(self.kernel_(np.asarray(X, dtype=float), self.inducing_) @ self.weights_)


def _tune(X: Floats, y: Floats) -> Any:
    start = ConstantKernel(1.0) * RBF(np.sqrt(X.shape[1])) + WhiteKernel(0.1, (1e-5, 1e2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a width or noise at the end of its range is an answer too
        return GaussianProcessRegressor(start).fit(X, y).kernel_
