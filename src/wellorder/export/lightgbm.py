"""LightGBM's own text: trees that ``lightgbm.Booster(model_file=…)`` reads, missing values and categories included."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .forms import ExportError, Feature, InputColumn, Trees, feature_values, read_rows
from .one_kind import kind_of, trees_of
from .target import Job, Scored, Target

_CATEGORY, _LEFT, _NAN = 1, 2, 8
"""Bits of ``decision_type``: the split is by a set of categories; missing values go left; NaN means missing."""

_BITS = 32


def write(job: Job, path: Path) -> list[str]:
    """Write trees as text."""
    form = job.form
    if kind_of(form.score) != "trees":
        raise ExportError("LightGBM's file holds trees alone; a linear model can go to='onnx' or to='sql'")
    features, trees, constant = trees_of(form.score)
    names = feature_names(features, form.columns)
    blocks = [_tree(trees, number, root, end) for number, (root, end) in enumerate(_spans(trees))]
    if constant or not blocks:
        blocks.append(_leaf(len(blocks), constant))
    codes = [[str(value) for value in feature.values] for feature in features if feature.kind == "code"]
    path.write_text(_header(names, features, blocks) + "".join(blocks) + _end(codes), encoding="utf-8")
    notes = []
    if any(feature.kind == "code" for feature in features):
        notes.append(
            "columns of categories are numbers, in the order of the file's last line: a pandas frame of categorical "
            "columns is coded so by LightGBM itself"
        )
    return notes


def score(job: Job, path: Path, rows: Any) -> Scored:
    """Score rows by LightGBM."""
    import lightgbm

    features, _, _ = trees_of(job.form.score)
    x = feature_values(features, read_rows(job.form, rows))
    booster = lightgbm.Booster(model_file=str(path))
    found = booster.predict(x, raw_score=True, num_threads=1)
    return Scored(f"LightGBM {lightgbm.__version__}", np.asarray(found, dtype=float))


def feature_names(features: Sequence[Feature], columns: Sequence[InputColumn]) -> list[str]:
    """Return a name for each feature, without blanks and what LightGBM and XGBoost refuse; no two are the same."""
    found: list[str] = []
    for feature in features:
        name = re.sub(r"[^\w.=+/%-]", "_", feature_name(feature, columns)) or "_"
        number, first = 1, name
        while name in found:
            number += 1
            name = f"{first}_{number}"
        found.append(name)
    return found


def feature_name(feature: Feature, columns: Sequence[InputColumn]) -> str:
    """Return what a feature is called: as in a table's encoder."""
    name = columns[feature.column].name
    if feature.kind == "missing" or (feature.kind == "category" and feature.values[0] is None):
        return f"{name} is missing"
    return f"{name}={feature.values[0]}" if feature.kind == "category" else name


def _spans(trees: Trees) -> list[tuple[int, int]]:
    ends = [*trees.roots[1:].tolist(), len(trees.feature)]
    return list(zip(trees.roots.tolist(), ends, strict=True))


def _numbers(values: Any) -> str:
    return " ".join(str(value) for value in values)


def _tree(trees: Trees, number: int, root: int, end: int) -> str:
    """Write one tree: inner nodes and leaves are numbered each by themselves, leaf k as the child −1 − k."""
    nodes = np.arange(root, end)
    inner, leaf = nodes[trees.left[nodes] >= 0], nodes[trees.left[nodes] < 0]
    if not len(inner):
        return _leaf(number, float(trees.value[root]))
    place = np.zeros(end, np.int64)
    place[inner], place[leaf] = np.arange(len(inner)), -1 - np.arange(len(leaf))
    threshold, kind, left, right = [], [], [], []
    bounds, words = [0], []
    for node in inner.tolist():
        low, high = int(place[trees.left[node]]), int(place[trees.right[node]])
        if trees.set_size[node]:
            members = trees.left_set(node)
            if trees.missing_left[node]:  # LightGBM sends what is missing, and what is no category, to the right
                members = sorted(set(range(int(trees.set_size[node]))) - set(members))
                low, high = high, low
            threshold.append(str(len(bounds) - 1))
            words += _words(members)
            bounds.append(len(words))
            kind.append(_CATEGORY | _NAN)
        else:
            threshold.append(repr(float(trees.threshold[node])))
            kind.append(_NAN | _LEFT * bool(trees.missing_left[node]))
        left.append(low)
        right.append(high)
    lines = {
        "num_leaves": len(leaf),
        "num_cat": len(bounds) - 1,
        "split_feature": _numbers(trees.feature[inner].tolist()),
        "split_gain": _numbers([1] * len(inner)),
        "threshold": " ".join(threshold),
        "decision_type": _numbers(kind),
        "left_child": _numbers(left),
        "right_child": _numbers(right),
        "leaf_value": _numbers(map(repr, trees.value[leaf].tolist())),
        "leaf_weight": _numbers([1] * len(leaf)),
        "leaf_count": _numbers([1] * len(leaf)),
        "internal_value": _numbers([0] * len(inner)),
        "internal_weight": _numbers([1] * len(inner)),
        "internal_count": _numbers([1] * len(inner)),
    }
    if len(bounds) > 1:
        lines |= {"cat_boundaries": _numbers(bounds), "cat_threshold": _numbers(words)}
    return _block(number, lines)


def _words(members: list[int]) -> list[int]:
    """Return a set as bits of 32-bit words."""
    words = [0] * (max(members, default=0) // _BITS + 1)
    for member in members:
        words[member // _BITS] |= 1 << (member % _BITS)
    return words


def _leaf(number: int, value: float) -> str:
    return _block(number, {"num_leaves": 1, "num_cat": 0, "leaf_value": repr(float(value))})


def _block(number: int, lines: dict[str, Any]) -> str:
    body = "\n".join(f"{name}={value}" for name, value in (lines | {"is_linear": 0, "shrinkage": 1}).items())
    return f"Tree={number}\n{body}\n\n\n"


def _header(names: list[str], features: Sequence[Feature], blocks: list[str]) -> str:
    infos = [":".join(map(str, range(len(f.values)))) if f.kind == "code" else "[-inf:inf]" for f in features]
    lines = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={len(names) - 1}",
        "objective=custom",
        f"feature_names={' '.join(names)}",
        f"feature_infos={' '.join(infos)}",
        f"tree_sizes={_numbers(len(block.encode()) for block in blocks)}",
        "",
        "",
    ]
    return "\n".join(lines)


def _end(codes: list[list[str]]) -> str:
    told = json.dumps(codes) if codes else "null"
    return f"end of trees\n\nfeature_importances:\n\nparameters:\nend of parameters\n\npandas_categorical:{told}\n"


TARGET = Target(
    name="lightgbm",
    title="LightGBM",
    takes="trees and steps",
    write=write,
    score=score,
    nothing=float(np.float32(1e-35)),
)
