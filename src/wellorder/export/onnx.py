"""ONNX: a model as a graph of operators in double precision, with its trees as trees and its text as text.

A graph is written from a :class:`~wellorder.export.forms.Form` alone. Scores are a column (rows × 1) until they leave;
``rows`` is a symbolic dimension, so that one row and no row are batches too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .. import __version__
from ..sweeps import Array, Floats, Ints
from .forms import (
    NOT_KNOWN,
    BumpSum,
    Chances,
    ExportError,
    Feature,
    Form,
    Function,
    GradeRule,
    KernelSum,
    Linear,
    PairRule,
    PlugIn,
    Rated,
    Score,
    Softmax,
    StepSum,
    Sum,
    Term,
    Trees,
    chances_of,
    feature_values,
    outcomes,
    pair_chances,
    read_rows,
)
from .one_kind import stumps
from .sampling import WIDE
from .target import Job, Scored, Target

_TREES = "ai.onnx.ml"

_OPSETS = {"": 18, _TREES: 5}
"""The versions of the operators: the first version of the second with trees in double precision all the way, which
onnxruntime reads from 1.21 on."""

_FILE = 10
"""The version of the file format: the first that may hold these operators."""

_BLOCK = 1_024
"""Rows of a kernel, or bumps, that are computed at a time: a runtime then never holds all of them for each row."""

_FARTHEST = 1e150
"""Numbers further than this from a kernel's middle are replaced by it: a Gaussian is 0 there, and no square is
infinite."""

_MOST_BYTES = 2**31 - 2**24
"""What one ONNX file can hold, less some room for the graph."""

_NO_TEXT = ""
"""What stands for a missing text, as ONNX has none."""

Value: TypeAlias = str
"""The name of an input, or of a node's result."""


# --------------------------------------------------------------------------------------------------
# What goes in and what comes out.


@dataclass(frozen=True)
class GraphInput:
    """One input: a matrix of numbers (rows × width), or one column (rows × 1) of numbers or of text.

    Attributes
    ----------
    name : str
    kind : {"number", "text"}
    width : int
    column : int, optional
        Which of the form's columns; None for a matrix of all.
    side : {"", "left", "right"}
        Of a model of pairs: which of the two items it tells of.
    """

    name: str
    kind: str
    width: int
    column: int | None
    side: str = ""


def inputs_of(form: Form) -> list[GraphInput]:
    """Return the inputs of a form: ``X``, one for each named column, or those of the left and of the right item.

    Of a matrix with very many columns, ``X`` has only those that are looked at.

    Named columns keep their names, but for one that an output has; of pairs they are ``left.name`` and ``right.name``,
    or, where names are all that is given, ``left`` and ``right``.
    """
    sides = ("left", "right") if form.pairs is not None else ("",)
    if not form.named:
        width = len(form.columns) if form.width > WIDE else form.width
        return [GraphInput(side or "X", "number", width, None, side) for side in sides]
    alone = isinstance(form.score, Rated) and form.pairs is not None
    found, taken = [], set(_outputs(form))
    for side in sides:
        for place, column in enumerate(form.columns):
            name = side if alone else ".".join(part for part in (side, column.name) if part) or "column"
            while name in taken:
                name += "_"
            taken.add(name)
            found.append(GraphInput(name, column.kind, 1, place, side))
    return found


def _outputs(form: Form) -> dict[str, tuple[str, list[Any]]]:
    """Return the type and the shape of each output."""
    if form.pairs is not None:
        found: dict[str, tuple[str, list[Any]]] = {name: ("DOUBLE", ["rows"]) for name in ("difference", *_SCORES)}
        found["outcome"] = "INT64", ["rows"]
        n = None if form.pairs.slope is None else 2 + len(form.pairs.ties)
    else:
        found = {"score": ("DOUBLE", ["rows"])}
        grades = form.grades
        if grades is not None and (grades.cuts is not None or grades.likeliest):
            found["grade"] = _label_type(grades.labels), ["rows"]
        n = None if grades is None or grades.chances is None else len(grades.labels)
    return found | ({} if n is None else {"probabilities": ("DOUBLE", ["rows", n])})


_SCORES = ("left_score", "right_score")


def _label_type(labels: Sequence[Any]) -> str:
    """Return the type of grades: the user's own, or text where they are of several types or of none that ONNX has."""
    types = {type(label) for label in labels}
    known = {bool: "BOOL", int: "INT64", float: "DOUBLE", str: "STRING"}
    return "DOUBLE" if types == {int, float} else known.get(types.pop(), "STRING") if len(types) == 1 else "STRING"


