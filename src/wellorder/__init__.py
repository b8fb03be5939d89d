"""wellorder learns to put things in order: from grades, order graphs and comparisons.

Names load when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Clicks": "wellorder.order",
    "Comparisons": "wellorder.order",
    "Grades": "wellorder.order",
    "Times": "wellorder.order",
    "OrderGraph": "wellorder.order",
    "Pairs": "wellorder.spaces",
    "click_propensities": "wellorder.estimators",
    "compare": "wellorder.evaluation",
    "cross_validate": "wellorder.evaluation",
    "explain": "wellorder.evaluation",
    "learning_curve": "wellorder.evaluation",
    "importance": "wellorder.evaluation",
    "load": "wellorder.persistence",
    "next_pairs": "wellorder.choosing",
    "rate": "wellorder.standings",
    "read": "wellorder.data",
    "save": "wellorder.persistence",
    "search": "wellorder.evaluation",
}
"""Where each public name lives; the estimators are those of :mod:`wellorder.estimators`."""

_ROOMS = {
    "aggregation": "wellorder.aggregation",
    "data": "wellorder.data",
    "export": "wellorder.export",
    "evaluation": "wellorder.evaluation",
    "losses": "wellorder.losses",
    "methods": "wellorder.methods",
    "metrics": "wellorder.metrics",
    "plot": "wellorder.figures",
    "ratings": "wellorder.ratings",
}
"""Rooms that are public as they stand, and the names they go by."""

if TYPE_CHECKING:
    from . import (
        aggregation as aggregation,
        data as data,
        evaluation as evaluation,
        figures,
        losses as losses,
        methods as methods,
        metrics as metrics,
        ratings as ratings,
    )
    from .choosing import next_pairs as next_pairs
    from .data import read as read
    from .estimators import *  # noqa: F403 - whatever is an estimator there is one here
    from .estimators import click_propensities as click_propensities
    from .evaluation import (
        compare as compare,
        cross_validate as cross_validate,
        explain as explain,
        importance as importance,
        learning_curve as learning_curve,
        search as search,
    )
    from .export import Face
    from .order import (
        Clicks as Clicks,
        Comparisons as Comparisons,
        Grades as Grades,
        OrderGraph as OrderGraph,
        Times as Times,
    )
    from .persistence import load as load, save as save
    from .spaces import Pairs as Pairs
    from .standings import rate as rate

    plot = figures
    export: Face

else:

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            return getattr(import_module(_HOME[name]), name)
        if name in _ROOMS:
            return import_module(_ROOMS[name])
        if name == "__all__":
            return sorted([*_HOME, *_ROOMS, *import_module("wellorder.estimators").__all__])
        if not name.startswith("_") and name in (estimators := import_module("wellorder.estimators")).__all__:
            return getattr(estimators, name)
        raise AttributeError(f"module 'wellorder' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
