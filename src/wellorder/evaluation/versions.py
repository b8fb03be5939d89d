"""Which versions computed a result."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version

from .. import __version__


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return (package, version) of everything that a number may depend on."""
    packages = ("numpy", "scipy", "scikit-learn", "polars")
    return (
        ("wellorder", __version__),
        ("Python", platform.python_version()),
        *((package, version(package)) for package in packages),
    )
