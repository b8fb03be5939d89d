"""Slacks of convex hulls: a threshold for every edge of an order graph, rows of either level on their own side of it.

Constraints between all points of two convex hulls come down to one threshold an edge (Farkas). Given the scores the
edges do not know of each other, and within a level the rows that one of them sees on its wrong side stand side by
side once they are sorted: sums over them are differences of running sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..sweeps import Array, Floats, Ints, dot, sort_rows, use_compiled
from .risk import RiskAt
from .row_loss import GradedRows


@dataclass(frozen=True)
class LevelEdges:
    """Edges of an order graph by the numbers of their levels: ``high`` stands above ``low``."""

    low: Ints
    high: Ints
    weight: Floats

    def __len__(self) -> int:
        return len(self.low)


class _Views(NamedTuple):
    """Which level's rows see which edge, and the side of its threshold where they belong (+1: above)."""

    level: Ints
    edge: Ints
    side: Floats
    bounds: Ints
    """The views of level l stand at bounds[l]:bounds[l + 1]."""


@dataclass(frozen=True)
class EdgeSlacks:
    r"""One slack for each row and edge of its level, squared: smooth in the scores and in the thresholds.

    .. math:: R(s) = \sum_{e = (Q, P)} W_e \min_t \Bigl[ \sum_{i \in P} \omega_i (t - s_i)_+^2
              + \sum_{i \in Q} \omega_i (s_i - t + 1)_+^2 \Bigr]

    for level P above level Q. The Hessian is the curvature of the rows with a slack, less what each threshold gives
    way: a diagonal minus one rank an edge. O(n log n + edges · log n) for value and gradient, O(n + edges) a product.
    """

    edges: LevelEdges
    n_levels: int

    def at(self, scores: Floats, rows: GradedRows, near: Floats | None = None) -> tuple[RiskAt, Floats]:
        """Return the risk with its derivatives, the thresholds giving way, and the thresholds."""
        if not np.isfinite(scores).all():
            nothing = np.zeros_like(scores)
            return RiskAt(np.inf, nothing, lambda: nothing, np.zeros_like), np.full(len(self.edges), np.nan)
        found = _Sorted(self, rows, scores)
        thresholds = found.best_thresholds()
        at, windows = found.windows(thresholds)
        bending = _Bending(self, found, windows)
        gradient, value = found.derivatives(at, windows)
        risk = RiskAt(
            value=value,
            gradient=found.to_rows(gradient, len(scores)),
            hessian_diagonal=lambda: found.to_rows(bending.diagonal(), len(scores)),
            hessian_product=lambda u: found.to_rows(bending.product(u[found.order]), len(scores)),
        )
        return risk, thresholds + found.centre

    def value(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> float:
        """Return the risk at given thresholds."""
        total = 0.0
        for short, weight in self._slacks(scores, rows, thresholds):
            total += dot(weight * short, short)
        return total

    def curvature(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> Floats:
        """Return ω times the second derivative of each row's loss in its score."""
        views, out = self.views, np.zeros(len(scores))
        for view, (short, weight) in enumerate(self._slacks(scores, rows, thresholds)):
            out[rows.level == views.level[view]] += 2.0 * weight * (short > 0)
        return out

    def _slacks(self, scores: Floats, rows: GradedRows, thresholds: Floats) -> list[tuple[Floats, Floats]]:
        """Return for each view the slacks of its rows, and what they weigh."""
        views, out = self.views, []
        for level, edge, side in zip(views.level, views.edge, views.side, strict=True):
            mine = rows.level == level
            reach = thresholds[edge] - (1.0 if side < 0 else 0.0)
            short = np.maximum(side * (reach - scores[mine]), 0.0)
            out.append((short, self.edges.weight[edge] * rows.weight[mine]))
        return out

    @cached_property
    def views(self) -> _Views:
        """Both levels of every edge see it, listed by level."""
        edges, n = self.edges, len(self.edges)
        level, edge = np.concatenate([edges.high, edges.low]), np.tile(np.arange(n), 2)
        side = np.repeat([1.0, -1.0], n)
        order = np.argsort(level, kind="stable")
        bounds = np.searchsorted(level[order], np.arange(self.n_levels + 1))
        return _Views(level[order], edge[order], side[order], bounds)


class _Windows(NamedTuple):
    """For each view, the places of the rows that have a slack."""

    low: Ints
    high: Ints


class _Sorted:
    """Rows sorted by level, then by score, with running sums of weights and weighted scores.

    Scores and thresholds in here are counted from their centre: sums of numbers far from zero lose their digits.
    """

    def __init__(self, slacks: EdgeSlacks, rows: GradedRows, scores: Floats) -> None:
        self._slacks = slacks
        counts = np.bincount(rows.level + 1, minlength=slacks.n_levels + 1)[1:]
        self._bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self.order = sort_rows(scores, rows.level, self._bounds, compiled=use_compiled(len(scores)))
        self.scores = scores[self.order]
        self.centre = float(self.scores.mean())
        self.scores -= self.centre
        self.weight = rows.weight[self.order]
        self.mass, self.moment = _running(self.weight), _running(self.weight * self.scores)

    def windows(self, thresholds: Floats) -> tuple[Floats, _Windows]:
        """Return each view's reach, where its rows' slacks begin, and which of its rows have one."""
        views, bounds = self._slacks.views, self._bounds
        above = views.side > 0
        at = thresholds[views.edge] - np.where(above, 0.0, 1.0)
        cut = np.empty(len(at), np.int64)
        for level in range(self._slacks.n_levels):
            mine = slice(views.bounds[level], views.bounds[level + 1])
            here = self.scores[bounds[level] : bounds[level + 1]]
            cut[mine] = bounds[level] + np.searchsorted(here, at[mine])
        first, last = bounds[views.level], bounds[views.level + 1]
        return at, _Windows(np.where(above, first, cut), np.where(above, cut, last))

    def _short(self, at: Floats, windows: _Windows) -> tuple[Floats, Floats]:
        """Return each view's Σ ω · slack, and the weight of the rows that have one."""
        low, high = windows
        mass = self.mass[high] - self.mass[low]
        side = self._slacks.views.side
        return np.maximum(side * (at * mass - (self.moment[high] - self.moment[low])), 0.0), mass

    def best_thresholds(self) -> Floats:
        """Return where the slacks of each edge's two levels pull alike; the middle, where there are none.

        The slope in t is piecewise linear and rises, from below the lowest row of the upper level to above the highest
        of the lower one: Newton's steps end after a few, kept between two ends.
        """
        edges, views, n = self._slacks.edges, self._slacks.views, len(self._slacks.edges)
        low = self.scores[self._bounds[edges.high]]
        high = self.scores[self._bounds[edges.low + 1] - 1] + 1.0
        low, high = np.minimum(low, high), np.maximum(low, high)  # high below low: no slack between, nor any slope
        t: Floats = 0.5 * (low + high)
        smallest = 1e-15 * float(self.mass[-1])
        for step in range(200):
            short, mass = self._short(*self.windows(t))
            slope = np.bincount(views.edge, views.side * short, n)
            bend = np.bincount(views.edge, mass, n)
            low, high = np.where(slope < 0, t, low), np.where(slope > 0, t, high)
            middle = 0.5 * (low + high)
            done = (np.abs(slope) <= smallest) | (middle <= low) | (middle >= high)
            if done.all():
                break
            newton = t - slope / np.where(bend > 0, bend, 1.0)
            usable = (bend > 0) & (newton >= low) & (newton <= high) & (step % 8 != 7)
            new = np.where(done, t, np.where(usable, newton, middle))
            if (new == t).all():
                break
            t = new
        return t

    def derivatives(self, at: Floats, windows: _Windows) -> tuple[Floats, float]:
        """Return ∂R/∂s in the sorted order, and R."""
        views, n = self._slacks.views, len(self.order)
        edge_weight = self._slacks.edges.weight[views.edge]
        short, _ = self._short(at, windows)
        pull, reach = _spread(windows, edge_weight, n), _spread(windows, edge_weight * at, n)
        gradient = 2.0 * self.weight * (self.scores * pull - reach)
        # slack = side · (reach − s), so that Σ slack² is Σ side · reach · slack + ½ sᵀ∂R/∂s: no sum of s² needed
        return gradient, max(0.5 * dot(self.scores, gradient) + dot(edge_weight * views.side * at, short), 0.0)

    def to_rows(self, values: Floats, n_rows: int) -> Floats:
        """Return values of the sorted rows as values of all rows; zero where a row takes no part."""
        out = np.zeros(n_rows)
        out[self.order] = values
        return out


class _Bending:
    """The Hessian in the scores, in the sorted order."""

    def __init__(self, slacks: EdgeSlacks, found: _Sorted, windows: _Windows) -> None:
        self._windows, self._edge, n = windows, slacks.views.edge, len(slacks.edges)
        self._weight, self._edge_weight = 2.0 * found.weight, slacks.edges.weight[self._edge]
        mass = np.bincount(self._edge, 2.0 * (found.mass[windows.high] - found.mass[windows.low]), n)
        self._share = 1.0 / np.where(mass > 0, mass, np.inf)
        self._own = self._weight * _spread(windows, self._edge_weight, len(found.order))

    def product(self, v: Floats) -> Floats:
        """Return H v."""
        running = _running(self._weight * v)
        seen = running[self._windows.high] - running[self._windows.low]
        moved = (np.bincount(self._edge, seen, len(self._share)) * self._share)[self._edge]
        return self._own * v - self._weight * _spread(self._windows, self._edge_weight * moved, len(v))

    def diagonal(self) -> Floats:
        """Return H's diagonal."""
        given = _spread(self._windows, self._edge_weight * self._share[self._edge], len(self._own))
        return self._own - self._weight**2 * given


def _running(values: Floats) -> Floats:
    out = np.empty(len(values) + 1)
    out[0] = 0.0
    np.cumsum(values, out=out[1:])
    return out


def _spread(windows: _Windows, amount: Floats, n: int) -> Array:
    """Add an amount to all places low:high, for many such windows at once."""
    steps = np.zeros(n + 1)
    np.add.at(steps, windows.low, amount)
    np.subtract.at(steps, windows.high, amount)
    return np.cumsum(steps[:n], out=steps[:n])
