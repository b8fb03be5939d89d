"""Files that are none, are damaged, or were made to do harm: one clear error each, and nothing runs."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
import zipfile

import joblib
import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler

import wellorder as wo
from wellorder.persistence import ModelFileError, registry
from wellorder.state import checked

from .boxes import X, Y, put_together, rich_model, take_apart


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.wo"


@pytest.fixture
def parts(path):
    """The manifest and the members of a good file, and the state of the ranker in it."""
    ranker = wo.RankSVM().fit(X, Y)
    wo.save(ranker, path)
    manifest, members = take_apart(path.read_bytes())
    return manifest, members, manifest["model"]["object"]["state"]


def refuse(path, content, reason):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=reason) as caught:
        wo.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300


class Canary:
    """Unpickling this leaves a file behind."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


def test_pickles_are_refused_and_never_run(path, tmp_path):
    canary = tmp_path / "canary"
    for protocol in range(2, 6):
        refuse(path, pickle.dumps(Canary(canary), protocol), "it is a pickle")
    for protocol in (0, 1):
        refuse(path, pickle.dumps(Canary(canary), protocol), "it is not a model file")
    for compress in (0, 3, ("bz2", 3), ("xz", 3), ("lzma", 3), ("gzip", 3)):
        out = io.BytesIO()
        joblib.dump(Canary(canary), out, compress=compress)
        refuse(path, out.getvalue(), "it is a (pickle|compressed file)")
    out = io.BytesIO()
    np.savez(out, a=np.array([Canary(canary)], object))
    refuse(path, out.getvalue(), "zip file of something else")
    assert not canary.exists()
    pickle.loads(pickle.dumps(Canary(canary)))
    assert canary.exists()  # it would have sung


def test_a_pickle_inside_an_array_is_never_run(path, tmp_path, parts):
    manifest, members, _ = parts
    out = io.BytesIO()
    np.save(out, np.array([Canary(tmp_path / "canary")], object))
    refuse(
        path, put_together(manifest, {**members, "arrays/0.npy": out.getvalue()}), r"RankSVM\.coef_: array 0: .*'\|O'"
    )
    assert not (tmp_path / "canary").exists()


def test_no_file_and_a_folder_keep_their_own_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        wo.load(tmp_path / "none.wo")
    with pytest.raises(IsADirectoryError):
        wo.load(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"P", "it is not a model file"),
        (b"\x80", "it is not a model file"),
        (b"a,b\n1,2\n", "it is not a model file"),
        (b"PK\x03\x04" + b"x" * 100, "cut short or damaged"),
        (b"PK\x05\x06" + bytes(18), "something else: there is no manifest"),
        (b"\x1f\x8b\x08" + b"x" * 100, "it is a compressed file"),
    ],
)
def test_files_of_something_else(path, content, reason):
    refuse(path, content, reason)


def test_truncated_files(path, parts):
    content = path.read_bytes()
    for length in range(4, len(content), 7):
        refuse(path, content[:length], "cut short or damaged")
    for length in range(4):
        refuse(path, content[:length], "it is empty|it is not a model file")


@pytest.mark.parametrize(
    "name",
    ["../evil.npy", "/etc/passwd", "arrays/1.npy", "arrays/00.npy", "arrays/0.NPY", "a.py", "arrays\\0.npy", "arrays/"],
)
def test_members_that_have_no_place(path, parts, name):
    manifest, members, _ = parts
    content = {name: b"", **({"arrays/2.npy": b""} if name == "arrays/1.npy" else members)}
    refuse(path, put_together(manifest, content), "which has no place in a model file|promises")


def test_a_member_twice(path, parts):
    manifest, members, _ = parts
    out = io.BytesIO(put_together(manifest, members))
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("arrays/0.npy", members["arrays/0.npy"])
    refuse(path, out.getvalue(), "has no place in a model file")


