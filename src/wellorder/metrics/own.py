"""A metric of one's own: a function of plain arrays, with a record as ours have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan
from typing import Any, get_args

import numpy as np

from ..order import Comparisons, Kind, exact_numbers
from ..sweeps import Floats
from .inputs import read_grades, refuse_two_weights
from .registry import Definition, find_definition


def make(
    function: Callable[..., float],
    *,
    greater_is_better: bool,
    name: str | None = None,
    needs: Kind = "grades",
    bounds: tuple[float, float] = (-inf, inf),
) -> Definition:
    """Make a metric of a function of your own, for ``wo.search``, ``wo.cross_validate``, ``wo.compare`` and scorers.

    Parameters
    ----------
    function : callable
        ``f(y, scores)``, or ``f(y, scores, groups=...)`` where rows are in groups: three arrays of the rows that have a
        grade. Grades are numbers, those of text the places of their levels; a group is a whole number. Of comparisons,
        ``f(comparisons, scores)``, with the score of every item. It returns a number, NaN where it is not defined. To
        be called in other processes it must be one that can be pickled.
    greater_is_better : bool
        Whether a higher value is a better one.
    name : str, optional
        What tables and records call it; the function's own name unless given.
    needs : {"grades", "comparisons"}
        What the function takes.
    bounds : (float, float), optional
        The lowest and the highest value there can be: intervals end there.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> def first_grade(y, scores):
    ...     return y[scores.argmax()]
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> metric = wo.metrics.make(first_grade, greater_is_better=True)
    >>> found = wo.cross_validate(wo.RankSVM(), X, np.clip(np.round(X[:, 0]), -1, 1), metrics=metric)
    >>> found["first_grade"].tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    if not callable(function) or isinstance(function, type):
        raise ValueError(f"a metric is a function of (y, scores, groups=None), not {function!r}")
    if not isinstance(greater_is_better, bool):
        raise ValueError(f"greater_is_better must be True or False, got {greater_is_better!r}")
    if not isinstance(bounds, tuple | list) or len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise ValueError(f"bounds must be the lowest and the highest value of the metric, got {bounds!r}")
    name = getattr(function, "__name__", "") if name is None else name
    if not name.isidentifier():
        raise ValueError(f"a metric cannot be called {name!r}: name= is the word that tables and records know it by")
    if find_definition(name) is not None:
        raise ValueError(f"there is a metric {name!r} already; give yours another name=")
    if needs not in get_args(Kind):
        raise ValueError(f"needs={needs!r} is not known; use 'grades' or 'comparisons'")
    wrapped = OfGrades(function) if needs == "grades" else OfComparisons(function)
    meaning = "A metric of its own."
    return Definition(wrapped, name, greater_is_better, name.replace("_", " "), meaning, needs=needs, bounds=bounds)


@dataclass(frozen=True)
class OfGrades:
    """A function of plain arrays, as a metric of grades."""

    function: Callable[..., float]

    def __call__(self, y: Any, scores: Any, groups: Any = None) -> float:
        """Hand over the rows that have a grade; NaN where there is none."""
        grades = refuse_two_weights("a metric of one's own", read_grades(y, groups))
        rows = np.flatnonzero(grades.level >= 0)
        if not len(rows):
            return nan
        lists = {} if grades.group is None else {"groups": grades.group[rows]}
        return self.function(grades.level_values[grades.level[rows]], exact_numbers(scores)[rows], **lists)


@dataclass(frozen=True)
class OfComparisons:
    """A function of comparisons and scores alone, as a metric of comparisons."""

    function: Callable[..., float]

    def __call__(
        self, comparisons: Comparisons, scores: Floats, threshold: float = 0.0, advantage: float = 0.0
    ) -> float:
        """Leave out how a model would call a meeting."""
        return self.function(comparisons, scores)
