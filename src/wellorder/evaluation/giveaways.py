"""Columns that order the rows by themselves: likely the target in other clothes, known only afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np
import polars as pl
import scipy.sparse as sp
from scipy.special import gammaln

from ..data import Table
from ..metrics import swapped_pairs
from ..order import Grades
from ..sweeps import Array, Floats, Ints
from .health import Finding
from .parts import take

_MOST_ENTRIES = 5_000_000
_ROWS = (2_000, 200_000)
"""So many values are looked at in all: the more columns, the fewer rows, within these limits."""
_MOST_COLUMNS = 2_000

_NEARLY = 1e-3
"""A column that swaps fewer pairs than this share orders nearly all of them."""
_BY_CHANCE = log(1e-4)
"""How unlikely it must be that any column of pure noise would do as well."""
_FEWEST_OTHERS = 5
"""So many rows at least must lie outside the most frequent level: less is luck, however many rows there are."""


def find_giveaways(grades: Grades, table: Table) -> Iterator[Finding]:
    """Find columns that order the rows perfectly, or nearly so.

    Numbers go up or down with the grades; names are pure where each goes with one grade only. Rows without a value
    are left out. Where the rows are many, a sample of them is looked at.
    """
    n_columns = table.X.shape[1]
    if n_columns > _MOST_COLUMNS:
        yield Finding(
            "note",
            f"with {n_columns:,} columns, it was not tried whether one of them alone gives the target away",
            "think of columns that are known only after the fact, and leave them out",
        )
        return
    rows = _sample(grades, int(np.clip(_MOST_ENTRIES // max(n_columns, 1), *_ROWS)))
    plain, X = take(grades.without_weights(), rows), table.X[rows]
    for name, values, is_name in _columns(X, table):
        found = _swapped(plain, values, is_name, n_columns)
        if found is not None and found[0] < _NEARLY:
            share = "all" if found[0] == 0 else "nearly all"
            where = "" if found[1] == len(rows) else " of the rows that have it"
            yield Finding(
                "warning",
                f"the column {name!r} alone orders {share} pairs{where} rightly: it may be the target in other "
                "clothes, known only afterwards",
                f"leave it out (--drop {name}) if it is not known when an order is needed",
            )


def _sample(grades: Grades, most: int) -> Ints:
    """Draw rows: whole lists, or the same number of each level as far as there are so many."""
    if len(grades) <= most:
        return np.arange(len(grades))
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(len(grades))
    if grades.group is not None:
        place = rng.permutation(grades.n_groups)[grades.group[shuffled]]
        return np.sort(shuffled[np.argsort(place, kind="stable")][:most])
    judged = shuffled[grades.level[shuffled] >= 0]
    by_level = judged[np.argsort(grades.level[judged], kind="stable")]
    count = np.bincount(grades.level[judged])
    within = np.arange(len(by_level)) - (np.cumsum(count) - count)[grades.level[by_level]]
    return np.sort(by_level[np.argsort(within, kind="stable")][:most])


def _columns(X: pl.DataFrame | sp.csr_array, table: Table) -> Iterator[tuple[str, Floats, bool]]:
    """Yield (name, values, whether they are codes of names); NaN where there is no value."""
    if isinstance(X, pl.DataFrame):
        for column in X.iter_columns():
            if column.dtype.is_numeric():
                yield column.name, column.cast(pl.Float64).to_numpy(), False
            else:
                codes = column.cast(pl.String).rank("dense").cast(pl.Float64)
                yield column.name, codes.to_numpy(), True
        return
    by_column = sp.csc_array(X)
    for number, name in enumerate(table.feature_names):
        yield name, by_column[:, [number]].toarray().ravel(), False


def _swapped(grades: Grades, values: Floats, is_name: bool, n_columns: int) -> tuple[float, int] | None:
    """Return the share of pairs that a column swaps, and of how many rows; None where luck could explain none."""
    known = np.flatnonzero(np.isfinite(values))
    mine, values = take(grades, known), values[known]
    if mine.pairs.n_pairs == 0:
        return None
    chance = _log_chance_of_names(mine, values) if is_name else log(2) + _log_chance_of_numbers(mine)
    if _n_others(mine) < _FEWEST_OTHERS or chance + log(n_columns) > _BY_CHANCE:
        return None
    if is_name:
        return swapped_pairs(mine, _mean_levels(mine, values)), len(known)
    return min(swapped_pairs(mine, values), swapped_pairs(mine, -values)), len(known)


def _n_others(grades: Grades) -> int:
    count = np.bincount(grades.level[grades.pairs.active])
    return int(count.sum() - count.max())


def _log_chance_of_numbers(grades: Grades) -> float:
    """Return the logarithm of the chance that a random order of every list is right: Π n_level! / n!."""
    rows = grades.pairs.active
    group = np.zeros(len(rows), np.int64) if grades.group is None else grades.group[rows].astype(np.int64)
    _, in_cell = np.unique(group * len(grades.levels) + grades.level[rows], return_counts=True)
    return float(gammaln(in_cell + 1).sum() - gammaln(np.bincount(group) + 1).sum())


def _log_chance_of_names(grades: Grades, codes: Array) -> float:
    """Return about the logarithm of the chance that names go with one level each: all rows of a name like its first."""
    rows = grades.pairs.active
    share = np.bincount(grades.level[rows]) / len(rows)
    return float((len(rows) - len(np.unique(codes[rows]))) * np.log(np.sum(share**2)))


def _mean_levels(grades: Grades, codes: Array) -> Floats:
    """Score each row by the mean level of the judged rows with its name."""
    _, name = np.unique(codes, return_inverse=True)
    judged = grades.level >= 0
    total = np.bincount(name[judged], grades.level[judged], minlength=name.max() + 1)
    count = np.bincount(name[judged], minlength=name.max() + 1)
    return np.asarray((total / np.maximum(count, 1))[name])