def test_a_zip_bomb_is_never_opened(path, parts):
    manifest = parts[0]
    bomb = put_together(manifest, {"arrays/0.npy": bytes(50_000_000)}, zipfile.ZIP_DEFLATED)
    small = len(bomb)
    assert small < 100_000
    tracemalloc.start()
    refuse(path, bomb, "is compressed; model files are not")
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_sizes_that_lie(path, parts):
    """A directory entry that promises more than the file is long, and one that is encrypted."""
    content = bytearray(path.read_bytes())
    entry = content.rfind(b"PK\x01\x02")
    lying = bytearray(content)
    lying[entry + 20 : entry + 28] = (2**31).to_bytes(4, "little") * 2
    refuse(path, bytes(lying), "larger than the file")
    sealed = bytearray(content)
    sealed[entry + 8] |= 1
    refuse(path, bytes(sealed), "encrypted")


def npy(descr="<f8", order="False", shape="(3,)", payload=24):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header = header.ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(payload)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (npy(shape="(1000000000000,)"), "which is not the 24 bytes that follow"),
        (npy(shape="(0, 1000000000000)"), "which is not the 24 bytes"),
        (
            npy(shape="(999999999999999999, 999999999999999999, 999999999999999999)"),
            "header promises|not that of a plain",
        ),
        (npy(shape="(-3,)"), "header is not that of a plain array"),
        (npy(shape=f"({'1, ' * 40}3)"), "40 axes|41 axes"),
        (npy(shape="__import__('os')"), "header is not that of a plain array"),
        (npy(order="1"), "header is not that of a plain array"),
        (npy(descr="|O"), "is not a type of array"),
        (npy(descr="|V8"), "is not a type of array"),
        (npy(descr="<f3"), "the array type '<f3' is not known here"),
        (npy(descr="<U999999999"), "is not known here"),
        (npy(descr="<U0"), "header promises"),
        (npy(descr="<f4"), "header promises"),
        (npy(descr="|b1", shape="(24,)")[:-1] + b"\x07", "truth values"),
        (npy(descr="<U6", shape="(1,)")[:-1] + b"\x07", "not a character"),
        (npy()[:-1], "23 bytes"),
        (npy()[:20], "header is not"),
        (b"", "header is not"),
        (npy().replace(b"\x01\x00", b"\x02\x00", 1), "header is not"),
    ],
)
def test_arrays_that_lie(path, parts, content, reason):
    manifest, members, _ = parts
    refuse(
        path, put_together(manifest, {**members, "arrays/0.npy": content}), rf"RankSVM\.coef_: array 0: .*({reason})"
    )


def test_newer_and_senseless_versions(path, parts):
    manifest, members, _ = parts
    newer = {**manifest, "version": 4, "new": 1, "written_by": {"wellorder": "7.1"}}
    refuse(path, put_together(newer, members), r"format version 4, written by wellorder 7\.1; .* update wellorder")
    for version in (0, -1, "1", None, True, 1.0, [1]):
        refuse(path, put_together({**manifest, "version": version}, members), "does not say which version")
    for field in manifest:
        refuse(path, put_together({key: manifest[key] for key in manifest if key != field}, members), "its manifest")
    refuse(path, put_together({**manifest, "format": "other"}, members), "zip file of something else")
    refuse(path, put_together({**manifest, "more": 1}, members), "missing or too many")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "NaN", '{"a": 1, "a": 2}', "[" * 100_000, "\ufeff{}", "9" * 5000]
)
def test_manifests_that_are_none(path, text):
    refuse(path, put_together(text, {}), "its manifest")


FOREIGN = [
    "os.system", "posix.system", "builtins.eval", "subprocess.Popen", "sklearn.pipeline.os", "wellorder.estimators.os",
    "wellorder.save", "wellorder.OrderGraph", "wellorder.estimators.RankSVM", "RankSVM", ".RankSVM", "sklearn.pipeline",
    "sklearn.ensemble.RandomForestClassifier", "sklearn.pipeline.StandardScaler",
    "sklearn.preprocessing._data.StandardScaler", "antigravity.fly", "", 1, None, ["wellorder.RankSVM"], {"a": 1},
]  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_classes_outside_the_list(path, parts, name, monkeypatch):
    manifest, members, _ = parts
    asked = []
    monkeypatch.setattr(registry, "import_module", lambda home: asked.append(home) or __import__(home, fromlist=["_"]))
    manifest["model"]["object"]["class"] = name
    refuse(path, put_together(manifest, members), "not among the classes a model file may hold")
    assert set(asked) <= {"wellorder.estimators", *registry._HOMES}


