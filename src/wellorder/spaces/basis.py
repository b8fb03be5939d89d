"""Sums of Gaussian bumps, each over one standardised column: the pieces of additive scores, and how each is found.

Where more must never be worse, a column has rises in place of bumps: weights of one sign make every sum of them
monotone, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Floats, Ints, Nodes, node_sums, parallel_map, ranges, sums_at
from .linear import each_entry_once

_NARROWEST = 1e-300
"""A σ² below this would make a bump's exponent at its own centre 0 · ∞."""

_STANDARD = ("mean", "scale", "low", "high")

_FEW_ENTRIES = 2_000
"""Entries of a sparse column up to which a call for it alone takes longer than its work."""

_BLOCK = 16_384
"""Rows of a column that are worked on at a time: they stay in the cache."""


class Column(NamedTuple):
    """One column of X: the values of some rows, and the value that all others have."""

    rows: Ints | None  # None: all rows, in order
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

    feature: Ints
    """The number of each column, rising."""
    size: Ints
    """How many nodes each column has."""
    value: Floats
    """Of each node, rising within a column."""
    rest: Ints
    """Of each column, the node of the rows that are not stored."""
    rows: Ints
    node: Ints
    """Of each entry, its row and its node."""

    @property
    def starts(self) -> Ints:
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


def short_columns(X: Any, weight: Floats, most: int) -> tuple[ShortColumns, Ints]:
    """Return the columns of a CSC array that have at most so many values, and the numbers of the others with entries.

    Zero is one of the values: only columns that are not stored in all rows are taken, none with NaN, and none with so
    many entries that going through it alone costs no more. Rows of zero weight are not there. O(entries · log entries),
    whatever the number of columns: one without entries is constant.
    """
    n_active = int(np.count_nonzero(weight > 0))
    stored = np.diff(X.indptr)
    may = (stored > 0) & (stored <= _FEW_ENTRIES)
    here = np.repeat(may, stored)
    column = np.repeat(np.flatnonzero(may), stored[may])
    rows = X.indices[here]
    value = X.data[here].astype(float)
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
        low, high, mean, scale = self.low[k], self.high[k], self.mean[k], self.scale[k]
        values = np.clip(values, low, high)
        rest = float(np.clip(rest, low, high))
        with np.errstate(over="ignore"):  # infinitely far from every bump
            return Column(rows, (values - mean) / scale, (rest - mean) / scale)


