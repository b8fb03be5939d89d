"""Solr's learning to rank: a LinearModel or a MultipleAdditiveTreesModel, and the store of its features beside it."""

from __future__ import annotations

import json
from bisect import bisect_right
from pathlib import Path
from typing import Any

import numpy as np

from ..sweeps import Floats
from .forms import Feature
from .signals import EngineModel, Signal, engine_model, nested, signal_values, write_json
from .target import Job, Scored, Target
from .xgboost import below

_PACKAGE = "org.apache.solr.ltr"

_SLACK = np.float32(1e-6)
"""Solr adds this to every threshold that it reads, in single precision."""


def write(job: Job, path: Path) -> list[str]:
    """Write the model, and the feature store beside it."""
    found = engine_model(job.form)
    write_json(path, _model(job, found))
    beside = features_beside(path)
    write_json(beside, [_feature(signal, job.name) for signal in found.signals])
    return [
        f"send {beside.name} to /schema/feature-store and then {path.name} to /schema/model-store; features are read "
        "from fields of their names, which you may change there",
        *found.notes,
    ]


def features_beside(path: Path) -> Path:
    """Return where the features of a model stand."""
    return path.with_name(f"{path.stem}.features{path.suffix or '.json'}")


def _model(job: Job, found: EngineModel) -> dict[str, Any]:
    features: list[dict[str, Any]] = []
    for signal in found.signals:
        features.append({"name": signal.name})
        if signal.is_standardised:
            told = {"avg": _single(signal.mean), "std": _single(signal.scale)}
            features[-1]["norm"] = {"class": f"{_PACKAGE}.norm.StandardNormalizer", "params": told}
    if found.weights is not None:
        weights = {signal.name: float(w) for signal, w in zip(found.signals, found.weights, strict=True)}
        kind, params = "LinearModel", dict[str, Any](weights=weights)
    else:
        assert found.trees is not None
        names = [signal.name for signal in found.signals]
        trees = [{"weight": "1", "root": _node(tree, names)} for _, tree in nested(found.trees)]
        if found.constant or not trees:
            trees.append({"weight": "1", "root": {"value": _single(found.constant)}})
        kind, params = "MultipleAdditiveTreesModel", dict[str, Any](trees=trees)
    return {
        "store": job.name,
        "name": job.name,
        "class": f"{_PACKAGE}.model.{kind}",
        "features": features,
        "params": params,
    }


def _node(node: Any, names: list[str]) -> dict[str, Any]:
    if "value" in node:
        return {"value": _single(node["value"])}
    threshold = _single(before_slack(node["threshold"]))
    sides = {side: _node(node[side], names) for side in ("left", "right")}
    return {"feature": names[node["feature"]], "threshold": threshold, **sides}


def before_slack(threshold: float) -> float:
    """Return what to write, that Solr makes of it the largest number of single precision at or below a threshold.

    Some numbers cannot be made so: those near zero, and negative ones within a millionth of a power of two, where the
    numbers beyond lie half as dense. The largest that can is then less by two units in the last place of what is
    written.
    """
    wanted = below(threshold)
    # what Solr makes of a number never falls as the number rises
    place = bisect_right(_PLACES, wanted, key=lambda place: np.float32(_number_at(place) + _SLACK)) - 1
    return float(_number_at(_PLACES[place]))


_PLACES = range(-0x7F7FFFFF, 0x7F800000)
"""All finite numbers of single precision in their order, numbered so that zero is 0."""


def _number_at(place: int) -> np.float32:
    size = np.array(abs(place), np.uint32).view(np.float32)
    return np.float32(size if place >= 0 else -size)


def _single(value: float) -> str:
    """Write a number of single precision in as few digits as tell it from others."""
    return str(np.float32(value))


def _feature(signal: Signal, store: str) -> dict[str, Any]:
    kind, feature = "FieldValueFeature", signal.feature
    params: dict[str, Any] = {"field": signal.field}
    wanted = feature.values[0] if feature.kind == "category" else None
    if feature.kind == "number" and signal.absent:
        params["defaultValue"] = float(np.float32(signal.absent))
    elif feature.kind != "number" and wanted is None:
        kind, params = "SolrFeature", {"fq": [f"*:* -{_escaped(signal.field)}:[* TO *]"]}
    elif feature.kind != "number":
        kind, params = "SolrFeature", {"fq": [f"{{!term f={_escaped(signal.field)}}}{wanted}"]}
    return {"store": store, "name": signal.name, "class": f"{_PACKAGE}.feature.{kind}", "params": params}


def _escaped(field: str) -> str:
    """Return a field's name as a query takes it."""
    return "".join(letter if letter.isalnum() or letter in "_." else f"\\{letter}" for letter in field)


# --------------------------------------------------------------------------------------------------
# The check: Solr's arithmetic, from what stands in the two files.


def score(job: Job, path: Path, rows: Any) -> Scored:
    """Score rows by what Solr would make of the files."""
    found = engine_model(job.form)
    model = json.loads(path.read_text(encoding="utf-8"))
    store = {entry["name"]: entry for entry in json.loads(features_beside(path).read_text(encoding="utf-8"))}
    asked: list[tuple[Feature, float]] = []
    for signal, entry in zip(found.signals, model["features"], strict=True):
        told = store[entry["name"]]["params"]
        asked.append((signal.feature, float(told.get("defaultValue", 0.0))))
    x = signal_values(job.form, asked, rows)
    for place, entry in enumerate(model["features"]):
        if "norm" in entry:
            mean, scale = (np.float32(entry["norm"]["params"][name]) for name in ("avg", "std"))
            x[:, place] = (x[:, place] - mean) / scale
    total = np.zeros(len(x), np.float32)
    if "weights" in model["params"]:
        for place, entry in enumerate(model["features"]):
            total += x[:, place] * np.float32(model["params"]["weights"][entry["name"]])
        return Scored("a reader of Solr's files", total.astype(float) + found.constant)
    place_of = {entry["name"]: place for place, entry in enumerate(model["features"])}
    for tree in model["params"]["trees"]:
        total += np.float32(tree["weight"]) * _leaves(tree["root"], x, place_of)
    return Scored("a reader of Solr's files", total.astype(float))


def _leaves(node: dict[str, Any], x: Floats, place_of: dict[str, int]) -> Floats:
    if "value" in node:
        return np.full(len(x), np.float32(node["value"]))
    left = x[:, place_of[node["feature"]]] <= np.float32(np.float32(node["threshold"]) + _SLACK)
    return np.where(left, _leaves(node["left"], x, place_of), _leaves(node["right"], x, place_of))


TARGET = Target(
    name="solr",
    title="Solr's learning to rank",
    takes="linear models; trees without columns of categories, and steps",
    write=write,
    score=score,
    is_single=True,
    missing=False,
    nothing=float(_SLACK),
)
