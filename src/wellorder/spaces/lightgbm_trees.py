"""LightGBM's own text of its trees, read into plain arrays: what was grown there is scored here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..sweeps import Array, Bools

_NONE = -1

_CATEGORY, _DEFAULT_LEFT, _MISSING, _ZERO_MISSING, _NAN_MISSING = 1, 2, 12, 4, 8
"""Bits of LightGBM's ``decision_type``."""


class Categories(NamedTuple):
    """The numbers 0, …, ``n`` − 1 that a column's categories have; ``n`` stands for a missing one, where there are."""

    n: int
    has_missing: bool


def read_trees(model: str, categories: Mapping[int, Categories]) -> dict[str, Array]:
    """Read the text that LightGBM's ``Booster.model_to_string`` writes, of one score a row, by the names of its parts.

    A missing value goes where LightGBM has sent those of its training rows; where a column had none, and LightGBM would
    take it for a zero, to the child that more rows have gone to.

    Parameters
    ----------
    model : str
    categories : dict
        Of the columns that were handed over as categories, by number.
    """
    header, *blocks = model.split("\nTree=")
    if "num_tree_per_iteration=1\n" not in header:
        raise ValueError("only LightGBM models with one tree a round can be read")
    trees = [_read_tree(block, categories) for block in blocks]
    sizes = np.array([len(tree["feature"]) for tree in trees], np.int64)
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if trees else np.empty(0)
    for tree, root in zip(trees, roots, strict=True):
        for side in ("left", "right"):
            tree[side] = np.where(tree[side] >= 0, tree[side] + root, tree[side])
    names = list(_read_tree(_LEAF, {}))
    joined: dict[str, Array] = {name: np.concatenate([np.empty(0), *(tree[name] for tree in trees)]) for name in names}
    return joined | {"roots": roots}


_LEAF = "0\nnum_cat=0\nleaf_value=0\n\n"


def _read_tree(block: str, categories: Mapping[int, Categories]) -> dict[str, Array]:
    """Read one tree: LightGBM numbers inner nodes in the order they were split, and leaf k as the child −1 − k."""
    lines = (line.partition("=") for line in block.split("\n\n", 1)[0].splitlines())
    fields = {name: text for name, _, text in lines}

    def numbers(name: str, dtype: type) -> Array:
        return np.array(fields.get(name, "").split(), dtype)

    kind = numbers("decision_type", np.int64)
    feature, value = numbers("split_feature", np.int32), numbers("leaf_value", np.float64)
    is_set = (kind & _CATEGORY).astype(bool)
    known = np.isin(feature[is_set], list(categories)).all()
    if fields.get("is_linear", "0") != "0" or not known or (~is_set & (kind & _MISSING == _ZERO_MISSING)).any():
        raise ValueError("only LightGBM trees with numeric splits, constant leaves and zeros as numbers can be read")
    children = {"left": numbers("left_child", np.int64), "right": numbers("right_child", np.int64)}
    n_inner, n_leaves = len(feature), len(value)
    # leaves follow the inner nodes
    children = {side: np.where(c >= 0, c, n_inner - 1 - c) for side, c in children.items()}
    rows = np.concatenate([numbers("internal_count", np.int64), np.zeros(n_leaves, np.int64)])
    if n_inner:
        rows[n_inner:] = numbers("leaf_count", np.int64)
    heavier_left = rows[children["left"]] >= rows[children["right"]] if n_inner else np.zeros(0, bool)
    missing_left = np.where(kind & _MISSING == _NAN_MISSING, (kind & _DEFAULT_LEFT).astype(bool), heavier_left)
    threshold = np.minimum(numbers("threshold", np.float64), np.finfo(float).max)  # infinite: all but what is missing
    sets = [_read_set(fields, int(threshold[k]), categories[int(feature[k])]) for k in np.flatnonzero(is_set)]
    size = np.zeros(n_inner + n_leaves, np.int32)
    for k, found in zip(np.flatnonzero(is_set), sets, strict=True):
        size[k] = categories[int(feature[k])].n
        if categories[int(feature[k])].has_missing:
            missing_left[k] = found[-1]
    threshold[is_set] = 0.0
    nowhere, zero = np.full(n_leaves, _NONE), np.zeros(n_leaves)
    return {
        "feature": np.concatenate([feature, nowhere]),
        "threshold": np.concatenate([threshold, zero]),
        "value": np.concatenate([np.zeros(n_inner), value]),
        **{side: np.concatenate([c, nowhere]) for side, c in children.items()},
        "missing_left": np.concatenate([missing_left, zero]),
        "set_size": size,
        "member": np.concatenate([np.zeros(0), *(found[:-1] for found in sets)]),
        "gain": np.concatenate([numbers("split_gain", np.float64), zero]),
    }


def _read_set(fields: Mapping[str, str], number: int, column: Categories) -> Bools:
    """Return which of the categories go left, and last whether a missing one does: bits of 32-bit words."""
    bounds = [int(text) for text in fields["cat_boundaries"].split()]
    words = np.array(fields["cat_threshold"].split()[bounds[number] : bounds[number + 1]], np.uint32)
    bits: Array = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little").astype(bool)
    out = np.zeros(column.n + 1, dtype=bool)
    out[: min(len(bits), len(out))] = bits[: len(out)]
    return out
