"""How much memory methods take: estimates from the size of a training part, good to about a factor of two."""

from __future__ import annotations

from ..spaces.kernels import kernel_bytes
from .size import Size

_BASE = 300_000_000
"""Of Python and the libraries."""
_ROW_ARRAYS = 30
"""Of eight bytes a row: grades, scores, orders of both, sums over pairs."""
_LANDMARKS = 300
_MOST_MEMBER_KERNEL = 3_000


def for_linear(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of a fit beside the matrix: a cut of it for the folds of a search, and arrays a row."""
    return _BASE + 2 * matrix_bytes + 8 * _ROW_ARRAYS * size.n_rows


def for_kernel(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of a kernel between all rows, cut for folds, beside those of a fit."""
    return for_linear(size, matrix_bytes) + kernel_bytes(size.n_rows, 8) + 8 * size.n_rows**2


def for_landmarks(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of a feature for each landmark row."""
    return for_linear(size, matrix_bytes) + 2 * 8 * size.n_rows * min(_LANDMARKS, size.n_rows)


def for_columns(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of an order of the rows for each column, and of the matrix column by column."""
    return for_linear(size, matrix_bytes) + 3 * 8 * size.n_rows * size.n_features


def for_trees(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of binned columns, and of gradients a row."""
    return for_linear(size, matrix_bytes) + matrix_bytes + 8 * _ROW_ARRAYS * size.n_rows


def for_members(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of an ensemble: the largest member's, and all members' models and scores."""
    largest = for_kernel if size.n_rows <= _MOST_MEMBER_KERNEL else for_trees
    return largest(size, matrix_bytes) + 8 * _ROW_ARRAYS * size.n_rows
