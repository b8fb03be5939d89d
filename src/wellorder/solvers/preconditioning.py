"""Cheap stand-ins for the Hessian, so that conjugate gradients need few products with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..losses import dense_hessian
from ..order import GradedPairs
from ..sweeps import Array, Floats, Ints, namespace
from ..sweeps.tensors import beside, cast
from .problem import Objective, Problem


@dataclass(frozen=True)
class Preconditioner:
    """An approximate inverse M⁻¹ of the Hessian H."""

    apply: Callable[[Floats], Floats]
    """Multiply coefficients by M⁻¹."""

    resembles: bool
    """Whether M is close to H, so that ½ ⟨r, M⁻¹ r⟩ is a fair guess of what is left to gain."""

    inverse: Floats | None = None
    """M⁻¹ itself, where it is a small matrix that may be improved on the way."""

    def learned(self, step: Floats, change: Floats) -> Preconditioner:
        """Return the nearest one whose M takes a step of the coefficients to the gradient's change along it (BFGS)."""
        bend = float(step @ change)
        if self.inverse is None or not bend > 0:
            return self
        seen = self.inverse @ change
        cross = np.outer(seen, step) / bend
        return by_inverse(self.inverse - cross - cross.T + (1.0 + change @ seen / bend) / bend * np.outer(step, step))


IDENTITY = Preconditioner(lambda residual: residual, resembles=False)


def sampled_hessian(sample: Objective, coef: Floats) -> Preconditioner:
    """Invert I + strength · Xᵀ H X over a sample of the rows; for few columns."""
    return by_inverse(invert(np.eye(len(coef)) + sample.strength * sample.hessian(coef)))


def by_inverse(inverse: Floats) -> Preconditioner:
    """Multiply by a matrix that is about the Hessian's inverse."""
    return Preconditioner(lambda residual: inverse @ residual, resembles=True, inverse=inverse)


def invert(hessian: Floats) -> Floats:
    """Invert a Hessian; columns of very different size must not cost digits."""
    size = np.sqrt(hessian.diagonal())
    inverse = np.linalg.inv(hessian / np.outer(size, size)) / np.outer(size, size)
    return np.asarray(0.5 * (inverse + inverse.T))


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
    place = beside(lines, rows)
    bent, own = beside(lines, bent), cast(lines[:, place], "float64")
    inner = namespace(lines).linalg.solve(beside(lines, np.eye(len(rows))) + bent @ own, bent)
    inner = cast(0.5 * (inner + inner.T), lines.dtype)

    def apply(residual: Floats) -> Floats:
        out = 1.0 * residual
        out[place] -= inner @ (lines @ cast(residual, lines.dtype))
        return out

    return Preconditioner(apply, resembles=True)


def diagonal(problem: Objective, coef: Floats | None) -> Preconditioner:
    """Divide by about the Hessian's diagonal: heals columns of very different size; for any number.

    H's own diagonal would need the sums over all partners; Σ_i H_ii (x_ik − mean_k)² is close to it,
    and unlike Σ_i H_ii x_ik² it does not mistake a column's distance from zero for its spread.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total, mean, squares = problem.spread(coef)
        spread = np.maximum(squares - mean**2, 1e-8 * squares)
        scale = 1.0 + problem.strength * total * spread
    if not np.isfinite(scale).all():
        column = int(np.flatnonzero(~np.isfinite(scale))[0])
        raise ValueError(
            f"column {column} of X holds values so large that their squares overflow; scale the columns of X "
            "(StandardScaler)"
        )
    return Preconditioner(lambda residual: residual / scale, resembles=False)
