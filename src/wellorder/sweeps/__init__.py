"""Leaf rooms: arrays in, arrays out. Near-linear sums over pairs that are never listed.

Each sweep has two forms that give the same numbers: NumPy for small data (no compiler to wait for)
and Numba for large. :mod:`wellorder.sweeps.dispatch` decides.
"""

from .arrays import Array, Floats, Ints, dot, ranges
from .dispatch import parallel_map, use_compiled
from .sides import Edges, Ladder, Side, argsort, sort_rows

__all__ = [
    "Array",
    "Edges",
    "Floats",
    "Ints",
    "Ladder",
    "Side",
    "argsort",
    "dot",
    "parallel_map",
    "ranges",
    "sort_rows",
    "use_compiled",
]