@dataclass(frozen=True)
class Bumps:
    r"""f(x) = Σ_m weight_m · exp(−(z_k − centre_m)² / (2σ²)), with k the feature of bump m and z the standardised x.

    Bumps are sorted by feature and centre, each pair of which is there once. ``width`` is σ². Where ``sign`` of the
    feature is not zero there are rises (:func:`rise`) in place of bumps, with weights of that sign or zero.
    """

    standard: Standard
    width: float
    feature: Ints
    centre: Floats
    weight: Floats
    sign: Ints | None = None

    @classmethod
    def add_up(
        cls, standard: Standard, width: float, feature: Any, centre: Any, weight: Any, sign: Ints | None = None
    ) -> Bumps:
        """Make a sum of bumps; those of the same feature and centre become one."""
        pairs = np.column_stack([np.asarray(feature, dtype=float), np.asarray(centre, dtype=float)])
        distinct, place = np.unique(pairs, axis=0, return_inverse=True)
        added = np.bincount(place.reshape(-1), np.asarray(weight, dtype=float), minlength=len(distinct))
        return cls(standard, width, distinct[:, 0].astype(np.int64), distinct[:, 1].copy(), added.astype(float), sign)

    def scores(self, X: Any) -> Floats:
        """Return f of each row; O(rows × bumps) time, O(rows) memory."""
        X, out = by_columns(X), np.zeros(X.shape[0])
        for k, mine in self._by_feature():
            rows, z, rest = self.standard.column(X, k)
            if rows is None:
                out += self._along(k, z, mine)
                continue
            elsewhere = float(self._along(k, np.array([rest]), mine)[0])
            out += elsewhere
            out[rows] += self._along(k, z, mine) - elsewhere
        return out

    def _by_feature(self) -> Iterator[tuple[int, slice]]:
        features, starts = np.unique(self.feature, return_index=True)
        for k, (a, b) in zip(features.tolist(), pairwise([*starts.tolist(), len(self.feature)]), strict=True):
            yield k, slice(a, b)

    def _along(self, k: int, z: Floats, mine: slice) -> Floats:
        """Return the sum of some pieces, all of feature k, at standardised values."""
        out, shape = np.zeros(len(z)), bump if self.sign is None or not self.sign[k] else rise
        for a in range(0, len(z), _BLOCK):
            here, there = z[a : a + _BLOCK], out[a : a + _BLOCK]
            for centre, weight in zip(self.centre[mine], self.weight[mine], strict=True):
                there += weight * shape(here, centre, self.width)
        return out

    def to_arrays(self) -> dict[str, Array]:
        """Return all that the scores need, as plain arrays."""
        signed = {} if self.sign is None else {"sign": self.sign}
        return signed | {
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
        if set(arrays) - {"sign"} != {*_STANDARD, "width", "feature", "centre", "weight"}:
            raise ValueError(f"these are no bumps' arrays: {', '.join(map(str, arrays))}")
        standard, width = Standard(*(arrays[name] for name in _STANDARD)), arrays["width"]
        if width.dtype != np.float64 or width.shape != (1,):
            raise ValueError("the bumps' width is not one number")
        feature, centre, weight = (arrays[name] for name in ("feature", "centre", "weight"))
        return cls(standard, float(width[0]), feature, centre, weight, arrays.get("sign"))

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
        if self.sign is None:
            return
        if self.sign.dtype != np.int64 or self.sign.shape != (n_features,) or not np.isin(self.sign, (-1, 0, 1)).all():
            raise ValueError(f"the bumps' signs are not {n_features} of −1, 0 and 1")
        if (self.weight * self.sign[self.feature] < 0).any():
            raise ValueError("a rise among the bumps goes against the sign of its column")


def bump(z: Floats, centre: Any, width: float) -> Floats:
    """Return exp(−(z − centre)² / (2σ²))."""
    away = z - centre
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(away * away * (-0.5 / max(width, _NARROWEST))))


def rise(z: Floats, centre: Any, width: float) -> Floats:
    """Return the integral of a tent of variance σ² about the centre: 0 below it, ½ at it, 1 above.

    It is smooth, and within 0.017 of the integral of a bump, which as computers find it goes down by a last digit here
    and there. This one never does: each step below keeps the order of its numbers.
    """
    reach = np.sqrt(6.0 * max(width, _NARROWEST))
    with np.errstate(over="ignore"):
        t = np.clip((z - centre) / reach, -1.0, 1.0)
    low, high = 1.0 + np.minimum(t, 0.0), 1.0 - np.maximum(t, 0.0)
    return np.asarray(0.5 * low * low + (0.5 - 0.5 * high * high))


# --------------------------------------------------------------------------------------------------
# The bump that lowers a risk most, among all columns and observed centres, without a look at every pair of them.
#
# Rows are put on a column's nodes once. Each round then takes two sums over the rows of each node, and a product with
# a small table, nodes × centres.


MOST_CENTRES = 256
"""A column with more distinct values offers so many quantiles of them as centres."""

_STEPS_PER_WIDTH = 32
"""Nodes of a grid per σ. Straight lines between them are off by at most (1/32)²/8 = 1.2e-4 of a bump's height."""

_MOST_NODES = 2_048
_MOST_KEPT = 1 << 28
"""Bytes of tables that are kept; beyond, each is made anew when it is needed."""

_FEW_NODES = 16
_FEW_ROWS = 5_000
_MOST_SHORT = 64
"""Values of a sparse column that is worked on together with others."""

_TABLE = 1 << 21
"""Entries of a table, nodes × centres of all its columns, that is gone through at a time."""

_MOST_PACKED = 1 << 26
_MOST_COLUMNS = 20_000
"""Entries of all such tables, and columns that have one of their own, up to which 100 rounds take minutes."""

