"""Lines with a light spread, one a method: what the curve displays share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..evaluation.records import Curve, Record
from ..sweeps import Floats
from .style import LINES, PALETTE, add_legend

FEW = 3
"""Up to this many lines each have their band; of more, only the first, for the bands would cover each other."""


@dataclass(frozen=True)
class Line:
    """A curve, or the mean of several with their standard deviation."""

    name: str
    x: Floats
    y: Floats
    spread: Floats
    """Zero where there is one curve only."""


def one_line(name: str | None, curve: Curve) -> Line:
    """Make a line of a single curve."""
    x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
    return Line(name or "", x, y, np.zeros(len(x)))


def lines_of_records(
    records: Iterable[Record], kind: str, average: Callable[[str, list[Curve]], Line]
) -> tuple[Line, ...]:
    """Average the curves of each method over its splits, in the order in which the methods come."""
    curves: dict[str, list[Curve]] = {}
    for record in records:
        if record.curve is not None and record.curve.kind == kind and len(record.curve.x):
            curves.setdefault(record.method, []).append(record.curve)
    if not curves:
        raise ValueError(f"none of the records has a curve of the kind {kind!r}")
    return tuple(average(method, parts) for method, parts in curves.items())


def mean_and_spread(values: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the columns, leaving NaN out; NaN where a column has nothing else."""
    there = ~np.isnan(values)
    count = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, values, 0.0).sum(axis=0) / count
    square = np.where(there, (values - mean) ** 2, 0.0).sum(axis=0)
    spread = np.sqrt(square / np.maximum(count - 1, 1))
    return np.where(there.any(axis=0), mean, np.nan), spread


def draw_lines(ax: Axes, lines: Iterable[Line], markers: bool) -> list[Any]:
    """Draw each line with its spread, and name them where there is a name to tell; return the lines."""
    drawn = []
    chosen = list(lines)
    for number, line in enumerate(chosen):
        colour, marker = LINES[number % len(LINES)]
        style = ("-", "--", ":")[(number // len(LINES)) % 3]
        (handle,) = ax.plot(
            line.x,
            line.y,
            style,
            color=PALETTE[colour],
            marker=marker if markers else None,
            markersize=4.5,
            linewidth=2.2 if number == 0 else 1.5,
            zorder=len(chosen) + 2 - number,  # the first one, the best, on top
        )
        if np.any(line.spread > 0) and (number == 0 or len(chosen) <= FEW):
            low, high = (np.clip(line.y + sign * line.spread, 0.0, 1.0) for sign in (-1, 1))
            ax.fill_between(line.x, low, high, color=PALETTE[colour], alpha=0.14, linewidth=0)
        drawn.append(handle)
    if any(line.name for line in chosen):
        add_legend(ax, drawn, [line.name for line in chosen])
    return drawn


def legend_height(lines: Sequence[Line]) -> float:
    """Return how many inches the names of the lines take, in two columns above the picture."""
    return 0.21 * math.ceil(len(lines) / 2) if any(line.name for line in lines) else 0.0
