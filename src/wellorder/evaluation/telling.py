"""How many rows, lists or votes does it take to tell two methods apart? Asked before anything is compared.

How sure a difference of two methods is hangs on how their errors go together, row by row. Two methods that cost next to
nothing and are as different as methods get, a linear one and a single column (of items that are known by name alone,
two ratings), show about how much: more alike ones are told apart by fewer rows.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import ComparisonTable
from ..deadline import deadline
from ..metrics import parse
from ..order import Grades
from ..sweeps import Ints
from .board_view import round_up
from .evidence import gather, keep_parts
from .judging import rule_of
from .methods import METHODS, make_seeded
from .tasks import AnyTable, Task, make_task
from .trials import hear_warnings

POINT = 0.01
"""The difference that is worth finding: one point of swapped pairs."""

_MOST_ENTRIES = 300_000
_ROWS = (500, 10_000)
"""Rows that are learned from: the more columns there are, the fewer, within these limits."""

_N_FOLDS = 3

_SECONDS = 3.0
"""Each fit ends after this many seconds with what it has."""


@dataclass(frozen=True)
class Telling:
    """How much data it takes to tell two methods apart, estimated from two that were tried.

    Attributes
    ----------
    methods : tuple of two str
    unit : str
        What is counted: "row", "list" or "comparison".
    n_units : int
        How many of these the data have.
    needed : int
        How many it takes to find a difference of one point of swapped pairs with 80 % power, at a level of 5 %.
    told : float
        The difference that the data at hand can find with the same power.
    """

    methods: tuple[str, str]
    unit: str
    n_units: int
    needed: int
    told: float

    def __str__(self) -> str:
        here = f"tell a difference of {100 * self.told:.2g} points" if self.told < 1 else "tell no difference at all"
        return (
            f"it takes about {self.needed:,} {self.unit}s to tell apart two methods that differ by one point of "
            f"swapped pairs; the {self.n_units:,} here {here} (measured with {' and '.join(self.methods)}, at 80 % "
            "power; methods that are more alike need fewer)"
        )


def tell_apart(table: AnyTable, *, seed: int = 0) -> Telling | None:
    """Estimate how much data it takes to tell two methods apart, from two cheap ones on three folds of a sample.

    Parameters
    ----------
    table : Table or ComparisonTable
        What :func:`wellorder.read` gives.
    seed : int, default=0

    Returns
    -------
    Telling or None
        None if that cannot be estimated: there are too few rows to split, or the two methods never differ.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.datasets import load_diabetes
    >>> import wellorder as wo
    >>> from wellorder.evaluation import tell_apart
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> found = tell_apart(wo.data.Table("diabetes", pl.from_pandas(X), y.to_numpy()))
    >>> found.n_units, found.needed > 442, 0.01 < found.told < 0.1
    (442, True, True)
    """
    rated = isinstance(table, ComparisonTable) and not table.described
    names = ("davidson", "elo") if rated else ("rank-svm", "best-feature")
    with hear_warnings():
        try:
            task = make_task(_sample(table, seed))
            spread = _spread(task, names, seed)
        except ValueError:  # whatever it is, a comparison meets it as well, and says so
            return None
    if spread is None or not spread > 0:
        return None
    whole = table.order()
    lists = isinstance(whole, Grades) and task.split_by == "groups"
    unit = "list" if lists else "comparison" if isinstance(table, ComparisonTable) else "row"
    n, sampled = (each.n_groups if lists else int(np.count_nonzero(each.is_judged)) for each in (whole, task.order))
    needed = sampled * (spread / POINT) ** 2
    return Telling(names, unit, n, round_up(needed), POINT * math.sqrt(needed / n))


def _spread(task: Task, names: tuple[str, str], seed: int) -> float | None:
    """Return how large a difference of two methods' means must be to be found with 80 % power on these data."""
    metric = parse("swapped_pairs", task.supervision)
    values: list[list[float]] = []
    parts: list[list[Any]] = []
    repeats: list[int] = []
    for split in task.splits(_N_FOLDS, 1, seed):
        values.append([])
        parts.append([])
        repeats.append(split.repeat)
        for name in names:
            model, end = make_seeded(METHODS[name], seed), time.perf_counter() + _SECONDS
            part = task.training_part(split.train, model)
            with deadline(lambda end=end: end - time.perf_counter()):  # type: ignore[misc]
                part.fit(model)
            scores, rule = task.scores(model, part, split.test), rule_of(model, task.order)
            values[-1].append(task.judge(scores, split.test, (metric,), **rule).metrics[str(metric)])
            parts[-1].append(keep_parts(metric, task.order, split.test, scores, None, **rule))
    known = [place for place, split in enumerate(parts) if None not in split]
    if not known:
        return None
    found = gather(np.array(values)[known], [parts[place] for place in known], [repeats[place] for place in known], 0.0)
    return found.found_apart(0, 1) if found.n_units > 3 else None


def _sample(table: AnyTable, seed: int) -> AnyTable:
    """Return a small table as it is, and of a large one a sample of rows, whole lists, or comparisons."""
    most = int(np.clip(_MOST_ENTRIES / max(table.rows.X.shape[1], 1), *_ROWS))
    if isinstance(table, ComparisonTable) and not table.described:
        most = _ROWS[1]
    order = table.order()
    if len(order) <= most:
        return table
    rng = np.random.default_rng(seed)
    if isinstance(order, Grades) and order.lists is not None and order.n_groups > 1:
        place = rng.permutation(order.n_groups)[order.lists]
        return table.take(_first_lists(place, most))
    return table.take(np.sort(rng.choice(len(order), most, replace=False)))


def _first_lists(place: Ints, most: int) -> Ints:
    """Return the rows of the first lists: of as many as it takes to hold ``most`` rows, and of at least four."""
    n_rows = np.cumsum(np.bincount(place))
    last = max(int(np.searchsorted(n_rows, most)), 4)
    return np.asarray(np.flatnonzero(place < last))
