"""Sums of Gaussian bumps, each over one standardised column: the pieces of additive scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Floats
from .rows import each_entry_once

_NARROWEST = 1e-300
"""A σ² below this would make a bump's exponent at its own centre 0 · ∞."""

_STANDARD = ("mean", "scale", "low", "high")

_FEW_ENTRIES = 2_000
"""Entries of a sparse column up to which a call for it alone takes longer than its work."""

_BLOCK = 16_384
"""Rows of a column that are worked on at a time: they stay in the cache."""


class Column(NamedTuple):
    """One column of X: the values of some rows, and the value that all others have."""

    rows: Array | None  # None: all rows, in order
    values: Floats
    rest: float  # 0 for a sparse column; NaN where all rows are there


def by_columns(X: Any) -> Any:
    """Return X as something that :func:`read_column` reads quickly; entries given in parts are added up."""
    if not sp.issparse(X):
        return X
    return each_entry_once(X if X.format == "csc" else sp.csc_array(X))


def read_column(X: Any, k: int) -> Column:
    """Return column k of a dense array or a CSC array, in float64."""
    if sp.issparse(X):
        a, b = X.indptr[k], X.indptr[k + 1]
        return Column(X.indices[a:b], X.data[a:b].astype(float), 0.0)
    return Column(None, np.asarray(X[:, k], dtype=float), np.nan)


class ShortColumns(NamedTuple):
    """Sparse columns of few values, side by side: their nodes, one for each value, are numbered through."""

    feature: Array
    """The number of each column, rising."""
    size: Array
    """How many nodes each column has."""
    value: Floats
    """Of each node, rising within a column."""
    rest: Array
    """Of each column, the node of the rows that are not stored."""
    rows: Array
    node: Array
    """Of each entry, its row and its node."""

    @property
    def starts(self) -> Array:
        """The first node of each column."""
        return np.cumsum(self.size) - self.size

    def take(self, a: int, b: int) -> ShortColumns:
        """Return some of the columns, from one place to another."""
        start, stop = int(self.size[:a].sum()), int(self.size[:b].sum())
        mine = (self.node >= start) & (self.node < stop)
        return ShortColumns(
            self.feature[a:b],
            self.size[a:b],
            self.value[start:stop],
            self.rest[a:b] - start,
            self.rows[mine],
            self.node[mine] - start,
        )


def short_columns(X: Any, weight: Floats, most: int) -> tuple[ShortColumns, Array]:
    """Return the columns of a CSC array that have at most so many values, and the numbers of the others with entries.

    Zero is one of the values: only columns that are not stored in all rows are taken, none with NaN, and none with so
    many entries that going through it alone costs no more. Rows of zero weight are not there. O(entries · log entries),
    whatever the number of columns: one without entries is constant.
    """
    n_active, stored = int(np.count_nonzero(weight > 0)), np.diff(X.indptr)
    may = (stored > 0) & (stored <= _FEW_ENTRIES)
    here = np.repeat(may, stored)
    column, rows, value = np.repeat(np.flatnonzero(may), stored[may]), X.indices[here], X.data[here].astype(float)
    if not (weight > 0).all():
        here = weight[rows] > 0
        column, rows, value = column[here], rows[here], value[here]
    count = np.bincount(column, minlength=X.shape[1])
    may &= (count > 0) & (count < n_active)
    may[column[np.isnan(value)]] = False
    kept, shorter = may[column], np.flatnonzero(may)
    # an entry of zero, of no row, in each column stands for the rows that are not stored
    column = np.concatenate([column[kept], shorter])
    rows = np.concatenate([rows[kept], np.full(len(shorter), -1)])
    value = np.concatenate([value[kept], np.zeros(len(shorter))])
    order = np.lexsort((value, column))
    column, rows, value = column[order], rows[order], value[order]
    first = np.ones(len(column), dtype=bool)
    first[1:] = (column[1:] != column[:-1]) | (value[1:] != value[:-1])
    size = np.bincount(column[first], minlength=X.shape[1])
    may &= size <= most
    kept = may[column]
    column, rows, value, first = column[kept], rows[kept], value[kept], first[kept]
    node, listed = np.cumsum(first) - 1, rows >= 0
    found = ShortColumns(np.flatnonzero(may), size[may], value[first], node[~listed], rows[listed], node[listed])
    return found, np.flatnonzero((stored > 0) & ~may)


