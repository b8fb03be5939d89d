"""Pairs of items as rows: a view, so that a cross-validation over comparisons copies no features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array


class Pairs:
    """Pairs of rows of an item table, seen as an array of shape (n, 2, d).

    Parameters
    ----------
    items : array or CSR matrix of shape (n_items, d)
    left, right : arrays of shape (n,)
        Row numbers of the items in each pair.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> pairs = wo.Pairs(np.array([[1.0], [2.0], [4.0]]), left=[0, 0], right=[1, 2])
    >>> pairs.shape, len(pairs), np.asarray(pairs[1:])
    ((2, 2, 1), 2, array([[[1.],
            [4.]]]))
    """

    ndim = 3

    def __init__(self, items: Any, left: Any, right: Any) -> None:
        self.items: Any = items if sp.issparse(items) or hasattr(items, "shape") else np.asarray(items)
        if len(self.items.shape) != 2:
            raise ValueError(f"items must be a table of shape (n_items, d), got shape {tuple(self.items.shape)}")
        self.left, self.right = (np.asarray(side) for side in (left, right))
        if self.left.ndim != 1 or self.left.shape != self.right.shape:
            raise ValueError(
                f"left and right must be row numbers of one length, got shapes {self.left.shape} and {self.right.shape}"
            )
        for name, side in (("left", self.left), ("right", self.right)):
            if len(side) and side.dtype.kind not in "iu":
                raise ValueError(f"{name} must hold the row numbers of items, got {side.dtype}")
            outside = np.flatnonzero((side < 0) | (side >= self.items.shape[0]))
            if outside.size:
                raise ValueError(
                    f"{name}[{outside[0]}] names item {side[outside[0]]}, but there are {self.items.shape[0]} items"
                )
        # one type for both: NumPy makes floats of signed and unsigned numbers together
        self.left, self.right = (side.astype(np.int64, copy=False) for side in (self.left, self.right))

    @property
    def shape(self) -> tuple[int, int, int]:
        """(pairs, 2, features)."""
        return len(self.left), 2, int(self.items.shape[1])

    @property
    def dtype(self) -> Any:
        """The dtype of the items."""
        return self.items.dtype

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, key: Any) -> Pairs:
        """Select pairs; the items stay where they are."""
        if isinstance(key, tuple):
            key, *rest = key
            if any(part is not Ellipsis and part != slice(None) for part in rest):
                raise IndexError("only whole pairs can be selected: give row numbers, a mask or a slice")
        rows = key
        if isinstance(rows, int | np.integer):
            rows = [rows]
        view = Pairs.__new__(Pairs)
        view.items, view.left, view.right = self.items, self.left[rows], self.right[rows]
        return view

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Write the view out as an array; needs the memory of all pairs."""
        items = self.items.toarray() if sp.issparse(self.items) else np.asarray(self.items)
        return np.stack([items[self.left], items[self.right]], axis=1).astype(dtype or items.dtype)

    def __repr__(self) -> str:
        return f"Pairs({len(self)} pairs of {self.items.shape[0]} items with {self.items.shape[1]} features)"
