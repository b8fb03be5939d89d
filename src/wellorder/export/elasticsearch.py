"""The learning-to-rank plugins of Elasticsearch and OpenSearch, and RankLib's XML, which they read as well.

One body for ``_createmodel`` (a linear model, or trees in the JSON that XGBoost dumps), and one for the feature set.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..sweeps import Floats
from .forms import ExportError
from .signals import EngineModel, Signal, engine_model, nested, signal_values, write_json
from .solr import features_beside
from .target import Job, Scored, Target
from .xgboost import above, below


def write(job: Job, path: Path) -> list[str]:
    """Write the model's body, and that of its features beside it."""
    found = engine_model(job.form)
    names = [signal.name for signal in found.signals]
    if found.weights is not None:
        kind = "model/linear"
        definition: Any = dict(zip(names, map(_single, found.weights.tolist()), strict=True))
    else:
        assert found.trees is not None
        kind, definition = "model/xgboost+json", _dump(found, names)
    body: dict[str, Any] = {"name": job.name, "model": {"type": kind, "definition": json.dumps(definition)}}
    normal = {
        signal.name: {"standard": {"mean": _single(signal.mean), "standard_deviation": _single(signal.scale)}}
        for signal in found.signals
        if signal.is_standardised
    }
    if normal:
        body["model"]["feature_normalizers"] = normal
    write_json(path, {"model": body})
    beside = features_beside(path)
    features = [_feature(signal) for signal in found.signals]
    write_json(beside, {"featureset": {"name": job.name, "features": features}})
    return [
        f"send {beside.name} to _ltr/_featureset/{job.name} and then {path.name} to "
        f"_ltr/_featureset/{job.name}/_createmodel; features are read from fields of their names, which you may change "
        "there; what a field_value_factor reads must not be below 0",
        *found.notes,
    ]


def _single(value: float) -> float:
    """Return a number of single precision as the double that is written in as few digits."""
    return float(str(np.float32(value)))


def _feature(signal: Signal) -> dict[str, Any]:
    """Return the query whose score is the signal."""
    field, feature = signal.field, signal.feature
    wanted = feature.values[0] if feature.kind == "category" else None
    if feature.kind == "number":
        factor = {"field": field, "missing": _single(signal.absent)}
        template: dict[str, Any] = {"function_score": {"query": {"match_all": {}}, "field_value_factor": factor}}
    elif wanted is None:
        absent = {"bool": {"must_not": {"exists": {"field": field}}}}
        template = {"constant_score": {"filter": absent, "boost": 1.0}}
    else:
        template = {"constant_score": {"filter": {"term": {field: wanted}}, "boost": 1.0}}
    return {"name": signal.name, "params": [], "template_language": "mustache", "template": template}


def _dump(found: EngineModel, names: list[str]) -> list[dict[str, Any]]:
    """Return trees as XGBoost dumps them: "yes" where a signal is below the condition."""
    assert found.trees is not None
    dumped = []
    for root, tree in nested(found.trees):
        numbers = iter(range(len(found.trees.feature)))
        del root
        dumped.append(_dumped(tree, names, numbers, 0))
    if found.constant or not dumped:
        dumped.append({"nodeid": 0, "leaf": _single(found.constant)})
    return dumped


def _dumped(node: Any, names: list[str], numbers: Any, depth: int) -> dict[str, Any]:
    own = next(numbers)
    if "value" in node:
        return {"nodeid": own, "leaf": _single(node["value"])}
    children = [_dumped(node[side], names, numbers, depth + 1) for side in ("left", "right")]
    yes, no = (child["nodeid"] for child in children)
    told = {"nodeid": own, "depth": depth, "split": names[node["feature"]]}
    return {
        **told,
        "split_condition": _single(above(node["threshold"])),
        "yes": yes,
        "no": no,
        "missing": yes,
        "children": children,
    }


def score(job: Job, path: Path, rows: Any) -> Scored:
    """Score rows by what the plugin would make of the two bodies."""
    found = engine_model(job.form)
    body = json.loads(path.read_text(encoding="utf-8"))["model"]["model"]
    entries = json.loads(features_beside(path).read_text(encoding="utf-8"))["featureset"]["features"]
    names = [entry["name"] for entry in entries]
    asked = [
        (
            signal.feature,
            float(entry["template"].get("function_score", {}).get("field_value_factor", {}).get("missing", 0.0)),
        )
        for signal, entry in zip(found.signals, entries, strict=True)
    ]
    x = signal_values(job.form, asked, rows)
    for name, told in body.get("feature_normalizers", {}).items():
        mean, scale = (np.float32(told["standard"][key]) for key in ("mean", "standard_deviation"))
        place = names.index(name)
        x[:, place] = (x[:, place] - mean) / scale
    definition, total = json.loads(body["definition"]), np.zeros(len(x), np.float32)
    if body["type"] == "model/linear":
        for place, name in enumerate(names):
            total += x[:, place] * np.float32(definition[name])
        return Scored("a reader of the plugin's JSON", total.astype(float) + found.constant)
    place_of = {name: place for place, name in enumerate(names)}
    for tree in definition:
        total += _leaves(tree, x, place_of)
    return Scored("a reader of the plugin's JSON", total.astype(float))


