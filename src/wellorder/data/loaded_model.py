"""What a model file has brought of a model of tables, checked before anybody uses it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .encode import TableEncoder
from .pair_table import CONVENTIONS

_ROUNDING = 1e-9
"""How far beyond 0 and 1 interpolation may have put a share."""


def check_parts(model: Any) -> None:
    """Check the parts of a :class:`TableRanker`: they must be what they are called."""
    if model.supervision_ not in ("grades", "comparisons"):
        raise ValueError(f"supervision_ is {model.supervision_!r}")
    if not isinstance(model.ranker_, BaseEstimator) or not hasattr(model.ranker_, "predict"):
        raise ValueError("ranker_ is not a ranker")
    if model.encoder_ is None:
        if not isinstance(model.items_, list) or not all(isinstance(name, str) for name in model.items_):
            raise ValueError("there is neither an encoder nor a list of items")
        if len(set(model.items_)) < len(model.items_):
            raise ValueError("two items have the same name")
    elif not isinstance(model.encoder_, TableEncoder):
        raise ValueError("encoder_ is not a TableEncoder")
    for name in ("target_", "group_", "item_", "weight_"):
        if not isinstance(getattr(model, name), str | None):
            raise ValueError(f"{name} is not a column's name")
    if not isinstance(model.levels_, list | None) or not isinstance(model.spread_, float):
        raise ValueError("levels_ or spread_ is of the wrong kind")
    if not 0 <= model.spread_ < np.inf:
        raise ValueError(f"spread_ is {model.spread_}, which is no standard deviation")
    if model.resolution_ is not None:
        _check_curve(model.resolution_)
    signs = getattr(model, "signs_", None)  # files of older versions have none
    if signs is not None and signs not in CONVENTIONS:
        raise ValueError(f"signs_ is {signs!r}")


def _check_curve(curve: Any) -> None:
    """Check what a model file calls a curve: rising distances, and shares of pairs in order."""
    if not (
        isinstance(curve, tuple)
        and len(curve) == 2
        and all(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind == "f" for part in curve)
        and len(curve[0]) == len(curve[1])
    ):
        raise ValueError("resolution_ is not a pair of arrays")
    distance, share = curve
    # written so that NaN fails each of them
    if not ((distance >= 0) & (distance < np.inf)).all() or not (distance[1:] > distance[:-1]).all():
        raise ValueError("the distances of resolution_ do not rise from 0")
    if not (np.abs(share - 0.5) <= 0.5 + _ROUNDING).all():
        raise ValueError("the shares of resolution_ are not between 0 and 1")
