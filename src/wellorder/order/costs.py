"""Separable costs W[a,b] = w_a · w_b · (σ_b − σ_a): which costs are, where others fail, and the nearest that are."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from ..sweeps import Array, Floats
from .graph_checks import Labels, as_tuple
from .structures import DENSE_LEVELS, Full, Scale, Structure, Table, whole_table

_MOST_FITTED = 60
"""Up to this many levels the nearest separable costs are looked for: K²/2 residuals of 2K numbers."""

_GAUGE = 1e-4
"""How much the weights are drawn to one: enough to choose among those that give the same costs."""

_RTOL = 1e-9


def violation(structure: Structure, labels: Labels) -> str | None:
    """Say where Theorem 3's condition fails, naming the levels; None where it holds."""
    size = len(labels)
    if size < 2:
        return "there are not two levels"
    first, last = (repr(label) for label in as_tuple(labels[:1]) + as_tuple(labels[-1:]))
    nothing = f"a swap of the lowest level {first} and the highest {last} costs nothing"
    if isinstance(structure, Full):
        ends = as_tuple(labels[:3]) + as_tuple(labels[-1:])  # any four levels show it
        return None if size <= 3 else _failing(whole_table(structure, 4), ends)
    if isinstance(structure, Scale):
        weight, scale = structure.weight, structure.scale
        return None if weight[0] * weight[-1] * (scale[-1] - scale[0]) > 0 else nothing
    if downward := _downward(structure, labels):
        return downward
    if not structure.matrix[0, size - 1] > 0:
        return nothing
    if size > DENSE_LEVELS:
        return f"a table of costs is looked through for at most {DENSE_LEVELS:,} levels, and these are {size:,}"
    return _failing(whole_table(structure, size), labels)


def separable(structure: Structure, labels: Labels) -> Scale | None:
    """Return the weights and the scale of costs that satisfy the condition; None for others.

    W[1,K]·w_i = W[1,i] + W[i,K] and w_i·σ_i = W[1,i] do it, whatever the costs were made from.
    """
    if isinstance(structure, Scale):
        return structure
    if violation(structure, labels) is not None:
        return None
    table = whole_table(structure, len(labels))
    from_lowest, to_highest = table[0], table[:, -1]
    weight = (from_lowest + to_highest) / table[0, -1]
    # a level of weight zero has no cost at all, and any place on the scale
    scale = np.divide(from_lowest, weight, out=np.zeros_like(weight), where=weight > 0)
    return Scale(weight, np.maximum.accumulate(scale))


def nearest_scale(structure: Structure, labels: Labels) -> Scale:
    """Fit weights and a rising scale to costs, as :meth:`OrderGraph.nearest_consistent` says."""
    size = len(labels)
    if not 2 <= size <= _MOST_FITTED:
        raise ValueError(f"the nearest separable costs are looked for over 2 to {_MOST_FITTED} levels, not {size}")
    if isinstance(structure, Table) and (downward := _downward(structure, labels)):
        raise ValueError(downward)
    table = whole_table(structure, size)
    if not table.any():
        raise ValueError("all costs are zero")
    largest = table.max()
    angle = np.pi * ((np.arange(size) + 0.5) / size - 0.5)
    # the best unbounded fit of equal costs lies on a half-circle, that of equal steps on a line
    starts = [(np.cos(angle), np.tan(angle)), (np.ones(size), np.arange(size) / size)]
    _, weight, scale = min((_fit(table / largest, *start) for start in starts), key=lambda fit: fit[0])
    # among the (weight, scale) that give the same costs: weights around one, a scale from zero
    centre = np.exp(np.mean(np.log(weight)))
    return Scale(weight / centre, scale * centre**2 * largest)


def _fit(table: Floats, weight: Floats, scale: Floats) -> tuple[float, Floats, Floats]:
    """Minimise over the logarithms of the weights and of the scale's steps, from a start."""
    size = len(table)
    low, high = np.triu_indices(size, 1)
    cost = table[low, high]
    kept = (cost > 0) | (high - low == size - 1)  # the condition asks for a cost from end to end
    log_cost = np.log(np.maximum(cost[kept], cost[cost > 0].min()))
    between = (np.arange(size - 1) >= low[:, None]) & (np.arange(size - 1) < high[:, None])
    pair = np.arange(len(low))
    one_weight = np.eye(size)

    def parts(z: Floats) -> tuple[Floats, Floats, Floats]:
        w, step = np.exp(z[:size]), np.exp(z[size:])
        return w, step, w[low] * w[high] * (between @ step)

    def residuals(z: Floats) -> Floats:
        fitted = parts(z)[2]
        return np.concatenate([fitted - cost, np.log(fitted[kept]) - log_cost, _GAUGE * z[:size]])

    def jacobian(z: Floats) -> Floats:
        _, step, fitted = parts(z)
        relative = np.zeros((len(low), 2 * size - 1))
        relative[pair, low] = relative[pair, high] = 1.0
        relative[:, size:] = between * step / (between @ step)[:, None]
        # the last lines choose, among the (weight, scale) that give the same costs, weights that differ least
        gauge = np.hstack([_GAUGE * one_weight, np.zeros((size, size - 1))])
        return np.vstack([relative * fitted[:, None], relative[kept], gauge])

    start = np.log(np.concatenate([weight, np.diff(scale)]))
    found = least_squares(residuals, start, jacobian, method="trf", xtol=1e-10, ftol=1e-10, gtol=1e-10, max_nfev=200)
    w, step, _ = parts(found.x)
    return float(found.cost), w, np.concatenate([[0.0], np.cumsum(step)])


def _downward(structure: Table, labels: Labels) -> str | None:
    """Name a cost of a level above a later one: then the levels are not listed from low to high."""
    entries = structure.matrix.tocoo()
    down = np.flatnonzero(entries.row >= entries.col)
    if not len(down):
        return None
    low, high = (as_tuple(labels)[int(part[down[0]])] for part in (entries.row, entries.col))
    return f"the level {low!r} stands below {high!r} but is listed after it; list the levels from low to high"


def _failing(table: Floats, labels: Labels) -> str | None:
    """Name the two inner levels whose cost is furthest from what the condition asks for."""
    largest = table.max()
    unit = table / largest
    first, last = unit[0, 1:-1], unit[1:-1, -1]
    # entry [j, i] of W[1,i] W[j,K] − W[1,j] W[i,K]
    wanted = np.triu(np.outer(last, first) - np.outer(first, last), 1) / unit[0, -1]
    gap: Array = np.abs(unit[1:-1, 1:-1] - wanted) - (_RTOL * np.abs(wanted) + 1e-12)
    if not (gap > 0).any():
        return None
    low, high = np.unravel_index(int(np.argmax(gap)), gap.shape)
    names = as_tuple(labels)
    return (
        f"a swap of {names[low + 1]!r} and {names[high + 1]!r} costs {table[low + 1, high + 1]:g}, where the costs to "
        f"the lowest level {names[0]!r} and to the highest {names[-1]!r} ask for {wanted[low, high] * largest:g}"
    )
