"""Every class that a model file may hold refuses fitted state that is not sound; found through the list of classes.

A small model of each is taken apart, and every array and every value in it changed in turn: NaN, infinity, too short,
too long, of another shape or type, beyond its range, missing. Each change is refused when the file is read, or it is
harmless: the model's answers are all there, and finite.
"""

from __future__ import annotations

import io
import json
import re
import warnings

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import get_tags

import wellorder as wo
from wellorder.methods import Method
from wellorder.persistence import ModelFileError, registry
from wellorder.persistence.arrays import array_bytes, array_from_bytes
from wellorder.persistence.decode import Decoder
from wellorder.persistence.encode import Encoder
from wellorder.state import Stored

from .small_models import small_models

MODELS = small_models()
NAMES = [small.name for small in MODELS]


class Box:
    """A model as a file holds it, with places where something else can be put in."""

    def __init__(self, small):
        encoder = Encoder()
        self.small = small
        self.tree = {"model": encoder.encode(small.model)}
        self.members = encoder.members
        self.size = sum(map(len, self.members)) + len(json.dumps(self.tree))
        self.answers = small.answers(self.load())

    def load(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return Decoder(self.members.__getitem__, len(self.members), self.size).decode(self.tree["model"])

    def is_harmless(self):
        """Say whether what is inside now is refused, or gives all answers, and finite ones."""
        try:
            model = self.load()
        except ModelFileError:
            return True
        try:
            found = self.small.answers(model)
        except ValueError as error:
            return OTHER_ROWS.search(str(error)) is not None
        may_be_missing = "transform" in found and get_tags(model).input_tags.allow_nan
        return found.keys() == self.answers.keys() and all(
            np.shape(found[name])[:1] == np.shape(expected)[:1] and (may_be_missing or all_finite(found[name]))
            for name, expected in self.answers.items()
        )


OTHER_ROWS = re.compile(
    r"^X has \d+ (features|rows)|^missing column|\bcolumn '\w+' held numbers|^some games came with times"
    r"|\bthe item '\w' |not a mask|No valid specification of the columns|1D data passed|Found array with dim"
    "|using strings is only supported|^Vocabulary (is empty|not fitted)"
)
"""What a sound model says where it knows other rows than those that it is asked about."""


def all_finite(values):
    values = values.data if hasattr(values, "tocsr") else np.asarray(values)
    return values.dtype.kind not in "fc" or bool(np.isfinite(values).all())


def places(node, path=""):
    """Yield the container, the key and the path of every attribute of a model, and of what is in lists and tables.

    Models inside are taken as a whole: their classes have their own turn. So are parameters of scikit-learn's classes.
    """
    ((tag, content),) = node.items()
    if tag == "object" and not path:
        cls = registry.find_class(content["class"])
        for name, value in list(content["state"].items()):
            if issubclass(cls, Stored) or name not in registry.parameters(cls) or name in STEPS:
                yield content["state"], name, f"{cls.__name__}.{name}"
                if isinstance(value, dict):
                    yield from places(value, f"{cls.__name__}.{name}")
    elif tag in ("list", "tuple", "dict"):
        for number, inner in enumerate(content):
            container, key = (inner, 1) if tag == "dict" else (content, number)
            yield container, key, f"{path}.{number}"
            if isinstance(container[key], dict):
                yield from places(container[key], f"{path}.{number}")


STEPS = ("steps", "transformer_list")
"""Parameters that fitted models stand in."""


def changed_arrays(array):
    flat = array.reshape(-1)
    yield "another ndim", array[None]
    yield "one axis more", array[..., None]
    yield "longer", np.concatenate([array, array[-1:]]) if len(array) else np.ones(1, array.dtype)
    yield "text", array.astype("U")
    yield "complex", array.astype("c16") if array.dtype.kind in "biuf" else array.astype("S9")
    yield "empty", array[:0]
    if not len(flat):
        return
    yield "shorter", array[:-1]
    for place in (0, -1):
        if array.dtype.kind == "f":
            for value in (np.nan, np.inf, -np.inf):
                yield f"{value} at {place}", put(array, place, value)
            yield f"negative at {place}", put(array, place, -1e3)
        elif array.dtype.kind in "iu":
            for value in (-1, -9, 10**9) if array.dtype.itemsize >= 4 else (-1, -9, 9):
                yield f"{value} at {place}", put(array, place, value)
    if array.dtype.kind in "iu":
        yield "not whole", array + 0.5


def put(array, place, value):
    changed = array.copy()
    changed.reshape(-1)[place] = value
    return changed


ODD = [None, "x", -1, 10**8, {"float": "nan"}, {"list": []}]
ODDER = [*ODD, True, 2.5, {"float": "inf"}, {"int": hex(2**5000)}, {"dict": []}, {"tuple": [1, 2]}]


NO_VALUE = ("nan at 0", "nan at -1")
LEGITIMATE = {
    **dict.fromkeys(("mean_", "scale_", "min_", "statistics_", "variances_"), NO_VALUE),  # a column without any value
    "categories_.0": ("text",),  # which it is, in other columns than those asked about
    "categories_.1": ("text",),
    "categories_.2": ("text",),
    "classes_": ("inf at 0", "inf at -1", "-inf at 0", "-inf at -1"),  # grades that are better, or worse, than any
    "lambdas_": ("negative at 0", "negative at -1"),  # steep, but a power; scikit-learn says that it is infinite
    "degree": (10**8,),  # a steep polynomial
    "OrderEnsemble.threshold_": ("missing",),  # the ensemble of grades that it is then has none
    "_fill_dtype": ("missing",),  # not every version of scikit-learn has it
    "steps.1.1": (None,),  # a step that does nothing
}
"""Changes that make another model, and a sound one, but not of the rows that are asked about."""


@pytest.mark.parametrize("small", MODELS, ids=NAMES)
def test_every_attribute_that_fitting_leaves_is_stated(small):
    if isinstance(small.model, Stored):
        state = small.model._fitted_state()
        left = vars(small.model).keys() - registry.parameters(type(small.model)).keys()
        assert left <= state.keys(), "a class states in _fitted_state all that its fit stores"
    else:
        assert not registry.public_name(type(small.model)).startswith("wellorder.")


def is_legitimate(where, change):
    return any(f".{where}".endswith(f".{name}") and change in changes for name, changes in LEGITIMATE.items())


@pytest.mark.parametrize("small", MODELS, ids=NAMES)
def test_changed_arrays_are_refused_or_harmless(small):
    box = Box(small)
    for tree, key, here in list(places(box.tree["model"])):
        if not isinstance(tree[key], dict) or "array" not in tree[key]:
            continue
        number = tree[key]["array"]
        content = box.members[number]
        for change, array in changed_arrays(array_from_bytes(content)):
            box.members[number] = array_bytes(np.ascontiguousarray(array))
            assert is_legitimate(here, change) or box.is_harmless(), (here, change)
        box.members[number] = content


@pytest.mark.parametrize("small", MODELS, ids=NAMES)
def test_changed_and_missing_values_are_refused_or_harmless(small):
    box = Box(small)
    parameters = registry.parameters(type(small.model))
    for tree, key, here in list(places(box.tree["model"])):
        value = tree[key]
        is_parameter = here.split(".")[1] in parameters
        for odd in ODD if is_parameter else ODDER:
            tree[key] = odd
            assert is_legitimate(here, odd) or box.is_harmless(), (here, odd)
        if isinstance(tree, dict) and not is_parameter:  # a parameter that is missing takes its default
            del tree[key]
            assert is_legitimate(here, "missing") or box.is_harmless(), (here, "missing")
        tree[key] = value


def test_classes_of_installed_packages_are_on_the_list_but_for_those_that_cannot_be_made(monkeypatch):
    class Elsewhere(MinMaxScaler):
        """Of another package."""

    def fail():
        raise ZeroDivisionError

    offered = {"theirs": Method("", Elsewhere), "broken": Method("", fail), "ours": Method("", wo.RankSVM)}
    monkeypatch.setattr(registry, "offered_methods", lambda: offered)
    registry.offered_estimators.cache_clear()
    name = f"{__name__}.{Elsewhere.__qualname__}"
    try:
        assert registry.offered_estimators() == {name: Elsewhere}
        assert registry.find_class(name) is Elsewhere
        assert registry.public_name(Elsewhere) == name
    finally:
        registry.offered_estimators.cache_clear()
    assert registry.public_name(MinMaxScaler) == "sklearn.preprocessing.MinMaxScaler"


@pytest.mark.parametrize(
    ("array", "columns_first"),
    [
        (np.arange(6.0), False),
        (np.arange(6.0)[::2], False),
        (np.arange(6.0).reshape(2, 3), False),
        (np.asfortranarray(np.arange(6.0).reshape(2, 3)), True),
        (np.arange(24.0).reshape(4, 6)[::2, ::2], False),
        (np.ones((1, 3)), False),
        (np.float64(3).reshape(()), False),
    ],
    ids=["one axis", "every other", "rows", "columns", "every other of rows", "one row", "none"],
)
def test_arrays_are_written_as_numpy_does_row_by_row_unless_they_are_columns(array, columns_first):
    out = io.BytesIO()
    np.save(out, array if columns_first else np.ascontiguousarray(array).reshape(array.shape))
    assert array_bytes(array) == out.getvalue()
    again = array_from_bytes(array_bytes(array))
    np.testing.assert_array_equal(again, array)
    assert again.flags.c_contiguous == (not columns_first)