def _leaves(node: dict[str, Any], x: Floats, place_of: dict[str, int]) -> Floats:
    if "leaf" in node:
        return np.full(len(x), np.float32(node["leaf"]))
    child = {each["nodeid"]: each for each in node["children"]}
    yes = np.float32(node["split_condition"]) > x[:, place_of[node["split"]]]
    return np.where(yes, _leaves(child[node["yes"]], x, place_of), _leaves(child[node["no"]], x, place_of))


# --------------------------------------------------------------------------------------------------
# RankLib's own file: features are numbers, from 1 on.


def write_ranklib(job: Job, path: Path) -> list[str]:
    """Write trees as RankLib saves them."""
    found = engine_model(job.form)
    if found.trees is None:
        raise ExportError("RankLib's file is written for trees; a linear model can go to='elasticsearch' or to='solr'")
    number_of = {place: job.form.columns[s.feature.column].place + 1 for place, s in enumerate(found.signals)}
    if any(signal.feature.kind != "number" for signal in found.signals):
        raise ExportError("RankLib's features are columns of numbers; fit on such, or export to='elasticsearch'")
    ensemble = ET.Element("ensemble")
    roots = [tree for _, tree in nested(found.trees)]
    if found.constant or not roots:
        roots.append({"value": found.constant})
    for number, tree in enumerate(roots):
        element = ET.SubElement(ensemble, "tree", id=str(number + 1), weight="1.0")
        _split(element, tree, number_of)
    text = ET.tostring(ensemble, encoding="unicode")
    path.write_text(f"## LambdaMART\n## No. of trees = {len(roots)}\n\n{text}\n", encoding="utf-8")
    told = ", ".join(f"{number_of[place]}: {signal.name}" for place, signal in list(enumerate(found.signals))[:5])
    return [f"features are numbered by their columns, from 1 on ({told}, …)", *found.notes]


def _split(parent: ET.Element, node: Any, number_of: dict[int, int], pos: str | None = None) -> None:
    element = ET.SubElement(parent, "split") if pos is None else ET.SubElement(parent, "split", pos=pos)
    if "value" in node:
        ET.SubElement(element, "output").text = f" {np.float32(node['value'])} "
        return
    ET.SubElement(element, "feature").text = f" {number_of[node['feature']]} "
    ET.SubElement(element, "threshold").text = f" {np.float32(below(node['threshold']))} "
    for side in ("left", "right"):
        _split(element, node[side], number_of, side)


def score_ranklib(job: Job, path: Path, rows: Any) -> Scored:
    """Score rows by what stands in the file."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("##")]
    signals = engine_model(job.form).signals
    x = signal_values(job.form, [(signal.feature, 0.0) for signal in signals], rows)
    place_of = {job.form.columns[signal.feature.column].place + 1: place for place, signal in enumerate(signals)}
    total = np.zeros(len(x), np.float32)
    for tree in ET.fromstring("\n".join(lines)).iter("tree"):
        weight = np.float32(tree.attrib["weight"])
        total += weight * _outputs(tree[0], x, place_of)
    return Scored("a reader of RankLib's XML", total.astype(float))


def _outputs(element: ET.Element, x: Floats, place_of: dict[int, int]) -> Floats:
    output = element.find("output")
    if output is not None:
        return np.full(len(x), np.float32(str(output.text).strip()))
    place = place_of[int(str(element.findtext("feature")))]
    left = x[:, place] <= np.float32(str(element.findtext("threshold")).strip())
    side = {split.attrib["pos"]: split for split in element.findall("split")}
    return np.where(left, _outputs(side["left"], x, place_of), _outputs(side["right"], x, place_of))


TARGET = Target(
    name="elasticsearch",
    title="Elasticsearch's learning-to-rank plugin",
    takes="linear models; trees without columns of categories, and steps",
    write=write,
    score=score,
    is_single=True,
    missing=False,
)

OPENSEARCH = replace(TARGET, name="opensearch", title="OpenSearch's learning-to-rank plugin")

RANKLIB = Target(
    name="ranklib",
    title="RankLib, and what reads its XML",
    takes="trees over columns of numbers, and steps",
    write=write_ranklib,
    score=score_ranklib,
    ending=".xml",
    is_single=True,
    missing=False,
)
