"""Rows in partitions on Dask's workers: X stays there, and only coefficients and scores travel.

Nothing but this module and what reads files in partitions imports Dask, and neither is imported before somebody
brings a Dask collection. Without a cluster the same tasks run on Dask's own threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Floats, Ints, dot, one_thread
from .function import Function, RowSpace
from .linear import LinearSpace, column_ranges, each_entry_once, find_origin

dask: Any = import_module("dask")  # its own annotations export nothing

_MOST_GATHERED = 1 << 27
"""Bytes of sampled rows that are brought into this process; larger samples stay on the workers."""

_MOST_GROWTH = 2
"""Partitions may become this many times longer so that groups stay whole."""

_NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1 PB"}
"""Dask warns of large tasks; these carry the scores that they need, so that each can be run again elsewhere."""


class DaskSpace:
    """Scores that are linear in the columns of a Dask array, with ‖f‖² = ‖w‖².

    Each pass over the rows is a task a partition. ``scores`` sends the coefficients and brings back 8 bytes a row,
    ``adjoint`` sends 8 bytes a row and brings back one coefficient vector a partition. Sums over partitions are taken
    in their order: the same bits, whatever the number of workers.
    """

    def __init__(
        self, blocks: Sequence[Any], bounds: Ints, n_coef: int, dtype: Any, origin: Floats | None = None
    ) -> None:
        self._blocks, self.bounds, self.n_coef, self._dtype = list(blocks), bounds, n_coef, np.dtype(dtype)
        self.n_rows, self.origin = int(bounds[-1]), origin

    @classmethod
    def over(cls, X: Any, origin: Floats | None = None) -> DaskSpace:
        """Compute the partitions of X, which become one for all columns, and keep them on the workers."""
        X = X.rechunk({1: -1}).persist()
        bounds = np.concatenate([[0], np.cumsum(X.chunks[0])]).astype(np.int64)
        filled = np.flatnonzero(np.diff(bounds) > 0)
        blocks = X.to_delayed(optimize_graph=False)[:, 0]
        return cls([blocks[part] for part in filled], np.unique(bounds), X.shape[1], X.dtype, origin)

    def each(self, function: Callable[..., Any], *of_part: Sequence[Any], keep: bool = False) -> list[Any]:
        """Call a function of a partition's space, and of these entries, where the partition lies."""
        task = dask.delayed(partial(_on_rows, function), pure=False, traverse=False)
        with dask.config.set(_NO_WARNING):
            tasks = [task(*of_block) for of_block in zip(self._blocks, *of_part, strict=True)]
            return list(dask.persist(*tasks) if keep else dask.compute(*tasks))

    def cut(self, values: Array) -> list[Array]:
        """Cut values of rows into those of each partition."""
        return [values[a:b] for a, b in pairwise(self.bounds.tolist())]

    def scores(self, coef: Floats) -> Floats:
        """Return s = X w."""
        return np.concatenate(self.each(partial(_scores, coef)))

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return Xᵀ g: the gradient in w of a function with gradient g in the scores."""
        return np.asarray(np.sum(self.each(LinearSpace.adjoint, self.cut(scores_gradient)), axis=0))

    def inner(self, a: Floats, b: Function) -> float:
        """Return the inner product of the function with coefficients ``a`` and ``b``."""
        return dot(a, b.coef)

    def take(self, rows: Ints) -> RowSpace:
        """Return the space over some of the rows: a few come here, many stay on the workers."""
        if len(rows) * self.n_coef * self._dtype.itemsize <= _MOST_GATHERED:
            return LinearSpace(self.bring(rows))
        at = np.searchsorted(rows, self.bounds)
        filled = np.flatnonzero(np.diff(at) > 0)
        kept = self.each(_rows, self._by_part(rows), keep=True)
        return DaskSpace([kept[part] for part in filled], np.unique(at), self.n_coef, self._dtype)

    def bring(self, rows: Ints) -> Any:
        """Bring some rows here."""
        blocks = self.each(_rows, self._by_part(rows))
        return sp.csr_array(sp.vstack(blocks, format="csr")) if sp.issparse(blocks[0]) else np.concatenate(blocks)

    def _by_part(self, rows: Ints) -> list[Ints]:
        """Return which of its own rows each partition has among these."""
        ends = np.searchsorted(rows, self.bounds).tolist()
        return [rows[a:b] - start for (a, b), start in zip(pairwise(ends), self.bounds[:-1].tolist(), strict=True)]

    def columns(self) -> Floats:
        """Bring X here as a dense matrix, for small pieces of it."""
        return np.concatenate(self.each(LinearSpace.columns))

    def weighted_squares(self, weight: Floats) -> Floats:
        """Return Σ_i weight_i x_ik² for each column k."""
        return np.asarray(np.sum(self.each(LinearSpace.weighted_squares, self.cut(weight)), axis=0))


def gather(*values: Any) -> tuple[Any, ...]:
    """Bring columns of labels here, all in one go; what is no Dask collection stays as it is."""
    return tuple(dask.compute(*values, traverse=False))


def hold(X: Any) -> Any:
    """Compute the partitions of X and keep them on the workers; refuse NaN and infinity, by row and column."""
    X = X.rechunk({1: -1}).map_blocks(_settled).persist()
    look = dask.delayed(_first_bad, pure=False)
    found = dask.compute(*(look(block) for block in X.to_delayed(optimize_graph=False)[:, 0]))
    starts = np.cumsum([0, *X.chunks[0][:-1]])
    for start, bad in zip(starts.tolist(), found, strict=True):
        if bad is not None:
            raise _not_finite(start, *bad)
    return X


def rows_near_zero(X: Any) -> tuple[Any, Floats | None]:
    """Do for partitions what :func:`near_zero` does for rows in one place; sparse ones stay as they are."""
    look = dask.delayed(_ranges, pure=False)
    blocks = X.rechunk({1: -1}).to_delayed(optimize_graph=False)[:, 0]
    found = [ends for ends in dask.compute(*(look(block) for block in blocks)) if ends is not None]
    if not found:
        return X, None
    low, high = np.min([ends[0] for ends in found], axis=0), np.max([ends[1] for ends in found], axis=0)
    origin = find_origin(low, high, X.dtype.itemsize)
    return (X, None) if origin is None else (X - origin.astype(X.dtype), origin)


def _ranges(block: Any) -> tuple[Floats, Floats] | None:
    """Return the ends of a block's columns; none of sparse ones is taken to lie far from zero."""
    if block.shape[0] == 0:
        return None
    anything = np.full(block.shape[1], np.inf)
    return (-anything, anything) if sp.issparse(block) else column_ranges(block)


