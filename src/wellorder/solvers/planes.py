"""Planes below a convex risk, and what the largest of them says about the minimum of an objective."""

from __future__ import annotations

import numpy as np

from ..spaces import Function, Space
from ..sweeps import Floats, dot
from .qp import simplex_qp

_IDLE = 30
"""A plane that has not mattered for this many rounds is dropped."""


class Planes:
    """The planes R(f) ≥ ⟨a_t, f⟩ + b_t, their Gram matrix, and since when each has not mattered."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self.normals: list[Function] = []
        self.offsets = np.empty(0)
        self._gram = np.empty((0, 0))
        self._idle = np.empty(0, int)

    def __len__(self) -> int:
        return len(self.normals)

    def add(self, gradient: Floats, offset: float) -> None:
        """Add the plane ⟨gradient, scores of f⟩ + offset."""
        normal = Function(self._space, self._space.adjoint(gradient))
        row = np.array([self._space.inner(other.coef, normal) for other in [*self.normals, normal]])
        self._gram = np.block([[self._gram, row[:-1, None]], [row[None, :]]])
        self.normals.append(normal)
        self.offsets = np.append(self.offsets, offset)
        self._idle = np.append(self._idle, 0)

    def minimise(self, strength: float) -> tuple[Function, float]:
        """Minimise ½‖f‖² + strength · max(planes, 0); return the minimiser and the minimum.

        In the dual, f = −unit · Σ θ_t a_t with θ ≥ 0 and unit · Σ θ_t ≤ strength. Where the strength is far more than
        one plane alone would take, 10¹² as it may be by the rows' weights, that is the unit: what the solver finds
        should be of size one.
        """
        squares = self._gram.diagonal()
        alone = np.divide(self.offsets, squares, out=np.zeros_like(squares), where=(squares > 0) & (self.offsets > 0))
        unit = min(strength, float(alone.max(initial=0.0)) or strength)
        theta = simplex_qp(unit**2 * self._gram, unit * self.offsets, strength / unit)
        bound = unit * dot(theta, self.offsets) - 0.5 * unit**2 * float(theta @ self._gram @ theta)
        coef = np.zeros(self._space.n_coef)
        for share, normal in zip(theta, self.normals, strict=True):
            coef -= unit * share * normal.coef
        self._drop_idle(theta)
        return Function(self._space, coef), bound

    def _drop_idle(self, theta: Floats) -> None:
        self._idle = np.where(theta > 1e-9, 0, self._idle + 1)
        kept = np.flatnonzero(self._idle < _IDLE)
        if len(kept) < len(theta):
            self.normals = [self.normals[t] for t in kept]
            self.offsets, self._idle = self.offsets[kept], self._idle[kept]
            self._gram = self._gram[np.ix_(kept, kept)]
