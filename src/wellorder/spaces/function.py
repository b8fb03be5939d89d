"""A function of a space, carried with its scores so that no product with X is made twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from ..sweeps import Array, Floats, Ints, dot


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


@runtime_checkable
class RowSpace(Space, Protocol):
    """A space of functions that are linear in columns, which can be looked at: what sampling rows needs."""

    @property
    def origin(self) -> Floats | None:
        """What has been subtracted from each row, to have columns far from zero near it; None: nothing."""
        ...

    def take(self, rows: Ints) -> RowSpace:
        """Return the space over some of the rows, given by rising number."""
        ...

    def columns(self) -> Floats:
        """Return the rows as a dense matrix, for small pieces of them."""
        ...

    def weighted_squares(self, weight: Floats) -> Floats:
        """Return Σ_i weight_i x_ik² for each column k."""
        ...


@runtime_checkable
class PartedSpace(RowSpace, Protocol):
    """A space whose rows lie in parts, perhaps on other machines: work can be sent to where they lie."""

    @property
    def bounds(self) -> Ints:
        """Where parts begin and end: the rows bounds[p]:bounds[p + 1] lie in part p."""
        ...

    def each(self, function: Callable[..., Any], *of_part: Sequence[Any], keep: bool = False) -> list[Any]:
        """Call ``function(space of the part, an entry of each of these)`` for every part, where its rows lie.

        Results come back in the order of the parts. With ``keep`` they stay where they are, and what comes back are
        handles that can be given to later calls.
        """
        ...

    def cut(self, values: Array) -> list[Array]:
        """Cut values of rows into those of each part."""
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

    def add(self, coef: Floats, scores: Floats) -> None:
        """Add a function to this one, in place; its arrays must be nobody else's."""
        self.coef += coef
        self.scores[...] += scores

    def plus(self, factor: float, other: Function) -> Function:
        """Return f + factor · other; its scores come from theirs."""
        return Function(self.space, self.coef + factor * other.coef, self.scores + factor * other.scores)


def origin_score(space: Space, coef: Floats) -> float:
    """Return what each score of a space lacks, and each threshold with it, because rows have been moved."""
    return dot(space.origin, coef) if isinstance(space, RowSpace) and space.origin is not None else 0.0
