"""Where scores come from. A space sees X, never labels."""

from .basis import Bumps
from .bump_search import BumpSearch
from .coefficients import CoefficientSpace
from .function import Function, PartedSpace, RowSpace, Space, origin_score
from .kernel import KernelSpace
from .kernels import KERNELS, Kernel, check_matrix, refuse_if_too_large, resolve_gamma, use_single
from .linear import LinearSpace, near_zero
from .moments import column_moments
from .neighbours import kernel_columns, kernel_features, neighbour_laplacian
from .nystroem import NystroemMap
from .pair_kernel import PairKernel
from .pair_view import Pairs
from .rows import each_entry_once, is_dask, linear_space, take_rows
from .trees import Forest

__all__ = [
    "KERNELS",
    "BumpSearch",
    "Bumps",
    "CoefficientSpace",
    "Forest",
    "Function",
    "Kernel",
    "KernelSpace",
    "LinearSpace",
    "NystroemMap",
    "PairKernel",
    "Pairs",
    "PartedSpace",
    "RowSpace",
    "Space",
    "check_matrix",
    "column_moments",
    "each_entry_once",
    "is_dask",
    "kernel_columns",
    "kernel_features",
    "linear_space",
    "near_zero",
    "neighbour_laplacian",
    "origin_score",
    "refuse_if_too_large",
    "resolve_gamma",
    "take_rows",
    "use_single",
]