_MANY_COLUMNS = 64
"""From this many columns on, those with few nodes and few rows listed are worked on all at once: a call for each of
them would take longer than its work."""

_PARTS = 4
"""Columns are cut into this many parts, whatever the number of threads."""


class Best(NamedTuple):
    """A bump: the column it is over, and its centre there."""

    feature: int
    centre: float


@dataclass(frozen=True)
class _BumpCandidates:
    """The nodes of one column and the centres that it offers."""

    feature: int
    nodes: Nodes
    places: Floats
    centres: Floats
    sign: int = 0

    def table(self, width: float) -> Floats:
        return (rise if self.sign else bump)(self.places[:, None], self.centres, width)

    @property
    def small(self) -> bool:
        """Whether few rows are listed, on few nodes and without shares, and all others are on one of these."""
        nodes = self.nodes
        return nodes.size <= _FEW_NODES and len(nodes.code) <= _FEW_ROWS and nodes.rest >= 0 and not len(nodes.share)


class _PackedBumps:
    """Columns with few nodes, side by side: their nodes are numbered through, and so are their centres."""

    def __init__(self, columns: ShortColumns, places: Floats, width: float, sign: Ints) -> None:
        size = columns.size
        self._sign = np.repeat(sign[columns.feature], size)
        self._starts, self._rest = columns.starts, columns.rest
        self.feature, self.centres = np.repeat(columns.feature, size), places
        code = columns.node.astype(np.int32)
        self._nodes = Nodes(columns.rows.astype(np.int32), code, np.empty(0, np.float32), -1, int(size.sum()))
        # one entry for each centre and each node of its column
        per_centre = np.repeat(size, size)
        self._entry = ranges(np.repeat(self._starts, size), per_centre).astype(np.int32)
        self._begins = np.concatenate([[0], np.cumsum(per_centre)[:-1]])
        at, centre = places[self._entry], np.repeat(places, per_centre)
        self._height = bump(at, centre, width)
        if (rises := np.repeat(self._sign != 0, per_centre)).any():
            self._height[rises] = rise(at[rises], centre[rises], width)

    def gains(self, payload: Floats, totals: Floats) -> Floats:
        """Return what each centre gains."""
        sums = node_sums(self._nodes, payload, totals)
        sums[:, self._rest] += totals[:, None] - np.add.reduceat(sums, self._starts, axis=1)
        slope, mean = (np.add.reduceat(line[self._entry] * self._height, self._begins) for line in sums)
        squares = np.add.reduceat(sums[1, self._entry] * self._height**2, self._begins)
        return _gain(slope, mean, squares, totals[1], self._sign)


