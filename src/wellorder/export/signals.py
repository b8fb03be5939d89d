"""What search engines' rankers have in common: named signals of a document in single precision, none of them missing.

A signal is read from a field, or says whether a field has a value, and may be standardised; a model is weights of
signals, or trees over them. Where a field is absent the engine takes a value that is told beforehand: for a linear
model what filling in means, for trees, where there is one, a number that goes the ways of a missing one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..sweeps import Array, Floats
from .forms import ExportError, Feature, Form, InputColumn, Trees, read_rows
from .lightgbm import feature_name
from .one_kind import kind_of, linear_of, trees_of
from .xgboost import refuse_sets

_NOTED = 1e-4
"""A constant is mentioned if it is not negligible beside the weights."""

_FURTHEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Signal:
    """A number of a document.

    Attributes
    ----------
    name, field : str
    feature : Feature
        Of one of the form's columns; "number", "missing" or "category".
    absent : float
        What it is where the field has no value.
    mean, scale : float
        It is standardised by these, in single precision.
    """

    name: str
    field: str
    feature: Feature
    absent: float = 0.0
    mean: float = 0.0
    scale: float = 1.0

    @property
    def is_standardised(self) -> bool:
        """Whether there is anything to standardise."""
        return (self.mean, self.scale) != (0.0, 1.0)


@dataclass(frozen=True)
class EngineModel:
    """Signals with weights, or with trees over them; scores are ``constant`` higher than what the engine computes."""

    signals: tuple[Signal, ...]
    weights: Floats | None
    trees: Trees | None
    constant: float
    notes: tuple[str, ...]


def engine_model(form: Form) -> EngineModel:
    """Return a model as search engines take it."""
    notes = ["the engine computes in single precision, and its scores differ in the seventh digit"]
    if kind_of(form.score) == "linear":
        of_weights, weights, constant = linear_of(form.score)
        kept = np.flatnonzero(weights)
        features, weights = [of_weights[k] for k in kept.tolist()], weights[kept]
        signals = tuple(map(_standardised, features, _names(features, form.columns), _fields(features, form.columns)))
        if not signals:
            raise ExportError("all its weights are zero: there is nothing to rank by")
        signals, weights, moved = _in_single(signals, weights)
        constant += moved
        if abs(constant) > _NOTED * np.abs(weights).sum():
            notes.append(f"scores are {constant:.6g} lower than the model's: the order is the same")
        return EngineModel(signals, weights, None, constant, tuple(notes))
    of_trees, trees, constant = trees_of(form.score)
    refuse_sets(trees, "fit a linear model, which makes a column of 0 and 1 of each category, or make such columns")
    used = np.unique(trees.feature[trees.left >= 0]).astype(np.int64)
    place = np.full(len(of_trees) + 1, -1)
    place[used] = np.arange(len(used))
    features = [of_trees[k] for k in used.tolist()]
    absent, lost = (
        zip(*(_stand_in(trees, k, of_trees[k]) for k in used.tolist()), strict=True) if len(used) else ((), ())
    )
    names, fields = _names(features, form.columns), _fields(features, form.columns)
    signals = tuple(map(Signal, names, fields, features, absent))
    ambiguous = [name for name, is_lost in zip(names, lost, strict=True) if is_lost and trees.takes_missing]
    if ambiguous:
        notes.append(
            f"no number goes all the ways of a missing {ambiguous[0]!r}"
            f"{f' and {len(ambiguous) - 1} more' if len(ambiguous) > 1 else ''}: documents without it are scored as if "
            "it were 0; give every document a value"
        )
    return EngineModel(signals, None, replace(trees, feature=place[trees.feature]), constant, tuple(notes))


def _in_single(signals: tuple[Signal, ...], weights: Floats) -> tuple[tuple[Signal, ...], Floats, float]:
    """Round means and scales as the engine does; return what makes up for it in the weights, and in the constant."""
    mean, scale = (np.array([getattr(signal, name) for signal in signals]) for name in ("mean", "scale"))
    near, wide = mean.astype(np.float32).astype(float), scale.astype(np.float32).astype(float)
    rounded = (replace(each, mean=float(m), scale=float(s)) for each, m, s in zip(signals, near, wide, strict=True))
    return tuple(rounded), weights * wide / scale, float(np.sum(weights * (near - mean) / scale))


def _fields(features: Sequence[Feature], columns: Sequence[InputColumn]) -> list[str]:
    return [columns[feature.column].name for feature in features]


def _names(features: Sequence[Feature], columns: Sequence[InputColumn]) -> list[str]:
    """Return a name for each; no two are the same."""
    found: list[str] = []
    for feature in features:
        name = first = feature_name(feature, columns)
        number = 1
        while name in found:
            number += 1
            name = f"{first} ({number})"
        found.append(name)
    return found


def _standardised(feature: Feature, name: str, field: str) -> Signal:
    """Return a feature of steps as a signal: x · factor + shift is (x − mean) / scale."""
    mean, scale, fill = 0.0, 1.0, None
    for step in feature.steps:
        match step.kind:
            case "minus":
                mean += scale * step.value
            case "plus":
                mean -= scale * step.value
            case "over":
                scale *= step.value
            case "times" if step.value:
                scale /= step.value
            case "fill":
                fill = mean + scale * step.value if fill is None else fill
            case _:
                raise ExportError(f"its column {field!r} is clipped before it is weighed, which search engines cannot")
    if not scale > 0:
        raise ExportError(f"its column {field!r} is turned round before it is weighed; scale by positive numbers")
    return Signal(name, field, replace(feature, steps=()), fill or 0.0, mean, scale)


def _stand_in(trees: Trees, place: int, feature: Feature) -> tuple[float, bool]:
    """Return a number that goes where missing values go, and whether there is none: then 0."""
    if feature.kind != "number":
        return 0.0, False
    at = (trees.left >= 0) & (trees.feature == place)
    left = trees.missing_left[at]
    high = float(trees.threshold[at][left].min(initial=np.inf))  # to the left: at most the least of these
    low = float(trees.threshold[at][~left].max(initial=-np.inf))  # to the right: above the largest of these
    if low < 0.0 <= high:
        return 0.0, False
    if low >= high:
        return 0.0, True
    if np.isinf(high):
        return min(float(np.nextafter(np.float32(low), np.float32(np.inf))) + abs(low), _FURTHEST), False
    if np.isinf(low):
        return max(float(np.float32(high)) - abs(high), -_FURTHEST), False
    middle = float(np.float32(0.5 * low + 0.5 * high))
    return (middle, False) if low < middle <= high else (0.0, True)


def signal_values(form: Form, signals: Sequence[tuple[Feature, float]], rows: Any) -> Floats:
    """Return what an engine finds of rows that are documents: in single precision, absent ones replaced."""
    columns = read_rows(form, rows)
    out = np.empty((len(columns[0]), len(signals)), np.float32)
    for place, (feature, absent) in enumerate(signals):
        out[:, place] = _signal(feature, absent, columns[feature.column])
    return out


def _signal(feature: Feature, absent: float, values: Array) -> Array:
    is_text = values.dtype.kind == "O"
    missing = np.array([value is None for value in values]) if is_text else np.isnan(values)
    if feature.kind == "number":
        return np.where(missing, absent, values)
    wanted = feature.values[0] if feature.kind == "category" else None
    return missing if wanted is None else np.array([value == wanted for value in values])


def nested(trees: Trees) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the place of each tree's root, and the tree as nested mappings: feature, threshold, left, right; or value.

    Thresholds are in double precision, as the model has them.
    """
    ends = [*trees.roots[1:].tolist(), len(trees.feature)]
    for root, end in zip(trees.roots.tolist(), ends, strict=True):
        made: dict[int, dict[str, Any]] = {}
        for node in range(end - 1, root - 1, -1):  # children stand behind their parents
            if trees.left[node] < 0:
                made[node] = {"value": float(trees.value[node])}
                continue
            children = {side: made[int(getattr(trees, side)[node])] for side in ("left", "right")}
            made[node] = {"feature": int(trees.feature[node]), "threshold": float(trees.threshold[node]), **children}
        yield root, made[root]


def write_json(path: Path, document: Any) -> None:
    """Write what an engine is to be sent."""
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
