"""Coefficients as their own scores: for risks that are evaluated elsewhere, and come back as functions of them."""

from __future__ import annotations

from ..sweeps import Floats, dot
from .function import Function


class CoefficientSpace:
    """R^d: the scores of a function are its coefficients, and ‖f‖² = ‖w‖².

    A risk R(X w) whose rows lie elsewhere is, seen from here, a risk of w alone, with the gradient Xᵀ g and the
    Hessian Xᵀ H X. A solver that knows neither X nor its rows minimises it all the same.
    """

    def __init__(self, n_coef: int) -> None:
        self.n_rows = self.n_coef = n_coef

    def scores(self, coef: Floats) -> Floats:
        """Return the coefficients."""
        return coef

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return the gradient itself."""
        return scores_gradient

    def inner(self, a: Floats, b: Function) -> float:
        """Return aᵀb."""
        return dot(a, b.coef)
