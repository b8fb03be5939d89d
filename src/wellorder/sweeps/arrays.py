"""The array types that pass between the rooms. Their names say the dtype; NumPy's stubs cannot yet."""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy.typing import NDArray

Floats: TypeAlias = NDArray[Any]
"""float64"""

Ints: TypeAlias = NDArray[Any]
"""int32, which is enough to number two thousand million rows, cells or positions"""

Array: TypeAlias = NDArray[Any]
"""any dtype"""