def test_loading_imports_nothing_that_the_file_names(path, parts):
    manifest, members, _ = parts
    manifest["model"]["object"]["class"] = "antigravity.fly"
    path.write_bytes(put_together(manifest, members))
    code = (
        "import sys, wellorder.persistence as p\n"
        f"try: p.load({str(path)!r})\nexcept p.ModelFileError: print('refused', 'antigravity' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "refused False\n"


@pytest.mark.parametrize(
    "name", ["predict", "fit", "__class__", "__dict__", "__init__", "not a name", "get_params", "", "a.b"]
)
def test_attributes_that_would_hide_a_part_of_the_class(path, parts, name):
    manifest, members, state = parts
    state[name] = 1
    refuse(path, put_together(manifest, members), "has no attribute")


def csr(shape=(2, 3), indices=(0, 2), indptr=(0, 1, 2), data=(1.0, 2.0), kind="csr_array"):
    whole = {"dtype": np.int32}
    return {"sparse": {"class": kind, "shape": list(shape), "data": np.array(data),
            "indices": np.array(indices, **whole), "indptr": np.array(indptr, **whole)}}  # fmt: skip


def with_arrays(value, members):
    """Move arrays in a hand-written manifest value to members."""
    if isinstance(value, np.ndarray):
        out = io.BytesIO()
        np.save(out, value)
        members[f"arrays/{len(members)}.npy"] = out.getvalue()
        return {"array": len(members) - 1}
    if isinstance(value, dict):
        return {key: with_arrays(entry, members) for key, entry in value.items()}
    return [with_arrays(entry, members) for entry in value] if isinstance(value, list) else value


BAD_VALUES = [
    ([1], "expected one value, found list"),
    ({}, "expected one value, found dict"),
    ({"list": 1, "tuple": 2}, "expected one value"),
    ({"call": ["os.system", "x"]}, "'call' is not a kind of value"),
    ({"array": 7}, "there is no array 7"),
    ({"array": -1}, "there is no array -1"),
    ({"array": True}, "there is no array True"),
    ({"array": "../../etc/passwd"}, "there is no array"),
    ({"list": {"a": 1}}, "expected a list"),
    ({"dict": [1]}, "expected pairs"),
    ({"dict": [[{"list": []}, 1]]}, "a key cannot be one"),
    ({"set": [{"list": []}]}, "a key cannot be one"),
    ({"slice": [1]}, "a slice has three parts"),
    ({"int": 3}, "does not stand for a whole number"),
    ({"int": "os"}, "does not stand for a whole number"),
    ({"float": "1e5"}, "is not a number"),
    ({"bytes": "?"}, "does not stand for bytes"),
    ({"type": "os.system"}, "is not a type"),
    ({"dtype": "V8"}, "is not a type of array"),
    ({"dtype": ["O"]}, "is not a type of array"),
    ({"scalar": ["<f8", "00"]}, "takes 8 bytes, not 1"),
    ({"scalar": ["|O8", "00" * 8]}, "is not a type of array"),
    ({"scalar": ["|b1", "07"]}, "truth values"),
    ({"scalar": "<f8"}, "a NumPy value has a type and its bytes"),
    ({"scalar": ["<f8"]}, "a NumPy value has a type and its bytes"),
    ({"scalar": {"a": 1, "b": 2}}, "a NumPy value has a type and its bytes"),
    ({"objects": {"shape": [10**12], "items": []}}, "does not have these entries"),
    ({"objects": {"shape": [-1], "items": []}}, "is not a shape"),
    ({"objects": {"shape": [0, 2**61, 2**61], "items": []}}, "cannot have the shape"),
    ({"objects": {"shape": [1] * 60, "items": [1]}}, "60 axes"),
    ({"records": {"shape": [2], "align": False, "fields": []}}, "needs fields"),
    ({"records": {"shape": [9], "align": False, "fields": [["a", np.zeros(3)]]}}, "does not fit"),
    ({"records": {"shape": [3], "align": False, "fields": [["", np.zeros(3)]]}}, "no name"),
    ({"records": {"shape": [3], "align": False, "fields": [["a"]]}}, "no name or no array"),
    ({"records": {"shape": [3], "align": False, "fields": [{"a": 1, "b": 2}]}}, "no name or no array"),
    ({"records": {"shape": [3], "align": False, "fields": [["a", np.zeros(3), 1]]}}, "no name or no array"),
    ({"sparse": {"class": "csr_array", "shape": [1, 1], "data": 1, "indices": 0, "indptr": 0}}, "made of three arrays"),
    (csr(indices=(0, 3)), "index outside its shape"),
    (csr(indices=(0, -1)), "index outside its shape"),
    (csr(indptr=(0, 9, 2)), "do not follow each other"),
    (csr(indptr=(-5, 1, 2)), "do not follow each other"),
    (csr(indptr=(0, 1, 3)), "do not follow each other"),
    (csr(indptr=(0, 1)), "wrong number of indices"),
    (csr(data=(1.0,)), "wrong number of indices"),
    (csr(data=("a", "b")), "wrong type"),
    (csr(shape=(2,)), "is not a matrix"),
    (csr(kind="coo_array"), "is not a matrix"),
    (csr(kind="csc_array"), "wrong number|outside"),
    ({"order": {"kind": "full"}}, "expected levels"),
    ({"order": {"kind": "other", "levels": {"tuple": []}}}, "is not a kind of order graph"),
    ({"order": {"kind": "full", "levels": 3}}, "levels of an order graph are not a list"),
    ({"order": {"kind": "full", "levels": {"tuple": [1, 1]}}}, "listed twice"),
    ({"order": {"kind": "table", "levels": {"tuple": [1, 2]}, "weights": csr()}}, "not sound: weights have shape"),
    ({"order": {"kind": "table", "levels": {"tuple": [1, 2]}, "weights": np.ones((2, 2))}}, "not sound: .* circle"),
    ({"order": {"kind": "scale", "levels": {"tuple": [1]}, "weights": np.ones(2), "scale": np.ones(2)}}, "not sound"),
    ({"random_state": {"key": "00" * 2496, "pos": 10**6, "has_gauss": 0, "gauss": 0.0}}, "wrong length"),
    ({"random_state": {"key": "00", "pos": 0, "has_gauss": 0, "gauss": 0.0}}, "wrong length"),
    ({"object": {"class": "wellorder.RankSVM"}}, "expected a class and its state"),
    ({"object": {"class": "wellorder.RankSVM", "state": []}}, "not a table of attributes"),
    ({"object": {"class": "wellorder.RankSVM", "state": {}, "requests": {"__init__": {}}}}, "no metadata requests"),
    ({"object": {"class": "wellorder.RankSVM", "state": {}, "requests": {"fit": {"x": True}}}}, "do not fit"),
    ({"object": {"class": "wellorder.RankSVM", "state": {}, "requests": {"fit": {"groups": 7}}}}, "are not names"),
    ({"object": {"class": "sklearn.pipeline.Pipeline", "state": {}}}, "the parameter 'steps' of Pipeline is not there"),
    ({"object": {"class": "sklearn.pipeline.Pipeline", "state": {"steps": None, "memory": "/tmp"}}}, "unpickled"),
    ({"object": {"class": "sklearn.preprocessing.FunctionTransformer", "state": {"func": 1}}}, "has a function"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "reason"), BAD_VALUES)
def test_values_that_are_none(path, parts, value, reason):
    manifest, members, state = parts
    state["value_"] = with_arrays(value, members)
    manifest["arrays"] = len(members)
    refuse(path, put_together(manifest, members), rf"RankSVM\.value_.*({reason})")


def test_a_file_that_holds_no_model(path):
    for value in (1, None, {"list": []}, {"order": {"kind": "full", "levels": {"tuple": [1]}}}):
        versions = {"wellorder": "1"}
        manifest = {"format": "wellorder-model", "version": 1, "written_by": versions, "arrays": 0, "model": value}
        refuse(path, put_together(manifest, {}), "what it holds is not a model")


def test_nesting_is_bounded(path, parts):
    manifest, members, state = parts
    for _ in range(200):
        state["value_"] = {"list": [state.get("value_")]}
    refuse(path, put_together(manifest, members), "nested more than 64 deep")


def test_a_small_file_cannot_fill_the_memory_by_repetition(path, parts):
    manifest, members, state = parts
    big = with_arrays(np.zeros(50_000), members)
    manifest["arrays"] = len(members)
    state["value_"] = {"list": [{"records": {"shape": [50_000], "align": False, "fields": [["a", big]]}}] * 2000}
    refuse(path, put_together(manifest, members), "far more memory than the file is long")


def test_arrays_that_nothing_uses(path, parts):
    manifest, members, _ = parts
    members["arrays/1.npy"] = members["arrays/0.npy"]
    refuse(path, put_together(manifest, members), "promises 1 arrays, but it has 2")
    refuse(path, put_together({**manifest, "arrays": 2}, members), "1 arrays that no part of the model uses")


def encoder_state(path, **options):
    wo.save(make_pipeline(OneHotEncoder(**options), wo.RankSVM()).fit(X[:, 2:], Y), path)
    manifest, members = take_apart(path.read_bytes())
    return manifest, members, manifest["model"]["object"]["state"]["steps"]["list"][0]["tuple"][1]["object"]["state"]


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({}, {"_n_features_outs": {"list": [1]}}),
        ({}, {"_n_features_outs": {"list": [True]}}),
        ({}, {"_n_features_outs": {"list": []}}),
        ({}, {"_n_features_outs": None}),
        ({}, {"categories_": None}),
        ({}, {"categories_": {"list": [np.array([3.0, 1.0, 0.0, 2.0])]}}),
        ({}, {"categories_": {"list": [np.array([np.nan, 1.0, 2.0, 3.0])]}}),
        ({}, {"categories_": {"list": [np.arange(9.0)]}}),
        ({}, {"n_features_in_": 2}),
        ({}, {"_drop_idx_after_grouping": np.array([-9])}),
        ({}, {"_drop_idx_after_grouping": np.array([0.5])}),
        ({}, {"_infrequent_enabled": True}),
        ({"min_frequency": 8}, {"_infrequent_enabled": False}),
        ({"min_frequency": 8}, {"_default_to_infrequent_mappings": {"list": [np.array([0, 1, 2, 10**6])]}}),
        ({"min_frequency": 8}, {"_default_to_infrequent_mappings": {"list": [np.array([0, 1, 2, -1])]}}),
        ({"min_frequency": 8}, {"_default_to_infrequent_mappings": {"list": [None]}}),
    ],
)
def test_an_encoder_that_would_write_outside_its_matrix(path, options, changes):
    manifest, members, state = encoder_state(path, **options)
    state.update(with_arrays(changes, members))
    manifest["arrays"] = len(members)
    refuse(path, put_together(manifest, members), "the stored OneHotEncoder is not sound")


