"""The Numba form of :mod:`wellorder.sweeps.ratings` and :mod:`wellorder.sweeps.history`: the same lines, compiled."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from . import history, ratings
from .compiled import jit


def _compile(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Compile the functions of a module so that they call one another's compiled forms, not the plain ones."""
    names = dict(vars(module))
    for name, function in vars(module).items():
        if isinstance(function, FunctionType):
            names[name] = jit(FunctionType(function.__code__, names, name))
    return names


SWEEPS = _compile(ratings) | _compile(history)
"""Compiled when first called, by name."""
