"""What holds for every model file: what can go wrong, how large it may be, and which types stand in it by name."""

from __future__ import annotations

from typing import Any

import numpy as np

# --------------------------------------------------------------------------------------------------
# What can go wrong with a model file.


class ModelFileError(ValueError):
    """The file is no model file, is damaged, or asks for something that a model file may not hold."""


class ModelFileWarning(UserWarning):
    """The file was written with another version of a package whose estimators it holds."""


# --------------------------------------------------------------------------------------------------
# How large and how deep a model file may be; the same for writing and for reading.


FORMAT = "wellorder-model"
VERSION = 3
"""The newest version of the format that is read. A file says the first one in which it means what it does; every older
one stays readable. Version 2: trees that know where missing values go, and sets of categories. Version 3: rises beside
bumps."""

MOST_NESTED = 64
"""The deepest nesting of values: more than any pipeline of pipelines needs, and far below Python's own limit."""

LARGEST_MANIFEST = 1 << 28
"""The most bytes of the manifest: numbers are in arrays, so that only text takes room here."""

COPIES = 16
"""Loading may create at most this many times the size of the file."""

METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "split",
    "transform",
    "inverse_transform",
)
"""The methods whose metadata requests (``set_fit_request`` and so on) are kept."""


# --------------------------------------------------------------------------------------------------
# Types that stand as values in parameters (``dtype=np.float64``), each under a fixed name.


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