class BumpSearch:
    """Candidates for bumps over the standardised columns of X; rows of zero weight offer nothing.

    A ``sign`` other than zero offers rises of that sign instead.
    """

    def __init__(self, X: Any, weight: Floats, width: float, sign: Ints | None = None) -> None:
        X = by_columns(X)
        self.standard, self.width = Standard.fit(X, weight), width
        sign = np.zeros(X.shape[1], np.int64) if sign is None else sign
        short, others = _short_sparse(X, weight) if sp.issparse(X) else (None, range(X.shape[1]))
        found = (_place(k, self.standard.column(X, k), weight, width) for k in others)
        self._columns = [replace(column, sign=int(sign[column.feature])) for column in found if column is not None]
        parts = [] if short is None else _cut(short)
        self._packed = [_PackedBumps(part, self._standardised(part), width, sign) for part in parts]
        small = [column for column in self._columns if column.small]
        if len(small) >= _MANY_COLUMNS:
            self._columns = [column for column in self._columns if not column.small]
            together = _side_by_side(small)
            self._packed.append(_PackedBumps(together, together.value, width, sign))
        self._n_rows = X.shape[0]
        size = sum(8 * len(column.places) * len(column.centres) for column in self._columns)
        self._tables = [column.table(width) for column in self._columns] if size <= _MOST_KEPT else None

    def _standardised(self, columns: ShortColumns) -> Floats:
        """Return the nodes' values, standardised."""
        column = np.repeat(columns.feature, columns.size)
        return np.asarray((columns.value - self.standard.mean[column]) / self.standard.scale[column])

    def best(self, gradient: Floats, curvature: Floats) -> Best | None:
        r"""Return the bump with the largest ⟨g, h⟩² / Σ_i D_i (h_i − h̄)², h̄ being the mean of h by D.

        It is what one Newton step along h gains, were the Hessian the diagonal D and constants free. Of bumps
        that are as good but for rounding, the first is taken: in a column with two values, both are.
        """
        payload = np.stack([gradient, curvature])
        totals = payload.sum(axis=1)
        if not totals[1] > 0:
            return None
        gains = self._all_gains(payload, totals)
        largest = max((float(gain.max()) for _, _, gain in gains), default=0.0)
        if not 0 < largest < np.inf:
            return None
        first = []
        for feature, centres, gain in gains:
            good = gain >= (1.0 - 1e-9) * largest
            if good.any():
                place = int(np.argmax(good))
                first.append(Best(int(feature[place]), float(centres[place])))
        return min(first, key=lambda found: found.feature)

    def _all_gains(self, payload: Floats, totals: Floats) -> list[tuple[Ints, Floats, Floats]]:
        """Return the features of some centres, rising, the centres themselves, and what each of them gains."""
        gains = [(part.feature, part.centres, part.gains(payload, totals)) for part in self._packed]
        numbers = range(len(self._columns))
        parts = [numbers[part::_PARTS] for part in range(min(_PARTS, len(numbers)))]
        if not parts:
            return gains
        work = self._n_rows if len(numbers) >= _PARTS else 0
        found = parallel_map(lambda part: [self._gains(number, payload, totals) for number in part], parts, work)
        for part, some in zip(parts, found, strict=True):
            for number, gain in zip(part, some, strict=True):
                column = self._columns[number]
                gains.append((np.full(len(gain), column.feature), column.centres, gain))
        return gains

    def _gains(self, number: int, payload: Floats, totals: Floats) -> Floats:
        column = self._columns[number]
        table = column.table(self.width) if self._tables is None else self._tables[number]
        sums = node_sums(column.nodes, payload, totals)
        slope, mean = sums @ table
        return _gain(slope, mean, sums[1] @ (table * table), totals[1], column.sign)


def _short_sparse(X: Any, weight: Floats) -> tuple[ShortColumns | None, Ints]:
    """Return the columns of a CSC array to be worked on all at once, and the numbers of those that are not.

    Columns with no entries are in neither: they are constant.
    """
    found, others = short_columns(X, weight, _MOST_SHORT)
    n_filled = len(found.feature) + len(others)
    short = found if len(found.feature) >= _MANY_COLUMNS else None
    if short is None:
        others = np.union1d(found.feature, others)
    if len(others) > _MOST_COLUMNS or int((found.size.astype(np.int64) ** 2).sum()) > _MOST_PACKED:
        raise ValueError(
            f"X has {n_filled:,} sparse columns with so many different values that bumps over "
            "them would take hours; use learner='tree', RankBoost or RankSVM, or fewer columns"
        )
    return short, others