def _about(form: Form, model: str) -> dict[str, str]:
    """Return what the file says of itself, as JSON but for the model's name."""
    told: dict[str, Any] = {"columns": [column.name for column in form.columns]}
    if form.grades is not None:
        told["levels"] = [
            label if isinstance(label, bool | int | float) else str(label) for label in form.grades.labels
        ]
    if form.pairs is not None:
        ties = ["tie", "both bad", *(f"tie {k}" for k in range(2, len(form.pairs.ties)))][: len(form.pairs.ties)]
        told["threshold"], told["advantage"] = form.pairs.threshold, form.pairs.advantage
        told["outcomes"] = ["left", *ties, "right"] if form.pairs.slope is not None else [-1, 0, 1]
    return {"model": model} | {name: json.dumps(value, ensure_ascii=False) for name, value in told.items()}


def onnx_bytes(form: Form, model: str) -> bytes:
    """Return an ONNX file that computes what a form does: the same bytes for the same form.

    Parameters
    ----------
    form : Form
    model : str
        What the file calls the model.
    """
    onnx, inputs, outputs = library("onnx"), inputs_of(form), _outputs(form)
    graph = GraphWriter({*(each.name for each in inputs), *outputs})
    found = _pair_outputs(graph, form, inputs) if form.pairs is not None else _row_outputs(graph, form, inputs)
    for name in outputs:
        graph.leave(found[name], name)

    def info(name: str, kind: str, shape: list[Any]) -> Any:
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DataType.Value(kind), shape)

    body = onnx.helper.make_graph(
        graph.nodes,
        "wellorder",
        [info(each.name, "STRING" if each.kind == "text" else "DOUBLE", ["rows", each.width]) for each in inputs],
        [info(name, kind, shape) for name, (kind, shape) in outputs.items()],
        graph.constants,
    )
    opsets = [onnx.helper.make_opsetid(*opset) for opset in _OPSETS.items()]
    file = onnx.helper.make_model(body, opset_imports=opsets, ir_version=_FILE)
    file.producer_name, file.producer_version = "wellorder", __version__
    onnx.helper.set_model_props(file, _about(form, model))
    onnx.checker.check_model(file, full_check=True)
    return bytes(file.SerializeToString(deterministic=True))


