"""Thousands of damaged files: each gives a model or a ModelFileError, and nothing else."""

from __future__ import annotations

import copy
import json
import random
import warnings
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, strategies as st

import wellorder as wo
from wellorder.persistence import ModelFileError, ModelFileWarning

from .boxes import X, put_together, rich_model, take_apart


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    model = rich_model()
    wo.save(model, folder / "good.wo")
    return folder / "bad.wo", (folder / "good.wo").read_bytes(), model.decision_function(X)


def try_to_load(path, content):
    """Return the model, or None where the file is refused; anything else that is raised fails the test."""
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelFileWarning)
        try:
            return wo.load(path)
        except ModelFileError:
            return None


def test_flipped_bytes_give_an_error_or_the_same_model(good):
    path, content, scores = good
    source = random.Random(0)
    loaded = 0
    for _ in range(2000):
        damaged = bytearray(content)
        for _ in range(source.choice((1, 1, 1, 2, 5))):
            damaged[source.randrange(len(damaged))] ^= 1 << source.randrange(8)
        model = try_to_load(path, bytes(damaged))
        if model is not None:
            loaded += 1
            assert np.array_equal(model.decision_function(X), scores)
    assert loaded < 400  # what is left is dates and flags of the container


def test_cut_and_stuffed_files(good):
    path, content, _ = good
    source = random.Random(1)
    for _ in range(1000):
        start, stop = sorted(source.randrange(len(content)) for _ in range(2))
        filling = source.choice((b"", bytes(stop - start), source.randbytes(9), content[:50]))
        try_to_load(path, content[:start] + filling + content[stop:])


def places(value, found):
    """List every (container, key) of a JSON value."""
    for key in value if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            places(value[key], found)
    return found


ODD = [
    None, True, 0, -1, 2**62, 10**30, 1.5, "", "x", "nan", [], {}, [1], {"array": 0}, {"array": 3}, {"list": []},
    {"dict": []}, {"tuple": [1, 2]}, {"object": {"class": "wellorder.RankSVM", "state": {}}}, {"type": "float"},
    {"objects": []},
    {"scalar": ["<i8", "00" * 8]}, {"float": "nan"}, {"object": {"class": "os.system", "state": {}}},
    {"slice": [1, 2, 3]},
]  # fmt: skip


def holds(container, key):
    return key in container if isinstance(container, dict) else key < len(container)


def mutate(manifest, source):
    found = places(manifest, [])
    for _ in range(source.choice((1, 1, 2, 4))):
        container, key = source.choice(found)
        if not holds(container, key):
            continue
        act = source.randrange(5)
        if act == 0:
            del container[key]
        elif act == 1:
            container[key] = copy.deepcopy(source.choice(ODD))
        elif act == 2:  # a part of another place
            other, place = source.choice(found)
            if holds(other, place):
                container[key] = copy.deepcopy(other[place])
        elif act == 3 and isinstance(container, dict):
            container[source.choice(["array", "list", "tuple", "object", "sparse", "coef_", "x", "__class__"])] = (
                container.pop(key)
            )
        elif isinstance(container[key], int):
            container[key] += source.choice((-1, 1, 1000))


def test_changed_manifests(good):
    path, content, _ = good
    manifest, members = take_apart(content)
    source, text = random.Random(2), json.dumps(manifest)
    loaded = []
    for _ in range(1000):
        changed = json.loads(text)
        mutate(changed, source)
        model = try_to_load(path, put_together(changed, members))
        if model is not None:
            loaded.append(model)
    assert loaded
    for model in loaded[:200]:  # a model that loads may be of no use, but it does not crash
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(Exception):
                model.decision_function(X)


def test_changed_arrays(good):
    """Bytes changed within arrays, under a right checksum."""
    path, content, _ = good
    manifest, members = take_apart(content)
    source = random.Random(3)
    for _ in range(600):
        name = source.choice(list(members))
        damaged = bytearray(members[name])
        for _ in range(source.choice((1, 3))):
            damaged[source.choice((source.randrange(len(damaged)), source.randrange(128)))] = source.randrange(256)
        model = try_to_load(path, put_together(manifest, {**members, name: bytes(damaged)}))
        if model is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with suppress(ValueError):
                    model.decision_function(X)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["list", "tuple", "set", "dict", "slice", "int", "float", "bytes", "type", "scalar", "array", "object"]
            )
            | st.text(max_size=3),
            inner,
            max_size=2,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["model", "state", "version", "written_by", "arrays", "whole"]))
def test_any_json_as_a_manifest(good, value, place):
    path, content, _ = good
    manifest, members = take_apart(content)
    if place == "state":
        manifest["model"]["object"]["state"]["steps"] = value
    elif place == "whole":
        manifest = value
    else:
        manifest[place] = value
    try_to_load(path, put_together(manifest, members))