def align(X: Any, group: Ints) -> Any:
    """Move the borders between partitions to the nearest ends of groups.

    X stays as it is where groups do not stand together, or where one is too long for a partition.
    """
    sizes = np.array(X.chunks[0], dtype=np.int64)
    borders = np.cumsum(sizes)[:-1]
    ends = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [len(group)]])
    if len(ends) - 1 != len(np.unique(group)) or np.isin(borders, ends).all():
        return X
    after = np.clip(np.searchsorted(ends, borders), 1, len(ends) - 1)
    nearest = np.where(borders - ends[after - 1] <= ends[after] - borders, ends[after - 1], ends[after])
    moved = np.diff(np.unique(np.concatenate([[0], nearest, [len(group)]])))
    return X if moved.max() > _MOST_GROWTH * sizes.max() else X.rechunk({0: tuple(moved.tolist())}, method="tasks")


def map_rows(function: Callable[[Any], Array], X: Any, *, holes: bool = False) -> Any:
    """Return function(X), partition by partition, once somebody computes it.

    NaN and infinity are refused then; with ``holes`` it is for the function to say what it takes.
    """
    if X.ndim == 2:
        X = X.rechunk({1: -1})
    probe = function(np.zeros((1, *X.shape[1:]), X.dtype))  # one row tells the kind and the width of the result
    shape: dict[str, Any] = {"drop_axis": list(range(1, X.ndim))}
    if probe.ndim == 2:
        shape = {"chunks": (X.chunks[0], (probe.shape[1],))} | ({"new_axis": 1} if X.ndim == 1 else {})
    return X.map_blocks(partial(_of_block, function, holes), dtype=probe.dtype, meta=probe[:0], **shape)


def _of_block(function: Callable[[Any], Array], holes: bool, block: Any, block_info: Any = None) -> Array:
    block = _settled(block)
    bad = _first_bad(block) if block.ndim == 2 and not holes else None
    if bad is not None:
        raise _not_finite(block_info[0]["array-location"][0][0], *bad)
    with one_thread():
        return function(block)


def variance(X: Any) -> float:
    """Return the variance of all entries of X, without the cancellation that sums of squares suffer."""
    blocks, size = X.rechunk({1: -1}).to_delayed(optimize_graph=False)[:, 0], X.shape[0] * X.shape[1]
    add = dask.delayed(_sum_of_squares, pure=False)
    mean = sum(total for total, _ in dask.compute(*(add(block, 0.0) for block in blocks))) / size
    return float(sum(squares for _, squares in dask.compute(*(add(block, mean) for block in blocks))) / size)


def _sum_of_squares(block: Any, mean: float) -> tuple[float, float]:
    """Return the sum of all entries, and of their squared distances from a mean."""
    given = np.asarray(block.data if sp.issparse(block) else block, dtype=float).ravel()
    zeros = block.shape[0] * block.shape[1] - len(given)  # a sparse block does not hold them
    return float(given.sum()), float(((given - mean) ** 2).sum()) + zeros * mean**2


def _settled(block: Any) -> Any:
    """Return a block as the rest of the code knows blocks: sparse ones as CSR, and what is masked as NaN."""
    if sp.issparse(block):
        return each_entry_once(
            sp.csr_array(block)
        )  # a sparse matrix less a row of numbers would be a matrix of NumPy's
    if isinstance(block, np.ma.MaskedArray):
        return block.filled(np.nan)
    return block


def _first_bad(block: Any) -> tuple[int, int, bool] | None:
    """Return row and column of the first number that is not finite, and whether it is NaN."""
    bad = ~np.isfinite(block.data if sp.issparse(block) else block)
    if not bad.any():
        return None
    if sp.issparse(block):
        block = block.toarray()
        bad = ~np.isfinite(block)
    row, column = np.unravel_index(int(np.argmax(bad)), bad.shape)
    return int(row), int(column), bool(np.isnan(block[row, column]))


def _not_finite(start: float, row: int, column: int, is_nan: bool) -> ValueError:
    what = "NaN" if is_nan else "infinity or a value too large"
    where = f"row {row} of its partition" if np.isnan(start) else f"row {int(start) + row}"
    return ValueError(f"Input X contains {what}, first in {where}, column {column}; correct it, or leave the row out")


def _on_rows(function: Callable[..., Any], block: Any, *args: Any) -> Any:
    with one_thread():  # workers run tasks side by side
        return function(LinearSpace(block), *args)


def _scores(coef: Floats, part: LinearSpace) -> Floats:
    return part.scores(coef)


def _rows(part: LinearSpace, rows: Ints) -> Any:
    return part.take(rows).matrix