def library(name: str) -> Any:
    """Return a library that only this target needs, or say how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise ExportError(f"this needs the library {name}; pip install 'wellorder[onnx]' has it") from None


# --------------------------------------------------------------------------------------------------
# The graph.


class GraphWriter:
    """Nodes in the order in which they are computed, and the constants that they take: each array once."""

    def __init__(self, taken: set[str]) -> None:
        self._onnx = library("onnx")
        self._taken, self._n_names, self._n_bytes = taken, 0, 0
        self._known: dict[tuple[Any, ...], Value] = {}
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: Value | Array | float, domain: str = "", **attributes: Any) -> Value:
        """Add a node; a number or an array among its inputs is a constant."""
        values = [each if isinstance(each, str) else self._constant(np.asarray(each)) for each in inputs]
        return self._node(operator, values, self._new_name(), domain, attributes)

    def leave(self, value: Value, name: str) -> None:
        """Call a value by the name of an output."""
        self._node("Identity", [value], name, "", {})

    def of_type(self, value: Value, kind: str) -> Value:
        """Turn a value into one of another type."""
        return self.add("Cast", value, to=self._onnx.TensorProto.DataType.Value(kind))

    def number_of(self, value: Value, keys: Sequence[Any]) -> Value:
        """Return the places of texts, or of numbers, among some keys; for all others how many keys there are."""
        if isinstance(keys[0], str):
            told = {"keys_strings": list(keys), "values_int64s": list(range(len(keys))), "default_int64": len(keys)}
        else:
            arrays = {"keys": np.array(keys, float), "values": np.arange(len(keys)), "default": np.array([len(keys)])}
            told = {f"{name}_tensor": self.tensor(array) for name, array in arrays.items()}
        return self.add("LabelEncoder", value, domain=_TREES, **told)

    def tensor(self, array: Array) -> Any:
        """Return an array as the attribute of a node."""
        return self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), "values")

    def _node(
        self, operator: str, inputs: Sequence[Value], output: Value, domain: str, attributes: Mapping[str, Any]
    ) -> Value:
        self.nodes.append(self._onnx.helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def _constant(self, array: Array) -> Value:
        content = tuple(array.ravel().tolist()) if array.dtype.kind == "O" else array.tobytes()
        key = array.dtype.str, array.shape, content
        if key not in self._known:
            self._known[key] = name = self._new_name()
            self._n_bytes += array.nbytes
            if self._n_bytes > _MOST_BYTES:
                raise ExportError(
                    f"the rows that the model keeps take more than the {_MOST_BYTES / 1e9:.1f} GB that an ONNX file "
                    "can hold; fit it with n_components=1000 (Nyström features)"
                )
            self.constants.append(self._onnx.numpy_helper.from_array(array, name))
        return self._known[key]

    def _new_name(self) -> Value:
        while (name := f"v{self._n_names}") in self._taken:
            self._n_names += 1
        self._n_names += 1
        return name


_COLUMNS = np.array([1])
"""The axis of columns, in the form that operators take."""


# --------------------------------------------------------------------------------------------------
# Features of what is given.


class ItemSide:
    """What is given of one item a row: all numbers as one matrix, and each text by itself."""

    def __init__(self, graph: GraphWriter, form: Form, inputs: Sequence[GraphInput]) -> None:
        self.graph = graph
        numbers = [each for each in inputs if each.kind == "number"]
        self._place = {
            place: [each.column for each in numbers].index(place) if form.named else _place_in_matrix(form, place)
            for place, column in enumerate(form.columns)
            if column.kind == "number"
        }
        self._width = len(numbers) if form.named else numbers[0].width
        if len(numbers) == 1:
            self._numbers = numbers[0].name
        elif numbers:
            self._numbers = graph.add("Concat", *(each.name for each in numbers), axis=1)
        self._names = [column.name for column in form.columns]
        self.text = {each.column: each.name for each in inputs if each.kind == "text"}

    def features(self, features: Sequence[Feature]) -> Value:
        """Return a matrix with a column for each feature; what is made alike is made together."""
        together: dict[tuple[Any, ...], list[int]] = {}
        for place, feature in enumerate(features):
            together.setdefault(self._kind(feature), []).append(place)
        parts = [self._make(kind[0], [features[place] for place in places]) for kind, places in together.items()]
        matrix = parts[0] if len(parts) == 1 else self.graph.add("Concat", *parts, axis=1)
        return self._pick(matrix, np.argsort(np.concatenate(list(together.values()))), len(features))

    def _kind(self, feature: Feature) -> tuple[Any, ...]:
        if feature.column in self.text or feature.kind == "code":
            return "listed", feature.column
        return feature.kind, *(step.kind for step in feature.steps if feature.kind == "number")

    def _make(self, kind: str, features: Sequence[Feature]) -> Value:
        if kind == "listed":
            return self._listed(features)
        graph, x = self.graph, self._columns([feature.column for feature in features])
        if kind == "missing":
            missing, given = feature_values([replace(each, column=0) for each in features], [np.array([np.nan, 0.0])])
            return graph.add("Where", graph.add("IsNaN", x), missing, given)
        for steps in zip(*(feature.steps for feature in features), strict=True):
            value = np.array([[step.value for step in steps]])
            if steps[0].kind == "fill":
                x = graph.add("Where", graph.add("IsNaN", x), value, x)
            else:
                x = graph.add(_STEPS[steps[0].kind], x, value)
        return x

    def _listed(self, features: Sequence[Feature]) -> Value:
        """Return features of one column by its values: a line of a table for each value, and one for any other."""
        column = features[0].column
        is_text = column in self.text
        own = [replace(feature, column=0) for feature in features]
        values: list[Any] = list(
            dict.fromkeys(value for feature in features for value in feature.values if value is not None)
        )
        if is_text:
            keys, table = _text_table(own, values, self._names[column])
            code = self.graph.number_of(self.text[column], keys)
        else:
            keys, table = values, feature_values(own, [np.array([*values, np.nan])])
            code = self.graph.number_of(self._columns([column]), keys)
        return self.graph.add("Gather", table, self.graph.add("Squeeze", code, _COLUMNS), axis=0)

    def _columns(self, columns: Sequence[int]) -> Value:
        return self._pick(self._numbers, np.array([self._place[column] for column in columns]), self._width)

    def _pick(self, matrix: Value, places: Ints, width: int) -> Value:
        """Return some columns of a matrix that has ``width`` of them."""
        if len(places) == width and (places == np.arange(width)).all():
            return matrix
        return self.graph.add("Gather", matrix, places, axis=1)


def _place_in_matrix(form: Form, column: int) -> int:
    return column if form.width > WIDE else form.columns[column].place


_STEPS = {"minus": "Sub", "over": "Div", "times": "Mul", "plus": "Add", "at_least": "Max", "at_most": "Min"}


def _text_table(features: Sequence[Feature], values: list[Any], name: str) -> tuple[list[str], Floats]:
    """Return the texts that a column is looked up by, and what the features are for each; last, for any other text.

    A missing text comes as the empty one.
    """
    entries = np.empty(len(values) + 2, dtype=object)
    entries[:] = [*values, None, object()]  # the last is equal to no text
    table = feature_values(features, [entries])
    missing, other = table[-2], table[-1]
    if _NO_TEXT not in values:
        return [*values, _NO_TEXT], table
    if not np.array_equal(missing, other, equal_nan=True):
        raise ExportError(
            f"column {name!r} has missing values and the empty text among its categories, and ONNX does not tell one "
            "from the other; give the empty text another name, and fit the model anew"
        )
    return values, np.delete(table, -2, axis=0)


# --------------------------------------------------------------------------------------------------
# Scores.


def _score(given: ItemSide, score: Score, factor: float = 1.0) -> Value:
    """Return scores, times a factor, as a column.

    No number is multiplied behind a product of matrices, or before one: onnxruntime makes one operator of the two, with
    the number in single precision. Factors go into what the functions add up, and :func:`_product` sees to the rest.
    """
    graph = given.graph
    match score:
        case Term():
            value = _function(graph, given.features(score.features), _times(score.function, factor))
            return _plus(graph, value, factor * score.constant)
        case Sum():
            parts = zip(score.parts, score.weights, strict=True)
            values = [_score(given, part, factor * weight) for part, weight in parts]
            return _plus(graph, _added(graph, values), factor * score.constant)
        case PlugIn():
            value = _plug_in(given, score)
            return value if factor == 1 else graph.add("Mul", value, factor)
        case Rated():
            unseen = np.nan if score.unseen is None else score.unseen
            return _by_name(given, score.names, factor * np.append(score.ratings, unseen))


def _times(function: Function, factor: float) -> Function:
    match function:
        case Linear() | KernelSum():
            return replace(function, weights=factor * function.weights)
        case BumpSum() | StepSum():
            return replace(function, weight=factor * function.weight)
        case Trees():
            return replace(function, value=factor * function.value)


def _product(graph: GraphWriter, x: Value, matrix: Floats) -> Value:
    """Return x times a matrix; of a single column by numbers, which may have been divided by one just before."""
    return graph.add("MatMul" if len(matrix) > 1 else "Mul", x, matrix)


def _plus(graph: GraphWriter, value: Value, constant: float) -> Value:
    return value if constant == 0 else graph.add("Add", value, constant)


def _added(graph: GraphWriter, parts: Sequence[Value]) -> Value:
    """Add up values, one after the other."""
    total = parts[0]
    for part in parts[1:]:
        total = graph.add("Add", total, part)
    return total


def _by_name(given: ItemSide, names: Sequence[str], values: Array) -> Value:
    """Look up a value for each name; the last is that of all others."""
    code = given.graph.number_of(given.text[0], names)
    return given.graph.add("Gather", values, code, axis=0)


def _function(graph: GraphWriter, x: Value, function: Function) -> Value:
    """Return a function of a matrix of features as a column."""
    match function:
        case Linear():
            return _product(graph, x, function.weights[:, None])
        case KernelSum() if not len(function.rows):  # a function that is zero, where levels overlap too much
            return _zeros(graph, x)
        case KernelSum(kernel="linear"):
            return _product(graph, x, (function.rows.T @ function.weights)[:, None])
        case KernelSum(kernel="rbf"):
            return _gaussians(graph, x, function)
        case KernelSum():
            return _powers(graph, x, function)
        case Trees():
            return _trees(graph, x, function)
        case BumpSum():
            return _bumps(graph, x, function)
        case StepSum():
            return _trees(graph, x, stumps(function))  # added one by one: equal rows have equal sums


def _blocks(n: int) -> list[slice]:
    return [slice(a, a + _BLOCK) for a in range(0, n, _BLOCK)]


def _gaussians(graph: GraphWriter, x: Value, kernel: KernelSum) -> Value:
    """Σ_j w_j exp(−γ‖x − z_j‖²), with the squares multiplied out; near the rows' middle these keep their digits."""
    middle = kernel.rows.mean(axis=0)
    rows = kernel.rows - middle
    x = graph.add("Clip", graph.add("Sub", x, middle), -_FARTHEST, _FARTHEST)
    norms = graph.add("ReduceSumSquare", x, _COLUMNS, keepdims=1)
    parts = []
    for block in _blocks(len(rows)):
        z = rows[block]
        products = _product(graph, x, 2.0 * z.T)
        squares = graph.add("Sub", graph.add("Add", norms, np.einsum("ij,ij->i", z, z)), products)
        heights = graph.add("Exp", graph.add("Mul", graph.add("Max", squares, 0.0), -kernel.gamma))
        parts.append(graph.add("MatMul", heights, kernel.weights[block, None]))
    return _added(graph, parts)


