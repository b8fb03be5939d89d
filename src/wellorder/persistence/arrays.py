"""Arrays as the bytes of ``.npy`` files, written and read by rules stricter than NumPy's own.

NumPy's reader evaluates the header as a Python literal and allocates what the header asks for. Here a
header has one spelling, matched by one regular expression, and its size must be the member's size before
an array is made. ``numpy.load`` reads these members too.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ..sweeps import Array
from .rules import ModelFileError

_MAGIC = b"\x93NUMPY\x01\x00"
_UNIT = r"\[\d{0,9}(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]"
_DTYPE = re.compile(rf"[<>|][biufcSU]\d{{1,9}}|[<>][mM]8(?:{_UNIT})?")
_HEADER = re.compile(
    rb"\{'descr': '([^']{1,40})', 'fortran_order': (True|False), 'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n"
)
_MOST_AXES = 32
_LAST_CODE_POINT = 0x10FFFF


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Say whether arrays of this type are plain bytes that a ``.npy`` member may hold."""
    return dtype.itemsize > 0 and _DTYPE.fullmatch(dtype.str) is not None


def spell_dtype(dtype: np.dtype[Any]) -> str:
    """Return the type as it is spelled in a file."""
    return dtype.str


def read_dtype(text: Any) -> np.dtype[Any]:
    """Return the plain type of this spelling."""
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise ModelFileError(f"{str(text)[:60]!r} is not a type of array that a model file may hold")
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"the array type {text!r} is not known here: {error}") from None
    if dtype.str != text:  # some versions of NumPy let the size of very long text overflow
        raise ModelFileError(f"the array type {text!r} is not known here")
    return dtype


def array_bytes(array: Array) -> bytes:
    """Return the array as a ``.npy`` file; column-major arrays stay so, other views become row-major."""
    columns_first = array.flags.f_contiguous and not array.flags.c_contiguous
    shape = "".join(f"{size}, " for size in array.shape)
    shape = shape.removesuffix(" ") if array.ndim == 1 else shape.removesuffix(", ")
    header = f"{{'descr': '{array.dtype.str}', 'fortran_order': {columns_first}, 'shape': ({shape}), }}".encode()
    filled = -(-(len(_MAGIC) + 2 + len(header) + 1) // 64) * 64
    header = header.ljust(filled - len(_MAGIC) - 3) + b"\n"
    return _MAGIC + len(header).to_bytes(2, "little") + header + array.tobytes("F" if columns_first else "C")


def array_from_bytes(content: bytes) -> Array:
    """Return the array of a ``.npy`` file; nothing is allocated unless header and length agree."""
    start = len(_MAGIC) + 2
    stop = start + int.from_bytes(content[len(_MAGIC) : start], "little")
    header = _HEADER.fullmatch(content[start:stop])
    if not content.startswith(_MAGIC) or header is None:
        raise ModelFileError("its header is not that of a plain array")
    dtype = read_dtype(header[1].decode("latin-1"))
    shape = tuple(int(size) for size in header[3].decode().split(",") if size.strip())
    order = "F" if header[2] == b"True" else "C"
    check_size(shape, dtype, len(content) - stop)
    flat = np.frombuffer(content, dtype, offset=stop).copy()
    _check_values(flat)
    return reshaped(flat, shape, order)


def check_size(shape: tuple[int, ...], dtype: np.dtype[Any], n_bytes: int) -> None:
    """Refuse a shape that does not take exactly this many bytes."""
    if len(shape) > _MOST_AXES:
        raise ModelFileError(f"an array of {len(shape)} axes is more than a model file may hold")
    if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != n_bytes:
        raise ModelFileError(
            f"its header promises shape {shape} of {dtype.str!r}, which is not the {n_bytes} bytes that follow"
        )


def scalar_from_bytes(dtype: np.dtype[Any], content: bytes) -> Any:
    """Return one NumPy scalar."""
    if dtype.itemsize != len(content):
        raise ModelFileError(f"a number of type {dtype.str!r} takes {dtype.itemsize} bytes, not {len(content)}")
    if not content:  # the empty text
        return np.zeros((), dtype)[()]
    value = np.frombuffer(content, dtype).copy()
    _check_values(value)
    return value[0]


def reshaped(flat: Array, shape: tuple[int, ...], order: Any = "C") -> Array:
    """Return the array in this shape, which must have as many entries."""
    try:
        return flat.reshape(shape, order=order)
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"an array cannot have the shape {shape}: {error}") from None


def _check_values(array: Array) -> None:
    """Refuse bytes that are no value of their type: NumPy takes them and misbehaves later."""
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ModelFileError("an array of truth values holds something else than 0 and 1")
    if array.dtype.kind == "U":
        points = array.view(np.dtype(f"{array.dtype.str[0]}u4"))
        if (points > _LAST_CODE_POINT).any():
            raise ModelFileError("an array of text holds something that is not a character")
