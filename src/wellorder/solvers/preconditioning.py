"""Cheap stand-ins for the Hessian, so that conjugate gradients need few products with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..losses import dense_hessian
from ..order import GradedPairs
from ..spaces import LinearSpace
from ..sweeps import Array, Floats, Ints
from .problem import Objective, Problem


@dataclass(frozen=True)
class Preconditioner:
    """An approximate inverse M⁻¹ of the Hessian H."""

    apply: Callable[[Floats], Floats]
    """Multiply coefficients by M⁻¹."""

    resembles: bool
    """Whether M is close to H, so that ½ ⟨r, M⁻¹ r⟩ is a fair guess of what is left to gain."""


IDENTITY = Preconditioner(lambda residual: residual, resembles=False)


def sampled_hessian(sample: Objective, coef: Floats) -> Preconditioner:
    """Invert I + strength · Xᵀ H X over a sample of the rows; for few columns."""
    assert isinstance(sample.space, LinearSpace)
    risk = sample.risk(sample.space.scores(coef))
    X = sample.space.columns()
    bent = np.column_stack([risk.hessian_product(column) for column in X.T])
    hessian = np.eye(X.shape[1]) + sample.strength * (X.T @ bent)
    size = np.sqrt(hessian.diagonal())  # columns of very different size must not cost digits
    inverse = np.linalg.inv(hessian / np.outer(size, size)) / np.outer(size, size)
    inverse = 0.5 * (inverse + inverse.T)
    return Preconditioner(lambda residual: inverse @ residual, resembles=True)


def sampled_kernel_hessian(lines: Array, rows: Ints, sample: Problem, scores: Floats) -> Preconditioner:
    """Invert I + strength · E H EᵀK, with E the sampled rows: the Hessian over them, for all functions.

    ``lines`` is the kernel between the sampled rows and all, ``scores`` are those of the sampled rows.
    """
    assert isinstance(sample.pairs, GradedPairs)
    return some_rows(lines, rows, sample.strength * dense_hessian(sample.loss, scores, sample.pairs))


def some_rows(lines: Array, rows: Ints, bent: Floats) -> Preconditioner:
    """Invert I + E G EᵀK, with E some rows and G = ``bent``, by Woodbury's formula: I − E (I + G K_zz)⁻¹ G EᵀK.

    ``lines`` is the kernel between these rows and all. A kernel that is none may raise ``LinAlgError``.
    """
    inner = np.linalg.solve(np.eye(len(rows)) + bent @ lines[:, rows], bent)
    inner = (0.5 * (inner + inner.T)).astype(lines.dtype)

    def apply(residual: Floats) -> Floats:
        out = residual.copy()
        out[rows] -= inner @ (lines @ residual.astype(lines.dtype, copy=False))
        return out

    return Preconditioner(apply, resembles=True)


def diagonal(problem: Objective, coef: Floats | None) -> Preconditioner:
    """Divide by about the Hessian's diagonal: heals columns of very different size; for any number.

    H's own diagonal would need the sums over all partners; Σ_i H_ii (x_ik − mean_k)² is close to it,
    and unlike Σ_i H_ii x_ik² it does not mistake a column's distance from zero for its spread.
    """
    space = problem.space
    assert isinstance(space, LinearSpace)
    scores = np.zeros(space.n_rows) if coef is None else space.scores(coef)
    weight = problem.risk(scores).hessian_diagonal()
    total = weight.sum()
    share = weight / total if total > 0 else weight
    with np.errstate(over="ignore", invalid="ignore"):
        squares = space.weighted_squares(share)
        spread = np.maximum(squares - space.adjoint(share) ** 2, 1e-8 * squares)
        scale = 1.0 + problem.strength * total * spread
    if not np.isfinite(scale).all():
        column = int(np.flatnonzero(~np.isfinite(scale))[0])
        raise ValueError(
            f"column {column} of X holds values so large that their squares overflow; scale the columns of X "
            "(StandardScaler)"
        )
    return Preconditioner(lambda residual: residual / scale, resembles=False)
