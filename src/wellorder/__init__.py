"""wellorder learns to put things in order: from grades, order graphs and comparisons.

Names load when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Comparisons": "wellorder.order",
    "Grades": "wellorder.order",
    "OrderGraph": "wellorder.order",
    "Pairs": "wellorder.spaces",
    "RankSVM": "wellorder.estimators",
    "load": "wellorder.persistence",
    "save": "wellorder.persistence",
}
"""Where each public name lives. A new estimator is one line here."""

_ROOMS = ("aggregation", "metrics")

__all__ = ["Comparisons", "Grades", "OrderGraph", "Pairs", "RankSVM", "aggregation", "load", "metrics", "save"]

if TYPE_CHECKING:
    from . import aggregation, metrics
    from .estimators import RankSVM
    from .order import Comparisons, Grades, OrderGraph
    from .persistence import load, save
    from .spaces import Pairs


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _ROOMS:
        return import_module(f"wellorder.{name}")
    raise AttributeError(f"module 'wellorder' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