def test_a_vocabulary_outside_its_columns(path):
    wo.save(make_pipeline(CountVectorizer(), wo.RankSVM()).fit(["good thing", "bad thing", "thing"], [2, 1, 0]), path)
    manifest, members = take_apart(path.read_bytes())
    for change in ({"dict": [["good", 10**9]]}, {"dict": [["good", "x"]]}, {"list": []}):
        broken = copy.deepcopy(manifest)
        broken["model"]["object"]["state"]["steps"]["list"][0]["tuple"][1]["object"]["state"]["vocabulary_"] = change
        refuse(path, put_together(broken, members), "the stored CountVectorizer is not sound: vocabulary_")


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(make_column_transformer((StandardScaler(), [0]), (MinMaxScaler(), [1, 2])), wo.RankSVM()),
        make_pipeline(FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())]), wo.RankSVM()),
        wo.MultipleHyperplaneRanker(wo.OrderEnsemble([("svm", wo.RankSVM())])),
    ],
    ids=["columns", "union", "nested"],
)
def test_how_much_of_a_machine_to_take_is_not_for_the_file_to_say(path, model):
    wo.save(model.fit(X, Y).set_params(**dict.fromkeys(jobs_of(model), 40)), path)
    manifest, members = take_apart(path.read_bytes())
    text = json.dumps(manifest)
    assert '"n_jobs": 40' not in text
    path.write_bytes(put_together(text.replace('"n_jobs": null', '"n_jobs": 40'), members))
    loaded = wo.load(path)
    assert jobs_of(loaded)
    assert not any(jobs_of(loaded).values())
    assert json.dumps(manifest).count('"n_jobs": null') >= len(jobs_of(loaded))


