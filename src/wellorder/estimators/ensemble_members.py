"""The members of an ensemble: given, or the small library that is taken where none are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from ..aggregation.table import read_ranker_weights
from ..order import Comparisons, Grades
from ..spaces.kernels import resolve_gamma
from ..sweeps import Floats
from .base_rankers import check_base
from .boosted_trees import BoostedTrees
from .compare_svm import CompareSVM
from .order_boost import OrderBoost
from .out_of_fold import Members
from .rank_svm import RankSVM
from .ridge_ranker import RidgeRanker

_MOST_KERNEL_ROWS = 3_000
_MOST_COLUMNS = 2_000
_FEWEST_ROWS = 60
"""Trees want 20 rows on either side of a split."""


def named(estimators: Any) -> dict[str, Any]:
    """Return the members by name; none where the list is not one, which :func:`check_members` will say."""
    try:
        return dict(estimators)
    except (TypeError, ValueError):
        return {}


def check_members(estimators: Any, reserved: set[str]) -> Members:
    """Return copies of the members that were given, and refuse what cannot be one."""
    is_list = isinstance(estimators, list | tuple) and len(estimators) > 0
    if not is_list or any(not isinstance(each, list | tuple) or len(each) != 2 for each in estimators):
        raise ValueError(f"estimators must be a list of (name, ranker) pairs, got {estimators!r}")
    names = [name for name, _ in estimators]
    for name in names:
        if not isinstance(name, str) or "__" in name or name in reserved:
            raise ValueError(f"{name!r} cannot name a member; use text without '__' that is no parameter's name")
    if len(set(names)) < len(names):
        raise ValueError(f"the names of the members are not all different: {names}")
    members = []
    for name, member in estimators:
        if member is None:
            raise TypeError(f"the member {name!r} is None; give a ranker, such as RankSVM()")
        try:
            members.append((name, check_base(member)))
        except (TypeError, ValueError) as error:
            raise type(error)(f"the member {name!r} of the ensemble: {error}") from None
    return members


def default_members(X: Any, order: Grades | Comparisons, seed: int) -> Members:
    """Return a small library that suits the data; columns should be scaled alike.

    Linear, Gaussian kernels of three widths, trees, and least squares: of each the settings that are best most often,
    and the weights choose among them. Kernels of many rows go through 300 landmarks; many columns have linear members
    only.
    """
    n, d = X.shape
    compared = isinstance(order, Comparisons)
    balance = "groups" if isinstance(order, Grades) and order.group is not None else "pairs"
    members: list[tuple[str, Any]] = [("rank-svm", RankSVM())]
    if compared:
        members += [("rank-svm-weak", RankSVM(C=0.01)), ("compare-svm", CompareSVM(loss="squared_hinge"))]
    else:
        members.append(("ridge-on-ranks", RidgeRanker(on="ranks")))
    if d > _MOST_COLUMNS:
        return members
    unit, landmarks = resolve_gamma("scale", X), None if n <= _MOST_KERNEL_ROWS else 300
    for name, C, width in (("rbf", 1.0, 1.0), ("rbf-wide", 10.0, 0.3), ("rbf-widest", 100.0, 0.1)):
        kernel = RankSVM(C, kernel="rbf", gamma=width * unit, n_components=landmarks, random_state=seed)
        members.append((name, kernel))
    if n < _FEWEST_ROWS:
        return members
    shape: dict[str, Any] = {"learner": "tree", "balance": balance, "random_state": seed}
    members.append(("trees", OrderBoost(max_leaf_nodes=7, n_estimators=100, **shape)))
    members.append(("large-trees", OrderBoost(max_leaf_nodes=31, n_estimators=200, **shape)))
    if not compared:
        options = {"n_estimators": 100, "random_state": seed}
        members.append(("trees-on-ranks", BoostedTrees("ranks", max_leaf_nodes=31, **options)))
    return members


def read_member_weights(weights: Any, names: list[str]) -> Floats:
    """Read weights that were given, by name or in the order of the members; they add up to 1."""
    if isinstance(weights, Mapping):
        if set(weights) != set(names):
            raise ValueError(f"weights are for {sorted(map(str, weights))}; give one for each of {names}")
        weights = [weights[name] for name in names]
    values = read_ranker_weights(weights, len(names))
    return np.asarray(values / values.sum())


def input_tag(estimators: Any, name: str) -> bool:
    """Say whether all members take such rows: ``sparse`` or ``allow_nan``."""
    if estimators is None:
        return name == "sparse"
    return all(bool(getattr(get_tags(member).input_tags, name)) for member in named(estimators).values())
