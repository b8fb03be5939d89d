"""What every metric checks first: grades, tie rules, what counts as relevant, what an empty query counts as."""

from __future__ import annotations

import warnings
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ..order import Grades, Ties, as_graph, check_weights, refuse_beside
from ..sweeps import Bools, Floats, near_one

Empty: TypeAlias = Literal["skip"] | float
"""How a query without a relevant item counts: not at all ("skip"), or as this number."""


def read_grades(y: Any, groups: Any, order: Any = "full", sample_weight: Any = None) -> Grades:
    """Take grades as they are, or make them; a ``Grades`` brings its own groups and weights.

    Its own order counts too, unless another than "full" is asked for.
    """
    if not isinstance(y, Grades):
        return Grades(y, groups, order, sample_weight)
    refuse_beside(y, groups=groups, sample_weight=sample_weight)
    if isinstance(order, str) and order == "full":
        return y
    return y.with_graph(as_graph(order, y.levels))


def refuse_two_weights(name: str, grades: Grades) -> Grades:
    """Return the grades, unless rows weigh one thing above and another below: only sums over pairs know what to do."""
    if grades.ends is not None:
        raise ValueError(
            f"{name} takes one weight a row, and these rows weigh one thing where they stand above and another where "
            "they stand below; use swapped_pairs, wmw, auc_pairs or concordance"
        )
    return grades


def read_unweighted(name: str, y: Any, groups: Any) -> Grades:
    """Read grades for a metric of ranked lists, where a row has no weight."""
    grades = refuse_two_weights(name, read_grades(y, groups))
    if grades.weight is not None:
        raise ValueError(f"{name} looks at places in a list and has no use for row weights; give Grades without them")
    return grades


def read_weights(sample_weight: Any, n: int) -> Floats:
    """Read what each comparison weighs, beside the heaviest: shares of weights ask for no more."""
    weight = check_weights(sample_weight, n)
    return np.ones(n) if weight is None else near_one(weight)[0]


def check_ties(ties: Any) -> None:
    """Refuse an unknown rule for equal scores."""
    check_option("ties", ties, get_args(Ties))


def check_option(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuse a value that is not among the known ones."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}={value!r} is not known; use {' or '.join(map(repr, known))}")


def check_cutoff(k: Any) -> None:
    """Refuse a cut-off that is not a whole number from 1 on."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k={k!r} is no cut-off; give a whole number, at least 1")


def check_empty(empty: Any) -> None:
    """Refuse anything but "skip" and a finite number."""
    number = isinstance(empty, Real) and not isinstance(empty, bool) and bool(np.isfinite(float(empty)))
    if not number and not (isinstance(empty, str) and empty == "skip"):
        raise ValueError(f"empty={empty!r} is not known; use 'skip', or the number that such a query counts as")


def undefined(name: str, reason: str, depth: int = 1) -> float:
    """Warn the caller of a metric, ``depth`` calls away, that it has no value, and return NaN."""
    warnings.warn(f"{name} is not defined: {reason}", stacklevel=depth + 2)
    return float(np.nan)


def relevant_levels(grades: Grades, positive: Any) -> Bools:
    """Say of each level whether it is relevant: ``positive`` or better."""
    levels = grades.levels
    if positive in levels:
        return np.arange(len(levels)) >= levels.index(positive)
    numbers: list[Any] = list(levels) if all(isinstance(level, Real) for level in levels) else []
    rising = bool(numbers) and all(low <= high for low, high in pairwise(numbers))
    if not rising or not isinstance(positive, Real) or isinstance(positive, bool):
        raise ValueError(
            f"positive={positive!r} is not among the levels ({', '.join(map(repr, levels[:8]))}); "
            "give the lowest grade that counts as relevant"
        )
    return np.array([level >= positive for level in numbers], dtype=bool)