def _powers(graph: GraphWriter, x: Value, kernel: KernelSum) -> Value:
    """Σ_j w_j (γ xᵀz_j + c)^p."""
    parts = []
    for block in _blocks(len(kernel.rows)):
        products = _product(graph, x, kernel.gamma * kernel.rows[block].T)
        powers = graph.add("Pow", graph.add("Add", products, kernel.coef0), kernel.degree)
        parts.append(graph.add("MatMul", powers, kernel.weights[block, None]))
    return _added(graph, parts)


def _bumps(graph: GraphWriter, x: Value, bumps: BumpSum) -> Value:
    """Σ_m w_m exp(−(z − c_m)² / 2σ²), z being standardised columns, and rises; columns without either are left out."""
    if not len(bumps.weight):
        return _zeros(graph, x)
    used, place = np.unique(bumps.feature, return_inverse=True)
    z = graph.add("Gather", x, used, axis=1)
    for operator, part in (("Max", bumps.low), ("Min", bumps.high), ("Sub", bumps.mean), ("Div", bumps.scale)):
        z = graph.add(operator, z, part[used])
    parts = []
    for rises in (False, True):
        chosen = np.flatnonzero(bumps.rises == rises)
        for block in _blocks(len(chosen)):
            mine = chosen[block]
            away = graph.add("Sub", graph.add("Gather", z, place[mine], axis=1), bumps.centre[mine])
            heights = _rises(graph, away, bumps.width) if rises else _bells(graph, away, bumps.width)
            parts.append(graph.add("MatMul", heights, bumps.weight[mine, None]))
    return _added(graph, parts)