def jobs_of(model):
    return {name: value for name, value in model.get_params(deep=True).items() if name.split("__")[-1] == "n_jobs"}


ALIKE = 2**61 - 1
"""Multiples of it all have the hash 0."""


@pytest.mark.parametrize(
    "value",
    [
        {"dict": [[{"int": hex(ALIKE * k)}, 0] for k in range(2000)]},
        {"set": [{"int": hex(ALIKE * k)} for k in range(2000)]},
        {"frozenset": [{"int": hex(-ALIKE * k)} for k in range(2000)]},
        {"dict": [[{"tuple": [{"int": hex(ALIKE * k)}, "a"]}, 0] for k in range(2000)]},
        {"dict": [[{"frozenset": [{"int": hex(ALIKE * k)}]}, 0] for k in range(2000)]},
        {"order": {"kind": "full", "levels": {"tuple": [{"int": hex(ALIKE * k)} for k in range(2000)]}}},
    ],
    ids=["numbers", "set", "frozenset", "tuples", "frozensets", "levels"],
)
def test_keys_that_take_quadratic_time(path, parts, value):
    manifest, members, state = parts
    state["value_"] = value
    refuse(path, put_together(manifest, members), r"RankSVM\.value_: more than 100 of 2000 keys have the same hash")


def test_labels_and_numbers_that_take_quadratic_time(path, parts):
    manifest, members, state = parts
    state["levels"] = {"list": [{"int": hex(ALIKE * k)} for k in range(2000)]}
    refuse(path, put_together(manifest, members), "the stored RankSVM is not sound: levels: more than 100 of 2000")
    wo.save(wo.ratings.Elo().fit(range(2000), range(1, 2001), [1] * 2000), path)
    manifest, members = take_apart(path.read_bytes())
    for pair in manifest["model"]["object"]["state"]["players_"]["dict"]:
        pair[1] = {"int": hex(ALIKE * pair[1])}  # a number that is no place; it is not even hashed
    refuse(path, put_together(manifest, members), r"the stored Elo is not sound: players_: it gives \d+ as a number")


