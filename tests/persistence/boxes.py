"""Take model files apart and put them together wrongly."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import wellorder as wo

X = np.column_stack([np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 4])
Y = np.arange(30) % 3


def rich_model():
    """A pipeline with every kind of value that a file can hold."""
    columns = make_column_transformer(
        (OneHotEncoder(min_frequency=7, drop="first", handle_unknown="ignore"), [2]), (StandardScaler(), slice(0, 2))
    )
    model = make_pipeline(columns, wo.RankSVM(order=wo.OrderGraph.chain([0, 1, 2]))).fit(X, Y)
    vars(model[-1]).update(
        random_state=np.random.RandomState(0),
        levels=None,
        extra_=[
            {(0, 2): wo.RankSVM().fit(X, Y)}, {1, 2}, b"bytes", 2**70, float("nan"), np.float32(1.5), np.dtype("f4"),
            float,
            np.array(["a", None], object), np.zeros(2, [("a", "i4"), ("b", "U2")]), wo.OrderGraph.full(["x", "y"]),
            wo.OrderGraph.from_scale([1, 1], [0, 2]), np.asfortranarray(X), np.array([True]), np.array(["é"]),
        ],
    )  # fmt: skip
    return model


def take_apart(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("manifest.json")), members


def put_together(manifest, members, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr("manifest.json", manifest if isinstance(manifest, str) else json.dumps(manifest))
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()
