"""Forests: scores as sums of binary trees, kept as plain arrays that can be checked, stored and trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Bools, Floats, Ints, NodeHoles, TreeNodes, goes_left, parallel_map, tree_sums
from .lightgbm_trees import Categories, read_trees

_BLOCK_ROWS = 1 << 14
"""Rows are scored in blocks of this many, or fewer where sparse rows are wide: a block is made dense at a time."""

_BLOCK_VALUES = 1 << 22

_DTYPES: dict[str, type] = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
    "value": np.float64,
    "roots": np.int32,
}

_HOLES: dict[str, type] = {"missing_left": np.bool_}
_SETS: dict[str, type] = {"set_size": np.int32, "member": np.bool_}
"""What forests of older versions have not; and what only those over columns of categories have."""

_OF_NODES = (*_DTYPES, *_HOLES, "set_size")
"""The arrays with an entry a node; but for ``roots``."""

_NONE = -1


@dataclass(frozen=True, eq=False)
class Forest:
    """f(x) = Σ over trees of the value of the leaf that x falls into.

    One entry a node, the nodes of a tree side by side, its root first and children after their parents.

    Attributes
    ----------
    feature, threshold
        The column that a node looks at and the largest value that goes left; −1 and 0 at a leaf.
    left, right
        The places of the two children; −1 at a leaf.
    value
        What a leaf adds to the score; 0 at other nodes.
    roots
        Where each tree begins, in ascending order.
    missing_left
        Whether a missing value goes left at a node; False at a leaf. None in forests of older versions, which take no
        missing values.
    set_size, member
        Where a column holds the numbers of categories: how many it has, 0 at other nodes and at leaves; and, set beside
        set in the order of the nodes, which of them go left. Any other number counts as missing. None where no node
        looks at such a column.

    Examples
    --------
    >>> import numpy as np
    >>> forest = Forest(
    ...     feature=np.array([0, -1, -1], np.int32), threshold=np.array([0.5, 0, 0]),
    ...     left=np.array([1, -1, -1], np.int32), right=np.array([2, -1, -1], np.int32),
    ...     value=np.array([0.0, -1.0, 1.0]), roots=np.array([0], np.int32),
    ... )
    >>> forest.scores(np.array([[0.4], [0.5], [0.6]])).tolist()
    [-1.0, -1.0, 1.0]
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    roots: Ints
    missing_left: Bools | None = None
    set_size: Ints | None = None
    member: Bools | None = None

    def __post_init__(self) -> None:
        _check_kinds(self)
        _check_links(self)
        _check_numbers(self)
        _check_sets(self)

    def __len__(self) -> int:
        """How many trees there are."""
        return len(self.roots)

    @property
    def n_columns(self) -> int:
        """How many columns X must have at least."""
        return int(self.feature.max(initial=_NONE)) + 1

    def check(self, n_features: int) -> None:
        """Raise a ValueError if these are no trees over ``n_features`` columns.

        A forest that passes can be walked with any X of that width: every walk stays inside the arrays and ends.
        """
        self.__post_init__()
        if self.n_columns > n_features:
            raise ValueError(f"a tree looks at column {self.n_columns - 1}, but there are {n_features} columns")

    def scores(self, X: Any) -> Floats:
        """Return f(x) for each row of a dense or CSR X; NaN is a missing value. The same bits for any threads."""
        n, width = X.shape
        if self.n_columns > width:
            raise ValueError(f"X has {width} columns, but a tree looks at column {self.n_columns - 1}")
        if self.missing_left is None and np.isnan(X.data if sp.issparse(X) else X).any():
            raise ValueError(
                "X contains NaN, and these trees, grown by an older wellorder, take no missing values; fit the model "
                "anew, or fill them in"
            )
        nodes, holes = self._walked
        used = nodes.columns
        if is_sparse := sp.issparse(X):
            # of wide sparse rows only the columns that the trees look at become dense
            nodes, width = nodes._replace(columns=np.arange(len(used))), len(used)
        rows = max(1, min(_BLOCK_ROWS, _BLOCK_VALUES // max(width, 1)))

        def block_scores(start: int) -> Floats:
            block = X[start : start + rows]
            return tree_sums(nodes, block[:, used].toarray() if is_sparse else block, holes)

        if n <= rows:
            return block_scores(0)
        parts = parallel_map(block_scores, range(0, n, rows), n)
        return np.concatenate(parts)

    def first(self, n_trees: int) -> Forest:
        """Return the forest of the first trees."""
        if not 0 <= n_trees <= len(self):
            raise ValueError(f"n_trees must be between 0 and {len(self)}, got {n_trees}")
        end = int(self.roots[n_trees]) if n_trees < len(self) else len(self.feature)
        ends = dict.fromkeys(_OF_NODES, end) | {"roots": n_trees}
        if self.set_size is not None:
            ends["member"] = int(self.set_size[:end].sum(dtype=np.int64))
        return Forest(**{name: array[: ends[name]].copy() for name, array in self.to_arrays().items()})

    def staged(self, X: Any) -> Iterator[Floats]:
        """Yield f(x) for each row after each tree, to the last bit as of the forest of the first trees."""
        total = np.zeros(X.shape[0])
        ends = np.append(self.roots, len(self.feature))
        members = np.zeros(len(self.feature) + 1, np.int64)
        if self.set_size is not None:
            np.cumsum(self.set_size, out=members[1:])
        for begin, end in pairwise(ends.tolist()):
            part = {name: array[begin:end] for name, array in self.to_arrays().items() if name in _OF_NODES}
            for name in ("left", "right"):
                part[name] = np.where(part[name] >= 0, part[name] - begin, _NONE).astype(np.int32)
            if self.member is not None:
                part["member"] = self.member[members[begin] : members[end]]
            total = total + Forest(**{**part, "roots": np.zeros(1, np.int32)}).scores(X)
            yield total

    def plus(self, other: Forest) -> Forest:
        """Return the forest with the trees of another behind its own; both of this version."""
        assert self.missing_left is not None
        assert other.missing_left is not None
        shift, moved = len(self.feature), other.to_arrays()
        for name in ("left", "right"):
            moved[name] = np.where(moved[name] >= 0, moved[name] + shift, _NONE).astype(np.int32)
        moved["roots"] = (other.roots + shift).astype(np.int32)
        own = self.to_arrays()
        if self.member is not None or other.member is not None:
            for arrays, forest in ((own, self), (moved, other)):
                if forest.member is None:
                    arrays |= {"set_size": np.zeros(len(forest.feature), np.int32), "member": np.zeros(0, bool)}
        return Forest(**{name: np.concatenate([array, moved[name]]) for name, array in own.items()})

    def to_arrays(self) -> dict[str, Array]:
        """Return the arrays that the forest is made of, by name."""
        names = (*_DTYPES, *_HOLES, *_SETS)
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Forest:
        """Rebuild a forest from :meth:`to_arrays`; a ValueError says what is wrong with arrays that hold none."""
        if set(arrays) not in (set(_DTYPES), set(_DTYPES | _HOLES), set(_DTYPES | _HOLES | _SETS)):
            names = ", ".join(_DTYPES | _HOLES)
            raise ValueError(f"a forest has the arrays {names}; got {', '.join(map(str, arrays))}")
        return cls(**arrays)

    def goes_left(self, x: Floats) -> Bools:
        """Say at which nodes a row goes left; at leaves it means nothing."""
        return goes_left(self.threshold, self._walked[1], np.arange(len(self.feature)), x[self.feature])

    @classmethod
    def constant(cls, value: float) -> Forest:
        """Return the forest of one leaf."""
        leaf, at = np.array([_NONE], np.int32), np.array([float(value)])
        root, nowhere = np.zeros(1, np.int32), np.zeros(1, bool)
        return cls(leaf, np.zeros(1), left=leaf, right=leaf, value=at, roots=root, missing_left=nowhere)

    @classmethod
    def from_lightgbm(cls, model: str, categories: Mapping[int, Categories] | None = None) -> Forest:
        """Read the text that LightGBM's ``Booster.model_to_string`` writes: see :func:`read_trees`."""
        found = read_trees(model, categories or {})
        kinds = _DTYPES | _HOLES | (_SETS if len(found["member"]) else {})
        return cls(**{name: found[name].astype(kind) for name, kind in kinds.items()})

    @cached_property
    def _walked(self) -> tuple[TreeNodes, NodeHoles]:
        """The arrays as the sweeps take them."""
        inner = self.left >= 0
        columns, feature = np.unique(self.feature[inner], return_inverse=True)
        number = np.full(len(inner), _NONE, np.int32)
        number[inner] = feature
        nodes = TreeNodes(number, self.threshold, self.left, self.right, self.value, self.roots, columns)
        none = np.zeros(len(inner), bool)
        missing_left = none if self.missing_left is None else self.missing_left
        if self.set_size is None or self.member is None:
            nowhere = np.zeros(len(inner), np.int64)
            return nodes, NodeHoles(missing_left, nowhere, nowhere, none[:0])
        size = self.set_size.astype(np.int64)
        return nodes, NodeHoles(missing_left, np.cumsum(size) - size, size, self.member)


def _check_kinds(forest: Forest) -> None:
    for name, dtype in (_DTYPES | _HOLES | _SETS).items():
        array = getattr(forest, name)
        if array is None and name not in _DTYPES:
            continue
        if type(array) is not np.ndarray or array.ndim != 1 or array.dtype != np.dtype(dtype):
            raise ValueError(f"a forest's {name} must be one line of {np.dtype(dtype)} numbers")
        if not array.flags.c_contiguous:
            object.__setattr__(forest, name, np.ascontiguousarray(array))
        if name in _OF_NODES and name != "roots" and len(array) != len(forest.feature):
            raise ValueError(f"a forest's {name} has {len(array)} entries for {len(forest.feature)} nodes")


def _check_links(forest: Forest) -> None:
    """Check that the nodes are trees: every walk from a root moves forward in the arrays, inside its own tree."""
    left, right, roots, n = forest.left, forest.right, forest.roots, len(forest.left)
    if n > np.iinfo(np.int32).max:
        raise ValueError("a forest has too many nodes to number them")
    if (n == 0) != (len(roots) == 0) or (n and (roots[0] != 0 or roots[-1] >= n or (np.diff(roots) <= 0).any())):
        raise ValueError("a forest's roots must be ascending places of nodes, the first of them 0")
    inner = np.flatnonzero(left != _NONE)
    if (right[left == _NONE] != _NONE).any():
        raise ValueError("a node of a forest has one child; it must have two, or be a leaf")
    ends = np.append(roots[1:], n)[np.searchsorted(roots, inner, side="right") - 1]
    for child in (left[inner], right[inner]):
        if ((child <= inner) | (child >= ends)).any():
            raise ValueError("a child in a forest must stand after its parent, in the same tree")
    parents = np.bincount(np.concatenate([left[inner], right[inner], roots]), minlength=n)
    if (parents != 1).any():
        raise ValueError("a node of a forest must be a root, or the child of one parent")


def _check_numbers(forest: Forest) -> None:
    inner = forest.left != _NONE
    if (forest.feature[inner] < 0).any() or (forest.feature[~inner] != _NONE).any():
        raise ValueError("a node of a forest looks at a column below 0, or a leaf at any")
    if not np.isfinite(forest.threshold).all() or not np.isfinite(forest.value).all():
        raise ValueError("a forest's thresholds and values must be finite")


def _check_sets(forest: Forest) -> None:
    leaf = forest.left == _NONE
    if forest.missing_left is not None and forest.missing_left[leaf].any():
        raise ValueError("a leaf of a forest says where missing values go")
    if forest.set_size is None or forest.member is None:
        if forest.set_size is not None or forest.member is not None:
            raise ValueError("a forest with sets of categories has missing_left, set_size and member")
        return
    if forest.missing_left is None:
        raise ValueError("a forest with sets of categories says where missing values go")
    size = forest.set_size
    if (size < 0).any() or size[leaf].any() or int(size.sum(dtype=np.int64)) != len(forest.member):
        raise ValueError("a forest's sets do not have the sizes that its nodes say")
    if forest.threshold[size > 0].any():
        raise ValueError("a node of a forest has a threshold beside its set")
