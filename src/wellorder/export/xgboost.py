"""XGBoost's own JSON: trees that ``xgboost.Booster.load_model`` reads, in its single precision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..sweeps import Floats, Ints
from .forms import ExportError, Feature, Trees, feature_values, read_rows
from .lightgbm import feature_names
from .one_kind import kind_of, trees_of
from .target import Job, Scored, Target


def write(job: Job, path: Path) -> list[str]:
    """Write trees as JSON."""
    form = job.form
    if kind_of(form.score) != "trees":
        raise ExportError("XGBoost's file is written for trees; a linear model can go to='onnx' or to='sql'")
    features, trees, constant = trees_of(form.score)
    refuse_sets(trees, "export to='lightgbm', which has sets, or fit on columns of 0 and 1")
    names = feature_names(features, form.columns)
    made = [_tree(trees, number, root, len(names)) for number, root in enumerate(trees.roots.tolist())]
    path.write_text(json.dumps(_document(made, names, constant)), encoding="utf-8")
    return [
        "XGBoost keeps numbers in single precision: rows of such numbers go the same ways as in the model",
        "features go by name: xgboost.DMatrix(X, feature_names=booster.feature_names), or a frame with these columns",
    ]


def score(job: Job, path: Path, rows: Any) -> Scored:
    """Score rows by XGBoost where it is installed; else read the file here."""
    features, _, _ = trees_of(job.form.score)
    x = feature_values(features, read_rows(job.form, rows)).astype(np.float32)
    try:
        import xgboost
    except ImportError:
        return Scored("a reader of the file's own", _read_scores(path, x))
    booster = xgboost.Booster(params={"nthread": 1})
    booster.load_model(bytearray(path.read_bytes()))  # by what it holds, whatever it is called
    found = booster.predict(xgboost.DMatrix(x, feature_names=booster.feature_names), output_margin=True)
    return Scored(f"XGBoost {xgboost.__version__}", np.asarray(found, dtype=float))


def refuse_sets(trees: Trees, way_out: str) -> None:
    """Refuse columns of categories, which the target's trees do not have."""
    if trees.has_sets:
        raise ExportError(
            f"its trees split columns of categories into sets, and this target's trees compare numbers alone; {way_out}"
        )


def below(threshold: Any) -> Any:
    """Return the largest number of single precision at or below each threshold: the same ones of them go left."""
    wanted = np.asarray(threshold, dtype=float)
    with np.errstate(over="ignore"):
        near = wanted.astype(np.float32)
        lower = np.nextafter(near, np.float32(-np.inf))
    out = np.where(near.astype(float) > wanted, lower, near)
    return np.clip(out, np.finfo(np.float32).min, np.finfo(np.float32).max).astype(np.float32)


def above(threshold: Any) -> Any:
    """Return the least number of single precision above each threshold: x < that is x <= threshold."""
    largest = np.finfo(np.float32).max
    with np.errstate(over="ignore"):
        return np.minimum(np.nextafter(below(threshold), np.float32(np.inf)), largest)


def _side_by_side(trees: Trees, root: int) -> Ints:
    """Return the nodes of a tree in an order in which children stand side by side: XGBoost's walk relies on it."""
    nodes = [root]
    for node in nodes:  # grows on the way
        if trees.left[node] >= 0:
            nodes += [int(trees.left[node]), int(trees.right[node])]
    return np.array(nodes)


def _tree(trees: Trees, number: int, root: int, n_features: int) -> dict[str, Any]:
    nodes = _side_by_side(trees, root)
    place = dict(zip(nodes.tolist(), range(len(nodes)), strict=True))
    left, right = (
        np.array([place.get(child, -1) for child in side[nodes].tolist()]) for side in (trees.left, trees.right)
    )
    inner = left >= 0
    parents = np.full(len(nodes), 2**31 - 1)
    parents[left[inner]] = parents[right[inner]] = np.flatnonzero(inner)
    conditions = np.where(inner, above(trees.threshold[nodes]), trees.value[nodes].astype(np.float32))
    n, zeros = len(nodes), [0.0] * len(nodes)
    return {
        "base_weights": trees.value[nodes].astype(np.float32).astype(float).tolist(),
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": trees.missing_left[nodes].astype(int).tolist(),
        "id": number,
        "left_children": left.tolist(),
        "loss_changes": zeros,
        "parents": parents.tolist(),
        "right_children": right.tolist(),
        "split_conditions": conditions.astype(float).tolist(),
        "split_indices": np.where(inner, trees.feature[nodes], 0).tolist(),
        "split_type": [0] * n,
        "sum_hessian": zeros,
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_features),
            "num_nodes": str(n),
            "size_leaf_vector": "1",
        },
    }


def _document(trees: list[dict[str, Any]], names: Sequence[str], constant: float) -> dict[str, Any]:
    n = len(trees)
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(n)},
        "iteration_indptr": list(range(n + 1)),
        "tree_info": [0] * n,
        "trees": trees,
    }
    learner = {
        "attributes": {},
        "feature_names": list(names),
        "feature_types": ["float"] * len(names),
        "gradient_booster": {"model": model, "name": "gbtree"},
        "learner_model_param": {
            "base_score": str(np.float32(constant)),  # XGBoost 3.0 reads no more digits than a number of its own has
            "boost_from_average": "0",
            "num_class": "0",
            "num_feature": str(len(names)),
            "num_target": "1",
        },
        "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
    }
    return {"learner": learner, "version": [2, 1, 0]}


def _read_scores(path: Path, x: Floats) -> Floats:
    """Score rows by what stands in the file."""
    learner = json.loads(path.read_text(encoding="utf-8"))["learner"]
    total = np.full(len(x), np.float32(learner["learner_model_param"]["base_score"]))
    for tree in learner["gradient_booster"]["model"]["trees"]:
        left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
        condition, feature = np.array(tree["split_conditions"], np.float32), np.array(tree["split_indices"])
        missing_left, at = np.array(tree["default_left"], bool), np.zeros(len(x), np.int64)
        while (inner := left[at] >= 0).any():
            node = at[inner]
            value = x[np.flatnonzero(inner), feature[node]]
            goes = np.where(np.isnan(value), missing_left[node], value < condition[node])
            at[inner] = np.where(goes, left[node], right[node])
        total = total + condition[at]
    return np.asarray(total, dtype=float)


TARGET = Target(
    name="xgboost",
    title="XGBoost",
    takes="trees without columns of categories, and steps",
    write=write,
    score=score,
    is_single=True,
)

__all__ = ["TARGET", "Feature", "above", "below", "refuse_sets"]
