"""How time grows: the slope between two sizes, both axes logarithmic."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log

from .lines import Race


@dataclass(frozen=True)
class Growth:
    """A method's exponents along one family: seconds ∝ size^exponent between neighbouring sizes."""

    family: str
    along: str
    method: str
    sizes: tuple[int, ...]
    exponents: tuple[float, ...]


def exponents(found: list[Race]) -> list[Growth]:
    """Compute the exponents of every method that was measured at two or more sizes of a family."""
    times: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for race in found:
        sizes = race.workload.sizes
        for line in race.lines:
            if line.seconds is not None and line.measured_there is None:
                for along, size in sizes.items():
                    times.setdefault((race.workload.family, along, line.method), []).append((size, line.seconds))
    grown = []
    for (family, along, method), points in times.items():
        points.sort()
        if len({size for size, _ in points}) < max(2, len(points)):
            continue  # one size, or several workloads of one size
        slopes = tuple(log(t / s) / log(m / n) for (n, s), (m, t) in pairwise(points))
        grown.append(Growth(family, along, method, tuple(size for size, _ in points), slopes))
    return grown