def _bells(graph: GraphWriter, away: Value, width: float) -> Value:
    return graph.add("Exp", graph.add("Mul", graph.add("Mul", away, away), -0.5 / width))


def _rises(graph: GraphWriter, away: Value, width: float) -> Value:
    """½a² + (½ − ½b²), with a = 1 + min(t, 0) and b = 1 − max(t, 0)."""
    t = graph.add("Clip", graph.add("Div", away, np.sqrt(6.0 * width)), -1.0, 1.0)
    low = graph.add("Add", graph.add("Min", t, 0.0), 1.0)
    high = graph.add("Sub", 1.0, graph.add("Max", t, 0.0))
    squares = [graph.add("Mul", graph.add("Mul", each, each), 0.5) for each in (low, high)]
    return graph.add("Add", squares[0], graph.add("Sub", 0.5, squares[1]))


def _zeros(graph: GraphWriter, x: Value) -> Value:
    """Return a column of zeros, with as many rows as a matrix."""
    shape = graph.add("Concat", graph.add("Shape", x, end=1), np.array([1]), axis=0)
    return graph.add("ConstantOfShape", shape, value=graph.tensor(np.zeros(1)))


def _trees(graph: GraphWriter, x: Value, trees: Trees) -> Value:
    """Write trees as one operator; a tree that is a leaf is a constant."""
    is_leaf = trees.left < 0
    alone = is_leaf[trees.roots]
    constant = float(trees.value[trees.roots[alone]].sum())
    inner, leaves = np.flatnonzero(~is_leaf), _leaves(trees)
    if not len(inner):
        return _plus(graph, _zeros(graph, x), constant)
    feature, threshold = trees.feature.astype(np.int64), trees.threshold.astype(float)
    if trees.has_sets:
        x = _with_sets(graph, x, trees, feature, threshold)
    number = np.zeros(len(is_leaf), np.int64)
    number[inner], number[leaves] = np.arange(len(inner)), np.arange(len(leaves))
    left, right = trees.left[inner], trees.right[inner]
    total = graph.add(
        "TreeEnsemble",
        x,
        domain=_TREES,
        n_targets=1,
        aggregate_function=1,
        post_transform=0,
        tree_roots=number[trees.roots[~alone]].tolist(),
        nodes_featureids=feature[inner].tolist(),
        nodes_splits=graph.tensor(threshold[inner]),
        nodes_modes=graph.tensor(np.zeros(len(inner), np.uint8)),  # left where the value is at most the threshold
        nodes_truenodeids=number[left].tolist(),
        nodes_falsenodeids=number[right].tolist(),
        nodes_trueleafs=is_leaf[left].astype(int).tolist(),
        nodes_falseleafs=is_leaf[right].astype(int).tolist(),
        nodes_missing_value_tracks_true=trees.missing_left[inner].astype(int).tolist(),
        leaf_targetids=[0] * len(leaves),
        leaf_weights=graph.tensor(trees.value[leaves].astype(float)),
    )
    return _plus(graph, total, constant)