def test_what_is_quoted_from_a_file_is_one_short_line(path, parts):
    manifest, members, state = parts
    state["max_iter"] = with_arrays(np.arange(900), members)
    manifest["arrays"] = len(members)
    refuse(path, put_together(manifest, members), "max_iter must be a positive whole number, got array")


def test_a_key_twice(path, parts):
    manifest, members, state = parts
    state["value_"] = {"dict": [[1, 0], [True, 0]]}
    refuse(path, put_together(manifest, members), "a table has a key twice")


def test_many_keys_of_any_size_are_no_attack(path):
    ids = [
        *range(3000),
        *(k << 64 for k in range(1, 3000)),
        *np.random.default_rng(0).integers(2**63, size=3000).tolist(),
    ]
    elo = wo.ratings.Elo().fit(ids, ids[1:] + ids[:1], [1] * len(ids))
    wo.save(elo, path)
    assert wo.load(path).players_ == elo.players_


def column_maker(path, step, rows):
    """Return the parts of a file with such a first step, and the step's state."""
    wo.save(make_pipeline(step, wo.RankSVM(max_iter=10_000)).fit(rows, Y), path)
    manifest, members = take_apart(path.read_bytes())
    return manifest, members, manifest["model"]["object"]["state"]["steps"]["list"][0]["tuple"][1]["object"]["state"]


