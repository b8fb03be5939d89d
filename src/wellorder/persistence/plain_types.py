"""Types that stand as values in parameters (``dtype=np.float64``), each under a fixed name."""

from __future__ import annotations

from typing import Any

import numpy as np

_NUMPY = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "longdouble",
    "complex64",
    "complex128",
    "str_",
    "bytes_",
    "object_",
    "datetime64",
    "timedelta64",
    "generic",
    "number",
    "integer",
    "signedinteger",
    "unsignedinteger",
    "inexact",
    "floating",
]

TYPES: dict[str, Any] = {
    **{f"numpy.{name}": getattr(np, name) for name in _NUMPY},
    **{kind.__name__: kind for kind in (bool, int, float, complex, str, bytes, object)},
}
"""All types that a file may name."""

TYPE_NAMES: dict[Any, str] = {kind: name for name, kind in TYPES.items()}