def _leaves(trees: Trees) -> Ints:
    """Return the leaves of trees that are more than a leaf, in the order in which they are numbered.

    First come those beside a root's other, inner child, so that the numbers of the two differ: the leaf of the t-th
    tree is at most the t-th, and t roots stand before the inner child. Where they are the same, onnxruntime up to 1.23
    takes the root for a leaf.
    """
    is_leaf = trees.left < 0
    roots = trees.roots[~is_leaf[trees.roots]]
    sides = np.column_stack([trees.left[roots], trees.right[roots]])
    beside = sides[is_leaf[sides] & ~is_leaf[sides[:, ::-1]]]
    others = is_leaf.copy()
    others[trees.roots], others[beside] = False, False
    return np.concatenate([beside, np.flatnonzero(others)])


def _with_sets(graph: GraphWriter, x: Value, trees: Trees, feature: Ints, threshold: Floats) -> Value:
    """Put a column before those of x for each set that nodes split by, 1 where a row goes right; have nodes look there.

    The operator's own sets, of many categories, end some runtimes.
    """
    found: dict[tuple[int, int], dict[bytes, list[int]]] = {}
    for node in np.flatnonzero(trees.set_size > 0).tolist():
        begin, size = int(trees.set_begin[node]), int(trees.set_size[node])
        right = ~np.append(trees.member[begin : begin + size], trees.missing_left[node])
        found.setdefault((int(feature[node]), size), {}).setdefault(right.tobytes(), []).append(node)
    columns, n_columns = [], 0
    n_sets = sum(map(len, found.values()))
    feature[trees.left >= 0] += n_sets
    for (place, size), sets in found.items():
        value = graph.add("Gather", x, np.array(place), axis=1)
        inside = graph.add("And", graph.add("GreaterOrEqual", value, 0.0), graph.add("Less", value, float(size)))
        inside = graph.add("And", inside, graph.add("Equal", value, graph.add("Floor", value)))
        code = graph.of_type(graph.add("Where", inside, value, float(size)), "INT64")
        table = np.column_stack([np.frombuffer(right, bool).astype(float) for right in sets])
        columns.append(graph.add("Gather", table, code, axis=0))
        for nodes in sets.values():
            feature[nodes], threshold[nodes] = n_columns, 0.5
            n_columns += 1
    return graph.add("Concat", *columns, x, axis=1)


def _chances(given: ItemSide, chances: Chances) -> Value:
    """Return the probability of each level, a column a level."""
    graph = given.graph
    if isinstance(chances, Softmax):
        logits = _product(graph, given.features(chances.features), chances.weights.T)
        return graph.add("Softmax", graph.add("Add", logits, chances.constants), axis=1)
    score = _score(given, chances.score)
    sure = graph.add("Add", _zeros(graph, score), 1.0)
    above = _sigmoid(graph, graph.add("Sub", score, chances.thresholds))
    below = _sigmoid(graph, graph.add("Sub", chances.thresholds, score))
    room = np.concatenate([[1.0], -np.expm1(-np.diff(chances.thresholds)), [1.0]])
    both = graph.add("Mul", graph.add("Concat", sure, above, axis=1), graph.add("Concat", below, sure, axis=1))
    return graph.add("Mul", both, room)


def _sigmoid(graph: GraphWriter, x: Value) -> Value:
    """Return 1 / (1 + e^{−x}), whose lower end runtimes' own functions take for zero too early."""
    return graph.add("Div", 1.0, graph.add("Add", graph.add("Exp", graph.add("Neg", x)), 1.0))


def _plug_in(given: ItemSide, score: PlugIn) -> Value:
    graph, chances = given.graph, _chances(given, score.chances)
    gain, weight = (graph.add("MatMul", chances, part[:, None]) for part in (score.gain, score.weight))
    if score.bounded:
        weight = graph.add("Add", weight, graph.add("Abs", gain))
    middle = 0.0 if score.bounded else score.middle
    return graph.add("Where", graph.add("Greater", weight, 0.0), graph.add("Div", gain, weight), middle)


# --------------------------------------------------------------------------------------------------
# What comes out.