@pytest.mark.parametrize(
    ("step", "changes"),
    [
        (OneHotEncoder(sparse_output=False), {"_n_features_outs": {"list": [10**8]}}),
        (PolynomialFeatures(), {"_n_out_full": 10**8, "n_output_features_": 10**8}),
        (PolynomialFeatures(), {"_max_degree": 10**8, "_n_out_full": 10**8 + 1, "n_output_features_": 10**8 + 1}),
        (PolynomialFeatures(), {"n_features_in_": 10**5}),
        (RBFSampler(n_components=4), {"n_components": 10**8}),
        (KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), {"n_bins_": np.array([10**8])}),
        (CountVectorizer(), {"vocabulary_": {"dict": [["good", 10**8]]}}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_columns_that_nothing_in_the_file_stands_for(path, step, changes):
    rows = ["good thing", "bad thing", "thing"] * 10 if isinstance(step, CountVectorizer) else X[:, 2:]
    manifest, members, state = column_maker(path, step, rows)
    wo.load(path)
    state.update(with_arrays(changes, members))
    manifest["arrays"] = len(members)
    refuse(path, put_together(manifest, members), f"the stored {type(step).__name__} is not sound")


MANY = {f"package{number}": "1" for number in range(50)}


def test_what_a_file_says_of_its_versions_is_no_free_text(path, parts):
    manifest, members, _ = parts
    for versions in (
        {"wellorder": "1.0\x1b[2J"},
        {"wellorder": "1" * 41},
        {"wellorder": 1},
        {"a b": "1"},
        {"": ""},
        MANY,
    ):
        for number in (1, 2):
            content = {**manifest, "version": number, "written_by": versions}
            refuse(path, put_together(content, members), "is no version")
    for versions in ([], "1.0", None):
        refuse(path, put_together({**manifest, "written_by": versions}, members), "does not say which version")
    long = {**manifest["model"]["object"]["state"], "a" * 101: 1}
    manifest["model"]["object"]["state"] = long
    refuse(path, put_together(manifest, members), "has no attribute")


def test_an_estimator_checks_its_own_state(path, parts, monkeypatch):
    def check(coef):
        raise ValueError("child 7 of node 0 is none")

    monkeypatch.setattr(wo.RankSVM, "_fitted_state", lambda self: {"coef_": checked(check)})
    refuse(path, path.read_bytes(), "the stored RankSVM is not sound: coef_: child 7")


def test_older_files_miss_later_parameters(path, parts):
    manifest, members, state = parts
    del state["warm_start"], state["C"]
    path.write_bytes(put_together(manifest, members))
    loaded = wo.load(path)
    assert (loaded.C, loaded.warm_start) == (1.0, False)
    assert loaded.get_params() == wo.RankSVM().get_params()


def test_the_rich_model_of_the_fuzz_tests_is_good(path):
    model = rich_model()
    wo.save(model, path)
    assert (wo.load(path).decision_function(X) == model.decision_function(X)).all()
    assert json.dumps(take_apart(path.read_bytes())[0]).count('"object"') >= 5


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
def test_a_pipe_is_refused_by_name():
    reading, writing = os.pipe()
    os.close(writing)
    try:
        with pytest.raises(ModelFileError, match=f"^/dev/fd/{reading}: it is a pipe"):
            wo.load(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
