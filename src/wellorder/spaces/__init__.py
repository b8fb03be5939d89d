"""Where scores come from. A space sees X, never labels."""

from .basis import Bumps, BumpSearch, Standard as Standard, bump as bump, by_columns
from .function import Function, PartedSpace, RowSpace, Space, origin_score
from .kernel import (
    KERNELS,
    Kernel,
    KernelSpace,
    NystroemMap,
    check_matrix,
    kernel_bytes,
    kernel_has_room,
    n_landmarks,
    refuse_if_too_large,
    resolve_gamma,
    use_single,
)
from .lightgbm_trees import Categories
from .linear import (
    CoefficientSpace,
    LinearSpace,
    column_moments,
    each_entry_once,
    is_dask,
    linear_space,
    near_zero,
    row_scores,
    take_rows,
)
from .monotone_trees import monotone_violation
from .pair_view import Pairs
from .steps import Steps, StepSearch
from .trees import Forest

__all__ = [
    "KERNELS",
    "BumpSearch",
    "Bumps",
    "Categories",
    "CoefficientSpace",
    "Forest",
    "Function",
    "Kernel",
    "KernelSpace",
    "LinearSpace",
    "NystroemMap",
    "Pairs",
    "PartedSpace",
    "RowSpace",
    "Space",
    "StepSearch",
    "Steps",
    "by_columns",
    "check_matrix",
    "column_moments",
    "each_entry_once",
    "is_dask",
    "kernel_bytes",
    "kernel_has_room",
    "linear_space",
    "monotone_violation",
    "n_landmarks",
    "near_zero",
    "origin_score",
    "refuse_if_too_large",
    "resolve_gamma",
    "row_scores",
    "take_rows",
    "use_single",
]