def _row_outputs(graph: GraphWriter, form: Form, inputs: Sequence[GraphInput]) -> dict[str, Value]:
    """Return the score of each row and, where the model tells them, its grade and the probabilities of grades."""
    given, grades = ItemSide(graph, form, inputs), form.grades
    score = _score(given, form.score)
    found = {"score": graph.add("Squeeze", score, _COLUMNS)}
    if grades is None:
        return found
    if grades.chances is not None:
        found["probabilities"] = _chances(given, grades.chances)
    if grades.cuts is not None:
        passed = graph.add("Not", graph.add("LessOrEqual", score, grades.cuts))  # one that is NaN has passed them all
        place = graph.add("ReduceSum", graph.of_type(passed, "INT64"), _COLUMNS, keepdims=0)
    elif grades.likeliest:
        place = graph.add("ArgMax", found["probabilities"], axis=1, keepdims=0)
    else:
        return found
    return found | {"grade": graph.add("Gather", _label_array(grades), place)}


def _label_array(grades: GradeRule) -> Array:
    kind = _label_type(grades.labels)
    if kind == "STRING":
        return np.array([str(label) for label in grades.labels], dtype=object)
    return np.array(grades.labels, dtype={"BOOL": bool, "INT64": np.int64, "DOUBLE": float}[kind])


def _pair_outputs(graph: GraphWriter, form: Form, inputs: Sequence[GraphInput]) -> dict[str, Value]:
    """Return how far the right item stands above the left one, what that means, and the scores of the two."""
    rule = form.pairs
    assert rule is not None
    left, right = (ItemSide(graph, form, [each for each in inputs if each.side == side]) for side in ("left", "right"))
    scores = [_score(given, form.score) for given in (left, right)]
    apart = graph.add("Sub", scores[1], scores[0])
    if isinstance(form.score, Rated) and form.score.islands is not None:
        islands = np.append(form.score.islands.astype(float), np.nan)
        together = graph.add("Equal", *(_by_name(given, form.score.names, islands) for given in (left, right)))
        apart = graph.add("Where", together, apart, np.nan)
    d = graph.add("Squeeze", _plus(graph, apart, -rule.advantage), _COLUMNS)
    differs = graph.add("Greater", graph.add("Abs", d), rule.threshold)
    told = graph.add("Where", differs, graph.add("Sign", d), 0.0)
    told = graph.add("Where", graph.add("IsNaN", d), float(NOT_KNOWN), told)
    found = {"difference": d, "outcome": graph.of_type(told, "INT64")}
    found |= {name: graph.add("Squeeze", score, _COLUMNS) for name, score in zip(_SCORES, scores, strict=True)}
    return found if rule.slope is None else found | {"probabilities": _outcome_chances(graph, apart, rule)}


def _outcome_chances(graph: GraphWriter, apart: Value, rule: PairRule) -> Value:
    """Return P(left), P(tie) of each kind, and P(right): e^{−x/2}, ν and e^{x/2} over their sum."""
    assert rule.slope is not None
    x = _plus(graph, graph.add("Mul", apart, rule.slope), rule.shift)
    with np.errstate(divide="ignore"):
        logs = np.log(np.array(rule.ties, dtype=float))
    ties = [graph.add("Add", _zeros(graph, x), logs)] if len(logs) else []
    columns = graph.add("Mul", x, -0.5), *ties, graph.add("Mul", x, 0.5)
    return graph.add("Softmax", graph.add("Concat", *columns, axis=1), axis=1)


# --------------------------------------------------------------------------------------------------
# A file written, and read back by the runtime where it is installed, else by the reference that the library brings.


def write(job: Job, path: Path) -> list[str]:
    """Write the graph."""
    path.write_bytes(onnx_bytes(job.form, _called(job.model)))
    return _notes(job.form)


def score(job: Job, path: Path, rows: Any) -> Scored:
    """Score rows, and hold all other outputs to the form as well; of pairs, each row stands left of another."""
    form, turned = job.form, _turned(rows)
    reader, found = compute(path.read_bytes(), feeds(form, rows, turned))
    wrong = [name for name, values in _expected(form, rows, found).items() if not _agree(found[name], values)]
    if wrong:
        raise ExportError(f"{reader} gives other values of {wrong[0]!r} than the model: nothing was written")
    return Scored(reader, found["score" if form.pairs is None else "left_score"])


TARGET = Target(
    name="onnx",
    title="ONNX Runtime",
    takes="every model that scores row by row, or pair by pair",
    write=write,
    score=score,
    ending=".onnx",
)


def feeds(form: Form, rows: Any, right: Any = None) -> dict[str, Array]:
    """Return rows as a file's inputs take them; of pairs, the left items' and the right ones'.

    Rows are a matrix, or columns by their names: see :func:`wellorder.export.forms.read_rows`.
    """
    sides, found = {"": rows, "left": rows, "right": right}, {}
    for each in inputs_of(form):
        if each.column is None:
            found[each.name] = _matrix(form, sides[each.side], each.width)
            continue
        values = read_rows(form, sides[each.side])[each.column]
        if each.kind == "text":
            values = np.array([_NO_TEXT if value is None else value for value in values.tolist()], dtype=object)
        found[each.name] = values[:, None]
    return found


