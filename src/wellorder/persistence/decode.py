"""A manifest and arrays in, a model out. Every name in the manifest is looked up in a table of ours."""

from __future__ import annotations

import base64
import binascii
import inspect
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np
from sklearn import config_context

from ..order import OrderGraph
from ..sweeps import Array
from .arrays import array_from_bytes, read_dtype, reshaped, scalar_from_bytes
from .checks import SPARSE, check_compressed, check_keys, check_state
from .registry import NOT_KEPT, find_class, may_be_set, parameters
from .rules import COPIES, METHODS, MOST_NESTED, TYPES, ModelFileError

_SPARE = 1 << 20

_STATE_WORDS = 624
"""How many numbers the state of a Mersenne Twister has."""


class Decoder:
    """Rebuilds values from JSON; ``members`` reads an array's bytes, and copies are bounded by the file's size."""

    def __init__(self, members: Callable[[int], bytes], n_members: int, file_size: int) -> None:
        self.uses_sklearn = False
        self._file_size = file_size
        self._members = members
        self._n_members = n_members
        self._allowance = COPIES * file_size + _SPARE
        self._arrays: dict[int, Array] = {}
        self._path: list[str] = []
        self._depth = 0

    def decode(self, value: Any) -> Any:
        """Return what this JSON value stands for."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if not isinstance(value, dict) or len(value) != 1:
            self._refuse(f"expected one value, found {_shown(value)}")
        tag, content = next(iter(value.items()))
        coder = _CODERS.get(tag)
        if coder is None:
            self._refuse(f"{tag[:40]!r} is not a kind of value that a model file may hold")
        if self._depth >= MOST_NESTED:
            self._refuse(f"values are nested more than {MOST_NESTED} deep")
        self._depth += 1
        decoded = coder(self, content)
        self._depth -= 1
        return decoded

    def decode_at(self, step: str, value: Any) -> Any:
        """Return what this JSON value stands for; it is reached by this step."""
        self._path.append(step)
        decoded = self.decode(value)
        self._path.pop()
        return decoded

    @property
    def where(self) -> str:
        """The part of the model that is being read."""
        return "".join(self._path)

    def n_unused(self) -> int:
        """Return how many arrays nothing refers to."""
        return self._n_members - len(self._arrays)

    def _refuse(self, reason: str) -> NoReturn:
        raise ModelFileError(reason)

    def _charge(self, n_bytes: int) -> None:
        """Count the bytes of a copy: a small file must not fill the memory by naming one array often."""
        self._allowance -= n_bytes
        if self._allowance < 0:
            self._refuse("it would take far more memory than the file is long")

    def _items(self, content: Any) -> list[Any]:
        if not isinstance(content, list):
            self._refuse(f"expected a list, found {_shown(content)}")
        return [self.decode_at(f"[{place}]", item) for place, item in enumerate(content)]

    def _set(self, content: Any) -> list[Any]:
        members = self._items(content)
        check_keys(members)
        return members

    def _dict(self, content: Any) -> dict[Any, Any]:
        if not isinstance(content, list) or any(not isinstance(pair, list) or len(pair) != 2 for pair in content):
            self._refuse("expected pairs of a key and a value")
        pairs = [(self.decode(key), self.decode_at(f"[{_shown(key)}]", entry)) for key, entry in content]
        check_keys([key for key, _ in pairs])
        made = dict(pairs)
        if len(made) < len(pairs):
            self._refuse("a table has a key twice")
        return made

    def _slice(self, content: Any) -> slice:
        ends = self._items(content)
        if len(ends) != 3:
            self._refuse("a slice has three parts")
        return slice(*ends)

    def _int(self, content: Any) -> int:
        number: int = self._parsed(content, lambda text: int(text, 16), "a whole number")
        return number

    def _float(self, content: Any) -> float:
        if content not in ("nan", "inf", "-inf"):
            self._refuse(f"{_shown(content)} is not a number")
        return float(content)

    def _bytes(self, content: Any) -> bytes:
        parsed: bytes = self._parsed(content, lambda text: base64.b64decode(text, validate=True), "bytes")
        return parsed

    def _hex(self, content: Any) -> bytes:
        parsed: bytes = self._parsed(content, bytes.fromhex, "bytes")
        return parsed

    def _parsed(self, content: Any, parse: Callable[[str], Any], kind: str) -> Any:
        with suppress(ValueError, binascii.Error):
            if isinstance(content, str):
                return parse(content)
        self._refuse(f"{_shown(content)} does not stand for {kind}")

    def _type(self, content: Any) -> Any:
        if not isinstance(content, str) or content not in TYPES:
            self._refuse(f"{_shown(content)} is not a type that a model file may name")
        return TYPES[content]

    def _dtype(self, content: Any) -> np.dtype[Any]:
        return np.dtype(object) if content == "O" else read_dtype(content)

    def _scalar(self, content: Any) -> Any:
        if not isinstance(content, list) or len(content) != 2:
            self._refuse("a NumPy value has a type and its bytes")
        return scalar_from_bytes(read_dtype(content[0]), self._hex(content[1]))

    def _array(self, content: Any) -> Array:
        if type(content) is not int or not 0 <= content < self._n_members:
            self._refuse(f"there is no array {_shown(content)} in the file")
        if content not in self._arrays:
            try:
                self._arrays[content] = array_from_bytes(self._members(content))
            except ModelFileError as error:
                self._refuse(f"array {content}: {error}")
        return self._arrays[content]

    def _table(self, content: Any, *keys: str) -> list[Any]:
        """Return the entries of a JSON object that must have exactly these keys."""
        if not isinstance(content, dict) or set(content) != set(keys):
            self._refuse(f"expected {', '.join(keys)}; found {_shown(content)}")
        return [content[key] for key in keys]

    def _shape(self, content: Any) -> tuple[int, ...]:
        if not isinstance(content, list) or any(type(size) is not int or not 0 <= size < 1 << 62 for size in content):
            self._refuse(f"{_shown(content)} is not a shape")
        if len(content) > 32:
            self._refuse(f"an array of {len(content)} axes is more than a model file may hold")
        return tuple(content)

    def _objects(self, content: Any) -> Array:
        given, items = self._table(content, "shape", "items")
        shape = self._shape(given)
        if not isinstance(items, list) or math.prod(shape) != len(items):
            self._refuse(f"an array of shape {shape} does not have these entries")
        flat = np.empty(len(items), dtype=object)
        for place, entry in enumerate(self._items(items)):
            flat[place] = entry
        return reshaped(flat, shape)

    def _records(self, content: Any) -> Array:
        given, align, fields = self._table(content, "shape", "align", "fields")
        shape = self._shape(given)
        if not isinstance(fields, list) or not fields or not isinstance(align, bool):
            self._refuse("an array of records needs fields")
        parts: dict[str, Array] = {}
        for field in fields:
            name, part = field if isinstance(field, list) and len(field) == 2 else (None, None)
            array = self.decode(part)
            if not isinstance(name, str) or not name or name in parts or not isinstance(array, np.ndarray):
                self._refuse("a field of an array of records has no name or no array")
            if array.dtype.hasobject or array.shape[: len(shape)] != shape:
                self._refuse(f"the field {name[:40]!r} does not fit an array of shape {shape}")
            parts[name] = array
        dtype = np.dtype([(name, part.dtype, part.shape[len(shape) :]) for name, part in parts.items()], align=align)
        self._charge(math.prod(shape) * dtype.itemsize)
        records = np.zeros(shape, dtype)
        for name, part in parts.items():
            records[name] = part
        return records

    def _sparse(self, content: Any) -> Any:
        kind, given, *parts = self._table(content, "class", "shape", "data", "indices", "indptr")
        shape = self._shape(given)
        if kind not in SPARSE or len(shape) != 2:
            self._refuse(f"{_shown(kind)} of shape {shape} is not a matrix that a model file may hold")
        data, indices, indptr = (self.decode(part) for part in parts)
        if not all(isinstance(part, np.ndarray) for part in (data, indices, indptr)):
            self._refuse("a sparse matrix is made of three arrays")
        n_major, n_minor = shape if kind.startswith("csr") else shape[::-1]
        check_compressed(data, indices, indptr, n_major, n_minor)
        matrix = SPARSE[kind]((data, indices, indptr), shape=shape)
        matrix.indices, matrix.indptr = indices, indptr  # as wide as they were
        return matrix

    def _order(self, content: Any) -> OrderGraph:
        kind = content.get("kind") if isinstance(content, dict) else None
        keys = {"full": (), "scale": ("weights", "scale"), "table": ("weights",)}.get(str(kind))
        if keys is None:
            self._refuse(f"{_shown(kind)} is not a kind of order graph")
        labels, _, *given = self._table(content, "levels", "kind", *keys)
        levels = self.decode_at(".levels", labels)
        parts = [self.decode(part) for part in given]
        if not isinstance(levels, tuple) and not (isinstance(levels, np.ndarray) and levels.ndim == 1):
            self._refuse("the levels of an order graph are not a list")
        if any(not isinstance(part, np.ndarray | SPARSE["csr_array"]) for part in parts):
            self._refuse("the weights of an order graph are not an array")
        if any(part.dtype.kind not in "biuf" for part in parts):
            self._refuse("the weights of an order graph are not numbers")
        check_keys(levels if isinstance(levels, tuple) else levels.tolist())
        self._charge(sum(part.data.nbytes * 3 for part in parts) + 8 * len(levels))
        try:
            if kind == "full":
                return OrderGraph.full(levels)
            if kind == "table":
                return OrderGraph(levels, parts[0])
            return OrderGraph.from_scale(parts[0], parts[1], levels)
        except (ValueError, TypeError) as error:
            self._refuse(f"the order graph is not sound: {error}")

    def _random_state(self, content: Any) -> np.random.RandomState:
        given, pos, has_gauss, gauss = self._table(content, "key", "pos", "has_gauss", "gauss")
        key, spare = self._hex(given), self.decode(gauss)
        if len(key) != 4 * _STATE_WORDS or type(pos) is not int or not 0 <= pos <= _STATE_WORDS:
            self._refuse("the state of a RandomState has the wrong length")
        if has_gauss not in (0, 1) or not isinstance(spare, int | float):
            self._refuse("the state of a RandomState is not one")
        words = np.frombuffer(key, "<u4").astype(np.uint32)
        generator = np.random.RandomState(0)
        generator.set_state(("MT19937", words, pos, int(has_gauss), float(spare)))
        return generator

    def _object(self, content: Any) -> Any:
        if not isinstance(content, dict) or set(content) - {"requests"} != {"class", "state"}:
            self._refuse(f"expected a class and its state; found {_shown(content)}")
        public, state = content["class"], content["state"]
        cls = find_class(public)
        self.uses_sklearn |= public.startswith("sklearn.")
        if not isinstance(state, dict):
            self._refuse(f"the state of {public} is not a table of attributes")
        if not self._path:
            self._path.append(cls.__name__)
        model: Any = object.__new__(cls)
        given = parameters(cls)
        for name, value in {**self._defaults(cls, state), **state}.items():
            if not may_be_set(cls, name):
                self._refuse(f"{public} has no attribute {name[:40]!r} to set")
            vars(model)[name] = self.decode_at(f".{name}", value) if name in state else value
        vars(model).update({name: given[name].default for name in NOT_KEPT if name in given})
        self._request(model, content.get("requests", {}))
        check_state(public, model, given, self._file_size)
        return model

    def _defaults(self, cls: type, state: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that came to the class after the file was written, at their defaults."""
        missing = {name: given.default for name, given in parameters(cls).items() if name not in state}
        for name, default in missing.items():
            if default is inspect.Parameter.empty:
                self._refuse(f"the parameter {name!r} of {cls.__name__} is not there")
        return missing

    def _request(self, model: Any, requests: Any) -> None:
        """Ask for metadata as the saved model did."""
        if not isinstance(requests, dict):
            self._refuse("the metadata requests are not a table")
        for method, asked in requests.items():
            setter = getattr(model, f"set_{method}_request", None) if method in METHODS else None
            if setter is None or not isinstance(asked, dict):
                self._refuse(f"there are no metadata requests for {method[:40]!r}")
            if any(value is not None and not isinstance(value, bool | str) for value in asked.values()):
                self._refuse(f"the metadata requests for {method!r} are not names")
            try:
                with config_context(enable_metadata_routing=True):
                    setter(**asked)
            except (TypeError, ValueError) as error:
                self._refuse(f"the metadata requests for {method!r} do not fit: {error}")


_CODERS: dict[str, Callable[[Decoder, Any], Any]] = {
    "list": Decoder._items,
    "tuple": lambda decoder, content: tuple(decoder._items(content)),
    "set": lambda decoder, content: set(decoder._set(content)),
    "frozenset": lambda decoder, content: frozenset(decoder._set(content)),
    "dict": Decoder._dict,
    "slice": Decoder._slice,
    "int": Decoder._int,
    "float": Decoder._float,
    "bytes": Decoder._bytes,
    "type": Decoder._type,
    "dtype": Decoder._dtype,
    "scalar": Decoder._scalar,
    "array": Decoder._array,
    "objects": Decoder._objects,
    "records": Decoder._records,
    "sparse": Decoder._sparse,
    "order": Decoder._order,
    "random_state": Decoder._random_state,
    "object": Decoder._object,
}


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= 40 else text[:37] + "..."