@dataclass(frozen=True)
class Standard:
    """Columns standardised by the mean and the deviation of the rows that they were fitted on.

    Values beyond those rows' own range are taken for its ends: bumps fall off to zero, and an item far out would
    otherwise come to stand in the middle.
    """

    mean: Floats
    scale: Floats
    low: Floats
    high: Floats

    @classmethod
    def fit(cls, X: Any, weight: Floats) -> Standard:
        """Take mean and deviation of each column, by weight; a constant column has scale one."""
        X, total = by_columns(X), float(weight.sum())
        if sp.issparse(X):
            return cls._fit_sparse(X, weight, total)
        mean, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        low, high = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        w = weight
        for k in range(X.shape[1]):
            values = read_column(X, k).values
            seen = values[w > 0]
            low[k], high[k] = seen.min(initial=np.inf), seen.max(initial=-np.inf)
            peak = float(np.abs(values).max(initial=0.0, where=w > 0))
            if peak == 0.0:
                continue
            values = values / peak  # squares of what is as large as floats can be would overflow
            centre = float(np.einsum("i,i->", w, values)) / total
            away = values - centre
            deviation = float(np.sqrt(float(np.einsum("i,i,i->", w, away, away)) / total))
            mean[k] = centre * peak
            if deviation > 1e-13:  # else rounding is all there is
                scale[k] = deviation * peak
        return cls(mean, scale, low, high)

    @classmethod
    def _fit_sparse(cls, X: Any, weight: Floats, total: float) -> Standard:
        """Do the same for all columns at once, in O(entries): rows that are not stored hold zeros."""
        d, n_active = X.shape[1], int(np.count_nonzero(weight > 0))
        column, w = np.repeat(np.arange(d), np.diff(X.indptr)), weight[X.indices]
        active = w > 0
        column, w, values = column[active], w[active], X.data[active].astype(float)
        some_zero = np.bincount(column, minlength=d) < n_active
        low, high = np.where(some_zero, 0.0, np.inf), np.where(some_zero, 0.0, -np.inf)
        np.minimum.at(low, column, values)
        np.maximum.at(high, column, values)
        peak = np.maximum(np.abs(low), np.abs(high))
        unit = np.where(peak > 0, peak, 1.0)
        values = values / unit[column]
        centre = np.bincount(column, w * values, minlength=d) / total
        squares = np.bincount(column, w * (values - centre[column]) ** 2, minlength=d)
        unseen = np.maximum(total - np.bincount(column, w, minlength=d), 0.0)
        deviation = np.sqrt((squares + unseen * centre**2) / total)
        return cls(centre * unit, np.where(deviation > 1e-13, deviation * unit, 1.0), low, high)

    def column(self, X: Any, k: int) -> Column:
        """Return column k of X, standardised."""
        rows, values, rest = read_column(X, k)
        values, rest = np.clip(values, self.low[k], self.high[k]), float(np.clip(rest, self.low[k], self.high[k]))
        with np.errstate(over="ignore"):  # infinitely far from every bump
            return Column(rows, (values - self.mean[k]) / self.scale[k], (rest - self.mean[k]) / self.scale[k])


