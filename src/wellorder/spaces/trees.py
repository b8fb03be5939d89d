"""Forests: scores as sums of binary trees, kept as plain arrays that can be checked, stored and trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array, Floats, Ints, TreeNodes, parallel_map, tree_sums

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

    def __post_init__(self) -> None:
        _check_kinds(self)
        _check_links(self)
        _check_numbers(self)

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
        """Return f(x) for each row of a dense or CSR X without NaN; the same bits for any number of threads."""
        n, width = X.shape
        if self.n_columns > width:
            raise ValueError(f"X has {width} columns, but a tree looks at column {self.n_columns - 1}")
        nodes, columns = self._nodes(), None
        if sp.issparse(X):
            # of wide sparse rows only the columns that the trees look at become dense
            columns = np.unique(self.feature[self.left >= 0])
            place = np.searchsorted(columns, self.feature)
            nodes = nodes._replace(feature=np.where(self.left >= 0, place, _NONE).astype(np.int32))
            width = len(columns)
        rows = max(1, min(_BLOCK_ROWS, _BLOCK_VALUES // max(width, 1)))

        def block_scores(start: int) -> Floats:
            block = X[start : start + rows]
            return tree_sums(nodes, block if columns is None else block[:, columns].toarray())

        parts = parallel_map(block_scores, range(0, n, rows), n) if n else []
        return np.concatenate([np.empty(0), *parts])

    def first(self, n_trees: int) -> Forest:
        """Return the forest of the first trees."""
        if not 0 <= n_trees <= len(self):
            raise ValueError(f"n_trees must be between 0 and {len(self)}, got {n_trees}")
        end = int(self.roots[n_trees]) if n_trees < len(self) else len(self.feature)
        kept = {name: array[:end].copy() for name, array in self.to_arrays().items() if name != "roots"}
        return Forest(**kept, roots=self.roots[:n_trees].copy())

    def to_arrays(self) -> dict[str, Array]:
        """Return the arrays that the forest is made of, by name."""
        return {name: getattr(self, name) for name in _DTYPES}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Forest:
        """Rebuild a forest from :meth:`to_arrays`; a ValueError says what is wrong with arrays that hold none."""
        if set(arrays) != set(_DTYPES):
            raise ValueError(f"a forest has the arrays {', '.join(_DTYPES)}; got {', '.join(map(str, arrays))}")
        return cls(**arrays)

    @classmethod
    def constant(cls, value: float) -> Forest:
        """Return the forest of one leaf."""
        leaf, at = np.array([_NONE], np.int32), np.array([float(value)])
        return cls(feature=leaf, threshold=np.zeros(1), left=leaf, right=leaf, value=at, roots=np.zeros(1, np.int32))

    @classmethod
    def from_lightgbm(cls, model: str) -> Forest:
        """Read the text that LightGBM's ``Booster.model_to_string`` writes: numeric splits, one score a row."""
        header, *blocks = model.split("\nTree=")
        if "num_tree_per_iteration=1\n" not in header:
            raise ValueError("only LightGBM models with one tree a round can be read")
        trees = [_read_tree(block) for block in blocks]
        sizes = np.array([len(tree["feature"]) for tree in trees], np.int64)
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if trees else np.empty(0)
        parts: dict[str, list[Array]] = {name: [tree[name] for tree in trees] for name in _DTYPES if name != "roots"}
        for name in ("left", "right"):
            parts[name] = [np.where(c >= 0, c + r, c) for c, r in zip(parts[name], roots, strict=True)]
        joined: dict[str, Array] = {
            name: np.concatenate([np.empty(0), *part]).astype(_DTYPES[name]) for name, part in parts.items()
        }
        return cls(**joined, roots=roots.astype(np.int32))

    def _nodes(self) -> TreeNodes:
        return TreeNodes(**self.to_arrays())


def _check_kinds(forest: Forest) -> None:
    for name, dtype in _DTYPES.items():
        array = getattr(forest, name)
        if type(array) is not np.ndarray or array.ndim != 1 or array.dtype != np.dtype(dtype):
            raise ValueError(f"a forest's {name} must be one line of {np.dtype(dtype)} numbers")
        if not array.flags.c_contiguous:
            object.__setattr__(forest, name, np.ascontiguousarray(array))
        if name != "roots" and len(array) != len(forest.feature):
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


def _read_tree(block: str) -> dict[str, Array]:
    """Read one tree: LightGBM numbers inner nodes in the order they were split, and leaf k as the child −1 − k."""
    lines = (line.partition("=") for line in block.split("\n\n", 1)[0].splitlines())
    fields = {name: text for name, _, text in lines}

    def numbers(name: str, dtype: type) -> Array:
        return np.array(fields.get(name, "").split(), dtype)

    kind = numbers("decision_type", np.int64)
    if fields.get("num_cat") != "0" or fields.get("is_linear", "0") != "0" or ((kind & 1) | (kind & 12 == 4)).any():
        raise ValueError("only LightGBM trees with numeric splits, constant leaves and zeros as numbers can be read")
    feature, value = numbers("split_feature", np.int32), numbers("leaf_value", np.float64)
    children = {"left": numbers("left_child", np.int64), "right": numbers("right_child", np.int64)}
    n_inner, n_leaves = len(feature), len(value)
    none, zero = np.full(n_leaves, _NONE), np.zeros(n_leaves)
    return {
        "feature": np.concatenate([feature, none]),
        "threshold": np.concatenate([numbers("threshold", np.float64), zero]),
        "value": np.concatenate([np.zeros(n_inner), value]),
        # leaves follow the inner nodes
        **{side: np.concatenate([np.where(c >= 0, c, n_inner - 1 - c), none]) for side, c in children.items()},
    }
