"""The array types that pass between the rooms. mypy tells them apart: levels are no scores, and a mask is neither."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from .dispatch import jit, jit_in_any_order, use_compiled

Floats: TypeAlias = NDArray[np.floating[Any]]
"""float64; rows and kernel matrices also in float32"""

Ints: TypeAlias = NDArray[np.integer[Any]]
"""int32, which is enough to number two thousand million rows, cells or positions; what is counted is int64"""

Bools: TypeAlias = NDArray[np.bool_]
"""a mask: which rows, levels or columns are meant"""

Array: TypeAlias = NDArray[Any]
"""any dtype: what a user gives, labels and text; elsewhere a type that accepts everything would check nothing"""


class _SumsAt(Protocol):
    def __call__(self, place: Ints, values: Floats, /, minlength: int = 0) -> Floats: ...


sums_at = cast(_SumsAt, np.bincount)
"""Add up the values at each place: ``np.bincount`` with weights, whose stub knows of whole numbers only."""


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Concatenate the ranges start, start + 1, …, start + length − 1."""
    ends = np.cumsum(lengths)
    return np.asarray(np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths))


def near_one(weights: Floats) -> tuple[Floats, int]:
    """Multiply weights by the power of two that brings the largest just below one; return them and its exponent, e.

    They were 2^e times that. Nothing is rounded, sums of them do not overflow, and what vanishes is nothing beside the
    largest.
    """
    exponent = int(np.frexp(np.max(weights, initial=0.0))[1])
    return np.ldexp(weights, -exponent), exponent


ALONE = 8_192
"""Up to this many entries BLAS multiplies on the calling thread; for more it wakes others, which keep spinning."""


def dot(a: Floats, b: Floats) -> float:
    """Return aᵀb without BLAS's threads, which would be left spinning beside ours."""
    return float(np.einsum("i,i->", a, b) if len(a) > ALONE and isinstance(a, np.ndarray) else a @ b)


MOST_ALONE = 1 << 21
"""Entries of a matrix up to which products with it are made without BLAS; from there on its threads are quicker."""


def multiplied_alone(matrix: Any) -> bool:
    """Say whether products with a matrix are made without BLAS: on a busy machine its threads wait for each other."""
    if not isinstance(matrix, np.ndarray) or matrix.dtype != np.float64 or not matrix.flags.c_contiguous:
        return False
    return ALONE < matrix.size <= MOST_ALONE and use_compiled(len(matrix), often=True)


def multiply(rows: Floats, vector: Floats) -> Floats:
    """Return a matrix times a vector, on the calling thread."""
    out = np.empty(len(rows))
    _multiply(rows, vector, out)
    return out


def add_rows(rows: Floats, weight: Floats) -> Floats:
    """Return Σ_i weight[i] · rows[i], a matrix transposed times a vector, on the calling thread."""
    out = np.zeros(rows.shape[1])
    _add_rows(rows, weight, out)
    return out


@jit_in_any_order
def _multiply(rows: Floats, vector: Floats, out: Floats) -> None:
    for i in range(len(rows)):
        total = 0.0
        for k in range(len(vector)):
            total += rows[i, k] * vector[k]
        out[i] = total


@jit
def _add_rows(rows: Floats, weight: Floats, out: Floats) -> None:
    n, d = rows.shape
    for i in range(0, n - 3, 4):  # four at a time: each reads and writes ``out``
        a, b, c, e = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
        for k in range(d):
            out[k] += (a * rows[i, k] + b * rows[i + 1, k]) + (c * rows[i + 2, k] + e * rows[i + 3, k])
    for i in range(n - n % 4, n):
        a = weight[i]
        for k in range(d):
            out[k] += a * rows[i, k]
