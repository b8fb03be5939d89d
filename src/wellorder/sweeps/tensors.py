"""What NumPy and Torch spell differently, in one place. Torch is never imported here: a tensor brings its own."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .arrays import Array

_BLOCK = 1_024
"""Entries that are added up in one go, on a device."""


def is_tensor(values: Any) -> bool:
    """Say whether something is a torch tensor; where nobody has imported torch, nothing is."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def namespace(values: Any) -> Any:
    """Return the module whose functions work on these values: torch, or NumPy."""
    return sys.modules["torch"] if is_tensor(values) else np


def to_numpy(values: Any) -> Array:
    """Return values as a NumPy array, from wherever they lie."""
    if not is_tensor(values):
        return np.asarray(values)
    values = values.detach().cpu()
    return np.asarray(cast(values, "float32") if values.dtype == namespace(values).bfloat16 else values)


def beside(where: Any, values: Array) -> Any:
    """Put a NumPy array where ``where`` lies: on its device, or nowhere else than it is."""
    if not is_tensor(where):
        return values
    return namespace(where).from_numpy(np.require(values, requirements=("C", "W"))).to(where.device)


def cast(values: Any, dtype: Any) -> Any:
    """Return values in a dtype, or the one of this name; themselves where they have it."""
    if is_tensor(values):
        return values.to(getattr(namespace(values), dtype) if isinstance(dtype, str) else dtype)
    return values.astype(dtype, copy=False)


def all_finite(values: Any) -> bool:
    """Say whether there is neither NaN nor infinity; on a device, without a mask of all values if the sum tells."""
    if not is_tensor(values):
        return bool(np.isfinite(values).all())
    torch = namespace(values)
    return bool(torch.isfinite(values.sum(dtype=torch.float64))) or bool(torch.isfinite(values).all())


def take(values: Any, index: Any) -> Any:
    """Return the columns (or entries) that an index names."""
    return values.index_select(-1, index) if is_tensor(values) else np.take(values, index, axis=-1)


def search(ascending: Any, values: Any, side: str = "left") -> Any:
    """Find where values would have to stand in an ascending array; int32."""
    if is_tensor(ascending):
        return namespace(ascending).searchsorted(ascending, values, side=side, out_int32=True)
    return np.searchsorted(ascending, values, side=side).astype(np.int32)  # type: ignore[call-overload]


def running(values: Any) -> Any:
    """Return the sums of all entries before each place of the last axis, and of all: one longer than the values."""
    xp, n = namespace(values), values.shape[-1]
    if not is_tensor(values) or not values.is_floating_point() or n < _BLOCK:
        return xp.concatenate([xp.zeros_like(values[..., :1]), xp.cumsum(values, axis=-1)], -1)
    # block by block: a GPU's scan over one long line adds up in an order that changes from run to run
    blocks = xp.nn.functional.pad(values, (1, -(n + 1) % _BLOCK)).reshape(*values.shape[:-1], -1, _BLOCK)
    inside = xp.cumsum(blocks, -1)
    inside += running(inside[..., -1])[..., :-1, None]
    return inside.reshape(*values.shape[:-1], -1)[..., : n + 1]


def running_within(values: Any, start: Any) -> Any:
    """Sum the entries of each place's block up to it, on the last axis; ``start`` is where a place's block begins.

    Nothing is subtracted, so that a small entry keeps its digits wherever large ones stand. A scan by doubling:
    O(n log n), and the same sums in the same order on every run.
    """
    xp, n = namespace(values), values.shape[-1]
    place, step = xp.arange(n, device=values.device), 1
    longest = int((place - start).max()) + 1 if n else 0
    # invariant: each place holds the sum of the (at most) step entries of its block up to it
    while step < longest:
        earlier = xp.concatenate([xp.zeros_like(values[..., :step]), values[..., :-step]], -1)
        values = values + xp.where(place - step >= start, earlier, 0.0)
        step *= 2
    return values


def repeat(values: Any, counts: Any) -> Any:
    """Repeat each value so many times."""
    return values.repeat_interleave(counts) if is_tensor(values) else np.repeat(values, counts)


def spread(index: Any, values: Any) -> Any:
    """Put values at the places that an index names, each once: the inverse of a permutation of them."""
    out = namespace(values).empty_like(values)
    out[..., index] = values
    return out
