"""wellorder learns to put things in order: from grades, order graphs and comparisons.

Names load when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "BestFeature": "wellorder.estimators",
    "BoostedTrees": "wellorder.estimators",
    "CompareLP": "wellorder.estimators",
    "CompareSVM": "wellorder.estimators",
    "Comparisons": "wellorder.order",
    "ConvexHullRanker": "wellorder.estimators",
    "Grades": "wellorder.order",
    "MultipleHyperplaneRanker": "wellorder.estimators",
    "NestedRanker": "wellorder.estimators",
    "OrderBoost": "wellorder.estimators",
    "OrderEnsemble": "wellorder.estimators",
    "OrderGraph": "wellorder.order",
    "Pairs": "wellorder.spaces",
    "PlugInRanker": "wellorder.estimators",
    "ProportionalOdds": "wellorder.estimators",
    "RankBoost": "wellorder.estimators",
    "RankSVM": "wellorder.estimators",
    "RidgeRanker": "wellorder.estimators",
    "SVOR": "wellorder.estimators",
    "SwapSVM": "wellorder.estimators",
    "ThresholdCompare": "wellorder.estimators",
    "compare": "wellorder.evaluation",
    "cross_validate": "wellorder.evaluation",
    "explain": "wellorder.evaluation",
    "load": "wellorder.persistence",
    "read": "wellorder.data",
    "save": "wellorder.persistence",
    "search": "wellorder.evaluation",
}
"""Where each public name lives. A new estimator is one line here."""

_ROOMS = {
    "aggregation": "wellorder.aggregation",
    "data": "wellorder.data",
    "evaluation": "wellorder.evaluation",
    "metrics": "wellorder.metrics",
    "plot": "wellorder.figures",
    "ratings": "wellorder.ratings",
}
"""Rooms that are public as they stand, and the names they go by."""

__all__ = [
    "SVOR",
    "BestFeature",
    "BoostedTrees",
    "CompareLP",
    "CompareSVM",
    "Comparisons",
    "ConvexHullRanker",
    "Grades",
    "MultipleHyperplaneRanker",
    "NestedRanker",
    "OrderBoost",
    "OrderEnsemble",
    "OrderGraph",
    "Pairs",
    "PlugInRanker",
    "ProportionalOdds",
    "RankBoost",
    "RankSVM",
    "RidgeRanker",
    "SwapSVM",
    "ThresholdCompare",
    "aggregation",
    "compare",
    "cross_validate",
    "data",
    "evaluation",
    "explain",
    "load",
    "metrics",
    "plot",
    "ratings",
    "read",
    "save",
    "search",
]

if TYPE_CHECKING:
    from . import aggregation, data, evaluation, figures as plot, metrics, ratings
    from .data import read
    from .estimators import (
        SVOR,
        BestFeature,
        BoostedTrees,
        CompareLP,
        CompareSVM,
        ConvexHullRanker,
        MultipleHyperplaneRanker,
        NestedRanker,
        OrderBoost,
        OrderEnsemble,
        PlugInRanker,
        ProportionalOdds,
        RankBoost,
        RankSVM,
        RidgeRanker,
        SwapSVM,
        ThresholdCompare,
    )
    from .evaluation import compare, cross_validate, explain, search
    from .order import Comparisons, Grades, OrderGraph
    from .persistence import load, save
    from .spaces import Pairs


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    raise AttributeError(f"module 'wellorder' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