def _matrix(form: Form, rows: Any, width: int) -> Floats:
    """Return rows as one matrix; of columns by name those that are not looked at are zero."""
    if not isinstance(rows, Mapping) and form.width <= WIDE:
        return np.asarray(rows, dtype=float)
    columns = read_rows(form, rows)
    out = np.zeros((len(columns[0]), width))
    for place, values in enumerate(columns):
        out[:, _place_in_matrix(form, place)] = values
    return out


def compute(content: bytes, given: Mapping[str, Array]) -> tuple[str, dict[str, Array]]:
    """Return who has read a file, and what its graph computes, by the names of its outputs."""
    try:
        runtime = import_module("onnxruntime")
    except ImportError:
        onnx = library("onnx")
        reference = library("onnx.reference").ReferenceEvaluator(onnx.load_from_string(content))
        found = reference.run(None, dict(given))
        return f"ONNX's reference {onnx.__version__}", dict(zip(reference.output_names, found, strict=True))
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return f"ONNX Runtime {runtime.__version__}", dict(zip(names, session.run(names, dict(given)), strict=True))


def _called(model: Any) -> str:
    """Return the name of a model's class, and of the one that it holds."""
    inner = next((getattr(model, name) for name in ("ranker_", "best_estimator_") if hasattr(model, name)), None)
    steps = getattr(model, "steps", None)
    inner = steps[-1][1] if inner is None and steps else inner
    return type(model).__name__ if inner is None else f"{type(model).__name__}({_called(inner)})"


def _notes(form: Form) -> list[str]:
    """Say what whoever uses the file must know of its inputs and outputs."""
    notes = []
    if form.named:
        notes.append(
            "each column is an input of its own, rows × 1: numbers as float64, NaN where they are missing, and text as "
            "strings, the empty one where it is missing"
        )
    if form.pairs is not None:
        notes.append("its inputs are the left and the right item of pairs; left_score is the score of items alone")
    if not form.named and form.width > WIDE:
        notes.append("a row has the columns that the model looks at, and no others: the file's property 'columns'")
    told = [
        f"the column {form.columns[each.column].name!r} is the input {each.name!r}"
        for each in inputs_of(form)
        if each.column is not None and not each.side and form.columns[each.column].name != each.name
    ]
    if form.grades is not None and _label_type(form.grades.labels) == "STRING":
        told += ["grades are given as text"] * any(not isinstance(label, str) for label in form.grades.labels)
    return notes + told


def _turned(rows: Any) -> Any:
    """Return rows from the last to the first."""
    if isinstance(rows, Mapping):
        return {name: np.asarray(values)[::-1] for name, values in rows.items()}
    return np.asarray(rows)[::-1]


def _expected(form: Form, rows: Any, found: Mapping[str, Array]) -> dict[str, Array]:
    """Return what the outputs beside the scores must be, given the scores that were found."""
    if form.pairs is not None:
        rule, apart = form.pairs, found["right_score"] - found["left_score"]
        if isinstance(form.score, Rated) and form.score.islands is not None:
            island = dict(zip(form.score.names, form.score.islands.tolist(), strict=True))
            own = np.array([island.get(name, np.nan) for name in read_rows(form, rows)[0].tolist()])
            apart = np.where(own == own[::-1], apart, np.nan)
        told = {"difference": apart - rule.advantage, "outcome": outcomes(rule, apart)}
        told["right_score"] = found["left_score"][::-1]
        return told if rule.slope is None else told | {"probabilities": pair_chances(rule, apart)}
    grades = form.grades
    if grades is None:
        return {}
    told = {}
    if grades.chances is not None:
        told["probabilities"] = chances_of(grades.chances, read_rows(form, rows))
    if grades.cuts is not None:
        told["grade"] = _label_array(grades)[np.searchsorted(grades.cuts, found["score"], side="left")]
    elif grades.likeliest:
        told["grade"] = _label_array(grades)[found["probabilities"].argmax(axis=1)]
    return told


_ROUNDING = 1e-9
"""How far probabilities may differ."""


def _agree(one: Array, other: Array) -> bool:
    if other.dtype.kind == "f":
        return bool(np.allclose(one, other, rtol=_ROUNDING, atol=_ROUNDING, equal_nan=True))
    return bool((np.asarray(one) == other).all())
