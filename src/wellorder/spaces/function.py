"""A function of a space, carried with its scores so that no product with X is made twice."""

from __future__ import annotations

from typing import Protocol

from ..sweeps import Floats


class Space(Protocol):
    """What a solver needs of a space: scores and their adjoint, in the space's own inner product."""

    @property
    def n_rows(self) -> int:
        """How many rows the scores have."""
        ...

    @property
    def n_coef(self) -> int:
        """How many coefficients a function has."""
        ...

    def scores(self, coef: Floats) -> Floats:
        """Return the scores of a function on the rows."""
        ...

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return the coefficients of the gradient of a function of the scores."""
        ...

    def inner(self, a: Floats, b: Function) -> float:
        """Return the inner product of the function with coefficients ``a`` and ``b``."""
        ...


class Function:
    """Coefficients in a space, with the scores on its rows: given, or computed when first asked for."""

    def __init__(self, space: Space, coef: Floats, scores: Floats | None = None) -> None:
        self.space = space
        self.coef = coef
        self._scores = scores

    @property
    def scores(self) -> Floats:
        """The scores on the space's rows."""
        if self._scores is None:
            self._scores = self.space.scores(self.coef)
        return self._scores

    @property
    def square(self) -> float:
        """‖f‖²."""
        return self.space.inner(self.coef, self)

    def plus(self, factor: float, other: Function) -> Function:
        """Return f + factor · other; its scores come from theirs."""
        return Function(self.space, self.coef + factor * other.coef, self.scores + factor * other.scores)
