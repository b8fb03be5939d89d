"""Leaf rooms: arrays in, arrays out. Near-linear sums over pairs that are never listed.

Each sweep has two forms that give the same numbers: NumPy for small data (no compiler to wait for)
and Numba for large. :mod:`wellorder.sweeps.dispatch` decides.
"""

from .arrays import Array, Floats, Ints, dot, near_one, ranges
from .device import (
    EdgeSums,
    Ladders,
    LadderSums,
    Layout,
    all_finite,
    beside,
    cast,
    dense_ranks,
    is_tensor,
    make_ladders,
    make_slots,
    namespace,
    rank_there,
    run_weights,
    running,
    sort_and_reach,
    spread,
    take,
    to_numpy,
)
from .dispatch import THREADS_FROM, available_cpus, jit, one_thread, parallel_map, prefer_compiled, use_compiled
from .factors import Factors, Joined, Rungs, block_log_sums, centre, cover_sums, means_before, stretch_sums, sums_before
from .games import LOGIT, N_COLUMNS, game_sweep
from .links import Links, list_pairs, logistic_product, logistic_risk
from .nodes import Nodes, node_sums
from .sides import FEW_ROWS, Edges, EdgeTable, Ladder, Side, argsort, bucket_rows, rising_sums, sort_rows
from .trees import TreeNodes, tree_sums

__all__ = [
    "FEW_ROWS",
    "LOGIT",
    "N_COLUMNS",
    "THREADS_FROM",
    "Array",
    "EdgeSums",
    "EdgeTable",
    "Edges",
    "Factors",
    "Floats",
    "Ints",
    "Joined",
    "Ladder",
    "LadderSums",
    "Ladders",
    "Layout",
    "Links",
    "Nodes",
    "Rungs",
    "Side",
    "TreeNodes",
    "all_finite",
    "argsort",
    "available_cpus",
    "beside",
    "block_log_sums",
    "bucket_rows",
    "cast",
    "centre",
    "cover_sums",
    "dense_ranks",
    "dot",
    "game_sweep",
    "is_tensor",
    "jit",
    "list_pairs",
    "logistic_product",
    "logistic_risk",
    "make_ladders",
    "make_slots",
    "means_before",
    "namespace",
    "near_one",
    "node_sums",
    "one_thread",
    "parallel_map",
    "prefer_compiled",
    "ranges",
    "rank_there",
    "rising_sums",
    "run_weights",
    "running",
    "sort_and_reach",
    "sort_rows",
    "spread",
    "stretch_sums",
    "sums_before",
    "take",
    "to_numpy",
    "tree_sums",
    "use_compiled",
]
