"""Cheap stand-ins for the Hessian, so that conjugate gradients need few products with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..spaces import LinearSpace
from ..sweeps import Floats
from .problem import Problem

Preconditioner = Callable[[Floats], Floats]
"""An approximate inverse of the Hessian, applied to coefficients."""


def sampled_hessian(sample: Problem, coef: Floats) -> Preconditioner:
    """Invert I + strength · Xᵀ H X over a sample of the rows; for few columns."""
    assert isinstance(sample.space, LinearSpace)
    risk = sample.risk(sample.space.scores(coef))
    X = sample.space.columns()
    bent = np.column_stack([risk.hessian_product(column) for column in X.T])
    hessian = np.eye(X.shape[1]) + sample.strength * (X.T @ bent)
    size = np.sqrt(hessian.diagonal())  # columns of very different size must not cost digits
    inverse = np.linalg.inv(hessian / np.outer(size, size)) / np.outer(size, size)
    inverse = 0.5 * (inverse + inverse.T)
    return lambda residual: inverse @ residual


def diagonal(problem: Problem, coef: Floats | None) -> Preconditioner:
    """Divide by about the Hessian's diagonal: heals columns of very different size; for any number.

    H's own diagonal would need the sums over all partners; Σ_i H_ii (x_ik − mean_k)² is close to it,
    and unlike Σ_i H_ii x_ik² it does not mistake a column's distance from zero for its spread.
    """
    space = problem.space
    assert isinstance(space, LinearSpace)
    scores = np.zeros(space.n_rows) if coef is None else space.scores(coef)
    weight = problem.risk(scores).hessian_diagonal()
    total = weight.sum()
    spread = space.weighted_squares(weight)
    if total > 0:
        spread = np.maximum(spread - space.adjoint(weight) ** 2 / total, 1e-8 * spread)
    scale = 1.0 + problem.strength * spread
    return lambda residual: residual / scale