@dataclass(frozen=True)
class Bumps:
    r"""f(x) = Σ_m weight_m · exp(−(z_k − centre_m)² / (2σ²)), with k the feature of bump m and z the standardised x.

    Bumps are sorted by feature and centre, each pair of which is there once. ``width`` is σ².
    """

    standard: Standard
    width: float
    feature: Array
    centre: Floats
    weight: Floats

    @classmethod
    def add_up(cls, standard: Standard, width: float, feature: Any, centre: Any, weight: Any) -> Bumps:
        """Make a sum of bumps; those of the same feature and centre become one."""
        pairs = np.column_stack([np.asarray(feature, dtype=float), np.asarray(centre, dtype=float)])
        distinct, place = np.unique(pairs, axis=0, return_inverse=True)
        added = np.bincount(place.reshape(-1), np.asarray(weight, dtype=float), minlength=len(distinct))
        return cls(standard, width, distinct[:, 0].astype(np.int64), distinct[:, 1].copy(), added.astype(float))

    def scores(self, X: Any) -> Floats:
        """Return f of each row; O(rows × bumps) time, O(rows) memory."""
        X, out = by_columns(X), np.zeros(X.shape[0])
        for k, mine in self._by_feature():
            rows, z, rest = self.standard.column(X, k)
            if rows is None:
                out += self._along(z, mine)
                continue
            elsewhere = float(self._along(np.array([rest]), mine)[0])
            out += elsewhere
            out[rows] += self._along(z, mine) - elsewhere
        return out

    def _by_feature(self) -> Iterator[tuple[int, slice]]:
        features, starts = np.unique(self.feature, return_index=True)
        for k, (a, b) in zip(features.tolist(), pairwise([*starts.tolist(), len(self.feature)]), strict=True):
            yield k, slice(a, b)

    def _along(self, z: Floats, mine: slice) -> Floats:
        """Return the sum of some bumps, all of one feature, at standardised values."""
        out = np.zeros(len(z))
        for a in range(0, len(z), _BLOCK):
            here, there = z[a : a + _BLOCK], out[a : a + _BLOCK]
            for centre, weight in zip(self.centre[mine], self.weight[mine], strict=True):
                there += weight * bump(here, centre, self.width)
        return out

    def to_arrays(self) -> dict[str, Array]:
        """Return all that the scores need, as plain arrays."""
        return {
            "mean": self.standard.mean,
            "scale": self.standard.scale,
            "low": self.standard.low,
            "high": self.standard.high,
            "width": np.array([self.width]),
            "feature": self.feature,
            "centre": self.centre,
            "weight": self.weight,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> Bumps:
        """Return the bumps that :meth:`to_arrays` has written down."""
        if set(arrays) != {*_STANDARD, "width", "feature", "centre", "weight"}:
            raise ValueError(f"these are no bumps' arrays: {', '.join(map(str, arrays))}")
        standard, width = Standard(*(arrays[name] for name in _STANDARD)), arrays["width"]
        if width.dtype != np.float64 or width.shape != (1,):
            raise ValueError("the bumps' width is not one number")
        return cls(standard, float(width[0]), arrays["feature"], arrays["centre"], arrays["weight"])

    def check(self, n_features: int) -> None:
        """Raise an error where parts read from a file do not fit together."""
        sizes = dict.fromkeys(_STANDARD, n_features) | dict.fromkeys(("centre", "weight"), len(self.feature))
        for name, size in sizes.items():
            part = getattr(self.standard if name in _STANDARD else self, name)
            if part.dtype != np.float64 or part.shape != (size,) or not np.isfinite(part).all():
                raise ValueError(f"the bumps' {name} are not {size} numbers")
        if self.feature.dtype.kind != "i" or self.feature.ndim != 1:
            raise ValueError("the bumps' features are not numbers of columns")
        if len(self.feature) and not 0 <= self.feature.min() <= self.feature.max() < n_features:
            raise ValueError(f"a bump stands on a column that is not among the {n_features}")
        if (np.diff(self.feature) < 0).any():
            raise ValueError("the bumps are not sorted by feature")
        if (self.standard.low > self.standard.high).any():
            raise ValueError("a column's range ends before it begins")
        if not (self.standard.scale > 0).all() or not 0 < self.width < np.inf:
            raise ValueError("the bumps' scales and width are not positive")


def bump(z: Floats, centre: Any, width: float) -> Floats:
    """Return exp(−(z − centre)² / (2σ²))."""
    away = z - centre
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(away * away * (-0.5 / max(width, _NARROWEST))))
