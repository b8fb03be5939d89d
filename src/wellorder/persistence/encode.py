"""A model in, its manifest and arrays out; what has no place in a model file is refused, and named."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NoReturn, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..order import CostTable, Full, OrderGraph, Scale
from ..state import Stored
from ..sweeps import Array
from .arrays import array_bytes, is_plain, spell_dtype
from .checks import SPARSE
from .registry import NOT_KEPT, may_be_set, parameters, public_name
from .rules import METHODS, MOST_NESTED, TYPE_NAMES

Json: TypeAlias = Any


class Encoder:
    """Turns one model into JSON values; its arrays gather in ``members``, each once."""

    def __init__(self) -> None:
        self.members: list[bytes] = []
        self.uses_sklearn = False
        self.version = 1
        self._places: dict[int, int] = {}
        self._kept: list[Array] = []  # an id is only good while its array lives
        self._path: list[str] = []
        self._open: set[int] = set()

    def encode(self, value: Any) -> Json:
        """Return the JSON form of one value."""
        kind = type(value)
        if value is None or kind in (bool, str):
            return value
        if kind in (int, float):
            return _number(value)
        coder = _CODERS.get(kind)
        if coder is not None:
            with self._inside(value):
                return coder(self, value)
        if isinstance(value, np.generic):
            return self._scalar(value)
        if isinstance(value, np.dtype):
            return {"dtype": self._plain_dtype(value)}
        if kind is type and value in TYPE_NAMES:
            return {"type": TYPE_NAMES[value]}
        with self._inside(value):
            return self._object(value)

    def encode_at(self, step: str, value: Any) -> Json:
        """Return the JSON form of a value that is reached by this step."""
        self._path.append(step)
        encoded = self.encode(value)
        self._path.pop()
        return encoded

    def refuse(self, reason: str) -> NoReturn:
        """Say which part of the model cannot be saved, and why."""
        raise TypeError(f"{''.join(self._path) or 'the model'} {reason}")

    @contextmanager
    def _inside(self, value: Any) -> Iterator[None]:
        if id(value) in self._open:
            self.refuse("holds itself; a model file cannot")
        if len(self._open) >= MOST_NESTED:
            self.refuse(f"is nested more than {MOST_NESTED} deep")
        self._open.add(id(value))
        yield
        self._open.remove(id(value))

    def _items(self, values: Iterable[Any]) -> list[Json]:
        return [self.encode_at(f"[{place}]", value) for place, value in enumerate(values)]

    def _set(self, values: Iterable[Any]) -> list[Json]:
        return sorted(self._items(values), key=lambda item: json.dumps(item, sort_keys=True))

    def _dict(self, value: dict[Any, Any]) -> Json:
        pairs = [(self.encode(key), self.encode_at(f"[{_short(key)}]", entry)) for key, entry in value.items()]
        return {"dict": [list(pair) for pair in pairs]}

    def _array(self, array: Array) -> Json:
        if type(array) is np.memmap:
            array = np.asarray(array)
        if array.dtype.kind == "O":
            return {"objects": {"shape": list(array.shape), "items": self._items(array.ravel().tolist())}}
        if array.dtype.names is not None:
            return self._fields(array)
        if not is_plain(array.dtype):
            self.refuse(f"is an array of type {array.dtype}, which a model file does not hold; make it numbers or text")
        return {"array": self._member(array)}

    def _member(self, array: Array) -> int:
        place = self._places.get(id(array))
        if place is None:
            place = self._places[id(array)] = len(self.members)
            self._kept.append(array)
            self.members.append(array_bytes(array))
        return place

    def _fields(self, array: Array) -> Json:
        names = array.dtype.names or ()
        formats = [(name, array.dtype[name]) for name in names]
        if not names or np.dtype(formats, align=array.dtype.isalignedstruct) != array.dtype:
            self.refuse(f"is an array of records with gaps or titles ({array.dtype}); use plain fields")
        fields = [[name, self.encode_at(f"[{name!r}]", np.ascontiguousarray(array[name]))] for name in names]
        return {"records": {"shape": list(array.shape), "align": array.dtype.isalignedstruct, "fields": fields}}

    def _scalar(self, value: np.generic) -> Json:
        dtype = value.dtype
        if not is_plain(dtype) and dtype.kind not in "SU":
            self.refuse(f"is a NumPy value of type {dtype}, which a model file does not hold")
        return {"scalar": [spell_dtype(dtype), value.tobytes()[: dtype.itemsize].hex()]}

    def _plain_dtype(self, dtype: np.dtype[Any]) -> str:
        if dtype.kind == "O":
            return "O"
        if not is_plain(dtype) and dtype.str not in ("<U0", "|S0"):
            self.refuse(f"is the array type {dtype}, which a model file does not hold")
        return spell_dtype(dtype)

    def _sparse(self, matrix: Any) -> Json:
        parts = {name: self.encode_at(f".{name}", getattr(matrix, name)) for name in ("data", "indices", "indptr")}
        return {"sparse": {"class": type(matrix).__name__, "shape": [int(size) for size in matrix.shape], **parts}}

    def _graph(self, graph: OrderGraph) -> Json:
        levels = self.encode_at(".levels", graph.labels)
        match graph.structure:
            case Full():
                return {"order": {"levels": levels, "kind": "full"}}
            case Scale(weight, scale):
                parts = {"weights": self.encode(weight), "scale": self.encode(scale)}
                return {"order": {"levels": levels, "kind": "scale", **parts}}
            case CostTable(matrix):
                return {"order": {"levels": levels, "kind": "table", "weights": self.encode(matrix)}}

    def _random_state(self, generator: np.random.RandomState) -> Json:
        state: Any = generator.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            self.refuse(f"is a RandomState over {state['bit_generator']}; use a whole number as the seed")
        return {
            "random_state": {
                "key": state["state"]["key"].astype("<u4").tobytes().hex(),
                "pos": int(state["state"]["pos"]),
                "has_gauss": int(state["has_gauss"]),
                "gauss": _number(float(state["gauss"])),
            }
        }

    def _object(self, value: Any) -> Json:
        name = public_name(type(value))
        if name is None:
            self.refuse(_why_not(value))
        self.uses_sklearn |= name.startswith("sklearn.")
        if isinstance(value, Stored):
            self.version = max(self.version, value._format_version())
        if not self._path:
            self._path.append(type(value).__name__)
        state = dict(vars(value))
        encoded: dict[str, Json] = {"class": name}
        requests = state.pop("_metadata_request", None)
        if requests is not None:
            encoded["requests"] = self._requests(requests)
        for hidden in state:
            if not may_be_set(type(value), hidden):
                self.refuse(f"carries {hidden!r}, which hides a part of {type(value).__name__}")
        if name == "sklearn.pipeline.Pipeline" and state["memory"] is not None:
            self.refuse("has memory= set: a cache of pickled files; set it to None before saving")
        cls: Any = type(value)
        given = parameters(cls)
        state |= {name: given[name].default for name in NOT_KEPT if name in given}
        encoded["state"] = {key: self.encode_at(f".{key}", state[key]) for key in sorted(state)}
        return {"object": encoded}

    def _requests(self, requests: Any) -> Json:
        asked = {method: getattr(getattr(requests, method, None), "requests", {}) for method in METHODS}
        return {method: dict(found) for method, found in asked.items() if found}


_CODERS: dict[type, Callable[[Encoder, Any], Json]] = {
    list: lambda encoder, value: {"list": encoder._items(value)},
    tuple: lambda encoder, value: {"tuple": encoder._items(value)},
    set: lambda encoder, value: {"set": encoder._set(value)},
    frozenset: lambda encoder, value: {"frozenset": encoder._set(value)},
    slice: lambda encoder, value: {"slice": encoder._items((value.start, value.stop, value.step))},
    bytes: lambda encoder, value: {"bytes": base64.b64encode(value).decode("ascii")},
    dict: Encoder._dict,
    np.ndarray: Encoder._array,
    np.memmap: Encoder._array,
    OrderGraph: Encoder._graph,
    np.random.RandomState: Encoder._random_state,
    **dict.fromkeys(SPARSE.values(), Encoder._sparse),
}


def _number(value: float | int) -> Json:
    if isinstance(value, int):
        return value if abs(value) < 1 << 63 else {"int": hex(value)}
    return value if math.isfinite(value) else {"float": repr(value)}


def _short(key: Any) -> str:
    text = repr(key)
    return text if len(text) <= 40 else text[:37] + "..."


def _why_not(value: Any) -> str:
    """Say why this object is on no list, and what to do about it."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, type | ModuleType):
        return f"is {value!r}: a model file holds values, no code"
    if callable(value) and not hasattr(value, "fit"):
        called = getattr(value, "__name__", name)
        return f"is a function ({called}): a model file holds no code; use a named option, or keep the code elsewhere"
    if isinstance(value, np.random.Generator):
        return "is a numpy Generator, whose state a model file does not hold; use a whole number as the seed"
    if hasattr(value, "best_estimator_"):
        return f"is a {kind.__name__}, which a model file does not hold; save its best_estimator_"
    if hasattr(value, "fit"):
        return (
            f"is a {name}, which is not among the learners a model file may hold: loading a foreign class safely "
            "cannot be promised; use one of wellorder's, or keep this one with its own package's tools"
        )
    if isinstance(value, np.ndarray) or sp.issparse(value):
        return f"is a {name}; make it a plain array, or a CSR or CSC matrix"
    if name.startswith(("pandas.", "polars.", "narwhals.")):
        return f"is a {name}; make it a list or an array"
    return f"is a {name}, which a model file does not hold; use plain values"
