"""Leaf rooms: arrays in, arrays out. Near-linear sums over pairs that are never listed.

Each sweep has two forms that give the same numbers: NumPy for small data (no compiler to wait for)
and Numba for large. :mod:`wellorder.sweeps.dispatch` decides.
"""

from .arrays import Array, Floats, Ints, dot, near_one, ranges
from .dispatch import parallel_map, use_compiled
from .sides import Edges, EdgeTable, Ladder, Side, argsort, sort_rows
from .tensors import is_tensor, namespace, to_numpy
from .trees import Nodes, tree_sums

__all__ = [
    "Array",
    "EdgeTable",
    "Edges",
    "Floats",
    "Ints",
    "Ladder",
    "Nodes",
    "Side",
    "argsort",
    "dot",
    "is_tensor",
    "namespace",
    "near_one",
    "parallel_map",
    "ranges",
    "sort_rows",
    "to_numpy",
    "tree_sums",
    "use_compiled",
]
