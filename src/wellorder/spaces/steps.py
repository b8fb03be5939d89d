"""Sums of steps, each over one column: 1 where a value lies beyond a threshold, else 0."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Floats, Ints, Nodes, node_sums, parallel_map, sums_at
from .basis import Column, ShortColumns, by_columns, read_column, short_columns

MOST_THRESHOLDS = 256
"""A column with more distinct values offers so many quantiles of them as thresholds."""

_PARTS = 4
"""Columns are cut into this many parts, whatever the number of threads."""


class Step(NamedTuple):
    """h(x) = 1[x_feature > threshold]."""

    feature: int
    threshold: float


@dataclass(frozen=True)
class Steps:
    """f(x) = Σ_m weight_m · 1[x_k > threshold_m], with k the feature of step m; a missing value is beyond nothing.

    Steps are sorted by feature and threshold, each pair of which is there once.
    """

    feature: Ints
    threshold: Floats
    weight: Floats

    @classmethod
    def add_up(cls, steps: list[Step], weight: Any) -> Steps:
        """Make a sum of steps; those of the same feature and threshold become one."""
        pairs = np.array(steps, dtype=float).reshape(-1, 2)
        distinct, place = np.unique(pairs, axis=0, return_inverse=True)
        added = np.bincount(place.reshape(-1), np.asarray(weight, dtype=float), minlength=len(distinct))
        return cls(distinct[:, 0].astype(np.int64), distinct[:, 1].copy(), added.astype(float))

    def scores(self, X: Any) -> Floats:
        """Return f of each row; O(rows · log steps) for each column in use."""
        X, out = by_columns(X), np.zeros(X.shape[0])
        features, starts = np.unique(self.feature, return_index=True)
        for k, (a, b) in zip(features.tolist(), pairwise([*starts.tolist(), len(self.feature)]), strict=True):
            upto = np.concatenate([[0.0], np.cumsum(self.weight[a:b])])
            rows, values, rest = read_column(X, k)
            found = np.where(np.isnan(values), 0.0, upto[np.searchsorted(self.threshold[a:b], values, side="left")])
            if rows is None:
                out += found
                continue
            elsewhere = float(upto[np.searchsorted(self.threshold[a:b], rest, side="left")])
            out += elsewhere
            out[rows] += found - elsewhere
        return out

    def to_arrays(self) -> dict[str, Array]:
        """Return all that the scores need, as plain arrays."""
        return {"feature": self.feature, "threshold": self.threshold, "weight": self.weight}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array]) -> Steps:
        """Return the steps that :meth:`to_arrays` has written down."""
        if set(arrays) != {"feature", "threshold", "weight"}:
            raise ValueError(f"steps have features, thresholds and weights; got {', '.join(map(str, arrays))}")
        return cls(**arrays)

    def check(self, n_features: int) -> None:
        """Raise an error where parts read from a file do not fit together."""
        for name in ("threshold", "weight"):
            part = getattr(self, name)
            if part.dtype != np.float64 or part.shape != self.feature.shape or np.isnan(part).any():
                raise ValueError(f"the steps' {name}s are not {len(self.feature)} numbers")
        if self.feature.dtype.kind != "i" or self.feature.ndim != 1:
            raise ValueError("the steps' features are not numbers of columns")
        if len(self.feature) and not 0 <= self.feature.min() <= self.feature.max() < n_features:
            raise ValueError(f"a step stands on a column that is not among the {n_features}")
        same = np.diff(self.feature) == 0
        if (np.diff(self.feature) < 0).any() or not (np.diff(self.threshold)[same] > 0).all():
            raise ValueError("the steps are not sorted by feature and threshold")
        if not np.isfinite(self.weight).all():
            raise ValueError("a step's weight is not finite")


class _StepCandidates(NamedTuple):
    """The thresholds of one column; a row on node p lies beyond the first p of them."""

    feature: int
    thresholds: Floats
    nodes: Nodes


class StepSearch:
    """Candidates for steps over the columns of X; rows of zero weight offer nothing. O(rows × columns) a search."""

    def __init__(self, X: Any, weight: Floats) -> None:
        X = by_columns(X)
        short, others = short_columns(X, weight, MOST_THRESHOLDS + 1) if sp.issparse(X) else (None, range(X.shape[1]))
        found = (_place(k, read_column(X, k), weight) for k in others)
        self._columns = [column for column in found if column is not None]
        self._packed = None if short is None or not (short.size > 1).any() else _PackedSteps(short)
        self._n_rows = X.shape[0]

    def best(self, gradient: Floats) -> Step | None:
        """Return the step h with the largest |⟨g, h⟩|; of those as good but for rounding, the first.

        None where no column varies, or nothing pulls.
        """
        payload = np.stack([gradient, np.zeros_like(gradient)])
        totals = payload.sum(axis=1)
        parts = [self._columns[part::_PARTS] for part in range(min(_PARTS, len(self._columns)))] or [[]]
        packed = np.empty(0) if self._packed is None else self._packed.pulls(payload, totals)
        if not self._columns and not len(packed):
            return None
        work = self._n_rows if len(self._columns) >= _PARTS else 0
        pulls = parallel_map(lambda part: [_pulls(column, payload, totals) for column in part], parts, work)
        both = [pair for part, some in zip(parts, pulls, strict=True) for pair in zip(part, some, strict=True)]
        largest = max([float(pull.max()) for _, pull in both] + [float(packed.max(initial=0.0))])
        if not 0 < largest < np.inf:
            return None
        first = []
        if self._packed is not None and (good := packed >= (1.0 - 1e-9) * largest).any():
            first.append(self._packed.step(int(np.argmax(good))))
        for column, pull in both:
            good = pull >= (1.0 - 1e-9) * largest
            if good.any():
                first.append(Step(column.feature, float(column.thresholds[np.argmax(good)])))
        return min(first, key=lambda step: step.feature)


class _PackedSteps:
    """Sparse columns side by side: every node but the last of a column is a threshold."""

    def __init__(self, columns: ShortColumns) -> None:
        self._starts, self._rest = columns.starts, columns.rest
        last = self._starts + columns.size - 1
        self._last = np.repeat(last, columns.size)
        self._is_threshold = np.ones(len(columns.value), dtype=bool)
        self._is_threshold[last] = False
        self._feature = np.repeat(columns.feature, columns.size)[self._is_threshold]
        self._threshold = columns.value[self._is_threshold]
        code, none = columns.node.astype(np.int32), np.empty(0, np.float32)
        self._nodes = Nodes(columns.rows.astype(np.int32), code, none, -1, len(columns.value))

    def pulls(self, payload: Floats, totals: Floats) -> Floats:
        """Return |Σ g over the rows beyond each threshold|."""
        sums = node_sums(self._nodes, payload, totals)[0]
        sums[self._rest] += totals[0] - np.add.reduceat(sums, self._starts)
        upto = np.cumsum(sums)  # each column adds the whole gradient, which is next to nothing: no digits are lost
        return np.asarray(np.abs(upto[self._last] - upto)[self._is_threshold])

    def step(self, place: int) -> Step:
        """Return the step at a place among the thresholds."""
        return Step(int(self._feature[place]), float(self._threshold[place]))


def _pulls(column: _StepCandidates, payload: Floats, totals: Floats) -> Floats:
    """Return |Σ g over the rows beyond each threshold|."""
    sums = node_sums(column.nodes, payload, totals)[0]
    return np.asarray(np.abs(np.cumsum(sums[:0:-1])[::-1]))


def _place(feature: int, column: Column, weight: Floats) -> _StepCandidates | None:
    """Put the rows of a column on nodes between thresholds; None for a column that is constant."""
    rows, values, rest = column
    w = weight if rows is None else weight[rows]
    if not (w > 0).all():
        taking = np.flatnonzero(w > 0)
        rows, values, w = taking if rows is None else rows[taking], values[taking], w[taking]
    unlisted = np.count_nonzero(weight > 0) - len(values)
    missing = np.isnan(values)
    seen, place = np.unique(values[~missing], return_inverse=True)
    of_value = sums_at(place, w[~missing], minlength=len(seen))
    if unlisted:
        of_value = np.append(of_value, max(float(weight.sum() - w.sum()), 0.0))
        seen, place = np.unique(np.append(seen, rest), return_inverse=True)
        of_value = sums_at(place, of_value)
    thresholds = seen[:-1] if len(seen) <= MOST_THRESHOLDS + 1 else _quantiles(seen, of_value)
    if missing.any() and len(seen):  # whether there is a value at all tells rows apart too
        thresholds = np.concatenate([[-np.inf], thresholds])
    if not len(thresholds):
        return None
    code = np.where(missing, 0, np.searchsorted(thresholds, values, side="left")).astype(np.uint16)
    node = int(np.searchsorted(thresholds, rest, side="left")) if unlisted else -1
    listed = np.empty(0, np.int32) if rows is None else rows.astype(np.int32)
    return _StepCandidates(feature, thresholds, Nodes(listed, code, np.empty(0, np.float32), node, len(thresholds) + 1))


def _quantiles(values: Floats, weight: Floats) -> Floats:
    """Return evenly spaced quantiles of rising values, each of which is one of them; never the largest."""
    upto = np.cumsum(weight)
    wanted = np.arange(1, MOST_THRESHOLDS + 1) / (MOST_THRESHOLDS + 1) * upto[-1]
    return np.unique(values[np.minimum(np.searchsorted(upto, wanted), len(values) - 2)])