def _cut(columns: ShortColumns) -> list[ShortColumns]:
    """Cut columns into parts whose tables stay small."""
    table = np.cumsum(columns.size.astype(np.int64) ** 2)
    ends = np.searchsorted(table, np.arange(1, 1 + -(-table[-1] // _TABLE)) * _TABLE, side="right")
    bounds = np.unique([0, *ends.tolist(), len(columns.size)]).tolist()
    return [columns.take(a, b) for a, b in pairwise(bounds)]


def _side_by_side(columns: list[_BumpCandidates]) -> ShortColumns:
    """Put columns side by side, their nodes numbered through."""
    size = np.array([len(column.places) for column in columns])
    starts = np.cumsum(size) - size
    listed = np.repeat(starts, [len(column.nodes.code) for column in columns])
    rows, codes = (np.concatenate([column.nodes[part] for column in columns]) for part in (0, 1))
    feature, places = np.array([column.feature for column in columns]), [column.places for column in columns]
    rest = starts + [column.nodes.rest for column in columns]
    return ShortColumns(feature, size, np.concatenate(places), rest, rows, listed + codes)


def _gain(slope: Floats, mean: Floats, squares: Floats, total: float, sign: Ints | int) -> Floats:
    """Return ⟨g, h⟩² / Σ D (h − h̄)² from Σ g h, Σ D h, Σ D h² and Σ D.

    It is zero where h is all but constant, and where the step along h, against the slope, would not have the sign.
    """
    bend = squares - mean * mean / total
    seen = (bend > 1e-9 * squares) & (sign * slope <= 0)
    return np.where(seen, slope * slope / np.where(seen, bend, 1.0), 0.0)


def _place(feature: int, column: Column, weight: Floats, width: float) -> _BumpCandidates | None:
    """Put the rows of a column on nodes; None for a column that is constant."""
    rows, z, rest = column
    w = weight if rows is None else weight[rows]
    if not (w > 0).all():
        taking = np.flatnonzero(w > 0)
        rows, z, w = taking if rows is None else rows[taking], z[taking], w[taking]
    others = np.count_nonzero(weight > 0) - len(z)  # rows that are not stored
    values, first_place, count = np.unique(z, return_inverse=True, return_counts=True)
    if others and rest not in values:
        values = np.append(values, rest)
        count = np.append(count, 0)
    if len(values) < 2:
        return None
    if len(values) <= MOST_CENTRES:
        return _on_values(feature, rows, first_place, values, count, rest if others else None)
    of_value = sums_at(first_place, w, minlength=len(values))
    if others:
        of_value[values == rest] += float(weight.sum() - w.sum())
    return _on_grid(feature, rows, z, (values, of_value), rest if others else None, width)


def _on_values(
    feature: int, rows: Ints | None, place: Ints, values: Floats, count: Ints, rest: float | None
) -> _BumpCandidates:
    """Let each distinct value be a node; rows with the commonest one need not be listed."""
    commonest = int(np.argmax(count)) if rest is None else int(np.flatnonzero(values == rest)[0])
    unlisted = -1 if rest is None else commonest
    if rest is None and 2 * count[commonest] > len(place):
        unlisted = commonest
        listed = np.flatnonzero(place != commonest)
        rows, place = listed if rows is None else rows[listed], place[listed]
    nodes = Nodes(_listed(rows), place.astype(np.uint16), np.empty(0, np.float32), unlisted, len(values))
    return _BumpCandidates(feature, nodes, values, np.sort(values))


def _on_grid(
    feature: int, rows: Ints | None, z: Floats, weighed: tuple[Floats, Floats], rest: float | None, width: float
) -> _BumpCandidates:
    """Share each row between the two nodes of a fine grid that it stands between; only nodes in use are kept."""
    step = np.sqrt(width) / _STEPS_PER_WIDTH
    while True:
        below = np.floor(z / step)
        used = np.unique(np.concatenate([below, below + 1.0]))
        if len(used) <= _MOST_NODES:
            break
        step *= 2.0
    places, unlisted = used * step, -1
    if rest is not None:  # a node of its own, behind the grid's
        places, unlisted = np.append(places, rest), len(places)
    code = np.searchsorted(used, below).astype(np.uint16)
    share = (z / step - below).astype(np.float32)
    return _BumpCandidates(
        feature, Nodes(_listed(rows), code, share, unlisted, len(places)), places, _quantiles(*weighed)
    )


def _quantiles(values: Floats, weight: Floats) -> Floats:
    """Return evenly spaced quantiles of observed values, each of which is one of them."""
    order = np.argsort(values)
    upto = np.cumsum(weight[order])
    wanted = (np.arange(MOST_CENTRES) + 0.5) / MOST_CENTRES * upto[-1]
    return np.unique(values[order][np.minimum(np.searchsorted(upto, wanted), len(values) - 1)])


def _listed(rows: Ints | None) -> Ints:
    return np.empty(0, np.int32) if rows is None else rows.astype(np.int32)
