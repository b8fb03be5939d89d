"""What every estimator that takes grades does with its input: check it, or say what is wrong with it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable
from numbers import Integral, Real
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from ..losses import PairSet
from ..order import (
    Comparisons,
    GradedPairs,
    Grades,
    OrderSum,
    SumOfPairs,
    Supervision,
    refuse_beside,
    refuse_lost_weights,
)
from ..order.graph import Full
from ..solvers import SolveResult
from ..spaces import is_dask

Order: TypeAlias = Grades | Comparisons | OrderSum
F = TypeVar("F", bound=Callable[..., Any])


def as_order(y: Any, groups: Any, sample_weight: Any, order: Any, levels: Iterable[Hashable] | None) -> Order:
    """Make an order of what ``fit`` and ``score`` take: grades, or an order that is used as it is."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: give one grade a row")
    if any(is_dask(column) for column in (y, groups, sample_weight)):
        from ..spaces.dask import gather

        y, groups, sample_weight = gather(y, groups, sample_weight)
    if isinstance(y, Grades | Comparisons | OrderSum):
        refuse_beside(y, groups=groups, sample_weight=sample_weight)
    given: Order = y if isinstance(y, Order) else Grades(y, groups, order, sample_weight, levels)
    for part in given.parts if isinstance(given, OrderSum) else (given,):
        refuse_lost_weights(part.weight, of="row" if isinstance(part, Grades) else "comparison")
    return given


def read_order(
    y: Any, groups: Any, sample_weight: Any, order: Any, levels: Iterable[Hashable] | None, balance: str
) -> Order:
    """Make an order of what ``fit`` takes, and refuse parameters that it would leave unused.

    ``Grades`` of the full order, which is what they have if nobody says otherwise, leave ``order`` to the model.
    """
    if isinstance(y, Grades | Comparisons | OrderSum):
        named_full = isinstance(order, str) and order == "full"
        leaves_it = isinstance(y, Grades) and isinstance(y.graph.structure, Full)
        refuse_beside(y, order=None if named_full or leaves_it else order, levels=levels)
        if isinstance(y, Grades) and leaves_it and not named_full:
            y = y.with_order(order)
    if isinstance(y, Comparisons) and balance == "groups":
        raise ValueError("balance='groups' needs groups, and comparisons have none; leave it at 'pairs'")
    return as_order(y, groups, sample_weight, order, levels)


def refuse_no_pairs(order: Order, n_pairs: int) -> None:
    """Raise an error that says why there is nothing to learn from."""
    if n_pairs == 0:
        why = _why(order.describe()) if isinstance(order, Grades) else "every comparison is a tie, or there is none."
        raise ValueError(f"there is no pair of rows to learn an order from: {why} Found: {order.describe()}.")


def refuse_lost_pairs(pairs: PairSet) -> None:
    """Raise an error if what the order's weights and the rows' give a pair is lost in floating point."""
    for part in pairs.parts if isinstance(pairs, SumOfPairs) else (pairs,):
        if isinstance(part, GradedPairs):
            part.refuse_lost_weights()


def _why(found: Supervision) -> str:
    if found.n_rows == 1:
        return "n_samples=1, and one row has nothing to stand above."
    if found.n_unjudged == found.n_rows:
        return "no row has a grade."
    if found.n_levels == 1:
        return "all grades are the same (one level, 1 class)."
    if found.n_zero_weight:
        return "every pair has a row of zero weight."
    if found.n_groups > 1:
        return "no group has two rows of different grades; check that `groups` names lists, not single rows."
    return "the order puts none of these levels above another."


def check_positive(value: Any, name: str) -> None:
    """Check a parameter that must be a positive number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < float("inf"):
        raise ValueError(f"{name} must be a positive number, got {value!r}")


def check_whole(value: Any, name: str) -> None:
    """Check a parameter that must be a positive whole number."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive whole number, got {value!r}")


def check_option(value: Any, name: str, options: Iterable[str]) -> None:
    """Check a parameter that must be one of some names."""
    if value not in (known := list(options)):
        raise ValueError(f"{name}={value!r} is not known; use one of {', '.join(map(repr, known))}")


NOTHING_TOLD_APART = (
    "no column of X tells grades apart, or C times the row weights is so small that rounding hides it (raise C, or the "
    "weights)"
)
"""Why a model whose risk falls along anything that orders has not found it."""


class OneScoreWarning(UserWarning):
    """A model has been fitted, rightly, and gives every row the same score: it orders nothing."""


def warn_of_one_score(why: str, *, stacklevel: int = 4) -> None:
    """Warn that every score is the same, and say why and what to do."""
    warnings.warn(
        f"the best function is zero, and orders nothing (every score is the same): {why}",
        OneScoreWarning,
        stacklevel=stacklevel,
    )


def warn_if_not_converged(result: SolveResult, max_iter: int, tol: float, *, strength: str = "C") -> None:
    """Warn when a solver stopped early, and say what to do; ``strength`` is the parameter that weighs the loss."""
    if result.converged:
        return
    if np.isfinite(result.gap):
        share = result.gap / abs(result.objective) if result.objective else result.gap
        where = f"the objective about {share:.1g} of its value above the minimum"
    else:
        where = "no bound on how far the objective is above its minimum"
    if result.n_iter >= max_iter:
        stopped, first = f"stopped after max_iter={max_iter} steps", "raise max_iter, "
    else:
        stopped, first = f"stopped after {result.n_iter} steps, as rounding hid any further gain,", "raise tol, "
    warnings.warn(
        f"{stopped} with {where} (tol={tol:g}); {first}scale the columns of X (StandardScaler), lower {strength}, or "
        "check that a kernel of your own is positive semidefinite",
        ConvergenceWarning,
        stacklevel=4,
    )


def exists_for_losses(*losses: str) -> Callable[[F], F]:
    """Let a method exist for some losses only."""

    def check(self: Any) -> bool:
        if self.loss not in losses:
            raise AttributeError(f"this needs loss={' or '.join(map(repr, losses))}, and the model has {self.loss!r}")
        return True

    return cast(Callable[[F], F], available_if(check))
