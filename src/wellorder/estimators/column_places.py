"""Columns of X as users name them: by name, by place, or as a mask over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..suggest import suggest
from ..sweeps import Ints


def column_place(given: Any, option: str, n_columns: int, names: Sequence[str] | None) -> int:
    """Return the place of a column that is given by name or by place; a wrong one is an error that says of what."""
    if isinstance(given, str):
        if names is None:
            raise ValueError(f"{option} names the column {given!r}, and X has no column names; give its place, from 0")
        known = [str(name) for name in names]
        if given not in known:
            raise ValueError(f"{option} names the column {given!r}, which X has not; {suggest(given, known)}")
        return known.index(given)
    if isinstance(given, bool | np.bool_) or not isinstance(given, int | np.integer):
        raise ValueError(f"{option} takes columns by name or by place, not {given!r}")
    if not -n_columns <= given < n_columns:
        raise ValueError(f"{option} names column {given}, and X has {n_columns} columns, from 0")
    return int(given) % n_columns


def column_places(given: Any, option: str, n_columns: int, names: Sequence[str] | None) -> Ints:
    """Return the places of some columns, ascending: given by names or places, or as a mask over all of them."""
    if given is None:
        return np.zeros(0, np.int64)
    if isinstance(given, str) or not np.iterable(given):
        raise ValueError(f"{option} must be a list of columns, or a mask over all of them, got {given!r}")
    listed = list(given)
    if listed and all(isinstance(each, bool | np.bool_) for each in listed):
        if len(listed) != n_columns:
            raise ValueError(f"{option} is a mask of {len(listed)} columns, and X has {n_columns}")
        return np.flatnonzero(np.array(listed))
    return np.unique(np.array([column_place(each, option, n_columns, names) for each in listed], dtype=np.int64))
