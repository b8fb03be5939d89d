"""Whether trees are monotone in a column, told by their structure alone: not on some rows, but on all there can be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..sweeps import Array, Bools, Floats, Ints
from .trees import Forest


def monotone_violation(forest: Forest, signs: Ints) -> str | None:
    """Say where a tree breaks a constraint; None where none does, and so their sum does not, to the last bit.

    Two leaves of a tree are compared where a row of the one and a row of the other can differ in that column alone: the
    boxes of values that lead to them meet in every other column, and the one's begins below the other's end in this
    one. There is no order between a missing value and another. O(leaves² × columns) a tree.

    Parameters
    ----------
    forest : Forest
    signs : array of +1, −1 and 0, one a column
    """
    ends = [*forest.roots.tolist(), len(forest.feature)]
    starts = np.zeros(len(forest.feature) + 1, np.int64)
    if forest.set_size is not None:
        np.cumsum(forest.set_size, out=starts[1:])
    for tree, (begin, end) in enumerate(pairwise(ends)):
        nodes = np.arange(begin, end)
        inner = nodes[forest.left[begin:end] >= 0]
        columns = np.unique(forest.feature[inner])
        asked = columns[signs[columns] != 0]
        if not len(asked):
            continue
        boxes = {int(k): _Boxes(forest, int(k), begin, end, starts) for k in columns}
        leaves = nodes[forest.left[begin:end] < 0] - begin
        value = forest.value[begin:end][leaves]
        meets = {k: box.meet(leaves) for k, box in boxes.items()}
        for k in asked.tolist():
            wrong = signs[k] * (value[:, None] - value[None, :]) > 0  # the first leaf is better than the second
            wrong &= boxes[k].may_be_below(leaves)
            for other, meet in meets.items():
                if other != k:
                    wrong &= meet
            if wrong.any():
                a, b = np.argwhere(wrong)[0].tolist()
                shown = f"{value[a]:.6g} and {value[b]:.6g}"
                return f"leaves of tree {tree} with the values {shown} stand the wrong way round in column {k}"
    return None


class _Boxes:
    """The values of a column with which rows come to each node of a tree: an interval, or a set; and a missing one."""

    def __init__(self, forest: Forest, column: int, begin: int, end: int, starts: Ints) -> None:
        n = end - begin
        self.low: Floats = np.full(n, -np.inf)
        self.high: Floats = np.full(n, np.inf)
        self.missing: Bools = np.ones(n, dtype=bool)
        self.members: Bools | None = None
        # invariant: the boxes of a node and of all before it are known; children stand after their parents
        for k in range(begin, end):
            left, right, at = int(forest.left[k]) - begin, int(forest.right[k]) - begin, k - begin
            if left < 0:
                continue
            for part in (self.low, self.high, self.missing, *(() if self.members is None else (self.members,))):
                part[[left, right]] = part[at]
            if forest.feature[k] != column:
                continue
            goes_left = forest.missing_left is not None and bool(forest.missing_left[k])
            self.missing[left] &= goes_left
            self.missing[right] &= not goes_left
            size = 0 if forest.set_size is None else int(forest.set_size[k])
            if size and forest.member is not None:
                if self.members is None:
                    self.members = np.ones((n, size), dtype=bool)
                own = forest.member[starts[k] : starts[k] + size]
                self.members[left] &= own
                self.members[right] &= ~own
                continue
            threshold = float(forest.threshold[k])
            self.high[left] = min(self.high[left], threshold)
            self.low[right] = max(self.low[right], threshold)

    def meet(self, leaves: Ints) -> Array:
        """Say of each two leaves whether one value of the column leads to both."""
        both_missing = self.missing[leaves][:, None] & self.missing[leaves]
        if self.members is not None:
            own = self.members[leaves].astype(np.int64)
            return np.asarray((own @ own.T > 0) | both_missing)
        low, high = self.low[leaves], self.high[leaves]
        return np.asarray((np.maximum(low[:, None], low) < np.minimum(high[:, None], high)) | both_missing)

    def may_be_below(self, leaves: Ints) -> Array:
        """Say of each two leaves whether the first can have less in the column than the second, neither missing."""
        low, high = self.low[leaves], self.high[leaves]
        there = low < high
        return np.asarray((low[:, None] < high[None, :]) & there[:, None] & there[None, :])
